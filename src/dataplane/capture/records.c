/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/records.h"

#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "capture/pcapng.h"

#define PCAP_HEAD_BYTES 24
#define AHEAD_BYTES     1024
#define LINKTYPE_RAW    101
#define HAS_FCS         0x04000000u

static const uint8_t *records_here(const struct records *records)
{
	return records->from->at + records_ahead(records);
}

/* Returns true if `bytes` of the next record can be examined. Together with what is ahead of them
 * they are at most BLOCK_READER_REACH_MAX. */
static bool records_has(const struct records *records, uint32_t bytes)
{
	return block_reader_has(records->from, (uint32_t)records_ahead(records) + bytes);
}

static uint32_t records_word(const struct records *records, const uint8_t *at)
{
	uint32_t value;

	__builtin_memcpy(&value, at, sizeof(value));
	return records->swapped ? __builtin_bswap32(value) : value;
}

/* The number of bytes of an FCS, so many of which end each frame. */
static void records_cut_fcs(struct record *record, uint32_t fcs_bytes)
{
	if (record->wire_bytes < fcs_bytes)
		return;
	record->wire_bytes -= fcs_bytes;
	if (record->bytes > record->wire_bytes)
		record->bytes = record->wire_bytes;
}

/* The blocks of a pcapng: https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-02.html */

#define INTERFACES_MAX 65536u /* of a section */
#define NAME_BYTES     64
#define TRAILER_BYTES  4

/* Lengths of blocks without their trailers and what is variable. */
#define SECTION_BYTES       24
#define INTERFACE_BYTES     16
#define SIMPLE_PACKET_BYTES 12

#define OPTION_TIME_SHIFT 14 /* if_tsoffset: seconds, to be added */
#define OPTION_FCS        13 /* if_fcslen */

/* A block, `here` bytes of which can be examined. */
struct block {
	const uint8_t *at;
	uint32_t type, length, here;
};

static uint16_t half(const struct records *records, const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return records->swapped ? __builtin_bswap16(value) : value;
}

static uint64_t long_word(const struct records *records, const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return records->swapped ? __builtin_bswap64(value) : value;
}

/* ---- options ---- */

/* Returns where the options of a block end. */
static const uint8_t *options_end(const struct block *block)
{
	return block->at + RTE_MIN(block->here, block->length - TRAILER_BYTES);
}

/* Returns the value of the next option, and advances *at; NULL at the end. */
static const uint8_t *option_next(const struct records *records, const uint8_t **at,
                                  const uint8_t *end, uint16_t *code, uint16_t *bytes)
{
	const uint8_t *value = *at + 4;

	if (end - *at < 4)
		return NULL;
	*code = half(records, *at);
	*bytes = half(records, *at + 2);
	if (*code == 0 || end - value < (*bytes + 3) / 4 * 4)
		return NULL;
	*at = value + (*bytes + 3) / 4 * 4;
	return value;
}

/* The draft says bits, its example and Wireshark say bytes: 4 or 32, 2 or 16. */
static uint8_t fcs_bytes(uint8_t value)
{
	return value > 8 && value % 8 == 0 ? value / 8 : value;
}

/* ---- sections and interfaces ---- */

static enum records_got records_damaged(struct records *records, const char *why)
{
	snprintf(records->damage, sizeof(records->damage), "%s", why);
	return RECORDS_END;
}

static bool records_section_begins(struct records *records)
{
	const uint8_t *at = records_here(records);
	uint32_t type, order, length;

	memcpy(&type, at, sizeof(type));
	if (type != PCAPNG_SECTION || !records_has(records, SECTION_BYTES + TRAILER_BYTES))
		return false;
	at = records_here(records);
	memcpy(&order, at + 8, sizeof(order));
	if (order != PCAPNG_BYTE_ORDER_MARK && order != __builtin_bswap32(PCAPNG_BYTE_ORDER_MARK))
		return false;
	records->swapped = order != PCAPNG_BYTE_ORDER_MARK;
	length = records_word(records, at + 4);
	if (half(records, at + 12) != 1 || length < SECTION_BYTES + TRAILER_BYTES || length % 4) {
		(void)records_damaged(records, "a section of a pcapng has an unknown version or an "
		                               "impossible length");
		return false;
	}
	records->format = RECORDS_PCAPNG;
	records->n_interfaces = 0;
	records->parsed += length;
	return true;
}

