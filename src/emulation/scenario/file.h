/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The content of a file that a statement names, read when the statement was parsed. The engine
 * opens no file: control reads it (control/text/file_read.h), checks and stages read the bytes in
 * memory. If the file on the disk changes afterwards, nothing happens until the statement is given
 * again.
 *
 * Ownership: counted references; the copies of a configuration share one content.
 *
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
	bool secret; /* a client's: no message quotes its content */
	size_t bytes;
	char *text; /* `bytes` long, followed by a 0 */
};

/* Makes a file with one reference and room for `bytes` in `text`. Returns NULL if there is no
 * memory. */
struct file *file_make(const char *name, size_t bytes);
struct file *file_hold(struct file *file);
/* Gives a reference back. The last one frees the file. NULL is allowed. */
void file_release(struct file *file);
/* Returns true if names and contents are equal. */
bool file_equal(const struct file *a, const struct file *b);

/* ---- reading line by line ---- */

struct file_line {
	const char *text; /* not ended by 0 */
	size_t bytes;     /* without the end of the line, LF or CR LF */
	uint64_t number;  /* from 1 */
};

/* Goes on to the next line; the first call gets {0}. Returns false behind the last line. */
bool file_next_line(const struct file *file, struct file_line *line);

/* Returns some bytes of the content for a message: printable, FILE_SHOWN_BYTES at most; `...` if
 * the file is secret. */
#define FILE_SHOWN_BYTES 40
struct file_shown {
	char text[FILE_SHOWN_BYTES + 1];
};
struct file_shown file_shown(const struct file *file, const char *text, size_t bytes);

#endif
