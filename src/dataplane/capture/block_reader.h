/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file as a stream of bytes that can be examined in place. It is read in blocks, the next one
 * while the present one is used (io_thread.h). The calling thread itself reads from a pipe, and
 * only what is there.
 *
 * Ownership: the block reader owns the descriptor and the bytes, which may be modified. They are
 * valid until the next block_reader_reach.
 * Thread: one at a time.
 */
#ifndef WEIR_BLOCK_READER_H
#define WEIR_BLOCK_READER_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>

#include "capture/io_thread.h"
#include "packet/packet.h"

/* The most bytes that can be examined in one piece. */
#define BLOCK_READER_REACH_MAX (PACKET_BYTES_MAX + 256u)

struct block_reader {
	uint8_t *at, *end;           /* what was read and is not yet taken */
	struct io_thread *io_thread; /* NULL: the caller reads */
	struct io_request io_requests[2];
	uint32_t present; /* the block in use; the other one is being read */
	int error;        /* errno of a failed read; what was read before is still there */
	bool ended;
	uint8_t *memory;
};

/* What precedes the present position of the descriptor: the first bytes of the file, if they have
 * been read already; and the source of the bytes, if they are not read from the descriptor as they
 * are. All zero: neither. */
struct block_start {
	const uint8_t *head;
	uint32_t head_bytes;
	struct io_source *source; /* the caller's, until block_reader_close */
};

/* Returns 0, or -ENOMEM; then the descriptor is closed, too. `io_thread`: for regular files
 * only. */
int block_reader_open(struct block_reader *block_reader, int fd, const struct block_start *start,
                      struct io_thread *io_thread);
void block_reader_close(struct block_reader *block_reader);

/* Reads until `bytes` can be examined in one piece. Returns false if the file ends before that, or
 * cannot be read. */
bool block_reader_reach(struct block_reader *block_reader, uint32_t bytes);

/* Returns true if `bytes`, at most BLOCK_READER_REACH_MAX, can be examined in one piece. */
static inline bool block_reader_has(struct block_reader *block_reader, uint32_t bytes)
{
	return likely((size_t)(block_reader->end - block_reader->at) >= bytes) ||
	       block_reader_reach(block_reader, bytes);
}

#endif
