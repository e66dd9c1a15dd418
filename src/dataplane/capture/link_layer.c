/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/link_layer.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
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

#define TYPE_MPLS           0x8847
#define TYPE_MPLS_MULTICAST 0x8848

enum form { FORM_ETHERNET, FORM_IP, FORM_COOKED, FORM_FAMILY, FORM_PPP };

/* Positions of the fields of a cooked header. `type` and `sender_bytes` are the second bytes of
 * two-byte fields in LINUX_SLL, which are sufficient. `ahead`: the bytes ahead of a header of
 * PPP. */
struct link_kind {
	int link;
	enum form form;
	uint8_t bytes, protocol, type, sender, sender_bytes;
	uint8_t ahead;
};

#define DIRECTION_BYTES 1
#define PPPOE_BYTES     6
#define PPPOE_LENGTH    4 /* position of the length in a header of PPPoE */

static const struct link_kind kinds[] = {
        {.link = DLT_EN10MB, .form = FORM_ETHERNET},
        {.link = DLT_RAW, .form = FORM_IP},
        {.link = DLT_IPV4, .form = FORM_IP},
        {.link = DLT_IPV6, .form = FORM_IP},
        {DLT_LINUX_SLL, FORM_COOKED, 16, 14, 1, 6, 5, 0},
        {DLT_LINUX_SLL2, FORM_COOKED, 20, 0, 10, 12, 11, 0},
        {.link = DLT_NULL, .form = FORM_FAMILY},
        {.link = DLT_LOOP, .form = FORM_FAMILY},
        {.link = DLT_PPP, .form = FORM_PPP},
        {.link = DLT_PPP_SERIAL, .form = FORM_PPP},
        {.link = DLT_PPP_PPPD, .form = FORM_PPP},
        {.link = DLT_PPP_WITH_DIR, .form = FORM_PPP, .ahead = DIRECTION_BYTES},
        {.link = DLT_PPP_ETHER, .form = FORM_PPP, .ahead = PPPOE_BYTES},
};

/* A link header with its protocol (cooked) or length (PPPoE) set to zero. */
struct header {
	uint8_t byte[LINK_LAYER_BYTES_MAX];
	uint32_t bytes;
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

bool link_layer_find(const char *name, int *link)
{
	*link = strcasecmp(name, "ethernet") == 0 ? DLT_EN10MB : pcap_datalink_name_to_val(name);
	return link_layer_known(*link);
}

struct link_layer *link_layer_make(int link)
{
	struct link_layer *link_layer = calloc(1, sizeof(*link_layer));

