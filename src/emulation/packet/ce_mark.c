/* SPDX-License-Identifier: BSD-3-Clause */
#include "packet/ce_mark.h"

#include "packet/checksum.h"
#include "packet/headers.h"

int ce_codepoint(const struct packet_bytes *frame, struct ce_place *place)
{
	struct headers headers;

	if (!headers_find(frame->data, frame->bytes, frame->wire_bytes, &headers))
		return -1;
	place->at = frame->data + headers.network;
	place->version = headers.ip;
	return (headers.ip == 4 ? place->at[1] : place->at[1] >> 4) & CE_CODEPOINT;
}

void ce_set(const struct ce_place *place)
{
	uint8_t *ip = place->at;
	uint16_t before, sum;

	if (place->version == 6) {
		ip[1] |= CE_CODEPOINT << 4;
		return;
	}
	before = headers_u16(ip);
	ip[1] |= CE_CODEPOINT;
	sum = checksum_grown(headers_u16(ip + 10), checksum_growth(before, headers_u16(ip)));
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

enum ce_mark ce_mark(struct rte_mempool *pool, struct burst *burst, uint32_t i)
{
	struct packet_bytes frame = packet_bytes_of(burst, i);
	struct ce_place place;
	int codepoint = ce_codepoint(&frame, &place);

	if (codepoint <= 0)
		return CE_MARK_NOT_CAPABLE;
	if (codepoint == CE_CODEPOINT)
		return CE_MARK_ALREADY;
	if (!burst_unshare(burst, i, pool))
		return CE_MARK_NO_BUFFER;
	frame = packet_bytes_of(burst, i);
	ce_codepoint(&frame, &place);
	ce_set(&place);
	return CE_MARK_DONE;
}
