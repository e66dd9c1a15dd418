/* SPDX-License-Identifier: BSD-3-Clause */
#include "rewrite_sums.h"

#include "checksum.h"

#define IPV4_SUM 10 /* offset in the header */

struct write {
	uint32_t at, end;
	uint64_t before, after;
};

/* What a checksum covers of the write: sums of words, not folded. */
struct share {
	uint32_t before, after;
};

/* Adds the part of the write between two offsets. Every word that a checksum sums begins at an even
 * offset of the frame, since Ethernet, tags and headers all have an even length. */
static void add_part(struct share *share, const struct write *write, uint32_t from, uint32_t to)
{
	uint32_t begin = write->at > from ? write->at : from;
	uint32_t end = write->end < to ? write->end : to;
	uint32_t drop = (write->end - end) * 8;
	uint64_t keep;

	if (begin >= end)
		return;
	keep = UINT64_MAX >> (64 - 8 * (end - begin));
	if (end & 1) {
		share->before += checksum_sum_odd(write->before >> drop & keep);
		share->after += checksum_sum_odd(write->after >> drop & keep);
	} else {
		share->before += checksum_sum(write->before >> drop & keep);
		share->after += checksum_sum(write->after >> drop & keep);
	}
}

static void change_sum(const struct rewrite_view *view, uint32_t at, const struct share *share,
                       bool optional)
{
	uint16_t sum, changed;

	if (share->before == share->after)
		return;
	sum = (uint16_t)rewrite_load(view->mbuf, at, 2);
	if (optional && sum == 0)
		return;
	changed = checksum_changed(sum, share->before, share->after);
	rewrite_store(view->mbuf, at, 2, optional && changed == 0 ? 0xffff : changed);
}

static void fix_ipv4(const struct rewrite_view *view, const struct write *write)
{
	const uint8_t *frame = rte_pktmbuf_mtod(view->mbuf, const uint8_t *);
	uint32_t at = view->headers.network;
	struct share share = {0, 0};

	add_part(&share, write, at, at + IPV4_SUM);
	add_part(&share, write, at + IPV4_SUM + 2, at + (frame[at] & 0xfu) * 4);
	change_sum(view, at + IPV4_SUM, &share, false);
}

/* Whether an extension header says where the packet really goes. */
static bool is_source_routed(const struct rewrite_view *view)
{
	const uint8_t *frame = rte_pktmbuf_mtod(view->mbuf, const uint8_t *);
	uint32_t at = view->headers.network + 40;
	uint8_t type = frame[view->headers.network + 6];

	/* headers.h has walked this way, up to the transport. */
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

static void add_pseudo_header(struct share *share, const struct rewrite_view *view,
                              const struct write *write)
{
	const struct headers *headers = &view->headers;
	uint32_t at = headers->network;

	if (headers->ip == 4) {
		add_part(share, write, at + 9, at + 10); /* protocol */
		add_part(share, write, at + 12, at + 20);
		return;
	}
	add_part(share, write, at + 8, at + 24);
	if (write->end > at + 24 && write->at < at + 40 && !is_source_routed(view))
		add_part(share, write, at + 24, at + 40);
	/* The protocol stands in the upper half of a word here, in the pseudo-header in the lower. */
	if (headers->transport == at + 40 && write->at <= at + 6 && write->end > at + 6) {
		uint32_t drop = (write->end - at - 7) * 8;

		share->before += (uint8_t)(write->before >> drop);
		share->after += (uint8_t)(write->after >> drop);
	}
}

/* Where the transports have their checksum. */
static bool transport_sum(const struct headers *headers, uint32_t *offset, bool *pseudo)
{
	*pseudo = true;
	switch (headers->protocol) {
	case 6:
		*offset = 16;
		return true;
	case 17:
		*offset = 6;
		return true;
	case 1:
		*offset = 2;
		*pseudo = false;
		return headers->ip == 4;
	case 58:
		*offset = 2;
		return headers->ip == 6;
	default:
		return false;
	}
}

static void fix_transport(const struct rewrite_view *view, const struct write *write)
{
	const struct headers *headers = &view->headers;
	struct share share = {0, 0};
	uint32_t at = headers->transport, offset;
	bool pseudo;

	if (at == 0 || !transport_sum(headers, &offset, &pseudo) || at + offset + 2 > view->here)
		return;
	if (write->end > at) {
		add_part(&share, write, at, at + offset);
		add_part(&share, write, at + offset + 2, view->ip_end);
	}
	if (pseudo && write->at < at)
		add_pseudo_header(&share, view, write);
	change_sum(view, at + offset, &share, headers->protocol == 17);
}

void rewrite_sums(const struct rewrite_view *view, uint32_t at, uint32_t width, uint64_t before,
                  uint64_t after)
{
	const struct write write = {at, at + width, before, after};
	const struct headers *headers = &view->headers;

	if (headers->ip == 0 || write.end <= headers->network)
		return;
	if (headers->ip == 4)
		fix_ipv4(view, &write);
	fix_transport(view, &write);
}
