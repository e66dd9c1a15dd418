/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of `distribution table FILE`. Empty lines, and text after a #, are ignored. There are
 * two kinds:
 *
 *   netem   the .dist files of iproute2: whole numbers between blanks, several a line, from
 *           -32768 to 32767; quantiles at equal distances, in units of 1/8192 of the jitter. At
 *           most 16384 of them, as in tc. A file is of this kind if a line has two numbers, or
 *           begins with a negative one.
 *   delays  measured delays, one a line, with a unit (ns, us, ms, s) or in ms. Up to 2^24
 *           lines. If there are more than 65536, 65536 are kept, at equal distances in ascending
 *           order: a distribution that differs from that of all by 1/131072 at most.
 *
 * Thread: control side.
 */
#ifndef WEIR_DELAY_TABLE_H
#define WEIR_DELAY_TABLE_H

#include "scenario/file.h"
#include "scenario/problem.h"

#define DELAY_TABLE_NETEM_MAX  16384
#define DELAY_TABLE_NETEM_UNIT 8192
#define DELAY_TABLE_KEPT_MAX   65536
#define DELAY_TABLE_LINES_MAX  (1u << 24)

struct delay_table {
	bool netem;
	uint32_t n;
	int64_t *value; /* ascending; ns, or netem: 1/8192 of the jitter; free with free() */
};

/* Returns 0, -ENOMEM, or -EINVAL with `problem` at that field. */
int delay_table_read(const struct file *file, int field, struct delay_table *table,
                     struct problem *problem);

#endif
