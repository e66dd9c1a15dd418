/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that a scenario file names: a relative name is looked for beside the scenario file first,
 * then where this process was started. So a scenario and its traces can lie anywhere, together. A
 * file keeps the name that was written (file.h).
 *
 * Thread: a source is that of the thread that uses it (file_read.h).
 */
#ifndef WEIR_FILE_BESIDE_H
#define WEIR_FILE_BESIDE_H

#include <limits.h>

#include "text/file_read.h"

struct file_beside {
	struct file_source source; /* first */
	const struct file_source *before;
	char folder[PATH_MAX]; /* of the scenario, ending with a slash; "": that of this process */
};

/* The folder of a file, ending with a slash; "" where that is that of this process. */
void file_beside_folder(const char *path, char folder[PATH_MAX]);
/* Opens `name` beside the scenario file `path` (NULL: there is none), then here. A descriptor, or
 * -errno. */
int file_beside_open(const char *path, const char *name);

/* Files of this thread come from beside the scenario file `path`, if they come from this process at
 * all: a source that is in force stays. To be ended. */
void file_beside_begin(struct file_beside *beside, const char *path);
void file_beside_end(const struct file_beside *beside);

#endif
