/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/shared_heap.h"

#include <malloc.h>

void shared_heap_use(void)
{
#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, 1);
	/* One that is set does not grow with what is freed. */
	mallopt(M_MMAP_THRESHOLD, SHARED_HEAP_LARGE);
#endif
}
