/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the file that a statement names, for a FIELD_FILE: the whole of it, at once. Only regular
 * files are read, of at most FILE_BYTES_MAX.
 *
 * A caller that parses a line on behalf of another process names the source of its files
 * (file_source_use): a client of the control socket names files that it has opened itself, and none
 * of weir's. Without a source this process opens the file, and a relative name begins at its
 * working directory; file_beside_begin sets the source of a scenario file.
 *
 * Thread: any; a source belongs to the thread that set it.
 */
#ifndef WEIR_FILE_READ_H
#define WEIR_FILE_READ_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "scenario/file.h"
#include "text/language_error.h"

/*
 * Work in a line that may take long: reading the files that it names, and filters. A thread that
 * must not wait, such as control, declares this with blocking_allow(false). Such a line is then
 * refused with ERROR_WOULD_BLOCK before the work begins, and a thread that may wait parses it
 * again.
 *
 * Thread: each thread has its own setting; initially, blocking is allowed.
 */

#define ERROR_WOULD_BLOCK "would-block" /* is never shown to a user */

void blocking_allow(bool allowed);
/* Returns 0 if the thread may block, else -EINVAL with error. */
int blocking_begin(struct language_error *error);

#define FILE_BYTES_MAX        (UINT64_C(1) << 30)
#define FILE_CLIENT_BYTES_MAX (UINT64_C(8) << 20) /* of a file that a client names */

struct file_source {
	/* Like file_read. */
	int (*read)(const struct file_source *source, const char *name, struct file **file,
	            struct language_error *error);
};

/* Sets the source of this thread; NULL: this process opens the files. */
void file_source_use(const struct file_source *source);

/* Returns 0 and a reference, or -EINVAL or -ENOMEM with error. The column of `error` is not set. */
int file_read(const char *name, struct file **file, struct language_error *error);
/* Opens and reads the file in this process, whatever the source; `bytes_max` at most. */
int file_read_own(const char *name, uint64_t bytes_max, struct file **file,
                  struct language_error *error);
/* Reads from a descriptor likewise. The caller keeps the descriptor; its file offset is ignored. */
int file_read_open(int fd, const char *name, uint64_t bytes_max, struct file **file,
                   struct language_error *error);

/* Reads a stream to its end: a file or a pipe. Returns a text, ended by a 0 that `*bytes` does not
 * count, to be freed; NULL with errno, which is EFBIG if it has more than `bytes_max`. */
char *file_read_stream(FILE *in, size_t bytes_max, size_t *bytes);

/*
 * Files that a scenario file names: a relative name is looked up beside the scenario file first,
 * then in the working directory of this process. So a scenario and its traces can lie anywhere,
 * together. A file keeps the name that was written (file.h).
 *
 * Thread: a source belongs to the thread that uses it.
 */

struct file_beside {
	struct file_source source; /* the first member */
	const struct file_source *before;
	char folder[PATH_MAX]; /* of the scenario, ending with a slash; "": the working directory */
};

/* Opens `name` beside the scenario file `path` (NULL: there is none), else in the working
 * directory. Returns a descriptor, or -errno. */
int file_beside_open(const char *path, const char *name);

/* Makes this thread read files from beside the scenario file `path`, unless a source is already in
 * force. To be followed by file_beside_end. */
void file_beside_begin(struct file_beside *beside, const char *path);
void file_beside_end(const struct file_beside *beside);

#endif
