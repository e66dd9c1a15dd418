/* SPDX-License-Identifier: BSD-3-Clause */
/* To be preloaded: the process may use the processors 0 to 255, however many this machine has. */
#include <sched.h>
#include <string.h>

__attribute__((visibility("default"))) int sched_getaffinity(pid_t process, size_t bytes,
                                                             cpu_set_t *set)
{
	(void)process;
	memset(set, 0, bytes);
	for (size_t processor = 0; processor < 256; processor++)
		CPU_SET_S(processor, bytes, set);
	return 0;
}
