/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the lab needs from higher layers, as functions that these provide: the table of statements,
 * mempools, memory. So the lab depends on the engine only, and its tests can provide less.
 *
 * Thread: the run's, one.
 */
#ifndef WEIR_LAB_PLATFORM_H
#define WEIR_LAB_PLATFORM_H

#include <stddef.h>

#include "engine/engine.h"

struct platform {
	const struct statement *const *statements;
	const struct classifier_filters *filters; /* or NULL */
	/* Makes a mempool with PACKET_PRIVATE_BYTES, which can grow up to `most`. Returns NULL and
	 * errno on failure. */
	struct rte_mempool *(*pool_make)(const char *name, uint32_t mbufs, uint32_t most);
	/* Returns how many mbufs were added. */
	uint32_t (*pool_grow)(struct rte_mempool *pool, uint32_t mbufs);
	void (*pool_free)(struct rte_mempool *pool);
	void *(*memory_make)(size_t bytes);
	void (*memory_free)(void *memory, size_t bytes);
};

#endif
