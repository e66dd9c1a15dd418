/* SPDX-License-Identifier: BSD-3-Clause */
#include "router/hop.h"

#include <string.h>

#include "packet/checksum.h"

#define MAC_BYTES    6
#define IPV4_BYTES   20
#define IPV6_BYTES   40
#define ICMP_BYTES   8
#define IPV4_MOST    576
#define IPV6_MOST    1280
#define QUENCH_DATA  8 /* behind the header */
#define TOS          0xc0
#define PROTOCOL_V4  1
#define PROTOCOL_V6  58
#define MORE         0x2000 /* of IPv4's flags: more fragments */
#define ECHO_REPLY   0
#define ECHO         8
#define ECHO_V6      128
#define ECHO_V6_SAID 129
#define REDIRECT_V6  137
#define QUENCH_V6    200

/* The types and codes of both versions; type 0: no such message. */
static const struct {
	uint8_t v4_type, v4_code, v6_type, v6_code;
} numbers[] = {
        [ICMP_TIME_EXCEEDED] = {11, 0, 3, 0},
        [ICMP_TOO_BIG] = {3, 4, 2, 0},
        [ICMP_PORT_UNREACHABLE] = {3, 3, 1, 4},
        [ICMP_SOURCE_QUENCH] = {4, 0, QUENCH_V6, 0},
};

static void put_u16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* ---- checksums ---- */

/* Returns the sum of the 16-bit words; a single last byte is the upper half of its word. */
static uint64_t sum_of(const uint8_t *at, uint32_t bytes)
{
	uint64_t sum = 0;

	for (; bytes > 1; at += 2, bytes -= 2)
		sum += headers_u16(at);
	return bytes ? sum + ((uint64_t)at[0] << 8) : sum;
}

static uint16_t checksum_of(uint64_t sum)
{
	return (uint16_t)~checksum_fold(sum);
}

bool icmp_header_is_right(const struct headers *headers, const uint8_t *frame)
{
	const uint8_t *ip = frame + headers->network;

	return checksum_fold(sum_of(ip, (ip[0] & 0xfu) * 4)) == 0xffff;
}

/* ---- when to answer ---- */

static bool is_node_v4(const uint8_t *address)
{
	/* Excludes this network, loopback, groups, reserved addresses, and the broadcast
	 * address. */
	return address[0] != 0 && address[0] != 127 && address[0] < 224;
}

static bool is_node_v6(const uint8_t *address)
{
	static const uint8_t zero[15];

	if (address[0] == 0xff)
		return false;
	return memcmp(address, zero, sizeof(zero)) != 0 || address[15] > 1; /* :: and ::1 */
}

/* Returns true if the packet may be an ICMP error, about which none is sent. */
static bool is_error(const struct headers *headers, const uint8_t *frame)
{
	uint8_t type;

	if (headers->protocol != (headers->ip == 4 ? PROTOCOL_V4 : PROTOCOL_V6))
		return false;
	if (headers->transport == 0)
		return true; /* the type is unknown */
	type = frame[headers->transport];
	if (headers->ip == 6)
		return type < ECHO_V6 || type == REDIRECT_V6 || type == QUENCH_V6;
	return type == 3 || type == 4 || type == 5 || type == 11 || type == 12;
}

bool icmp_may_tell(const struct headers *headers, const uint8_t *frame, uint32_t bytes)
{
	const uint8_t *ip = frame + headers->network;

	if (frame[0] & 1 || headers->fragment ||
	    (headers->transport && headers->transport >= bytes) || is_error(headers, frame))
		return false;
	if (headers->ip == 6)
		return is_node_v6(ip + 8) && ip[24] != 0xff;
	return is_node_v4(ip + 12) && ip[16] < 224 && icmp_header_is_right(headers, frame);
}

/* ---- writing ---- */

static void write_ethernet(uint8_t *to, const uint8_t *frame, uint32_t network)
{
	memcpy(to, frame + MAC_BYTES, MAC_BYTES);
	memcpy(to + MAC_BYTES, frame, MAC_BYTES);
	memcpy(to + 2 * MAC_BYTES, frame + 2 * MAC_BYTES, network - 2 * MAC_BYTES);
}

static void write_ipv4(uint8_t *ip, struct icmp_source *source, const uint8_t *cause,
                       uint32_t total)
{
	memset(ip, 0, IPV4_BYTES);
	ip[0] = 0x45;
	ip[1] = TOS;
	put_u16(ip + 2, total);
	put_u16(ip + 4, source->identification++);
	ip[8] = ICMP_TTL;
	ip[9] = PROTOCOL_V4;
	memcpy(ip + 12, source->v4, 4);
	memcpy(ip + 16, cause + 12, 4);
	put_u16(ip + 10, checksum_of(sum_of(ip, IPV4_BYTES)));
}

