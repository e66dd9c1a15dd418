/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heap of a live run: one for all threads, without large blocks.
 *
 * glibc gives each thread that allocates beside others a heap of its own, up to eight a processor,
 * and a heap keeps what it has once been asked for. And once a large block (a table of TCP flows,
 * 1.4 MB) has been freed, the next one comes from a heap, and stays there. The parts of a change
 * are made by threads (executor.h), so the memory of a weir that runs for hours grew whenever more
 * threads met than ever before. With this, blocks of SHARED_HEAP_LARGE bytes and more are mapped,
 * and go back to the kernel when they are freed. Workers allocate nothing, so nobody whose time
 * counts waits for the one heap.
 *
 * Source: mallopt(3), M_ARENA_MAX and M_MMAP_THRESHOLD. Another C library keeps its own way.
 * Thread: the main thread, before there are others.
 */
#ifndef WEIR_SHARED_HEAP_H
#define WEIR_SHARED_HEAP_H

#define SHARED_HEAP_LARGE (128 * 1024)

void shared_heap_use(void);

#endif
