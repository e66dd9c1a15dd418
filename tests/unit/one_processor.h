/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers that share a processor. A thread that waits for a preempted one burns its time slice and
 * is preempted itself: few involuntary switches mean that no thread waited. */
#ifndef WEIR_TEST_ONE_PROCESSOR_H
#define WEIR_TEST_ONE_PROCESSOR_H

#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>

struct one_processor {
	cpu_set_t before;
	uint64_t switches;
};

static inline uint64_t one_processor_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_nivcsw;
}

/* Threads that are made from now on share the processor that this one runs on. */
static inline void one_processor_begin(struct one_processor *one)
{
	cpu_set_t alone;

	CPU_ZERO(&alone);
	CPU_SET(sched_getcpu(), &alone);
	sched_getaffinity(0, sizeof(one->before), &one->before);
	sched_setaffinity(0, sizeof(alone), &alone);
	one->switches = one_processor_switches();
}

/* Returns how often a thread was switched out involuntarily. */
static inline uint64_t one_processor_end(const struct one_processor *one)
{
	sched_setaffinity(0, sizeof(one->before), &one->before);
	return one_processor_switches() - one->switches;
}

#endif
