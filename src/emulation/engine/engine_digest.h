/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a cloud has counted, and holds, as one word: whether two runs of the same packets are the
 * same run. They are compared at an instant up to which the engine has advanced, and has let out
 * all that is due.
 *
 * Thread: the worker's.
 */
#ifndef WEIR_ENGINE_DIGEST_H
#define WEIR_ENGINE_DIGEST_H

#include <stdbool.h>
#include <stdint.h>

struct engine;

struct engine_digest {
	uint32_t slot; /* of the cloud table */
	const char *cloud;
	uint64_t counters;
};

/* The next cloud from slot *next on, round and round; *next becomes the one behind it. Looks at 64
 * slots at most: false, if there is no cloud in them. */
bool engine_digest_next(const struct engine *engine, uint32_t *next, struct engine_digest *digest);
/* That of one slot. False: there is none. */
bool engine_digest_at(const struct engine *engine, uint32_t slot, struct engine_digest *digest);

#endif
