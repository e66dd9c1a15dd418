/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/recording_reach.h"

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
	uint32_t snap;
	void (*say)(void *argument, const char *line);
	void *argument;
	const struct cloud_conf *cloud;
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

void recording_reach_of(uint32_t snap, const struct scenario *scenario, reach_say *say,
                        void *argument)
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
}

/* What is known already: lines, each with its end. */
struct known {
	FILE *stream;
	char *text;
	size_t bytes;
	reach_say *say;
	void *argument;
};

static void note(void *argument, const char *line)
{
	const struct known *known = argument;

	fprintf(known->stream, "%s\n", line);
}

static void say_if_new(void *argument, const char *line)
{
	const struct known *known = argument;
	const size_t bytes = strlen(line);

	for (const char *at = known->text; (at = strstr(at, line)); at += bytes) {
		if ((at == known->text || at[-1] == '\n') && at[bytes] == '\n')
			return;
	}
	known->say(known->argument, line);
}

void recording_reach_more(uint32_t snap, const struct scenario *before,
                          const struct scenario *scenario, reach_say *say, void *argument)
{
	struct known known = {.say = say, .argument = argument};

	if (snap == 0)
		return;
	known.stream = open_memstream(&known.text, &known.bytes);
	/* Without memory, all of them are reported. */
	if (!known.stream) {
		recording_reach_of(snap, scenario, say, argument);
		return;
	}
	recording_reach_of(snap, before, note, &known);
	if (fclose(known.stream) == 0)
		recording_reach_of(snap, scenario, say_if_new, &known);
	free(known.text);
}

void recording_reach(const struct recording_folder *folder, bool changes, reach_say *say,
                     void *argument)
{
	const char *line;

	recording_reach_of(recording_folder_about(folder)->snap, recording_folder_first(folder),
	                   say, argument);
	for (size_t i = 0; changes && (line = recording_folder_warning(folder, i)); i++)
		say(argument, line);
}
