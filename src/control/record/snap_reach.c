/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/snap_reach.h"

#include <inttypes.h>
#include <stdio.h>

#include "scenario/orders.h"
#include "scenario/statement.h"

struct reach {
	uint32_t snap, n;
	void (*say)(void *argument, const char *line);
	void *argument;
	const struct cloud_conf *cloud;
};

/* `when`: the schedule that has it, with a blank; or "". */
static void look_at(struct reach *reach, const struct conf *conf, const char *when)
{
	const struct statement *statement = conf->statement;
	char line[300];

	if (!statement->beyond)
		return;
	snprintf(line, sizeof(line),
	         "cloud %s %s%s%s%s: %s, of which only %" PRIu32
	         " bytes are recorded: a repetition may differ",
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

/* The statements that it brings with time. */
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
		for (uint32_t k = 0; k < reach.cloud->n_confs; k++) {
			look_at(&reach, reach.cloud->confs[k], "");
			look_at_schedule(&reach, reach.cloud->confs[k]);
		}
	}
	return reach.n;
}
