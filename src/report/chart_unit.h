/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The units of the numbers in a report, and how they are written: 1500000 as CHART_NS is "1.5 ms".
 * Prefixes are decimal, as in the scenario language; text is independent of the locale.
 */
#ifndef WEIR_CHART_UNIT_H
#define WEIR_CHART_UNIT_H

#include <stddef.h>

/*
 * Writes numbers as decimal text, with a point in every locale (printf's %f follows LC_NUMERIC,
 * which would make a report depend on its user's locale). Rounds half away from zero; never writes
 * "-0"; NaN and the infinities are "n/a".
 *
 * All functions write a terminated string of at most size - 1 bytes, and DECIMAL_SIZE bytes always
 * suffice.
 */

#define DECIMAL_SIZE 48

/* Writes exactly `decimals` (0..9) digits after the point: 1.50. From 1e15 on it falls back to
 * decimal_scientific. */
void decimal_fixed(char *buf, size_t size, double value, unsigned decimals);

/* Writes up to `digits` (1..9) significant digits without trailing zeros, never an exponent below
 * 1e15: 1.5, 0.002, 120000. */
void decimal_short(char *buf, size_t size, double value, unsigned digits);

/* Writes up to `digits` significant digits times a power of ten: 2.5×10⁶; without a factor of 1:
 * 10⁶. */
void decimal_scientific(char *buf, size_t size, double value, unsigned digits);

enum chart_unit {
	CHART_PLAIN,   /* 0.25, 120000, 3×10⁸ */
	CHART_NS,      /* nanoseconds: 250 ns, 1.5 µs, 40 ms, 12 s */
	CHART_BPS,     /* bits per second: 9.6 kbit/s ... 10 Gbit/s */
	CHART_PPS,     /* packets per second: 14.88 Mpps */
	CHART_BYTES,   /* 64 B, 1.5 kB */
	CHART_COUNT,   /* 950, 20k, 1.5M */
	CHART_PERCENT, /* a fraction: 0.001 is written 0.1% */
	/* Nanoseconds, bits per second and bytes in one fixed unit (chart_unit_one). */
	CHART_NS_AS_US,
	CHART_NS_AS_MS,
	CHART_NS_AS_S,
	CHART_BPS_AS_KBPS,
	CHART_BPS_AS_MBPS,
	CHART_BPS_AS_GBPS,
	CHART_BYTES_AS_KB,
	CHART_BYTES_AS_MB,
	CHART_UNITS /* their number */
};

struct chart_prefix {
	double factor;    /* base units in one of these: 1e6 */
	const char *name; /* "ms" */
	const char *gap;  /* between number and name: " " or "" */
};

/* Returns the prefix in which a value of this magnitude reads best with `digits` significant
 * digits. Static storage. */
const struct chart_prefix *chart_unit_prefix(enum chart_unit unit, double magnitude,
                                             unsigned digits);

/* Returns the one unit for all values up to `most` of CHART_NS, CHART_BPS or CHART_BYTES that a
 * reader compares. Seconds are used from 10 s on, so delays are in ms beside those of a satellite.
 * If there is no such unit, returns `unit` itself. */
enum chart_unit chart_unit_one(enum chart_unit unit, double most);

/* Writes value with its unit, up to `digits` significant digits. CHART_UNIT_SIZE bytes always
 * suffice. */
#define CHART_UNIT_SIZE 64
void chart_unit_format(char *buf, size_t size, enum chart_unit unit, double value, unsigned digits);

#endif
