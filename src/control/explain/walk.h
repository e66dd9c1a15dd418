/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The walk through a phase, from its end back to its beginning. Each step answers the question:
 * what had to happen, so that this could happen at that instant and not earlier?
 *
 *   a packet has arrived     because it was handed over late, was on the line, was sent by the
 *                            link; and the link was free for it once it had sent the packet of the
 *                            same flow ahead of it, if it did not stand idle in between. Then the
 *                            walk goes on with that packet; else with the host that has sent it.
 *   a host has sent bytes    for the first time: because the latest packet to it had come, if that
 *                            was just before; else because the other had said something, or it had
 *                            sent the bytes before, and then took its time.
 *   a host has sent bytes again   because a packet was lost: back to when it sent that one.
 *   a host has acknowledged  because of the latest packet to it; if that was a while ago, it has
 *                            delayed the acknowledgement, or its window was closed.
 *
 * Each step attributes the time that it covers to one part, so that all of the phase is attributed
 * once. A round trip is a packet of the client that the walk passes.
 *
 * If the hosts do not hear what weir does (a replay of a capture), they have waited only for each
 * other. The walk then goes through the capture's own time, and adds what the path takes for each
 * packet that it passes: what the phase would take if they had waited for the path, too. Windows
 * are not among that: how many a connection needs depends on its path.
 *
 * Ownership: ground_end frees what a ground has allocated; the flow stays the caller's.
 * Thread: one at a time.
 */
#ifndef WEIR_WALK_H
#define WEIR_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "explain/flow.h"
#include "explain/verdict.h"

/* A flow, with the order in which its packets have arrived. */
struct ground {
	const struct flow *flow;
	bool deaf; /* the hosts do not hear what weir does */
	uint32_t *order[FLOW_WAYS];
	uint32_t n[FLOW_WAYS];
	simtime trip_ns;            /* of the first packet and its answer; 0: there is none */
	simtime soon_ns[FLOW_WAYS]; /* a host that reacts within this time reacts at once */
};

/* Where a walk begins: a packet arrives, or its host sends it. */
struct walk_from {
	int way;
	uint32_t number;
	bool sent;
};

/* Returns false if there is no memory. */
bool ground_begin(struct ground *ground, const struct flow *flow, bool deaf);
void ground_end(struct ground *ground);
/* Returns when the other host gets a packet; SIMTIME_NEVER: it does not. */
simtime ground_got_ns(const struct ground *ground, const struct passage *passage);
/* Returns the number of the last packet of a way that has arrived at `t` or before, or
 * PASSAGE_NONE. */
uint32_t ground_latest(const struct ground *ground, int way, simtime t);
/* Returns true if the host of a packet has sent it directly after something had come to it. */
bool ground_reacts(const struct ground *ground, int way, const struct passage *passage);

/* Attributes the time from `from_ns` on, and adds it to the parts of the phase. Losses on the way
 * get their cost in `verdict`, if they are listed there. */
void walk(const struct ground *ground, struct walk_from end, simtime from_ns,
          struct verdict_phase *phase, struct verdict *verdict);

/*
 * The losses of a flow: which packets were lost, which packet repeats each, and whether a timer or
 * later packets made the host send it again. What a loss cost, the walk finds out (walk.h).
 *
 * Datagrams of QUIC do not say which one they repeat. The one that repeats a lost one is taken to
 * be the first with data that its host sends once it can know of the loss (RFC 9002): three later
 * ones were acknowledged; or one was, and 9/8 of a round trip have passed; or nothing has come, and
 * it sends something after a silence.
 *
 * Thread: one at a time.
 */

/* Joins the lost datagrams of a flow of QUIC to those that repeat them. */
void losses_join(struct flow *flow, const struct ground *ground);

/* Counts the packets of a flow that have come since the last call, and adds their losses. Of each
 * way, the last `recent` packets may yet be on their way, and are left to the next call. */
void losses_tell(struct flow *flow, const struct ground *ground, uint32_t recent,
                 struct verdict *verdict);

#endif
