/* SPDX-License-Identifier: BSD-3-Clause */
#include "red_reference.h"

#include <math.h>

struct reference reference_make(const struct reference_setup *setup)
{
	return (struct reference){
	        .setup = *setup,
	        .max_p = setup->max_p,
	        .gentle_slope = (1.0 - setup->max_p) / setup->max,
	        .gentle_offset = 2.0 * setup->max_p - 1.0,
	        .idle = true,
	};
}

static void adapt(struct reference *reference, double now_s)
{
	const struct reference_setup *setup = &reference->setup;
	double part = 0.4 * (setup->max - setup->min);
	double bottom = fmin(0.01, 80000.0 / setup->rate_bps);

	if (!(now_s > reference->adapted_s + 0.5))
		return;
	if (reference->average < setup->min + part && reference->max_p > bottom) {
		reference->max_p *= 0.9;
		reference->adapted_s = now_s;
	} else if (reference->average > setup->max - part && 0.5 > reference->max_p) {
		reference->max_p += fmin(0.01, 0.25 * reference->max_p);
		reference->adapted_s = now_s;
	}
}

static double base(const struct reference_setup *setup, double max_p, double slope, double offset,
                   double average)
{
	if (average >= setup->max)
		return setup->gentle ? slope * average + offset : 1.0;
	return max_p * (average - setup->min) / (setup->max - setup->min);
}

static double spaced(const struct reference_setup *setup, double p, long count, long count_bytes,
                     long size)
{
	double c = setup->bytes ? (double)(count_bytes / setup->mean_bytes) : (double)count;

	if (setup->wait)
		p = c * p < 1 ? 0 : c * p < 2 ? p / (2 - c * p) : 1;
	else
		p = c * p < 1 ? p / (1 - c * p) : 1;
	if (setup->bytes && p < 1)
		p = p * (double)size / setup->mean_bytes;
	return p > 1 ? 1 : p;
}

enum reference_verdict reference_arrive(struct reference *reference, double now_s, long queue,
                                        long size, double u)
{
	const struct reference_setup *setup = &reference->setup;
	double p;

	reference->drew = false;
	if (reference->idle) {
		double ptc = setup->rate_bps / (8.0 * setup->mean_bytes);
		double m = floor(ptc * (now_s - reference->idle_s));

		reference->idle = false;
		reference->average *= pow(1 - setup->weight, m);
	}
	reference->average =
	        reference->average * (1 - setup->weight) + setup->weight * (double)queue;
	if (setup->adaptive)
		adapt(reference, now_s);
	reference->count++;
	reference->count_bytes += size;
	if (reference->average < setup->min || queue <= 1) {
		reference->above_min = false;
		return REFERENCE_PASS;
	}
	if (reference->average >= (setup->gentle ? 2 * setup->max : setup->max)) {
		reference_overflow(reference);
		return REFERENCE_FORCED;
	}
	if (!reference->above_min) {
		reference->above_min = true;
		reference->count = 1;
		reference->count_bytes = size;
		return REFERENCE_PASS;
	}
	reference->drew = true;
	reference->p = base(setup, reference->max_p, reference->gentle_slope,
	                    reference->gentle_offset, reference->average);
	p = spaced(setup, reference->p, reference->count, reference->count_bytes, size);
	if (u >= p)
		return REFERENCE_PASS;
	reference->count = 0;
	reference->count_bytes = 0;
	return REFERENCE_EARLY;
}

void reference_overflow(struct reference *reference)
{
	reference->count = 0;
	reference->count_bytes = 0;
}

void reference_idle(struct reference *reference, double now_s)
{
	reference->idle = true;
	reference->idle_s = now_s;
}

double reference_share(const struct reference_setup *setup, double average, long size)
{
	double p = base(setup, setup->max_p, (1 - setup->max_p) / setup->max, 2 * setup->max_p - 1,
	                average);
	double none_yet = 1, mean = 0;

	if (average < setup->min || p <= 0)
		return 0;
	if (average >= (setup->gentle ? 2 : 1) * setup->max)
		return 1;
	for (long n = 1; none_yet > 1e-15; n++) {
		mean += none_yet;
		none_yet *= 1 - spaced(setup, p, n, n * size, size);
	}
	return 1 / mean;
}
