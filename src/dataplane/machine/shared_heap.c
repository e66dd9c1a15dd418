/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/shared_heap.h"

#include <malloc.h>

void shared_heap_use(void)
{
#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, 1);
#endif
}
