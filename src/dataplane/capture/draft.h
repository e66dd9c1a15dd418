/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file while it is being written: it takes its name only when it is complete. Until then it lies
 * beside its target as `NAME.weir-XXXXXX`; whoever looks for the target sees the old file, or none,
 * and never half a file.
 *
 * Two steps, so that several files appear together or not at all: finish every one (from there on
 * the disk cannot be too full any more), then publish every one.
 *
 * `-` is standard output, and an existing target that is no regular file (a pipe, /dev/null) is
 * written directly: neither can be taken back. A symbolic link is followed: what it points at is
 * replaced.
 *
 * Ownership: draft_publish, draft_keep and draft_discard free the draft; one of them ends every draft.
 * Thread: one at a time.
 */
#ifndef WEIR_DRAFT_H
#define WEIR_DRAFT_H

#include <stdbool.h>
#include <stdio.h>

#include "stage.h"

struct draft;

/* 0; -EINVAL with problem: no such folder, no permission, the target is a folder; -ENOMEM. */
int draft_open(const char *path, struct draft **draft, struct problem *problem);
/* The stream to write to, with a buffer of 1 MiB and without locking; not to be closed. */
FILE *draft_stream(struct draft *draft);
const char *draft_path(const struct draft *draft);
/* Who has written to the stream's file without the stream says that it went wrong, with the errno. */
void draft_fail(struct draft *draft, int error);
/* 0; or, with problem, -ENOSPC: the disk is full, or the user's share of it; -EIO: a write failed
 * otherwise. Cheap: looks at a flag. */
int draft_error(struct draft *draft, struct problem *problem);
/* Writes out what is buffered and closes the stream: 0, or as draft_error. */
int draft_finish(struct draft *draft, struct problem *problem);
/* Gives the finished file its name: 0, or as draft_error, and then the file is removed. */
int draft_publish(struct draft *draft, struct problem *problem);
/* Gives it its name as it is, whatever went wrong with it: 0, or as draft_error; where it cannot be given
 * the name, it stays where it is, and the problem says where. Frees. */
int draft_keep(struct draft *draft, struct problem *problem);
/* Removes it. NULL is allowed. */
void draft_discard(struct draft *draft);

#endif
