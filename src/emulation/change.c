/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From one scenario to the next: everything that can fail or take time happens in change_prepare,
 * in the control's thread; engine_apply only swaps pointers and numbers.
 */
#include <errno.h>
#include <stdlib.h>

#include "delay.h"
#include "engine_state.h"
#include "rate.h"

/* What a cloud becomes. */
struct cloud_change {
	struct cloud *cloud;
	bool added;
	bool shared; /* from now on its packets go to the shared wheel */
	bool closing;
	bool reconfigured; /* the members below count */
	uint16_t n_stages;
	struct stage *stages[CLOUD_STAGES_MAX];
	bool fresh[CLOUD_STAGES_MAX]; /* made for this change; else kept from the cloud */
	bool relink, reline;
	struct link_conf link;
	struct line_conf line;
	struct wheel *wheel; /* for a line that has none yet */
};

struct change {
	struct engine *engine;
	bool applied;
	struct scenario *scenario;
	struct roster *roster;
	struct wheel *wheel; /* the shared one, if it is needed for the first time */
	uint32_t n_clouds;
	struct cloud_change *clouds;
	uint32_t n_gone;
	struct cloud **gone; /* closed before, and empty now: freed afterwards */
};

static int statement_rank(const struct engine *engine, const struct statement *statement)
{
	int rank = 0;

	while (engine->setup.statements[rank] && engine->setup.statements[rank] != statement)
		rank++;
	return rank;
}

static const struct cloud_conf *conf_before(const struct engine *engine, const char *name)
{
	int i = scenario_find_cloud(engine->scenario, name);

	return i < 0 ? NULL : engine->scenario->clouds[i];
}

static struct cloud *cloud_named(const struct engine *engine, const char *name)
{
	const struct roster *roster = engine->roster;

	for (uint32_t i = 0; i < roster->n_slots; i++) {
		if (roster->slots[i] && !roster->slots[i]->closing &&
		    strcmp(roster->slots[i]->name, name) == 0)
			return roster->slots[i];
	}
	return NULL;
}

static bool conf_same(const struct cloud_conf *before, const struct cloud_conf *after,
                      const char *name)
{
	const struct conf *a = before ? cloud_conf_get(before, name) : NULL;
	const struct conf *b = cloud_conf_get(after, name);

	return a == b || (a && b && conf_equal(a, b));
}

static bool cloud_conf_same(const struct cloud_conf *before, const struct cloud_conf *after)
{
	if (before->n_confs != after->n_confs)
		return false;
	for (uint32_t i = 0; i < after->n_confs; i++) {
		if (!conf_same(before, after, after->confs[i]->statement->name))
			return false;
	}
	return true;
}

/* ---- preparing one cloud ---- */

static struct stage *stage_of(const struct cloud *cloud, const struct statement *statement)
{
	for (uint16_t i = 0; i < cloud->n_stages; i++) {
		if (cloud->stages[i]->statement == statement)
			return cloud->stages[i];
	}
	return NULL;
}

static struct draw_key key_for(const struct engine *engine, const struct cloud *cloud,
                               const struct statement *statement)
{
	char purpose[64];

	__builtin_snprintf(purpose, sizeof(purpose), "%s %s", statement->name,
	                   statement->variant ? statement->variant : "");
	return draw_key_make(engine->setup.seed, cloud->name, purpose);
}

static int stage_prepare(const struct engine *engine, struct cloud_change *item,
                         const struct cloud_conf *before, const struct conf *conf)
{
	const struct statement *statement = conf->statement;
	struct stage *stage = stage_of(item->cloud, statement);
	uint16_t at = item->n_stages;
	int rank = statement_rank(engine, statement);
	bool fresh = false;
	int error;

	if (!stage || !before || !conf_equal(conf, cloud_conf_get(before, statement->name))) {
		error = statement->make(conf, &stage);
		if (error)
			return error;
		stage->cloud = item->cloud;
		stage->statement = statement;
		stage->key = key_for(engine, item->cloud, statement);
		error = statement->ready ? statement->ready(stage, conf) : 0;
		if (error) {
			statement->free(stage);
			return error;
		}
		fresh = true;
	}
	while (at > 0 && statement_rank(engine, item->stages[at - 1]->statement) > rank) {
		item->stages[at] = item->stages[at - 1];
		item->fresh[at] = item->fresh[at - 1];
		at--;
	}
	item->stages[at] = stage;
	item->fresh[at] = fresh;
	item->n_stages++;
	return 0;
}

