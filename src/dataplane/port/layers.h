/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The headers of a super-frame that depend on the length of its payload: what has a length, an
 * identification or a checksum. A frame that is cut out of the super-frame needs each of them anew.
 *
 *   plain    IPv4 or IPv6, TCP or UDP
 *   tunnel   IPv4 or IPv6; UDP (VXLAN, Geneve, GUE, FOU and others), GRE, or nothing (IPIP, 6in4,
 *            IPv6 tunnels, MPLS); then a plain packet, with or without Ethernet before it
 *
 * This is all that Linux makes: if an outer header is around a tunnel, it cuts before. MPLS labels
 * may precede either. What lies between the outer header and the inner packet (VXLAN's header, the
 * options of Geneve, the key of GRE, the inner Ethernet) is the same in all frames. So nothing
 * depends on port numbers: the inner IP header is the one that leads to the transport.
 *
 * A layer without a checksum (0 in UDP, no C bit in GRE) stays without.
 *
 * Cost: of layers_find, one pass over the headers; of layers_finish, the sum of each byte of the
 * headers for each layer that has one. Thread: any.
 */
#ifndef WEIR_LAYERS_H
#define WEIR_LAYERS_H

#include <stdbool.h>
#include <stdint.h>

/* Outer IP and UDP or GRE; inner IP and transport. */
#define LAYERS_MAX 4

#define LAYERS_TCP 6
#define LAYERS_UDP 17

enum layer_kind { LAYER_IPV4, LAYER_IPV6, LAYER_TCP, LAYER_UDP, LAYER_GRE };

struct layers {
	struct layer {
		enum layer_kind kind;
		uint32_t at; /* offset of the header */
	} layer[LAYERS_MAX]; /* the outermost first; the last two are the inner IP and transport */
	uint32_t n;
	uint32_t payload;    /* where the headers end */
	uint16_t pseudo_sum; /* of the transport's pseudo header, without the length */
};

/* Finds the layers of a frame. `protocol`: LAYERS_TCP or LAYERS_UDP; `transport`: where its header
 * begins, whose checksum field has the sum of the pseudo header (with a routing header, only the
 * sender knows that). 0: not known; then the frame is a plain one. Returns false if the headers
 * contradict that, or if there is one that weir cannot renew. */
bool layers_find(struct layers *layers, const uint8_t *bytes, uint32_t length, uint8_t protocol,
                 uint32_t transport);

/* Returns the layer of the inner IP header. */
static inline const struct layer *layers_ip(const struct layers *layers)
{
	return &layers->layer[layers->n - 2];
}

static inline const struct layer *layers_transport(const struct layers *layers)
{
	return &layers->layer[layers->n - 1];
}

/* Writes lengths, identifications and checksums into `head`, a copy of the headers, for frame
 * number `place`, with `n` bytes of payload. `payload_sum` is their sum (rte_raw_cksum). */
void layers_finish(const struct layers *layers, uint8_t *head, uint32_t n, uint16_t payload_sum,
                   uint16_t place);

#endif
