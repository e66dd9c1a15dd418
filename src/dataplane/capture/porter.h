/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Somebody who carries blocks between memory and files while their owner goes on: a thread that does
 * nothing but read and write, one errand after the other, in the order in which they were given.
 *
 * Why: of a replay of small frames the kernel's copies into and out of its page cache take as long as
 * everything else together. A second processor takes them (measured: docs/performance.md).
 *
 * Where there is only one processor there is no porter: errands are then done at once by who gives
 * them, and nothing else changes.
 *
 * Ownership: an errand and its memory belong to who gave it, and must not be touched until porter_wait.
 * Thread: all calls from one thread. The porter's takes no signals.
 */
#ifndef WEIR_PORTER_H
#define WEIR_PORTER_H

#include <stdbool.h>
#include <stddef.h>

struct porter;

/* One block to be read or written at the file's own position. All zero: nothing was given yet. */
struct errand {
	int fd;
	bool write; /* all of it; a read gives what one call of the system gives, 0 at the end */
	void *data;
	size_t bytes;
	/* what became of it, after porter_wait */
	size_t done;
	int error; /* errno, or 0 */
	/* the porter's */
	struct errand *next;
	bool given;
};

/* NULL: there is none, because nothing would be gained or no thread can be had. That is no error:
 * every call below takes NULL. */
struct porter *porter_make(void);
/* The thread ends; every errand must have been waited for. */
void porter_free(struct porter *porter);

/* The errand is on its way, or done. It must not be on its way already. */
void porter_give(struct porter *porter, struct errand *errand);
/* Until it is done; at once if it is or was never given. */
void porter_wait(struct porter *porter, struct errand *errand);

#endif
