/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For how long others had the processor of a thread: other processes, the kernel's limit of
 * real-time threads, a hypervisor that says what it steals. Two clocks tell: the run's, which goes
 * on, and the thread's processor time, which does not.
 *
 * Source: CLOCK_THREAD_CPUTIME_ID, clock_gettime(2). Linux leaves stolen time out of it
 * (CONFIG_PARAVIRT_TIME_ACCOUNTING); what interrupts take is in it, and so counts as the thread's.
 *
 * The thread asks at each round. The second clock is a system call, so it is read only after a
 * round that was long, and once a millisecond.
 *
 * What an absence has left is worked off afterwards. Until then, or for BENCH_AWAY_BEHIND times as
 * long as the absence was at most, the thread is behind by no fault of its own. (At a share L of
 * what it can do, that takes L / (1 - L) times as long: 4 at 80 %.)
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
	simtime asked_ns;        /* the round before */
	simtime read_ns;         /* the last reading of both clocks, */
	uint64_t cpu_ns;         /* and the second one */
	simtime returned_ns;     /* the end of the last absence */
	simtime behind_until_ns; /* at the latest */
	uint64_t longest_own_ns; /* round, without what others had of it, that began not behind */
};

/* Whether the round that ends at `now` may contain an absence, or what comes behind one. */
static inline bool bench_away_is_unsure(const struct bench_away *away, simtime now)
{
	return !away->started || now - away->asked_ns > BENCH_AWAY_LONG_NS ||
	       now - away->read_ns > BENCH_AWAY_EACH_NS || away->asked_ns < away->behind_until_ns;
}

/* A round has ended, and nothing was unsure. */
static inline void bench_away_round(struct bench_away *away, simtime now)
{
	if (now - away->asked_ns > away->longest_own_ns)
		__atomic_store_n(&away->longest_own_ns, now - away->asked_ns, __ATOMIC_RELAXED);
	away->asked_ns = now;
}

/* A round has ended, and the thread has had `cpu_ns` of processor time. For how long since the last
 * reading others had it, or the thread was behind because of them. */
uint64_t bench_away_read(struct bench_away *away, simtime now, uint64_t cpu_ns);
/* What an absence has left has been worked off. */
static inline void bench_away_caught_up(struct bench_away *away)
{
	away->behind_until_ns = 0;
}

/* The processor time of the calling thread. */
uint64_t bench_away_cpu(void);

/* The same, with a reading if it takes one. */
static inline uint64_t bench_away_ask(struct bench_away *away, simtime now)
{
	if (__builtin_expect(bench_away_is_unsure(away, now), 0))
		return bench_away_read(away, now, bench_away_cpu());
	bench_away_round(away, now);
	return 0;
}

#endif
