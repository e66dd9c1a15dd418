/* SPDX-License-Identifier: BSD-3-Clause */
#include "schedule/every.h"

#include <errno.h>
#include <stdlib.h>

#include "scenario/scenario.h"
#include "change/timeline_make.h"
#include "schedule/at.h"
#include "account/counters.h"
#include "account/tally.h"
#include "schedule/down.h"
#include "schedule/orders_check.h"

enum { EVERY_FIELD_EVERY, EVERY_FIELD_FOR, EVERY_FIELD_FROM, EVERY_FIELD_ORDERS };
enum { FLAP_FIELD_DOWN, FLAP_FIELD_EVERY, FLAP_FIELD_FROM };

struct every {
	struct track track;
	simtime every_ns, for_ns, from_ns;
	uint32_t n;
	struct setting setting[ORDERS_MAX];
};

/* ---- worker ---- */

static void every_put_on(struct track *track, struct cloud *cloud, simtime now)
{
	struct every *every = (struct every *)track;

	(void)cloud;
	for (uint32_t i = 0; i < every->n; i++)
		setting_apply(&every->setting[i], now);
	track->on = true;
}

static void every_take_off(struct track *track, struct cloud *cloud, simtime now)
{
	struct every *every = (struct every *)track;

	(void)cloud;
	for (uint32_t i = every->n; i-- > 0;)
		setting_apply(&every->setting[i], now);
	track->on = false;
}

static bool every_put_below(struct track *track, struct cloud *cloud, struct setting *setting,
                            simtime now)
{
	struct every *every = (struct every *)track;

	(void)cloud;
	(void)now;
	return setting_put_below(setting, every->setting, every->n);
}

/* Returns true if `now` lies in a window. `next`: when that window ends, or the next one begins. */
static bool window_at(const struct every *every, const struct cloud *cloud, simtime now,
                      simtime *next)
{
	simtime first = cloud->origin_ns + every->from_ns, begin;

	if (now < first) {
		*next = first;
		return false;
	}
	begin = now - (now - first) % every->every_ns;
	*next = begin + (now - begin < every->for_ns ? every->for_ns : every->every_ns);
	return now - begin < every->for_ns;
}

static void every_enter(struct track *track, struct cloud *cloud, simtime now)
{
	struct every *every = (struct every *)track;

	if (!window_at(every, cloud, now, &track->next))
		return;
	if (track->waits)
		track->next += every->every_ns - every->for_ns;
	else
		every_put_on(track, cloud, now);
}

/* Executes the last whole window from `now` to `until`, if there is one: what it leaves is what all
 * of them leave (timeline.h). */
static void last_window_execute(struct every *every, struct cloud *cloud, simtime now,
                                simtime until)
{
	simtime first = cloud->origin_ns + every->from_ns, begin;

	if (until < first + every->for_ns)
		return;
	begin = until - every->for_ns;
	begin -= (begin - first) % every->every_ns;
	if (begin < now)
		return;
	every_put_on(&every->track, cloud, begin);
	every_take_off(&every->track, cloud, begin + every->for_ns);
}

static void every_run(struct track *track, struct cloud *cloud, simtime until)
{
	struct every *every = (struct every *)track;
	simtime now = track->next;
	bool inside = window_at(every, cloud, until, &track->next);

	/* A statement starts anew in each window, even if nothing happened in between. */
	if (track->on)
		every_take_off(track, cloud, now);
	if (until > now)
		last_window_execute(every, cloud, now, until);
	if (inside)
		every_put_on(track, cloud, track->next - every->for_ns);
}

static void every_key(struct track *track, const struct cloud *cloud, uint64_t seed)
{
	struct every *every = (struct every *)track;

	(void)cloud;
	for (uint32_t i = 0; i < every->n; i++)
		setting_key(&every->setting[i], seed);
}

static void every_snapshot(struct track *track, struct snapshot *snapshot)
{
	struct every *every = (struct every *)track;

	for (uint32_t i = 0; i < every->n; i++)
		setting_snapshot(&every->setting[i], snapshot);
}

/* ---- control ---- */

static void every_free(struct track *track)
{
	struct every *every = (struct every *)track;

	for (uint32_t i = 0; i < every->n; i++)
		setting_free(&every->setting[i]);
	free(every);
}

static int plan(const struct every_conf *conf, const struct orders *orders,
                struct timeline_plan *plan)
{
	struct every *every = calloc(1, sizeof(*every));
	int error;

	if (!every)
		return -ENOMEM;
	every->track.enter = every_enter;
	every->track.run = every_run;
	every->track.take_off = every_take_off;
	every->track.put_below = every_put_below;
	every->track.key = every_key;
	every->track.snapshot = every_snapshot;
	every->track.free = every_free;
	every->track.places = timeline_orders_places(plan->setup, orders);
	every->every_ns = conf->every_ns;
	every->for_ns = conf->for_ns;
	every->from_ns = conf->conf.given >> EVERY_FIELD_FROM & 1 ? conf->from_ns : conf->every_ns;
	error = timeline_settings(plan, plan->conf, orders, every->setting);
	if (error) {
		every_free(&every->track);
		return error;
	}
	every->n = orders->n;
	return timeline_add(plan, &every->track);
}

static int every_plan(const struct conf *conf, struct timeline_plan *timeline)
{
	const struct every_conf *every = (const struct every_conf *)conf;

	return plan(every, &every->orders, timeline);
}

