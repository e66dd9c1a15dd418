/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario_check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int check_ports(const struct scenario *scenario, const struct cloud_conf *cloud,
                       struct problem *problem)
{
	const char *const ends[] = {cloud->from, cloud->to};

	for (int i = 0; i < 2; i++) {
		if (scenario_find_port(scenario, ends[i]) >= 0)
			continue;
		problem_set(problem, -1, "cloud `%s` goes %s port `%s`, which does not exist",
		            cloud->name, i == 0 ? "from" : "to", ends[i]);
		return -EINVAL;
	}
	return 0;
}

/* A cloud takes all packets of its port, so a second one from there would never see any. */
static int check_sharing(const struct scenario *scenario, const struct cloud_conf *cloud,
                         const struct cloud_conf **first, struct problem *problem)
{
	int port = scenario_find_port(scenario, cloud->from);

	if (first[port] == NULL) {
		first[port] = cloud;
		return 0;
	}
	problem_set(problem, -1,
	            "cloud `%s` would get no packets: `%s` takes all that come from port `%s`; "
	            "begin it "
	            "at another port, or remove `%s`",
	            cloud->name, first[port]->name, cloud->from, first[port]->name);
	return -EINVAL;
}

static int check_conf(const struct conf *conf, const struct cloud_conf *cloud,
                      struct problem *problem)
{
	struct problem own = {.field = -1, .text = ""};

	if (conf->statement->check == NULL || conf->statement->check(conf, cloud, &own) == 0)
		return 0;
	if (conf->number != 0)
		problem_set(problem, own.field, "cloud `%s`, `%s %u`: %s", cloud->name,
		            conf->statement->name, conf->number, own.text);
	else
		problem_set(problem, own.field, "cloud `%s`, `%s`: %s", cloud->name,
		            conf->statement->name, own.text);
	problem->letter = own.letter;
	return -EINVAL;
}

int scenario_check_at(const struct scenario *scenario, struct scenario_place *place,
                      struct problem *problem)
{
	const struct cloud_conf *first[SCENARIO_PORTS_MAX] = {NULL};

	*place = (struct scenario_place){.field = -1};
	for (uint32_t c = 0; c < scenario->n_clouds; c++) {
		const struct cloud_conf *cloud = scenario->clouds[c];

		place->cloud = cloud->name;
		place->statement = NULL;
		if (check_ports(scenario, cloud, problem) != 0 ||
		    check_sharing(scenario, cloud, first, problem) != 0)
			return -EINVAL;
		for (uint32_t i = 0; i < cloud->n_confs; i++) {
			place->statement = cloud->confs[i]->statement->name;
			place->number = cloud->confs[i]->number;
			if (check_conf(cloud->confs[i], cloud, problem) != 0) {
				place->field = problem->field;
				place->letter = problem->letter;
				return -EINVAL;
			}
		}
	}
	*place = (struct scenario_place){.field = -1};
	return 0;
}

int scenario_check(const struct scenario *scenario, struct problem *problem)
{
	struct scenario_place place;

	return scenario_check_at(scenario, &place, problem);
}
