/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdarg.h>

#include "scenario/problem.h"

int problem_set(struct problem *problem, int field, const char *format, ...)
{
	va_list arguments;

	problem->field = field;
	problem->letter = 0;
	problem->port = 0;
	va_start(arguments, format);
	__builtin_vsnprintf(problem->text, sizeof(problem->text), format, arguments);
	va_end(arguments);
	return -EINVAL;
}
