/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes an engine from one scenario to the next. Everything that can fail or take time happens in
 * change_prepare, in the control thread. engine_apply (change_apply.c) only swaps the pointers and
 * numbers that have changed.
 */
#include "change/change.h"

#include <errno.h>
#include <stdlib.h>

#include "change/change_state.h"
#include "change/setting_make.h"
#include "change/template_make.h"
#include "match/selection.h"
#include "router/hop.h"
#include "scenario/port_setting.h"
#include "scenario/tallied.h"

/* Returns the cloud in force that continues under this configuration, or NULL if there is none. A
 * cloud of the same name is another cloud if its path differs or its packets come in at another
 * port. */
static struct cloud *cloud_before(const struct engine *engine, const struct cloud_conf *after,
                                  int root, const struct cloud_conf **conf)
{
	const struct scenario *now = engine->scenario;
	int i = scenario_find_cloud(now, after->name);
	uint32_t slot = names_find(&engine->cloud_table->index, after->name);
	struct cloud *cloud = slot == NAMES_NONE ? NULL : engine->cloud_table->slots[slot];

	*conf = NULL;
	if (i < 0 || !cloud || strcmp(now->clouds[i]->from, after->from) != 0 ||
	    strcmp(now->clouds[i]->to, after->to) != 0 || cloud->from_port != (uint32_t)root)
		return NULL;
	if (after->many != (cloud->of != NULL) ||
	    (after->many && !template_is(cloud->of, selection_of(after))))
		return NULL;
	*conf = now->clouds[i];
	return cloud;
}

static uint32_t slot_take(struct change *change)
{
	while (change->cloud_table->slots[change->free_slot])
		change->free_slot++;
	return change->free_slot++;
}

/* Returns the first of n consecutive free slots. */
static uint32_t slot_run_take(const struct change *change, uint32_t n)
{
	struct cloud *const *slots = change->cloud_table->slots;
	uint32_t base = 0;

	for (uint32_t i = 0; i - base < n; i++) {
		if (slots[i])
			base = i + 1;
	}
	return base;
}

/* Appends a cloud to those that come from the same place. */
static void plan_hang(struct change *change, uint32_t index)
{
	const char *from = change->plans[index].conf->from;
	int port = scenario_find_port(change->scenario, from);
	struct place *place;

	if (port >= 0)
		place = &change->ports[port];
	else
		place = &change->plans[scenario_find_cloud(change->scenario, from)].end;
	if (place->child)
		change->plans[place->last - 1].sibling = index + 1;
	else
		place->child = index + 1;
	place->last = index + 1;
}

/* Returns true if the cloud may generate packets, which then leave where those of others do. */
static bool may_generate(const struct cloud_conf *conf)
{
	for (uint32_t i = 0; i < conf->n_confs; i++) {
		if (conf->confs[i]->statement->generates)
			return true;
	}
	return false;
}

/* Decides whether the cloud compensates latencies. Ports do not change, so neither does this. */
static void compensate_latency(const struct change *change, struct cloud *cloud)
{
	const struct port_conf *ports = change->scenario->ports;
	const struct port_conf *from = &ports[cloud->from_port], *to = &ports[cloud->exit->port];

	cloud->compensates_latency =
	        change->engine->setup.live && (port_setting_early_ns(from, to) > 0 ||
	                                       port_setting_of(from).time == PORT_TIME_DEVICE);
}

static int plan_cloud(struct change *change, struct plan *plan, int root, int to)
{
	struct engine *engine = change->engine;
	const struct cloud_conf *before;
	struct setting_plan settings;
	int error;

	plan->cloud = cloud_before(engine, plan->conf, root, &before);
	if (!plan->cloud) {
		plan->cloud = cloud_make(plan->conf->name, slot_take(change), &engine->holder,
		                         engine->setup.witness);
		if (!plan->cloud)
			return -ENOMEM;
		plan->added = true;
		plan->cloud->exit->port = (uint32_t)to;
		plan->cloud->from_port = (uint32_t)root;
		compensate_latency(change, plan->cloud);
		plan->cloud->line.key =
		        draw_key_make(engine->setup.seed, plan->cloud->name, "delay");
		change->cloud_table->slots[plan->cloud->index] = plan->cloud;
	}
	error = setting_list_add_tallies(&change->list, plan->cloud, plan->conf);
	if (error)
		return error;
	setting_plan_make(&settings, &engine->setup, before, plan->conf);
	return setting_list_add(&change->list, &engine->setup, plan->cloud, &settings);
}

