/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes to a link of 8 Mbit/s, a byte a microsecond, in tests of what manages its queue: 90 %
 * to 130 % of the rate, changing each 3000 packets, of 60 to 1500 B, at whole microseconds. */
#ifndef WEIR_LOAD_H
#define WEIR_LOAD_H

#include "simtime.h"

#include <stdint.h>

/* Of the packet of this number: its length, and the time from it to the next. */
uint32_t load_bytes(uint32_t number);
simtime load_gap_ns(uint32_t number);

#endif
