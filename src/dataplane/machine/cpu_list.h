/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A list of processors as a user writes it: `2,4-5`. A processor that is listed twice counts twice:
 * two workers share it.
 */
#ifndef WEIR_CPU_LIST_H
#define WEIR_CPU_LIST_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#include "scenario/problem.h"

#define CPU_LIST_MAX 63

struct cpu_list {
	uint32_t n;
	uint32_t cpu[CPU_LIST_MAX];
};

/* Finds the processors that may be named: the affinity of this thread, and the processors that the
 * kernel keeps for explicit use (`isolcpus=`; the file `isolated` lists them). No process begins
 * with isolated processors in its affinity. A processor outside the process's cpuset is left out.
 * The affinity stays. Returns 0 or -errno. */
#define CPU_ISOLATED "/sys/devices/system/cpu/isolated"
int cpu_list_allowed(const char *isolated, cpu_set_t *allowed);

/* Finds the processors that the kernel keeps from ordinary programs: isolcpus=, nohz_full=, and
 * isolated partitions of cpusets. `root` precedes the paths of the files; "" except in tests. */
void cpu_list_isolated(const char *root, cpu_set_t *isolated);

/* Parses `text`: numbers and ranges with commas between, of processors that cpu_list_allowed()
 * finds. If `text` is NULL, the list is the last processor of the affinity. Returns 0, -EINVAL, or
 * the error of cpu_list_allowed(), both with problem. */
int cpu_list_parse(const char *text, struct cpu_list *list, struct problem *problem);

/* Writes the processors of a set as text: `0-3,8`. Any set fits into CPU_LIST_TEXT bytes. */
#define CPU_LIST_TEXT 4096
void cpu_list_text(const cpu_set_t *set, char *text, size_t room);

#endif
