/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the packets that a file names as lost, row by row (loss_list.h has the formats: numbers of
 * packets, or the log of a run). drop_list.h queries them.
 *
 * Ownership: the caller frees the rows; the names in them lie in the file.
 * Thread: control, any.
 */
#ifndef WEIR_DROP_ROWS_H
#define WEIR_DROP_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scenario/file.h"

struct problem;

/* A part of a file. */
struct span {
	const char *text;
	size_t bytes;
};

struct drop_row {
	struct span cloud; /* in a log; empty in a file of numbers */
	uint64_t key;      /* twice the packet's number, plus 1 for its copy */
};

struct drop_rows {
	bool log; /* false: a file of numbers */
	size_t n;
	struct drop_row *rows; /* sorted by cloud, then by key; malloc'd, NULL if n is 0 */
};

/* Defines an order of names; returns 0 for equal ones. */
int span_compare(struct span a, struct span b);

/* Reads the rows of the cloud `name` or, if `many`, of the clouds of the template `name`. Returns
 * 0, -ENOMEM, or -EINVAL with `problem` about field 0. On failure there is nothing to free. */
int drop_rows_read(struct file *file, const char *name, bool many, struct drop_rows *rows,
                   struct problem *problem);

#endif
