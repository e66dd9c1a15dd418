/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/cpu_level.h"

#include <limits.h>
#include <unistd.h>

const char *cpu_level(void)
{
	static const char level[] = WEIR_CPU_LEVEL;

#if defined(__aarch64__)
	return level[0] ? level : "arm64";
#else
	return level[0] ? level : "any processor";
#endif
}

const char *cpu_level_program(void)
{
	static _Thread_local char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n <= 0)
		return "weir";
	path[n] = '\0';
	return path;
}
