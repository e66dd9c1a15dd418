/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The number of entries in a ring, for either of its ends and for onlookers. Computed like
 * rte_ring_count, but from atomic loads, so that ThreadSanitizer accepts them; the machine code is
 * the same.
 *
 * Thread: any; what the other end does meanwhile is seen or not.
 */
#ifndef WEIR_RING_LOOK_H
#define WEIR_RING_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ring.h>

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

#endif
