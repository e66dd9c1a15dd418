/* SPDX-License-Identifier: BSD-3-Clause */
#include "frame.h"

#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

static void put_u16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static void put_u32(uint8_t *at, uint32_t value)
{
	put_u16(at, value >> 16);
	put_u16(at + 2, value);
}

static uint32_t get_u16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

uint32_t frame_network(const struct frame_shape *shape)
{
	return 14 + 4u * shape->n_tags;
}

uint32_t frame_transport(const struct frame_shape *shape)
{
	uint32_t at = frame_network(shape);

	if (shape->ip == 4)
		return at + 20 + 4u * shape->option_words;
	return at + 40 + 8u * shape->n_extensions + (shape->fragment ? 8u : 0);
}

static uint32_t transport_bytes(uint8_t protocol)
{
	return protocol == FRAME_TCP ? 20 : 8;
}

static uint32_t sum_offset(uint8_t protocol)
{
	return protocol == FRAME_TCP ? 16 : protocol == FRAME_UDP ? 6 : 2;
}

/* Returns the ones' complement sum over the pseudo-header and the transport part as they are,
 * checksum included: 0xffff if the checksum is right. */
static uint16_t transport_sum(const uint8_t *frame, const struct frame_shape *shape, uint32_t bytes)
{
	const uint8_t *ip = frame + frame_network(shape);
	uint8_t pseudo[40] = {0};
	uint32_t sum = 0, n = 0;

	if (shape->ip == 4) {
		memcpy(pseudo, ip + 12, 8);
		pseudo[9] = shape->protocol;
		put_u16(pseudo + 10, bytes);
		n = 12;
	} else {
		memcpy(pseudo, ip + 8, 32);
		put_u32(pseudo + 32, bytes);
		pseudo[39] = shape->protocol;
		n = 40;
	}
	if (shape->protocol != FRAME_ICMP)
		sum = rte_raw_cksum(pseudo, n);
	sum += rte_raw_cksum(frame + frame_transport(shape), bytes);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

static void make_transport(uint8_t *frame, const struct frame_shape *shape, uint32_t bytes)
{
	uint8_t *at = frame + frame_transport(shape);
	uint16_t sum;

	if (shape->protocol == FRAME_TCP || shape->protocol == FRAME_UDP) {
		put_u16(at, shape->source_port ? shape->source_port : 1000);
		put_u16(at + 2, 80);
	} else {
		at[0] = shape->ip == 4 ? 8 : 128; /* echo request */
	}
	if (shape->protocol == FRAME_TCP) {
		put_u32(at + 4, shape->sequence);
		at[12] = 5 << 4;
		at[13] = shape->syn ? 0x02 : 0x10;
	} else if (shape->protocol == FRAME_UDP) {
		put_u16(at + 4, bytes);
	}
	if (shape->no_sum)
		return;
	sum = (uint16_t)~transport_sum(frame, shape, bytes);
	if (sum == 0 && shape->protocol == FRAME_UDP)
		sum = 0xffff;
	memcpy(at + sum_offset(shape->protocol), &sum, 2);
}

static void make_ipv4(uint8_t *ip, const struct frame_shape *shape, uint32_t bytes)
{
	uint32_t header_bytes = 20 + 4u * shape->option_words;
	uint16_t sum;

	ip[0] = (uint8_t)(0x40 | header_bytes / 4);
	put_u16(ip + 2, header_bytes + bytes);
	put_u16(ip + 6, shape->fragment);
	ip[8] = 64;
	ip[9] = shape->protocol;
	memcpy(ip + 12, (const uint8_t[]){192, 0, 2, shape->host, 198, 51, 100, 7}, 8);
	memset(ip + 20, 1, header_bytes - 20);
	sum = (uint16_t)~rte_raw_cksum(ip, header_bytes);
	memcpy(ip + 10, &sum, 2);
}

static void make_ipv6(uint8_t *ip, const struct frame_shape *shape, uint32_t bytes)
{
	static const uint8_t extensions[] = {0, 43, 60};
	uint32_t n = shape->n_extensions;
	uint8_t *at = ip + 40, *next = &ip[6];

	ip[0] = 0x60;
	put_u16(ip + 4, 8 * n + (shape->fragment ? 8 : 0) + bytes);
	ip[7] = 64;
	memcpy(ip + 8, (const uint8_t[]){0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
	       16);
	memcpy(ip + 24, ip + 8, 16);
	ip[23] = shape->host;
	for (uint32_t i = 0; i < n; i++) {
		*next = extensions[i % 3];
		next = at;
		at += 8;
	}
	if (shape->fragment) {
		*next = 44;
		next = at;
		put_u16(at + 2, (uint32_t)shape->fragment << 3);
	}
	*next = shape->protocol;
}

uint32_t frame_make(uint8_t *frame, const struct frame_shape *shape)
{
	const uint32_t payload_bytes = shape->payload_bytes, sequence = shape->sequence;
	uint32_t transport = frame_transport(shape), at = 12;
	uint32_t bytes = payload_bytes + (shape->fragment ? 0 : transport_bytes(shape->protocol));
	uint8_t *payload = frame + transport + bytes - payload_bytes;

	memset(frame, 0, transport + bytes + shape->padding_bytes);
	memcpy(frame, (const uint8_t[]){2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2}, 12);
	for (uint32_t i = 0; i < shape->n_tags; i++, at += 4) {
		put_u16(frame + at, i == 0 && shape->n_tags > 1 ? 0x88a8 : 0x8100);
		put_u16(frame + at + 2, 0x6000 | (100 + i));
	}
	put_u16(frame + at, shape->ip == 4 ? 0x0800 : 0x86dd);
	for (uint32_t i = 0; i < payload_bytes; i++)
		payload[i] = (uint8_t)((payload_bytes - 1 - i) * 7 + sequence);
	memset(frame + transport + bytes, 0xee, shape->padding_bytes);
	if (shape->ip == 4)
		make_ipv4(frame + at + 2, shape, bytes);
	else
		make_ipv6(frame + at + 2, shape, bytes);
	if (!shape->fragment)
		make_transport(frame, shape, bytes);
	return transport + bytes + shape->padding_bytes;
}

uint32_t frame_wrong_sums(const uint8_t *frame, const struct frame_shape *shape)
{
	const uint8_t *ip = frame + frame_network(shape);
	const uint8_t *transport = frame + frame_transport(shape);
	uint32_t wrong = 0;

	if (shape->ip == 4 && rte_raw_cksum(ip, 20 + 4u * shape->option_words) != 0xffff)
		wrong |= 1;
	if (shape->fragment || get_u16(transport + sum_offset(shape->protocol)) == 0)
		return wrong;
	if (transport_sum(frame, shape, shape->payload_bytes + transport_bytes(shape->protocol)) !=
	    0xffff)
		wrong |= 2;
	return wrong;
}