static int template_add(struct change *change, struct plan *plan, int root, int to)
{
	const struct selection_conf *per = selection_of(plan->conf);
	struct template *template;
	uint32_t base;
	int error = template_make(plan->conf->name, per, change->engine, &template);

	if (error) {
		template_free(template);
		return error;
	}
	plan->added = true;
	plan->template = template;
	plan->cloud = template->head;
	base = slot_run_take(change, template->most + 1);
	template_place(template, base, (uint32_t)root, (uint32_t)to);
	compensate_latency(change, template->head);
	for (uint32_t i = 0; i <= template->most; i++)
		change->cloud_table->slots[base + i] = &template->clouds[i];
	return template_begin(template, plan->conf, &plan->change);
}

/* Finds or makes the template of a plan, and makes its change. */
static int plan_template(struct change *change, struct plan *plan, int root, int to)
{
	const struct cloud_conf *before;
	int error;

	plan->cloud = cloud_before(change->engine, plan->conf, root, &before);
	if (plan->cloud) {
		plan->template = plan->cloud->of;
		error = template_change_make(plan->template, before, plan->conf, &plan->change);
	} else {
		error = template_add(change, plan, root, to);
	}
	if (!error && template_change_is_empty(plan->change)) {
		template_change_free(plan->change);
		plan->change = NULL;
	}
	return error;
}

static int plan_one(struct change *change, uint32_t index, int root, int to)
{
	struct plan *plan = &change->plans[index];
	uint32_t settings = change->list.n_settings + change->list.n_timelines;
	const struct cloud_conf *before;
	int error;

	cloud_before(change->engine, plan->conf, root, &before);
	error = tallied_give(change->scenario->clouds[index], before);
	if (!error)
		error = plan->conf->many ? plan_template(change, plan, root, to)
		                         : plan_cloud(change, plan, root, to);
	if (error)
		return error;
	if (!names_add(&change->cloud_table->index, plan->cloud->name, plan->cloud->index))
		return -ENOMEM;
	plan_hang(change, index);
	/* The cloud may still hold a packet that makes it generate. */
	plan->generates = plan->cloud->generates || may_generate(plan->conf);
	plan->settings = change->list.n_settings + change->list.n_timelines - settings;
	return 0;
}

static int clouds_prepare(struct change *change, const bool *owned, struct problem *problem)
{
	const struct scenario *next = change->scenario;

	for (uint32_t i = 0; i < next->n_clouds; i++) {
		const struct cloud_conf *conf = next->clouds[i];
		int root = scenario_root(next, conf);
		int to = scenario_find_port(next, conf->to);
		int error;

		change->plans[i].conf = conf;
		if (root < 0 || to < 0)
			return problem_set(problem, -1,
			                   "cloud %s leads from nowhere, or to nowhere",
			                   conf->name);
		if (owned && !owned[root])
			continue;
		error = plan_one(change, i, root, to);
		if (error == -ENOMEM && conf->many)
			problem_set(problem, -1,
			            "no memory for the %u clouds of `%s`; `most` sets their number",
			            selection_most(selection_of(conf)), conf->name);
		if (error)
			return error;
	}
	return 0;
}

/* Finds the clouds that take what others generate. All plans have their clouds by then. */
static int backs_prepare(struct change *change, struct problem *problem)
{
	for (uint32_t i = 0; i < change->scenario->n_clouds; i++) {
		struct plan *plan = &change->plans[i];
		uint32_t through;

		if (!plan->cloud)
			continue;
		if (hop_through(change->scenario, plan->conf, &through, problem) != 0)
			return -EINVAL;
		if (through == HOP_NOT_THROUGH)
			continue;
		plan->back = change->plans[through].cloud;
		if (plan->back)
			continue;
		return problem_set(problem, -1,
		                   "cloud %s and cloud %s, through which its answers go, belong to "
		                   "different workers; use one worker (--cores 1)",
		                   plan->conf->name, change->plans[through].conf->name);
	}
	return 0;
}

/* Makes a plan for each cloud of the next scenario that belongs to this engine. */
static int change_plan(struct change *change, const bool *owned, struct problem *problem)
{
	int error = clouds_prepare(change, owned, problem);

	return error ? error : backs_prepare(change, problem);
}

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

int change_at_once(struct engine *engine, const struct scenario *next, const bool *owned,
                   simtime now, struct problem *problem)
{
	struct change *change;
	int error = change_prepare(engine, next, owned, &change, problem);

	if (error)
		return error;
	engine_apply(engine, change, now);
	change_free(change);
	return 0;
}
