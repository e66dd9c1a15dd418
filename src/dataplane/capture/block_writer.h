/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes on their way into a file: gathered in blocks, each written while the next is filled
 * (io_thread.h). The calling thread itself writes blocks for a pipe or a device.
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
	int error; /* the first errno; from there on nothing is written */
	uint8_t *memory;
};

/* 0, or -ENOMEM. `io_thread`: for regular files only. */
int block_writer_open(struct block_writer *block_writer, int fd, struct io_thread *io_thread);
/* Ahead of the first byte: all goes through the sink, which is the caller's, until
 * block_writer_close. */
void block_writer_through(struct block_writer *block_writer, struct io_sink *sink);
/* All that was put is written when this returns: 0, or the first errno there was. */
int block_writer_flush(struct block_writer *block_writer);
/* What was not flushed may be written or not. May be called twice, and of one that is all zero. */
void block_writer_close(struct block_writer *block_writer);

/* For what does not fit into the present block. */
void block_writer_put_across(struct block_writer *block_writer, const void *data, uint32_t bytes);

/* Errors stay until they are read: by `error`, or block_writer_flush. */
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
