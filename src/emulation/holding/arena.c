/* SPDX-License-Identifier: BSD-3-Clause */
#include "holding/arena.h"

#include <string.h>

void arena_init(struct arena *arena, void *memory, size_t bytes)
{
	memset(arena, 0, sizeof(*arena));
	arena->base = memory;
	arena->fresh = memory;
	arena->end = arena->base + bytes;
}
