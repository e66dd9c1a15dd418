/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file that takes its name only when it is completely written. Until then it lies beside its
 * target as `NAME.weir-XXXXXX`. A reader of the target sees the old file, or none, and never half a
 * file.
 *
 * Two steps let several files appear together or not at all: finish every file (after that a full
 * disk cannot do harm any more), then publish every file.
 *
 * A file whose name ends with .gz, .xz or .zst is compressed (pack.h).
 *
 * `-` is standard output. An existing target that is no regular file (a pipe, /dev/null) is written
 * directly. What was written to either of them cannot be withdrawn. A symbolic link is followed:
 * its target is replaced.
 *
 * Ownership: atomic_file_publish, atomic_file_keep and atomic_file_discard free the atomic file;
 * one of them ends every atomic file.
 * Thread: one at a time.
 */
#ifndef WEIR_ATOMIC_FILE_H
#define WEIR_ATOMIC_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "capture/block_file.h"
#include "scenario/problem.h"

struct atomic_file;

/* Returns 0; -EINVAL with problem if there is no such folder, no permission, or the target is a
 * folder; or -ENOMEM with problem. */
int atomic_file_open(const char *path, struct atomic_file **atomic_file, struct problem *problem);
/* Returns the stream to write to, with a buffer of 1 MiB and without locking. The caller must not
 * close it. */
FILE *atomic_file_stream(struct atomic_file *atomic_file);
/* For those who write past the stream: return the descriptor, and the sink through which all bytes
 * go if the file is compressed, else NULL. */
int atomic_file_descriptor(const struct atomic_file *atomic_file);
struct io_sink *atomic_file_sink(struct atomic_file *atomic_file);
const char *atomic_file_path(const struct atomic_file *atomic_file);
/* Stores the errno of a write to the file that bypassed the stream and failed. */
void atomic_file_fail(struct atomic_file *atomic_file, int error);
/* Returns 0; or, with problem, -ENOSPC if the disk or the user's quota is full, or -EIO if a write
 * failed for another reason. Cheap: reads a flag. */
int atomic_file_error(struct atomic_file *atomic_file, struct problem *problem);
/* Writes out what is buffered and closes the stream. Returns 0, or an error as atomic_file_error
 * does. */
int atomic_file_finish(struct atomic_file *atomic_file, struct problem *problem);
/* Gives the finished file its name. Returns 0, or an error as atomic_file_error does; then the file
 * is removed. */
int atomic_file_publish(struct atomic_file *atomic_file, struct problem *problem);
/* Gives the file its name as it is, whatever failed before, and frees the atomic file. Returns 0,
 * or an error as atomic_file_error does. If it cannot be given the name, the file stays where it
 * is, and the problem says where. */
int atomic_file_keep(struct atomic_file *atomic_file, struct problem *problem);
/* Removes the file. NULL is allowed. */
void atomic_file_discard(struct atomic_file *atomic_file);

#endif
