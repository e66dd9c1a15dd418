/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A digest of what a cloud has counted and holds, as one word, to find out whether two runs of the
 * same packets are the same run. Digests are compared at an instant up to which the engine has
 * advanced and has let out all that is due.
 *
 * Thread: the worker's.
 */
#ifndef WEIR_ENGINE_DIGEST_H
#define WEIR_ENGINE_DIGEST_H

#include <stdbool.h>
#include <stdint.h>

struct engine;

struct engine_digest {
	uint32_t slot; /* in the cloud table */
	const char *cloud;
	uint64_t counters;
	bool over; /* the cloud is removed and holds nothing: a snapshot omits it */
};

/* Computes the digest of the next cloud, beginning at slot *next and wrapping around; sets *next to
 * the slot behind it. Looks at 64 slots at most, and returns false if there is no cloud in them. */
bool engine_digest_next(const struct engine *engine, uint32_t *next, struct engine_digest *digest);
/* Computes the digest of the cloud in this slot. Returns false if there is none. */
bool engine_digest_at(const struct engine *engine, uint32_t slot, struct engine_digest *digest);

#endif