static int flap_plan(const struct conf *conf, struct timeline_plan *timeline)
{
	struct conf *down = conf_make(&down_statement);
	struct order order = {.name = down_statement.name, .role = ROLE_STAGE, .conf = down};
	int error;

	if (!down)
		return -ENOMEM;
	down->tally = tally_hold(conf->tally);
	error = plan((const struct every_conf *)conf, &(struct orders){.n = 1, .order = &order},
	             timeline);
	conf_free(down);
	return error;
}

static int check_times(const struct every_conf *every, int field, struct problem *problem)
{
	if (every->for_ns < every->every_ns)
		return 0;
	return problem_set(problem, field, "it would never end: `%s` must be shorter than `every`",
	                   every->conf.statement == &flap_statement ? "down" : "for");
}

static int every_check(const struct conf *conf, const struct cloud_conf *cloud,
                       struct problem *problem)
{
	const struct every_conf *every = (const struct every_conf *)conf;
	int error = check_times(every, EVERY_FIELD_FOR, problem);

	if (!error)
		error = timeline_check(conf, cloud, problem);
	return error ? error : orders_check(&every->orders, cloud, EVERY_FIELD_ORDERS, problem);
}

static int flap_check(const struct conf *conf, const struct cloud_conf *cloud,
                      struct problem *problem)
{
	int error = check_times((const struct every_conf *)conf, FLAP_FIELD_DOWN, problem);

	return error ? error : timeline_check(conf, cloud, problem);
}

static bool every_same(const struct conf *a, const struct conf *b)
{
	return orders_same_names(&((const struct every_conf *)a)->orders,
	                         &((const struct every_conf *)b)->orders);
}

static uint32_t every_covers(const struct conf *conf, struct order *covers)
{
	const struct orders *orders = &((const struct every_conf *)conf)->orders;

	for (uint32_t i = 0; i < orders->n; i++)
		covers[i] = orders->order[i];
	return orders->n;
}

static uint32_t flap_covers(const struct conf *conf, struct order *covers)
{
	(void)conf;
	covers[0] = (struct order){.name = down_statement.name, .role = ROLE_STAGE};
	return 1;
}

static const struct field every_fields[] = {
        [EVERY_FIELD_EVERY] = {FIELD(
                "every", FIELD_TIME, struct every_conf, every_ns,
                .flags = FIELD_POSITIONAL | FIELD_REQUIRED, .min = SIMTIME_US,
                .max = SCHEDULE_MAX_NS,
                .help = "from the beginning of one window to that of the next")},
        [EVERY_FIELD_FOR] = {FIELD("for", FIELD_TIME, struct every_conf, for_ns,
                                   .flags = FIELD_REQUIRED, .min = 1, .max = SCHEDULE_MAX_NS,
                                   .help = "how long the statements are in force each time")},
        [EVERY_FIELD_FROM] = {FIELD(
                "from", FIELD_TIME, struct every_conf, from_ns, .max = SCHEDULE_MAX_NS,
                .help = "when the first window begins, after the beginning of the "
                        "run; if not given, after one `every`")},
        [EVERY_FIELD_ORDERS] = {FIELD(
                "statements", FIELD_ORDERS, struct every_conf, orders,
                .flags = FIELD_POSITIONAL | FIELD_REQUIRED | FIELD_REST,
                .help = "statements in force in each window; `no NAME` for one that is not")},
        FIELD_END,
};

static const struct field flap_fields[] = {
        [FLAP_FIELD_DOWN] = {FIELD("down", FIELD_TIME, struct every_conf, for_ns,
                                   .flags = FIELD_REQUIRED, .min = 1, .max = SCHEDULE_MAX_NS,
                                   .help = "how long the cloud is down each time")},
        [FLAP_FIELD_EVERY] = {FIELD(
                "every", FIELD_TIME, struct every_conf, every_ns, .flags = FIELD_REQUIRED,
                .min = SIMTIME_US, .max = SCHEDULE_MAX_NS,
                .help = "from the beginning of one outage to that of the next")},
        [FLAP_FIELD_FROM] = {FIELD(
                "from", FIELD_TIME, struct every_conf, from_ns, .max = SCHEDULE_MAX_NS,
                .help = "when it first goes down, after the beginning of the run; if "
                        "not given, after one `every`")},
        FIELD_END,
};

_Static_assert((int)EVERY_FIELD_FROM == (int)FLAP_FIELD_FROM, "plan() looks at one of them");

const struct statement every_statement = {
        .name = "every",
        .help = "statements that hold for a while, again and again",
        .example = "3600s for 1s from 3600s delay 20ms",
        .role = ROLE_SCHEDULE,
        .fields = every_fields,
        .many_max = 16,
        .same = every_same,
        .conf_bytes = sizeof(struct every_conf),
        .check = every_check,
        .plan = every_plan,
        .covers = every_covers,
};

const struct statement flap_statement = {
        .name = "flap",
        .help = "the cloud goes down for a while, again and again",
        .example = "down 1ms every 3600s from 3600s",
        .role = ROLE_SCHEDULE,
        .fields = flap_fields,
        .conf_bytes = sizeof(struct every_conf),
        .acts = {DROPS(DOWN)},
        .check = flap_check,
        .plan = flap_plan,
        .covers = flap_covers,
};
