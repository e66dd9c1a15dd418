/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A source quench, as a host reads it from a received frame.
 *
 * Model: RFC 792 type 4, code 0, as weir's `becn` sends it (src/feedback/notify/becn.h): a word
 * whose first octet has the bit (set: marked, clear: dropped, so that an old router's word of 0
 * means dropped), then the header of the packet that was marked or dropped and the first 8 bytes of
 * its TCP header: both ports and the sequence number. IPv6: ICMPv6 type 200, the same layout.
 *
 * Anyone can send one, so it is checked as RFC 5927 checks ICMP errors. This file checks the
 * message itself. A quench is malformed
 *
 *   - if it has another code than 0, is fragmented, or is longer than 576 bytes (IPv4: RFC 1812
 *     4.3.2.3);
 *   - if its checksum of ICMP or of its IPv4 header is wrong, or the frame ends before what the
 *     checksum covers;
 *   - if it quotes no TCP, a later fragment, or too little to hold the sequence number;
 *   - if it quotes another sender than the one that it is sent to.
 *
 * Only the kernel knows whether the quoted connection exists and the segment is in flight:
 * quench_xdp.h.
 *
 * Plain C, for the kernel and for user space: the verifier accepts it, and tests/unit/test_quench.c
 * runs it. VLAN tags are not handled, nor IPv6 extension headers before ICMP or TCP.
 */
#ifndef WEIR_LINUX_QUENCH_H
#define WEIR_LINUX_QUENCH_H

#include <stdbool.h>
#include <stdint.h>

#define QUENCH_BYTES_MAX 576 /* of the IP packet */
#define QUENCH_BIT       0x80

#define QUENCH_ICMP_TYPE   4
#define QUENCH_ICMPV6_TYPE 200

enum quench_verdict {
	QUENCH_NONE, /* not a quench */
	QUENCH_MALFORMED,
	QUENCH_FOUND,
};

/* In network byte order, except the sequence number. */
struct quench {
	bool ipv6, marked;
	uint32_t local[4], remote[4]; /* of the quoted connection; IPv4: the first */
	uint16_t local_port, remote_port;
	uint32_t sequence;
};

/* Always inlined into the BPF program. */
#define QUENCH_INLINE static inline __attribute__((always_inline))

QUENCH_INLINE uint32_t quench_be16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

/* Reads bytes without reordering them: the result has the byte order of the packet. */
QUENCH_INLINE uint32_t quench_copy32(const uint8_t *p)
{
	uint32_t value;

	__builtin_memcpy(&value, p, sizeof(value));
	return value;
}

QUENCH_INLINE uint16_t quench_copy16(const uint8_t *p)
{
	uint16_t value;

	__builtin_memcpy(&value, p, sizeof(value));
	return value;
}

/* Hides from the compiler how p was computed. The verifier follows only comparisons of pointers
 * with `end`, not those of differences, into which an optimiser turns them. */
#define QUENCH_OPAQUE(p) __asm__ volatile("" : "+r"(p))

/* Returns true if `bytes` bytes from p on, added to `sum`, have a correct checksum (RFC 1071);
 * false if they reach beyond `end`. */
