/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a number in a report counts, and how it is written: 1500000 as CHART_NS is "1.5 ms".
 * Prefixes are decimal, as in the scenario language; text is independent of the locale.
 */
#ifndef WEIR_CHART_UNIT_H
#define WEIR_CHART_UNIT_H

#include <stddef.h>

enum chart_unit {
	CHART_PLAIN,   /* 0.25, 120000, 3×10⁸ */
	CHART_NS,      /* nanoseconds: 250 ns, 1.5 µs, 40 ms, 12 s */
	CHART_BPS,     /* bits per second: 9.6 kbit/s ... 10 Gbit/s */
	CHART_PPS,     /* packets per second: 14.88 Mpps */
	CHART_BYTES,   /* 64 B, 1.5 kB */
	CHART_COUNT,   /* 950, 20k, 1.5M */
	CHART_PERCENT, /* a fraction: 0.001 is written 0.1% */
};

struct chart_prefix {
	double factor;    /* how many of the base unit one of these is: 1e6 */
	const char *name; /* "ms" */
	const char *gap;  /* what stands between number and name: " " or "" */
};

/* The prefix in which a value of this magnitude reads best with `digits` significant digits. Static
 * storage. */
const struct chart_prefix *chart_unit_prefix(enum chart_unit unit, double magnitude,
                                             unsigned digits);

/* Writes value with its unit, up to `digits` significant digits. CHART_UNIT_SIZE bytes always
 * suffice. */
#define CHART_UNIT_SIZE 64
void chart_unit_format(char *buf, size_t size, enum chart_unit unit, double value, unsigned digits);

#endif
