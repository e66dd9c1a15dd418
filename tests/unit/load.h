/* SPDX-License-Identifier: BSD-3-Clause */
/* The arrivals at a link of 8 Mbit/s, a byte a microsecond, in tests of queue management: 90 % to
 * 130 % of the rate, changing every 3000 packets, of 60 to 1500 B, at whole microseconds. */
#ifndef WEIR_LOAD_H
#define WEIR_LOAD_H

#include "simtime.h"

#include <stdint.h>

/* Return the length of a packet, and the time from it to the next. */
uint32_t load_bytes(uint32_t number);
simtime load_gap_ns(uint32_t number);

#endif
