/* SPDX-License-Identifier: BSD-3-Clause */
#include "eal/offline_eal.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_version.h>

#define CPUS_TEXT_BYTES 4096

/* Writes the option for one lcore that may run on all processors permitted to this process:
 * `0@(2,3)`. The EAL would otherwise bind the caller to one processor. */
static void lcore_text(char *text, size_t room)
{
	cpu_set_t cpus;
	size_t at = (size_t)snprintf(text, room, "0@(");

	CPU_ZERO(&cpus);
	if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
		CPU_SET(0, &cpus);
	for (int cpu = 0; cpu < CPU_SETSIZE && at < room; cpu++) {
		if (CPU_ISSET(cpu, &cpus))
			at += (size_t)snprintf(text + at, room - at, "%s%d",
			                       text[at - 1] == '(' ? "" : ",", cpu);
	}
	if (at < room)
		snprintf(text + at, room - at, ")");
}

int offline_eal_start(unsigned memory_mib, struct problem *problem)
{
	char memory[16], lcores[CPUS_TEXT_BYTES];
	char *arguments[] = {
	        "weir",
	        "--no-huge",
	        "--no-pci",
	        "--no-shconf",
	        "--no-telemetry",
	        "--log-level=*:critical",
	        "-m",
	        memory,
	        "--lcores",
	        lcores,
	        NULL,
	};

	snprintf(memory, sizeof(memory), "%u", memory_mib);
	lcore_text(lcores, sizeof(lcores));
	if (rte_eal_init((int)(sizeof(arguments) / sizeof(arguments[0])) - 1, arguments) >= 0)
		return 0;
	problem_set(problem, -1, "DPDK %s could not be started without hugepages: %s",
	            rte_version() + strlen("DPDK "), rte_strerror(rte_errno));
	return rte_errno ? -rte_errno : -EIO;
}

void offline_eal_stop(void)
{
	rte_eal_cleanup();
}
