/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making the timeline of a cloud (engine/timeline.h): which tracks it has, and what they put in
 * force.
 *
 * Thread: control.
 */
#ifndef WEIR_TIMELINE_MAKE_H
#define WEIR_TIMELINE_MAKE_H

#include "engine/timeline.h"
#include "scenario/orders.h"

struct engine_setup;

/* What `plan` of a statement (stage.h) is given. */
struct timeline_plan {
	const struct engine_setup *setup;
	struct cloud *cloud;
	const struct cloud_conf *conf;
	timeline_places redone; /* by settings of this change, from below: see timeline_redone */
	/* timeline_make's */
	struct timeline *timeline;
	timeline_places changed;
	bool unchanged;
};

/* The places whose statements have to be given again in a change of the configuration, although
 * they have not changed: an `at` that may have changed them was taken away, or what is one setting
 * with them has changed. `before` may be NULL. */
timeline_places timeline_redone(const struct engine_setup *setup, const struct cloud_conf *before,
                                const struct cloud_conf *after);
timeline_places timeline_place(const struct engine_setup *setup, const char *name);

/* Whether a change from one configuration to the other needs another timeline. */
bool timeline_changes(const struct cloud_conf *before, const struct cloud_conf *after);
/* The timeline of that configuration; NULL if it has none. 0 or -errno. */
int timeline_make(const struct engine_setup *setup, struct cloud *cloud,
                  const struct cloud_conf *before, const struct cloud_conf *after,
                  struct timeline **timeline);
/* Adds a track, which is the timeline's from now on, also if it fails. 0 or -ENOSPC. */
int timeline_add(struct timeline_plan *plan, struct track *track);

/* A setting for each order, as the cloud's configuration would be with them. Room for ORDERS_MAX.
 * 0 or -errno; then there is nothing to free. */
int timeline_settings(const struct timeline_plan *plan, const struct cloud_conf *cloud,
                      const struct orders *orders, struct setting *settings);
timeline_places timeline_orders_places(const struct engine_setup *setup,
                                       const struct orders *orders);

/* What stands at the same place is changed by one track only: an error for the conf of a schedule
 * that comes behind another that does so. For `check`. */
int timeline_check(const struct conf *conf, const struct cloud_conf *cloud,
                   struct problem *problem);

#endif
