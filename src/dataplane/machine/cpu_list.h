/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A list of processors as a user writes it: `2,4-5`. One that stands there twice counts twice: two
 * workers that share it.
 */
#ifndef WEIR_CPU_LIST_H
#define WEIR_CPU_LIST_H

#include <sched.h>
#include <stdint.h>

#include "scenario/problem.h"

#define CPU_LIST_MAX 63

struct cpu_list {
	uint32_t n;
	uint32_t cpu[CPU_LIST_MAX];
};

/* The processors that may be named: those of this thread's affinity, and those that the kernel
 * keeps for whoever asks for them (`isolcpus=`; the file `isolated` lists them). No process begins
 * with these in its affinity; one that is outside the process's cpuset is left out. The affinity
 * stays. 0 or -errno. */
#define CPU_ISOLATED "/sys/devices/system/cpu/isolated"
int cpu_list_allowed(const char *isolated, cpu_set_t *allowed);

/* `text`: numbers and ranges with commas between, each one that cpu_list_allowed() knows. NULL: the
 * last one of the affinity. 0, or -EINVAL with problem. */
int cpu_list_parse(const char *text, struct cpu_list *list, struct problem *problem);

#endif
