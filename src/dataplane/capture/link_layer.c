/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/link_layer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <pcap/pcap.h>

#include "random/draw.h"

#define MAC_BYTES  6
#define TYPE_IPV4  0x0800
#define TYPE_IPV6  0x86dd
#define SLOTS      (2 * LINK_LAYER_HEADERS_MAX)
#define TO_US      0 /* packet types in a cooked header */
#define BROADCAST  1
#define MULTICAST  2
#define SENT_BY_US 4

/* Positions of the fields of a link header; 0xff: it has no such field. */
struct link_kind {
	int link;
	uint8_t bytes, protocol, type, sender, sender_bytes;
};

#define NO_FIELD 0xff

/* `type` and `sender_bytes` are the second bytes of two-byte fields in LINUX_SLL, which are
 * sufficient. */
static const struct link_kind kinds[] = {
        {DLT_EN10MB, 14, NO_FIELD, NO_FIELD, NO_FIELD, NO_FIELD},
        {DLT_RAW, 0, NO_FIELD, NO_FIELD, NO_FIELD, NO_FIELD},
        {DLT_IPV4, 0, NO_FIELD, NO_FIELD, NO_FIELD, NO_FIELD},
        {DLT_IPV6, 0, NO_FIELD, NO_FIELD, NO_FIELD, NO_FIELD},
        {DLT_LINUX_SLL, 16, 14, 1, 6, 5},
        {DLT_LINUX_SLL2, 20, 0, 10, 12, 11},
};

/* A link header with its protocol set to zero. */
struct header {
	uint8_t byte[LINK_LAYER_BYTES_MAX];
};

struct link_layer {
	const struct link_kind *kind;
	/* For link types with a header: */
	struct header *headers;
	uint32_t n;
	uint32_t *slots;     /* hash of a header -> 1 + its number; 0: empty */
	struct draw_key key; /* random, so that no capture can be made whose headers all collide */
};

static const struct link_kind *find_kind(int link)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].link == link)
			return &kinds[i];
	}
	return NULL;
}

bool link_layer_known(int link)
{
	return find_kind(link) != NULL;
}

struct link_layer *link_layer_make(int link)
{
	struct link_layer *link_layer = calloc(1, sizeof(*link_layer));

	if (!link_layer)
		return NULL;
	link_layer->kind = find_kind(link);
	if (link_layer->kind->protocol == NO_FIELD)
		return link_layer;
	/* Unused pages take no memory. */
	link_layer->headers = calloc(LINK_LAYER_HEADERS_MAX, sizeof(*link_layer->headers));
	link_layer->slots = calloc(SLOTS, sizeof(*link_layer->slots));
	if (getrandom(&link_layer->key, sizeof(link_layer->key), GRND_NONBLOCK) < 0)
		link_layer->key.word[0] = (uint32_t)(uintptr_t)link_layer;
	if (link_layer->headers && link_layer->slots)
		return link_layer;
	link_layer_free(link_layer);
	return NULL;
}

void link_layer_free(struct link_layer *link_layer)
{
	if (!link_layer)
		return;
	free(link_layer->headers);
	free(link_layer->slots);
	free(link_layer);
}

int link_layer_link(const struct link_layer *link_layer)
{
	return link_layer->kind->link;
}

bool link_layer_is_ethernet(const struct link_layer *link_layer)
{
	return link_layer->kind->link == DLT_EN10MB;
}

bool link_layer_has_sender(const struct link_layer *link_layer)
{
	return link_layer_is_ethernet(link_layer) || link_layer->kind->sender != NO_FIELD;
}

uint32_t link_layer_bytes(const struct link_layer *link_layer)
{
	return link_layer->kind->bytes;
}

/* ---- the numbers of headers ---- */

static uint32_t hash_of(const struct link_layer *link_layer, const struct header *header)
{
	uint64_t word[3] = {0, 0, 0}, hash = 0;

	memcpy(word, header, sizeof(*header));
	for (uint32_t i = 0; i < 3; i++)
		hash = draw_u64(link_layer->key, hash ^ word[i], i);
	return (uint32_t)(hash % SLOTS);
}

/* Returns the number of a header, or LINK_LAYER_HEADERS_MAX if there are too many. Headers are
 * numbered in the order of their first appearance, so no number depends on the random key. */
