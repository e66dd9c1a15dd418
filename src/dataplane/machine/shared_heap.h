/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heap of a live run: one for all threads, without large blocks.
 *
 * If threads allocate at the same time, glibc gives each a heap of its own, up to eight a
 * processor, and a heap keeps the memory that it has once taken. And once a large block (a table of
 * TCP flows, 1.4 MB) has been freed, the next such block comes from a heap, and stays there. The
 * parts of a change are made by threads (executor.h), so the memory of a weir that runs for hours
 * grew whenever more threads allocated at once than ever before. With these settings, blocks of
 * SHARED_HEAP_LARGE bytes and more are mapped, and go back to the kernel when they are freed.
 * Workers allocate nothing, so no time-critical thread waits for the one heap.
 *
 * Source: mallopt(3), M_ARENA_MAX and M_MMAP_THRESHOLD. Other C libraries are left as they are.
 *
 * Thread: the main thread, before there are others.
 */
#ifndef WEIR_SHARED_HEAP_H
#define WEIR_SHARED_HEAP_H

#define SHARED_HEAP_LARGE (128 * 1024)

void shared_heap_use(void);

#endif
