/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts fates into the order of time. Clouds that have nothing to do with each other tell what has
 * happened one after the other, and so do workers; what was told first of one instant comes first.
 *
 * Ownership: it has copies, of what a fate points to, too. Thread: one at a time.
 */
#ifndef WEIR_FATE_ORDER_H
#define WEIR_FATE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account/witness.h"

struct fate_order;

typedef void fate_order_tell(void *argument, const struct fate *fate, uint64_t lost);

/* With `snap` bytes of each frame at most. NULL: no memory. */
struct fate_order *fate_order_make(uint32_t snap);
void fate_order_free(struct fate_order *order); /* NULL is allowed */
/* `lost` is passed on. False: no memory, and it is not there. */
bool fate_order_put(struct fate_order *order, const struct fate *fate, uint64_t lost);
/* Tells all that happened at `until` or before, and forgets it. */
void fate_order_until(struct fate_order *order, simtime until, fate_order_tell *tell,
                      void *argument);

#endif
