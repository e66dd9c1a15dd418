/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures for how long others had the processor of a thread: other processes, the kernel's limit
 * of real-time threads, a hypervisor that reports what it steals. Two clocks show it: the run's,
 * which goes on, and the thread's processor time, which does not.
 *
 * Source: CLOCK_THREAD_CPUTIME_ID, clock_gettime(2). Linux leaves stolen time out of it
 * (CONFIG_PARAVIRT_TIME_ACCOUNTING); the time of interrupts is in it, and so counts as the
 * thread's.
 *
 * The thread calls bench_away_ask at each round. The second clock is a system call, so it is read
 * only after a long round, and once a millisecond.
 *
 * Work that has piled up during an absence is done afterwards. Until then, or for BENCH_AWAY_BEHIND
 * times the length of the absence at most, the thread is behind by no fault of its own. (At a share
 * L of its capacity, that takes L / (1 - L) times as long: 4 at 80 %.)
 *
 * Thread: the one that is watched. `longest_own_ns` may be read, and set to 0, by others.
 */
#ifndef WEIR_BENCH_AWAY_H
#define WEIR_BENCH_AWAY_H

#include <stdbool.h>
#include <stdint.h>

#include "simtime.h"

#define BENCH_AWAY_LONG_NS (20 * SIMTIME_US) /* a round that may contain an absence; an absence */
#define BENCH_AWAY_EACH_NS SIMTIME_MS
#define BENCH_AWAY_BEHIND  4

struct bench_away {
	bool started;
	simtime asked_ns;        /* end of the round before */
	simtime read_ns;         /* the run's clock at the last reading of both */
	uint64_t cpu_ns;         /* the processor time at that reading */
	simtime returned_ns;     /* the end of the last absence */
	simtime behind_until_ns; /* at the latest */
	uint64_t longest_own_ns; /* round, without the others' part, that did not begin behind */
};

/* Returns true if the round that ends at `now` may contain an absence, or the thread may be behind
 * because of one. */
static inline bool bench_away_is_unsure(const struct bench_away *away, simtime now)
{
	return !away->started || now - away->asked_ns > BENCH_AWAY_LONG_NS ||
	       now - away->read_ns > BENCH_AWAY_EACH_NS || away->asked_ns < away->behind_until_ns;
}

/* Ends a round in which nothing was unsure. */
static inline void bench_away_round(struct bench_away *away, simtime now)
{
	if (now - away->asked_ns > away->longest_own_ns)
		__atomic_store_n(&away->longest_own_ns, now - away->asked_ns, __ATOMIC_RELAXED);
	away->asked_ns = now;
}

/* Ends a round at which the thread has had `cpu_ns` of processor time in all. Returns for how long
 * since the last reading others had the processor, or the thread was behind because of them. */
uint64_t bench_away_read(struct bench_away *away, simtime now, uint64_t cpu_ns);
/* Notes that the work of an absence is done. */
static inline void bench_away_caught_up(struct bench_away *away)
{
	away->behind_until_ns = 0;
}

/* Returns the processor time of the calling thread. */
uint64_t bench_away_cpu(void);

/* Ends a round, with a reading of both clocks if one is needed. Returns what bench_away_read
 * returns, or 0. */
static inline uint64_t bench_away_ask(struct bench_away *away, simtime now)
{
	if (__builtin_expect(bench_away_is_unsure(away, now), 0))
		return bench_away_read(away, now, bench_away_cpu());
	bench_away_round(away, now);
	return 0;
}

#endif
