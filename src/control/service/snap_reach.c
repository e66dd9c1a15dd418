/* SPDX-License-Identifier: BSD-3-Clause */
#include "service/snap_reach.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/filter.h"
#include "match/match.h"
#include "match/selection.h"
#include "scenario/orders.h"
#include "scenario/statement.h"

struct reach {
	uint32_t snap, n;
	void (*say)(void *argument, const char *line);
	void *argument;
	const struct cloud_conf *cloud;
};

/* Lines of text, one behind the other, each with its end. */
struct lines {
	FILE *stream;
	char *text;
	size_t bytes;
};

/* Reports a statement that needs more than the snap. `when`: the name of the schedule that contains
 * it, followed by ` ... `; or "". */
static void look_at(struct reach *reach, const struct conf *conf, const char *when)
{
	const struct statement *statement = conf->statement;
	char line[300];

	if (!statement->beyond)
		return;
	snprintf(line, sizeof(line),
	         "cloud %s %s%s%s%s: %s, but only the first %" PRIu32
	         " bytes of a packet are recorded: a repetition may differ",
	         reach->cloud->name, when, statement->name, statement->variant ? " " : "",
	         statement->variant ? statement->variant : "", statement->beyond, reach->snap);
	reach->say(reach->argument, line);
	reach->n++;
}

static void look_at_orders(struct reach *reach, const struct orders *orders, const char *schedule)
{
	char when[60];

	snprintf(when, sizeof(when), "%s ... ", schedule);
	for (uint32_t i = 0; i < orders->n; i++) {
		if (orders->order[i].conf)
			look_at(reach, orders->order[i].conf, when);
	}
}

/* Reports a `match` whose filter may read beyond the snap; an expression that is no filter reads
 * only headers. `what`: `match`, or that of a class. */
static void look_at_match(struct reach *reach, const char *words, const char *what)
{
	struct match match;
	char line[300];

	if (!words || match_parse(words, &match) || filter_reach(words) <= reach->snap)
		return;
	snprintf(line, sizeof(line),
	         "cloud %s %s %.100s: it may compare more bytes, but only the first %" PRIu32
	         " bytes of a packet are recorded: a repetition may differ",
	         reach->cloud->name, what, words, reach->snap);
	reach->say(reach->argument, line);
	reach->n++;
}

/* Checks the `match` of a class. */
static void look_at_matches(struct reach *reach, const struct conf *conf)
{
	const struct field *field = conf->statement->fields;

	for (; conf->statement->role == ROLE_CLASS && field && field->name; field++) {
		const void *value = (const char *)conf + field->offset;
		char what[60];

		if (field->type != FIELD_TEXT || strcmp(field->name, "match") != 0)
			continue;
		snprintf(what, sizeof(what), "class %.32s match", conf->scope);
		look_at_match(reach, *(char *const *)value, what);
	}
}

/* Checks the statements that a schedule puts in force. */
static void look_at_schedule(struct reach *reach, const struct conf *conf)
{
	const char *name = conf->statement->name;

	for (const struct field *field = conf->statement->fields; field && field->name; field++) {
		const void *value = (const char *)conf + field->offset;
		const struct states *states = value;

		if (field->type == FIELD_ORDERS)
			look_at_orders(reach, value, name);
		for (uint32_t i = 0; field->type == FIELD_STATES && i < states->n; i++)
			look_at_orders(reach, &states->state[i].orders, name);
	}
}

uint32_t snap_reach(uint32_t snap, const struct scenario *scenario,
                    void (*say)(void *argument, const char *line), void *argument)
{
	struct reach reach = {.snap = snap, .say = say, .argument = argument};

	for (uint32_t i = 0; snap > 0 && i < scenario->n_clouds; i++) {
		reach.cloud = scenario->clouds[i];
		if (reach.cloud->selection)
			look_at_match(&reach, selection_filter(selection_of(reach.cloud)), "match");
		for (uint32_t k = 0; k < reach.cloud->n_confs; k++) {
			look_at(&reach, reach.cloud->confs[k], "");
			look_at_schedule(&reach, reach.cloud->confs[k]);
			look_at_matches(&reach, reach.cloud->confs[k]);
		}
	}
	return reach.n;
}

static void note(void *argument, const char *line)
{
	const struct lines *lines = argument;

	fprintf(lines->stream, "%s\n", line);
}

struct more {
	const struct lines *known;
	uint32_t n;
	void (*say)(void *argument, const char *line);
	void *argument;
};

static bool knows(const struct lines *lines, const char *line)
{
	const size_t bytes = strlen(line);

	for (const char *at = lines->text; (at = strstr(at, line)); at += bytes) {
		if ((at == lines->text || at[-1] == '\n') && at[bytes] == '\n')
			return true;
	}
	return false;
}

static void say_if_new(void *argument, const char *line)
{
	struct more *more = argument;

	if (knows(more->known, line))
		return;
	more->say(more->argument, line);
	more->n++;
}

uint32_t snap_reach_more(uint32_t snap, const struct scenario *before,
                         const struct scenario *scenario,
                         void (*say)(void *argument, const char *line), void *argument)
{
	struct lines known = {.stream = NULL};
	struct more more = {.known = &known, .say = say, .argument = argument};

	if (snap == 0)
		return 0;
	known.stream = open_memstream(&known.text, &known.bytes);
	/* Without memory, all of them are reported. */
	if (!known.stream)
		return snap_reach(snap, scenario, say, argument);
	snap_reach(snap, before, note, &known);
	if (fclose(known.stream) == 0)
		snap_reach(snap, scenario, say_if_new, &more);
	free(known.text);
	return more.n;
}
