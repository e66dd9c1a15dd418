/* SPDX-License-Identifier: BSD-3-Clause */
#include "change/setting_make.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "account/tally.h"
#include "change/timeline_make.h"
#include "engine/cloud.h"
#include "engine/engine.h"
#include "engine/tallies.h"
#include "line/delay.h"
#include "link/aqm.h"
#include "link/class.h"
#include "link/classes.h"
#include "link/rate.h"
#include "link/slots.h"
#include "match/flows.h"
#include "match/keyed.h"

static int statement_rank(const struct engine_setup *setup, const struct statement *statement)
{
	int rank = 0;

	while (setup->statements[rank] && setup->statements[rank] != statement)
		rank++;
	return rank;
}

/* Makes the flows of a cloud that has none yet. Returns 0 or -ENOMEM. */
static int flows_prepare(struct flows **flows, const struct flows *there,
                         const struct engine_setup *setup, const struct cloud *cloud)
{
	*flows = there ? NULL : flows_make(setup->seed, cloud->of != NULL);
	return there || *flows ? 0 : -ENOMEM;
}

static int stage_prepare(struct setting *setting, const struct engine_setup *setup,
                         const struct cloud_conf *cloud, const struct conf *conf)
{
	const struct statement *statement;
	struct stage *stage;
	int error;

	if (!conf)
		return 0;
	statement = conf->statement;
	error = statement->make(conf, &stage);
	if (error)
		return error;
	stage->cloud = setting->cloud;
	stage->statement = statement;
	stage->rank = statement_rank(setup, statement);
	stage->key = setting_key_of(setup->seed, setting->cloud, statement);
	stage->keyed = keyed_of(conf);
	stage->tally = statement->number_max ? NULL : tally_hold(conf->tally);
	for (; !error && statement->ready && conf; conf = cloud_conf_next(cloud, conf))
		error = statement->ready(stage, conf);
	if (!error && stage->keyed)
		error = flows_prepare(&setting->flows, setting->cloud->flows, setup,
		                      setting->cloud);
	if (error) {
		stage_free(stage);
		return error;
	}
	setting->stage = stage;
	return 0;
}

static void link_prepare(struct setting *setting, const struct engine_setup *setup,
                         const struct cloud_conf *conf)
{
	const struct rate_conf *rate = (const struct rate_conf *)cloud_conf_get(conf, "rate");
	const struct slots_conf *slots = (const struct slots_conf *)cloud_conf_get(conf, "slots");
	struct link_conf *link = &setting->link;

	link->overhead = OVERHEAD_NONE;
	if (slots) {
		link->slots = slots_rule_of(
		        slots, setting_key_of(setup->seed, setting->cloud, &slots_statement));
		link->limit = slots_queue(slots);
	}
	if (!rate)
		return;
	link->rate_bps = rate->rate_bps;
	link->depth_work = (int64_t)rate->burst_bytes * SHAPER_WORK_PER_BYTE;
	link->limit = rate_queue(rate, conf);
	link->overhead = rate_overhead(rate);
	link->drop_head = rate->drop == RATE_DROP_HEAD;
}

static int classes_prepare(struct setting *setting, const struct engine_setup *setup,
                           const struct cloud_conf *conf)
{
	const struct class_conf *confs[CLASSES_MAX];

	if (class_confs(conf, confs) == 0)
		return 0;
	return classes_make(setup->seed, setup->filters, setting->cloud, conf, &setting->classes);
}

/* Allocates the histogram of jitter. A template has too many clouds for a histogram each. Returns 0
 * or -ENOMEM. */
static int spread_prepare(struct setting *setting, const struct jitter *jitter)
{
	if (!jitter || setting->cloud->line.spread || setting->cloud->of)
		return 0;
	setting->spread = malloc(sizeof(*setting->spread));
	if (!setting->spread)
		return -ENOMEM;
	histogram_clear(setting->spread); /* written, so that its pages exist before packets come */
	return 0;
}

/* Returns 0 or -ENOMEM. */
static int line_by_flow(struct setting *setting, const struct engine_setup *setup,
                        const struct jitter *jitter)
{
	struct reorder_rule *reorder = &setting->line.reorder;

	if (!reorder->keyed && !(jitter && jitter->keyed))
		return 0;
	if (reorder->kind == REORDER_NONE)
		reorder->kind = REORDER_NEVER;
	return flows_prepare(&setting->line_flows, setting->cloud->line_flows, setup,
	                     setting->cloud);
}

