/* SPDX-License-Identifier: BSD-3-Clause */
#include "rewrite/rewrite_field.h"

#include <string.h>

#define ETHERNET_BYTES 14
#define TAG_BYTES      4
#define IPV4_BYTES     20
#define IPV6_BYTES     40

enum { PROTOCOL_HOP_BY_HOP = 0, PROTOCOL_ICMP = 1, PROTOCOL_TCP = 6, PROTOCOL_UDP = 17 };
enum { PROTOCOL_ICMPV6 = 58 };

/* ---- options ---- */

/* Returns the offset of the option of a type between two offsets, if all of it is there, else 0.
 * `pad` is the type of an option of one byte. In `whole` lists, the length includes type and
 * length, and type 0 ends the list. */
static uint32_t find_option(const uint8_t *frame, uint32_t at, uint32_t end, uint8_t type,
                            uint8_t pad, bool whole, uint32_t *option_end)
{
	while (at < end) {
		uint32_t bytes = 1;

		if (frame[at] != pad) {
			if (whole && frame[at] == 0)
				return 0; /* end of list */
			if (at + 2 > end)
				return 0;
			bytes = frame[at + 1] + (whole ? 0u : 2u);
			if (bytes < 2 || at + bytes > end)
				return 0;
		}
		if (frame[at] == type) {
			*option_end = at + bytes;
			return at;
		}
		at += bytes;
	}
	return 0;
}

static uint32_t find_ip_option(const struct rewrite_view *view, uint8_t type, uint32_t *end)
{
	const uint8_t *frame = rte_pktmbuf_mtod(view->mbuf, const uint8_t *);
	uint32_t at = view->headers.network;

	if (view->headers.ip != 4)
		return 0;
	return find_option(frame, at + IPV4_BYTES, at + (frame[at] & 0xfu) * 4, type, 1, true, end);
}

static uint32_t find_ip6_option(const struct rewrite_view *view, uint8_t type, uint32_t *end)
{
	const uint8_t *frame = rte_pktmbuf_mtod(view->mbuf, const uint8_t *);
	uint32_t at = view->headers.network, here, header_end;

	if (view->headers.ip != 6 || frame[at + 6] != PROTOCOL_HOP_BY_HOP)
		return 0;
	at += IPV6_BYTES;
	here = view->here < view->mbuf->data_len ? view->here : view->mbuf->data_len;
	if (at + 8 > here)
		return 0;
	header_end = at + (frame[at + 1] + 1u) * 8;
	if (header_end > here)
		return 0;
	return find_option(frame, at + 2, header_end, type, 0, false, end);
}

/* ---- layers ---- */

static bool is_icmp(const struct headers *headers)
{
	return headers->protocol == (headers->ip == 4 ? PROTOCOL_ICMP : PROTOCOL_ICMPV6);
}

/* Returns 0 if there is no payload, or the header before it is not there in full. */
static uint32_t find_payload(const struct rewrite_view *view)
{
	const struct headers *headers = &view->headers;
	uint32_t at = headers->transport, bytes;

	if (at == 0)
		return 0;
	if (headers->protocol == PROTOCOL_UDP || is_icmp(headers))
		return at + 8;
	if (headers->protocol != PROTOCOL_TCP)
		return at;
	if (at + 13 > view->here)
		return 0;
	bytes = (uint32_t)(rewrite_load(view->mbuf, at + 12, 1) >> 4) * 4;
	return bytes < 20 ? 0 : at + bytes;
}

bool rewrite_place_search(const struct rewrite_view *view, const struct rewrite_place *place,
                          uint32_t *at)
{
	const struct headers *headers = &view->headers;
	uint32_t begin = 0, end = view->here;

	switch (place->layer) {
	case LAYER_FRAME:
		end = view->bytes;
		*at = (uint32_t)place->offset;
		return *at + place->width <= end;
	case LAYER_VLAN:
		begin = headers->n_tags > 0 ? ETHERNET_BYTES : 0;
		end = view->bytes;
		break;
	case LAYER_VLAN2:
		begin = headers->n_tags > 1 ? ETHERNET_BYTES + TAG_BYTES : 0;
		end = view->bytes;
		break;
	case LAYER_NETWORK:
		begin = ETHERNET_BYTES + TAG_BYTES * headers->n_tags;
		end = headers->ip ? view->here : view->bytes;
		break;
	case LAYER_IP6:
		begin = headers->ip == 6 ? headers->network : 0;
		break;
	case LAYER_TCP:
		begin = headers->protocol == PROTOCOL_TCP ? headers->transport : 0;
		break;
	case LAYER_UDP:
		begin = headers->protocol == PROTOCOL_UDP ? headers->transport : 0;
		break;
	case LAYER_ICMP:
		begin = is_icmp(headers) ? headers->transport : 0;
		break;
	case LAYER_PAYLOAD:
		begin = find_payload(view);
		break;
	case LAYER_IP_OPTION:
		begin = find_ip_option(view, place->option, &end);
		break;
	case LAYER_IP6_OPTION:
		begin = find_ip6_option(view, place->option, &end);
		break;
	default:
		break;
	}
	*at = begin + (uint32_t)place->offset;
	return begin != 0 && *at + place->width <= end;
}

