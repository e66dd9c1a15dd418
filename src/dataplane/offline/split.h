/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Splits one capture that holds both directions of a link, by the side from which each frame came.
 *
 *   mac=02:00:00:00:00:0a   the source address of the frame
 *   ip=10.77.0.0/24         the source address of the IPv4 or IPv6 packet (or the sender of an ARP
 *   ip=2001:db8::/32        request or answer); without /LENGTH exactly this address
 *   port=5201               the source port of TCP, UDP, UDP-Lite, DCCP or SCTP
 *   first                   the source MAC address of the first frame in the capture that has one
 *
 * Frames that match come in at the first port of `--in A,B=PCAP`, all others at the second: those
 * that do not match, and those without the field of the rule (with `port`: ARP, ICMP, and the later
 * fragments of a datagram). Up to four VLAN tags are skipped, and IPv6 extension headers.
 *
 * Thread: one at a time. With `first`, split_matches stores the address of the first frame.
 */
#ifndef WEIR_SPLIT_H
#define WEIR_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

#include "scenario/problem.h"

enum split_kind { SPLIT_MAC, SPLIT_IP, SPLIT_PORT, SPLIT_FIRST };

struct split {
	enum split_kind kind;
	bool mac_known;
	uint8_t mac[6];
	uint8_t address_bytes; /* 4 or 16 */
	uint8_t prefix_bits;
	uint8_t address[16];
	uint16_t port;
};

/* Returns 0, or -EINVAL with problem. */
int split_parse(const char *rule, struct split *split, struct problem *problem);
/* Returns true if the frame, of which `bytes` were captured (0 is allowed), comes in at the first
 * port. */
bool split_matches(struct split *split, const uint8_t *data, uint32_t bytes);
/* Does the same for a frame of another link than Ethernet, for mac=... or first: `mac` is the
 * address of its sender. */
bool split_matches_sender(struct split *split, const uint8_t mac[6]);

#endif
