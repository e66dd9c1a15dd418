/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frames of tests: every byte follows from the packet's number, so that what leaves can be
 * compared with what came in though nobody kept it. The first eight bytes are the number; behind
 * them a pattern that begins elsewhere for each number.
 *
 * Thread: one.
 */
#ifndef WEIR_TEST_RIG_FRAME_H
#define WEIR_TEST_RIG_FRAME_H

#include <stdint.h>

#define RIG_FRAME_MAX 65535

/* The frame of `number`. With `hosts`, seven of eight that are large enough carry Ethernet, IPv4
 * and UDP between so many addresses; 0: none does. Valid until the next call. */
const uint8_t *rig_frame(uint32_t hosts, uint64_t number, uint32_t bytes);

#endif