static void link_prepare(struct cloud_change *item, const struct cloud_conf *after)
{
	const struct rate_conf *rate = (const struct rate_conf *)cloud_conf_get(after, "rate");

	if (!rate)
		return;
	item->link.rate_bps = rate->rate_bps;
	item->link.depth_work = (int64_t)rate->burst_bytes * SHAPER_WORK_PER_BYTE;
	item->link.limit = rate_queue(rate, after);
}

static int line_prepare(struct engine *engine, struct cloud_change *item,
                        const struct cloud_conf *after)
{
	const struct delay_conf *delay = (const struct delay_conf *)cloud_conf_get(after, "delay");
	struct distribution *jitter;

	if (!delay)
		return 0;
	item->line.delay_ns = delay->delay_ns;
	item->line.allow_overtaking = delay->order == ORDER_ALLOW;
	if (item->line.allow_overtaking && !item->cloud->line.wheel) {
		item->wheel = wheel_make(&engine->holder.arena);
		if (!item->wheel)
			return -ENOMEM;
	}
	if (delay->jitter_ns == 0)
		return 0;
	jitter = malloc(sizeof(*jitter));
	if (!jitter)
		return -ENOMEM;
	if (delay->distribution == DELAY_NORMAL)
		distribution_normal(jitter, delay->jitter_ns);
	else
		distribution_uniform(jitter, delay->jitter_ns);
	item->line.jitter = jitter;
	return 0;
}

static int cloud_prepare(struct engine *engine, struct cloud_change *item,
                         const struct cloud_conf *before, const struct cloud_conf *after)
{
	int error;

	item->reconfigured = true;
	for (uint32_t i = 0; i < after->n_confs; i++) {
		if (after->confs[i]->statement->role != ROLE_STAGE)
			continue;
		error = stage_prepare(engine, item, before, after->confs[i]);
		if (error)
			return error;
	}
	/* The queue's size may follow from the delay. */
	item->relink = !conf_same(before, after, "rate") || !conf_same(before, after, "delay");
	if (item->relink)
		link_prepare(item, after);
	item->reline = !conf_same(before, after, "delay");
	return item->reline ? line_prepare(engine, item, after) : 0;
}

/* ---- preparing the whole ---- */

static struct cloud_change *item_add(struct change *change, struct cloud *cloud)
{
	struct cloud_change *item = &change->clouds[change->n_clouds++];

	item->cloud = cloud;
	return item;
}

static uint32_t slot_free(const struct roster *roster)
{
	uint32_t i = 0;

	while (roster->slots[i])
		i++;
	return i;
}

static int clouds_prepare(struct change *change, const bool *owned, struct problem *problem)
{
	struct engine *engine = change->engine;
	const struct scenario *next = change->scenario;

	for (uint32_t i = 0; i < next->n_clouds; i++) {
		const struct cloud_conf *after = next->clouds[i];
		const struct cloud_conf *before = conf_before(engine, after->name);
		struct cloud *cloud = cloud_named(engine, after->name);
		int from = scenario_find_port(next, after->from);
		int to = scenario_find_port(next, after->to);
		struct cloud_change *item;

		if (from < 0 || to < 0 || (owned && !owned[from]))
			continue;
		if (change->roster->ingress[from]) {
			problem_set(problem, -1,
			            "port %s leads to cloud %s already: one cloud from each port",
			            after->from, change->roster->ingress[from]->name);
			return -EINVAL;
		}
		if (cloud &&
		    (strcmp(before->from, after->from) != 0 || strcmp(before->to, after->to) != 0))
			cloud = NULL; /* the same name for another path: the old one closes */
		if (!cloud) {
			uint32_t slot = slot_free(change->roster);

			cloud = cloud_make(after->name, slot, &engine->holder,
			                   engine->setup.witness);
			if (!cloud)
				return -ENOMEM;
			cloud->to_port = (uint32_t)to;
			cloud->line.key = draw_key_make(engine->setup.seed, cloud->name, "delay");
			item = item_add(change, cloud);
			item->added = true;
			before = NULL;
			change->roster->slots[slot] = cloud;
		} else {
			item = item_add(change, cloud);
		}
		change->roster->ingress[from] = cloud;
		if (!before || !cloud_conf_same(before, after)) {
			int error = cloud_prepare(engine, item, before, after);

			if (error)
				return error;
		}
	}
	return 0;
}

