/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The content of a file that a statement names, read when the statement was parsed. The engine
 * opens no file: the control side reads it (control/text/file_read.h), checks and stages look at
 * the bytes. What the file becomes on the disk afterwards changes nothing until the statement is
 * given again.
 *
 * Ownership: counted references; the copies of a configuration share one content.
 * Thread: control side, any thread; the content never changes.
 */
#ifndef WEIR_FILE_H
#define WEIR_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file {
	uint32_t references;
	char *name;  /* as it was written */
	bool secret; /* of a client's: nothing of its content stands in a message */
	size_t bytes;
	char *text; /* `bytes` of them, and a 0 behind */
};

/* One reference, with room for `bytes` in `text`. NULL: no memory. */
struct file *file_make(const char *name, size_t bytes);
struct file *file_hold(struct file *file);
/* The last reference frees it. NULL is nothing. */
void file_release(struct file *file);
/* Same name, same content. */
bool file_equal(const struct file *a, const struct file *b);

/* ---- reading it line by line ---- */

struct file_line {
	const char *text; /* not ended by 0 */
	size_t bytes;     /* without the line's end, be it LF or CR LF */
	uint64_t number;  /* from 1 */
};

/* The line behind `line`, which begins as {0}. False: that was the last. */
bool file_next_line(const struct file *file, struct file_line *line);

/* Some bytes of the content for a message: printable, and FILE_SHOWN_BYTES at most; `...` if it is
 * secret. */
#define FILE_SHOWN_BYTES 40
struct file_shown {
	char text[FILE_SHOWN_BYTES + 1];
};
struct file_shown file_shown(const struct file *file, const char *text, size_t bytes);

#endif
