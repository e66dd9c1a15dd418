/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fields that `rewrite` knows by name, a row each. Parsing, help, completion and the table in
 * docs/rewrite.md follow from these rows. A field may also be written as LAYER+OFFSET:WIDTH.
 *
 *   name, layer, offset (bytes), width (bytes read and written), mask (the field's bits in them),
 *   shift (of its lowest bit), help
 *
 * Thread: constants and pure functions, any.
 */
#ifndef WEIR_REWRITE_FIELD_H
#define WEIR_REWRITE_FIELD_H

#include <stddef.h>

#include "packet/burst.h"

/*
 * Where a field lies in a packet: a number of bytes at an offset from the beginning of a layer, and
 * the bits of them that belong to the field.
 *
 * A layer that the packet lacks is not found, nor is a place that is not there in full because the
 * packet is too short or was cut off by a capture. Places within IP and above end with the IP
 * packet: padding behind it does not count.
 *
 * Thread: the worker that owns the packet.
 */

enum rewrite_layer {
	LAYER_FRAME,   /* the whole frame, padding included */
	LAYER_VLAN,    /* the outermost tag, behind its type: 2 bytes, and the type that follows */
	LAYER_VLAN2,   /* the second tag */
	LAYER_NETWORK, /* what follows Ethernet and tags, of any type */
	LAYER_IP,      /* IPv4 */
	LAYER_IP6,     /* IPv6 */
	LAYER_TRANSPORT, /* the payload of IP, behind all extension headers */
	LAYER_TCP,
	LAYER_UDP,
	LAYER_ICMP,       /* of IPv4 or IPv6 */
	LAYER_PAYLOAD,    /* behind TCP, UDP or ICMP; else as `transport` */
	LAYER_IP_OPTION,  /* the IPv4 option of a type */
	LAYER_IP6_OPTION, /* the option of a type in the hop-by-hop header of IPv6 */
};

struct rewrite_place {
	uint8_t layer;  /* enum rewrite_layer */
	uint8_t option; /* its type */
	uint8_t width;  /* 1, 2, 4 or 8 bytes; 0: no place */
	uint8_t shift;  /* the field's lowest bit in the number that the bytes form */
	int32_t offset;
	uint64_t mask; /* of the number that the bytes form */
};

/* A packet and the positions of its layers. */
struct rewrite_view {
	struct burst *burst;
	uint16_t i;
	struct rte_mbuf *mbuf; /* the packet's */
	struct headers headers;
	uint32_t bytes;  /* length of the frame, as far as it is there */
	uint32_t ip_end; /* end of the IP packet by its own length, in the frame; 0: no IP */
	uint32_t here;   /* end of the part of it that is there */
};

static inline void rewrite_view_open(struct rewrite_view *view, struct burst *burst, uint16_t i)
{
	view->burst = burst;
	view->i = i;
	view->mbuf = burst->mbuf[i];
	view->bytes = view->mbuf->pkt_len;
	view->ip_end = 0;
	view->headers = *burst_headers(burst, i);
	if (view->headers.ip != 0)
		view->ip_end = view->headers.network + view->headers.network_bytes;
	view->here = RTE_MIN(view->ip_end, view->bytes);
}

/* As rewrite_place_find, for all layers but IP and transport. */
bool rewrite_place_search(const struct rewrite_view *view, const struct rewrite_place *place,
                          uint32_t *at);

/* Returns true if the place is there in full; `at` is then its offset in the frame. */
static inline bool rewrite_place_find(const struct rewrite_view *view,
                                      const struct rewrite_place *place, uint32_t *at)
{
	const struct headers *headers = &view->headers;
	uint32_t begin;

	switch (place->layer) {
	case LAYER_IP:
		begin = headers->ip == 4 ? headers->network : 0;
		break;
	case LAYER_TRANSPORT:
		begin = headers->transport;
		break;
	default:
		return rewrite_place_search(view, place, at);
	}
	*at = begin + (uint32_t)place->offset;
	return begin != 0 && *at + place->width <= view->here;
}

/* Returns the greatest value that fits. */
static inline uint64_t rewrite_place_max(const struct rewrite_place *place)
{
	return place->mask >> place->shift;
}

/* ---- bytes of a packet; the caller has checked that they are there ---- */

uint64_t rewrite_load_segments(const struct rte_mbuf *mbuf, uint32_t at, uint32_t width);
void rewrite_store_segments(struct rte_mbuf *mbuf, uint32_t at, uint32_t width, uint64_t value);

/* Returns `width` bytes as one number in network order. */
static inline uint64_t rewrite_load(const struct rte_mbuf *mbuf, uint32_t at, uint32_t width)
{
	const uint8_t *from = rte_pktmbuf_mtod(mbuf, const uint8_t *) + at;

	if (unlikely(at + width > mbuf->data_len))
		return rewrite_load_segments(mbuf, at, width);
	switch (width) {
	case 1:
		return *from;
	case 2:
		return headers_u16(from);
	case 4:
		return headers_u32(from);
	default:
		return (uint64_t)headers_u32(from) << 32 | headers_u32(from + 4);
	}
}

static inline void rewrite_store(struct rte_mbuf *mbuf, uint32_t at, uint32_t width, uint64_t value)
{
	uint8_t *to = rte_pktmbuf_mtod(mbuf, uint8_t *) + at;

	if (unlikely(at + width > mbuf->data_len)) {
		rewrite_store_segments(mbuf, at, width, value);
		return;
	}
	switch (width) {
	case 1:
		*to = (uint8_t)value;
		break;
	case 2:
		headers_put_u16(to, (uint16_t)value);
		break;
	default:
		if (width == 8) {
			headers_put_u32(to, (uint32_t)(value >> 32));
			to += 4;
		}
		headers_put_u32(to, (uint32_t)value);
		break;
	}
}

#define REWRITE_FIELDS(X)                                                                          \
	X("eth.dst", FRAME, 0, 8, 0xffffffffffff0000, 16, "destination address")                   \
	X("eth.src", FRAME, 6, 8, 0xffffffffffff0000, 16, "source address")                        \
	X("eth.type", NETWORK, -2, 2, 0xffff, 0, "type of what follows, after all tags")           \
	X("vlan.id", VLAN, 0, 2, 0x0fff, 0, "identifier of the outermost tag")                     \
	X("vlan.priority", VLAN, 0, 2, 0xe000, 13, "its priority (PCP)")                           \
	X("vlan.dei", VLAN, 0, 2, 0x1000, 12, "its drop eligible bit")                             \
	X("vlan2.id", VLAN2, 0, 2, 0x0fff, 0, "identifier of the second tag (QinQ)")               \
	X("vlan2.priority", VLAN2, 0, 2, 0xe000, 13, "its priority (PCP)")                         \
	X("vlan2.dei", VLAN2, 0, 2, 0x1000, 12, "its drop eligible bit")                           \
	X("ip.tos", IP, 1, 1, 0xff, 0, "DSCP and ECN together")                                    \
	X("ip.dscp", IP, 1, 1, 0xfc, 2, "differentiated services code point")                      \
	X("ip.ecn", IP, 1, 1, 0x03, 0, "explicit congestion notification")                         \
	X("ip.length", IP, 2, 2, 0xffff, 0, "total length, header included")                       \
	X("ip.id", IP, 4, 2, 0xffff, 0, "identification")                                          \
	X("ip.df", IP, 6, 2, 0x4000, 14, "do not fragment")                                        \
	X("ip.mf", IP, 6, 2, 0x2000, 13, "more fragments follow")                                  \
	X("ip.fragment", IP, 6, 2, 0x1fff, 0, "offset of the fragment, in units of 8 bytes")       \
	X("ip.ttl", IP, 8, 1, 0xff, 0, "time to live")                                             \
	X("ip.protocol", IP, 9, 1, 0xff, 0, "transport protocol: 1 ICMP, 6 TCP, 17 UDP")           \
	X("ip.checksum", IP, 10, 2, 0xffff, 0, "header checksum")                                  \
	X("ip.src", IP, 12, 4, 0xffffffff, 0, "source address")                                    \
	X("ip.dst", IP, 16, 4, 0xffffffff, 0, "destination address")                               \
	X("ip6.traffic-class", IP6, 0, 2, 0x0ff0, 4, "DSCP and ECN together")                      \
	X("ip6.dscp", IP6, 0, 2, 0x0fc0, 6, "differentiated services code point")                  \
	X("ip6.ecn", IP6, 0, 2, 0x0030, 4, "explicit congestion notification")                     \
	X("ip6.flow", IP6, 0, 4, 0x000fffff, 0, "flow label")                                      \
	X("ip6.length", IP6, 4, 2, 0xffff, 0, "payload length, extension headers included")        \
	X("ip6.next-header", IP6, 6, 1, 0xff, 0, "protocol of what follows the IPv6 header")       \
	X("ip6.hop-limit", IP6, 7, 1, 0xff, 0, "hop limit")                                        \
	X("ip6.src-high", IP6, 8, 8, 0xffffffffffffffff, 0, "first half of the source address")    \
	X("ip6.src-low", IP6, 16, 8, 0xffffffffffffffff, 0, "second half of it")                   \
	X("ip6.dst-high", IP6, 24, 8, 0xffffffffffffffff, 0, "first half of the destination")      \
	X("ip6.dst-low", IP6, 32, 8, 0xffffffffffffffff, 0, "second half of it")                   \
	X("tcp.sport", TCP, 0, 2, 0xffff, 0, "source port")                                        \
	X("tcp.dport", TCP, 2, 2, 0xffff, 0, "destination port")                                   \
	X("tcp.seq", TCP, 4, 4, 0xffffffff, 0, "sequence number")                                  \
	X("tcp.ack", TCP, 8, 4, 0xffffffff, 0, "acknowledgement number")                           \
	X("tcp.flags", TCP, 13, 1, 0xff, 0, "CWR 0x80, ECE, URG, ACK, PSH, RST, SYN, FIN 0x01")    \
	X("tcp.window", TCP, 14, 2, 0xffff, 0, "window, not scaled")                               \
	X("tcp.checksum", TCP, 16, 2, 0xffff, 0, "checksum")                                       \
	X("tcp.urgent", TCP, 18, 2, 0xffff, 0, "urgent pointer")                                   \
	X("udp.sport", UDP, 0, 2, 0xffff, 0, "source port")                                        \
	X("udp.dport", UDP, 2, 2, 0xffff, 0, "destination port")                                   \
	X("udp.length", UDP, 4, 2, 0xffff, 0, "length, header included")                           \
	X("udp.checksum", UDP, 6, 2, 0xffff, 0, "checksum; 0: there is none")                      \
	X("icmp.type", ICMP, 0, 1, 0xff, 0, "type, of ICMP or ICMPv6")                             \
	X("icmp.code", ICMP, 1, 1, 0xff, 0, "code")                                                \
	X("icmp.checksum", ICMP, 2, 2, 0xffff, 0, "checksum")                                      \
	X("icmp.id", ICMP, 4, 2, 0xffff, 0, "identifier of an echo")                               \
	X("icmp.seq", ICMP, 6, 2, 0xffff, 0, "sequence number of an echo")

/* A field of 16 bytes is a pair of fields of 8. */
#define REWRITE_PAIRS(X)                                                                           \
	X("ip6.src", IP6, 8, "source address, or a prefix of it")                                  \
	X("ip6.dst", IP6, 24, "destination address, or a prefix of it")

/* Layers that may be written with an offset and a width, in place of a field's name. */
#define REWRITE_LAYERS(X)                                                                          \
	X("frame", FRAME, "from the first byte, padding included")                                 \
	X("vlan", VLAN, "the outermost tag, after its type")                                       \
	X("vlan2", VLAN2, "the second tag")                                                        \
	X("network", NETWORK, "what follows Ethernet and its tags: IP, ARP, MPLS")                 \
	X("ip", IP, "IPv4")                                                                        \
	X("ip6", IP6, "IPv6")                                                                      \
	X("transport", TRANSPORT, "what IP carries, after options and extension headers")          \
	X("tcp", TCP, "TCP")                                                                       \
	X("udp", UDP, "UDP")                                                                       \
	X("icmp", ICMP, "ICMP, of IPv4 or IPv6")                                                   \
	X("payload", PAYLOAD, "what follows TCP, UDP or ICMP; otherwise as `transport`")

/* Layers whose name is followed by the type of an option: ip.option25+2:1. */
#define REWRITE_OPTIONS(X)                                                                         \
	X("ip.option", IP_OPTION, "an IPv4 option by its type, from its type byte on")             \
	X("ip6.option", IP6_OPTION, "one of the hop-by-hop header of IPv6")

struct rewrite_field {
	const char *name, *help;
	struct rewrite_place place[2]; /* one, or the halves of 16 bytes */
};

extern const struct rewrite_field rewrite_fields[]; /* ended by name NULL */

struct rewrite_layer_name {
	const char *name, *help;
	uint8_t layer; /* enum rewrite_layer */
	bool option;   /* a type follows the name */
};

const struct rewrite_field *rewrite_field_find(const char *name, size_t bytes);
const struct rewrite_layer_name *rewrite_layer_find(const char *name, size_t bytes);

/* Returns the name closest to the text, at most two slips away (one for a text of less than four
 * letters), or NULL. */
const char *rewrite_field_nearest(const char *text, size_t bytes);

/* Returns true if a write to the place may change where layers are. */
bool rewrite_place_moves(const struct rewrite_place *place);

#endif
