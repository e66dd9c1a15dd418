/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bounded sample of a long series of (instant, value): at most SAMPLES_MAX of them, evenly spaced
 * in their order. When it is full every second is given up, and from then on twice as many values
 * go into one. What is kept depends on the series alone.
 *
 * Thread: one.
 */
#ifndef WEIR_SAMPLES_H
#define WEIR_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAMPLES_MAX 131072u

/* All zero is an empty one. */
struct samples {
	double *t, *value;
	size_t n, room;
	uint64_t stride; /* values that go into a sample; 0: none came yet */
	uint64_t phase;  /* of them, how many came for the last one */
	bool greatest;   /* a sample is the greatest of its values, else the first; set at the start
	                  */
	bool failed;     /* no memory: what followed is not there */
};

void samples_add(struct samples *samples, double t, double value);
/* By instant; equal ones keep their order. */
void samples_sort(struct samples *samples);
void samples_free(struct samples *samples);

#endif
