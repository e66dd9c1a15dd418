/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading what another thread counts, while it counts.
 *
 * A counter has one writer, its worker, who adds to it plainly: a locked or even a separate store
 * would cost each packet. Whoever else reads it does so here, word by word, by a relaxed load: each
 * word is read once and whole, and a moment old; two of them need not be of the same moment. On x86
 * it is a move.
 *
 * Thread: any.
 */
#ifndef WEIR_COUNTER_READ_H
#define WEIR_COUNTER_READ_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t __attribute__((may_alias)) counter_word;

/*
 * For a function that reads, and only reads, what a running worker writes plainly: each word whole,
 * a moment old, and through no pointer that the worker may take away. ThreadSanitizer does not look
 * into it: that its reads race with the worker's writes is what it is for. What writes is looked at
 * everywhere, so that two writers are found all the same.
 */
#define READS_WHILE_IT_RUNS __attribute__((no_sanitize("thread")))

static inline READS_WHILE_IT_RUNS uint64_t counter_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* A structure of counters; `bytes` is a multiple of 8. */
static inline READS_WHILE_IT_RUNS void counters_read(void *into, const void *from, size_t bytes)
{
	const counter_word *words = (const counter_word *)from;
	counter_word *to = (counter_word *)into;

	for (size_t i = 0; i < bytes / sizeof(*words); i++)
		to[i] = __atomic_load_n(&words[i], __ATOMIC_RELAXED);
}

/* The same, read until it was twice alike: then it was so at one moment. Of what is written so
 * often that this never comes, words of several moments, after 100 times. `bytes`: at most 512. */
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
