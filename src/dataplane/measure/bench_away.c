/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/bench_away.h"

#include <time.h>

uint64_t bench_away_cpu(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * SIMTIME_S + (uint64_t)time.tv_nsec;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t bench_away_read(struct bench_away *away, simtime now, uint64_t cpu_ns)
{
	uint64_t round = now - away->asked_ns, past = now - away->read_ns;
	uint64_t own = cpu_ns - away->cpu_ns, ns = past > own ? past - own : 0, behind = 0;

	if (!away->started) {
		*away = (struct bench_away){
		        .started = true, .asked_ns = now, .read_ns = now, .cpu_ns = cpu_ns};
		return 0;
	}
	round -= least(ns, round);
	if (away->asked_ns < away->behind_until_ns)
		behind = least(round, away->behind_until_ns - away->asked_ns);
	else if (round > away->longest_own_ns)
		__atomic_store_n(&away->longest_own_ns, round, __ATOMIC_RELAXED);
	if (ns > BENCH_AWAY_LONG_NS) {
		away->returned_ns = now;
		away->behind_until_ns =
		        simtime_max(away->behind_until_ns, now) + BENCH_AWAY_BEHIND * ns;
	}
	away->asked_ns = away->read_ns = now;
	away->cpu_ns = cpu_ns;
	return ns + behind;
}
