/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the folder of a recording (recording.h lists its files). An existing file is not
 * overwritten, because it may belong to another recording. The folder knows what has been made in
 * it, so that a recording that comes to nothing leaves nothing behind.
 *
 * Errors: 0, or -EINVAL with problem, which names the file and the reason.
 * Ownership: folder_keep or folder_remove frees what a folder knows. One that is all zero is
 * allowed.
 * Thread: any, one at a time.
 */
#ifndef WEIR_FOLDER_WRITE_H
#define WEIR_FOLDER_WRITE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "scenario/problem.h"

#define FOLDER_PATH_BYTES PATH_MAX

struct folder_file;

struct folder {
	char path[FOLDER_PATH_BYTES];
	struct folder_file *files; /* those made */
	bool made, made_files;     /* the folder itself; the folder `files` in it */
};

/* Makes the folder, and a folder `files` in it. Both may exist. */
int folder_make(struct folder *folder, const char *path, struct problem *problem);
/* Creates a file. Returns its descriptor, or -1 with errno, for folder_file_failed. */
int folder_file_new(struct folder *folder, const char *name);
int folder_file_failed(const struct folder *folder, const char *name, struct problem *problem);
/* Creates a file with this content. */
int folder_text_put(struct folder *folder, const char *name, const void *text, size_t bytes,
                    struct problem *problem);
/* Keeps all that was made. */
void folder_keep(struct folder *folder);
/* Removes all that was made, and nothing else. */
void folder_remove(struct folder *folder);

/*
 * A change of a scenario as lines of its text (`show config`): from line `from`, counted from 0,
 * `removed` lines are replaced by `lines`. So a change of one cloud of 65,536 takes one line. It is
 * exact for any change: a line, a batch, a whole file, a lease that ends.
 *
 *   {"change":3,"from":12,"removed":1,"lines":["cloud down delay 5ms"]}
 *
 * Thread: pure functions, any.
 */

/* Writes the line of changes.jsonl that turns `before` into `after`. */
void scenario_lines_write(FILE *out, uint64_t change, const char *before, const char *after);
/* Returns {"file":"drops.txt","at":"files/1"}, to be freed, or NULL if there is no memory. */
char *scenario_file_line(const char *name, const char *at);

#endif
