/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows of achieved.h while they are being filled in, for the files that fill them in.
 *
 * Thread: its owner's.
 */
#ifndef WEIR_ACHIEVED_FILLER_H
#define WEIR_ACHIEVED_FILLER_H

#include <stdio.h>
#include <string.h>

#include "engine/engine_report.h"
#include "units/human_unit.h"
#include "show/achieved.h"

#define ACHIEVED_DIGITS 5

struct achieved_filler {
	const struct cloud_conf *cloud;
	const struct cloud_report *report;
	const struct achieved_run *run;
	struct achieved_row *rows;
	uint32_t n;
};

/* Text by value, so that one printf can have several. */
struct quantity {
	char text[HUMAN_UNIT_SIZE];
};

static inline struct quantity filler_unit(enum human_unit kind, double value)
{
	struct quantity q;

	human_unit_format(q.text, sizeof(q.text), kind, value, ACHIEVED_DIGITS);
	return q;
}

/* Formats a value in the unit of its page, unless that would be a small fraction: 34 kbit/s beside
 * a link of 10 Mbit/s. */
static inline struct quantity filler_one(enum human_unit one, enum human_unit kind, double value)
{
	if (!one || (value > 0 && value < 0.1 * human_unit_prefix(one, value, 5)->factor))
		return filler_unit(kind, value);
	return filler_unit(one, value);
}

static inline struct quantity filler_time(const struct achieved_filler *filler, double ns)
{
	return filler_one(filler->run->time_unit, HUMAN_NS, ns);
}

static inline struct quantity filler_rate(const struct achieved_filler *filler, double bps)
{
	return filler_one(filler->run->rate_unit, HUMAN_BPS, bps);
}

static inline struct achieved_row *filler_add(struct achieved_filler *filler, const char *what)
{
	struct achieved_row *row = &filler->rows[filler->n++];

	memset(row, 0, sizeof(*row));
	snprintf(row->what, sizeof(row->what), "%s", what);
	return row;
}

/* Prints the statement as the user would write it, without its name. */
void filler_asked(struct achieved_row *row, const struct conf *conf);

/* Adds `delay`, `jitter`, `late` and `order` (achieved_time.c). */
void filler_add_times(struct achieved_filler *filler);

#endif
