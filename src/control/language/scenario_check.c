/* SPDX-License-Identifier: BSD-3-Clause */
#include "language/scenario_check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture/filter.h"
#include "header/feedback_proxy.h"
#include "line/delay.h"
#include "link/class.h"
#include "match/match.h"
#include "units/human_unit.h"
#include "router/hop.h"
#include "text/alloc_failure.h"

/* Checks a class's `match` that weir cannot parse: libpcap decides whether it is a filter. */
static int check_filter(const struct conf *conf, struct problem *problem)
{
	const struct class_conf *class = (const struct class_conf *)conf;
	struct match match;

	if (conf->statement != &class_statement || !class->match ||
	    match_parse(class->match, &match) || filter_check(class->match, problem) == 0)
		return 0;
	problem->field = CLASS_FIELD_MATCH;
	return -EINVAL;
}

static int check_conf(const struct conf *conf, const struct cloud_conf *cloud,
                      struct problem *problem)
{
	struct problem own = {.field = -1, .text = ""};

	if ((conf->statement->check == NULL || conf->statement->check(conf, cloud, &own) == 0) &&
	    check_filter(conf, &own) == 0)
		return 0;
	if (conf->scope[0])
		problem_set(problem, own.field, "cloud `%s`, `class %s%s%s`: %s", cloud->name,
		            conf->scope, conf->statement->scoped ? "" : " ",
		            conf->statement->scoped ? "" : conf->statement->name, own.text);
	else if (conf->statement->number_max != 0)
		problem_set(problem, own.field, "cloud `%s`, `%s %u`: %s", cloud->name,
		            conf->statement->name, conf->number, own.text);
	else
		problem_set(problem, own.field, "cloud `%s`, `%s`: %s", cloud->name,
		            conf->statement->name, own.text);
	problem->letter = own.letter;
	return -EINVAL;
}

static int check_through(const struct scenario *scenario, const struct cloud_conf *cloud,
                         struct scenario_place *place, struct problem *problem)
{
	uint32_t through;

	if (hop_through(scenario, cloud, &through, problem) == 0)
		return 0;
	place->statement = hop_statement.name;
	place->scope = "";
	place->number = 0;
	place->field = problem->field;
	return -EINVAL;
}

bool scenario_place_is(const struct scenario_place *place, const struct conf *conf)
{
	if (place->statement == NULL || strcmp(conf->statement->name, place->statement) != 0 ||
	    strcmp(conf->scope, place->scope) != 0)
		return false;
	/* The line of a class does not give the number: the cloud assigns it. */
	if (conf->scope[0])
		return true;
	if (conf->statement->many_max != 0)
		return place->conf != NULL && conf->statement->same(conf, place->conf);
	return conf->number == place->number;
}

static bool same_selection(const struct conf *a, const struct conf *b)
{
	return a == b || (a != NULL && b != NULL && conf_equal(a, b));
}

/* Returns true if the cloud is unchanged from `before`, a scenario that has been checked. */
static bool is_checked(const struct cloud_conf *cloud, const struct scenario *before)
{
	int index = before != NULL ? scenario_find_cloud(before, cloud->name) : -1;
	const struct cloud_conf *other = index >= 0 ? before->clouds[index] : NULL;
	bool same = other != NULL && cloud->many == other->many &&
	            cloud->n_confs == other->n_confs && strcmp(cloud->from, other->from) == 0 &&
	            strcmp(cloud->to, other->to) == 0 &&
	            same_selection(cloud->selection, other->selection);

	for (uint32_t i = 0; same && i < cloud->n_confs; i++)
		same = conf_equal(cloud->confs[i], other->confs[i]);
	return same;
}

int scenario_check_since(const struct scenario *scenario, const struct scenario *before,
                         struct scenario_place *place, struct problem *problem)
{
	*place = (struct scenario_place){.field = -1};
	if (path_check(scenario, place, problem) != 0)
		return -EINVAL;
	for (uint32_t c = 0; c < scenario->n_clouds; c++) {
		const struct cloud_conf *cloud = scenario->clouds[c];
		bool checked = is_checked(cloud, before);

		place->cloud = cloud->name;
		place->word = 1;
		for (uint32_t i = 0; i < cloud->n_confs && !checked; i++) {
			place->statement = cloud->confs[i]->statement->name;
			place->number = cloud->confs[i]->number;
			place->scope = cloud->confs[i]->scope;
			place->conf = cloud->confs[i];
			if (check_conf(cloud->confs[i], cloud, problem) != 0) {
				place->field = problem->field;
				place->letter = problem->letter;
				return -EINVAL;
			}
		}
		if (check_through(scenario, cloud, place, problem) != 0)
			return -EINVAL;
		if (feedback_proxy_check_of(scenario, cloud, problem) != 0) {
			place->statement = feedback_proxy_statement.name;
			place->number = 0;
			place->field = problem->field;
			return -EINVAL;
		}
	}
	*place = (struct scenario_place){.field = -1};
	return 0;
}

int scenario_check_at(const struct scenario *scenario, struct scenario_place *place,
                      struct problem *problem)
{
	return scenario_check_since(scenario, NULL, place, problem);
}

int scenario_check(const struct scenario *scenario, struct problem *problem)
{
	struct scenario_place place;

	return scenario_check_at(scenario, &place, problem);
}

#define MEAN_MORE 0.005 /* a mean that is greater by a smaller share is no matter */
#define WARNINGS  10

static void say(FILE *out, const char *cloud, const struct delay_conf *delay,
                const struct delay_asked *asked)
{
	char delay_text[HUMAN_UNIT_SIZE], jitter[HUMAN_UNIT_SIZE], mean[HUMAN_UNIT_SIZE];

	human_unit_format(delay_text, sizeof(delay_text), HUMAN_NS, asked->drawn_mean_ns, 5);
	human_unit_format(jitter, sizeof(jitter), HUMAN_NS, (double)delay->jitter_ns, 5);
	human_unit_format(mean, sizeof(mean), HUMAN_NS, asked->mean_ns, 3);
	fprintf(out,
	        "warning: cloud `%s`: a jitter of %s around a delay of %s would make some delays "
	        "negative; they become 0, so the mean is %s (%+.1f %%)\n",
	        cloud, jitter, delay_text, mean, (asked->mean_ns / asked->drawn_mean_ns - 1) * 100);
}

void scenario_warn(const struct scenario *scenario, FILE *out)
{
	uint32_t said = 0;

	path_warn(scenario, out);
	for (uint32_t i = 0; i < scenario->n_clouds && said < WARNINGS; i++) {
		const struct conf *conf = cloud_conf_get(scenario->clouds[i], "delay");
		const struct delay_conf *delay = (const struct delay_conf *)conf;
		struct delay_asked asked;

		if (!conf || conf->statement != &delay_statement || delay->jitter_ns == 0 ||
		    delay->delay_ns == 0)
			continue;
		if (delay_asked(delay, &asked) != 0) {
			alloc_failure_note();
			continue;
		}
		if (asked.mean_ns <= asked.drawn_mean_ns * (1 + MEAN_MORE))
			continue;
		say(out, scenario->clouds[i]->name, delay, &asked);
		said++;
	}
}