/* ---- several segments ---- */

uint64_t rewrite_load_segments(const struct rte_mbuf *mbuf, uint32_t at, uint32_t width)
{
	uint64_t value = 0;

	for (; mbuf && width; mbuf = mbuf->next) {
		for (; width && at < mbuf->data_len; at++, width--)
			value = value << 8 | rte_pktmbuf_mtod(mbuf, const uint8_t *)[at];
		at -= mbuf->data_len;
	}
	return value;
}

void rewrite_store_segments(struct rte_mbuf *mbuf, uint32_t at, uint32_t width, uint64_t value)
{
	for (; mbuf && width; mbuf = mbuf->next) {
		for (; width && at < mbuf->data_len; at++, width--)
			rte_pktmbuf_mtod(mbuf, uint8_t *)[at] =
			        (uint8_t)(value >> (8 * (width - 1)));
		at -= mbuf->data_len;
	}
}

#define NAME_BYTES_MAX 32

const struct rewrite_field rewrite_fields[] = {
#define X(name_, layer_, offset_, width_, mask_, shift_, help_)                                    \
	{.name = name_,                                                                            \
	 .help = help_,                                                                            \
	 .place = {{.layer = LAYER_##layer_,                                                       \
	            .width = width_,                                                               \
	            .shift = shift_,                                                               \
	            .offset = offset_,                                                             \
	            .mask = mask_}}},
        REWRITE_FIELDS(X)
#undef X
#define X(name_, layer_, offset_, help_)                                                           \
	{.name = name_,                                                                            \
	 .help = help_,                                                                            \
	 .place = {{.layer = LAYER_##layer_, .width = 8, .offset = offset_, .mask = UINT64_MAX},   \
	           {.layer = LAYER_##layer_,                                                       \
	            .width = 8,                                                                    \
	            .offset = offset_ + 8,                                                         \
	            .mask = UINT64_MAX}}},
                REWRITE_PAIRS(X)
#undef X
                        {.name = NULL},
};

static const struct rewrite_layer_name rewrite_layers[] = {
#define X(name_, layer_, help_) {.name = name_, .help = help_, .layer = LAYER_##layer_},
        REWRITE_LAYERS(X)
#undef X
#define X(name_, layer_, help_)                                                                    \
	{.name = name_, .help = help_, .layer = LAYER_##layer_, .option = true},
                REWRITE_OPTIONS(X)
#undef X
                        {.name = NULL},
};

static bool is(const char *name, const char *text, size_t bytes)
{
	return strlen(name) == bytes && memcmp(name, text, bytes) == 0;
}

const struct rewrite_field *rewrite_field_find(const char *name, size_t bytes)
{
	for (const struct rewrite_field *row = rewrite_fields; row->name; row++) {
		if (is(row->name, name, bytes))
			return row;
	}
	return NULL;
}

const struct rewrite_layer_name *rewrite_layer_find(const char *name, size_t bytes)
{
	for (const struct rewrite_layer_name *row = rewrite_layers; row->name; row++) {
		if (is(row->name, name, bytes))
			return row;
	}
	return NULL;
}

/* Returns the number of insertions, deletions and substitutions of letters between the two. */
static uint32_t distance(const char *name, const char *text, size_t bytes)
{
	uint32_t row[NAME_BYTES_MAX + 1];
	uint32_t n = (uint32_t)strlen(name);

	for (uint32_t i = 0; i <= n; i++)
		row[i] = i;
	for (uint32_t j = 0; j < bytes; j++) {
		uint32_t corner = row[0];

		row[0] = j + 1;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t best = corner + (name[i] != text[j]);

			corner = row[i + 1];
			if (row[i] + 1 < best)
				best = row[i] + 1;
			row[i + 1] = corner + 1 < best ? corner + 1 : best;
		}
	}
	return row[n];
}

const char *rewrite_field_nearest(const char *text, size_t bytes)
{
	const char *best = NULL;
	uint32_t least = bytes < 4 ? 2 : 3;

	if (bytes > NAME_BYTES_MAX)
		return NULL;
	for (const struct rewrite_field *row = rewrite_fields; row->name; row++) {
		uint32_t slips = distance(row->name, text, bytes);

		if (slips < least) {
			least = slips;
			best = row->name;
		}
	}
	return best;
}

bool rewrite_place_moves(const struct rewrite_place *place)
{
	int32_t from = place->offset, to = from + place->width;

	switch (place->layer) {
	case LAYER_FRAME:
		return to > 14 || (to > 12 && place->mask & 0xffff);
	case LAYER_VLAN:
	case LAYER_VLAN2:
	case LAYER_NETWORK:
		return true;
	case LAYER_IP: /* version, header length, total length, fragment, protocol, options */
		return from < 1 || (from < 4 && to > 2) || (from < 8 && to > 6) ||
		       (from < 10 && to > 9) || to > 20;
	case LAYER_IP6: /* version, payload length, next header, extension headers */
		return (from < 1 && place->mask >> (8 * place->width - 4)) ||
		       (from < 7 && to > 4) || to > 40;
	case LAYER_TRANSPORT:
	case LAYER_TCP:
		return from < 13 && to > 12;
	default:
		return false;
	}
}
