/* SPDX-License-Identifier: BSD-3-Clause */
/* The program is linked with --wrap: calls from its own objects arrive here, calls from libraries
 * do not. */
#include "starve.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static uint64_t left = UINT64_MAX, refused;

static bool starves(void)
{
	if (left == UINT64_MAX)
		return false;
	if (left > 0) {
		left--;
		return false;
	}
	refused++;
	errno = ENOMEM;
	return true;
}

void starve_after(uint64_t allocations)
{
	left = allocations;
	refused = 0;
}

uint64_t starve_end(void)
{
	left = UINT64_MAX;
	return refused;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t bytes)
{
	return starves() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
	return starves() ? NULL : __real_calloc(n, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
	return starves() ? NULL : __real_realloc(old, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
	return starves() ? NULL : __real_aligned_alloc(alignment, bytes);
}

char *__wrap_strdup(const char *text)
{
	return starves() ? NULL : __real_strdup(text);
}
