/* SPDX-License-Identifier: BSD-3-Clause */
#include "rewrite/rewrite_sums.h"

/* Offsets in the headers. */
#define IPV4_PROTOCOL 9
#define IPV4_SOURCE   12
#define IPV4_BYTES    20
#define TCP_SUM       16
#define UDP_SUM       6
#define ICMP_SUM      2

enum { ICMP = 1, TCP = 6, UDP = 17, ICMPV6 = 58 };

struct write {
	uint32_t at, end;
	uint64_t before, after;
};

/* Returns what the write adds to a sum that covers the frame between two offsets. */
static inline uint32_t part(const struct write *write, uint32_t from, uint32_t to)
{
	uint64_t before = write->before, after = write->after;
	uint32_t begin = write->at > from ? write->at : from;
	uint32_t end = write->end < to ? write->end : to;

	if (begin >= end)
		return 0;
	if (end - begin < write->end - write->at) {
		uint64_t keep = UINT64_MAX >> (64 - 8 * (end - begin));
		uint32_t drop = (write->end - end) * 8;

		before = before >> drop & keep;
		after = after >> drop & keep;
		if (before == after)
			return 0;
	}
	return rewrite_growth(end, before, after);
}

static void grow(const struct rewrite_view *view, uint32_t at, uint32_t growth, bool optional)
{
	uint16_t sum, grown;

	if (growth == 0)
		return;
	sum = (uint16_t)rewrite_load(view->mbuf, at, 2);
	if (optional && sum == 0)
		return;
	grown = checksum_grown(sum, growth);
	rewrite_store(view->mbuf, at, 2, optional && grown == 0 ? 0xffff : grown);
}

static void fix_ipv4(const struct rewrite_view *view, const struct write *write)
{
	const uint8_t *frame = rte_pktmbuf_mtod(view->mbuf, const uint8_t *);
	uint32_t at = view->headers.network, end = at + (frame[at] & 0xfu) * 4;

	if (write->at < end)
		rewrite_grow_ipv4(view, part(write, at, at + REWRITE_IPV4_SUM) +
		                                part(write, at + REWRITE_IPV4_SUM + 2, end));
}

/* Returns true if an extension header has the packet's final destination. */
static bool is_source_routed(const struct rewrite_view *view)
{
	const uint8_t *frame = rte_pktmbuf_mtod(view->mbuf, const uint8_t *);
	uint32_t at = view->headers.network + 40;
	uint8_t type = frame[view->headers.network + 6];

	/* headers.h has followed this chain up to the transport. */
	while (at < view->headers.transport) {
		uint32_t bytes = (frame[at + 1] + 1u) * 8;

		if (type == 43 && frame[at + 3] > 0)
			return true;
		if (type == 44)
			bytes = 8;
		else if (type == 51)
			bytes = (frame[at + 1] + 2u) * 4;
		type = frame[at];
		at += bytes;
	}
	return false;
}

static uint32_t pseudo_part(const struct rewrite_view *view, const struct write *write)
{
	const struct headers *headers = &view->headers;
	uint32_t at = headers->network, growth;

	if (headers->ip == 4) /* protocol, addresses */
		return part(write, at + 9, at + 10) + part(write, at + 12, at + 20);
	growth = part(write, at + 8, at + 24);
	if (write->end > at + 24 && write->at < at + 40 && !is_source_routed(view))
		growth += part(write, at + 24, at + 40);
	/* The protocol is the upper half of a word here, and the lower half in the
	 * pseudo-header. */
	if (headers->transport == at + 40 && write->at <= at + 6 && write->end > at + 6) {
		uint32_t drop = (write->end - at - 7) * 8;

		uint8_t before = (uint8_t)(write->before >> drop);
		uint8_t after = (uint8_t)(write->after >> drop);

		growth += before == after ? 0 : checksum_growth(before, after);
	}
	return growth;
}

/* Finds the transport's checksum, if it is there: its offset in the transport, and whether it
 * covers a pseudo-header. Returns false if there is none. */
