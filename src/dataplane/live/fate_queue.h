/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carries the fates of a live run (account/witness.h) from the workers to the code that writes or
 * draws them. It is a ring, so a worker neither waits nor calls the system. A fate that finds no
 * room is dropped and counted. Fates of one cloud keep their order.
 *
 * It asks for departures (FATE_SENT), too. If the ring is emptied every 100 ms, no fate is lost
 * below 1.3 million packets a second.
 *
 * The clouds of a template change their names while they run, so the ring serves only scenarios
 * without templates.
 *
 * Thread: the witness: any worker; everything else: control.
 */
#ifndef WEIR_FATE_QUEUE_H
#define WEIR_FATE_QUEUE_H

#include <stdint.h>

#include "account/witness.h"

#define FATE_QUEUE_ROOM 262144u /* a power of two */

struct fate_queue;

/* Returns NULL if there is no memory. The fate queue must outlive the workers that use its
 * witness. */
struct fate_queue *fate_queue_make(void);
void fate_queue_free(struct fate_queue *fate_queue); /* NULL is allowed */
struct witness *fate_queue_witness(struct fate_queue *fate_queue);
/* Passes all fates that are in the ring now to `to`. */
void fate_queue_empty(struct fate_queue *fate_queue, struct witness *to);
/* Returns the number of fates that found no room. */
uint64_t fate_queue_missed(const struct fate_queue *fate_queue);

#endif
