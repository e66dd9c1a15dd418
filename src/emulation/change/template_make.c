/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a template; engine/template.c runs it. */
#include "change/template_make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "change/setting_make.h"
#include "engine/engine.h"
#include "engine/events.h"
#include "engine/tallies.h"
#include "link/aqm.h"
#include "match/selection.h"

/* ---- the head: takes packets that find no cloud ---- */

static void full_process(struct stage *stage, struct burst *burst)
{
	for (uint16_t i = 0; i < burst->n; i++)
		cloud_drop(stage->cloud, burst, i, REASON_CLOUDS_FULL);
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

/* Allocates zeroed memory. Large arrays lie in large pages, because packets find their clouds
 * anywhere in them. */
static void *room_for(const struct engine_setup *setup, uint64_t n, size_t bytes)
{
	bool large = setup->spread && n * bytes >= LARGE_PAGE;
	uint64_t align = large ? LARGE_PAGE : RTE_CACHE_LINE_SIZE;
	uint64_t all = RTE_ALIGN_CEIL(n * bytes, align);
	void *room = aligned_alloc(align, all);

	if (room && large)
		setup->spread(room, all);
	if (room)
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

int template_make(const char *name, const struct selection_conf *per,
                  const struct engine_setup *setup, struct holder *holder, struct template **result)
{
	struct template *template = room_for(setup, 1, sizeof(*template));

	*result = template;
	if (!template)
		return -ENOMEM;
	strcpy(template->name, name);
	template->seed = setup->seed;
	template->most = selection_most(per);
	mask_make(template, per);
	template->room = entries_for(template->most);
	template->name_bytes = template_name_bytes(per->flow);
	template->entries = room_for(setup, template->room, template->stride * sizeof(uint64_t));
	template->names = room_for(setup, template->most, template->name_bytes);
	template->clouds = room_for(setup, (uint64_t) template->most + 1, sizeof(struct cloud));
	if (!template->entries || !template->names || !template->clouds)
		return -ENOMEM;
	template->head = &template->clouds[template->most];
	for (uint32_t i = 0; i <= template->most; i++) {
		struct cloud *cloud = &template->clouds[i];

		cloud_init(cloud, template->name, 0, holder, setup->witness, &template->delay_ns);
		cloud->of = template;
		cloud->exit = &template->head->own_exit;
	}
	head_make(template);
	return 0;
}

void template_place(struct template *template, uint32_t base, uint32_t from_port, uint32_t to_port)
{
	template->base = base;
	template->head->exit->port = to_port;
	for (uint32_t i = 0; i <= template->most; i++) {
		struct cloud *cloud = &template->clouds[i];

		cloud->index = base + i;
		cloud->line.cloud = base + i;
		cloud->from_port = from_port;
	}
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

int template_change_make(struct template *template, const struct engine_setup *setup,
                         const struct cloud_conf *before, const struct cloud_conf *after,
                         struct template_change **result)
{
	struct template_change *change = calloc(1, sizeof(*change));
	int error = change ? 0 : -ENOMEM;
	struct setting_plan plan;

	*result = change;
	setting_plan_make(&plan, setup, before, after);
	for (uint32_t i = 0; i < template->most && !error; i++) {
		error = setting_list_add(&change->list, setup, &template->clouds[i], &plan);
		if (i == 0) {
			change->settings = change->list.n_settings;
			change->timelines = change->list.n_timelines > 0;
		}
	}
	if (!error)
		error = setting_list_add_tallies(&change->list, template->head, after);
	if (error)
		return error;
	change->of = template;
	return 0;
}

/* Returns true if a queue of the cloud has a management that must know when it begins. */
static bool has_beginning(const struct cloud *cloud)
{
	const struct queue *queue;

	for (uint32_t i = 0; (queue = link_queue_at(&cloud->link, i)); i++) {
		if (queue->aqm && queue->aqm->kind->idle)
			return true;
	}
	return false;
}

void template_begin(struct template_change *change)
{
	for (uint32_t i = 0; i < change->list.n_settings; i++)
		setting_install(&change->list.settings[i]);
	for (uint32_t i = 0; i < change->list.n_settings; i++)
		setting_free(&change->list.settings[i]);
	for (uint32_t i = 0; i < change->list.n_tallies; i++)
		tallies_exchange(change->of->head, &change->list.tallies[i].tallies);
	change->list.n_tallies = 0; /* what they replace is NULL */
	free(change->list.settings);
	change->list.settings = NULL;
	change->list.n_settings = change->list.settings_room = 0;
	change->settings = 0;
	change->begins = has_beginning(&change->of->clouds[0]);
}

bool template_change_is_empty(const struct template_change *change)
{
	return change->settings == 0 && !change->timelines && !change->begins &&
	       change->list.n_tallies == 0;
}
