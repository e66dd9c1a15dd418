/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A mempool whose free objects are poisoned, for tests only.
 *
 * Why: AddressSanitizer knows memory that malloc gave out. A mempool is one block that never goes
 * back, so whoever uses an mbuf after he has freed it, or frees it twice, is not seen. The ops here
 * poison an object, all of it, header and data, when it is put into the pool, and unpoison it when
 * it is taken out: instrumented code that touches a free mbuf ends the program with a report.
 *
 * With and without ASan:
 *   - every get and put is counted, so a leak is a number: poison_missing();
 *   - an object that is put while it is in the pool ends the program (abort), whoever put it;
 *   - objects come back as late as possible (first in, first out), so that what is used after it
 *     was freed is still poisoned then.
 * The pool has no cache, because what goes into a cache does not pass by the ops.
 *
 * Ownership: the pool is the caller's, poison_pool_free() gives it back. Thread: any; a lock.
 */
#ifndef WEIR_POISON_OPS_H
#define WEIR_POISON_OPS_H

#include <stddef.h>
#include <stdint.h>

#include <rte_mempool.h>

/* For pool_make() and others that take the name of mempool ops. Such a pool counts from the start,
 * and poisons after poison_arm(). */
#define POISON_OPS "weir_poison"

/* Whether this build poisons: it was compiled with AddressSanitizer. */
int poison_is_real(void);

/* Memory that is nobody's for a while, and that is somebody's again. Nothing where no build
 * poisons. */
void poison_bytes(void *at, size_t bytes);
void unpoison_bytes(void *at, size_t bytes);

/* An mbuf pool on these ops, armed; it needs no EAL. Ends the program when there is no memory. */
struct rte_mempool *poison_pool_make(const char *name, uint32_t mbufs, uint16_t private_bytes,
                                     uint16_t data_room);
void poison_pool_free(struct rte_mempool *pool);

/* From now on what lies in the pool is poisoned. Not before the pool's mbufs were initialised:
 * DPDK's own code writes them then. */
void poison_arm(struct rte_mempool *pool);

/* Objects taken out and not put back. */
uint32_t poison_missing(const struct rte_mempool *pool);
uint64_t poison_gets(const struct rte_mempool *pool);
uint64_t poison_puts(const struct rte_mempool *pool);

/* Makes the pool refuse to give out more than this many more objects; UINT64_MAX: no limit. */
void poison_limit(struct rte_mempool *pool, uint64_t gets);

#endif
