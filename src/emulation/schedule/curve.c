/* SPDX-License-Identifier: BSD-3-Clause */
#include "schedule/curve.h"

#include <errno.h>
#include <stdlib.h>

#include "account/tally.h"
#include "link/rate.h"
#include "link/slots.h"
#include "loss/loss_random.h"
#include "scenario/scenario.h"

struct curve {
	struct track track;
	struct curve_conf conf;
	uint64_t index;        /* of the point in force, counted over all rounds; NONE: none yet */
	uint64_t rate_max_bps; /* the rate, if the cloud has none */
	struct limit rate_queue; /* the queue, if the cloud has no rate or the trace has one */
	struct link_conf link_below;
	struct line_conf line_below;
	struct jitter *jitter; /* for the largest jitter; or NULL */
	simtime jitter_max_ns;
	struct setting loss;
	struct stage *lossy; /* the stage of `loss` */
};

#define NONE UINT64_MAX

/* ---- time ---- */

/* Returns the instant of a point, after the beginning of the run; SIMTIME_NEVER if there is
 * none. */
static simtime point_at(const struct curve *curve, uint64_t index)
{
	const struct curve_conf *conf = &curve->conf;
	uint64_t round = index / conf->n, i = index % conf->n;

	if (round > 0 && !conf->loop)
		return SIMTIME_NEVER;
	if (conf->even)
		return round * conf->period_ns +
		       (simtime)(((unsigned __int128)conf->period_ns * i + conf->n - 1) / conf->n);
	return round * conf->period_ns + conf->points[i].at_ns;
}

/* Returns the last point at or before that instant, NONE before the first. */
static uint64_t point_of(const struct curve *curve, simtime t)
{
	const struct curve_conf *conf = &curve->conf;
	uint64_t round = conf->loop ? t / conf->period_ns : 0;
	simtime within = t - round * (conf->loop ? conf->period_ns : 0);
	uint64_t low = 0, high = conf->n;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (point_at(curve, middle) <= within)
			low = middle + 1;
		else
			high = middle;
	}
	low += round * conf->n;
	return low == 0 ? NONE : low - 1;
}

/* ---- worker ---- */

static void rate_set(struct cloud *cloud, uint64_t rate_bps, simtime now)
{
	struct link_conf link = cloud->link.conf;

	link.stopped = rate_bps == 0;
	if (rate_bps != 0)
		link.rate_bps = rate_bps;
	link_configure(&cloud->link, &link, now);
}

static void values_set(struct curve *curve, struct cloud *cloud, simtime now)
{
	const struct curve_point *point = &curve->conf.points[curve->index % curve->conf.n];
	struct line_conf *line = &cloud->line.conf;

	if (curve->conf.has & CURVE_RATE)
		rate_set(cloud, point->rate_bps, now);
	if (curve->conf.has & CURVE_DELAY)
		line->delay_ns = point->delay_ns;
	if (curve->jitter)
		line->scale_q32 = (uint64_t)(((unsigned __int128)point->jitter_ns << 32) /
		                             curve->jitter_max_ns);
	if (curve->conf.has & CURVE_LOSS)
		loss_random_set(curve->lossy, point->loss);
}

/* Returns the link, or the line, with what is below and what the curve has on top, apart from the
 * values of its points. */
static struct link_conf link_over(const struct curve *curve)
{
	struct link_conf link = curve->link_below;

	if (link.rate_bps == 0 || curve->conf.queue.unit != LIMIT_NONE)
		link.limit = curve->rate_queue;
	if (link.rate_bps == 0)
		link.rate_bps = curve->rate_max_bps;
	return link;
}

static struct line_conf line_over(const struct curve *curve, const struct line_conf *below)
{
	struct line_conf line = *below;

	if (curve->conf.has & CURVE_JITTER) {
		line.jitter = curve->jitter;
		line.scaled = curve->jitter != NULL;
	}
	return line;
}

static void curve_put_on(struct track *track, struct cloud *cloud, simtime now)
{
	struct curve *curve = (struct curve *)track;

	if (curve->conf.has & CURVE_RATE) {
		struct link_conf link;

		curve->link_below = cloud->link.conf;
		link = link_over(curve);
		link_configure(&cloud->link, &link, now);
	}
	if (curve->conf.has & (CURVE_DELAY | CURVE_JITTER)) {
		struct line_conf line = line_over(curve, &cloud->line.conf);

		line_configure(&cloud->line, &line);
		curve->line_below = line;
	}
	if (curve->conf.has & CURVE_LOSS)
		setting_apply(&curve->loss, now);
	track->on = true;
	values_set(curve, cloud, now);
}

