/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/super_frame.h"

#include <string.h>

#include <rte_byteorder.h>
#include <rte_ip.h>

#include "packet/headers.h"

#define IPV4_BYTES_MIN 20
#define IPV6_BYTES     40
#define TCP_BYTES_MIN  20
#define UDP_BYTES      8
#define TAG_BYTES      4
#define ETHERNET_BYTES 14

/* Offsets in their headers. */
#define TCP_SUM    16
#define UDP_LENGTH 4
#define UDP_SUM    6
#define GRE_SUM    4

#define TYPE_MPLS           0x8847
#define TYPE_MPLS_MULTICAST 0x8848

#define GRE_CHECKSUM 0x8000
#define GRE_KEY      0x2000

enum tunnel_protocol {
	PROTOCOL_IPIP = 4,
	PROTOCOL_IPV6 = 41,
	PROTOCOL_GRE = 47,
	PROTOCOL_MPLS = 137,
};

/* ---- sums, in memory order, as rte_raw_cksum sums ---- */

static uint16_t fold(uint32_t sum)
{
	sum = (sum >> 16) + (sum & 0xffff);
	return (uint16_t)((sum >> 16) + (sum & 0xffff));
}

/* Returns the sum of the pseudo header of a layer behind the IP header `ip`, without the length. */
static uint32_t sum_of_addresses(const uint8_t *head, const struct layer *ip, uint8_t protocol)
{
	const uint8_t *at = head + ip->at;

	return (uint32_t)(ip->kind == LAYER_IPV6 ? rte_raw_cksum(at + 8, 32)
	                                         : rte_raw_cksum(at + 12, 8)) +
	       rte_cpu_to_be_16(protocol);
}

static uint32_t sum_of_length(uint32_t bytes)
{
	return (uint32_t)rte_cpu_to_be_16((uint16_t)(bytes >> 16)) +
	       rte_cpu_to_be_16((uint16_t)bytes);
}

/* ---- finding ---- */

static void add(struct layers *layers, enum layer_kind kind, uint32_t at)
{
	layers->layer[layers->n++] = (struct layer){.kind = kind, .at = at};
}

static void add_ip(struct layers *layers, const struct headers *headers)
{
	add(layers, headers->ip == 4 ? LAYER_IPV4 : LAYER_IPV6, headers->network);
}

/* Returns the length of the GRE header at `at`, or 0 if it has a field that differs from frame to
 * frame (a sequence number), or an unknown one. */
static uint32_t gre_bytes(struct layers *layers, const uint8_t *bytes,
                          const struct headers *headers)
{
	uint16_t flags;

	if (headers->transport_here < 4)
		return 0;
	flags = headers_u16(bytes + headers->transport);
	if (flags & ~(GRE_CHECKSUM | GRE_KEY))
		return 0;
	if (flags & GRE_CHECKSUM)
		add(layers, LAYER_GRE, headers->transport);
	return 4 + (flags & GRE_CHECKSUM ? 4 : 0) + (flags & GRE_KEY ? 4 : 0);
}

/* Adds what is between the outer IP header and the tunnelled packet. Returns where that may begin,
 * or 0 if this is no tunnel. */
static uint32_t pass_tunnel(struct layers *layers, const uint8_t *bytes,
                            const struct headers *headers)
{
	uint32_t n;

	switch (headers->protocol) {
	case PROTOCOL_IPIP:
	case PROTOCOL_IPV6:
	case PROTOCOL_MPLS:
		return headers->transport;
	case PROTOCOL_GRE:
		n = gre_bytes(layers, bytes, headers);
		return n > 0 ? headers->transport + n : 0;
	case LAYERS_UDP:
		add(layers, LAYER_UDP, headers->transport);
		return headers->transport + UDP_BYTES;
	default:
		return 0;
	}
}

static bool leads_to(const struct headers *headers, uint8_t protocol, uint32_t transport)
{
	return headers->transport == transport && headers->protocol == protocol &&
	       !headers->fragment;
}

/* Finds the IP header, at `from` or behind, of a packet that ends with the frame and has its
 * transport at `transport`. IP headers, with all that may follow them, are multiples of four
 * bytes. */
static bool find_inner(const uint8_t *bytes, uint32_t length, uint32_t from, uint8_t protocol,
                       uint32_t transport, struct headers *headers)
{
	for (uint32_t n = IPV4_BYTES_MIN; from + n <= transport; n += 4) {
		if (headers_find_ip(bytes, length, length, transport - n, headers) &&
		    leads_to(headers, protocol, transport) &&
		    headers->network + headers->network_bytes == length)
			return true;
	}
	return false;
}

/* Adds the transport behind the IP header that was added last. */
static bool add_transport(struct layers *layers, const uint8_t *bytes, uint32_t length,
                          const struct headers *headers, bool has_pseudo_sum)
{
	bool tcp = headers->protocol == LAYERS_TCP;
	uint32_t n = UDP_BYTES, at = headers->transport, sum_at = tcp ? TCP_SUM : UDP_SUM;
	uint16_t sum;

	if (headers->transport_here < (tcp ? TCP_BYTES_MIN : UDP_BYTES))
		return false;
	if (tcp)
		n = (uint32_t)(bytes[at + 12] >> 4) * 4;
	if (n < (tcp ? TCP_BYTES_MIN : UDP_BYTES))
		return false;
	memcpy(&sum, bytes + at + sum_at, sizeof(sum));
	if (has_pseudo_sum)
		layers->pseudo_sum =
		        fold(sum + (uint32_t)(uint16_t)~fold(sum_of_length(length - at)));
	else
		layers->pseudo_sum = fold(
		        sum_of_addresses(bytes, &layers->layer[layers->n - 1], headers->protocol));
	add(layers, tcp ? LAYER_TCP : LAYER_UDP, at);
	layers->payload = at + n;
	return true;
}

