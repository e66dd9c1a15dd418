/* SPDX-License-Identifier: BSD-3-Clause */
#include "offline/intake.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAC_BYTES          6
#define ETHERTYPE_OFFSET   12
#define ETHERTYPE_IPV4     0x0800
#define ETHERTYPE_ARP      0x0806
#define ETHERTYPE_VLAN     0x8100
#define ETHERTYPE_IPV6     0x86dd
#define ETHERTYPE_QINQ     0x88a8
#define ETHERTYPE_QINQ_OLD 0x9100
#define VLAN_TAGS_MAX      4
#define EXTENSIONS_MAX     8

static int parse_mac(const char *text, struct split *split)
{
	unsigned byte[MAC_BYTES];
	int end = 0;

	if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &byte[0], &byte[1], &byte[2], &byte[3],
	           &byte[4], &byte[5], &end) != MAC_BYTES ||
	    text[end] != '\0')
		return -EINVAL;
	for (int i = 0; i < MAC_BYTES; i++)
		split->mac[i] = (uint8_t)byte[i];
	split->mac_known = true;
	return 0;
}

/* Parses a decimal number that takes up the whole text. */
static int parse_number(const char *text, unsigned long max, unsigned long *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	*number = strtoul(text, &end, 10);
	return *end != '\0' || errno || *number > max ? -EINVAL : 0;
}

static int parse_ip(const char *text, struct split *split)
{
	char address[INET6_ADDRSTRLEN];
	const char *slash = strchr(text, '/');
	size_t length = slash ? (size_t)(slash - text) : strlen(text);
	unsigned long bits;

	if (length >= sizeof(address))
		return -EINVAL;
	memcpy(address, text, length);
	address[length] = '\0';
	if (inet_pton(AF_INET, address, split->address) == 1)
		split->address_bytes = 4;
	else if (inet_pton(AF_INET6, address, split->address) == 1)
		split->address_bytes = 16;
	else
		return -EINVAL;
	bits = split->address_bytes * 8ul;
	if (slash && parse_number(slash + 1, bits, &bits))
		return -EINVAL;
	split->prefix_bits = (uint8_t)bits;
	return 0;
}

static int parse_port(const char *text, struct split *split)
{
	unsigned long port;

	if (parse_number(text, UINT16_MAX, &port))
		return -EINVAL;
	split->port = (uint16_t)port;
	return 0;
}

int split_parse(const char *rule, struct split *split, struct problem *problem)
{
	static const struct {
		const char *start;
		enum split_kind kind;
		int (*parse)(const char *text, struct split *split);
		const char *right;
	} rules[] = {
	        {"mac=", SPLIT_MAC, parse_mac, "mac=02:00:00:00:00:0a"},
	        {"ip=", SPLIT_IP, parse_ip, "ip=10.0.0.1, ip=10.0.0.0/24 or ip=2001:db8::/32"},
	        {"port=", SPLIT_PORT, parse_port, "port=5201, from 0 to 65535"},
	};

	memset(split, 0, sizeof(*split));
	if (strcmp(rule, "first") == 0) {
		split->kind = SPLIT_FIRST;
		return 0;
	}
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		size_t length = strlen(rules[i].start);

		if (strncmp(rule, rules[i].start, length) != 0)
			continue;
		split->kind = rules[i].kind;
		if (rules[i].parse(rule + length, split) == 0)
			return 0;
		return problem_set(
		        problem, -1,
		        "the split rule \"%s\" is not understood; write, for example, %s", rule,
		        rules[i].right);
	}
	return problem_set(
	        problem, -1,
	        "the split rule \"%s\" is unknown; use mac=ADDRESS, ip=ADDRESS[/LENGTH], "
	        "port=NUMBER or first",
	        rule);
}

static uint16_t read_be16(const uint8_t *data)
{
	return (uint16_t)(data[0] << 8 | data[1]);
}

/* Returns the type of what follows Ethernet and its VLAN tags, and its offset, which is at most
 * `bytes`. */