QUENCH_INLINE bool quench_sums(const uint8_t *p, uint32_t bytes, const uint8_t *end, uint32_t sum)
{
	for (uint32_t i = 0; i < QUENCH_BYTES_MAX; i += 2) {
		if (i + 1 >= bytes)
			break;
		QUENCH_OPAQUE(p);
		if (p + 2 > end)
			return false;
		sum += quench_be16(p);
		p += 2;
	}
	if (bytes & 1) {
		QUENCH_OPAQUE(p);
		if (p + 1 > end)
			return false;
		sum += (uint32_t)p[0] << 8;
	}
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

/* Reads the first 8 bytes of the quoted TCP header. */
QUENCH_INLINE void quench_ports(const uint8_t *tcp, struct quench *quench)
{
	quench->local_port = quench_copy16(tcp);
	quench->remote_port = quench_copy16(tcp + 2);
	quench->sequence = quench_be16(tcp + 4) << 16 | quench_be16(tcp + 6);
}

QUENCH_INLINE enum quench_verdict quench_parse4(const uint8_t *ip, const uint8_t *end, uint8_t bit,
                                                struct quench *quench)
{
	const uint8_t *icmp, *quoted, *tcp;
	uint32_t header, bytes, quoted_header;

	if (ip + 20 > end || ip[0] >> 4 != 4 || ip[9] != 1)
		return QUENCH_NONE;
	header = (ip[0] & 15u) * 4;
	/* A later fragment has no ICMP header. */
	if (header < 20 || (quench_be16(ip + 6) & 0x1fff) != 0)
		return QUENCH_NONE;
	icmp = ip + header;
	if (icmp + 8 > end || icmp[0] != QUENCH_ICMP_TYPE)
		return QUENCH_NONE;
	if (icmp[1] != 0 || (quench_be16(ip + 6) & 0x2000) != 0)
		return QUENCH_MALFORMED;
	bytes = quench_be16(ip + 2);
	if (bytes > QUENCH_BYTES_MAX || bytes < header + 8 + 20 + 8)
		return QUENCH_MALFORMED;
	bytes -= header;
	if (!quench_sums(ip, header, end, 0) || !quench_sums(icmp, bytes, end, 0))
		return QUENCH_MALFORMED;
	quoted = icmp + 8;
	if (quoted + 20 > end || quoted[0] >> 4 != 4 || quoted[9] != 6 ||
	    (quench_be16(quoted + 6) & 0x1fff) != 0)
		return QUENCH_MALFORMED;
	quoted_header = (quoted[0] & 15u) * 4;
	if (quoted_header < 20 || bytes < 8 + quoted_header + 8)
		return QUENCH_MALFORMED;
	tcp = quoted + quoted_header;
	if (tcp + 8 > end)
		return QUENCH_MALFORMED;
	quench->ipv6 = false;
	quench->marked = (icmp[4] & bit) != 0;
	quench->local[0] = quench_copy32(quoted + 12);
	quench->remote[0] = quench_copy32(quoted + 16);
	if (quench->local[0] != quench_copy32(ip + 16))
		return QUENCH_MALFORMED;
	quench_ports(tcp, quench);
	return QUENCH_FOUND;
}

QUENCH_INLINE enum quench_verdict quench_parse6(const uint8_t *ip, const uint8_t *end, uint8_t bit,
                                                struct quench *quench)
{
	const uint8_t *icmp = ip + 40, *quoted = icmp + 8, *tcp = quoted + 40;
	uint32_t bytes, sum;

	if (icmp + 8 > end || ip[0] >> 4 != 6 || ip[6] != 58 || icmp[0] != QUENCH_ICMPV6_TYPE)
		return QUENCH_NONE;
	bytes = quench_be16(ip + 4);
	if (icmp[1] != 0 || bytes > QUENCH_BYTES_MAX - 40 || bytes < 8 + 40 + 8 || tcp + 8 > end)
		return QUENCH_MALFORMED;
	/* The pseudo-header: both addresses, the length, the protocol. */
	sum = bytes + 58;
	for (int i = 8; i < 40; i += 2)
		sum += quench_be16(ip + i);
	if (!quench_sums(icmp, bytes, end, sum))
		return QUENCH_MALFORMED;
	if (quoted[0] >> 4 != 6 || quoted[6] != 6)
		return QUENCH_MALFORMED;
	quench->ipv6 = true;
	quench->marked = (icmp[4] & bit) != 0;
	for (int i = 0; i < 4; i++) {
		quench->local[i] = quench_copy32(quoted + 8 + 4 * i);
		quench->remote[i] = quench_copy32(quoted + 24 + 4 * i);
		if (quench->local[i] != quench_copy32(ip + 24 + 4 * i))
			return QUENCH_MALFORMED;
	}
	quench_ports(tcp, quench);
	return QUENCH_FOUND;
}

/* Parses the frame from `frame` to before `end`. `bit` is 0x80, 0x40 ... 0x01. *quench is valid
 * only if the result is QUENCH_FOUND. */
QUENCH_INLINE enum quench_verdict quench_parse(const uint8_t *frame, const uint8_t *end,
                                               uint8_t bit, struct quench *quench)
{
	if (frame + 14 > end)
		return QUENCH_NONE;
	switch (quench_be16(frame + 12)) {
	case 0x0800:
		return quench_parse4(frame + 14, end, bit, quench);
	case 0x86dd:
		return quench_parse6(frame + 14, end, bit, quench);
	default:
		return QUENCH_NONE;
	}
}

#endif
