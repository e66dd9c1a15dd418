/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the lab needs of those above it, as functions that they give it: the table of statements,
 * mempools, memory. So the lab knows the engine and nothing else, and its tests can give it less.
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
	/* A mempool with PACKET_PRIVATE_BYTES, that can grow up to `most`; NULL and errno. */
	struct rte_mempool *(*pool_make)(const char *name, uint32_t mbufs, uint32_t most);
	/* How many mbufs were added. */
	uint32_t (*pool_grow)(struct rte_mempool *pool, uint32_t mbufs);
	void (*pool_free)(struct rte_mempool *pool);
	void *(*memory_make)(size_t bytes);
	void (*memory_free)(void *memory, size_t bytes);
};

#endif
