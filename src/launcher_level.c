/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher_level.h"

#include <cpuid.h>
#include <stdbool.h>

/* The compiler's table covers the features whose registers the kernel must save, and checks that it
 * does. LZCNT, MOVBE and F16C are not in the table of every compiler. */
static bool has_v3(void)
{
	unsigned a, b, c = 0, d, extended = 0;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !__get_cpuid(0x80000001, &a, &b, &extended, &d))
		return false;
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
	       __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma") && (c & bit_MOVBE) &&
	       (c & bit_F16C) && (extended & bit_LZCNT);
}

static bool has_v4(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("avx512vl");
}

int level_of_processor(void)
{
	__builtin_cpu_init();
	if (!has_v3())
		return LEVEL_LEAST;
	return has_v4() ? 4 : 3;
}