bool layers_find(struct layers *layers, const uint8_t *bytes, uint32_t length, uint8_t protocol,
                 uint32_t transport)
{
	struct headers headers;
	uint32_t from = 0;

	*layers = (struct layers){0};
	if (headers_find(bytes, length, length, &headers)) {
		if (headers.transport == 0 || headers.fragment)
			return false;
		add_ip(layers, &headers);
		if (leads_to(&headers, protocol, transport > 0 ? transport : headers.transport))
			return add_transport(layers, bytes, length, &headers, transport > 0);
		from = pass_tunnel(layers, bytes, &headers);
	} else if (headers.ethertype == TYPE_MPLS || headers.ethertype == TYPE_MPLS_MULTICAST) {
		from = ETHERNET_BYTES + (uint32_t)headers.n_tags * TAG_BYTES;
	}
	if (from == 0 || transport >= length ||
	    !find_inner(bytes, length, from, protocol, transport, &headers))
		return false;
	add_ip(layers, &headers);
	return add_transport(layers, bytes, length, &headers, transport > 0);
}

/* ---- finishing ---- */

/* What is behind the headers of a frame that is being finished. */
struct rest {
	uint32_t payload; /* where it begins */
	uint32_t end;
	uint16_t sum;
};

static void put_sum(uint8_t *at, uint32_t sum)
{
	uint16_t folded = (uint16_t)~fold(sum);

	memcpy(at, &folded, sizeof(folded));
}

/* Returns the sum from `at` to the end of the frame. */
static uint32_t sum_from(const uint8_t *head, uint32_t at, const struct rest *rest)
{
	uint32_t bytes = rest->payload - at;
	/* At an odd distance, each byte of the payload is the other half of its word. */
	uint16_t sum = bytes & 1 ? rte_bswap16(rest->sum) : rest->sum;

	return (uint32_t)rte_raw_cksum(head + at, bytes) + sum;
}

static void finish_ipv4(uint8_t *ip, uint32_t bytes, uint16_t place)
{
	headers_put_u16(ip + 2, (uint16_t)bytes);
	headers_put_u16(ip + 4, (uint16_t)(headers_u16(ip + 4) + place));
	memset(ip + 10, 0, 2);
	put_sum(ip + 10, rte_raw_cksum(ip, (ip[0] & 0xfu) * 4));
}

static uint32_t sum_of_pseudo(const struct layers *layers, const uint8_t *head,
                              const struct layer *layer, const struct rest *rest)
{
	return sum_of_length(rest->end - layer->at) +
	       (layer == layers_transport(layers) ? layers->pseudo_sum
	                                          : sum_of_addresses(head, layer - 1, LAYERS_UDP));
}

static void finish_tcp(const struct layers *layers, uint8_t *head, const struct layer *layer,
                       const struct rest *rest)
{
	uint8_t *sum = head + layer->at + TCP_SUM;

	memset(sum, 0, 2);
	put_sum(sum, sum_from(head, layer->at, rest) + sum_of_pseudo(layers, head, layer, rest));
}

static void finish_udp(const struct layers *layers, uint8_t *head, const struct layer *layer,
                       const struct rest *rest)
{
	uint8_t *udp = head + layer->at, *sum = udp + UDP_SUM;

	headers_put_u16(udp + UDP_LENGTH, (uint16_t)(rest->end - layer->at));
	if (headers_u16(sum) == 0)
		return;
	memset(sum, 0, 2);
	put_sum(sum, sum_from(head, layer->at, rest) + sum_of_pseudo(layers, head, layer, rest));
	if (headers_u16(sum) == 0)
		headers_put_u16(sum, 0xffff); /* 0 means that there is none (RFC 768) */
}

static void finish_gre(uint8_t *head, const struct layer *layer, const struct rest *rest)
{
	uint8_t *sum = head + layer->at + GRE_SUM;

	memset(sum, 0, 2);
	put_sum(sum, sum_from(head, layer->at, rest));
}

void layers_finish(const struct layers *layers, uint8_t *head, uint32_t n, uint16_t payload_sum,
                   uint16_t place)
{
	const struct rest rest = {
	        .payload = layers->payload, .end = layers->payload + n, .sum = payload_sum};

	/* An outer checksum covers the inner headers, so these come first. */
	for (uint32_t i = layers->n; i-- > 0;) {
		const struct layer *layer = &layers->layer[i];

		switch (layer->kind) {
		case LAYER_IPV4:
			finish_ipv4(head + layer->at, rest.end - layer->at, place);
			break;
		case LAYER_IPV6:
			headers_put_u16(head + layer->at + 4,
			                (uint16_t)(rest.end - layer->at - IPV6_BYTES));
			break;
		case LAYER_TCP:
			finish_tcp(layers, head, layer, &rest);
			break;
		case LAYER_UDP:
			finish_udp(layers, head, layer, &rest);
			break;
		case LAYER_GRE:
			finish_gre(head, layer, &rest);
			break;
		}
	}
}
