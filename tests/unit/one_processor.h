/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers that share a processor. A thread that waits for a preempted one burns its time slice, so
 * the work takes many times its own processor time. Other processes on the machine take wall time,
 * which is not measured. */
#ifndef WEIR_TEST_ONE_PROCESSOR_H
#define WEIR_TEST_ONE_PROCESSOR_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* How much more processor time the work may take than with one worker after the other. With queues
 * whose producers wait for each other it is some hundred times as much. */
#define ONE_PROCESSOR_MORE 10

/* Returns the processor time of all threads of this process. */
static inline uint64_t one_processor_spent_ns(void)
{
	struct timespec spent;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
	return (uint64_t)spent.tv_sec * 1000000000 + (uint64_t)spent.tv_nsec;
}

/* Calls `work` on one processor, which all threads that it makes share. Returns the processor time
 * that it took. */
static inline uint64_t one_processor(void (*work)(bool in_turn), bool in_turn)
{
	uint64_t before_ns;
	cpu_set_t before, alone;

	CPU_ZERO(&alone);
	CPU_SET(sched_getcpu(), &alone);
	sched_getaffinity(0, sizeof(before), &before);
	sched_setaffinity(0, sizeof(alone), &alone);
	before_ns = one_processor_spent_ns();
	work(in_turn);
	before_ns = one_processor_spent_ns() - before_ns;
	sched_setaffinity(0, sizeof(before), &before);
	return before_ns;
}

#endif
