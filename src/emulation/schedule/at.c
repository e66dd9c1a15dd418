/* SPDX-License-Identifier: BSD-3-Clause */
#include "schedule/at.h"

#include <errno.h>
#include <stdlib.h>

#include "scenario/scenario.h"
#include "change/timeline_make.h"
#include "schedule/orders_check.h"

enum { AT_FIELD_TIME, AT_FIELD_ORDERS };

struct point {
	simtime at_ns; /* after the beginning of the run */
	uint32_t n;
	/* Of its orders, one bit each: executed, and the user has not given the statement again */
	uint32_t in_force;
	uint32_t given;  /* of its orders: the user gives the statement again by this change */
	uint32_t former; /* index in the track before; the number of points there: it is new */
	timeline_places place[ORDERS_MAX];
	struct setting setting[ORDERS_MAX];
};

struct at {
	struct track track;
	timeline_places redone; /* points that have passed are executed for these, too */
	uint32_t n, next;
	struct point *point;
};

/* ---- worker ---- */

/* Executes these orders of the point. */
static void point_execute(struct cloud *cloud, struct point *point, uint32_t orders, simtime now)
{
	for (uint32_t i = 0; i < point->n; i++) {
		if (orders >> i & 1)
			timeline_apply_below(cloud, &point->setting[i], point->place[i], now);
	}
}

static void find_next(struct at *at, const struct cloud *cloud)
{
	at->track.next =
	        at->next < at->n ? cloud->origin_ns + at->point[at->next].at_ns : SIMTIME_NEVER;
}

static void at_inherit(struct track *track, const struct track *old)
{
	struct at *at = (struct at *)track;
	const struct at *before = (const struct at *)old;

	for (uint32_t i = 0; i < at->n; i++) {
		struct point *point = &at->point[i];

		if (point->former < before->n)
			point->in_force = before->point[point->former].in_force & ~point->given;
	}
}

/* Returns those orders of the point that the change has to execute again. */
static uint32_t orders_redone(const struct point *point, timeline_places redone)
{
	uint32_t orders = 0;

	for (uint32_t i = 0; i < point->n; i++)
		orders |= (uint32_t)((point->place[i] & redone) != 0) << i;
	return orders & point->in_force;
}

static void at_enter(struct track *track, struct cloud *cloud, simtime now)
{
	struct at *at = (struct at *)track;

	for (at->next = 0; at->next < at->n; at->next++) {
		struct point *point = &at->point[at->next];

		if (cloud->origin_ns + point->at_ns >= now)
			break;
		point_execute(cloud, point, orders_redone(point, at->redone), now);
	}
	find_next(at, cloud);
}

/* Executes the points one by one: each of them lasts. */
static void at_run(struct track *track, struct cloud *cloud, simtime until)
{
	struct at *at = (struct at *)track;
	simtime now = track->next;

	(void)until;
	while (track->next == now) {
		struct point *point = &at->point[at->next++];

		point->in_force = (UINT32_C(1) << point->n) - 1;
		point_execute(cloud, point, point->in_force, now);
		find_next(at, cloud);
	}
}

static void at_key(struct track *track, const struct cloud *cloud, uint64_t seed)
{
	struct at *at = (struct at *)track;

	(void)cloud;
	for (uint32_t i = 0; i < at->n; i++) {
		for (uint32_t k = 0; k < at->point[i].n; k++)
			setting_key(&at->point[i].setting[k], seed);
	}
}

static void at_snapshot(struct track *track, struct snapshot *snapshot)
{
	struct at *at = (struct at *)track;

	for (uint32_t i = 0; i < at->n; i++) {
		for (uint32_t k = 0; k < at->point[i].n; k++)
			setting_snapshot(&at->point[i].setting[k], snapshot);
	}
}

/* ---- control ---- */

static void at_free(struct track *track)
{
	struct at *at = (struct at *)track;

	for (uint32_t i = 0; i < at->n; i++) {
		for (uint32_t k = 0; k < at->point[i].n; k++)
			setting_free(&at->point[i].setting[k]);
	}
	free(at->point);
	free(at);
}

static int by_time(const void *a, const void *b)
{
	const struct at_conf *x = *(const struct at_conf *const *)a;
	const struct at_conf *y = *(const struct at_conf *const *)b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return x->conf.number < y->conf.number ? -1 : 1;
}

/* Writes the cloud's `at` in the order in which they are executed; returns their number. */
static uint32_t at_confs(const struct cloud_conf *cloud, const struct at_conf *confs[AT_MAX])
{
	const struct conf *conf = cloud ? cloud_conf_get(cloud, "at") : NULL;
	uint32_t n = 0;

	for (; conf && n < AT_MAX; conf = cloud_conf_next(cloud, conf))
		confs[n++] = (const struct at_conf *)conf;
	qsort(confs, n, sizeof(confs[0]), by_time);
	return n;
}

