/* SPDX-License-Identifier: BSD-3-Clause */
#include "holding/arena.h"

#include <stdlib.h>

#define PAGE_BYTES 4096u

void *arena_beside(const struct arena *arena, size_t bytes)
{
	uint8_t *memory = calloc(1, bytes);

	/* A loop that the compiler does not know to be calloc's. */
	for (size_t at = 0; memory && arena->live && at < bytes; at += PAGE_BYTES)
		*(volatile uint8_t *)(memory + at) = 0;
	return memory;
}