static bool transport_sum(const struct rewrite_view *view, uint32_t *offset, bool *pseudo)
{
	const struct headers *headers = &view->headers;
	bool has = true;

	*pseudo = true;
	switch (headers->protocol) {
	case TCP:
		*offset = TCP_SUM;
		break;
	case UDP:
		*offset = UDP_SUM;
		break;
	case ICMP:
		*offset = ICMP_SUM;
		*pseudo = false;
		has = headers->ip == 4;
		break;
	case ICMPV6:
		*offset = ICMP_SUM;
		has = headers->ip == 6;
		break;
	default:
		return false;
	}
	return has && headers->transport && headers->transport + *offset + 2 <= view->here;
}

static void fix_transport(const struct rewrite_view *view, const struct write *write)
{
	const struct headers *headers = &view->headers;
	uint32_t at = headers->transport, offset, growth = 0;
	bool pseudo;

	if (!transport_sum(view, &offset, &pseudo))
		return;
	if (write->end > at)
		growth = part(write, at, at + offset) + part(write, at + offset + 2, view->ip_end);
	if (pseudo && write->at < at)
		growth += pseudo_part(view, write);
	grow(view, at + offset, growth, headers->protocol == UDP);
}

/* Corrects each checksum that covers the write. */
static void ask(const struct rewrite_view *view, const struct write *write)
{
	const struct headers *headers = &view->headers;

	if (headers->ip == 0 || write->end <= headers->network)
		return;
	if (headers->ip == 4)
		fix_ipv4(view, write);
	/* The pseudo-header has no field of the IPv4 header before the protocol. */
	if (headers->ip == 4 && write->end <= headers->network + IPV4_PROTOCOL)
		return;
	fix_transport(view, write);
}

/* ---- what the place alone determines ---- */

static uint8_t summed_ipv4(int32_t from, int32_t to)
{
	if (from >= 1 && to <= IPV4_PROTOCOL)
		return SUMMED_HEADER;
	if ((from == IPV4_PROTOCOL && to == REWRITE_IPV4_SUM) ||
	    (from >= IPV4_SOURCE && to <= IPV4_BYTES))
		return SUMMED_HEADER | SUMMED_PSEUDO;
	return SUMMED_ASK;
}

/* `sum`: the offset of the transport's checksum. */
static uint8_t summed_transport(int32_t from, int32_t to, int32_t sum)
{
	return from >= 0 && (to <= sum || from >= sum + 2) ? SUMMED_DATA : SUMMED_ASK;
}

uint8_t rewrite_summed(const struct rewrite_place *place)
{
	int32_t from = place->offset, to = from + place->width;

	switch (place->layer) {
	case LAYER_IP:
		return summed_ipv4(from, to);
	case LAYER_TCP:
		return summed_transport(from, to, TCP_SUM);
	case LAYER_UDP:
		return summed_transport(from, to, UDP_SUM);
	case LAYER_ICMP:
		return summed_transport(from, to, ICMP_SUM);
	default:
		return SUMMED_ASK;
	}
}

void rewrite_sums_slow(const struct rewrite_view *view, uint8_t summed, uint32_t at, uint32_t width,
                       uint64_t before, uint64_t after)
{
	const struct write write = {at, at + width, before, after};
	const struct headers *headers = &view->headers;
	uint32_t growth, offset;
	bool pseudo;

	if (unlikely(summed & SUMMED_ASK)) {
		ask(view, &write);
		return;
	}
	growth = rewrite_growth(write.end, before, after);
	if (summed & SUMMED_HEADER)
		rewrite_grow_ipv4(view, growth);
	if (!(summed & (SUMMED_PSEUDO | SUMMED_DATA)) || !transport_sum(view, &offset, &pseudo))
		return;
	if (pseudo || summed & SUMMED_DATA)
		grow(view, headers->transport + offset, growth, headers->protocol == UDP);
}