/* Finds the points in the timeline before, and which of their statements the user gives again. */
static void points_relate(struct at *at, const struct at_conf *const *confs,
                          const struct timeline_plan *plan)
{
	const struct at_conf *before[AT_MAX];
	uint32_t n = at_confs(plan->before, before);

	for (uint32_t i = 0; i < at->n; i++) {
		const struct conf *equal = timeline_equal(plan->before, &confs[i]->conf);
		struct point *point = &at->point[i];

		point->former = 0;
		while (point->former < n && &before[point->former]->conf != equal)
			point->former++;
		for (uint32_t k = 0; plan->before && k < point->n; k++) {
			const char *name = confs[i]->orders.order[k].name;

			point->given |= (uint32_t)!cloud_conf_same(plan->before, plan->conf, name)
			                << k;
		}
	}
}

/* Prepares each point, given what the points before it have left. */
static int points_prepare(struct at *at, const struct at_conf *const *confs, uint32_t n,
                          const struct timeline_plan *plan)
{
	struct cloud_conf *cloud = cloud_conf_copy(plan->conf), *after;
	int error = cloud ? 0 : -ENOMEM;

	for (; !error && at->n < n; at->n++) {
		const struct orders *orders = &confs[at->n]->orders;
		struct point *point = &at->point[at->n];

		error = timeline_settings(plan, cloud, orders, point->setting);
		if (error)
			break;
		point->at_ns = confs[at->n]->at_ns;
		point->n = orders->n;
		for (uint32_t i = 0; i < orders->n; i++)
			point->place[i] = timeline_place(plan->setup, orders->order[i].name);
		after = orders_carry_out(orders, cloud);
		error = after ? 0 : -ENOMEM;
		cloud_conf_free(cloud);
		cloud = after;
	}
	cloud_conf_free(cloud);
	return error;
}

/* Makes one track for all `at` of the cloud. */
static int at_plan(const struct conf *conf, struct timeline_plan *plan)
{
	const struct at_conf *confs[AT_MAX];
	struct at *at;
	uint32_t n;
	int error;

	if (conf->number != 1)
		return 0;
	n = at_confs(plan->conf, confs);
	at = calloc(1, sizeof(*at));
	if (!at)
		return -ENOMEM;
	at->track.inherit = at_inherit;
	at->track.enter = at_enter;
	at->track.run = at_run;
	at->track.key = at_key;
	at->track.snapshot = at_snapshot;
	at->track.free = at_free;
	at->redone = plan->redone;
	at->point = calloc(n, sizeof(*at->point));
	error = at->point ? points_prepare(at, confs, n, plan) : -ENOMEM;
	points_relate(at, confs, plan);
	if (error) {
		at_free(&at->track);
		return error;
	}
	return timeline_add(plan, &at->track);
}

static int at_check(const struct conf *conf, const struct cloud_conf *cloud,
                    struct problem *problem)
{
	const struct at_conf *at = (const struct at_conf *)conf;
	int error = timeline_check(conf, cloud, problem);

	return error ? error : orders_check(&at->orders, cloud, AT_FIELD_ORDERS, problem);
}

static bool at_same(const struct conf *a, const struct conf *b)
{
	const struct at_conf *x = (const struct at_conf *)a, *y = (const struct at_conf *)b;

	return x->at_ns == y->at_ns && orders_same_names(&x->orders, &y->orders);
}

static const struct orders *at_lasting(const struct conf *conf)
{
	return &((const struct at_conf *)conf)->orders;
}

static const struct field at_fields[] = {
        [AT_FIELD_TIME] = {FIELD("time", FIELD_TIME, struct at_conf, at_ns,
                                 .flags = FIELD_POSITIONAL | FIELD_REQUIRED, .max = SCHEDULE_MAX_NS,
                                 .help = "when, after the beginning of the run")},
        [AT_FIELD_ORDERS] = {FIELD(
                "statements", FIELD_ORDERS, struct at_conf, orders,
                .flags = FIELD_POSITIONAL | FIELD_REQUIRED | FIELD_REST,
                .help = "statements in force from then on; `no NAME` for one that is not")},
        FIELD_END,
};

const struct statement at_statement = {
        .name = "at",
        .help = "statements change at an instant, for good",
        .example = "3600s delay 20ms",
        .role = ROLE_SCHEDULE,
        .fields = at_fields,
        .many_max = AT_MAX,
        .same = at_same,
        .replaces_as_last = true,
        .conf_bytes = sizeof(struct at_conf),
        .check = at_check,
        .plan = at_plan,
        .lasting = at_lasting,
};
