/* SPDX-License-Identifier: BSD-3-Clause */
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
#ifndef WEIR_REWRITE_PLACE_H
#define WEIR_REWRITE_PLACE_H

#include "packet/burst.h"

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

#endif