static bool is_kept(const struct change *change, const struct cloud *cloud)
{
	for (uint32_t i = 0; i < change->n_clouds; i++) {
		if (change->clouds[i].cloud == cloud)
			return true;
	}
	return false;
}

/* Clouds that are not in the next scenario: they close, and go when they are empty. */
static void closing_prepare(struct change *change)
{
	struct roster *now = change->engine->roster;

	for (uint32_t i = 0; i < now->n_slots; i++) {
		struct cloud *cloud = now->slots[i];

		if (!cloud || is_kept(change, cloud))
			continue;
		if (cloud->closing && cloud_held(cloud) == 0 && cloud->wake == SIMTIME_NEVER) {
			change->gone[change->n_gone++] = cloud;
			change->roster->slots[i] = NULL;
		} else {
			item_add(change, cloud)->closing = true;
		}
	}
}

/* A cloud is direct when no other leads to its port; once shared, it stays so. */
static int sharing_prepare(struct change *change)
{
	struct roster *roster = change->roster;
	uint32_t feeders[SCENARIO_PORTS_MAX] = {0};
	bool shared = false;

	for (uint32_t i = 0; i < change->n_clouds; i++)
		feeders[change->clouds[i].cloud->to_port]++;
	for (uint32_t i = 0; i < change->n_clouds; i++) {
		struct cloud_change *item = &change->clouds[i];

		item->shared = item->cloud->line.shared || feeders[item->cloud->to_port] > 1;
		shared |= item->shared;
		if (!item->shared)
			roster->direct[roster->n_direct++] = item->cloud;
	}
	if (shared && !change->engine->wheel) {
		change->wheel = wheel_make(&change->engine->holder.arena);
		if (!change->wheel)
			return -ENOMEM;
	}
	return 0;
}

int change_prepare(struct engine *engine, const struct scenario *next, const bool *owned,
                   struct change **result, struct problem *problem)
{
	uint32_t slots = engine->roster->n_slots + next->n_clouds;
	struct change *change = calloc(1, sizeof(*change));
	int error = -ENOMEM;

	problem_set(problem, -1, "no memory");
	if (!change)
		return -ENOMEM;
	change->engine = engine;
	change->scenario = scenario_copy(next);
	change->roster = calloc(1, sizeof(*change->roster));
	change->clouds = calloc(slots + 1, sizeof(*change->clouds));
	change->gone = calloc(slots + 1, sizeof(struct cloud *));
	if (!change->scenario || !change->roster || !change->clouds || !change->gone)
		goto err_free;
	change->roster->slots = calloc(slots + 1, sizeof(struct cloud *));
	if (!change->roster->slots)
		goto err_free;
	change->roster->n_slots = slots;
	memcpy(change->roster->slots, engine->roster->slots,
	       engine->roster->n_slots * sizeof(struct cloud *));
	error = clouds_prepare(change, owned, problem);
	if (error)
		goto err_free;
	closing_prepare(change);
	error = sharing_prepare(change);
	if (error)
		goto err_free;
	*result = change;
	return 0;
err_free:
	change_free(change);
	return error;
}

/* ---- applying: in the worker ---- */

