/* SPDX-License-Identifier: BSD-3-Clause */
#include "offline/link_fields.h"

#include <errno.h>
#include <stdlib.h>

#include "capture/filter.h"
#include "link/class.h"
#include "match/match.h"
#include "match/selection.h"
#include "rewrite/rewrite.h"
#include "rewrite/rewrite_rule.h"
#include "scenario/orders.h"

#define ADDRESS_BYTES 12 /* both addresses, at the beginning of a frame */

/* The subject of a message. */
struct place {
	const char *cloud, *what;
	struct problem *problem;
};

static int refuse(const struct place *place, const char *statement, const char *words)
{
	problem_set(place->problem, -1,
	            "cloud `%s`: `%s %.80s` is about Ethernet addresses, and %s has none; match "
	            "and rewrite what is in IP and above",
	            place->cloud, statement, words, place->what);
	return -EINVAL;
}

static int check_match(const struct place *place, const char *words)
{
	struct match match;

	if (!words || match_parse(words, &match) || !filter_reads(words, 0, ADDRESS_BYTES))
		return 0;
	return refuse(place, "match", words);
}

static bool reads_addresses(const struct rewrite_place *place)
{
	return place->width > 0 && place->layer == LAYER_FRAME && place->offset < ADDRESS_BYTES;
}

static int check_rewrite(const struct place *place, const char *words)
{
	struct rewrite_rule *rule;
	int error = rewrite_rule_make(words, &rule, place->problem);

	if (error)
		return error;
	for (uint16_t i = 0; i < rule->n_steps && !error; i++) {
		if (reads_addresses(&rule->step[i].place) || reads_addresses(&rule->step[i].source))
			error = refuse(place, "rewrite", words);
	}
	free(rule);
	return error;
}

static int check_conf(const struct place *place, const struct conf *conf);

static int check_orders(const struct place *place, const struct orders *orders)
{
	int error = 0;

	for (uint32_t i = 0; i < orders->n && !error; i++) {
		if (orders->order[i].conf)
			error = check_conf(place, orders->order[i].conf);
	}
	return error;
}

/* Checks a statement, and the statements inside it. */
static int check_conf(const struct place *place, const struct conf *conf)
{
	const struct field *field = conf->statement->fields;
	int error = 0;

	if (conf->statement == &class_statement)
		error = check_match(place, ((const struct class_conf *)conf)->match);
	if (conf->statement == &rewrite_statement)
		error = check_rewrite(place, ((const struct rewrite_conf *)conf)->rule);
	for (; field->name && !error; field++) {
		const void *value = (const char *)conf + field->offset;
		const struct states *states = value;

		if (field->type == FIELD_ORDERS)
			error = check_orders(place, value);
		for (uint32_t i = 0; field->type == FIELD_STATES && i < states->n && !error; i++)
			error = check_orders(place, &states->state[i].orders);
	}
	return error;
}

int link_fields_check(const struct scenario *scenario, const char *what, struct problem *problem)
{
	int error = 0;

	for (uint32_t i = 0; i < scenario->n_clouds && !error; i++) {
		const struct cloud_conf *cloud = scenario->clouds[i];
		const struct place place = {cloud->name, what, problem};

		if (cloud->selection)
			error = check_match(&place, selection_filter(selection_of(cloud)));
		for (uint32_t k = 0; k < cloud->n_confs && !error; k++)
			error = check_conf(&place, cloud->confs[k]);
	}
	return error;
}