static bool interfaces_grow(struct records *records)
{
	const uint32_t room = records->room ? 2 * records->room : 8;
	struct records_interface *interfaces;

	if (records->n_interfaces < records->room)
		return true;
	interfaces = realloc(records->interfaces, room * sizeof(*interfaces));
	if (!interfaces)
		return false;
	records->interfaces = interfaces;
	records->room = room;
	return true;
}

/* The link types of files are the DLT_ values of libpcap, with few exceptions. Of those that weir
 * knows, this is the only one. */
static int dlt_of(uint32_t linktype)
{
	return linktype == LINKTYPE_RAW ? DLT_RAW : (int)linktype;
}

static const char *link_name(int link)
{
	const char *name = pcap_datalink_val_to_name(link);

	return name ? name : "unknown";
}

/* Decides about an interface or a pcap of this LINKTYPE_ value. Returns false if it refuses the
 * file. `what` names it. */
static bool records_judge_link(struct records *records, uint32_t linktype, const char *what,
                               bool *other)
{
	const int link = dlt_of(linktype);

	*other = false;
	if (records->link == RECORDS_ANY_LINK)
		records->link = link;
	if (link == records->link)
		return true;
	*other = true;
	if (records->link_wanted) {
		if (records->other[0] == '\0')
			snprintf(records->other, sizeof(records->other), "%s: %s", what,
			         link_name(link));
		return true;
	}
	snprintf(records->refused, sizeof(records->refused),
	         "%s is of link type %s (%d), and what is ahead of it of %s (%d); `--link-type "
	         "%s` reads only those",
	         what, link_name(link), link, link_name(records->link), records->link,
	         link_name(records->link));
	return false;
}

/* Decides whether the frames of an interface are read. Returns false if it refuses the file. */
static bool judge_interface(struct records *records, struct records_interface *interface,
                            const char *name, uint16_t linktype)
{
	const size_t used = strlen(records->others);
	char what[NAME_BYTES + 40];
	bool other;

	interface->use = RECORDS_READ;
	if (records->name && strcmp(name, records->name) != 0) {
		interface->use = RECORDS_UNWANTED;
		if (name[0])
			snprintf(records->others + used, sizeof(records->others) - used, "%s%s",
			         used ? ", " : "", name);
		return true;
	}
	snprintf(what, sizeof(what), "interface %u%s%s%s", records->n_interfaces,
	         name[0] ? " (" : "", name, name[0] ? ")" : "");
	records->found = true;
	if (!records_judge_link(records, linktype, what, &other))
		return false;
	if (other)
		interface->use = RECORDS_OTHER_LINK;
	return true;
}

static enum records_got take_interface(struct records *records, const struct block *block)
{
	struct records_interface interface = {.resolution = 6};
	char name[NAME_BYTES] = "";

	if (records->n_interfaces == INTERFACES_MAX || !interfaces_grow(records))
		return records_damaged(records, "a section has more than 65536 interfaces");
	interface.snap = records_word(records, block->at + 12);
	const uint8_t *at = block->at + INTERFACE_BYTES, *value;
	uint16_t code, bytes;

