/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frames that the lab's hosts send: Ethernet II, IPv4 without fragments (RFC 791), TCP (RFC
 * 793, RFC 3168's flags) or UDP (RFC 768); and the ICMP source quench of a router (RFC 792).
 * Everything is written, checksums included, so the capture of a run is like any other capture.
 *
 * Length: a packet of 1000 bytes, as the papers call it, is an IPv4 datagram of 1000 bytes: 20 of
 * IPv4, 20 of TCP, 960 of data (zeros). An acknowledgement has 40. Links count that length (struct
 * packet, wire_bytes), not the 14 bytes of Ethernet around it: frame_wire_bytes. Options make a
 * datagram longer: a SYN with window scaling (RFC 7323) has 44 bytes, an acknowledgement that
 * returns the arriving TTL (RFC 4727's experimental IP option, BCN-TCP) 44. The unified header
 * (oq_header.h) stands between IPv4, whose protocol is then 253, and TCP, whose checksum is as
 * without it.
 *
 * Addresses are in host order; a host's MAC is 02:00 and its IPv4 address.
 *
 * Thread: pure functions, any.
 * Ownership: an mbuf stays the caller's.
 */
#ifndef WEIR_LAB_FRAME_H
#define WEIR_LAB_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "header/oq_header.h"

#define FRAME_TCP_FIN 0x01
#define FRAME_TCP_SYN 0x02
#define FRAME_TCP_RST 0x04
#define FRAME_TCP_PSH 0x08
#define FRAME_TCP_ACK 0x10
#define FRAME_TCP_ECE 0x40
#define FRAME_TCP_CWR 0x80

#define FRAME_ECN_MASK 0x03
#define FRAME_ECN_NOT  0x00 /* not capable */
#define FRAME_ECN_ECT0 0x02
#define FRAME_ECN_CE   0x03

#define FRAME_ETHER_BYTES   14u
#define FRAME_HEADERS_BYTES 40u /* IPv4 and TCP, without options */
#define FRAME_TTL           64
#define FRAME_IP_BYTES_MAX  1500u

/* One end of a conversation. */
struct frame_end {
	uint32_t address;
	uint16_t port;
};

/* The unified header, without the protocol that follows, which is TCP. */
struct frame_oq {
	uint8_t mode, probe, ttl; /* the request: enum oq_mode, enum oq_probe */
	struct oq_value request;
	uint8_t res_probe, res_ttl, n; /* the answers, of n TTLs downwards */
	struct oq_value answers[OQ_ANSWERS_MAX];
};

struct segment {
	struct frame_end from, to;
	uint32_t seq, ack;
	uint16_t window;     /* as on the wire: scaled */
	uint16_t data_bytes; /* all zeros */
	uint8_t flags;
	uint8_t ecn; /* the two bits of IPv4 */
	uint8_t ttl;
	uint8_t echoed_ttl;        /* in the IP option; 0: no option */
	int8_t window_scale;       /* in a SYN's option; -1: no option */
	const struct frame_oq *oq; /* NULL: no header; of a read segment: in struct frame */
};

struct datagram {
	struct frame_end from, to;
	uint16_t data_bytes;
	uint8_t ecn;
	uint8_t ttl;
	uint32_t number; /* the first four bytes of the data, if it has four */
};

/* A router's source quench, as read by the host that sent the quoted packet. */
struct quench {
	uint32_t router;
	struct frame_end from, to; /* of the quoted packet */
	uint32_t seq;              /* of the quoted segment */
	bool marked;               /* the packet was marked; false: dropped */
};

enum frame_kind {
	FRAME_OTHER,  /* nothing that hosts of the lab read */
	FRAME_BROKEN, /* a checksum is wrong, or the lengths contradict each other */
	FRAME_SEGMENT,
	FRAME_DATAGRAM,
	FRAME_QUENCH,
};

struct frame {
	enum frame_kind kind;
	uint32_t to; /* destination address, of any IPv4 */
	uint16_t id; /* identification, unless the frame is broken */
	union {
		struct segment segment;
		struct datagram datagram;
		struct quench quench;
	};
	struct frame_oq oq; /* of a segment with a unified header */
};

/* Fills an empty mbuf; `id` is the IPv4 identification. data_bytes must keep the datagram within
 * FRAME_IP_BYTES_MAX. */
void frame_write_segment(struct rte_mbuf *mbuf, const struct segment *segment, uint16_t id);
void frame_write_datagram(struct rte_mbuf *mbuf, const struct datagram *datagram, uint16_t id);

/* Reads a frame that is whole in its first segment, and verifies every checksum. A quench
 * is for a mark if its octet 4 has any bit: `becn bit` chooses which, and one for a drop has
 * none. */
void frame_read(const struct rte_mbuf *mbuf, struct frame *frame);
/* Returns the destination address, without reading anything else; 0 if the frame is not IPv4. */
uint32_t frame_to(const struct rte_mbuf *mbuf);

/* Prefetches a frame that will be read soon. */
static inline void frame_prefetch(const struct rte_mbuf *mbuf)
{
	const char *data = rte_pktmbuf_mtod(mbuf, const char *);

	for (uint32_t at = RTE_CACHE_LINE_SIZE; at < mbuf->data_len; at += RTE_CACHE_LINE_SIZE)
		rte_prefetch0(data + at);
}

/* Returns the length that links count: that of the IPv4 datagram. */
static inline uint32_t frame_wire_bytes(const struct rte_mbuf *mbuf)
{
	return rte_pktmbuf_pkt_len(mbuf) - FRAME_ETHER_BYTES;
}

#endif
