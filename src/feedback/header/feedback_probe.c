/* SPDX-License-Identifier: BSD-3-Clause */
#include "header/feedback_probe.h"

#include <string.h>

#include "packet/checksum.h"

#define ETHERNET_BYTES 14
#define ETHERNET_LEAST 60
#define IPV4_BYTES     20
#define IPV6_BYTES     40

static const uint8_t from_v4[4] = {198, 18, 0, 1}, to_v4[4] = {198, 18, 0, 2};
static const uint8_t from_v6[16] = {0x20, 1, 0, 2, [15] = 1}, to_v6[16] = {0x20, 1, 0, 2, [15] = 2};
/* Locally administered, and of no host. */
static const uint8_t addresses[12] = {2, 0, 0, 0, 0, 0, 2};

static void write_ipv4(uint8_t *ip, uint8_t protocol, uint8_t ttl, const uint8_t *to)
{
	uint64_t sum = 0;

	ip[0] = 0x45;
	ip[3] = IPV4_BYTES + OQ_BYTES;
	ip[8] = ttl;
	ip[9] = protocol;
	memcpy(ip + 12, from_v4, 4);
	memcpy(ip + 16, to, 4);
	for (uint32_t i = 0; i < IPV4_BYTES; i += 2)
		sum += headers_u16(ip + i);
	sum = ~checksum_fold(sum);
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

static void write_ipv6(uint8_t *ip, uint8_t protocol, uint8_t hop_limit, const uint8_t *to)
{
	ip[0] = 0x60;
	ip[5] = OQ_BYTES;
	ip[6] = protocol;
	ip[7] = hop_limit;
	memcpy(ip + 8, from_v6, 16);
	memcpy(ip + 24, to, 16);
}

static void write_request(uint8_t *oq, uint8_t probe, uint8_t ttl)
{
	static const struct oq_value nobody = {{OQ_NOBODY, OQ_NOBODY}};

	oq[OQ_REQ_MODE] = OQ_TTL;
	oq[OQ_REQ_PROBE] = probe;
	oq[OQ_REQ_TTL] = ttl;
	oq[OQ_NEXT] = FEEDBACK_PROBE_NEXT;
	oq_put(oq + OQ_REQUEST, &nobody);
}

void feedback_probe_make(struct feedback_probe *probe, const struct feedback_proxy_conf *proxy,
                         bool six, const uint8_t *to)
{
	uint8_t ttl = (uint8_t)(proxy->ttl ? proxy->ttl : PROXY_TTL_DEFAULT);
	uint8_t protocol = (uint8_t)proxy->protocol;
	uint32_t ip_bytes = six ? IPV6_BYTES : IPV4_BYTES;

	memset(probe, 0, sizeof(*probe));
	probe->frame_bytes = six ? FEEDBACK_PROBE_BYTES : ETHERNET_LEAST;
	for (uint32_t hop = 0; hop < proxy->hops && hop < ttl; hop++) {
		for (uint32_t i = 0; i < OBSERVED_PROBES; i++) {
			uint8_t *frame = probe->frames + probe->n * probe->frame_bytes;
			uint8_t *ip = frame + ETHERNET_BYTES;

			if (!(proxy->probes >> i & 1))
				continue;
			memcpy(frame, addresses, sizeof(addresses));
			frame[12] = six ? 0x86 : 0x08;
			frame[13] = six ? 0xdd : 0x00;
			if (six)
				write_ipv6(ip, protocol, ttl, to ? to : to_v6);
			else
				write_ipv4(ip, protocol, ttl, to ? to : to_v4);
			write_request(ip + ip_bytes, (uint8_t)(OQ_LINK + i), (uint8_t)(ttl - hop));
			probe->n++;
		}
	}
}
