/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `police R burst B`: drops what exceeds R, without a queue.
 *
 * Model: the token bucket of RFC 2697 (one colour), as the virtual scheduling algorithm of ITU-T
 * I.371 in the exact arithmetic of shaper.h. The bucket holds B bytes and is full at first; R fills
 * it. If L bytes are in the bucket, a packet of L bytes passes and takes them; else it is dropped
 * and takes none. In any time T at most B + R T / 8 bytes pass, exactly. No randomness.
 * Lengths are those of the Ethernet frame without preamble and FCS. A packet longer than B never
 * passes: B should be at least the longest frame, and for TCP some ms of R. Ranges: R 1 bit/s to
 * 400 Gbit/s, B 1 B to 1 GB. Drops have the reason `police`. A change keeps the bytes in the
 * bucket; the time since the last packet counts at the new rate.
 */
#ifndef WEIR_POLICE_H
#define WEIR_POLICE_H

#include "scenario/statement.h"

struct police_conf {
	struct conf conf;
	uint64_t rate_bps;
	uint64_t burst_bytes;
};

extern const struct statement police_statement;

#endif
