/* SPDX-License-Identifier: BSD-3-Clause */
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
#ifndef WEIR_IO_THREAD_H
#define WEIR_IO_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

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

#endif