static uint16_t network_type(const uint8_t *data, uint32_t bytes, uint32_t *offset)
{
	uint32_t at = ETHERTYPE_OFFSET;

	for (int tags = 0; at + 2 <= bytes; tags++) {
		uint16_t type = read_be16(data + at);

		if (tags == VLAN_TAGS_MAX || (type != ETHERTYPE_VLAN && type != ETHERTYPE_QINQ &&
		                              type != ETHERTYPE_QINQ_OLD)) {
			*offset = at + 2;
			return type;
		}
		at += 4;
	}
	*offset = bytes;
	return 0;
}

static bool prefix_matches(const struct split *split, const uint8_t *address)
{
	uint32_t whole = split->prefix_bits / 8, rest = split->prefix_bits % 8;

	if (memcmp(split->address, address, whole) != 0)
		return false;
	return rest == 0 || ((split->address[whole] ^ address[whole]) >> (8 - rest)) == 0;
}

static bool ip_matches(const struct split *split, const uint8_t *data, uint32_t bytes)
{
	uint32_t at, source, length = 4;

	switch (network_type(data, bytes, &at)) {
	case ETHERTYPE_IPV4:
		source = 12;
		break;
	case ETHERTYPE_ARP:
		source = 14;
		break;
	case ETHERTYPE_IPV6:
		source = 8;
		length = 16;
		break;
	default:
		return false;
	}
	return length == split->address_bytes && at + source + length <= bytes &&
	       prefix_matches(split, data + at + source);
}

static bool has_ports(uint8_t protocol)
{
	return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || protocol == IPPROTO_UDPLITE ||
	       protocol == IPPROTO_DCCP || protocol == IPPROTO_SCTP;
}

/* Returns the offset of the transport header and its protocol, or 0 if there is no such header, or
 * if it was not captured. */
static uint32_t ipv4_transport(const uint8_t *data, uint32_t bytes, uint32_t at, uint8_t *protocol)
{
	uint32_t header;

	if (at + 20 > bytes || (read_be16(data + at + 6) & 0x1fff) != 0)
		return 0;
	header = (data[at] & 0x0fu) * 4;
	*protocol = data[at + 9];
	return header < 20 ? 0 : at + header;
}

static uint32_t ipv6_transport(const uint8_t *data, uint32_t bytes, uint32_t at, uint8_t *protocol)
{
	if (at + 40 > bytes)
		return 0;
	*protocol = data[at + 6];
	at += 40;
	for (int i = 0; i < EXTENSIONS_MAX && at + 8 <= bytes; i++) {
		switch (*protocol) {
		case IPPROTO_FRAGMENT:
			if ((read_be16(data + at + 2) & 0xfff8) != 0)
				return 0;
			*protocol = data[at];
			at += 8;
			break;
		case IPPROTO_HOPOPTS:
		case IPPROTO_ROUTING:
		case IPPROTO_DSTOPTS:
			*protocol = data[at];
			at += (data[at + 1] + 1u) * 8;
			break;
		default:
			return at;
		}
	}
	return at;
}

static bool port_matches(const struct split *split, const uint8_t *data, uint32_t bytes)
{
	uint32_t network, at = 0;
	uint8_t protocol = 0;

	switch (network_type(data, bytes, &network)) {
	case ETHERTYPE_IPV4:
		at = ipv4_transport(data, bytes, network, &protocol);
		break;
	case ETHERTYPE_IPV6:
		at = ipv6_transport(data, bytes, network, &protocol);
		break;
	}
	return at > 0 && has_ports(protocol) && at + 2 <= bytes &&
	       read_be16(data + at) == split->port;
}

bool split_matches_sender(struct split *split, const uint8_t mac[MAC_BYTES])
{
	if (!split->mac_known) {
		memcpy(split->mac, mac, MAC_BYTES);
		split->mac_known = true;
	}
	return memcmp(split->mac, mac, MAC_BYTES) == 0;
}

bool split_matches(struct split *split, const uint8_t *data, uint32_t bytes)
{
	switch (split->kind) {
	case SPLIT_IP:
		return ip_matches(split, data, bytes);
	case SPLIT_PORT:
		return port_matches(split, data, bytes);
	case SPLIT_FIRST:
	case SPLIT_MAC:
		break;
	}
	if (bytes < 2 * MAC_BYTES)
		return false;
	return split_matches_sender(split, data + MAC_BYTES);
}
