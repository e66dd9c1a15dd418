/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fates of a live run (account/witness.h) on their way from the workers to who writes or draws
 * them: a ring, so that a worker neither waits nor calls the system. A fate that finds no room is
 * not told, and is counted. Fates of one cloud keep their order.
 *
 * Who has it emptied every 100 ms loses none below 1.3 million decisions a second.
 *
 * Clouds of a template change their names while they run, so it is for scenarios without.
 *
 * Thread: the witness any worker; everything else control.
 */
#ifndef WEIR_FATE_QUEUE_H
#define WEIR_FATE_QUEUE_H

#include <stdint.h>

#include "account/witness.h"

#define FATE_QUEUE_ROOM 131072u /* a power of two */

struct fate_queue;

/* NULL: no memory. It must outlive the workers that tell it. */
struct fate_queue *fate_queue_make(void);
void fate_queue_free(struct fate_queue *fate_queue); /* NULL is allowed */
struct witness *fate_queue_witness(struct fate_queue *fate_queue);
/* Tells `to` all that is there now. */
void fate_queue_empty(struct fate_queue *fate_queue, struct witness *to);
/* How many found no room. */
uint64_t fate_queue_missed(const struct fate_queue *fate_queue);

#endif