	while ((value = option_next(records, &at, options_end(block), &code, &bytes))) {
		if (code == PCAPNG_OPTION_NAME)
			snprintf(name, NAME_BYTES, "%.*s", (int)bytes, (const char *)value);
		else if (code == PCAPNG_OPTION_TIME_UNIT && bytes == 1)
			interface.resolution = value[0];
		else if (code == OPTION_TIME_SHIFT && bytes == 8)
			interface.shift_s = (int64_t)long_word(records, value);
		else if (code == OPTION_FCS && bytes == 1)
			interface.fcs_bytes = fcs_bytes(value[0]);
	}
	if (!judge_interface(records, &interface, name, half(records, block->at + 8)))
		return RECORDS_END;
	records->interfaces[records->n_interfaces++] = interface;
	return RECORDS_NOTHING;
}

/* ---- packets ---- */

static int64_t in_ns(const struct records_interface *interface, uint64_t value)
{
	const uint32_t n = interface->resolution & 0x7f;
	__int128 ns = (__int128)value * 1000000000;

	if (interface->resolution & 0x80)
		ns >>= n;
	for (uint32_t i = 0; !(interface->resolution & 0x80) && i < n && ns > 0; i++)
		ns /= 10;
	ns += (__int128)interface->shift_s * 1000000000;
	if (ns > RECORDS_STAMP_MOST)
		return RECORDS_STAMP_MOST;
	return ns < RECORDS_STAMP_LEAST ? RECORDS_STAMP_LEAST : (int64_t)ns;
}

/* Returns the length of the FCS that the options of a packet state, or that of its interface. */
static uint32_t packet_fcs(const struct records *records, const struct block *block,
                           const uint8_t *options, const struct records_interface *interface)
{
	const uint8_t *value;
	uint16_t code, bytes;

	while ((value = option_next(records, &options, options_end(block), &code, &bytes))) {
		const uint32_t stated = code == PCAPNG_OPTION_FLAGS && bytes == 4
		                                ? records_word(records, value) >> 5 & 0xf
		                                : 0;

		if (stated)
			return stated;
	}
	return interface->fcs_bytes;
}

static enum records_got take_packet(struct records *records, const struct block *block,
                                    struct record *record)
{
	const bool old = block->type == PCAPNG_OLD_PACKET;
	const uint32_t number =
	        old ? half(records, block->at + 8) : records_word(records, block->at + 8);
	const struct records_interface *interface;
	uint32_t fcs, after;

	if (number >= records->n_interfaces)
		return records_damaged(records, "the next frame is of an interface that was not "
		                                "described");
	interface = &records->interfaces[number];
	record->stamp_ns = in_ns(interface, (uint64_t)records_word(records, block->at + 12) << 32 |
	                                            records_word(records, block->at + 16));
	record->timeless = false;
	record->bytes = records_word(records, block->at + 20);
	record->wire_bytes = RTE_MAX(records_word(records, block->at + 24), record->bytes);
	if (records->first_stamp_ns == INT64_MAX)
		records->first_stamp_ns = record->stamp_ns;
	if (record->bytes > block->length - PCAPNG_PACKET_HEAD_BYTES - TRAILER_BYTES ||
	    record->bytes > CAPTURE_FRAME_MAX)
		return records_damaged(records, "the next frame is longer than its block, or than "
		                                "262144 bytes");
	after = PCAPNG_PACKET_HEAD_BYTES + record->bytes + pcapng_padding(record->bytes);
	fcs = interface->fcs_bytes;
	if (after + TRAILER_BYTES < block->length)
		fcs = packet_fcs(records, block, block->at + after, interface);
	if (fcs > 0)
		records_cut_fcs(record, fcs);
	record->at = records->parsed + PCAPNG_PACKET_HEAD_BYTES;
	records->n_other += interface->use == RECORDS_OTHER_LINK;
	return interface->use == RECORDS_READ ? RECORDS_FRAME : RECORDS_NOTHING;
}

/* A simple packet is of the first interface, and has neither a time nor a captured length: that is
 * the snapshot length of the interface, if the packet is longer. */
