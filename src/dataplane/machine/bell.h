/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wakes a thread that sleeps, when another one has put something into a ring for it.
 *
 *   sleeper                            ringer
 *   bell_listen()                      puts into the ring
 *   ring empty? poll on `fd`           bell_ring(): a system call only if the sleeper listens
 *   bell_ignore()
 *
 * Either the sleeper finds what was put into the ring, or the ringer finds that it listens.
 *
 * Thread: one sleeper, any number of ringers.
 */
#ifndef WEIR_BELL_H
#define WEIR_BELL_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ring.h>

/*
 * The number of entries in a ring, for either of its ends and for onlookers. Computed like
 * rte_ring_count, but from atomic loads, so that ThreadSanitizer accepts them; the machine code is
 * the same.
 *
 * Thread: any; what the other end does meanwhile is seen or not.
 */

static inline uint32_t ring_waiting(const struct rte_ring *ring)
{
	uint32_t put = __atomic_load_n(&ring->prod.tail, __ATOMIC_RELAXED);
	uint32_t n = (put - __atomic_load_n(&ring->cons.tail, __ATOMIC_RELAXED)) & ring->mask;

	return n > ring->capacity ? ring->capacity : n;
}

static inline bool ring_is_empty(const struct rte_ring *ring)
{
	return __atomic_load_n(&ring->prod.tail, __ATOMIC_RELAXED) ==
	       __atomic_load_n(&ring->cons.tail, __ATOMIC_RELAXED);
}

static inline uint32_t ring_room(const struct rte_ring *ring)
{
	return ring->capacity - ring_waiting(ring);
}

struct bell {
	bool made; /* if not, the thread does not listen, and nothing is rung */
	int fd;    /* readable when it has been rung */
	uint32_t listens;
};

/* Returns 0 or -errno. A struct of zeros is a bell that is not made. */
int bell_make(struct bell *bell);
void bell_free(struct bell *bell);
/* The slow part of bell_ring. */
void bell_strike(struct bell *bell);

static inline void bell_listen(struct bell *bell)
{
	__atomic_exchange_n(&bell->listens, 1, __ATOMIC_SEQ_CST);
}

/* After the sleep. `rung`: poll has found `fd` readable. */
void bell_ignore(struct bell *bell, bool rung);

static inline void bell_ring(struct bell *bell)
{
	if (!bell->made)
		return;
	/* Not a load: either this comes after bell_listen, or that sees what is in the ring. */
	if (__atomic_fetch_add(&bell->listens, 0, __ATOMIC_SEQ_CST))
		bell_strike(bell);
}

#endif
