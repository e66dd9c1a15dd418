/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a sender asks the routers of its path in the unified header, and what it has heard of them.
 *
 * Model (K. Nakauchi and K. Kobayashi, section 4): each packet asks one router for one thing, in
 * mode TTL: the first has the TTL of the packet itself, which is the first router's, the next one
 * less, `hops` of them, for LINK; then all of them for QUEUE. The receiver sends back what was
 * written. Of each router the first answer to each probe is kept: later ones are figures of the
 * sender's own packets.
 *
 * State: plain, zeros at first but `hops`. Thread: the sender's.
 */
#ifndef WEIR_LAB_ASKING_H
#define WEIR_LAB_ASKING_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/frame.h"

#define ASKING_HOPS_MAX 8

struct asking {
	uint32_t hops; /* 1 to ASKING_HOPS_MAX; 0: asks nobody, and sends no header */
	uint64_t asked;
	bool heard[OQ_PROBES][ASKING_HOPS_MAX];
	struct oq_value value[OQ_PROBES][ASKING_HOPS_MAX];
};

/* The next request. */
void asking_request(struct asking *asking, struct frame_oq *oq);
void asking_hear(struct asking *asking, const struct frame_oq *oq);
/* The least over the path of a number, 0 or 1, of a probe. False: not every router has said it. */
bool asking_least(const struct asking *asking, enum oq_probe probe, int number, uint32_t *least);

#endif
