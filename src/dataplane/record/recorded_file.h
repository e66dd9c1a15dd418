/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A recording's ingress.pcapng. Every reader of pcapng sees the packets that came in: an interface
 * for each port, the engine's instants in nanoseconds since the start of the run, the packet's
 * number at its port (epb_packetid) and the worker whose engine got it (epb_queue). Entries other
 * than packets (tape_entry.h) are blocks of a type for local use, which readers skip.
 *
 * The blocks of one worker are in the order in which its engine processed them. Blocks of several
 * workers are mixed, in no order. The file may end anywhere: it is written as the packets come, and
 * needs nothing at its end.
 *
 * It may be compressed (unpack.h), and is recognized by its first bytes.
 *
 *   entry block   type RECORDED_ENTRY, length, worker, 0, struct tape_entry and what is behind it,
 *                 length; 32 bits each but for the entry
 *   age           of a packet, an option for local use, 0x8001: 32 bits, ns
 *
 * Thread: one at a time. A reader owns what it has read until the next call.
 */
#ifndef WEIR_RECORDED_FILE_H
#define WEIR_RECORDED_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/block_file.h"
#include "record/tape_entry.h"
#include "scenario/problem.h"
#include "scenario/scenario.h"

#define RECORDED_ENTRY UINT32_C(0x80776972)
#define RECORDED_AGE   0x8001

/* ---- writing ---- */

/* Writes the head: a section, and the ports. */
void recorded_begin(struct block_writer *to, const struct scenario *scenario, uint32_t snap);
/* Writes an entry. Returns the number of bytes. */
uint64_t recorded_put(struct block_writer *to, uint32_t worker, const struct tape_entry *entry);

/* ---- reading ---- */

struct recorded {
	uint32_t worker;
	/* PACKETS are returned one by one: n is 1. */
	struct tape_entry entry;
	const uint8_t *data;         /* the packet; of other kinds, what is behind the entry */
	uint32_t bytes;              /* of `data` */
	uint32_t wire_bytes, age_ns; /* of the packet */
};

struct recorded_reader;

/* Opens a recording, to read the entries of one worker, or of all (RECORDED_ALL). Returns 0;
 * -EINVAL with problem if the file cannot be read, or is no recording; or -ENOMEM. */
#define RECORDED_ALL UINT32_MAX
int recorded_open(const char *path, uint32_t worker, struct recorded_reader **reader,
                  struct problem *problem);
void recorded_close(struct recorded_reader *reader); /* NULL is allowed */
/* Returns false at the end. */
bool recorded_next(struct recorded_reader *reader, struct recorded *recorded);
/* Returns what is wrong with the end of the file; "" if nothing is, or if it is not yet reached. */
const char *recorded_damage(const struct recorded_reader *reader);
/* Returns how many bytes of the file were read. */
uint64_t recorded_done_bytes(const struct recorded_reader *reader);

/* Constants for both writing and reading a recording, besides those of pcapng. */

#define RECORDED_ENTRY_HEAD  16 /* bytes ahead of an entry */
#define RECORDED_APPLICATION "weir recording 1"

#endif