static int line_prepare(struct setting *setting, const struct engine_setup *setup,
                        const struct cloud_conf *conf)
{
	const struct delay_conf *delay = (const struct delay_conf *)cloud_conf_get(conf, "delay");
	const struct conf *reorder = cloud_conf_get(conf, "reorder");
	struct line_conf *line = &setting->line;
	struct jitter *jitter = NULL;
	int error;

	line->limit = delay_limit(delay);
	if (delay) {
		line->delay_ns = delay->delay_ns;
		line->allow_overtaking = delay->order == ORDER_ALLOW;
	}
	if (reorder)
		line->reorder = reorder_rule_of(
		        reorder, setting_key_of(setup->seed, setting->cloud, reorder->statement));
	line->on_wheel = line->allow_overtaking || reorder_overtakes(&line->reorder);
	/* Packets of a template's clouds lie on the shared wheel. */
	if (line->on_wheel && !setting->cloud->line.wheel && !setting->cloud->of) {
		setting->wheel = wheel_make(&setting->cloud->holder->arena);
		if (!setting->wheel)
			return -ENOMEM;
	}
	if (line->limit != LINE_UNLIMITED && !setting->cloud->line.in_flight) {
		setting->in_flight = in_flight_make();
		if (!setting->in_flight) {
			wheel_free(setting->wheel);
			return -ENOMEM;
		}
	}
	error = delay ? jitter_make(delay, &jitter) : 0;
	if (!error)
		error = line_by_flow(setting, setup, jitter);
	if (!error)
		error = spread_prepare(setting, jitter);
	if (error) {
		jitter_release(jitter);
		flows_free(setting->line_flows);
		wheel_free(setting->wheel);
		in_flight_free(setting->in_flight);
	}
	line->jitter = jitter;
	return error;
}

int setting_prepare(struct setting *setting, const struct engine_setup *setup, struct cloud *cloud,
                    const struct cloud_conf *conf, const char *name, enum statement_role role)
{
	const struct conf *statement = cloud_conf_get(conf, name);

	memset(setting, 0, sizeof(*setting));
	setting->cloud = cloud;
	setting->role = role;
	switch (role) {
	case ROLE_STAGE:
		setting->name = name;
		return stage_prepare(setting, setup, conf, statement);
	case ROLE_LINK:
		link_prepare(setting, setup, conf);
		return 0;
	case ROLE_AQM:
	case ROLE_AQM_MODIFIER:
		return aqm_make(setup->seed, cloud, conf, "", &setting->aqm);
	case ROLE_CLASS:
		return classes_prepare(setting, setup, conf);
	case ROLE_LINE:
		return line_prepare(setting, setup, conf);
	case ROLE_CLOUD:
	case ROLE_SCHEDULE:
		break;
	}
	return -EINVAL;
}

static int setting_add(struct setting_list *list, const struct engine_setup *setup,
                       struct cloud *cloud, const struct cloud_conf *after, const char *name,
                       enum statement_role role)
{
	int error;

	if (list->n_settings == list->settings_room) {
		uint32_t room = list->settings_room ? 2 * list->settings_room : 16;
		struct setting *settings = realloc(list->settings, room * sizeof(*settings));

		if (!settings)
			return -ENOMEM;
		list->settings = settings;
		list->settings_room = room;
	}
	error = setting_prepare(&list->settings[list->n_settings], setup, cloud, after, name, role);
	if (!error)
		list->n_settings++;
	return error;
}

/* Returns true if a configuration affects the classes. */
static bool concerns_classes(const struct conf *conf)
{
	return conf->statement->role != ROLE_STAGE && conf->statement->role != ROLE_CLOUD &&
	       conf->statement->role != ROLE_SCHEDULE;
}

/* Returns true if each configuration of `part` that affects the classes has its equal in `whole`.
 * Their numbers give their order, so the order in which they were given does not matter. */
static bool class_confs_part(const struct cloud_conf *part, const struct cloud_conf *whole)
{
	for (uint32_t i = 0; i < part->n_confs; i++) {
		bool found = !concerns_classes(part->confs[i]);

		for (uint32_t k = 0; !found && k < whole->n_confs; k++)
			found = conf_equal(part->confs[i], whole->confs[k]);
		if (!found)
			return false;
	}
	return true;
}

