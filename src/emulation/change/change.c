/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes an engine from one scenario to the next. Everything that can fail or take time happens in
 * change_prepare, in the control thread. engine_apply (change_apply.c) only swaps the pointers and
 * numbers that have changed.
 */
#include <errno.h>
#include <stdlib.h>

#include "change/change.h"
#include "change/change_state.h"
#include "match/selection.h"

/* Returns the number of slots up to and including the last one in use. */
static uint32_t slots_used(const struct cloud_table *cloud_table)
{
	uint32_t used = cloud_table->n_slots;

	while (used > 0 && !cloud_table->slots[used - 1])
		used--;
	return used;
}

/* Adds a cloud that does nothing, for packets that no cloud of the port takes. They pass untouched
 * if all clouds of the port lead to the same port, so that their way is known. The cloud's name has
 * a blank, which no user's name has. */
static int untouched_add(struct scenario *scenario, uint32_t port)
{
	const char *from = scenario->ports[port].name, *to = NULL;
	char name[SCENARIO_NAME_BYTES];

	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		const struct cloud_conf *cloud = scenario->clouds[i];

		if (strcmp(cloud->from, from) != 0)
			continue;
		if (!selection_chooses(cloud) || (to && strcmp(to, cloud->to) != 0))
			return 0;
		to = cloud->to;
	}
	engine_untouched_name(name, scenario, port);
	return to ? scenario_add_cloud(scenario, name, from, to) : 0;
}

static int change_make(struct engine *engine, const struct scenario *next, struct change **result)
{
	uint32_t used = slots_used(engine->cloud_table), slots;
	struct change *change = calloc(1, sizeof(*change));

	*result = change;
	if (!change)
		return -ENOMEM;
	change->engine = engine;
	change->scenario = scenario_copy(next);
	if (!change->scenario)
		return -ENOMEM;
	for (uint32_t port = 0; port < next->n_ports; port++) {
		if (untouched_add(change->scenario, port))
			return -ENOMEM;
	}
	owed_free(engine, false);
	slots = used + change->scenario->n_clouds;
	for (uint32_t i = 0; i < change->scenario->n_clouds; i++) {
		const struct cloud_conf *cloud = change->scenario->clouds[i];

		slots += cloud->many ? selection_most(selection_of(cloud)) : 0;
	}
	change->cloud_table = calloc(1, sizeof(*change->cloud_table));
	change->plans = calloc(change->scenario->n_clouds + 1, sizeof(*change->plans));
	change->clouds = calloc(slots + 1, sizeof(*change->clouds));
	change->gone = calloc(slots + 1, sizeof(struct cloud *));
	if (!change->cloud_table || !change->plans || !change->clouds || !change->gone)
		return -ENOMEM;
	change->cloud_table->slots = calloc(slots + 1, sizeof(struct cloud *));
	if (!change->cloud_table->slots)
		return -ENOMEM;
	change->cloud_table->n_slots = slots;
	if (used)
		memcpy(change->cloud_table->slots, engine->cloud_table->slots,
		       used * sizeof(struct cloud *));
	return 0;
}

int change_prepare(struct engine *engine, const struct scenario *next, const bool *owned,
                   struct change **result, struct problem *problem)
{
	struct change *change;
	int error = change_make(engine, next, &change);

	problem_set(problem, -1, "no memory");
	if (!error)
		error = change_plan(change, owned, problem);
	if (!error)
		error = change_classifiers(change, problem);
	if (!error)
		error = change_sharing(change);
	if (error) {
		change_free(change);
		return error;
	}
	*result = change;
	return 0;
}

bool change_removes(const struct change *change)
{
	return change->removes;
}

bool change_keeps(const struct change *change, const char *name)
{
	int i = scenario_find_cloud(change->scenario, name);

	return i >= 0 && change->plans[i].cloud && !change->plans[i].added;
}

/* Frees a plan. The change of a template may still be under way at some clouds: if it was applied,
 * it goes on the list `owed`. */
static void plan_free(struct change *change, struct plan *plan)
{
	if (plan->change && change->applied) {
		plan->change->next_owed = change->engine->owed;
		change->engine->owed = plan->change;
	} else {
		template_change_free(plan->change);
	}
	if (plan->added && !change->applied)
		engine_cloud_free(plan->cloud);
}

void change_free(struct change *change)
{
	if (!change)
		return;
	setting_list_free(&change->list);
	for (uint32_t i = 0; change->plans && i < change->scenario->n_clouds; i++)
		plan_free(change, &change->plans[i]);
	if (change->applied) {
		struct scenario *before = change->engine->scenario;

		change->engine->scenario = change->scenario;
		change->scenario = before;
		for (uint32_t i = 0; i < change->n_gone; i++)
			engine_cloud_free(change->gone[i]);
		owed_free(change->engine, false);
	}
	wheel_free(change->wheel);
	timers_free(&change->timers);
	scenario_free(change->scenario);
	cloud_table_free(change->cloud_table);
	free(change->plans);
	free(change->clouds);
	free(change->gone);
	free(change);
}
