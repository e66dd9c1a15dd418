/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One heap for all threads of a live run.
 *
 * glibc gives each thread that allocates beside others a heap of its own, up to eight a processor,
 * and a heap keeps what it has once been asked for. The parts of a change are made by threads
 * (executor.h), a queue with bands takes 1 MB, and so the memory of a weir that runs for hours grew
 * whenever more threads met than ever before. Workers allocate nothing, so nobody whose time counts
 * waits for the one heap.
 *
 * Source: mallopt(3), M_ARENA_MAX. Another C library keeps its own way.
 * Thread: the main thread, before there are others.
 */
#ifndef WEIR_SHARED_HEAP_H
#define WEIR_SHARED_HEAP_H

void shared_heap_use(void);

#endif
