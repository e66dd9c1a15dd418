/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RED in double precision, as a reference: written from the description of ns-2's algorithm, with
 * its divisions, its floating-point constants and no code of the engine.
 */
#ifndef WEIR_RED_REFERENCE_H
#define WEIR_RED_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

struct reference_setup {
	double min, max, max_p, weight;
	bool bytes, gentle, wait, adaptive;
	int mean_bytes;
	double rate_bps;
};

struct reference {
	struct reference_setup setup;
	double average, max_p, p;
	double gentle_slope, gentle_offset;
	long count, count_bytes;
	bool above_min, idle;
	double idle_s, adapted_s;
	bool drew; /* the last arrival used its draw */
};

enum reference_verdict { REFERENCE_PASS, REFERENCE_EARLY, REFERENCE_FORCED };

struct reference reference_make(const struct reference_setup *setup);
/* `u` is uniform in [0, 1). */
enum reference_verdict reference_arrive(struct reference *reference, double now_s, long queue,
                                        long size, double u);
void reference_overflow(struct reference *reference);
void reference_idle(struct reference *reference, double now_s);

/* Returns the share of packets that is selected while the average stays constant: one over the mean
 * number of packets from one selected packet to the next, all of the same size. */
double reference_share(const struct reference_setup *setup, double average, long size);

#endif
