/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker's half of a change. It only swaps the pointers and numbers that have changed. */
#include "change/change.h"
#include "change/change_state.h"
#include "engine/tallies.h"
#include "engine/timeline.h"

static void cloud_apply(struct engine *engine, const struct cloud_change *item, simtime now)
{
	struct cloud *cloud = item->cloud;

	cloud->origin_ns = engine->origin_ns;
	cloud->closing |= item->closing;
	cloud->generates |= item->generates;
	/* What is due by now leaves by the old exit. */
	if ((item->classifier || item->line_shared) && !cloud->line.shared && !item->added)
		engine_advance_own(engine, cloud, now);
	cloud->exit->classifier = item->classifier;
	cloud->exit->back = item->back;
	cloud->exit->early_ns = item->early_ns;
	/* What has left the link by now enters the cloud's own line, whenever the link was last
	 * advanced. */
	if ((item->shared && !cloud->events) || (item->line_shared && !cloud->line.shared))
		cloud_advance_link(cloud, now);
	if (item->shared)
		cloud->events = &engine->events;
	if (item->line_shared && !cloud->line.shared) {
		cloud->line.shared = engine->events.wheel;
		cloud->line.drains = !line_is_empty(&cloud->line);
	}
}

/* Decides whether packets that come at one instant may pass the stages together (cloud.h). The
 * result must equal that of one after the other. Answers leave in the order of the packets that
 * they answer, so only one stage may generate them, beside the link, which takes packets one by
 * one. Answers must enter no cloud. Packets that pass must neither leave at the port of the answers
 * nor enter a cloud, perhaps at the same instant. A witness that exists from the beginning gets the
 * fates packet by packet. */
static void settle_burst_safe(const struct engine *engine, struct cloud *cloud)
{
	cloud->answerer = NULL;
	cloud->burst_safe = cloud->events && !engine->setup.witness && !cloud->exit->classifier &&
	                    !cloud->exit->back && cloud->exit->port != cloud->from_port;
	for (uint16_t i = 0; i < cloud->n_stages; i++) {
		struct stage *stage = cloud->stages[i];

		if (!stage->statement->generates || stage->statement->watches)
			continue;
		cloud->burst_safe &= stage->statement->unanswered && !cloud->answerer;
		cloud->answerer = stage;
	}
}

/* Lists a cloud whose link may need a timer. Timers are set when all clouds have changed. */
static void cloud_woken(void *list, struct cloud *cloud)
{
	struct cloud **woken = list;

	cloud->next_woken = *woken;
	*woken = cloud;
}

/* Completes a cloud after its settings have come into force. */
static void cloud_settle(struct engine *engine, struct cloud *cloud, struct cloud **woken)
{
	if (cloud->events)
		cloud_woken(woken, cloud);
	settle_burst_safe(engine, cloud);
}

static void templates_apply(struct engine *engine, const struct change *change, simtime now,
                            struct cloud **woken)
{
	for (uint32_t i = 0; i < change->scenario->n_clouds; i++) {
		const struct plan *plan = &change->plans[i];

		if (!plan->change)
			continue;
		template_apply(plan->template, plan->change, now, woken, cloud_woken);
		if (plan->template->unsettled)
			continue;
		plan->template->unsettled = true;
		plan->template->next_unsettled = engine->unsettled;
		engine->unsettled = plan->template;
		engine->chores = true;
	}
}

/* Retires all clouds of a template. */
static void template_retire(struct engine *engine, struct template *template)
{
	struct template **place = &engine->unsettled;

	while (*place && *place != template)
		place = &(*place)->next_unsettled;
	if (*place)
		*place = template->next_unsettled;
	for (uint32_t i = 0; i < template->used; i++)
		cloud_clear(&template->clouds[i]);
	template_clear(template);
}

void engine_apply(struct engine *engine, struct change *change, simtime now)
{
	struct cloud_table *cloud_table = engine->cloud_table;
	struct cloud *woken = NULL;

	if (!engine->begun) {
		engine->begun = true;
		engine->origin_ns = now;
	}
	/* Events up to `now` are executed in the old scenario. */
	if (engine->events.wheel)
		engine_advance_shared(engine, now);
	if (change->wheel) {
		engine->events.wheel = change->wheel;
		change->wheel = NULL;
		/* Brings its cursor to the present. */
		wheel_finds_nothing(engine->events.wheel, now);
	}
	if (change->timers.room > 0) {
		struct timers before = engine->events.timers;

		timers_take_over(&change->timers, &before);
		engine->events.timers = change->timers;
		change->timers = before;
	}
	for (uint32_t i = 0; i < change->n_clouds; i++)
		cloud_apply(engine, &change->clouds[i], now);
	/* All settings change at one instant. What one of them releases must meet the changed state
	 * of the others, so links and timelines are brought up to `now` before any setting is
	 * applied. */
	for (uint32_t i = 0; i < change->list.n_settings; i++)
		cloud_advance_link(change->list.settings[i].cloud, now);
	for (uint32_t i = 0; i < change->list.n_timelines; i++)
		timeline_end(change->list.timelines[i].cloud, now);
	for (uint32_t i = 0; i < change->list.n_settings; i++)
		setting_apply(&change->list.settings[i], now);
	for (uint32_t i = 0; i < change->list.n_timelines; i++) {
		struct timeline_change *item = &change->list.timelines[i];

		timeline_exchange(item->cloud, &item->timeline);
		timeline_begin(item->cloud, now);
	}
	for (uint32_t i = 0; i < change->list.n_tallies; i++)
		tallies_exchange(change->list.tallies[i].cloud, &change->list.tallies[i].tallies);
	for (uint32_t i = 0; i < change->n_clouds; i++)
		cloud_settle(engine, change->clouds[i].cloud, &woken);
	templates_apply(engine, change, now, &woken);
	for (; woken; woken = woken->next_woken)
		engine_set_timer(engine, woken);
	engine->cloud_table = change->cloud_table;
	change->cloud_table = cloud_table;
	for (uint32_t i = 0; i < change->n_gone; i++) {
		if (change->gone[i]->of)
			template_retire(engine, change->gone[i]->of);
		else
			cloud_clear(change->gone[i]);
	}
	engine_follow_again(engine);
	change->applied = true;
}
