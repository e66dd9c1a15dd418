/* SPDX-License-Identifier: BSD-3-Clause */
#include "packet/headers.h"

#include <string.h>

#define ETHERNET_BYTES 14
#define TAG_BYTES      4
#define IPV4_BYTES     20
#define IPV6_BYTES     40

enum ethertype {
	TYPE_IPV4 = 0x0800,
	TYPE_IPV6 = 0x86dd,
	TYPE_VLAN = 0x8100,
	TYPE_QINQ = 0x88a8,
	TYPE_QINQ_OLD = 0x9100,
};

/* Protocol numbers (IANA) of the headers between IPv6 and its transport. */
enum extension {
	EXTENSION_HOP_BY_HOP = 0,
	EXTENSION_ROUTING = 43,
	EXTENSION_FRAGMENT = 44,
	EXTENSION_AUTHENTICATION = 51,
	EXTENSION_NONE = 59,
	EXTENSION_DESTINATION = 60,
	EXTENSION_MOBILITY = 135,
	EXTENSION_HIP = 139,
	EXTENSION_SHIM6 = 140,
};

/* A frame, as far as its bytes are here. */
struct frame {
	const uint8_t *data;
	uint32_t bytes;      /* of data */
	uint32_t wire_bytes; /* of the whole frame */
};

static bool is_tag(uint16_t ethertype)
{
	return ethertype == TYPE_VLAN || ethertype == TYPE_QINQ || ethertype == TYPE_QINQ_OLD;
}

/* Passes Ethernet and the tags. Returns the offset behind them, or 0 if they are cut off or too
 * many. */
static uint32_t pass_ethernet(const struct frame *frame, struct headers *headers)
{
	uint32_t at = ETHERNET_BYTES;

	if (frame->bytes < at)
		return 0;
	headers->ethertype = headers_u16(frame->data + at - 2);
	while (is_tag(headers->ethertype)) {
		if (frame->bytes < at + TAG_BYTES || headers->n_tags == HEADERS_TAGS_MAX)
			return 0;
		if (headers->n_tags < 2)
			headers->tag[headers->n_tags] = headers_u16(frame->data + at) & 0xfff;
		headers->n_tags++;
		headers->ethertype = headers_u16(frame->data + at + 2);
		at += TAG_BYTES;
	}
	return at;
}

/* Sets the transport, which begins at `at`. `end` is the end of the IP packet; both are counted
 * from the start of the frame. */
static void set_transport(const struct frame *frame, struct headers *headers, uint32_t at,
                          uint32_t end)
{
	uint32_t here = end < frame->bytes ? end : frame->bytes;

	if (headers->fragment || at >= here)
		return;
	headers->transport = at;
	headers->transport_bytes = end - at;
	headers->transport_here = here - at;
}

static bool find_ipv4(const struct frame *frame, uint32_t at, struct headers *headers)
{
	const uint8_t *ip = frame->data + at;
	uint32_t header_bytes, total;

	if (frame->bytes < at + IPV4_BYTES || ip[0] >> 4 != 4)
		return false;
	header_bytes = (ip[0] & 0xfu) * 4;
	total = headers_u16(ip + 2);
	/* A sender that leaves segmentation to its NIC writes 0 if 16 bits do not suffice. */
	if (total == 0 && frame->wire_bytes > at)
		total = frame->wire_bytes - at;
	if (header_bytes < IPV4_BYTES || frame->bytes < at + header_bytes || total < header_bytes)
		return false;
	headers->ip = 4;
	headers->network = at;
	headers->network_bytes = total;
	headers->protocol = ip[9];
	headers->fragment = (headers_u16(ip + 6) & 0x1fff) != 0;
	set_transport(frame, headers, at + header_bytes, at + total);
	return true;
}

/* Returns the length of the extension header at `at`, of which at least 8 bytes are there, or 0 if
 * it is no extension header. */
static uint32_t extension_bytes(uint8_t protocol, const uint8_t *at)
{
	switch (protocol) {
	case EXTENSION_HOP_BY_HOP:
	case EXTENSION_ROUTING:
	case EXTENSION_DESTINATION:
	case EXTENSION_MOBILITY:
	case EXTENSION_HIP:
	case EXTENSION_SHIM6:
		return (at[1] + 1u) * 8;
	case EXTENSION_FRAGMENT:
		return 8;
	case EXTENSION_AUTHENTICATION:
		return (at[1] + 2u) * 4;
	default:
		return 0;
	}
}

bool headers_is_extension(uint8_t protocol)
{
	static const uint8_t lengths[8] = {0};

	return extension_bytes(protocol, lengths) != 0;
}

/* Passes the extension headers up to the transport. `end`: of the IP packet. */
static void pass_extensions(const struct frame *frame, uint32_t at, uint32_t end,
                            struct headers *headers)
{
	for (int n = 0; headers_is_extension(headers->protocol); n++) {
		const uint8_t *extension = frame->data + at;
		uint32_t bytes;

		if (n == HEADERS_EXTENSIONS_MAX || frame->bytes < at + 8 || end < at + 8)
			return;
		bytes = extension_bytes(headers->protocol, extension);
		if (headers->protocol == EXTENSION_FRAGMENT && headers_u16(extension + 2) >> 3)
			headers->fragment = true;
		headers->protocol = extension[0];
		at += bytes;
		if (headers->fragment)
			return; /* what follows is payload, whatever it looks like */
	}
	if (headers->protocol != EXTENSION_NONE && at < end)
		set_transport(frame, headers, at, end);
}

static bool find_ipv6(const struct frame *frame, uint32_t at, struct headers *headers)
{
	const uint8_t *ip = frame->data + at;
	uint32_t end;

	if (frame->bytes < at + IPV6_BYTES || ip[0] >> 4 != 6)
		return false;
	headers->ip = 6;
	headers->network = at;
	headers->protocol = ip[6];
	end = at + IPV6_BYTES + headers_u16(ip + 4);
	/* 0: a jumbogram, or segmentation that is left to the NIC. */
	if (headers_u16(ip + 4) == 0 && frame->wire_bytes > end)
		end = frame->wire_bytes;
	headers->network_bytes = end - at;
	pass_extensions(frame, at + IPV6_BYTES, end, headers);
	return true;
}

/* Finds the headers of packets that are not usual. */
static __attribute__((noinline)) bool find(const struct frame *frame, struct headers *headers)
{
	uint32_t at;

	memset(headers, 0, sizeof(*headers));
	at = pass_ethernet(frame, headers);
	if (at == 0)
		return false;
	if (headers->ethertype == TYPE_IPV4)
		return find_ipv4(frame, at, headers);
	if (headers->ethertype == TYPE_IPV6)
		return find_ipv6(frame, at, headers);
	return false;
}

bool headers_find(const uint8_t *data, uint32_t bytes, uint32_t wire_bytes, struct headers *headers)
{
	const struct frame frame = {.data = data,
	                            .bytes = bytes,
	                            .wire_bytes = wire_bytes > bytes ? wire_bytes : bytes};

	return likely(headers_find_usual(data, bytes, headers)) || find(&frame, headers);
}

bool headers_find_ip(const uint8_t *data, uint32_t bytes, uint32_t wire_bytes, uint32_t at,
                     struct headers *headers)
{
	const struct frame frame = {.data = data,
	                            .bytes = bytes,
	                            .wire_bytes = wire_bytes > bytes ? wire_bytes : bytes};

	memset(headers, 0, sizeof(*headers));
	if (at >= bytes)
		return false;
	return data[at] >> 4 == 4 ? find_ipv4(&frame, at, headers) : find_ipv6(&frame, at, headers);
}
