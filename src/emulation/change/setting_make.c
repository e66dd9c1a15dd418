/* SPDX-License-Identifier: BSD-3-Clause */
#include "change/setting_make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "account/tally.h"
#include "engine/cloud.h"
#include "engine/engine.h"
#include "line/delay.h"
#include "link/aqm.h"
#include "link/classes.h"
#include "link/rate.h"
#include "link/slots.h"

static int statement_rank(const struct engine_setup *setup, const struct statement *statement)
{
	int rank = 0;

	while (setup->statements[rank] && setup->statements[rank] != statement)
		rank++;
	return rank;
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
	stage->tally = statement->number_max ? NULL : tally_hold(conf->tally);
	for (; !error && statement->ready && conf; conf = cloud_conf_next(cloud, conf))
		error = statement->ready(stage, conf);
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
		error = spread_prepare(setting, jitter);
	if (error) {
		jitter_release(jitter);
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
