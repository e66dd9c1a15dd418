/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mark of a captured frame: digests of what a path leaves as it is, by which the same packet is
 * found in a capture of the other end.
 *
 *   body        protocol, lengths, the place of a fragment, and the transport header without ports
 *               and checksum; of a SYN also without options, which middleboxes change
 *   payload     the first PACKET_MARK_PAYLOAD bytes behind the transport header
 *   id          the identification of IPv4
 *   addresses   addresses, ports, the identifier of an ICMP echo: a NAT changes them
 *
 * Link headers, VLAN tags, TTL, DSCP, ECN and checksums belong to no part, because routers change
 * them. A frame without IP has a body only: its ethertype and its first bytes.
 *
 * A host captures what its NIC cuts later (TSO), or what was joined already (GRO): a *super-frame*
 * of TCP. packet_mark_part makes the mark of each packet that it stands for, as the sender's kernel
 * cuts it: equal payloads of `segment` bytes but for the last, identifications and sequence numbers
 * that count up, PSH and FIN in the last.
 *
 * A frame is *damaged* if a checksum or a length of it is wrong. That is not known if only the
 * beginning was captured. A sender that leaves checksums to its NIC captures wrong ones.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_PACKET_MARK_H
#define WEIR_PACKET_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"

#define PACKET_MARK_PAYLOAD 32u
#define PACKET_MARK_MTU     1500u /* of the parts of a super-frame */

/* Parts of a mark, a bit each; the body is always compared. MARK_CUT leaves out the payload of TCP,
 * because that of a super-frame's later packets may not have been captured. */
enum { MARK_PAYLOAD = 1, MARK_ID = 2, MARK_ADDRESSES = 4, MARK_ALL = 7, MARK_CUT = 8 };

/* The ends of a flow: one direction of addresses, protocol and ports. */
struct packet_ends {
	uint8_t ip; /* 4, 6 or 0 */
	uint8_t protocol;
	uint16_t port[2]; /* of source and target; 0: none */
	uint8_t address[2][16];
};

struct packet_mark {
	uint64_t body, payload, addresses;
	simtime t_ns;
	uint32_t id, wire_bytes, network_bytes;
	uint32_t sequence, payload_bytes; /* of TCP, else 0 */
	uint16_t segment;                 /* of a super-frame, else 0 */
	uint8_t flags;                    /* of TCP, else 0 */
	uint8_t ecn;                      /* the two bits of ECN */
	bool damaged, fragment;
};

void packet_mark_make(struct packet_mark *mark, struct packet_ends *ends,
                      const struct capture_frame *frame);
/* Makes the mark of the packet at offset `at` of a super-frame's payload. */
void packet_mark_part(struct packet_mark *part, const struct packet_mark *super, uint32_t at);
/* Returns the digest of the body and of these parts. */
uint64_t packet_mark_key(const struct packet_mark *mark, uint32_t parts);

#endif
