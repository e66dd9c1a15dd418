/* SPDX-License-Identifier: BSD-3-Clause */
#include "match/packet_key.h"

#include <string.h>

#include "packet/headers.h"

#define TYPE_IPV4           0x0800
#define TYPE_ARP            0x0806
#define TYPE_RARP           0x8035
#define TYPE_MPLS           0x8847
#define TYPE_MPLS_MULTICAST 0x8848

#define ETHERNET_BYTES 14
#define TAG_BYTES      4

/* ARP for Ethernet and IPv4. */
#define ARP_BYTES  28
#define ARP_SENDER 14
#define ARP_TARGET 24

#define PROTOCOL_TCP  6
#define PROTOCOL_UDP  17
#define PROTOCOL_SCTP 132

static bool protocol_has_ports(uint8_t protocol)
{
	return protocol == PROTOCOL_TCP || protocol == PROTOCOL_UDP || protocol == PROTOCOL_SCTP;
}

static void read_ports(const uint8_t *transport, struct packet_key *key)
{
	key->source_port = headers_u16(transport);
	key->destination_port = headers_u16(transport + 2);
	key->has_ports = 1;
}

/* Reads what follows Ethernet and the tags if it is not IP. */
static void read_other(const uint8_t *data, uint32_t bytes, const struct headers *headers,
                       struct packet_key *key)
{
	uint32_t at = ETHERNET_BYTES + TAG_BYTES * (uint32_t)headers->n_tags;
	const uint8_t *here = data + at;

	if ((headers->ethertype == TYPE_ARP || headers->ethertype == TYPE_RARP) &&
	    bytes >= at + ARP_BYTES && headers_u16(here + 2) == TYPE_IPV4 && here[5] == 4) {
		key->family = 4;
		memcpy(key->source, here + ARP_SENDER, 4);
		memcpy(key->destination, here + ARP_TARGET, 4);
	}
	if ((headers->ethertype == TYPE_MPLS || headers->ethertype == TYPE_MPLS_MULTICAST) &&
	    bytes >= at + 4)
		key->label = KEY_LABEL_THERE | headers_u32(here) >> 12;
}

static void read_ip(const uint8_t *data, const struct headers *headers, struct packet_key *key)
{
	const uint8_t *ip = data + headers->network;

	key->family = headers->ip;
	key->is_ip = 1;
	key->protocol = headers->protocol;
	if (headers->ip == 4) {
		key->dscp = (uint8_t)(KEY_DSCP_THERE | ip[1] >> 2);
		memcpy(key->source, ip + 12, 4);
		memcpy(key->destination, ip + 16, 4);
	} else {
		key->dscp = (uint8_t)(KEY_DSCP_THERE | (headers_u16(ip) >> 6 & 0x3f));
		memcpy(key->source, ip + 8, 16);
		memcpy(key->destination, ip + 24, 16);
	}
	if (headers->transport && headers->transport_here >= 4 &&
	    protocol_has_ports(headers->protocol))
		read_ports(data + headers->transport, key);
}

static void read(const uint8_t *data, uint32_t bytes, const struct headers *headers,
                 struct packet_key *key)
{
	memset(key, 0, sizeof(*key));
	key->ethertype = headers->ethertype;
	for (uint32_t i = 0; unlikely(i < headers->n_tags) && i < 2; i++)
		key->tag[i] = KEY_TAG_THERE | headers->tag[i];
	if (likely(headers->ip != 0))
		read_ip(data, headers, key);
	else
		read_other(data, bytes, headers, key);
}

void packet_key_of(const uint8_t *data, uint32_t bytes, uint32_t whole_bytes,
                   struct packet_key *key)
{
	struct headers headers;

	headers_find(data, bytes, whole_bytes, &headers);
	read(data, bytes, &headers, key);
}

void packet_key_read(struct burst *burst, uint32_t i, struct packet_key *key)
{
	read(burst_frame(burst, i), burst->mbuf[i]->data_len, burst_headers(burst, i), key);
}
