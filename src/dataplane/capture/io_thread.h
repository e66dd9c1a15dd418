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

/* Where bytes come from that no descriptor gives as they are (unpack.h). */
struct io_source {
	/* Like read(2): -1 with errno; 0 at the end. */
	ssize_t (*read)(struct io_source *source, void *to, size_t bytes);
};

/* Where bytes go that no descriptor takes as they are (pack.h). */
struct io_sink {
	/* All of them: 0, or an errno. */
	int (*write)(struct io_sink *sink, const void *data, size_t bytes);
};

/* One block to be read or written at the file's own position. All zero: nothing was given yet. */
struct io_request {
	int fd;
	struct io_source *source; /* to be read instead of the descriptor; or NULL */
	struct io_sink *sink;     /* takes what is written instead of the descriptor; or NULL */
	bool write; /* all of it; a read gives what one call of the system gives, 0 at the end */
	void *data;
	size_t bytes;
	/* what became of it, after io_thread_wait */
	size_t done;
	int error; /* errno, or 0 */
	/* the I/O thread's */
	struct io_request *next;
	bool given;
};

/* NULL: there is none, because nothing would be gained or no thread can be had. That is no error:
 * every call below takes NULL. */
struct io_thread *io_thread_make(void);
/* The thread ends; every request must have been waited for. */
void io_thread_free(struct io_thread *io_thread);

/* The request is on its way, or done. It must not be on its way already. */
void io_thread_give(struct io_thread *io_thread, struct io_request *io_request);
/* Until it is done; at once if it is or was never given. */
void io_thread_wait(struct io_thread *io_thread, struct io_request *io_request);

#endif