static enum records_got take_simple_packet(struct records *records, const struct block *block,
                                           struct record *record)
{
	const struct records_interface *interface = records->interfaces;

	if (records->n_interfaces == 0)
		return records_damaged(records, "the next frame is of an interface that was not "
		                                "described");
	record->timeless = true;
	record->wire_bytes = record->bytes = records_word(records, block->at + 8);
	if (interface->snap > 0 && record->bytes > interface->snap)
		record->bytes = interface->snap;
	if (record->bytes > block->length - SIMPLE_PACKET_BYTES - TRAILER_BYTES ||
	    record->bytes > CAPTURE_FRAME_MAX)
		return records_damaged(records, "the next frame is longer than its block, or than "
		                                "262144 bytes");
	if (interface->fcs_bytes > 0)
		records_cut_fcs(record, interface->fcs_bytes);
	record->at = records->parsed + SIMPLE_PACKET_BYTES;
	records->n_other += interface->use == RECORDS_OTHER_LINK;
	return interface->use == RECORDS_READ ? RECORDS_FRAME : RECORDS_NOTHING;
}

/* ---- blocks ---- */

static uint32_t head_bytes(uint32_t type)
{
	return type == PCAPNG_PACKET || type == PCAPNG_OLD_PACKET ? PCAPNG_PACKET_HEAD_BYTES
	       : type == PCAPNG_SIMPLE_PACKET                     ? SIMPLE_PACKET_BYTES
	       : type == PCAPNG_INTERFACE                         ? INTERFACE_BYTES
	                                                          : 8;
}

static enum records_got take_block(struct records *records, const struct block *block,
                                   struct record *record)
{
	switch (block->type) {
	case PCAPNG_PACKET:
	case PCAPNG_OLD_PACKET:
		return take_packet(records, block, record);
	case PCAPNG_SIMPLE_PACKET:
		return take_simple_packet(records, block, record);
	case PCAPNG_INTERFACE:
		return take_interface(records, block);
	default:
		return RECORDS_NOTHING;
	}
}

/* Reaches the whole block, or of a longer one as much as can be examined. */
static enum records_got reach(struct records *records, struct block *block)
{
	const uint64_t ahead = records_ahead(records);
	uint32_t bytes = block->length;

	if (ahead + bytes > BLOCK_READER_REACH_MAX) {
		if (ahead > 0)
			return RECORDS_FULL;
		bytes = BLOCK_READER_REACH_MAX;
	}
	if (!records_has(records, bytes))
		return records_damaged(records, "the file ends in the middle of a block");
	block->at = records_here(records);
	block->here = bytes;
	if (bytes == block->length &&
	    records_word(records, block->at + bytes - TRAILER_BYTES) != block->length)
		return records_damaged(records, "the two lengths of the next block differ");
	return RECORDS_NOTHING;
}

/* Returns the unit of the fractions of a pcap with this magic number, or 0. */
static uint32_t fraction_of(uint32_t magic, bool *swapped)
{
	static const struct {
		uint32_t magic, fraction_ns;
	} formats[] = {{0xa1b2c3d4, 1000}, {0xa1b23c4d, 1}};

	for (uint32_t i = 0; i < 2; i++) {
		*swapped = magic == __builtin_bswap32(formats[i].magic);
		if (magic == formats[i].magic || *swapped)
			return formats[i].fraction_ns;
	}
	return 0;
}

/* Begins a pcap of the format that everybody writes, version 2.4. Older versions (lengths that may
 * be exchanged) and private formats (longer records) are left to libpcap. */
