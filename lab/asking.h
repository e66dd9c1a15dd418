/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The requests of a sender to the routers of its path, in the unified header, and their answers.
 *
 * Model (K. Nakauchi and K. Kobayashi, section 4): each packet requests one value of one router, in
 * mode TTL. The first request has the TTL of the packet itself, which selects the first router; the
 * next ones have a TTL less by one each, up to `hops` routers, for LINK; then the same for QUEUE.
 * The receiver returns what was written. The first answer of each router to each probe is kept:
 * later ones measure the sender's own packets.
 *
 * State: plain, initially zeros except `hops`.
 * Thread: the sender's.
 */
#ifndef WEIR_LAB_ASKING_H
#define WEIR_LAB_ASKING_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/frame.h"

#define ASKING_HOPS_MAX 8

struct asking {
	uint32_t hops; /* 1 to ASKING_HOPS_MAX; 0: no request and no header */
	uint64_t asked;
	bool heard[OQ_PROBES][ASKING_HOPS_MAX];
	struct oq_value value[OQ_PROBES][ASKING_HOPS_MAX];
};

/* Fills in the next request. */
void asking_request(struct asking *asking, struct frame_oq *oq);
void asking_hear(struct asking *asking, const struct frame_oq *oq);
/* Computes the least value on the path of a number, 0 or 1, of a probe. Returns false if an answer
 * of a router is missing. */
bool asking_least(const struct asking *asking, enum oq_probe probe, int number, uint32_t *least);

#endif
