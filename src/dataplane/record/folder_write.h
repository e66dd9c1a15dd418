/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The folder of a recording, while it is made (recording.h says what lies in it). A file that is
 * there already is not written over: a recording lies there.
 *
 * Errors: 0, or -EINVAL with problem, which says which file, and why. Thread: any.
 */
#ifndef WEIR_FOLDER_WRITE_H
#define WEIR_FOLDER_WRITE_H

#include <limits.h>
#include <stddef.h>

#include "scenario/problem.h"

#define FOLDER_PATH_BYTES PATH_MAX

/* With a folder `files` in it; both may be there. */
int folder_make(const char *folder, struct problem *problem);
/* A new file, and its path; -1 with errno: folder_file_failed says it. */
int folder_file_new(const char *folder, const char *name, char path[FOLDER_PATH_BYTES]);
int folder_file_failed(const char *path, struct problem *problem);
/* A new file with this content. */
int folder_text_put(const char *folder, const char *name, const void *text, size_t bytes,
                    struct problem *problem);

#endif
