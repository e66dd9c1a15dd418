/* SPDX-License-Identifier: BSD-3-Clause */
#include "packet/ce_mark.h"

#include "packet/checksum.h"
#include "packet/copy.h"
#include "packet/headers.h"

enum { ECN_NOT_ECT, ECN_CE = 3 };

/* The first two bytes of the header hold the codepoint: in IPv4 the lowest two bits of the second,
 * in IPv6 bits 4 and 5 of it. */
static uint32_t codepoint_shift(const struct headers *headers)
{
	return headers->ip == 4 ? 0 : 4;
}

static void write_u16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

enum ce_mark ce_mark(struct rte_mempool *pool, struct burst *burst, uint32_t i)
{
	const struct headers headers = *burst_headers(burst, i);
	struct rte_mbuf *own;
	uint16_t before, after;
	uint8_t *ip;
	uint32_t shift;

	if (headers.ip == 0)
		return CE_MARK_NOT_CAPABLE;
	shift = codepoint_shift(&headers);
	before = headers_u16(burst_frame(burst, i) + headers.network);
	if ((before >> shift & ECN_CE) == ECN_NOT_ECT)
		return CE_MARK_NOT_CAPABLE;
	if ((before >> shift & ECN_CE) == ECN_CE)
		return CE_MARK_ALREADY;
	own = burst_unshare(burst, i, pool);
	if (!own)
		return CE_MARK_NO_BUFFER;
	ip = rte_pktmbuf_mtod_offset(own, uint8_t *, headers.network);
	after = (uint16_t)(before | ECN_CE << shift);
	write_u16(ip, after);
	if (headers.ip == 4)
		write_u16(ip + 10,
		          checksum_grown(headers_u16(ip + 10), checksum_growth(before, after)));
	return CE_MARK_DONE;
}
