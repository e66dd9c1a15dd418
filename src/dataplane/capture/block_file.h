/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes bytes into a file. They are gathered in blocks, each of which is written while the next
 * one is filled. The calling thread itself writes blocks for a pipe or a device.
 *
 * Ownership: the descriptor stays the caller's, and must not be closed before block_writer_close.
 * Thread: one at a time.
 */
#ifndef WEIR_BLOCK_FILE_H
#define WEIR_BLOCK_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <rte_branch_prediction.h>

#include "capture/frame_copy.h"
#include "packet/packet.h"

/*
 * The I/O thread carries blocks between memory and files while their owner continues. It does
 * nothing but read and write, one request after the other, in the order of submission.
 *
 * Why: in a replay of small frames, the kernel's copies into and out of its page cache take as long
 * as everything else together. A second processor takes them (measured: docs/performance.md).
 *
 * With only one processor there is no I/O thread: the caller then executes its requests at once,
 * and nothing else changes.
 *
 * Ownership: a request and its memory belong to the caller, and must not be touched until
 * io_thread_wait.
 * Thread: all calls from one thread. The I/O thread's takes no signals.
 */

struct io_thread;

/* A source of bytes other than a plain descriptor (unpack.h). */
struct io_source {
	/* Like read(2): returns -1 with errno, or 0 at the end. */
	ssize_t (*read)(struct io_source *source, void *to, size_t bytes);
};

/* A sink of bytes other than a plain descriptor (pack.h). */
struct io_sink {
	/* Writes all of them. Returns 0 or an errno. */
	int (*write)(struct io_sink *sink, const void *data, size_t bytes);
};

/* One block to be read or written at the file's current position. All zero: nothing was submitted
 * yet. */
struct io_request {
	int fd;
	struct io_source *source; /* read instead of the descriptor; or NULL */
	struct io_sink *sink;     /* written instead of the descriptor; or NULL */
	bool write; /* writes all bytes; a read returns the bytes of one read(2), 0 at the end */
	void *data;
	size_t bytes;
	/* result, valid after io_thread_wait */
	size_t done;
	int error; /* errno, or 0 */
	/* of the I/O thread */
	struct io_request *next;
	bool given;
};

/* Returns NULL if a thread would gain nothing, or cannot be created. That is no error: every call
 * below accepts NULL. */
struct io_thread *io_thread_make(void);
/* Ends the thread. Every request must have been waited for. */
void io_thread_free(struct io_thread *io_thread);

/* Submits a request, which must not be under way already. Without an I/O thread, executes it. */
void io_thread_give(struct io_thread *io_thread, struct io_request *io_request);
/* Waits until the request is done. Returns at once if it is, or if it was never submitted. */
void io_thread_wait(struct io_thread *io_thread, struct io_request *io_request);

/*
 * A file as a stream of bytes that can be examined in place. It is read in blocks, the next one
 * while the present one is used. The calling thread itself reads from a pipe, and
 * only what is there.
 *
 * Ownership: the block reader owns the descriptor and the bytes, which may be modified. They are
 * valid until the next block_reader_reach.
 * Thread: one at a time.
 */

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
