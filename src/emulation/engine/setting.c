/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/setting.h"

#include <stdlib.h>
#include <string.h>

#include "engine/cloud.h"
#include "engine/cloud_aqm.h"
#include "engine/cloud_reorder.h"
#include "engine/tallies.h"
#include "engine/timeline.h"
#include "line/delay.h"
#include "link/classes.h"
#include "link/slots.h"
#include "match/flows.h"
#include "snapshot/snapshot.h"

/* ---- draws follow from the name: worker ---- */

struct draw_key setting_key_of(uint64_t seed, const struct cloud *cloud,
                               const struct statement *statement)
{
	char purpose[64];

	__builtin_snprintf(purpose, sizeof(purpose), "%s %s", statement->name,
	                   statement->variant ? statement->variant : "");
	return draw_key_make(seed, cloud->name, purpose);
}

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
		slots->key = setting_key_of(seed, cloud, &slots_statement);
}

static void reorder_key(struct reorder_rule *rule, uint64_t seed, const struct cloud *cloud)
{
	if (rule->statement)
		rule->key = setting_key_of(seed, cloud, rule->statement);
}

void setting_key(struct setting *setting, uint64_t seed)
{
	const struct cloud *cloud = setting->cloud;

	switch (setting->role) {
	case ROLE_STAGE:
		if (setting->stage)
			setting->stage->key =
			        setting_key_of(seed, cloud, setting->stage->statement);
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
		cloud->stages[i]->key = setting_key_of(seed, cloud, cloud->stages[i]->statement);
	slots_key(&cloud->link.conf.slots, seed, cloud);
	reorder_key(&cloud->line.conf.reorder, seed, cloud);
	if (cloud->link.queue.aqm)
		aqm_key(cloud->link.queue.aqm, seed, "");
	classes_key(cloud->link.classes, seed);
	timeline_key(cloud, seed);
}

/* ---- applying: worker ---- */

/* Continues the draws, so that none is repeated: neither those of the stage that was in force until
 * now, nor of an earlier one. */
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

/* The first table that comes remains; a cloud of which a stage is keyed has one. */
static void flows_take(struct flows **flows, struct flows **made)
{
	if (*flows)
		return;
	*flows = *made;
	*made = NULL;
}

static void flows_set(struct cloud *cloud)
{
	bool connections = false;

	cloud->counts_flows = false;
	for (uint16_t i = 0; i < cloud->n_stages; i++) {
		cloud->counts_flows |= cloud->stages[i]->keyed != KEYED_CLOUD;
		connections |= cloud->stages[i]->keyed == KEYED_CONNECTION;
	}
	if (cloud->flows)
		flows_name_connections(cloud->flows, connections);
}

/* Links the watches: the first stage's that is not `beside`, and behind it all that are. */
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

/* Control reads the list while it changes (cloud_stages): at each moment its first n_stages places
 * are filled, and `exchanges` shows that it changes. */
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
	flows_take(&cloud->flows, &setting->flows);
	flows_set(cloud);
	setting->stage = old;
}

static void line_exchange(struct setting *setting, simtime now)
{
	struct line *line = &setting->cloud->line;

	if (!line->wheel && setting->wheel) {
		line->wheel = setting->wheel;
		setting->wheel = NULL;
		wheel_finds_nothing(line->wheel, now); /* brings its cursor to the present */
	}
	if (!line->in_flight) {
		line->in_flight = setting->in_flight;
		setting->in_flight = NULL;
	}
	if (!line->spread) {
		line->spread = setting->spread;
		setting->spread = NULL;
	}
	flows_take(&setting->cloud->line_flows, &setting->line_flows);
	if (setting->cloud->line_flows)
		flows_name_connections(setting->cloud->line_flows,
		                       setting->line.reorder.keyed == KEYED_CONNECTION ||
		                               (setting->line.jitter &&
		                                setting->line.jitter->keyed == KEYED_CONNECTION));
	line_configure(line, &setting->line);
	if (!reorder_holds_back(&line->conf.reorder))
		reorder_flush(setting->cloud, now);
}

