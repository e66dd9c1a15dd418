/* SPDX-License-Identifier: BSD-3-Clause */
#include "poison_ops.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

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

#define MAP_BYTES ((size_t)2 << 20) /* the mapping is a multiple of this */

/* The state of an object: an entry of a hash table over addresses. */
struct place {
	void *object;
	bool inside;
};

struct poison {
	pthread_mutex_t lock; /* ThreadSanitizer knows it; DPDK's spinlock is assembler */
	bool armed;
	uint64_t gets, puts, limit;
	uint32_t objects; /* that were ever put into the pool */
	uint32_t size;    /* of the ring; at least the pool's size */
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

/* Unpoisons the objects: their memory goes back to the EAL, which writes to it. */
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
			/* put by the populating of the pool */
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

/* Places the objects side by side, across page boundaries, too: no device reads them. */
static int poison_populate(struct rte_mempool *pool, unsigned most, void *memory, rte_iova_t iova,
                           size_t bytes, rte_mempool_populate_obj_cb_t *note, void *argument)
{
	size_t object = pool->header_size + pool->elt_size + pool->trailer_size;
	unsigned n = 0;

	for (; n < most && (n + 1) * object <= bytes; n++) {
		void *element = (char *)memory + n * object + pool->header_size;

		note(pool, argument, element, RTE_BAD_IOVA);
		if (poison_enqueue(pool, &element, 1) != 0)
			break;
	}
	(void)iova;
	return (int)n;
}

static const struct rte_mempool_ops poison_ops = {
        .name = POISON_OPS,
        .alloc = poison_alloc,
        .free = poison_free,
        .enqueue = poison_enqueue,
        .dequeue = poison_dequeue,
        .get_count = poison_count,
        .populate = poison_populate,
};

RTE_MEMPOOL_REGISTER_OPS(poison_ops)

int poison_is_real(void)
{
	return POISON_REAL;
}

void poison_bytes(void *at, size_t bytes)
{
	ASAN_POISON_MEMORY_REGION(at, bytes);
}

void unpoison_bytes(void *at, size_t bytes)
{
	ASAN_UNPOISON_MEMORY_REGION(at, bytes);
}

/* DPDK expects a pool's private data directly behind the pool. */
struct poison_pool {
	struct rte_mempool pool;
	struct rte_pktmbuf_pool_private private;
	void *memory;
	size_t bytes;
};

_Static_assert(offsetof(struct poison_pool, private) == sizeof(struct rte_mempool), "no gap");

/* Adds an object, preceded by its header, as in any mempool. */
static void add_object(struct rte_mempool *pool, char *memory)
{
	void *object = memory + pool->header_size;
	struct rte_mempool_objhdr *header = (struct rte_mempool_objhdr *)object - 1;

	header->mp = pool;
	header->iova = RTE_BAD_IOVA;
	STAILQ_INSERT_TAIL(&pool->elt_list, header, next);
	rte_pktmbuf_init(pool, NULL, object, pool->populated_size++);
	rte_mempool_put(pool, object);
}

/*
 * Makes a pool without DPDK's own function, which needs the EAL; starting that takes 0.2 s. The
 * memory is a mapping, in huge pages if the kernel has some.
 */
struct rte_mempool *poison_pool_make(const char *name, uint32_t mbufs, uint16_t private_bytes,
                                     uint16_t data_room)
{
	struct rte_pktmbuf_pool_private of = {.mbuf_data_room_size = data_room,
	                                      .mbuf_priv_size = private_bytes};
	struct poison_pool *made = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*made));
	struct rte_mempool *pool = &made->pool;
	struct rte_mempool_objsz sizes;

	rte_mempool_calc_obj_size((uint32_t)sizeof(struct rte_mbuf) + private_bytes + data_room, 0,
	                          &sizes);
	if (made) {
		*made = (struct poison_pool){
		        .pool = {.size = mbufs,
		                 .socket_id = SOCKET_ID_ANY,
		                 .elt_size = sizes.elt_size,
		                 .header_size = sizes.header_size,
		                 .trailer_size = sizes.trailer_size,
		                 .private_data_size = sizeof(of)},
		        .bytes = RTE_ALIGN_CEIL((size_t)mbufs * sizes.total_size, MAP_BYTES)};
		snprintf(pool->name, sizeof(pool->name), "%s", name);
		STAILQ_INIT(&pool->elt_list);
		STAILQ_INIT(&pool->mem_list);
		made->memory = mmap(NULL, made->bytes, PROT_READ | PROT_WRITE,
		                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
	if (!made || made->memory == MAP_FAILED ||
	    rte_mempool_set_ops_byname(pool, POISON_OPS, NULL) != 0 || poison_alloc(pool) != 0) {
		fprintf(stderr, "weir_poison: no pool %s of %u mbufs\n", name, mbufs);
		abort();
	}
	madvise(made->memory, made->bytes, MADV_HUGEPAGE); /* failure only makes it slower */
	rte_pktmbuf_pool_init(pool, &of);
	pool->flags =
	        RTE_MEMPOOL_F_POOL_CREATED | RTE_MEMPOOL_F_NO_IOVA_CONTIG | RTE_MEMPOOL_F_NON_IO;
	for (uint32_t i = 0; i < mbufs; i++)
		add_object(pool, (char *)made->memory + (size_t)i * sizes.total_size);
	poison_arm(pool);
	return pool;
}

void poison_pool_free(struct rte_mempool *pool)
{
	struct poison_pool *made = (struct poison_pool *)pool;

	if (!pool)
		return;
	poison_free(pool);
	munmap(made->memory, made->bytes);
	free(made);
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