static bool pcap_begins(struct records *records)
{
	const uint8_t *head = records_here(records);
	uint32_t magic, fraction_ns, link, snap;
	bool swapped;
	uint16_t version[2];

	memcpy(&magic, head, sizeof(magic));
	fraction_ns = fraction_of(magic, &swapped);
	if (fraction_ns == 0 || !records_has(records, PCAP_HEAD_BYTES))
		return false;
	head = records_here(records);
	memcpy(version, head + 4, sizeof(version));
	if (version[0] != (swapped ? 0x0200 : 2) || version[1] != (swapped ? 0x0400 : 4))
		return false;
	records->format = RECORDS_PCAP;
	records->swapped = swapped;
	records->fraction_ns = fraction_ns;
	snap = records_word(records, head + 16);
	link = records_word(records, head + 20);
	records->bytes_max = snap > 0 && snap < CAPTURE_FRAME_MAX ? snap : CAPTURE_FRAME_MAX;
	records->fcs_bytes = link & HAS_FCS ? (link >> 28) * 2 : 0;
	records->parsed += PCAP_HEAD_BYTES;
	(void)records_judge_link(records, link & 0xffff, "the capture that is appended",
	                         &records->other_link);
	return true;
}

/* Begins the pcap or the section that begins here. Returns false if there is none. */
static bool records_begin(struct records *records)
{
	return pcap_begins(records) || records_section_begins(records);
}

static enum records_got records_pcapng_next(struct records *records, struct record *record)
{
	struct block block = {0};
	enum records_got got;

	if (!records_has(records, 0))
		return records_damaged(records, "the file ends in the middle of a block");
	if (!records_has(records, PCAPNG_BLOCK_LEAST))
		return records_has(records, 1) ? records_damaged(records, "the file ends in the "
		                                                          "middle of a block")
		                               : RECORDS_END;
	if (records_begin(records))
		return records->refused[0] ? RECORDS_END : RECORDS_NOTHING;
	if (records->damage[0])
		return RECORDS_END;
	block.type = records_word(records, records_here(records));
	block.length = records_word(records, records_here(records) + 4);
	if (block.length < head_bytes(block.type) + TRAILER_BYTES || block.length % 4)
		return records_damaged(records, "the next block has an impossible length");
	/* What has no frame may be of any length, and is passed. */
	got = head_bytes(block.type) == 8 ? RECORDS_NOTHING : reach(records, &block);
	if (got != RECORDS_NOTHING)
		return got;
	if (block.type == PCAPNG_SECTION)
		return records_damaged(records, "the next section cannot be read");
	got = take_block(records, &block, record);
	if (got != RECORDS_END)
		records->parsed += block.length;
	record->end = records->parsed;
	return got;
}

/* The header of each frame in a pcap, in the byte order of its writer. */
struct pcap_record {
	uint32_t seconds, fraction, bytes, wire_bytes;
};

/* ---- pcap ---- */

/* Deals with a record that is none: another file follows, or the record is damaged. */
static __attribute__((noinline)) enum records_got odd_record(struct records *records,
                                                             const struct pcap_record *record)
{
	if (records_begin(records))
		return records->refused[0] ? RECORDS_END : RECORDS_NOTHING;
	if (records->damage[0])
		return RECORDS_END;
	if (record->bytes > CAPTURE_FRAME_MAX) {
		snprintf(records->damage, sizeof(records->damage),
		         "the next frame claims %u bytes, and %u are the maximum", record->bytes,
		         CAPTURE_FRAME_MAX);
		return RECORDS_END;
	}
	return RECORDS_FRAME;
}

