/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the file that a statement names, for a FIELD_FILE: the whole of it, at once. Only regular
 * files, of at most FILE_BYTES_MAX.
 *
 * A caller that parses a line on behalf of another says where its files come from
 * (file_source_use): a client of the control socket names files that it has opened itself, and none
 * of weir's. Without a source this process opens the file, and a relative name begins at its
 * working directory; file_beside.h has the source of a scenario file.
 *
 * Thread: any; a source is that of the thread that named it.
 */
#ifndef WEIR_FILE_READ_H
#define WEIR_FILE_READ_H

#include "text/language_error.h"
#include "scenario/file.h"

#define FILE_BYTES_MAX        (UINT64_C(1) << 30)
#define FILE_CLIENT_BYTES_MAX (UINT64_C(8) << 20) /* of one that a client names */

struct file_source {
	/* As file_read. */
	int (*read)(const struct file_source *source, const char *name, struct file **file,
	            struct language_error *error);
};

/* NULL: this process opens them. */
void file_source_use(const struct file_source *source);
/* The one of this thread. */
const struct file_source *file_source_used(void);

/* 0 and a reference; else -EINVAL or -ENOMEM with error, whose column is left alone. */
int file_read(const char *name, struct file **file, struct language_error *error);
/* Whatever the source: opened by this process, `bytes_max` at most. */
int file_read_own(const char *name, uint64_t bytes_max, struct file **file,
                  struct language_error *error);
/* The same of a descriptor, which stays the caller's; its place in the file does not count. */
int file_read_open(int fd, const char *name, uint64_t bytes_max, struct file **file,
                   struct language_error *error);
/* Sets the error: there is no such file, where it was looked for: in `folder`, unless that is "",
 * and where this process was started. -EINVAL. */
int file_missing(const char *name, const char *folder, struct language_error *error);
/* A descriptor, as file_read_own opens it; or -errno. */
int file_open(const char *name);

#endif
