/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/shared_heap.h"

#include <malloc.h>

void shared_heap_use(void)
{
#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, 1);
	/* A threshold that is set does not grow with the size of freed blocks. */
	mallopt(M_MMAP_THRESHOLD, SHARED_HEAP_LARGE);
#endif
}
