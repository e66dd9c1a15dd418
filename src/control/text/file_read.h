/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the file that a statement names, for a FIELD_FILE: the whole of it, at once. Only regular
 * files are read, of at most FILE_BYTES_MAX.
 *
 * A caller that parses a line on behalf of another process names the source of its files
 * (file_source_use): a client of the control socket names files that it has opened itself, and none
 * of weir's. Without a source this process opens the file, and a relative name begins at its
 * working directory; file_beside.h has the source of a scenario file.
 *
 * Thread: any; a source belongs to the thread that set it.
 */
#ifndef WEIR_FILE_READ_H
#define WEIR_FILE_READ_H

#include "text/language_error.h"
#include "scenario/file.h"

#define FILE_BYTES_MAX        (UINT64_C(1) << 30)
#define FILE_CLIENT_BYTES_MAX (UINT64_C(8) << 20) /* of a file that a client names */

struct file_source {
	/* Like file_read. */
	int (*read)(const struct file_source *source, const char *name, struct file **file,
	            struct language_error *error);
};

/* Sets the source of this thread; NULL: this process opens the files. */
void file_source_use(const struct file_source *source);
/* Returns the source of this thread, or NULL. */
const struct file_source *file_source_used(void);

/* Returns 0 and a reference, or -EINVAL or -ENOMEM with error. The column of `error` is not set. */
int file_read(const char *name, struct file **file, struct language_error *error);
/* Opens and reads the file in this process, whatever the source; `bytes_max` at most. */
int file_read_own(const char *name, uint64_t bytes_max, struct file **file,
                  struct language_error *error);
/* Reads from a descriptor likewise. The caller keeps the descriptor; its file offset is ignored. */
int file_read_open(int fd, const char *name, uint64_t bytes_max, struct file **file,
                   struct language_error *error);
/* Sets the error for a file that does not exist, with the places where it was looked for: `folder`,
 * unless that is "", and the working directory. Returns -EINVAL. */
int file_missing(const char *name, const char *folder, struct language_error *error);
/* Opens a file as file_read_own does. Returns a descriptor, or -errno. */
int file_open(const char *name);

#endif
