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

/*
 * Joins the fates of delivered packets with their real departures. A delivery is reported when its
 * due time is fixed; that the device has taken the packet is reported later (FATE_SENT). Deliveries
 * wait for that, and are passed on with their lateness (`late_ns` of struct fate); drops are passed
 * on as they are. The order is that of the decisions.
 *
 * The lateness is not known (`sent` is false) if the packet went on into another cloud, the port
 * lost it, it was still on its way at the end, or FATE_SENT got lost. In the last case the fate
 * waits until packets have left at the same port that were due 1 s later. At most DEPARTURES_MOST
 * fates wait; then the first one is passed on without.
 *
 * A packet may leave before its due time, by what the device takes (`early_ns` in engine/cloud.h),
 * and copies have the name of their original. So a departure is that of the delivery of this name
 * whose due time is the closest.
 *
 * The work per fate does not depend on how many wait. The names of clouds are copied.
 *
 * Thread: one.
 */

#define DEPARTURES_MOST (UINT32_C(1) << 20)

struct departures;

/* Returns NULL if there is no memory. Everything is passed on to `to`, which must outlive it. */
struct departures *departures_make(struct witness *to);
void departures_free(struct departures *departures); /* NULL is allowed */
/* Takes fates of all kinds. */
struct witness *departures_witness(struct departures *departures);
/* Passes on all that wait: no more departures will be told. */
void departures_end(struct departures *departures);
/* Returns how many fates were left out for lack of memory. */
uint64_t departures_missed(const struct departures *departures);

#endif