static void stages_apply(struct cloud_change *item)
{
	struct cloud *cloud = item->cloud;
	uint16_t n_before = cloud->n_stages;

	for (uint16_t i = 0; i < item->n_stages; i++) {
		struct stage *old;

		if (!item->fresh[i])
			continue;
		old = stage_of(cloud, item->stages[i]->statement);
		if (old) {
			item->stages[i]->drawn = old->drawn;
			if (old->statement->adopt)
				old->statement->adopt(item->stages[i], old);
		}
	}
	/* The cloud and the change swap: what was not kept stays behind to be freed. */
	for (uint16_t i = 0; i < CLOUD_STAGES_MAX; i++) {
		struct stage *stage = cloud->stages[i];

		cloud->stages[i] = i < item->n_stages ? item->stages[i] : NULL;
		item->stages[i] = i < n_before ? stage : NULL;
	}
	cloud->n_stages = item->n_stages;
	item->n_stages = n_before;
	for (uint16_t i = 0; i < n_before; i++) {
		item->fresh[i] = true;
		for (uint16_t j = 0; j < cloud->n_stages; j++)
			item->fresh[i] &= cloud->stages[j] != item->stages[i];
	}
}

static void cloud_apply(struct engine *engine, struct cloud_change *item, simtime now)
{
	struct cloud *cloud = item->cloud;

	if (!item->added)
		cloud_advance_link(cloud, now);
	cloud->origin_ns = engine->origin_ns;
	cloud->closing |= item->closing;
	if (item->wheel) {
		cloud->line.wheel = item->wheel;
		item->wheel = NULL;
	}
	if (item->shared && !cloud->line.shared) {
		cloud->line.shared = engine->wheel;
		engine->leftovers |= !line_is_empty(&cloud->line);
	}
	if (item->reconfigured)
		stages_apply(item);
	if (item->relink)
		link_configure(&cloud->link, &item->link, now);
	if (item->reline) {
		struct line_conf before = cloud->line.conf;

		cloud->line.conf = item->line;
		item->line = before;
	}
	if (cloud->line.shared && cloud->link.departure != SIMTIME_NEVER)
		cloud->starved = engine->starved = true; /* asks for a timer */
	cloud->plain = cloud->n_stages == 0 && !link_in_use(&cloud->link) &&
	               !cloud->line.conf.jitter && !cloud->line.conf.allow_overtaking &&
	               !cloud->line.shared && !cloud->witness;
}

void engine_apply(struct engine *engine, struct change *change, simtime now)
{
	struct roster *roster = engine->roster;

	if (!engine->begun) {
		engine->begun = true;
		engine->origin_ns = now;
	}
	if (change->wheel) {
		engine->wheel = change->wheel;
		change->wheel = NULL;
		wheel_front(engine->wheel, now); /* brings its cursor to the present */
	}
	for (uint32_t i = 0; i < change->n_clouds; i++)
		cloud_apply(engine, &change->clouds[i], now);
	engine->roster = change->roster;
	change->roster = roster;
	change->applied = true;
}

static void item_free(struct cloud_change *item, bool applied)
{
	for (uint16_t i = 0; i < item->n_stages; i++) {
		if (item->fresh[i])
			item->stages[i]->statement->free(item->stages[i]);
	}
	free((void *)(uintptr_t)item->line.jitter);
	wheel_free(item->wheel);
	if (item->added && !applied)
		cloud_free(item->cloud);
}

void change_free(struct change *change)
{
	if (!change)
		return;
	for (uint32_t i = 0; i < change->n_clouds; i++)
		item_free(&change->clouds[i], change->applied);
	if (change->applied) {
		struct scenario *before = change->engine->scenario;

		change->engine->scenario = change->scenario;
		change->scenario = before;
		for (uint32_t i = 0; i < change->n_gone; i++)
			cloud_free(change->gone[i]);
	}
	wheel_free(change->wheel);
	scenario_free(change->scenario);
	if (change->roster)
		free(change->roster->slots);
	free(change->roster);
	free(change->clouds);
	free(change->gone);
	free(change);
}
