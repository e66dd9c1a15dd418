/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into ns-2, which prints the value of a traced variable with "%g", that is six digits.
 * This prints seventeen, so that averages can be compared. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int sprintf(char *restrict out, const char *restrict format, ...);
int snprintf(char *restrict out, size_t bytes, const char *restrict format, ...);
int __sprintf_chk(char *out, int flag, size_t room, const char *format, ...);
int __snprintf_chk(char *out, size_t bytes, int flag, size_t room, const char *format, ...);

static const char *in_full(const char *format)
{
	return strcmp(format, "%g") == 0 ? "%.17g" : format;
}

#define PRINT(call)                                                                                \
	va_list arguments;                                                                         \
	int n;                                                                                     \
	va_start(arguments, format);                                                               \
	n = call;                                                                                  \
	va_end(arguments);                                                                         \
	return n

#pragma GCC diagnostic ignored "-Wformat-nonliteral"

int sprintf(char *restrict out, const char *restrict format, ...)
{
	PRINT(vsprintf(out, in_full(format), arguments));
}

int snprintf(char *restrict out, size_t bytes, const char *restrict format, ...)
{
	PRINT(vsnprintf(out, bytes, in_full(format), arguments));
}

int __sprintf_chk(char *out, int flag, size_t room, const char *format, ...)
{
	(void)flag;
	(void)room;
	PRINT(vsprintf(out, in_full(format), arguments));
}

int __snprintf_chk(char *out, size_t bytes, int flag, size_t room, const char *format, ...)
{
	(void)flag;
	(void)room;
	PRINT(vsnprintf(out, bytes, in_full(format), arguments));
}