static inline enum records_got next_of_pcap(struct records *records, struct record *record)
{
	struct pcap_record head;
	enum records_got got;
	int32_t fraction;

	if (unlikely(!records_has(records, sizeof(head)))) {
		if (!records_has(records, 1))
			return RECORDS_END;
		return records_damaged(records, "the file ends in the middle of a frame's header");
	}
	__builtin_prefetch(records_here(records) + AHEAD_BYTES);
	memcpy(&head, records_here(records), sizeof(head));
	if (unlikely(records->swapped)) {
		head.seconds = __builtin_bswap32(head.seconds);
		head.fraction = __builtin_bswap32(head.fraction);
		head.bytes = __builtin_bswap32(head.bytes);
		head.wire_bytes = __builtin_bswap32(head.wire_bytes);
	}
	/* The header of an appended pcap looks like a frame without bytes. */
	if (unlikely(head.bytes > CAPTURE_FRAME_MAX || (head.bytes | head.wire_bytes) == 0)) {
		got = odd_record(records, &head);
		if (got != RECORDS_FRAME)
			return got;
	}
	if (unlikely(records_ahead(records) + sizeof(head) + head.bytes > BLOCK_READER_REACH_MAX))
		return RECORDS_FULL;
	if (unlikely(!records_has(records, (uint32_t)sizeof(head) + head.bytes)))
		return records_damaged(records, "the file ends in the middle of a frame");
	/* A fraction of more than a second is carried over; a negative one cannot be intended. */
	fraction = (int32_t)head.fraction;
	record->stamp_ns = head.seconds * INT64_C(1000000000) +
	                   (fraction < 0 ? 0 : (int64_t)fraction * records->fraction_ns);
	record->at = records->parsed + sizeof(head);
	record->end = record->at + head.bytes;
	record->bytes = head.bytes;
	record->wire_bytes = RTE_MAX(head.wire_bytes, head.bytes);
	record->timeless = false;
	if (unlikely(record->bytes > records->bytes_max))
		record->bytes = records->bytes_max;
	if (unlikely(records->fcs_bytes > 0))
		records_cut_fcs(record, records->fcs_bytes);
	records->parsed = record->end;
	if (likely(!records->other_link))
		return RECORDS_FRAME;
	records->n_other++;
	return RECORDS_NOTHING;
}

/* ---- both ---- */

void records_open(struct records *records, struct block_reader *from, const char *name, int link)
{
	*records = (struct records){
	        .from = from,
	        .name = name,
	        .link = link,
	        .link_wanted = link != RECORDS_ANY_LINK,
	        .first_stamp_ns = INT64_MAX,
	};
	if (records_has(records, 4))
		(void)records_begin(records);
}

void records_close(struct records *records)
{
	free(records->interfaces);
	records->interfaces = NULL;
}

bool records_describe(struct records *records)
{
	struct record record;

	if (records->name && records->format != RECORDS_PCAPNG) {
		snprintf(records->refused, sizeof(records->refused),
		         "it is not a pcapng: only a pcapng has interfaces with names");
		return false;
	}
	if (records->format == RECORDS_PCAP)
		return records->refused[0] == '\0';
	while (!records->found) {
		const enum records_got got = records_next(records, &record);

		if (got == RECORDS_END)
			break;
		records_release(records, records->parsed);
	}
	if (records->found || records->refused[0] || !records->name)
		return records->found;
	if (records->damage[0] == '\0')
		snprintf(records->refused, sizeof(records->refused),
		         "it has no interface `%.60s`; it has %s", records->name,
		         records->others[0] ? records->others : "none with a name");
	return false;
}

enum records_got records_next(struct records *records, struct record *record)
{
	if (unlikely(records->refused[0] || records->damage[0]))
		return RECORDS_END;
	/* Room for the head of any record. */
	if (unlikely(records_ahead(records) > BLOCK_READER_REACH_MAX - RECORDS_HEAD_BYTES))
		return RECORDS_FULL;
	return likely(records->format == RECORDS_PCAP) ? next_of_pcap(records, record)
	                                               : records_pcapng_next(records, record);
}

void records_release(struct records *records, uint64_t position)
{
	struct block_reader *from = records->from;

	while (records->released < position) {
		const uint64_t has = (uint64_t)(from->end - from->at);
		const uint64_t part = RTE_MIN(has, position - records->released);

		from->at += part;
		records->released += part;
		if (records->released < position && !block_reader_reach(from, 1)) {
			(void)records_damaged(records, "the file ends in the middle of a block");
			break;
		}
	}
}