/* `begins` is when managements begin, as in aqm_take_over. */
static void apply(struct setting *setting, simtime now, simtime begins)
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
		setting->aqm = aqm_exchange(&link->queue, setting->aqm, begins);
		break;
	case ROLE_CLASS:
		setting->classes =
		        classes_exchange(link, setting->classes, &setting->cloud->holder->arena,
		                         setting->cloud->drawn_most, begins);
		break;
	case ROLE_LINE:
		line_exchange(setting, now);
		break;
	case ROLE_CLOUD:
	case ROLE_SCHEDULE:
		break;
	}
}

void setting_apply(struct setting *setting, simtime now)
{
	apply(setting, now, now);
}

static bool is_management(const struct setting *setting)
{
	return setting->role == ROLE_AQM || setting->role == ROLE_AQM_MODIFIER;
}

/* Returns true if applying one setting replaces what the other one has put in force. */
static bool is_of_one_kind(const struct setting *a, const struct setting *b)
{
	if (a->role == ROLE_STAGE && b->role == ROLE_STAGE)
		return strcmp(a->name, b->name) == 0;
	return a->role == b->role || (is_management(a) && is_management(b));
}

bool setting_put_below(struct setting *setting, struct setting *settings, uint32_t n)
{
	struct cloud *cloud = setting->cloud;
	struct setting *aside = settings, old;

	/* Of several of one kind, the first has what was in force before. */
	while (aside < settings + n && !is_of_one_kind(aside, setting))
		aside++;
	if (aside == settings + n)
		return false;
	if (setting->role == ROLE_STAGE && setting->stage)
		stage_take_over(cloud, setting->stage, aside->stage);
	else if (is_management(setting) && setting->aqm)
		aqm_take_over(setting->aqm, aside->aqm, &cloud->link.queue, cloud->drawn_most,
		              SIMTIME_NEVER);
	old = *aside;
	*aside = *setting;
	*setting = old;
	return true;
}

void setting_install(struct setting *setting)
{
	apply(setting, 0, SIMTIME_NEVER);
}

/* ---- snapshots: worker ---- */

void stage_snapshot(struct stage *stage, struct snapshot *snapshot)
{
	snapshot_value(snapshot, stage->drawn);
	if (stage->statement->snapshot)
		stage->statement->snapshot(stage, snapshot);
}

/* Parameters of links and lines follow from the scenario; so do classes, which do not change with
 * time. */
void setting_snapshot(struct setting *setting, struct snapshot *snapshot)
{
	switch (setting->role) {
	case ROLE_STAGE:
		if (snapshot_same(snapshot, setting->stage != NULL))
			stage_snapshot(setting->stage, snapshot);
		break;
	case ROLE_AQM:
	case ROLE_AQM_MODIFIER:
		if (snapshot_same(snapshot, setting->aqm != NULL))
			aqm_snapshot(setting->aqm, snapshot);
		break;
	case ROLE_LINK:
	case ROLE_CLASS:
	case ROLE_LINE:
	case ROLE_CLOUD:
	case ROLE_SCHEDULE:
		break;
	}
}

/* ---- control ---- */

void stage_free(struct stage *stage)
{
	struct tally *tally = stage->tally;

	if (stage->statement->free)
		stage->statement->free(stage);
	else
		free(stage);
	tally_release(tally);
}

void setting_free(struct setting *setting)
{
	switch (setting->role) {
	case ROLE_STAGE:
		if (setting->stage)
			stage_free(setting->stage);
		flows_free(setting->flows);
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
		free(setting->spread);
		flows_free(setting->line_flows);
		break;
	case ROLE_LINK:
	case ROLE_CLOUD:
	case ROLE_SCHEDULE:
		break;
	}
}

void setting_list_free(struct setting_list *list)
{
	for (uint32_t i = 0; i < list->n_tallies; i++)
		tallies_free(list->tallies[i].tallies);
	free(list->tallies);
	for (uint32_t i = 0; i < list->n_settings; i++)
		setting_free(&list->settings[i]);
	for (uint32_t i = 0; i < list->n_timelines; i++)
		timeline_free(list->timelines[i].timeline);
	free(list->settings);
	free(list->timelines);
}
