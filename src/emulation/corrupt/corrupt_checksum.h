/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `corrupt checksum ip,tcp,udp,icmp [probability P]`: checksums are made wrong, everything else
 * stays right.
 *
 * Model: one bit of each named checksum that a packet has is inverted. In one's complement
 * arithmetic that is never the same number, so a right checksum is wrong afterwards. `ip` is the
 * header checksum of IPv4, which IPv6 does not have. A UDP checksum of 0 says that there is none,
 * and stays; one that would become 0 gets another bit inverted. Headers are found as headers.h
 * says; a packet without any of the named checksums passes, and is not counted. With P each packet
 * is treated with that probability, otherwise all are. Where the sender leaves checksums to its
 * card (offload), a packet may have none yet that is right when weir receives it: switch that off
 * at the sender (`ethtool -K ... tx off`).
 */
#ifndef WEIR_CORRUPT_CHECKSUM_H
#define WEIR_CORRUPT_CHECKSUM_H

#include "random/draw.h"
#include "scenario/statement.h"

enum corrupt_sum { CORRUPT_IP, CORRUPT_TCP, CORRUPT_UDP, CORRUPT_ICMP };

struct corrupt_checksum_conf {
	struct conf conf;
	uint32_t sums; /* bit i: enum corrupt_sum */
	probability_q63 probability;
};

extern const struct statement corrupt_checksum_statement;

#endif
