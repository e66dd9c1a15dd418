/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/bench_noise.h"

#include <rte_cycles.h>

#define GRID_BITS 16 /* of a fraction of a tick */

static uint64_t ns_of(uint64_t ticks, double tick_ns)
{
	return (uint64_t)((double)ticks * tick_ns);
}

/* Adds the lateness of the instants that have passed between two readings, and were noticed at the
 * second. Returns the next instant. */
static uint64_t notice(struct bench_noise *noise, uint64_t next_q, uint64_t step_q, uint64_t start,
                       uint64_t now, double tick_ns)
{
	while (start + (next_q >> GRID_BITS) <= now) {
		uint64_t late = now - start - (next_q >> GRID_BITS);

		histogram_add(&noise->lateness_ns, ns_of(late, tick_ns), 1);
		next_q += step_q;
	}
	return next_q;
}

void bench_noise_watch(struct bench_noise *noise, double tick_ns, uint64_t duration_ns,
                       double grid_ns)
{
	uint64_t gap = (uint64_t)(BENCH_GAP_NS / tick_ns);
	uint64_t step_q = (uint64_t)(grid_ns / tick_ns * (1 << GRID_BITS)), next_q = step_q;
	uint64_t start = rte_rdtsc(), before = start, now;
	uint64_t end = start + (uint64_t)((double)duration_ns / tick_ns);

	do {
		now = rte_rdtsc();
		if (now - before > gap) {
			uint64_t taken_ns = ns_of(now - before, tick_ns);

			noise->gaps++;
			noise->taken_ns += taken_ns;
			if (taken_ns > noise->longest_ns)
				noise->longest_ns = taken_ns;
		}
		before = now;
		if (step_q && start + (next_q >> GRID_BITS) <= now)
			next_q = notice(noise, next_q, step_q, start, now, tick_ns);
	} while (now < end);
	noise->duration_ns += ns_of(now - start, tick_ns);
}
