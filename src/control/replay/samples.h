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

#endif
