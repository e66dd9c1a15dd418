/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A mempool whose free objects are poisoned, for tests only.
 *
 * AddressSanitizer tracks memory that malloc returned. A mempool is one block that is never freed,
 * so use after free and double free of an mbuf go unnoticed. These ops poison an object, all of it,
 * header and data, when it is put into the pool, and unpoison it when it is taken out: instrumented
 * code that touches a free mbuf ends the program with a report.
 *
 * With and without ASan:
 *   - every get and put is counted, so a leak is a number: poison_missing();
 *   - an object that is put while it is in the pool ends the program (abort), whatever put it;
 *   - objects come back as late as possible (first in, first out), so that an object used after it
 *     was freed is still poisoned then.
 * The pool has no cache, because objects in a cache bypass the ops.
 *
 * Ownership: the pool is the caller's, poison_pool_free() frees it.
 * Thread: any; a lock.
 */
#ifndef WEIR_POISON_OPS_H
#define WEIR_POISON_OPS_H

#include <stddef.h>
#include <stdint.h>

#include <rte_mempool.h>

/* The name of the ops, for pool_make() and others. Such a pool counts from the start, and poisons
 * after poison_arm(). */
#define POISON_OPS "weir_poison"

/* Returns true if this build poisons: it was compiled with AddressSanitizer. */
int poison_is_real(void);

/* Poison memory that nobody may use for a while, and unpoison it. Both do nothing if the build does
 * not poison. */
void poison_bytes(void *at, size_t bytes);
void unpoison_bytes(void *at, size_t bytes);

/* Makes an mbuf pool on these ops, armed; it needs no EAL. Ends the program if there is no
 * memory. */
struct rte_mempool *poison_pool_make(const char *name, uint32_t mbufs, uint16_t private_bytes,
                                     uint16_t data_room);
void poison_pool_free(struct rte_mempool *pool);

/* Poisons free objects from now on. To be called after the pool's mbufs are initialised: DPDK's own
 * code writes to them until then. */
void poison_arm(struct rte_mempool *pool);

/* Returns the number of objects taken out and not put back. */
uint32_t poison_missing(const struct rte_mempool *pool);
uint64_t poison_gets(const struct rte_mempool *pool);
uint64_t poison_puts(const struct rte_mempool *pool);

/* Makes the pool refuse to give out more than this many further objects; UINT64_MAX: no limit. */
void poison_limit(struct rte_mempool *pool, uint64_t gets);

#endif
