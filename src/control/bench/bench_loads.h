/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loads of `weir bench precision`: packets at equal intervals, through a delay, or through a
 * router with a delay.
 */
#ifndef WEIR_BENCH_LOADS_H
#define WEIR_BENCH_LOADS_H

#include <stdbool.h>
#include <stdint.h>

/* The rate of 64-byte frames on 10 Gbit/s: 84 bytes each with gap and preamble. */
#define BENCH_LINE_PPS 14880952.0

struct bench_load {
	const char *name;
	double pps;
	uint32_t frame_bytes;
	uint64_t delay_ns;
	/* with the delay, if any; the frames have headers then; NULL: the delay alone */
	const char *statements;
};

/* Terminated by a row without a name. */
extern const struct bench_load bench_loads[];

/* Returns true if the name of the load contains this part; NULL fits each load. */
bool bench_load_is(const struct bench_load *load, const char *part);

#endif