static void curve_take_off(struct track *track, struct cloud *cloud, simtime now)
{
	struct curve *curve = (struct curve *)track;

	if (curve->conf.has & CURVE_LOSS)
		setting_apply(&curve->loss, now);
	if (curve->conf.has & (CURVE_DELAY | CURVE_JITTER))
		line_configure(&cloud->line, &curve->line_below);
	if (curve->conf.has & CURVE_RATE)
		link_configure(&cloud->link, &curve->link_below, now);
	track->on = false;
}

static void link_put_below(struct curve *curve, struct cloud *cloud, struct setting *setting,
                           simtime now)
{
	const struct link_conf old = curve->link_below;
	struct link_conf link;

	curve->link_below = setting->link;
	setting->link = old;
	link = link_over(curve);
	link.rate_bps = cloud->link.conf.rate_bps;
	link.stopped = cloud->link.conf.stopped;
	link_configure(&cloud->link, &link, now);
}

/* The order and the reordering of what is below are in force. */
static void line_put_below(struct curve *curve, const struct cloud *cloud, struct setting *setting,
                           simtime now)
{
	const struct line_conf below = setting->line;

	setting->line = line_over(curve, &below);
	if (curve->conf.has & CURVE_DELAY)
		setting->line.delay_ns = cloud->line.conf.delay_ns;
	if (curve->conf.has & CURVE_JITTER)
		setting->line.scale_q32 = cloud->line.conf.scale_q32;
	setting_apply(setting, now);
	setting->line = curve->line_below;
	curve->line_below = below;
}

static bool curve_put_below(struct track *track, struct cloud *cloud, struct setting *setting,
                            simtime now)
{
	struct curve *curve = (struct curve *)track;

	if (setting->role == ROLE_LINK)
		link_put_below(curve, cloud, setting, now);
	else if (setting->role == ROLE_LINE)
		line_put_below(curve, cloud, setting, now);
	else
		return setting_put_below(setting, &curve->loss, 1);
	return true;
}

/* Finds the point after the one in force. */
static void find_next(struct curve *curve, const struct cloud *cloud)
{
	simtime next = point_at(curve, curve->index + 1);

	curve->track.next = next == SIMTIME_NEVER ? next : cloud->origin_ns + next;
}

static void curve_enter(struct track *track, struct cloud *cloud, simtime now)
{
	struct curve *curve = (struct curve *)track;

	curve->index = point_of(curve, now - cloud->origin_ns);
	if (curve->index != NONE && !track->waits)
		curve_put_on(track, cloud, now);
	find_next(curve, cloud);
}

static void curve_run(struct track *track, struct cloud *cloud, simtime until)
{
	struct curve *curve = (struct curve *)track;
	simtime now = track->next;

	curve->index++;
	if (until > track->next) {
		curve->index = point_of(curve, until - cloud->origin_ns);
		now = until;
	}
	if (track->on)
		values_set(curve, cloud, now);
	else
		curve_put_on(track, cloud, now);
	find_next(curve, cloud);
}

static void curve_key(struct track *track, const struct cloud *cloud, uint64_t seed)
{
	struct curve *curve = (struct curve *)track;

	(void)cloud;
	if (curve->conf.has & CURVE_LOSS)
		setting_key(&curve->loss, seed);
}

/* The position follows from the time. */
static void curve_snapshot(struct track *track, struct snapshot *snapshot)
{
	struct curve *curve = (struct curve *)track;

	if (curve->conf.has & CURVE_LOSS)
		setting_snapshot(&curve->loss, snapshot);
}

/* ---- control ---- */

static void curve_free(struct track *track)
{
	struct curve *curve = (struct curve *)track;

	if (curve->conf.has & CURVE_LOSS)
		setting_free(&curve->loss);
	jitter_release(curve->jitter);
	free(curve->conf.points);
	free(curve);
}

