/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The questions of a sender to the routers of its path, in the unified header, and their answers.
 *
 * Model (K. Nakauchi and K. Kobayashi, section 4): each packet asks one router for one value, in
 * mode TTL. The first question has the TTL of the packet itself, which selects the first router,
 * the next one a TTL less, up to `hops` routers, for LINK; then all of them for QUEUE. The receiver
 * returns what was written. The first answer of each router to each probe is kept: later ones
 * measure the sender's own packets.
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
	uint32_t hops; /* 1 to ASKING_HOPS_MAX; 0: asks no router, and sends no header */
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
