/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the timeline of a cloud (engine/timeline.h): its tracks, and what they put in force.
 *
 * Thread: control.
 */
#ifndef WEIR_TIMELINE_MAKE_H
#define WEIR_TIMELINE_MAKE_H

#include "engine/timeline.h"
#include "scenario/orders.h"

struct engine_setup;

/* The input of `plan` of a statement (statement.h). */
struct timeline_plan {
	const struct engine_setup *setup;
	struct cloud *cloud;
	const struct cloud_conf *conf, *before; /* before: NULL if the cloud is new */
	const struct conf *by;                  /* the schedule that is being planned */
	timeline_places redone; /* applied again by this change: see timeline_redone */
	/* for timeline_make */
	struct timeline *timeline;
	timeline_places changed;
	bool unchanged;
};

/* Returns the places whose statements a change of the configuration has to apply again although
 * they have not changed: an `at` that may have changed them was removed, or another statement of
 * the same setting has changed. `before` may be NULL. */
timeline_places timeline_redone(const struct engine_setup *setup, const struct cloud_conf *before,
                                const struct cloud_conf *after);
timeline_places timeline_place(const struct engine_setup *setup, const char *name);

/* Returns the configuration in `cloud` that is equal to `conf`, at any position, or NULL. `cloud`
 * may be NULL. */
const struct conf *timeline_equal(const struct cloud_conf *cloud, const struct conf *conf);

/* Returns true if a change from one configuration to the other needs another timeline. */
bool timeline_changes(const struct cloud_conf *before, const struct cloud_conf *after);
/* Makes the timeline of the configuration `after`; NULL if it has none. Returns 0 or -errno. */
int timeline_make(const struct engine_setup *setup, struct cloud *cloud,
                  const struct cloud_conf *before, const struct cloud_conf *after,
                  struct timeline **timeline);
/* Adds a track and takes ownership of it, on failure too. Returns 0 or -ENOSPC. */
int timeline_add(struct timeline_plan *plan, struct track *track);

/* Makes a setting for each order, from the cloud's configuration with the orders carried out.
 * `settings` has room for ORDERS_MAX. Returns 0 or -errno; on failure there is nothing to free. */
int timeline_settings(const struct timeline_plan *plan, const struct cloud_conf *cloud,
                      const struct orders *orders, struct setting *settings);
timeline_places timeline_orders_places(const struct engine_setup *setup,
                                       const struct orders *orders);

/* Returns true if a schedule of the cloud changes the statement of this name. */
bool timeline_covers(const struct cloud_conf *cloud, const char *name);

/* Checks the conf of a schedule against those before it in the cloud: only one track may change a
 * place. The exceptions are two `at`, and an `at` beside a schedule of the same statement. Returns
 * 0, or -EINVAL with problem. For `check` of a statement. */
int timeline_check(const struct conf *conf, const struct cloud_conf *cloud,
                   struct problem *problem);

#endif
