/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading what another thread counts, while it counts.
 *
 * A counter has one writer, its worker, who adds to it plainly: a locked or even a separate store would cost each packet.
 * Whoever else reads it does so here, word by word, by a relaxed load: each word is read once and
 * whole, and a moment old; two of them need not be of the same moment. On x86 it is a move.
 *
 * Thread: any.
 */
#ifndef WEIR_COUNTER_READ_H
#define WEIR_COUNTER_READ_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t __attribute__((may_alias)) counter_word;

static inline uint64_t counter_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* A structure of counters; `bytes` is a multiple of 8. */
static inline void counters_read(void *into, const void *from, size_t bytes)
{
	const counter_word *words = (const counter_word *)from;
	counter_word *to = (counter_word *)into;

	for (size_t i = 0; i < bytes / sizeof(*words); i++)
		to[i] = __atomic_load_n(&words[i], __ATOMIC_RELAXED);
}

#endif
