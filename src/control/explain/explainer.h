/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Explains where the time of connections went, from the fates of their packets (witness.h). It
 * takes the fates of EXPLAINER_KINDS, in the order in which a worker reports them, and tells the
 * verdict (verdict.h) of each connection once it is over: when both hosts know that the other one
 * has all that they have sent; EXPLAINER_REST_NS after both have closed it, or one has reset it; or
 * when it is silent for EXPLAINER_SILENCE_NS.
 *
 * The order of fates of different packets does not matter much; that of one packet does.
 *
 * What it counts as arrival at a host is the instant at which weir handed the packet over. A
 * capture that is replayed was made with hosts that did not hear of weir (`deaf`): there, a verdict
 * says what the connection would take over the path (walk.h).
 *
 * Bounded: FLOWS_MAX connections at a time, with PASSAGES_MAX packets. Of a long connection,
 * packets are forgotten once they are explained. If there are more connections, or packets, the
 * connection that is silent for longest is told early, as one that goes on. What finds no room at
 * all is counted (explainer_left_out).
 *
 * Ownership: a verdict becomes that of whom it is told to.
 * Thread: one at a time.
 */
#ifndef WEIR_EXPLAINER_H
#define WEIR_EXPLAINER_H

#include <stdbool.h>
#include <stdint.h>

#include "account/witness.h"
#include "explain/verdict.h"

#define EXPLAINER_WAY   (1u << FATE_ARRIVED | 1u << FATE_SENT) /* of a witness */
#define EXPLAINER_KINDS (EXPLAINER_WAY | 1u << FATE_DELIVERED | 1u << FATE_DROPPED)
/* Of the others it reads no frame. */
#define EXPLAINER_FRAMES     (1u << FATE_ARRIVED)
#define EXPLAINER_SILENCE_NS (120 * SIMTIME_S)
/* What is sent again after the end comes within this time. */
#define EXPLAINER_REST_NS (2 * SIMTIME_S)

typedef void explainer_tell(void *argument, struct verdict *verdict);

struct explainer;

/* Returns NULL if there is no memory. */
struct explainer *explainer_make(bool deaf, explainer_tell *tell, void *argument);
void explainer_free(struct explainer *explainer); /* NULL is allowed */
/* Takes fates, EXPLAINER_AT_ONCE at most; others than those of EXPLAINER_KINDS are ignored. With
 * several at a time it waits for memory once, and not once for each. Fits fate_reader_take. */
#define EXPLAINER_AT_ONCE 32
void explainer_take(void *explainer, const struct fate *const fates[], uint32_t n);
/* Tells the connections that are over at `now`. */
void explainer_step(struct explainer *explainer, simtime now);
/* Tells all that are left. */
void explainer_end(struct explainer *explainer);

struct explainer_left_out {
	uint64_t packets; /* no room, or no memory */
	uint64_t cut;     /* connections that were told before they were over */
};
struct explainer_left_out explainer_left_out(const struct explainer *explainer);

#endif
