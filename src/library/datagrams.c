/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP datagrams into a network and out of it (weir.h): frames are made and read here. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "library/network.h"
#include "packet/checksum.h"

#define ETHERNET_BYTES 14u
#define IPV4_BYTES     20u
#define IPV6_BYTES     40u
#define UDP_BYTES      8u
#define PROTOCOL_UDP   17u
#define TTL_DEFAULT    64u
#define TAGS_MOST      4u
#define FRAME_MOST     (ETHERNET_BYTES + IPV6_BYTES + UDP_BYTES + WEIR_PAYLOAD_MAX_IPV6)

static uint16_t get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static void put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* Returns the sum of the 16-bit words of some bytes; an odd last one is followed by a 0. */
static uint64_t sum_of(const uint8_t *at, uint32_t bytes)
{
	uint64_t sum = 0;
	uint32_t word;

	for (; bytes >= sizeof(word); at += sizeof(word), bytes -= (uint32_t)sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		sum += word;
	}
	if (bytes > 0) {
		word = 0;
		memcpy(&word, at, bytes);
		sum += word;
	}
	/* The words were read in the order of this machine, little-endian: so is their sum. */
	return __builtin_bswap16((uint16_t)checksum_fold(sum));
}

/* Returns the sum over the UDP header, the payload and the pseudo-header; `addresses` points at
 * both addresses, one behind the other. */
static uint32_t udp_sum(const uint8_t *addresses, uint32_t address_bytes, const uint8_t *udp,
                        uint32_t bytes)
{
	return checksum_fold(sum_of(addresses, 2 * address_bytes) + PROTOCOL_UDP + bytes +
	                     sum_of(udp, bytes));
}

/* ---- in ---- */

static int check_datagram(const struct weir_datagram *datagram)
{
	const uint16_t family = datagram->from.family;

	if ((family != WEIR_IPV4 && family != WEIR_IPV6) || family != datagram->to.family)
		return -EAFNOSUPPORT;
	if (datagram->ecn > 3 || datagram->dscp > 63)
		return -EINVAL;
	if (datagram->bytes > (family == WEIR_IPV4 ? WEIR_PAYLOAD_MAX_IPV4 : WEIR_PAYLOAD_MAX_IPV6))
		return -EMSGSIZE;
	return 0;
}

/* Writes a MAC address that follows from an IP address: locally administered, and its last bytes
 * are those of the IP address. */
static void put_mac(uint8_t *at, const struct weir_address *address)
{
	at[0] = 0x02;
	if (address->family == WEIR_IPV4) {
		at[1] = 0;
		memcpy(at + 2, address->bytes, 4);
	} else {
		memcpy(at + 1, address->bytes + 11, 5);
	}
}

/* Writes the IP header, and returns its length. */
static uint32_t put_ip(uint8_t *ip, const struct weir_datagram *datagram)
{
	const uint8_t class = (uint8_t)(datagram->dscp << 2 | datagram->ecn);
	const uint8_t ttl = datagram->ttl ? datagram->ttl : TTL_DEFAULT;
	const uint32_t udp_bytes = UDP_BYTES + datagram->bytes;

	if (datagram->from.family == WEIR_IPV6) {
		put16(ip, 0x6000u | (uint32_t) class << 4);
		put16(ip + 2, 0);
		put16(ip + 4, udp_bytes);
		ip[6] = PROTOCOL_UDP;
		ip[7] = ttl;
		memcpy(ip + 8, datagram->from.bytes, 16);
		memcpy(ip + 24, datagram->to.bytes, 16);
		return IPV6_BYTES;
	}
	memset(ip, 0, IPV4_BYTES);
	ip[0] = 0x45;
	ip[1] = class;
	put16(ip + 2, IPV4_BYTES + udp_bytes);
	ip[6] = 0x40; /* don't fragment */
	ip[8] = ttl;
	ip[9] = PROTOCOL_UDP;
	memcpy(ip + 12, datagram->from.bytes, 4);
	memcpy(ip + 16, datagram->to.bytes, 4);
	put16(ip + 10, ~checksum_fold(sum_of(ip, IPV4_BYTES)));
	return IPV4_BYTES;
}

/* Writes the frame, and returns its length. */
static uint32_t put_datagram(uint8_t *frame, const struct weir_datagram *datagram)
{
	const bool ipv6 = datagram->from.family == WEIR_IPV6;
	uint8_t *ip = frame + ETHERNET_BYTES, *udp;
	const uint32_t bytes = UDP_BYTES + datagram->bytes;
	uint32_t sum;

	put_mac(frame, &datagram->to);
	put_mac(frame + 6, &datagram->from);
	put16(frame + 12, ipv6 ? 0x86dd : 0x0800);
	udp = ip + put_ip(ip, datagram);
	put16(udp, datagram->from.port);
	put16(udp + 2, datagram->to.port);
	put16(udp + 4, bytes);
	put16(udp + 6, 0);
	if (datagram->bytes > 0)
		memcpy(udp + UDP_BYTES, datagram->payload, datagram->bytes);
	sum = ~udp_sum(ip + (ipv6 ? 8 : 12), ipv6 ? 16 : 4, udp, bytes) & 0xffff;
	put16(udp + 6, sum ? sum : 0xffff);
	return (uint32_t)(udp - frame) + bytes;
}

