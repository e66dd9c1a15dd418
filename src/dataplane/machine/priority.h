/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the kernel schedules a thread on which packets wait, when other programs want its processor.
 *
 *   PRIORITY_FIFO   SCHED_FIFO: it runs as soon as it wakes up. Takes CAP_SYS_NICE, or an
 *                   RLIMIT_RTPRIO of that level.
 *   PRIORITY_SLICE  as other programs, with a time slice of 300 us: a shorter one comes earlier
 *                   (EEVDF; sched_setattr from Linux 6.12 on). Takes no right. With 100 us, the
 *                   least that the kernel takes, a worker is preempted in the middle of its work.
 *   PRIORITY_NONE   as the process was started
 *
 * Only a thread that sleeps gets PRIORITY_FIFO. Such a thread cannot take its processor from the
 * others, for three reasons:
 *
 *   - It gives up its priority if it has been awake for PRIORITY_MOST_NS longer than asleep, and
 *     takes it again when that is made up (priority_spent, priority_slept). So the others have half
 *     of the processor, however many packets come.
 *   - If it does not come to that (a loop in weir that does not end), the kernel signals it after
 *     PRIORITY_RUNAWAY_NS without a sleep (RLIMIT_RTTIME), and the handler takes the priority away.
 *   - The kernel leaves 5 % of each second to ordinary threads (sched_rt_runtime_us, or the
 *     deadline server of Linux 6.12).
 *
 * What it starts (fork) is an ordinary thread.
 *
 * Thread: each thread its own. priority_decide, priority_capabilities, priority_text: any.
 */
#ifndef WEIR_PRIORITY_H
#define WEIR_PRIORITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scenario/problem.h"
#include "simtime.h"

#define PRIORITY_LEVEL      50 /* as that of threads of interrupts */
#define PRIORITY_LEVEL_MOST 99
#define PRIORITY_SLICE_NS   (300 * SIMTIME_US)
#define PRIORITY_MOST_NS    (20 * SIMTIME_MS)
#define PRIORITY_RUNAWAY_NS (200 * SIMTIME_MS)

enum priority_kind {
	PRIORITY_NONE,
	PRIORITY_SLICE,
	PRIORITY_FIFO,
	PRIORITY_BEST, /* a wish: the best that a thread may have */
};

struct priority {
	enum priority_kind kind;
	uint32_t level; /* of PRIORITY_FIFO; of PRIORITY_BEST, if that becomes PRIORITY_FIFO */
	/* of a thread that has PRIORITY_FIFO */
	simtime even_ns; /* it is awake since then, if a sleep makes up for as much */
	bool lowered;    /* ordinary for a while */
};

/* What the kernel lets threads of this process have. */
struct priority_rights {
	uint32_t fifo_most; /* the highest level of SCHED_FIFO; 0: none */
	bool slices;        /* the kernel gives them */
};

/* Finds out by trying, in a thread of its own. `level`: of SCHED_FIFO, the one of interest; a limit
 * (RLIMIT_RTPRIO) is raised to that, if this process may. */
void priority_rights_read(uint32_t level, struct priority_rights *rights);
/* Decides what a thread gets that wishes for `wish`. `sleeps`: it sleeps when it has nothing to do.
 * Returns 0, or -EPERM with problem if the wish is not PRIORITY_BEST, and cannot be granted. */
int priority_decide(const struct priority *wish, const struct priority_rights *rights, bool sleeps,
                    struct priority *decided, struct problem *problem);
/* Gives the calling thread its priority, and exact timers. Returns 0 or -errno. */
int priority_take(struct priority *priority);
/* Returns the capabilities, as bits 1 << CAP_..., that the thread needs to take its priority again:
 * CAP_SYS_NICE, if the limit could not be raised for lack of CAP_SYS_RESOURCE. */
uint64_t priority_capabilities(const struct priority *priority);
/* Writes `SCHED_FIFO 50`, `slices of 300us`, or "" for PRIORITY_NONE. */
void priority_text(const struct priority *priority, char *text, size_t room);

/* The slow parts of the two functions below. */
void priority_lower(struct priority *priority, simtime now);
void priority_raise(struct priority *priority);

/* Begins the account of a thread. */
static inline void priority_begin(struct priority *priority, simtime now)
{
	priority->even_ns = now;
}

/* To be called while the thread is awake. Costs a comparison. */
static inline void priority_spent(struct priority *priority, simtime now)
{
	if (__builtin_expect(priority->kind == PRIORITY_FIFO, 0) &&
	    now > priority->even_ns + PRIORITY_MOST_NS)
		priority_lower(priority, now);
}

/* To be called after a sleep. */
static inline void priority_slept(struct priority *priority, simtime from, simtime to)
{
	simtime even_ns = priority->even_ns + 2 * (to - from);

	if (priority->kind != PRIORITY_FIFO)
		return;
	priority->even_ns = even_ns < to ? even_ns : to;
	if (__builtin_expect(priority->lowered && priority->even_ns == to, 0))
		priority_raise(priority);
}

#endif
