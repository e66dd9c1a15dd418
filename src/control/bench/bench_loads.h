/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What `weir bench precision` offers: packets at even distances, through a delay, or through a
 * router with one.
 */
#ifndef WEIR_BENCH_LOADS_H
#define WEIR_BENCH_LOADS_H

#include <stdbool.h>
#include <stdint.h>

/* 64-byte frames on 10 Gbit/s: 84 bytes each with gap and preamble. */
#define BENCH_LINE_PPS 14880952.0

struct bench_load {
	const char *name;
	double pps;
	uint32_t frame_bytes;
	uint64_t delay_ns;
	/* with the delay, if any, of frames with headers; NULL: the delay alone */
	const char *statements;
};

/* Ended by a row without a name. */
extern const struct bench_load bench_loads[];

/* Whether that part of a name means this load. NULL means each. */
bool bench_load_is(const struct bench_load *load, const char *part);

#endif
