/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes timelines; engine/timeline.c runs them. */
#include "change/timeline_make.h"

#include <errno.h>
#include <stdlib.h>

#include "change/setting_make.h"
#include "engine/engine.h"
#include "scenario/scenario.h"

#define PLACE_LINK  UINT64_C(1)
#define PLACE_LINE  UINT64_C(2)
#define PLACE_AQM   UINT64_C(4)
#define PLACE_STAGE UINT64_C(8) /* of the first row of the table */
#define STAGES_LAST 60u

/* Returns the place of a role whose statements form one setting, whatever their names (setting.h).
 * Returns 0 for stages, which have a place each, and for roles that have no place. */
static timeline_places role_place(enum statement_role role)
{
	switch (role) {
	case ROLE_LINK:
		return PLACE_LINK;
	case ROLE_LINE:
		return PLACE_LINE;
	case ROLE_AQM:
	case ROLE_AQM_MODIFIER:
		return PLACE_AQM;
	case ROLE_STAGE:
	case ROLE_CLASS:
	case ROLE_CLOUD:
	case ROLE_SCHEDULE:
		break;
	}
	return 0;
}

timeline_places timeline_place(const struct engine_setup *setup, const char *name)
{
	for (uint32_t i = 0; setup->statements[i]; i++) {
		const struct statement *row = setup->statements[i];

		if (strcmp(row->name, name) != 0)
			continue;
		if (row->role == ROLE_STAGE)
			return PLACE_STAGE << RTE_MIN(i, STAGES_LAST);
		return role_place(row->role);
	}
	return 0;
}

timeline_places timeline_orders_places(const struct engine_setup *setup,
                                       const struct orders *orders)
{
	timeline_places places = 0;

	for (uint32_t i = 0; i < orders->n; i++)
		places |= timeline_place(setup, orders->order[i].name);
	return places;
}

const struct conf *timeline_equal(const struct cloud_conf *cloud, const struct conf *conf)
{
	for (uint32_t i = 0; cloud && i < cloud->n_confs; i++) {
		if (conf_alike(cloud->confs[i], conf))
			return cloud->confs[i];
	}
	return NULL;
}

/* Returns the statements that a schedule changes for good, or NULL. */
static const struct orders *lasting_orders(const struct conf *conf)
{
	const struct statement *statement = conf->statement;

	return statement->role == ROLE_SCHEDULE && statement->lasting ? statement->lasting(conf)
	                                                              : NULL;
}

/* Returns the places whose statements, apart from schedules and classes, have changed. */
static timeline_places changed_places(const struct engine_setup *setup,
                                      const struct cloud_conf *before,
                                      const struct cloud_conf *after)
{
	const struct cloud_conf *const sides[] = {before, after};
	timeline_places places = 0;

	for (int side = 0; before && side < 2; side++) {
		for (uint32_t i = 0; i < sides[side]->n_confs; i++) {
			const struct conf *conf = sides[side]->confs[i];

			if (conf->statement->role != ROLE_SCHEDULE && !conf->scope[0] &&
			    !timeline_equal(sides[!side], conf))
				places |= timeline_place(setup, conf->statement->name);
		}
	}
	return places;
}

/* Returns the places of statements that `at` may have changed, and that form one setting with a
 * statement that has changed. Applying that setting again would lose what `at` has done. */
static timeline_places places_shared(const struct engine_setup *setup,
                                     const struct cloud_conf *before,
                                     const struct cloud_conf *after)
{
	timeline_places changed = changed_places(setup, before, after), places = 0;

	/* The limit of the queue follows from the delay (setting_make.c). */
	if (before && !cloud_conf_same(before, after, "delay"))
		changed |= PLACE_LINK;
	changed &= PLACE_LINK | PLACE_LINE | PLACE_AQM;
	for (uint32_t i = 0; changed && i < after->n_confs; i++) {
		const struct orders *orders = lasting_orders(after->confs[i]);

		for (uint32_t k = 0; orders && k < orders->n; k++) {
			const char *name = orders->order[k].name;

			if (cloud_conf_same(before, after, name))
				places |= timeline_place(setup, name) & changed;
		}
	}
	return places;
}

timeline_places timeline_redone(const struct engine_setup *setup, const struct cloud_conf *before,
                                const struct cloud_conf *after)
{
	timeline_places places = places_shared(setup, before, after);

	for (uint32_t i = 0; before && i < before->n_confs; i++) {
		const struct orders *orders = lasting_orders(before->confs[i]);

		if (orders && !timeline_equal(after, before->confs[i]))
			places |= timeline_orders_places(setup, orders);
	}
	return places;
}

/* Returns true if `whole` has an equal of each configuration in `part`. */
static bool is_part(const struct cloud_conf *part, const struct cloud_conf *whole)
{
	for (uint32_t i = 0; part && i < part->n_confs; i++) {
		if (!timeline_equal(whole, part->confs[i]))
			return false;
	}
	return true;
}

static bool has_schedule(const struct cloud_conf *cloud)
{
	for (uint32_t i = 0; cloud && i < cloud->n_confs; i++) {
		if (cloud->confs[i]->statement->role == ROLE_SCHEDULE)
			return true;
	}
	return false;
}

