/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bounded sample of a long series of (instant, value): at most SAMPLES_MAX of them, evenly spaced
 * in their order. When it is full, every second one is discarded, and from then on a sample
 * represents twice as many values. The samples kept depend on the series alone.
 *
 * Thread: one.
 */
#ifndef WEIR_SAMPLES_H
#define WEIR_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simtime.h"

#define SAMPLES_MAX 131072u

/* Empty if all zero. */
struct samples {
	double *t, *value;
	size_t n, room;
	uint64_t stride; /* values that a sample represents; 0: there were none yet */
	uint64_t phase;  /* how many of them came for the last sample */
	bool greatest;   /* keeps the greatest value, else the first; set at the start */
	bool failed;     /* there was no memory: later values are missing */
};

void samples_add(struct samples *samples, double t, double value);
/* Sorts by instant; equal ones keep their order. */
void samples_sort(struct samples *samples);
void samples_free(struct samples *samples);

/*
 * The bytes that pass a link over time, each packet for as long as the link sends it, in at most
 * THROUGHPUT_SLOTS slots of equal length. When the last slot is full, each two are merged, and
 * slots are twice as long from then on. They begin at 1 ms. At most THROUGHPUT_STEPS steps are
 * drawn.
 */

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
