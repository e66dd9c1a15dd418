/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the folder of a recording (recording.h lists its files). An existing file is not
 * overwritten, because it belongs to another recording.
 *
 * Errors: 0, or -EINVAL with problem, which names the file and the reason.
 * Thread: any.
 */
#ifndef WEIR_FOLDER_WRITE_H
#define WEIR_FOLDER_WRITE_H

#include <limits.h>
#include <stddef.h>

#include "scenario/problem.h"

#define FOLDER_PATH_BYTES PATH_MAX

/* Makes the folder, and a folder `files` in it. Both may exist. */
int folder_make(const char *folder, struct problem *problem);
/* Creates a file. Returns its descriptor and its path, or -1 with errno, for folder_file_failed. */
int folder_file_new(const char *folder, const char *name, char path[FOLDER_PATH_BYTES]);
int folder_file_failed(const char *path, struct problem *problem);
/* Creates a file with this content. */
int folder_text_put(const char *folder, const char *name, const void *text, size_t bytes,
                    struct problem *problem);

#endif