bool timeline_changes(const struct cloud_conf *before, const struct cloud_conf *after)
{
	if (!has_schedule(before) && !has_schedule(after))
		return false;
	return !is_part(before, after) || !is_part(after, before);
}

int timeline_add(struct timeline_plan *plan, struct track *track)
{
	struct timeline *timeline = plan->timeline;

	if (timeline->n == TIMELINE_TRACKS_MAX) {
		track->free(track);
		return -ENOSPC;
	}
	track->next = SIMTIME_NEVER;
	track->kept = plan->unchanged;
	track->waits = track->kept && track->places & plan->changed;
	timeline->track[timeline->n++] = track;
	return 0;
}

int timeline_settings(const struct timeline_plan *plan, const struct cloud_conf *cloud,
                      const struct orders *orders, struct setting *settings)
{
	struct cloud_conf *after = orders_carry_out(orders, cloud);
	uint32_t n = 0;
	int error = after ? 0 : -ENOMEM;

	while (!error && n < orders->n) {
		const struct order *order = &orders->order[n];

		error = setting_prepare(&settings[n], plan->setup, plan->cloud, after, order->name,
		                        order->role);
		n += !error;
	}
	while (error && n > 0)
		setting_free(&settings[--n]);
	cloud_conf_free(after);
	return error;
}

int timeline_make(const struct engine_setup *setup, struct cloud *cloud,
                  const struct cloud_conf *before, const struct cloud_conf *after,
                  struct timeline **result)
{
	struct timeline_plan plan = {
	        .setup = setup, .cloud = cloud, .conf = after, .before = before};
	int error = 0;

	*result = NULL;
	if (!has_schedule(after))
		return 0;
	plan.timeline = calloc(1, sizeof(*plan.timeline));
	if (!plan.timeline)
		return -ENOMEM;
	plan.redone = timeline_redone(setup, before, after);
	plan.changed = changed_places(setup, before, after);
	for (const struct statement *const *row = setup->statements; *row && !error; row++) {
		const struct conf *conf = cloud_conf_get(after, (*row)->name);

		for (; conf && !error; conf = cloud_conf_next(after, conf)) {
			if (conf->statement != *row || (*row)->role != ROLE_SCHEDULE)
				continue;
			plan.by = conf;
			plan.unchanged = timeline_equal(before, conf);
			error = (*row)->plan(conf, &plan);
		}
	}
	if (error) {
		timeline_free(plan.timeline);
		return error;
	}
	*result = plan.timeline;
	return 0;
}

/* ---- what schedules change ---- */

/* Writes the statements that the schedule changes as orders, and returns their number. */
static uint32_t orders_of(const struct conf *conf, struct order orders[TIMELINE_ORDERS_MAX])
{
	const struct orders *lasting = lasting_orders(conf);

	if (conf->statement->role != ROLE_SCHEDULE)
		return 0;
	if (!lasting)
		return conf->statement->covers(conf, orders);
	for (uint32_t i = 0; i < lasting->n; i++)
		orders[i] = lasting->order[i];
	return lasting->n;
}

bool timeline_covers(const struct cloud_conf *cloud, const char *name)
{
	struct order orders[TIMELINE_ORDERS_MAX];

	for (uint32_t i = 0; i < cloud->n_confs; i++) {
		for (uint32_t n = orders_of(cloud->confs[i], orders); n-- > 0;) {
			if (strcmp(orders[n].name, name) == 0)
				return true;
		}
	}
	return false;
}

/* ---- checking ---- */

static bool at_one_place(const struct order *a, const struct order *b)
{
	return (role_place(a->role) && role_place(a->role) == role_place(b->role)) ||
	       (a->role == b->role && strcmp(a->name, b->name) == 0);
}

static int refuse(const struct order *own, const struct order *other, const struct conf *by,
                  struct problem *problem)
{
	if (!lasting_orders(by))
		problem_set(problem, -1,
		            "`%s` already changes `%s`; apart from `at`, only one schedule can "
		            "change a statement",
		            by->statement->name, other->name);
	else
		problem_set(problem, -1,
		            "`at` changes `%s`, which forms one setting with `%s`; let both change "
		            "the same statement",
		            other->name, own->name);
	return -EINVAL;
}

int timeline_check(const struct conf *conf, const struct cloud_conf *cloud, struct problem *problem)
{
	struct order own[TIMELINE_ORDERS_MAX], others[TIMELINE_ORDERS_MAX];
	uint32_t n = orders_of(conf, own);

	for (uint32_t i = 0; i < cloud->n_confs && cloud->confs[i] != conf; i++) {
		const struct conf *other = cloud->confs[i];
		bool one_lasts = lasting_orders(conf) || lasting_orders(other);
		uint32_t m = orders_of(other, others);

		if (lasting_orders(conf) && lasting_orders(other))
			continue;
		for (uint32_t k = 0; k < n * m; k++) {
			const struct order *a = &own[k / m], *b = &others[k % m];

			if (at_one_place(a, b) && (!one_lasts || strcmp(a->name, b->name) != 0))
				return refuse(lasting_orders(conf) ? b : a,
				              lasting_orders(conf) ? a : b,
				              lasting_orders(conf) ? conf : other, problem);
		}
	}
	return 0;
}