static uint32_t number_of(struct link_layer *link_layer, const struct header *header)
{
	uint32_t slot = hash_of(link_layer, header), number;

	for (; link_layer->slots[slot]; slot = (slot + 1) % SLOTS) {
		number = link_layer->slots[slot] - 1;
		if (memcmp(&link_layer->headers[number], header, sizeof(*header)) == 0)
			return number;
	}
	if (link_layer->n == LINK_LAYER_HEADERS_MAX)
		return LINK_LAYER_HEADERS_MAX;
	number = link_layer->n++;
	link_layer->headers[number] = *header;
	link_layer->slots[slot] = link_layer->n;
	return number;
}

/* ---- addresses that contain a number ---- */

#define FORTH     0x0200 /* start of the destination: an address that nobody has, of one host */
#define FORTH_ALL 0x0300 /* the same, of many hosts */
#define BACK      0x02ff /* start of the source */

static void put_u16(uint8_t *to, uint32_t value)
{
	to[0] = (uint8_t)(value >> 8);
	to[1] = (uint8_t)value;
}

static uint32_t get_u16(const uint8_t *from)
{
	return (uint32_t)from[0] << 8 | from[1];
}

static void write_addresses(uint8_t *ethernet, uint32_t number, bool to_many)
{
	put_u16(ethernet, to_many ? FORTH_ALL : FORTH);
	put_u16(ethernet + MAC_BYTES, BACK);
	for (uint32_t at = 2; at < MAC_BYTES; at += 2) {
		put_u16(ethernet + at, number);
		put_u16(ethernet + MAC_BYTES + at, number);
	}
}

/* Returns the number in the addresses, and whether the addresses were exchanged. */
static uint32_t read_addresses(const uint8_t *ethernet, bool *exchanged)
{
	uint32_t a = get_u16(ethernet + 2), b = get_u16(ethernet + 4);
	uint32_t c = get_u16(ethernet + MAC_BYTES + 2);

	*exchanged = __builtin_popcount(ethernet[1]) > __builtin_popcount(ethernet[MAC_BYTES + 1]);
	return (a & b) | (a & c) | (b & c);
}

/* ---- to Ethernet and back ---- */

static uint16_t ip_type(const uint8_t *data, uint32_t bytes)
{
	if (bytes == 0)
		return 0;
	return data[0] >> 4 == 4 ? TYPE_IPV4 : data[0] >> 4 == 6 ? TYPE_IPV6 : 0;
}

const char *link_layer_enter(struct link_layer *link_layer, const uint8_t *data, uint32_t bytes,
                             uint8_t ethernet[LINK_LAYER_ETHERNET_BYTES], const uint8_t **sender)
{
	const struct link_kind *kind = link_layer->kind;
	struct header header = {{0}};
	uint32_t number;

	*sender = NULL;
	if (bytes < kind->bytes)
		return "the next frame is shorter than its link header";
	if (kind->protocol == NO_FIELD) {
		write_addresses(ethernet, 0, false);
		put_u16(ethernet + 2 * MAC_BYTES, ip_type(data, bytes));
		return NULL;
	}
	memcpy(header.byte, data, kind->bytes);
	put_u16(header.byte + kind->protocol, 0);
	number = number_of(link_layer, &header);
	if (number == LINK_LAYER_HEADERS_MAX)
		return "it has more than 65536 different link headers";
	write_addresses(ethernet, number,
	                data[kind->type] == BROADCAST || data[kind->type] == MULTICAST);
	put_u16(ethernet + 2 * MAC_BYTES, get_u16(data + kind->protocol));
	if (data[kind->sender_bytes] == MAC_BYTES)
		*sender = data + kind->sender;
	return NULL;
}

void link_layer_leave(const struct link_layer *link_layer,
                      const uint8_t ethernet[LINK_LAYER_ETHERNET_BYTES],
                      uint8_t header[LINK_LAYER_BYTES_MAX])
{
	const struct link_kind *kind = link_layer->kind;
	uint32_t number;
	bool exchanged;

	if (kind->protocol == NO_FIELD)
		return;
	number = read_addresses(ethernet, &exchanged);
	/* Errors in two of three copies may yield a number that does not exist: any header will do
	 * then. */
	memcpy(header, link_layer->headers[number < link_layer->n ? number : 0].byte, kind->bytes);
	put_u16(header + kind->protocol, get_u16(ethernet + 2 * MAC_BYTES));
	if (exchanged && (header[kind->type] == TO_US || header[kind->type] == SENT_BY_US))
		header[kind->type] = TO_US + SENT_BY_US - header[kind->type];
}
