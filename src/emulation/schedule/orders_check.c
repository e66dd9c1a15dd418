/* SPDX-License-Identifier: BSD-3-Clause */
#include "schedule/orders_check.h"

#include <errno.h>

#include "link/class.h"
#include "link/rate.h"
#include "scenario/scenario.h"

/* Returns the copy of `conf` in the cloud. */
static const struct conf *conf_in(const struct cloud_conf *cloud, const struct conf *conf)
{
	for (uint32_t i = 0; i < cloud->n_confs; i++) {
		const struct conf *other = cloud->confs[i];

		if (other->statement == conf->statement && other->number == conf->number &&
		    strcmp(other->scope, conf->scope) == 0)
			return other;
	}
	return conf;
}

/* Checks that the values that classes take from `rate` stay: classes are made once. */
static int check_classes(const struct cloud_conf *before, const struct cloud_conf *after, int field,
                         struct problem *problem)
{
	const struct class_conf *confs[CLASSES_MAX], *nexts[CLASSES_MAX];
	uint32_t n = class_confs(before, confs);

	class_confs(after, nexts);
	if (!cloud_conf_get(after, "rate"))
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct conf *conf = &confs[i]->conf;
		struct limit a = class_queue(confs[i], before), b = class_queue(nexts[i], after);

		if (a.unit != b.unit || a.value != b.value)
			return problem_set(
			        problem, field,
			        "class `%s` takes its queue from `rate`, which then cannot change "
			        "with time: give the class its own, like `class %s queue 64kB`",
			        conf->scope, conf->scope);
		if (rate_drops_head(before, conf, confs[i]->drop, CLASS_FIELD_DROP) !=
		    rate_drops_head(after, conf, confs[i]->drop, CLASS_FIELD_DROP))
			return problem_set(
			        problem, field,
			        "class `%s` takes its `drop` from `rate`, which then cannot change "
			        "with time: give the class its own, like `class %s drop tail`",
			        conf->scope, conf->scope);
	}
	return 0;
}

int orders_check(const struct orders *orders, const struct cloud_conf *cloud, int field,
                 struct problem *problem)
{
	struct cloud_conf *after = orders_carry_out(orders, cloud);
	int error = 0;

	if (!after) {
		problem_set(problem, field, "no memory, or no room for another statement");
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < orders->n && !error; i++) {
		const struct conf *conf = orders->order[i].conf;
		struct problem own = {.field = -1, .text = ""};

		if (!conf || !conf->statement->check)
			continue;
		error = conf->statement->check(conf_in(after, conf), after, &own);
		if (error)
			problem_set(problem, field, "`%s`: %s", orders->order[i].name, own.text);
	}
	for (uint32_t i = 0; i < orders->n && !error; i++) {
		if (orders->order[i].role == ROLE_LINK)
			error = check_classes(cloud, after, field, problem);
	}
	cloud_conf_free(after);
	return error;
}
