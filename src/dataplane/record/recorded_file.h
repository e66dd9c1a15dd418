/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A recording's ingress.pcapng. Every reader of pcapng sees the packets that came in: an interface
 * for each port, instants of the engine in nanoseconds since the run began, the packet's number at
 * its port (epb_packetid) and the worker that got it (epb_queue). Entries that are no packets
 * (tape_entry.h) are blocks of a type for local use, which readers pass over.
 *
 * Blocks of one worker are in the order in which its engine met them. Those of several workers are
 * mixed, in no order. The file may end anywhere: it is written as the packets come, and nothing
 * waits for its end.
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

#include "capture/block_reader.h"
#include "capture/block_writer.h"
#include "record/tape_entry.h"
#include "scenario/problem.h"
#include "scenario/scenario.h"

#define RECORDED_ENTRY UINT32_C(0x80776972)
#define RECORDED_AGE   0x8001

/* ---- writing ---- */

/* The head: a section, and the ports. */
void recorded_begin(struct block_writer *to, const struct scenario *scenario, uint32_t snap);
/* Returns how many bytes it took. */
uint64_t recorded_put(struct block_writer *to, uint32_t worker, const struct tape_entry *entry);

/* ---- reading ---- */

struct recorded {
	uint32_t worker;
	/* Of PACKETS there is one: n is 1. */
	struct tape_entry entry;
	const uint8_t *data;         /* of the packet; else what is behind the entry */
	uint32_t bytes;              /* of them */
	uint32_t wire_bytes, age_ns; /* of the packet */
};

struct recorded_reader;

/* `worker`: whose entries are read;
 * RECORDED_ALL: of all. 0; -EINVAL with problem: it cannot be read, or is no recording; -ENOMEM. */
#define RECORDED_ALL UINT32_MAX
int recorded_open(const char *path, uint32_t worker, struct recorded_reader **reader,
                  struct problem *problem);
void recorded_close(struct recorded_reader *reader); /* NULL is allowed */
/* False: the end. */
bool recorded_next(struct recorded_reader *reader, struct recorded *recorded);
/* What is wrong with its end; "": nothing, or not yet. */
const char *recorded_damage(const struct recorded_reader *reader);
/* Of the file, that were read. */
uint64_t recorded_done_bytes(const struct recorded_reader *reader);

#endif
