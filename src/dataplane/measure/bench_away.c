/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/bench_away.h"

#include <time.h>

uint64_t bench_away_cpu(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * SIMTIME_S + (uint64_t)time.tv_nsec;
}

uint64_t bench_away_read(struct bench_away *away, simtime now, uint64_t cpu_ns)
{
	uint64_t round = now - away->asked_ns, past = now - away->read_ns;
	uint64_t own = cpu_ns - away->cpu_ns, ns = past > own ? past - own : 0;
	bool began = !away->started;

	away->started = true;
	away->asked_ns = away->read_ns = now;
	away->cpu_ns = cpu_ns;
	if (began)
		return 0;
	round -= ns < round ? ns : round;
	if (round > away->longest_own_ns)
		__atomic_store_n(&away->longest_own_ns, round, __ATOMIC_RELAXED);
	return ns;
}
