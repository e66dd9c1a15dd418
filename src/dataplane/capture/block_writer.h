/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes bytes into a file. They are gathered in blocks, each of which is written while the next
 * one is filled (io_thread.h). The calling thread itself writes blocks for a pipe or a device.
 *
 * Ownership: the descriptor stays the caller's, and must not be closed before block_writer_close.
 * Thread: one at a time.
 */
#ifndef WEIR_BLOCK_WRITER_H
#define WEIR_BLOCK_WRITER_H

#include <stdint.h>

#include <rte_branch_prediction.h>

#include "capture/frame_copy.h"
#include "capture/io_thread.h"

struct block_writer {
	uint8_t *at, *end; /* room in the present block */
	size_t block_bytes;
	struct io_thread *io_thread; /* NULL: the caller writes */
	struct io_request io_requests[2];
	uint32_t present;
	int error; /* the first errno; after it nothing is written */
	uint8_t *memory;
};

/* Returns 0 or -ENOMEM. `io_thread`: for regular files only. */
int block_writer_open(struct block_writer *block_writer, int fd, struct io_thread *io_thread);
/* Passes all bytes through the sink. Must be called before the first byte is put. Ownership: the
 * sink is the caller's, and must exist until block_writer_close. */
void block_writer_through(struct block_writer *block_writer, struct io_sink *sink);
/* Writes all that was put before it returns. Returns 0, or the first errno so far. */
int block_writer_flush(struct block_writer *block_writer);
/* Frees the memory. What was not flushed may or may not be written. May be called twice, and for a
 * block writer that is all zero. */
void block_writer_close(struct block_writer *block_writer);

/* Puts bytes that do not fit into the present block. */
void block_writer_put_across(struct block_writer *block_writer, const void *data, uint32_t bytes);

/* Puts bytes. Errors are kept until `error` is read or block_writer_flush is called. */
static inline void block_writer_put(struct block_writer *block_writer, const void *data,
                                    uint32_t bytes)
{
	if (unlikely((size_t)(block_writer->end - block_writer->at) < bytes)) {
		block_writer_put_across(block_writer, data, bytes);
		return;
	}
	frame_copy(block_writer->at, data, bytes);
	block_writer->at += bytes;
}

#endif
