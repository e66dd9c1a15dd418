/* SPDX-License-Identifier: BSD-3-Clause */
#include "poison_ops.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_errno.h>
#include <rte_mbuf.h>

#if defined(__SANITIZE_ADDRESS__)
#define POISON_REAL 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISON_REAL 1
#endif
#endif

#ifdef POISON_REAL
#include <sanitizer/asan_interface.h>
#else
#define POISON_REAL                            0
#define ASAN_POISON_MEMORY_REGION(at, bytes)   ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

/* What is known of an object: an entry of a hash table over addresses. */
struct place {
	void *object;
	bool inside;
};

struct poison {
	pthread_mutex_t lock; /* one that ThreadSanitizer sees: DPDK's spinlock is assembler */
	bool armed;
	uint64_t gets, puts, limit;
	uint32_t objects; /* that were ever put */
	uint32_t size;    /* of the ring, at least the pool's */
	uint32_t head, inside;
	void **ring;
	uint32_t mask;
	struct place *places;
};

static struct poison *poison_of(const struct rte_mempool *pool)
{
	return pool->pool_data;
}

static struct place *place_of(struct poison *poison, void *object)
{
	uint64_t hash = ((uint64_t)(uintptr_t)object >> 6) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t i = (uint32_t)(hash >> 32) & poison->mask;

	while (poison->places[i].object && poison->places[i].object != object)
		i = (i + 1) & poison->mask;
	return &poison->places[i];
}

static int poison_alloc(struct rte_mempool *pool)
{
	struct poison *poison = calloc(1, sizeof(*poison));
	uint32_t places = 64;

	if (!poison)
		return -ENOMEM;
	while (places < 2 * pool->size)
		places *= 2;
	poison->size = pool->size;
	poison->mask = places - 1;
	poison->limit = UINT64_MAX;
	poison->ring = calloc(poison->size, sizeof(void *));
	poison->places = calloc(places, sizeof(struct place));
	pthread_mutex_init(&poison->lock, NULL);
	if (!poison->ring || !poison->places) {
		free(poison->ring);
		free(poison->places);
		free(poison);
		return -ENOMEM;
	}
	pool->pool_data = poison;
	return 0;
}

/* The memory of the objects goes back to the EAL, which writes to it. */
static void poison_free(struct rte_mempool *pool)
{
	struct poison *poison = poison_of(pool);

	for (uint32_t i = 0; poison->armed && i <= poison->mask; i++) {
		if (poison->places[i].object)
			ASAN_UNPOISON_MEMORY_REGION(poison->places[i].object, pool->elt_size);
	}
	free(poison->ring);
	free(poison->places);
	free(poison);
	pool->pool_data = NULL;
}

static int poison_enqueue(struct rte_mempool *pool, void *const *objects, unsigned n)
{
	struct poison *poison = poison_of(pool);

	pthread_mutex_lock(&poison->lock);
	for (unsigned i = 0; i < n; i++) {
		struct place *place = place_of(poison, objects[i]);

		if (place->inside || poison->inside == poison->size) {
			fprintf(stderr, "weir_poison: %p was put into pool %s twice\n", objects[i],
			        pool->name);
			abort();
		}
		if (!place->object) {
			/* the pool's own filling */
			place->object = objects[i];
			poison->objects++;
		} else {
			poison->puts++;
		}
		place->inside = true;
		poison->ring[(poison->head + poison->inside++) % poison->size] = objects[i];
		if (poison->armed)
			ASAN_POISON_MEMORY_REGION(objects[i], pool->elt_size);
	}
	pthread_mutex_unlock(&poison->lock);
	return 0;
}

static int poison_dequeue(struct rte_mempool *pool, void **objects, unsigned n)
{
	struct poison *poison = poison_of(pool);
	int error = 0;

	pthread_mutex_lock(&poison->lock);
	if (n > poison->inside || n > poison->limit) {
		error = -ENOBUFS;
		goto out;
	}
	for (unsigned i = 0; i < n; i++) {
		objects[i] = poison->ring[poison->head];
		poison->head = (poison->head + 1) % poison->size;
		place_of(poison, objects[i])->inside = false;
		if (poison->armed)
			ASAN_UNPOISON_MEMORY_REGION(objects[i], pool->elt_size);
	}
	poison->inside -= n;
	poison->gets += n;
	if (poison->limit != UINT64_MAX)
		poison->limit -= n;
out:
	pthread_mutex_unlock(&poison->lock);
	return error;
}

static unsigned poison_count(const struct rte_mempool *pool)
{
	return __atomic_load_n(&poison_of(pool)->inside, __ATOMIC_RELAXED);
}

static const struct rte_mempool_ops poison_ops = {
        .name = POISON_OPS,
        .alloc = poison_alloc,
        .free = poison_free,
        .enqueue = poison_enqueue,
        .dequeue = poison_dequeue,
        .get_count = poison_count,
};

RTE_MEMPOOL_REGISTER_OPS(poison_ops)

int poison_is_real(void)
{
	return POISON_REAL;
}

struct rte_mempool *poison_pool_make(const char *name, uint32_t mbufs, uint16_t private_bytes,
                                     uint16_t data_room)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create_by_ops(name, mbufs, 0, private_bytes,
	                                                          data_room, 0, POISON_OPS);

	if (!pool) {
		fprintf(stderr, "weir_poison: no pool %s of %u mbufs: %s\n", name, mbufs,
		        rte_strerror(rte_errno));
		abort();
	}
	poison_arm(pool);
	return pool;
}

void poison_pool_free(struct rte_mempool *pool)
{
	/* DPDK takes all objects out before it gives the memory back. */
	poison_limit(pool, UINT64_MAX);
	rte_mempool_free(pool);
}

void poison_arm(struct rte_mempool *pool)
{
	struct poison *poison = poison_of(pool);

	pthread_mutex_lock(&poison->lock);
	poison->armed = true;
	for (uint32_t i = 0; i <= poison->mask; i++) {
		if (poison->places[i].inside)
			ASAN_POISON_MEMORY_REGION(poison->places[i].object, pool->elt_size);
	}
	pthread_mutex_unlock(&poison->lock);
}

uint32_t poison_missing(const struct rte_mempool *pool)
{
	return poison_of(pool)->objects - poison_of(pool)->inside;
}

uint64_t poison_gets(const struct rte_mempool *pool)
{
	return poison_of(pool)->gets;
}

uint64_t poison_puts(const struct rte_mempool *pool)
{
	return poison_of(pool)->puts;
}

void poison_limit(struct rte_mempool *pool, uint64_t gets)
{
	poison_of(pool)->limit = gets;
}
