/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machine's own noise: the delays of a loop that does nothing but read the time stamp counter.
 *
 * If two readings lie further apart than BENCH_GAP_NS, something other than the loop ran between
 * them: an interrupt, another process, another guest of the host. The sum of these gaps is what was
 * taken away.
 *
 * The loop also waits for the instants of an even grid, as an emulator waits for due times. How
 * long after each instant the loop notices it is the lateness below which no program on this core
 * can go.
 *
 * Thread: the one that is measured, which should be bound to its core.
 */
#ifndef WEIR_BENCH_NOISE_H
#define WEIR_BENCH_NOISE_H

#include <stdint.h>

#include "account/histogram.h"

#define BENCH_GAP_NS 1000

struct bench_noise {
	uint64_t duration_ns;
	uint64_t taken_ns;   /* in gaps above BENCH_GAP_NS */
	uint64_t longest_ns; /* longest gap */
	uint64_t gaps;
	struct histogram lateness_ns; /* of the grid's instants */
};

/* Watches for `duration_ns`. `grid_ns` is the distance of the grid's instants, 0: no grid.
 * `tick_ns` is the length of a tick of the TSC. Adds to *noise, which is all zero at first. */
void bench_noise_watch(struct bench_noise *noise, double tick_ns, uint64_t duration_ns,
                       double grid_ns);

static inline double bench_noise_share(const struct bench_noise *noise)
{
	return noise->duration_ns ? (double)noise->taken_ns / (double)noise->duration_ns : 0;
}

#endif
