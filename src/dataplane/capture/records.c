/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pcap/pcap.h>

#include "capture/capture.h"
#include "capture/pcapng.h"

#define PCAP_HEAD_BYTES 24
#define AHEAD_BYTES     1024
#define LINKTYPE_RAW    101
#define HAS_FCS         0x04000000u

/* The header of each frame in a pcap, in the byte order of its writer. */
struct pcap_record {
	uint32_t seconds, fraction, bytes, wire_bytes;
};

enum records_got records_damaged(struct records *records, const char *why)
{
	snprintf(records->damage, sizeof(records->damage), "%s", why);
	return RECORDS_END;
}

/* ---- link types ---- */

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

bool records_judge_link(struct records *records, uint32_t linktype, const char *what, bool *other)
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

/* ---- pcap ---- */

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

bool records_begin(struct records *records)
{
	return pcap_begins(records) || records_section_begins(records);
}

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