/* Returns true if the classes, and everything that makes them, are the same. */
static bool classes_same(const struct cloud_conf *before, const struct cloud_conf *after)
{
	const struct class_conf *confs[CLASSES_MAX];

	if ((!before || class_confs(before, confs) == 0) && class_confs(after, confs) == 0)
		return true;
	return before && class_confs_part(before, after) && class_confs_part(after, before);
}

static bool is_aqm(enum statement_role role)
{
	return role == ROLE_AQM || role == ROLE_AQM_MODIFIER;
}

static int timeline_add_change(struct setting_list *list, const struct engine_setup *setup,
                               struct cloud *cloud, const struct cloud_conf *before,
                               const struct cloud_conf *after)
{
	if (list->n_timelines == list->timelines_room) {
		uint32_t room = list->timelines_room ? 2 * list->timelines_room : 16;
		struct timeline_change *timelines =
		        realloc(list->timelines, room * sizeof(*timelines));

		if (!timelines)
			return -ENOMEM;
		list->timelines = timelines;
		list->timelines_room = room;
	}
	list->timelines[list->n_timelines].cloud = cloud;
	return timeline_make(setup, cloud, before, after,
	                     &list->timelines[list->n_timelines++].timeline);
}

int setting_list_add_tallies(struct setting_list *list, struct cloud *cloud,
                             const struct cloud_conf *after)
{
	struct tallies_change *item;

	if (tallies_are(cloud->tallies, after))
		return 0;
	if (list->n_tallies == list->tallies_room) {
		uint32_t room = list->tallies_room ? 2 * list->tallies_room : 16;
		struct tallies_change *tallies = realloc(list->tallies, room * sizeof(*tallies));

		if (!tallies)
			return -ENOMEM;
		list->tallies = tallies;
		list->tallies_room = room;
	}
	item = &list->tallies[list->n_tallies];
	*item = (struct tallies_change){cloud, tallies_make(after)};
	if (!item->tallies)
		return -ENOMEM;
	list->n_tallies++;
	return 0;
}

void setting_plan_make(struct setting_plan *plan, const struct engine_setup *setup,
                       const struct cloud_conf *before, const struct cloud_conf *after)
{
	const struct statement *const *row = setup->statements;
	timeline_places redone = timeline_redone(setup, before, after);
	const char *name = NULL;
	bool aqm = false, classes = false;

	*plan = (struct setting_plan){.before = before, .after = after};
	for (; *row; row++) {
		bool same;

		/* The variants of a statement are neighbours in the table, and count as one. */
		if ((*row)->role == ROLE_CLOUD || (*row)->role == ROLE_SCHEDULE ||
		    (name && strcmp(name, (*row)->name) == 0))
			continue;
		name = (*row)->name;
		same = cloud_conf_same(before, after, name);
		/* The limit of the queue may follow from the delay. */
		if ((*row)->role == ROLE_LINK)
			same = same && cloud_conf_same(before, after, "delay");
		if ((*row)->role == ROLE_CLASS)
			same = classes_same(before, after);
		if (redone)
			same = same && !(redone & timeline_place(setup, name));
		/* An AQM and its modifiers form one setting, and so does everything that makes
		 * classes. */
		if (same || (is_aqm((*row)->role) && aqm) ||
		    ((*row)->role == ROLE_CLASS && classes))
			continue;
		aqm |= is_aqm((*row)->role);
		classes |= (*row)->role == ROLE_CLASS;
		assert(plan->n < SETTINGS_MAX);
		plan->of[plan->n++] = *row;
	}
	plan->timeline = timeline_changes(before, after);
}

int setting_list_add(struct setting_list *list, const struct engine_setup *setup,
                     struct cloud *cloud, const struct setting_plan *plan)
{
	for (uint32_t i = 0; i < plan->n; i++) {
		int error = setting_add(list, setup, cloud, plan->after, plan->of[i]->name,
		                        plan->of[i]->role);

		if (error)
			return error;
	}
	if (!plan->timeline)
		return 0;
	return timeline_add_change(list, setup, cloud, plan->before, plan->after);
}