static void write_ipv6(uint8_t *ip, const struct icmp_source *source, const uint8_t *cause,
                       uint32_t total)
{
	memset(ip, 0, 8);
	ip[0] = 0x60;
	put_u16(ip + 4, total - IPV6_BYTES);
	ip[6] = PROTOCOL_V6;
	ip[7] = ICMP_TTL;
	memcpy(ip + 8, source->v6, 16);
	memcpy(ip + 24, cause + 8, 16);
}

bool icmp_has_v6(const struct icmp_source *source)
{
	static const uint8_t none[16];

	return memcmp(source->v6, none, sizeof(none)) != 0;
}

bool icmp_can_tell(const struct icmp_source *source, enum icmp_error error,
                   const struct headers *headers)
{
	return headers->ip == 4 || (numbers[error].v6_type != 0 && icmp_has_v6(source));
}

/* Returns the most bytes of the packet that are quoted. */
static uint32_t quoted_most(enum icmp_error error, const struct headers *headers,
                            const uint8_t *cause)
{
	if (error == ICMP_SOURCE_QUENCH)
		return (headers->ip == 6 ? IPV6_BYTES : (cause[0] & 0xfu) * 4) + QUENCH_DATA;
	if (headers->ip == 6)
		return IPV6_MOST - IPV6_BYTES - ICMP_BYTES;
	return IPV4_MOST - IPV4_BYTES - ICMP_BYTES;
}

uint32_t icmp_error_write(struct icmp_source *source, enum icmp_error error, uint32_t rest,
                          const struct headers *headers, const uint8_t *frame, uint32_t bytes,
                          uint8_t *to)
{
	bool six = headers->ip == 6;
	uint32_t header_bytes = six ? IPV6_BYTES : IPV4_BYTES;
	uint8_t type = six ? numbers[error].v6_type : numbers[error].v4_type;
	const uint8_t *cause = frame + headers->network;
	uint8_t *ip = to + headers->network, *icmp = ip + header_bytes;
	uint32_t quoted = RTE_MIN(quoted_most(error, headers, cause), headers->network_bytes);
	uint64_t sum = 0;

	quoted = RTE_MIN(quoted, bytes - headers->network);
	write_ethernet(to, frame, headers->network);
	if (six) {
		write_ipv6(ip, source, cause, header_bytes + ICMP_BYTES + quoted);
		sum = sum_of(ip + 8, 32) + ICMP_BYTES + quoted + PROTOCOL_V6;
	} else {
		write_ipv4(ip, source, cause, header_bytes + ICMP_BYTES + quoted);
	}
	icmp[0] = type;
	icmp[1] = six ? numbers[error].v6_code : numbers[error].v4_code;
	put_u16(icmp + 2, 0);
	put_u16(icmp + 4, rest >> 16);
	put_u16(icmp + 6, rest);
	memcpy(icmp + ICMP_BYTES, cause, quoted);
	put_u16(icmp + 2, checksum_of(sum + sum_of(icmp, ICMP_BYTES + quoted)));
	return headers->network + header_bytes + ICMP_BYTES + quoted;
}

/* ---- echo ---- */

bool icmp_is_echo_request(const struct headers *headers, const uint8_t *frame)
{
	bool six = headers->ip == 6;

	if (headers->protocol != (six ? PROTOCOL_V6 : PROTOCOL_V4) || headers->transport == 0 ||
	    headers->transport_here < ICMP_BYTES)
		return false;
	/* Fragments are not reassembled. */
	if (headers->fragment || (!six && headers_u16(frame + headers->network + 6) & MORE))
		return false;
	if (six && headers->transport != headers->network + IPV6_BYTES)
		return false;
	return frame[headers->transport] == (six ? ECHO_V6 : ECHO);
}

static void exchange(uint8_t *a, uint8_t *b, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++) {
		uint8_t byte = a[i];

		a[i] = b[i];
		b[i] = byte;
	}
}

void icmp_echo_turn(struct icmp_source *source, const struct headers *headers, uint8_t *frame)
{
	uint8_t *ip = frame + headers->network, *icmp = frame + headers->transport;
	uint16_t before = headers_u16(icmp);

	exchange(frame, frame + MAC_BYTES, MAC_BYTES);
	if (headers->ip == 6) {
		/* Exchanging two addresses does not change the sum. */
		exchange(ip + 8, ip + 24, 16);
		ip[7] = ICMP_TTL;
		icmp[0] = ECHO_V6_SAID;
	} else {
		exchange(ip + 12, ip + 16, 4);
		put_u16(ip + 4, source->identification++);
		ip[8] = ICMP_TTL;
		put_u16(ip + 10, 0);
		put_u16(ip + 10, checksum_of(sum_of(ip, (ip[0] & 0xfu) * 4)));
		icmp[0] = ECHO_REPLY;
	}
	put_u16(icmp + 2,
	        checksum_grown(headers_u16(icmp + 2), checksum_growth(before, headers_u16(icmp))));
}
