/* SPDX-License-Identifier: BSD-3-Clause */
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
#ifndef WEIR_DEPARTURES_H
#define WEIR_DEPARTURES_H

#include "account/witness.h"

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
