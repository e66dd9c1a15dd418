/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Visits all packets on a wheel, without removing any: for a snapshot.
 *
 * The places of a wheel are visited one after the other, so packets are not visited in the order in
 * which they leave. Each has a number: packets that are due at one instant leave in the order of
 * their numbers.
 *
 * Cost: each key and each packet is touched once.
 * Thread: the worker that owns the wheel.
 */
#ifndef WEIR_WHEEL_WALK_H
#define WEIR_WHEEL_WALK_H

#include "holding/wheel.h"

/* `held` is valid only during the call. */
typedef void wheel_visit(void *argument, simtime t_ns, uint64_t number, const struct held *held);

void wheel_walk(struct wheel *wheel, wheel_visit *visit, void *argument);

#endif
