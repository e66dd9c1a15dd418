/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sorts fates by time. Independent clouds report theirs one cloud after the other, and so do
 * workers. Fates of one instant stay in the order in which they were put.
 *
 * Ownership: holds copies, also of what a fate points to.
 * Thread: one at a time.
 */
#ifndef WEIR_FATE_ORDER_H
#define WEIR_FATE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account/witness.h"

struct fate_order;

typedef void fate_order_tell(void *argument, const struct fate *fate, uint64_t lost);

/* `snap`: bytes of each frame that are kept, at most. Returns NULL if there is no memory. */
struct fate_order *fate_order_make(uint32_t snap);
void fate_order_free(struct fate_order *order); /* NULL is allowed */
/* Copies a fate; `lost` is passed on to `tell`. Returns false if there is no memory; then the fate
 * is not kept. */
bool fate_order_put(struct fate_order *order, const struct fate *fate, uint64_t lost);
/* Passes all fates up to `until`, included, to `tell`, and forgets them. */
void fate_order_until(struct fate_order *order, simtime until, fate_order_tell *tell,
                      void *argument);

#endif