int weir_udp_send(struct weir *net, const struct weir_datagram *datagrams, uint32_t n)
{
	uint32_t i;

	if (net->datagram == NULL && (net->datagram = malloc(FRAME_MOST)) == NULL)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		const struct weir_datagram *datagram = &datagrams[i];
		int error = check_datagram(datagram);

		if (error == 0)
			error = weir_send(net, datagram->t_ns, datagram->port, net->datagram,
			                  put_datagram(net->datagram, datagram));
		if (error < 0)
			return i > 0 ? (int)i : error;
	}
	return (int)i;
}

/* ---- out ---- */

/* Reads the IP header at `ip`, of which `bytes` are there. Returns the UDP datagram behind it, and
 * its bytes; NULL if there is none that a host would pass on. */
static const uint8_t *read_ipv4(const uint8_t *ip, uint32_t *bytes, struct weir_datagram *datagram)
{
	uint32_t header, total;

	if (*bytes < IPV4_BYTES || ip[0] >> 4 != 4)
		return NULL;
	header = (ip[0] & 15u) * 4;
	total = get16(ip + 2);
	if (header < IPV4_BYTES || total < header + UDP_BYTES || total > *bytes ||
	    ip[9] != PROTOCOL_UDP || (get16(ip + 6) & 0x3fff) != 0 ||
	    checksum_fold(sum_of(ip, header)) != 0xffff)
		return NULL;
	datagram->from.family = datagram->to.family = WEIR_IPV4;
	memcpy(datagram->from.bytes, ip + 12, 4);
	memcpy(datagram->to.bytes, ip + 16, 4);
	datagram->ecn = ip[1] & 3;
	datagram->dscp = ip[1] >> 2;
	datagram->ttl = ip[8];
	*bytes = total - header;
	return ip + header;
}

static const uint8_t *read_ipv6(const uint8_t *ip, uint32_t *bytes, struct weir_datagram *datagram)
{
	uint32_t class;

	if (*bytes < IPV6_BYTES + UDP_BYTES || ip[0] >> 4 != 6 || ip[6] != PROTOCOL_UDP ||
	    get16(ip + 4) < UDP_BYTES || get16(ip + 4) > *bytes - IPV6_BYTES)
		return NULL;
	class = get16(ip) >> 4 & 0xff;
	datagram->from.family = datagram->to.family = WEIR_IPV6;
	memcpy(datagram->from.bytes, ip + 8, 16);
	memcpy(datagram->to.bytes, ip + 24, 16);
	datagram->ecn = class & 3;
	datagram->dscp = (uint8_t)(class >> 2);
	datagram->ttl = ip[7];
	*bytes = get16(ip + 4);
	return ip + IPV6_BYTES;
}

/* Reads a frame. Returns false if it is no datagram that a host would pass on. */
static bool read_datagram(const struct weir_frame *frame, struct weir_datagram *datagram)
{
	const uint8_t *at = frame->data, *end = at + frame->bytes, *udp;
	uint32_t bytes, length;
	uint16_t type;

	memset(datagram, 0, sizeof(*datagram));
	at += ETHERNET_BYTES;
	if (at > end)
		return false;
	type = get16(at - 2);
	for (uint32_t i = 0; i < TAGS_MOST && (type == 0x8100 || type == 0x88a8); i++) {
		at += 4;
		if (at > end)
			return false;
		type = get16(at - 2);
	}
	bytes = (uint32_t)(end - at);
	if (type == 0x0800)
		udp = read_ipv4(at, &bytes, datagram);
	else
		udp = type == 0x86dd ? read_ipv6(at, &bytes, datagram) : NULL;
	if (udp == NULL)
		return false;
	length = get16(udp + 4);
	if (length < UDP_BYTES || length > bytes)
		return false;
	/* IPv4 may have no checksum: it is 0 then. */
	if ((datagram->from.family == WEIR_IPV6 || get16(udp + 6) != 0) &&
	    udp_sum(at + (datagram->from.family == WEIR_IPV6 ? 8 : 12),
	            datagram->from.family == WEIR_IPV6 ? 16 : 4, udp, length) != 0xffff)
		return false;
	datagram->from.port = get16(udp);
	datagram->to.port = get16(udp + 2);
	datagram->t_ns = frame->t_ns;
	datagram->port = frame->port;
	datagram->bytes = length - UDP_BYTES;
	datagram->payload = udp + UDP_BYTES;
	return true;
}

int weir_udp_receive(struct weir *net, int64_t until_ns, struct weir_datagram *datagrams,
                     uint32_t n)
{
	struct weir_frame frames[WEIR_BATCH_MAX];
	int received;

	/* A batch may consist of other frames only, and 0 would say that nothing is left. */
	while ((received = weir_receive(net, until_ns, frames, n)) > 0) {
		int taken = 0;

		for (int i = 0; i < received; i++)
			taken += read_datagram(&frames[i], &datagrams[taken]);
		net->skipped += (uint64_t)(received - taken);
		if (taken > 0)
			return taken;
	}
	return received;
}

uint64_t weir_udp_skipped(const struct weir *net)
{
	return net->skipped;
}
