/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frames of tests: every byte is a function of the packet's number, so that departures can be
 * compared with arrivals without keeping these. The first eight bytes are the number; a pattern
 * follows, which begins elsewhere for each number.
 *
 * Thread: one.
 */
#ifndef WEIR_TEST_RIG_FRAME_H
#define WEIR_TEST_RIG_FRAME_H

#include <stdint.h>

#define RIG_FRAME_MAX 65535

/* Returns the frame of `number`. With `hosts`, seven of eight frames that are large enough carry
 * Ethernet, IPv4 and UDP between so many addresses; 0: none does. Valid until the next call. */
const uint8_t *rig_frame(uint32_t hosts, uint64_t number, uint32_t bytes);

#endif
