/* SPDX-License-Identifier: BSD-3-Clause */
#include "explain/speech.h"

#include "explain/flow.h"
#include "packet/headers.h"

#define LONG_FORM      0x80
#define VERSION_1      1u
#define VERSION_2      0x6b3343cfu
#define VERSION_DRAFTS 0xff0000u /* in its upper bits */
#define CID_MAX        20
#define INITIAL_MIN    1200 /* bytes of a client's first datagram */

enum packet_type { INITIAL, EARLY, HANDSHAKE, RETRY };

static bool is_version(uint32_t version)
{
	return version == VERSION_1 || version == VERSION_2 || version >> 8 == VERSION_DRAFTS;
}

static enum packet_type type_of(uint8_t first, uint32_t version)
{
	const unsigned bits = first >> 4 & 3;

	/* Version 2 numbers them from 1. */
	return (enum packet_type)(version == VERSION_2 ? (bits + 3) % 4 : bits);
}

bool quic_begins(const uint8_t *data, size_t bytes)
{
	return bytes > 6 && (data[0] & 0xc0) == 0xc0 && is_version(headers_u32(data + 1)) &&
	       type_of(data[0], headers_u32(data + 1)) == INITIAL && data[5] <= CID_MAX;
}

/* Reads a number of variable length. Returns the offset behind it, or 0. */
static uint32_t read_number(const uint8_t *data, uint32_t bytes, uint32_t at, uint64_t *number)
{
	uint32_t n;

	if (at >= bytes)
		return 0;
	n = 1u << (data[at] >> 6);
	if (n > bytes - at)
		return 0;
	*number = data[at] & 0x3f;
	for (uint32_t i = 1; i < n; i++)
		*number = *number << 8 | data[at + i];
	return at + n;
}

/* Returns the offset of the next packet in the datagram; 0: it is the last, or cannot be read. */
static uint32_t packet_end(const uint8_t *data, uint32_t bytes, uint32_t at, enum packet_type type)
{
	uint64_t number;

	if (type == RETRY)
		return 0;
	at += 5;
	for (int i = 0; i < 2; i++) { /* both connection IDs */
		if (at >= bytes || data[at] > CID_MAX)
			return 0;
		at += data[at] + 1u;
	}
	if (type == INITIAL) {
		at = read_number(data, bytes, at, &number);
		if (at == 0 || number > bytes - at)
			return 0;
		at += (uint32_t)number;
	}
	at = read_number(data, bytes, at, &number);
	return at > 0 && number < bytes - at ? at + (uint32_t)number : 0;
}

static uint16_t marks_of(struct quic *quic, int way, enum packet_type type)
{
	if (type == EARLY && way == FLOW_UP) {
		quic->early = true;
		return PASSAGE_TURN | PASSAGE_DATA;
	}
	return type == INITIAL || type == RETRY ? PASSAGE_HELLO | PASSAGE_DATA : PASSAGE_DATA;
}

uint16_t quic_take(struct quic *quic, int way, const uint8_t *data, uint32_t here, uint32_t bytes)
{
	uint16_t marks = 0;
	uint32_t at = 0;

	while (at + 6 <= here && data[at] & LONG_FORM) {
		const uint32_t version = headers_u32(data + at + 1);
		const enum packet_type type = type_of(data[at], version);

		/* Padding behind the last packet is no packet. */
		if (at > 0 && !is_version(version))
			return marks;
		quic->version = version;
		marks |= marks_of(quic, way, type);
		at = packet_end(data, here, at, type);
		if (at == 0)
			return marks;
	}
	if (at >= here || (at > 0 && (data[at] & 0xc0) != 0x40))
		return marks;
	/* A short header: the handshake is over for its sender, if it is the client. */
	quic->open[way] = true;
	marks |= PASSAGE_SECRET;
	return marks |
	       (bytes - at > QUIC_NOTICE_BYTES ? PASSAGE_TURN | PASSAGE_DATA : PASSAGE_NOTICE);
}
