/* SPDX-License-Identifier: BSD-3-Clause */
#include "change/setting.h"

#include <errno.h>
#include <stdlib.h>

#include "line/delay.h"
#include "link/aqm.h"
#include "link/classes.h"
#include "link/rate.h"
#include "schedule/timeline.h"

/* ---- preparing: control ---- */

static int statement_rank(const struct engine_setup *setup, const struct statement *statement)
{
	int rank = 0;

	while (setup->statements[rank] && setup->statements[rank] != statement)
		rank++;
	return rank;
}

static struct draw_key key_for(uint64_t seed, const struct cloud *cloud,
                               const struct statement *statement)
{
	char purpose[64];

	__builtin_snprintf(purpose, sizeof(purpose), "%s %s", statement->name,
	                   statement->variant ? statement->variant : "");
	return draw_key_make(seed, cloud->name, purpose);
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
	stage->key = key_for(setup->seed, setting->cloud, statement);
	for (; !error && statement->ready && conf; conf = cloud_conf_next(cloud, conf))
		error = statement->ready(stage, conf);
	if (error) {
		statement->free(stage);
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
		link->slots = slots_rule_of(slots,
		                            key_for(setup->seed, setting->cloud, &slots_statement));
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
	return classes_make(setup, setting->cloud, conf, &setting->classes);
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
		        reorder, key_for(setup->seed, setting->cloud, reorder->statement));
	line->on_wheel = line->allow_overtaking || reorder_overtakes(&line->reorder);
	/* Those of a template lie on the shared one. */
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
	if (error) {
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
		return aqm_make(setup, cloud, conf, "", &setting->aqm);
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

/* ---- draws follow from the name: worker ---- */

static void classes_key(struct classes *classes, uint64_t seed)
{
	for (uint32_t i = 0; classes && i < classes->n; i++) {
		struct class_state *class = &classes->class[i];

		if (class->queue.aqm)
			aqm_key(class->queue.aqm, seed, class->name);
	}
}

static void slots_key(struct slots_rule *slots, uint64_t seed, const struct cloud *cloud)
{
	if (slots->on)
		slots->key = key_for(seed, cloud, &slots_statement);
}

static void reorder_key(struct reorder_rule *rule, uint64_t seed, const struct cloud *cloud)
{
	if (rule->kind != REORDER_NONE)
		rule->key = key_for(seed, cloud, rule->statement);
}

void setting_key(struct setting *setting, uint64_t seed)
{
	const struct cloud *cloud = setting->cloud;

	switch (setting->role) {
	case ROLE_STAGE:
		if (setting->stage)
			setting->stage->key = key_for(seed, cloud, setting->stage->statement);
		break;
	case ROLE_LINK:
		slots_key(&setting->link.slots, seed, cloud);
		break;
	case ROLE_AQM:
	case ROLE_AQM_MODIFIER:
		if (setting->aqm)
			aqm_key(setting->aqm, seed, "");
		break;
	case ROLE_CLASS:
		classes_key(setting->classes, seed);
		break;
	case ROLE_LINE:
		reorder_key(&setting->line.reorder, seed, cloud);
		break;
	case ROLE_CLOUD:
	case ROLE_SCHEDULE:
		break;
	}
}

void cloud_key(struct cloud *cloud, uint64_t seed)
{
	cloud->line.key = draw_key_make(seed, cloud->name, "delay");
	for (uint16_t i = 0; i < cloud->n_stages; i++)
		cloud->stages[i]->key = key_for(seed, cloud, cloud->stages[i]->statement);
	slots_key(&cloud->link.conf.slots, seed, cloud);
	reorder_key(&cloud->line.conf.reorder, seed, cloud);
	if (cloud->link.queue.aqm)
		aqm_key(cloud->link.queue.aqm, seed, "");
	classes_key(cloud->link.classes, seed);
	timeline_key(cloud, seed);
}

/* ---- applying: worker ---- */

/* No draw is repeated: neither those of the stage that was there until now, nor of one before. */
static void stage_take_over(struct cloud *cloud, struct stage *stage, const struct stage *old)
{
	if (old && old->statement == stage->statement) {
		stage->drawn = RTE_MAX(stage->drawn, old->drawn);
		if (stage->statement->adopt)
			stage->statement->adopt(stage, old);
	} else {
		stage->drawn = RTE_MAX(stage->drawn, cloud->drawn_most);
	}
}

/* The first stage's that is told alone, and behind it those that are told beside. */
static void watches_line_up(struct cloud *cloud)
{
	struct cloud_watch *first = NULL, *besides = NULL;

	for (uint16_t at = cloud->n_stages; at > 0; at--) {
		struct cloud_watch *watch = cloud->stages[at - 1]->watch;

		if (!watch)
			continue;
		if (watch->beside) {
			watch->next = besides;
			besides = watch;
		} else {
			first = watch;
		}
	}
	cloud->watch = first ? first : besides;
	if (first)
		first->next = besides;
}

/* Control reads the list while it changes (cloud_stages): at each moment its first n_stages places are
 * filled, and it is known that it changes. */
static void place_set(struct cloud *cloud, uint16_t at, struct stage *stage)
{
	__atomic_store_n(&cloud->stages[at], stage, __ATOMIC_RELAXED);
}

static void exchange_tell(struct cloud *cloud)
{
	__atomic_store_n(&cloud->exchanges, cloud->exchanges + 1, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static void stage_take_out(struct cloud *cloud, uint16_t at)
{
	uint16_t left = cloud->n_stages - 1;

	for (; at < left; at++)
		place_set(cloud, at, cloud->stages[at + 1]);
	__atomic_store_n(&cloud->n_stages, left, __ATOMIC_RELEASE);
}

static void stage_put_in(struct cloud *cloud, struct stage *stage)
{
	uint16_t at = cloud->n_stages;

	for (; at > 0 && cloud->stages[at - 1]->rank > stage->rank; at--)
		place_set(cloud, at, cloud->stages[at - 1]);
	place_set(cloud, at, stage);
	__atomic_store_n(&cloud->n_stages, cloud->n_stages + 1, __ATOMIC_RELEASE);
}

static void stage_exchange(struct setting *setting)
{
	struct cloud *cloud = setting->cloud;
	struct stage *stage = setting->stage;
	struct stage *old = NULL;
	uint16_t at = 0;

	while (at < cloud->n_stages && strcmp(cloud->stages[at]->statement->name, setting->name))
		at++;
	exchange_tell(cloud);
	if (at < cloud->n_stages) {
		old = cloud->stages[at];
		stage_take_out(cloud, at);
		cloud->drawn_most = RTE_MAX(cloud->drawn_most, old->drawn);
	}
	if (stage) {
		stage_take_over(cloud, stage, old);
		stage_put_in(cloud, stage);
	}
	exchange_tell(cloud);
	watches_line_up(cloud);
	setting->stage = old;
}

static void line_exchange(struct setting *setting, simtime now)
{
	struct line *line = &setting->cloud->line;

	if (!line->wheel && setting->wheel) {
		line->wheel = setting->wheel;
		setting->wheel = NULL;
		wheel_front(line->wheel, now); /* brings its cursor to the present */
	}
	if (!line->in_flight) {
		line->in_flight = setting->in_flight;
		setting->in_flight = NULL;
	}
	line_configure(line, &setting->line);
	if (!reorder_holds_back(&line->conf.reorder))
		reorder_flush(setting->cloud, now);
}

void setting_apply(struct setting *setting, simtime now)
{
	struct link *link = &setting->cloud->link;
	struct link_conf old;

	switch (setting->role) {
	case ROLE_STAGE:
		stage_exchange(setting);
		break;
	case ROLE_LINK:
		old = link->conf;
		link_configure(link, &setting->link, now);
		setting->link = old;
		break;
	case ROLE_AQM:
	case ROLE_AQM_MODIFIER:
		setting->aqm = aqm_exchange(&link->queue, setting->aqm, now);
		break;
	case ROLE_CLASS:
		setting->classes = classes_exchange(link, setting->classes,
		                                    &setting->cloud->holder->arena, now);
		break;
	case ROLE_LINE:
		line_exchange(setting, now);
		break;
	case ROLE_CLOUD:
	case ROLE_SCHEDULE:
		break;
	}
}

void setting_free(struct setting *setting)
{
	switch (setting->role) {
	case ROLE_STAGE:
		if (setting->stage)
			setting->stage->statement->free(setting->stage);
		break;
	case ROLE_AQM:
	case ROLE_AQM_MODIFIER:
		aqm_free(setting->aqm);
		break;
	case ROLE_CLASS:
		classes_free(setting->classes);
		break;
	case ROLE_LINE:
		jitter_release(setting->line.jitter);
		wheel_free(setting->wheel);
		in_flight_free(setting->in_flight);
		break;
	case ROLE_LINK:
	case ROLE_CLOUD:
	case ROLE_SCHEDULE:
		break;
	}
}
