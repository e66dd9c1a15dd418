/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes that pass a link over time, each packet for as long as the link sends it, in at most
 * THROUGHPUT_SLOTS slots of equal length. When the last slot is full, each two are merged, and
 * slots are twice as long from then on. They begin at 1 ms. At most THROUGHPUT_STEPS steps are
 * drawn.
 *
 * Thread: one.
 */
#ifndef WEIR_THROUGHPUT_H
#define WEIR_THROUGHPUT_H

#include <stddef.h>

#include "simtime.h"

#define THROUGHPUT_SLOTS 1024u
#define THROUGHPUT_STEPS 200u

/* Empty if all zero. */
struct throughput {
	simtime from_ns; /* the beginning of the first slot, set by the first call */
	simtime slot_ns; /* 0: nothing was added yet */
	size_t n;        /* slots in use */
	double bytes[THROUGHPUT_SLOTS];
};

/* Adds a packet that is sent from one instant to another, which may be the same. What is before the
 * first slot counts as its beginning. */
void throughput_add(struct throughput *throughput, simtime from_ns, simtime to_ns, uint32_t bytes);
/* Computes the throughput in bit/s, in steps of `step_ns` of one or more slots each, with their
 * beginnings relative to `start_ns`; a final point of 0 ends the last step. `t` and `value` have
 * room for THROUGHPUT_STEPS + 2. Returns the number of points. */
size_t throughput_points(const struct throughput *throughput, simtime start_ns, double *t,
                         double *value, double *step_ns);

#endif
