/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a file says is lost (loss_list.h has its formats: numbers of packets, or the log of a run),
 * row by row. Who asks for which packets is drop_list.h's.
 *
 * Ownership: rows are the caller's to free; the names in them lie in the file. Thread: control,
 * any.
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
	struct span cloud; /* of a log; of numbers it is empty */
	uint64_t key;      /* the packet's number twice, plus 1 for its copy */
};

struct drop_rows {
	bool log; /* else numbers */
	size_t n;
	struct drop_row *rows; /* sorted by cloud, then by key; malloc'd, NULL if n is 0 */
};

/* Some order of names, in which equal ones are 0. */
int span_compare(struct span a, struct span b);

/* What the file says of the cloud of this name, or, if `many`, of those of the template. 0;
 * -ENOMEM; -EINVAL with `problem`, about field 0. Of an error nothing is left. */
int drop_rows_read(struct file *file, const char *name, bool many, struct drop_rows *rows,
                   struct problem *problem);

#endif
