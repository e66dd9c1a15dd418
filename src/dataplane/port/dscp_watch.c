/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/dscp_watch.h"

#define DSCP_MASK 0xfc

uint8_t dscp_of(const uint8_t *frame, const struct headers *headers)
{
	const uint8_t *ip = frame + headers->network;

	return (headers->ip == 6 ? (uint8_t)(headers_u16(ip) >> 4) : ip[1]) & DSCP_MASK;
}

static uint32_t mix(uint32_t hash, uint32_t word)
{
	hash = (hash ^ word) * 0x9e3779b1u;
	return hash ^ hash >> 15;
}

static uint32_t flow_of(const uint8_t *frame, const struct headers *headers)
{
	const uint8_t *ip = frame + headers->network;
	uint32_t from = headers->ip == 6 ? 8 : 12, bytes = headers->ip == 6 ? 32 : 8;
	uint32_t hash = headers_u32(frame + headers->transport);

	for (uint32_t i = 0; i < bytes; i += 4)
		hash = mix(hash, headers_u32(ip + from + i));
	return hash ? hash : 1;
}

bool dscp_watch_changes(struct dscp_watch *watch, const uint8_t *frame,
                        const struct headers *headers)
{
	uint32_t flow = flow_of(frame, headers), place = flow % DSCP_WATCH_FLOWS;
	uint8_t dscp = dscp_of(frame, headers);

	if (watch->last[place].flow == flow && watch->last[place].dscp == dscp)
		return false;
	watch->last[place].flow = flow;
	watch->last[place].dscp = dscp;
	return true;
}

void dscp_watch_forget(struct dscp_watch *watch, const uint8_t *frame,
                       const struct headers *headers)
{
	watch->last[flow_of(frame, headers) % DSCP_WATCH_FLOWS].flow = 0;
}
