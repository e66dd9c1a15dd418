/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a template; engine/template.c runs it. */
#include "change/template_make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "change/setting_make.h"
#include "engine/engine_state.h"
#include "engine/events.h"
#include "engine/tallies.h"
#include "link/aqm.h"
#include "match/selection.h"

/* ---- the head: takes packets that find no cloud ---- */

static void full_process(struct stage *stage, struct burst *burst)
{
	for (uint16_t i = 0; i < burst->n; i++)
		cloud_drop(stage->cloud, burst, i, REASON_CLOUDS_FULL);
	if (unlikely(stage->cloud->of->used < stage->cloud->of->most)) /* no memory for more */
		hold_lacked(stage->cloud->holder, burst_t(burst, 0));
}

static void full_free(struct stage *stage)
{
	(void)stage; /* part of the template */
}

static const struct statement full_statement = {
        .name = "clouds",
        .help = "drops packets for which a template has no cloud left",
        .role = ROLE_STAGE,
        .free = full_free,
};

static void head_make(struct template *template)
{
	template->full = (struct stage){
	        .process = full_process, .cloud = template->head, .statement = &full_statement};
	template->head->stages[0] = &template->full;
	template->head->n_stages = 1;
}

/* ---- making ---- */

static void mask_make(struct template *template, const struct selection_conf *per)
{
	struct packet_key *mask = &template->mask;

	template->flow = per->flow;
	template->source = per->source != NULL;
	mask->family = UINT8_MAX;
	if (per->flow || per->source)
		memset(mask->source, UINT8_MAX, sizeof(mask->source));
	if (per->flow || per->destination)
		memset(mask->destination, UINT8_MAX, sizeof(mask->destination));
	if (per->flow) {
		mask->source_port = mask->destination_port = UINT16_MAX;
		mask->protocol = UINT8_MAX;
	}
	for (uint8_t word = 0; word < KEY_WORDS; word++) {
		if (mask->word[word])
			template->words[template->n_words++] = word;
	}
	/* An entry does not cross a cache line. */
	template->stride = 2;
	while (template->stride < template->n_words + 1)
		template->stride *= 2;
}

#define LARGE_PAGE (UINT64_C(2) << 20)

/* Allocates memory: zeroed, so that its pages exist, or only reserved. Large arrays lie in large
 * pages, because packets find their clouds anywhere in them. */
static void *room_for(const struct engine_setup *setup, uint64_t n, size_t bytes, bool zeroed)
{
	bool large = setup->spread && n * bytes >= LARGE_PAGE;
	uint64_t align = large ? LARGE_PAGE : RTE_CACHE_LINE_SIZE;
	uint64_t all = RTE_ALIGN_CEIL(n * bytes, align);
	void *room = aligned_alloc(align, all);

	if (room && large)
		setup->spread(room, all);
	if (room && zeroed)
		memset(room, 0, all);
	return room;
}

static uint64_t entries_for(uint32_t most)
{
	uint64_t room = 16;

	while (room < 2 * (uint64_t)most)
		room *= 2;
	return room;
}

int template_make(const char *name, const struct selection_conf *per, struct engine *engine,
                  struct template **result)
{
	const struct engine_setup *setup = &engine->setup;
	const bool at_once = !setup->clouds_on_demand;
	struct template *template = room_for(setup, 1, sizeof(*template), true);

	*result = template;
	if (!template)
		return -ENOMEM;
	template->engine = engine;
	strcpy(template->name, name);
	template->seed = setup->seed;
	template->most = selection_most(per);
	mask_make(template, per);
	template->room = entries_for(template->most);
	template->name_bytes = template_name_bytes(per->flow);
	template->entries =
	        room_for(setup, template->room, template->stride * sizeof(uint64_t), true);
	template->names = room_for(setup, template->most, template->name_bytes, at_once);
	template->clouds =
	        room_for(setup, (uint64_t) template->most + 1, sizeof(struct cloud), at_once);
	if (!template->entries || !template->names || !template->clouds)
		return -ENOMEM;
	template->head = &template->clouds[template->most];
	cloud_init(template->head, template->name, 0, &engine->holder, setup->witness,
	           &template->delay_ns);
	template->head->of = template;
	head_make(template);
	return 0;
}

void template_place(struct template *template, uint32_t base, uint32_t from_port, uint32_t to_port)
{
	struct cloud *head = template->head;

	template->base = base;
	head->exit->port = to_port;
	head->index = head->line.cloud = base + template->most;
	head->from_port = from_port;
}

/* Makes the next cloud, without settings. It is as the one before, which may have got another
 * witness; the first one is as the head. */
static struct cloud *next_make(struct template *template)
{
	const uint32_t i = template->made;
	const struct cloud *head = template->head;
	struct cloud *cloud = &template->clouds[i];

	cloud_init(cloud, template->name, template->base + i, head->holder,
	           (i ? cloud - 1 : head)->witness, &template->delay_ns);
	cloud->of = template;
	cloud->exit = head->exit;
	cloud->from_port = head->from_port;
	cloud->compensates_latency = head->compensates_latency;
	return cloud;
}

