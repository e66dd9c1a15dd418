/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file while it is being written: it takes its name only when it is complete. Until then it lies
 * beside its target as `NAME.weir-XXXXXX`. A reader of the target sees the old file, or none, and
 * never half a file.
 *
 * Two steps let several files appear together or not at all: finish every one (after that the disk
 * cannot be too full any more), then publish every one.
 *
 * `-` is standard output, and an existing target that is no regular file (a pipe, /dev/null) is
 * written directly: neither can be taken back. A symbolic link is followed: its target is replaced.
 *
 * Ownership: atomic_file_publish, atomic_file_keep and atomic_file_discard free the atomic file;
 * one of them ends every atomic file. Thread: one at a time.
 */
#ifndef WEIR_ATOMIC_FILE_H
#define WEIR_ATOMIC_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "scenario/problem.h"

struct atomic_file;

/* 0; -EINVAL with problem: no such folder, no permission, the target is a folder; -ENOMEM. */
int atomic_file_open(const char *path, struct atomic_file **atomic_file, struct problem *problem);
/* The stream to write to, with a buffer of 1 MiB and without locking; not to be closed. */
FILE *atomic_file_stream(struct atomic_file *atomic_file);
const char *atomic_file_path(const struct atomic_file *atomic_file);
/* Who has written to the stream's file without the stream says that it went wrong, with the
 * errno. */
void atomic_file_fail(struct atomic_file *atomic_file, int error);
/* 0; or, with problem, -ENOSPC: the disk is full, or the user's share of it; -EIO: a write failed
 * otherwise. Cheap: looks at a flag. */
int atomic_file_error(struct atomic_file *atomic_file, struct problem *problem);
/* Writes out what is buffered and closes the stream: 0, or as atomic_file_error. */
int atomic_file_finish(struct atomic_file *atomic_file, struct problem *problem);
/* Gives the finished file its name: 0, or as atomic_file_error, and then the file is removed. */
int atomic_file_publish(struct atomic_file *atomic_file, struct problem *problem);
/* Gives it its name as it is, whatever went wrong with it: 0, or as atomic_file_error; where it
 * cannot be given the name, it stays where it is, and the problem says where. Frees. */
int atomic_file_keep(struct atomic_file *atomic_file, struct problem *problem);
/* Removes it. NULL is allowed. */
void atomic_file_discard(struct atomic_file *atomic_file);

#endif
