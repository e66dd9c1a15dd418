/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "change/change_state.h"
#include "change/setting_list_make.h"
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
	return error ? error
	             : setting_list_add(&change->list, &engine->setup, plan->cloud, before,
	                                plan->conf);
}

static int template_add(struct change *change, struct plan *plan, int root, int to)
{
	const struct engine_setup *setup = &change->engine->setup;
	const struct selection_conf *per = selection_of(plan->conf);
	struct template *template;
	uint32_t base;
	int error = template_make(plan->conf->name, per, setup, &change->engine->holder, &template);

	if (error) {
		template_free(template);
		return error;
	}
	plan->added = true;
	plan->template = template;
	plan->cloud = template->head;
	base = slot_run_take(change, template->most + 1);
	template_place(template, base, (uint32_t)root, (uint32_t)to);
	for (uint32_t i = 0; i <= template->most; i++) {
		compensate_latency(change, &template->clouds[i]);
		change->cloud_table->slots[base + i] = &template->clouds[i];
	}
	return 0;
}

/* Finds or makes the template of a plan, and makes its change. The settings of a new template are
 * put in force here: no packet has seen it. */
static int plan_template(struct change *change, struct plan *plan, int root, int to)
{
	const struct cloud_conf *before;
	int error = 0;

	plan->cloud = cloud_before(change->engine, plan->conf, root, &before);
	if (plan->cloud)
		plan->template = plan->cloud->of;
	else
		error = template_add(change, plan, root, to);
	if (!error)
		error = template_change_make(plan->template, &change->engine->setup, before,
		                             plan->conf, &plan->change);
	if (!error && plan->added)
		template_begin(plan->change);
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
		if (root < 0 || to < 0) {
			problem_set(problem, -1, "cloud %s leads from nowhere, or to nowhere",
			            conf->name);
			return -EINVAL;
		}
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
		problem_set(problem, -1,
		            "cloud %s and cloud %s, through which its answers go, belong to "
		            "different workers; use one worker (--cores 1)",
		            plan->conf->name, change->plans[through].conf->name);
		return -EINVAL;
	}
	return 0;
}

int change_plan(struct change *change, const bool *owned, struct problem *problem)
{
	int error = clouds_prepare(change, owned, problem);

	return error ? error : backs_prepare(change, problem);
}
