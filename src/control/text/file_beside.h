/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that a scenario file names: a relative name is looked up beside the scenario file first,
 * then in the working directory of this process. So a scenario and its traces can lie anywhere,
 * together. A file keeps the name that was written (file.h).
 *
 * Thread: a source belongs to the thread that uses it (file_read.h).
 */
#ifndef WEIR_FILE_BESIDE_H
#define WEIR_FILE_BESIDE_H

#include <limits.h>

#include "text/file_read.h"

struct file_beside {
	struct file_source source; /* the first member */
	const struct file_source *before;
	char folder[PATH_MAX]; /* of the scenario, ending with a slash; "": the working directory */
};

/* Gets the folder of a file, ending with a slash, or "" if `path` has no folder. */
void file_beside_folder(const char *path, char folder[PATH_MAX]);
/* Opens `name` beside the scenario file `path` (NULL: there is none), else in the working
 * directory. Returns a descriptor, or -errno. */
int file_beside_open(const char *path, const char *name);

/* Makes this thread read files from beside the scenario file `path`, unless a source is already in
 * force. To be followed by file_beside_end. */
void file_beside_begin(struct file_beside *beside, const char *path);
void file_beside_end(const struct file_beside *beside);

#endif