	if (!link_layer)
		return NULL;
	link_layer->kind = find_kind(link);
	if (link_layer->kind->form <= FORM_IP)
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
	return link_layer_is_ethernet(link_layer) || link_layer->kind->form == FORM_COOKED;
}

/* ---- the numbers of headers ---- */

static uint32_t hash_of(const struct link_layer *link_layer, const struct header *header)
{
	uint64_t word[3] = {0, 0, 0}, hash = 0;

	memcpy(word, header, sizeof(*header)); /* with its length */
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

/* ---- headers ---- */

static uint16_t ip_type(const uint8_t *data, uint32_t bytes)
{
	if (bytes == 0)
		return 0;
	return data[0] >> 4 == 4 ? TYPE_IPV4 : data[0] >> 4 == 6 ? TYPE_IPV6 : 0;
}

/* The number of the family is in the byte order of its writer (LOOP: in network order), and each
 * system has its own for IPv6. */
static uint16_t family_type(const uint8_t *data)
{
	const uint32_t front = get_u16(data), back = get_u16(data + 2);
	const uint32_t family = front == 0 ? back : (front & 0xff) << 8 | front >> 8;

	switch (family) {
	case 2:
		return TYPE_IPV4;
	case 10: /* Linux */
	case 23: /* Windows */
	case 24: /* NetBSD, OpenBSD */
	case 28: /* FreeBSD */
	case 30: /* macOS */
		return TYPE_IPV6;
	default:
		return 0;
	}
}

static uint16_t ppp_type(uint32_t protocol)
{
	switch (protocol) {
	case 0x0021:
		return TYPE_IPV4;
	case 0x0057:
		return TYPE_IPV6;
	case 0x0281:
		return TYPE_MPLS;
	case 0x0283:
		return TYPE_MPLS_MULTICAST;
	default:
		return 0;
	}
}

/* Returns the length of a header of PPP (RFC 1661, RFC 1662) or Cisco's HDLC, 0 if it is cut.
 * Address and control may be missing, and the protocol may have one byte. In captures of pppd the
 * direction takes the place of the address. */
static uint32_t ppp_read(const uint8_t *data, uint32_t bytes, uint16_t *type)
{
	const bool cisco = bytes >= 4 && (data[0] == 0x0f || data[0] == 0x8f) && data[1] == 0;
	const bool address = bytes >= 2 && data[1] == 0x03 && (data[0] == 0xff || data[0] <= 1);
	uint32_t at = address ? 2 : 0;

	if (cisco) {
		*type = (uint16_t)get_u16(data + 2);
		return 4;
	}
	if (bytes < at + 1 || (bytes < at + 2 && !(data[at] & 1)))
		return 0;
	*type = ppp_type(data[at] & 1 ? data[at] : get_u16(data + at));
	return at + (data[at] & 1 ? 1 : 2);
}

/* Reads a link header. Returns false if it is cut. */
static bool header_read(const struct link_kind *kind, const uint8_t *data, uint32_t bytes,
                        uint32_t wire_bytes, struct header *header, uint16_t *type)
{
	uint32_t ppp;

	*header = (struct header){.bytes = kind->form == FORM_FAMILY ? 4 : kind->bytes};
	if (kind->form == FORM_PPP) {
		ppp = bytes > kind->ahead ? ppp_read(data + kind->ahead, bytes - kind->ahead, type)
		                          : 0;
		if (ppp == 0)
			return false;
		header->bytes = kind->ahead + ppp;
	}
	if (bytes < header->bytes)
		return false;
	memcpy(header->byte, data, header->bytes);
	if (kind->form == FORM_FAMILY) {
		*type = family_type(data);
	} else if (kind->form == FORM_COOKED) {
		*type = (uint16_t)get_u16(data + kind->protocol);
		put_u16(header->byte + kind->protocol, 0);
	} else if (kind->ahead == PPPOE_BYTES) {
		/* What the packet is longer than its length, most often 0. */
		put_u16(header->byte + PPPOE_LENGTH,
		        wire_bytes - PPPOE_BYTES - get_u16(data + PPPOE_LENGTH));
	}
	return true;
}

/* ---- to Ethernet and back ---- */

const char *link_layer_enter(struct link_layer *link_layer, const uint8_t *data, uint32_t bytes,
                             uint32_t wire_bytes, uint8_t ethernet[LINK_LAYER_ETHERNET_BYTES],
                             uint32_t *link_bytes, const uint8_t **sender)
{
	const struct link_kind *kind = link_layer->kind;
	struct header header;
	uint16_t type = 0;
	uint32_t number;
	bool to_many;

	*sender = NULL;
	if (kind->form == FORM_IP) {
		*link_bytes = 0;
		write_addresses(ethernet, 0, false);
		put_u16(ethernet + 2 * MAC_BYTES, ip_type(data, bytes));
		return NULL;
	}
	if (!header_read(kind, data, bytes, wire_bytes, &header, &type))
		return "the next frame is shorter than its link header";
	*link_bytes = header.bytes;
	number = number_of(link_layer, &header);
	if (number == LINK_LAYER_HEADERS_MAX)
		return "it has more than 65536 different link headers";
	to_many = kind->form == FORM_COOKED &&
	          (data[kind->type] == BROADCAST || data[kind->type] == MULTICAST);
	write_addresses(ethernet, number, to_many);
	put_u16(ethernet + 2 * MAC_BYTES, type);
	if (kind->form == FORM_COOKED && data[kind->sender_bytes] == MAC_BYTES)
		*sender = data + kind->sender;
	return NULL;
}

uint32_t link_layer_leave(const struct link_layer *link_layer,
                          const uint8_t ethernet[LINK_LAYER_ETHERNET_BYTES], uint32_t payload_bytes,
                          uint8_t header[LINK_LAYER_BYTES_MAX])
{
	const struct link_kind *kind = link_layer->kind;
	const struct header *kept;
	uint32_t number;
	bool exchanged;

	if (kind->form == FORM_IP)
		return 0;
	number = read_addresses(ethernet, &exchanged);
	/* Errors in two of three copies may yield a number that does not exist: any header will do
	 * then. */
	kept = &link_layer->headers[number < link_layer->n ? number : 0];
	memcpy(header, kept->byte, kept->bytes);
	if (kind->form == FORM_COOKED)
		put_u16(header + kind->protocol, get_u16(ethernet + 2 * MAC_BYTES));
	if (kind->ahead == PPPOE_BYTES)
		put_u16(header + PPPOE_LENGTH, payload_bytes + kept->bytes - PPPOE_BYTES -
		                                       get_u16(kept->byte + PPPOE_LENGTH));
	if (exchanged) {
		/* Exchanges `sent to us` and `sent by us`. */
		uint8_t *type = header + kind->type;

		if (kind->form == FORM_COOKED && (*type == TO_US || *type == SENT_BY_US))
			*type = TO_US + SENT_BY_US - *type;
		if ((kind->ahead == DIRECTION_BYTES || kind->link == DLT_PPP_PPPD) &&
		    header[0] <= 1)
			header[0] = !header[0];
	}
	return kept->bytes;
}
