/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file as a stream of bytes that can be examined in place: read in blocks, the next one while the
 * present one is used (io_thread.h). From a pipe the calling thread reads, no further than there is
 * data.
 *
 * Ownership: the block reader owns the descriptor and the bytes, which stay until the next
 * block_reader_reach or read from the stream. Thread: one at a time.
 */
#ifndef WEIR_BLOCK_READER_H
#define WEIR_BLOCK_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_branch_prediction.h>

#include "capture/io_thread.h"
#include "packet/packet.h"

/* The most that can be looked at in one piece. */
#define BLOCK_READER_REACH_MAX (PACKET_BYTES_MAX + 256u)

struct block_reader {
	const uint8_t *at, *end;     /* what was read and not yet taken */
	struct io_thread *io_thread; /* NULL: the caller reads */
	struct io_request io_requests[2];
	uint32_t present; /* the block that is looked at; the other is on its way */
	int error;        /* errno of a read that failed; what came before is still there */
	bool ended;
	uint8_t *memory;
};

/* What is read in front of the file's present position: its first bytes, if they were read already;
 * and through what it is read, if not as it is. All zero: neither. */
struct block_start {
	const uint8_t *head;
	uint32_t head_bytes;
	struct io_source *source; /* the caller's, until block_reader_close */
};

/* 0, or -ENOMEM; then the descriptor is closed, too. `io_thread`: for regular files only. */
int block_reader_open(struct block_reader *block_reader, int fd, const struct block_start *start,
                      struct io_thread *io_thread);
void block_reader_close(struct block_reader *block_reader);

/* Reads until `bytes` can be looked at; false: the file ends before, or cannot be read. */
bool block_reader_reach(struct block_reader *block_reader, uint32_t bytes);

/* Whether `bytes` can be looked at in one piece; at most BLOCK_READER_REACH_MAX. */
static inline bool block_reader_has(struct block_reader *block_reader, uint32_t bytes)
{
	return likely((size_t)(block_reader->end - block_reader->at) >= bytes) ||
	       block_reader_reach(block_reader, bytes);
}

/* The same bytes as a stdio stream. It buffers nothing, so both can be used in turns. To be closed
 * before the block reader. NULL: no memory. */
FILE *block_reader_stream(struct block_reader *block_reader);

#endif
