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
	/* The same counts, whatever their size in one unit (chart_unit_one). */
	CHART_NS_AS_US,
	CHART_NS_AS_MS,
	CHART_NS_AS_S,
	CHART_BPS_AS_KBPS,
	CHART_BPS_AS_MBPS,
	CHART_BPS_AS_GBPS,
	CHART_BYTES_AS_KB,
	CHART_BYTES_AS_MB,
	CHART_UNITS /* how many there are */
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

/* In which values up to `most` of CHART_NS, CHART_BPS or CHART_BYTES are all written where a reader
 * compares them: seconds from 10 s on, so delays are in ms beside those of a satellite. Of what has
 * no such unit, `unit` itself. */
enum chart_unit chart_unit_one(enum chart_unit unit, double most);

/* Writes value with its unit, up to `digits` significant digits. CHART_UNIT_SIZE bytes always
 * suffice. */
#define CHART_UNIT_SIZE 64
void chart_unit_format(char *buf, size_t size, enum chart_unit unit, double value, unsigned digits);

#endif