uint32_t curve_covers(uint32_t has, struct order *covers)
{
	uint32_t n = 0;

	if (has & CURVE_RATE)
		covers[n++] = (struct order){.name = "rate", .role = ROLE_LINK};
	if (has & (CURVE_DELAY | CURVE_JITTER))
		covers[n++] = (struct order){.name = "delay", .role = ROLE_LINE};
	if (has & CURVE_LOSS)
		covers[n++] = (struct order){.name = "loss", .role = ROLE_STAGE};
	return n;
}

struct limit curve_queue(const struct cloud_conf *cloud, struct limit queue, uint64_t rate_bps)
{
	const struct rate_conf *given = (const struct rate_conf *)cloud_conf_get(cloud, "rate");
	const struct slots_conf *slots = (const struct slots_conf *)cloud_conf_get(cloud, "slots");
	struct rate_conf rate = {.rate_bps = rate_bps};

	if (queue.unit != LIMIT_NONE)
		return queue;
	if (!given && slots && slots->queue.unit != LIMIT_NONE)
		return slots->queue;
	return given ? rate_queue(given, cloud) : rate_queue(&rate, cloud);
}

static int prepare_loss(struct curve *curve, const struct timeline_plan *plan)
{
	struct conf *loss = conf_make(&loss_random_statement);
	struct order order = {.name = "loss", .role = ROLE_STAGE, .conf = loss};
	int error;

	if (!loss)
		return -ENOMEM;
	loss->tally = tally_hold(plan->by->tally);
	error = timeline_settings(plan, plan->conf, &(struct orders){.n = 1, .order = &order},
	                          &curve->loss);
	conf_free(loss);
	if (!error)
		curve->lossy = curve->loss.stage;
	return error;
}

/* Prepares the jitter of the `delay` statement for the largest jitter of the curve. */
static int prepare_jitter(struct curve *curve, const struct cloud_conf *cloud)
{
	const struct conf *given = cloud_conf_get(cloud, "delay");
	struct conf *conf = given ? conf_copy(given) : conf_make(&delay_statement);
	struct delay_conf *delay = (struct delay_conf *)conf;
	int error;

	if (!conf)
		return -ENOMEM;
	delay->jitter_ns = curve->jitter_max_ns;
	for (uint32_t i = 0; curve->conf.has & CURVE_DELAY && i < curve->conf.n; i++)
		delay->delay_ns = RTE_MAX(delay->delay_ns, curve->conf.points[i].delay_ns);
	error = jitter_make(delay, &curve->jitter);
	conf_free(conf);
	return error;
}

static int prepare(struct curve *curve, const struct timeline_plan *plan)
{
	uint64_t rate_max = 0;
	int error = 0;

	for (uint32_t i = 0; i < curve->conf.n; i++) {
		const struct curve_point *point = &curve->conf.points[i];

		rate_max = RTE_MAX(rate_max, point->rate_bps);
		curve->jitter_max_ns = RTE_MAX(curve->jitter_max_ns, point->jitter_ns);
	}
	curve->rate_max_bps = rate_max;
	curve->rate_queue = curve_queue(plan->conf, curve->conf.queue, rate_max);
	if (curve->conf.has & CURVE_LOSS)
		error = prepare_loss(curve, plan);
	if (error) {
		curve->conf.has &= ~CURVE_LOSS;
		return error;
	}
	if (curve->conf.has & CURVE_JITTER && curve->jitter_max_ns > 0)
		error = prepare_jitter(curve, plan->conf);
	return error;
}

int curve_plan(const struct curve_conf *conf, struct timeline_plan *plan)
{
	struct curve *curve = calloc(1, sizeof(*curve));
	struct order covers[TIMELINE_ORDERS_MAX];
	uint32_t n = curve_covers(conf->has, covers);
	int error;

	if (!curve) {
		free(conf->points);
		return -ENOMEM;
	}
	curve->conf = *conf;
	curve->track.enter = curve_enter;
	curve->track.run = curve_run;
	curve->track.take_off = curve_take_off;
	curve->track.put_below = curve_put_below;
	curve->track.key = curve_key;
	curve->track.snapshot = curve_snapshot;
	curve->track.free = curve_free;
	curve->track.places = timeline_orders_places(plan->setup, &(struct orders){n, covers});
	error = prepare(curve, plan);
	if (error) {
		curve_free(&curve->track);
		return error;
	}
	return timeline_add(plan, &curve->track);
}
