/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `corrupt checksum ip,tcp,udp,icmp [probability P]`: checksums are made wrong, everything else
 * stays right.
 *
 * Model: one bit of each named checksum that a packet has is inverted. In one's complement
 * arithmetic the result is never the same number, so a right checksum becomes wrong. `ip` is the
 * header checksum of IPv4; IPv6 has none. A UDP checksum of 0 means that there is none, and stays;
 * one that would become 0 gets another bit inverted. headers.h says how headers are found. A packet
 * without any of the named checksums passes, and is not counted. With P each packet is treated with
 * that probability, otherwise all are. If the sender leaves checksums to its card (offload), an
 * `interface` port computes them when it receives the packet. With net_af_packet and net_af_xdp,
 * and in captures taken at the sender, they are missing: switch offload off at the sender (`ethtool
 * -K ... tx off`).
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
	uint32_t keyed; /* enum keyed (keyed.h) */
};

extern const struct statement corrupt_checksum_statement;

#endif
