/* SPDX-License-Identifier: BSD-3-Clause */
#include "header/sirens.h"

#include "packet/copy.h"
#include "engine/cloud.h"
#include "header/feedback_header.h"
#include "header/meter.h"
#include "header/oq_header.h"
#include "packet/checksum.h"
#include "router/hop.h"

/* Returns the offset of the option in the frame; 0 if there is none. */
static uint32_t find_option(const struct headers *headers, const uint8_t *frame)
{
	uint32_t at = headers->network + 20;
	uint32_t end = headers->network + (frame[headers->network] & 0xfu) * 4;

	while (at < end && frame[at] != 0) {
		if (frame[at] == SIRENS_OPTION)
			return at;
		if (frame[at] == 1) {
			at++;
			continue;
		}
		if (at + 1 >= end || frame[at + 1] < 2)
			return 0;
		at += frame[at + 1];
	}
	return 0;
}

static bool is_malformed(const struct headers *headers, const uint8_t *frame, uint32_t at)
{
	uint32_t end = headers->network + (frame[headers->network] & 0xfu) * 4;
	const uint8_t *option = frame + at;

	return at + SIRENS_BYTES > end || option[SIRENS_LENGTH] < SIRENS_BYTES ||
	       at + option[SIRENS_LENGTH] > end ||
	       option[SIRENS_LENGTH] % SIRENS_ANSWER_BYTES != 0 ||
	       option[SIRENS_RES_LEN] != option[SIRENS_LENGTH] - SIRENS_BYTES ||
	       option[SIRENS_REQ_MODE] >= OQ_MODES || option[SIRENS_REQ_PROBE] >= SIRENS_PROBES ||
	       option[SIRENS_RES_PROBE] >= SIRENS_PROBES;
}

static uint64_t congestion_drops(const struct counters *counters)
{
	uint64_t sum = counters->drops[REASON_POLICE];

	for (int i = 0; i < REASON_COUNT; i++)
		sum += reason_kind((enum reason)i) == REASON_CONGESTION ? counters->drops[i] : 0;
	return sum;
}

/* Returns the router's value for this probe. */
static uint32_t answer(const struct cloud *cloud, uint8_t probe)
{
	const struct meter *meter = meter_of(cloud->watch);
	const struct counters *counters = &cloud->counters;
	uint64_t rate = cloud->link.shaper.rate_bps;

	switch ((enum sirens_probe)probe) {
	case SIRENS_LINK:
		return rate ? oq_number(rate / 1000) : OQ_MOST;
	case SIRENS_OBYTES:
		return (uint32_t)meter->left_bytes_ever;
	case SIRENS_IBYTES:
		return (uint32_t)counters->rx_bytes;
	case SIRENS_DROPS:
		return (uint32_t)congestion_drops(counters);
	case SIRENS_ERRORS:
		return (uint32_t)(counters->drops[REASON_LOSS] + counters->corrupted);
	case SIRENS_QMAX:
		return oq_number(feedback_queue_limit(cloud));
	case SIRENS_QLEN:
		return oq_number(link_queue_packets(&cloud->link));
	case SIRENS_MTU:
		return hop_mtu(cloud);
	case SIRENS_NONE:
	case SIRENS_PROBES:
		break;
	}
	return OQ_NOBODY;
}

/* Replaces four bytes of the IPv4 header. Its checksum stays right, or wrong, as it was. */
static void write_word(uint8_t *ip, uint32_t offset, uint32_t number)
{
	uint32_t before = headers_u32(ip + offset);
	uint32_t growth =
	        offset & 1 ? checksum_growth_odd(before, number) : checksum_growth(before, number);
	uint16_t sum = checksum_grown(headers_u16(ip + 10), growth);

	headers_put_u32(ip + offset, number);
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

void sirens_serve(struct cloud *cloud, struct burst *burst, uint16_t i)
{
	const struct headers headers = *burst_headers(burst, i);
	const uint8_t *frame = burst_frame(burst, i), *option;
	enum oq_mode mode;
	uint32_t at, mine;

	if (headers.ip != 4)
		return;
	at = find_option(&headers, frame);
	if (likely(at == 0))
		return;
	if (is_malformed(&headers, frame, at)) {
		cloud->counters.feedback_malformed++;
		return;
	}
	option = frame + at;
	mode = (enum oq_mode)option[SIRENS_REQ_MODE];
	if (mode == OQ_NO_MODE || option[SIRENS_REQ_PROBE] == SIRENS_NONE ||
	    (mode == OQ_TTL && option[SIRENS_REQ_TTL] != oq_ttl(&headers, frame)))
		return;
	mine = oq_merge(mode, headers_u32(option + SIRENS_REQUEST),
	                answer(cloud, option[SIRENS_REQ_PROBE]));
	if (unlikely(!cloud_writable(cloud, burst, i)))
		return;
	write_word(burst_frame(burst, i) + headers.network, at - headers.network + SIRENS_REQUEST,
	           mine);
	cloud->counters.feedback_written++;
}
