/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The records of a capture file, as they lie in the bytes of a block reader: pcap (version 2.4) and
 * pcapng, in either byte order, also several of them in succession (`cat a.pcap b.pcapng`). Other
 * formats are libpcap's (capture.c).
 *
 * Look ahead. records_next parses the record behind those that it has returned already; the bytes
 * of all of them stay until records_release. It looks no further than BLOCK_READER_REACH_MAX, and
 * where it stops depends only on the bytes of the file.
 *
 * Link types. The frames of a file have one link type: that of its first interface, or the one that
 * the caller wants. If the caller wants none, an interface or a pcap of another link type *refuses*
 * the file. Otherwise frames of others are left out, and counted. With the name of an interface
 * (if_name of a pcapng), only that interface is read.
 *
 * Stamps. A stamp counts nanoseconds since 1970, and may be before that. if_tsresol and if_tsoffset
 * are applied. The frame of a simple packet block has no stamp.
 *
 * FCS. If a header says that frames end with a frame check sequence, it is cut off: rates count it
 * already (docs/rate.md), and no output has one.
 *
 * Thread: one at a time.
 */
#ifndef WEIR_RECORDS_H
#define WEIR_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/block_file.h"

#define RECORDS_ANY_LINK   (-1)
#define RECORDS_HEAD_BYTES 64 /* more than the header of any record */

/* 1966 and 2109: what is further away is not distinguished. */
#define RECORDS_STAMP_LEAST (INT64_C(-100000000) * 1000000000)
#define RECORDS_STAMP_MOST  (INT64_C(4400000000) * 1000000000)

struct record {
	int64_t stamp_ns;
	uint64_t at, end; /* positions in the file: of the frame, and behind the record */
	uint32_t bytes, wire_bytes;
	int64_t back_ns; /* so much earlier than the stamp before it, or 0 (frame_order.h) */
	bool timeless;   /* has no stamp */
	bool taken;      /* was handed out before one ahead of it (frame_order.h) */
};

struct records_interface {
	uint32_t snap;      /* 0: no limit */
	int64_t shift_s;    /* if_tsoffset */
	uint8_t resolution; /* if_tsresol: 10^-n s, or with the highest bit 2^-n s */
	uint8_t fcs_bytes;
	enum { RECORDS_READ, RECORDS_UNWANTED, RECORDS_OTHER_LINK } use;
};

enum records_format { RECORDS_FOREIGN, RECORDS_PCAP, RECORDS_PCAPNG };
enum records_got {
	RECORDS_FRAME,
	RECORDS_NOTHING, /* a block without a frame was passed */
	RECORDS_FULL,    /* first release what was returned */
	RECORDS_END,
};

struct records {
	struct block_reader *from;
	uint64_t released; /* position of from->at */
	uint64_t parsed;   /* position of the next record */
	enum records_format format;
	bool swapped;
	int link;         /* DLT_ value of libpcap, or RECORDS_ANY_LINK: not known yet */
	bool link_wanted; /* `link` is what the caller wants */
	/* of a pcap */
	uint32_t fraction_ns, bytes_max, fcs_bytes;
	bool other_link; /* its frames are left out */
	/* of a pcapng: the interfaces of this section */
	const char *name; /* the caller's; NULL: all interfaces are read */
	bool found;       /* an interface to be read */
	struct records_interface *interfaces;
	uint32_t n_interfaces, room;
	int64_t first_stamp_ns; /* of all interfaces; INT64_MAX: none yet */
	uint64_t n_other;       /* frames of other link types */
	char other[120];        /* the first interface whose frames were left out */
	char others[160];       /* names of interfaces */
	char refused[260];      /* why this file cannot be read at all, or "" */
	char damage[160];       /* what is wrong with its end, or "" */
};

/* `name` NULL: all interfaces; `link` is a DLT_ value, or RECORDS_ANY_LINK. Looks at the first
 * bytes of the file. If the format is RECORDS_FOREIGN, nothing was taken. */
void records_open(struct records *records, struct block_reader *from, const char *name, int link);
void records_close(struct records *records);
/* Passes what precedes the first frame until the link type is known. Returns false if it cannot be:
 * `refused` or `damage` says why. */
bool records_describe(struct records *records);

enum records_got records_next(struct records *records, struct record *record);
/* Lets go of all bytes before the position. */
void records_release(struct records *records, uint64_t position);

/* The bytes that were parsed and are not released. */
static inline uint64_t records_ahead(const struct records *records)
{
	return records->parsed - records->released;
}

static inline const uint8_t *records_data(const struct records *records,
                                          const struct record *record)
{
	return records->from->at + (record->at - records->released);
}

#endif
