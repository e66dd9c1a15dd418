/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A list of processors as a user writes it: `2,4-5`. One that stands there twice counts twice: two
 * workers that share it.
 */
#ifndef WEIR_CPU_LIST_H
#define WEIR_CPU_LIST_H

#include <stdint.h>

#include "scenario/problem.h"

#define CPU_LIST_MAX 63

struct cpu_list {
	uint32_t n;
	uint32_t cpu[CPU_LIST_MAX];
};

/* `text`: numbers and ranges with commas between, each a processor on which this process may run.
 * NULL: the last one of those. 0, or -EINVAL with problem. */
int cpu_list_parse(const char *text, struct cpu_list *list, struct problem *problem);

#endif
