/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much leaves a cloud over time: bytes in slots of equal length, of which there are
 * THROUGHPUT_SLOTS at most. When the last one is full, two become one, and slots are twice as long
 * from then on. They begin at 1 ms. What is drawn has THROUGHPUT_STEPS steps at most.
 *
 * Thread: one.
 */
#ifndef WEIR_THROUGHPUT_H
#define WEIR_THROUGHPUT_H

#include <stddef.h>

#include "simtime.h"

#define THROUGHPUT_SLOTS 1024u
#define THROUGHPUT_STEPS 200u

/* All zero is an empty one. */
struct throughput {
	simtime from_ns; /* the beginning of the first slot, set by the first call */
	simtime slot_ns; /* 0: nothing came yet */
	size_t n;        /* slots that are known */
	double bytes[THROUGHPUT_SLOTS];
};

/* Instants before the first one that came count as that one. */
void throughput_add(struct throughput *throughput, simtime t_ns, uint32_t bytes);
/* In bit/s from the beginnings of steps of `step_ns` on, some slots each, after `start_ns`; a
 * further one of 0 ends the last. `t` and `value` have room for THROUGHPUT_STEPS + 2. Returns how
 * many. */
size_t throughput_points(const struct throughput *throughput, simtime start_ns, double *t,
                         double *value, double *step_ns);

#endif
