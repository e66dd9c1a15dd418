/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks a scenario as a whole, after each line has been accepted: what depends on several lines.
 *
 * Thread: control.
 */
#ifndef WEIR_SCENARIO_CHECK_H
#define WEIR_SCENARIO_CHECK_H

#include <stdio.h>

#include "scenario/scenario.h"

/* The place in a scenario at which something is wrong. */
struct scenario_place {
	const char *cloud;     /* NULL: the scenario */
	const char *port;      /* if not NULL: the port of that name; all else is ignored */
	const char *statement; /* NULL: the cloud itself */
	const char *scope;     /* the class that the statement belongs to, or "" */
	uint32_t word;   /* the word to point at in the line that makes the cloud; 0: the first */
	uint32_t number; /* of a numbered statement, else 0 */
	const struct conf *conf; /* that of the statement; NULL: none */
	int field;               /* -1: the statement as a whole */
	uint32_t letter;         /* in the field's text, if that takes the rest of a line */
};

/* Returns 0, or -EINVAL with problem: a sentence that names cloud and statement. */
int scenario_check(const struct scenario *scenario, struct problem *problem);
/* Does the same, and sets the place; its strings belong to the scenario. If it was made from
 * `before`, which has been checked, the statements of unchanged clouds are not checked again: they
 * may have read large files. If `before` is NULL, all are checked. */
int scenario_check_at(const struct scenario *scenario, const struct scenario *before,
                      struct scenario_place *place, struct problem *problem);

struct command;
/* Returns the column of the place in the line of this command; 0: what is there was made by another
 * line. */
uint32_t scenario_place_column(const struct scenario_place *place, const struct command *command);

/*
 * Warns of what is odd in a scenario that can run: clouds that compete for packets (path_warn),
 * and delays whose mean is not the one that is configured, because none can be below 0.
 */

/* Prints a line `warning: ...` for each. */
void scenario_warn(const struct scenario *scenario, FILE *out);

/*
 * Checks where clouds begin and end: that every place exists, that chains come from a port, and
 * that every cloud can get packets. Warns of clouds that compete for packets.
 */

/* Prints a line `warning: ...` for each two clouds from one place that have the same priority and
 * match the same packets, up to PATH_WARNINGS_MAX. What a filter matches is unknown; then the
 * warning says so. */
#define PATH_WARNINGS_MAX 10

#endif
