/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets of the lab have the length of their IPv4 datagram (frame.h). What takes the 14 bytes of
 * Ethernet off the length of a frame, or adds to them, would be wrong by these 14 bytes: `overhead
 * layer3`, `layer1` and `atm`, and a trace of mahimahi on a link for which none is given.
 *
 * Thread: control.
 */
#ifndef WEIR_LAB_LENGTHS_H
#define WEIR_LAB_LENGTHS_H

#include "scenario/scenario.h"

/* Returns 0, or -EINVAL with problem if a cloud has such a statement, also in a schedule. */
int lab_lengths_check(const struct scenario *scenario, struct problem *problem);

#endif
