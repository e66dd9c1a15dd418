/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers and their units, rounded, as people read them: 1500000 as HUMAN_NS is "1.5 ms". Tables,
 * messages and charts use them; what the scenario language says exactly is a quantity
 * (control/text/quantity.h). Prefixes are decimal, as in the language; text is independent of the
 * locale.
 */
#ifndef WEIR_HUMAN_UNIT_H
#define WEIR_HUMAN_UNIT_H

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

enum human_unit {
	HUMAN_PLAIN,   /* 0.25, 120000, 3×10⁸ */
	HUMAN_NS,      /* nanoseconds: 250 ns, 1.5 µs, 40 ms, 12 s */
	HUMAN_BPS,     /* bits per second: 9.6 kbit/s ... 10 Gbit/s */
	HUMAN_PPS,     /* packets per second: 14.88 Mpps */
	HUMAN_BYTES,   /* 64 B, 1.5 kB */
	HUMAN_COUNT,   /* 950, 20k, 1.5M */
	HUMAN_PERCENT, /* a fraction: 0.001 is written 0.1% */
	/* Nanoseconds, bits per second and bytes in one fixed unit (human_unit_one). */
	HUMAN_NS_AS_US,
	HUMAN_NS_AS_MS,
	HUMAN_NS_AS_S,
	HUMAN_BPS_AS_KBPS,
	HUMAN_BPS_AS_MBPS,
	HUMAN_BPS_AS_GBPS,
	HUMAN_BYTES_AS_KB,
	HUMAN_BYTES_AS_MB,
	HUMAN_UNITS /* their number */
};

struct human_prefix {
	double factor;    /* base units in one of these: 1e6 */
	const char *name; /* "ms" */
	const char *gap;  /* between number and name: " " or "" */
};

/* Returns the prefix in which a value of this magnitude reads best with `digits` significant
 * digits. Static storage. */
const struct human_prefix *human_unit_prefix(enum human_unit unit, double magnitude,
                                             unsigned digits);

/* Returns the one unit for all values up to `most` of HUMAN_NS, HUMAN_BPS or HUMAN_BYTES that a
 * reader compares. Seconds are used from 10 s on, so delays are in ms beside those of a satellite.
 * If there is no such unit, returns `unit` itself. */
enum human_unit human_unit_one(enum human_unit unit, double most);

/* Writes value with its unit, up to `digits` significant digits. HUMAN_UNIT_SIZE bytes always
 * suffice. */
#define HUMAN_UNIT_SIZE 64
void human_unit_format(char *buf, size_t size, enum human_unit unit, double value, unsigned digits);

/* The same by value, so that one printf can have several: human_of(HUMAN_NS, ns, 3).text. */
struct human_of {
	char text[HUMAN_UNIT_SIZE];
};
struct human_of human_of(enum human_unit unit, double value, unsigned digits);

/* Appends to a text, as printf does; what does not fit into `room` is cut off. */
void text_add(char *text, size_t room, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

#endif
