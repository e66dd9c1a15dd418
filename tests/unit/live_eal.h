/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK's environment for tests with devices, as fixtures of a group of claims. All workers share
 * the last processor that this process may use.
 */
#ifndef WEIR_LIVE_EAL_H
#define WEIR_LIVE_EAL_H

#include <stdio.h>

#include "machine/cpu_list.h"
#include "machine/eal.h"

/* Returns 0, or -1 if DPDK does not start. */
static inline int live_eal_start(unsigned workers)
{
	struct problem problem;
	struct cpu_list last;
	char cores[64] = "";

	if (cpu_list_parse(NULL, &last, &problem) < 0)
		return -1;
	for (unsigned i = 0, at = 0; i < workers; i++)
		at += (unsigned)snprintf(cores + at, sizeof(cores) - at, "%s%u", i ? "," : "",
		                         last.cpu[0]);
	return eal_start_live(cores, 0, NULL, false, 128, &problem);
}

static inline int live_eal_stop(void **state)
{
	(void)state;
	eal_stop_live();
	return 0;
}

#endif