/* Makes the clouds before `end`, at most all, with these settings, but without timelines. Returns 0
 * or -errno; then some of them may be made. */
static int make_until(struct template *template, const struct cloud_conf *conf, uint32_t end)
{
	const struct engine_setup *setup = &template->engine->setup;
	struct setting_list list = {0};
	struct setting_plan plan;
	int error = 0;

	setting_plan_make(&plan, setup, NULL, conf);
	plan.timeline = false;
	end = RTE_MIN(end, template->most);
	while (template->made < end && !error) {
		error = setting_list_add(&list, setup, next_make(template), &plan);
		for (uint32_t i = 0; i < list.n_settings && !error; i++)
			setting_install(&list.settings[i]);
		for (uint32_t i = 0; i < list.n_settings; i++)
			setting_free(&list.settings[i]);
		list.n_settings = 0;
		template->made += !error;
	}
	setting_list_free(&list);
	return error;
}

#define CLOUDS_MADE 16u /* at once, on demand */

static bool make_more(struct template *template)
{
	const struct scenario *scenario = template->engine->scenario;
	const int i = scenario_find_cloud(scenario, template->name);

	make_until(template, scenario->clouds[i], template->made + CLOUDS_MADE);
	return template->made > template->used + 1 || template->made == template->most;
}

uint64_t template_bytes(const struct selection_conf *per)
{
	uint64_t most = selection_most(per);
	uint32_t words = per->flow ? 8 : 4;

	return most * (sizeof(struct cloud) + template_name_bytes(per->flow) + TIMERS_SLOT_BYTES) +
	       entries_for((uint32_t)most) * words * sizeof(uint64_t);
}

bool template_is(const struct template *template, const struct selection_conf *per)
{
	struct template other = {.most = selection_most(per)};

	mask_make(&other, per);
	return template->most == other.most && template->flow == other.flow &&
	       template->source == other.source &&
	       memcmp(&template->mask, &other.mask, sizeof(other.mask)) == 0;
}

/* ---- changes ---- */

static int settings_make(struct template_change *change, const struct setting_plan *plan)
{
	struct template *template = change->of;
	int error = 0;

	for (uint32_t i = 0; i < template->most && !error; i++) {
		error = setting_list_add(&change->list, &template->engine->setup,
		                         &template->clouds[i], plan);
		if (i == 0) {
			change->settings = change->list.n_settings;
			change->timelines = change->list.n_timelines > 0;
		}
	}
	return error;
}

int template_change_make(struct template *template, const struct cloud_conf *before,
                         const struct cloud_conf *after, struct template_change **result)
{
	struct template_change *change = calloc(1, sizeof(*change));
	int error = change ? 0 : -ENOMEM;
	struct setting_plan plan;

	*result = change;
	if (error)
		return error;
	change->of = template;
	setting_plan_make(&plan, &template->engine->setup, before, after);
	if (plan.n > 0 || plan.timeline) {
		error = make_until(template, before, template->most);
		if (!error)
			error = settings_make(change, &plan);
	}
	if (!error)
		error = setting_list_add_tallies(&change->list, template->head, after);
	return error;
}

/* Returns true if a queue of the cloud has a management; `begins`: one that must know when it
 * begins. */
static bool has_management(const struct cloud *cloud, bool begins)
{
	const struct queue *queue;

	for (uint32_t i = 0; (queue = link_queue_at(&cloud->link, i)); i++) {
		if (queue->aqm && (queue->aqm->kind->idle || !begins))
			return true;
	}
	return false;
}

int template_begin(struct template *template, const struct cloud_conf *conf,
                   struct template_change **result)
{
	const struct engine_setup *setup = &template->engine->setup;
	struct template_change *change = calloc(1, sizeof(*change));
	int error = change ? make_until(template, conf, CLOUDS_MADE) : -ENOMEM;
	struct setting_plan plan;

	*result = change;
	if (error)
		return error;
	change->of = template;
	setting_plan_make(&plan, setup, NULL, conf);
	change->begins = has_management(&template->clouds[0], true);
	if (setup->clouds_on_demand && !plan.timeline &&
	    !has_management(&template->clouds[0], false))
		template->make_more = make_more;
	else
		error = make_until(template, conf, template->most);
	plan.n = 0;
	if (!error && plan.timeline)
		error = settings_make(change, &plan);
	if (!error)
		error = setting_list_add_tallies(&change->list, template->head, conf);
	for (uint32_t i = 0; i < change->list.n_tallies; i++)
		tallies_exchange(template->head, &change->list.tallies[i].tallies);
	change->list.n_tallies = 0; /* what they replace is NULL */
	return error;
}

bool template_change_is_empty(const struct template_change *change)
{
	return change->settings == 0 && !change->timelines && !change->begins &&
	       change->list.n_tallies == 0;
}
