/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading of counters that another thread writes meanwhile.
 *
 * A counter has one writer, its worker, which increments it by plain code: a locked or even a
 * separate store would cost time for each packet. Every other thread reads it here, word by word,
 * by relaxed loads: each word is read once and whole, and is a moment old; two words need not be of
 * the same moment. On x86 the load is a move.
 *
 * Thread: any.
 */
#ifndef WEIR_COUNTER_READ_H
#define WEIR_COUNTER_READ_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t __attribute__((may_alias)) counter_word;

/*
 * For a function that reads, and only reads, what a running worker writes by plain code: each word
 * whole, a moment old, and through no pointer that the worker may take away. ThreadSanitizer
 * ignores such a function, whose purpose is to read while the worker writes. Code that writes is
 * checked everywhere, so that two writers are still found.
 */
#define READS_WHILE_IT_RUNS __attribute__((no_sanitize("thread")))

static inline READS_WHILE_IT_RUNS uint64_t counter_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* Reads a structure of counters; `bytes` is a multiple of 8. */
static inline READS_WHILE_IT_RUNS void counters_read(void *into, const void *from, size_t bytes)
{
	const counter_word *words = (const counter_word *)from;
	counter_word *to = (counter_word *)into;

	for (size_t i = 0; i < bytes / sizeof(*words); i++)
		to[i] = __atomic_load_n(&words[i], __ATOMIC_RELAXED);
}

/* Does the same until two readings are equal: then all words are of one moment. If the structure is
 * written too often for that, its words are of several moments after 100 tries. `bytes`: at most
 * 512. */
static inline void counters_read_whole(void *into, const void *from, size_t bytes)
{
	uint64_t again[64];

	counters_read(into, from, bytes);
	for (int tries = 0; tries < 100; tries++) {
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		counters_read(again, from, bytes);
		if (__builtin_memcmp(again, into, bytes) == 0)
			return;
		__builtin_memcpy(into, again, bytes);
	}
}

#endif
