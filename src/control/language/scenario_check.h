/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a scenario is right as a whole, after its lines have been right one by one: what a line
 * cannot know because it depends on other lines.
 *
 * Thread: control.
 */
#ifndef WEIR_SCENARIO_CHECK_H
#define WEIR_SCENARIO_CHECK_H

#include "scenario/scenario.h"

/* Where in a scenario something is wrong. */
struct scenario_place {
	const char *cloud;     /* NULL: the scenario */
	const char *port;      /* not NULL: the port of that name, and nothing else counts */
	const char *statement; /* NULL: the cloud itself */
	const char *scope;     /* the class that it is about, or "" */
	uint32_t word;   /* of the line that makes the cloud: what to point at; 0: its first */
	uint32_t number; /* of a numbered statement, else 0 */
	const struct conf *conf; /* the statement's; NULL: none */
	int field;               /* -1: the statement */
	uint32_t letter;         /* of the field's text, if that takes the rest of a line */
};

/* 0, or -EINVAL with problem: a sentence that names cloud and statement. */
int scenario_check(const struct scenario *scenario, struct problem *problem);
/* The same, and says where; the strings are the scenario's. */
int scenario_check_at(const struct scenario *scenario, struct scenario_place *place,
                      struct problem *problem);

/* The same of one that has come from another, which has been checked: the statements of a cloud
 * that is as it was are not looked at again; they may have read large files. `before` NULL: all
 * are. */
int scenario_check_since(const struct scenario *scenario, const struct scenario *before,
                         struct scenario_place *place, struct problem *problem);

/* Whether this statement, as a line gives it, is the one that stands there. */
bool scenario_place_is(const struct scenario_place *place, const struct conf *conf);

#endif
