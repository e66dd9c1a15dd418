/* SPDX-License-Identifier: BSD-3-Clause */
/* Running a template; change/template_make.c makes it. */
#include <stdlib.h>

#include <rte_prefetch.h>

#include "engine/cloud_aqm.h"
#include "engine/tallies.h"
#include "engine/template.h"
#include "engine/timeline.h"

/* ---- changes ---- */

/* Copies from the head what connects a cloud to the engine. */
static void cloud_join(const struct template *template, struct cloud *cloud)
{
	cloud->origin_ns = template->head->origin_ns;
	cloud->events = template->head->events;
	cloud->line.shared = template->head->line.shared;
}

/* Lets one cloud make one change. A cloud without a name has never been visible: its timeline is
 * attached, and begins when the cloud gets its name. */
static void change_cloud(struct template *template, const struct template_change *change,
                         uint32_t i)
{
	struct cloud *cloud = &template->clouds[i];
	bool named = i < template->used;

	cloud->changed = change->number;
	if (!named)
		cloud_join(template, cloud); /* schedules count from the origin */
	cloud_advance_link(cloud, change->at);
	if (!named && cloud->timeline)
		timeline_begin(cloud, change->before_at);
	if (change->timelines)
		timeline_end(cloud, change->at);
	if (change->begins)
		aqm_idle_all(cloud, change->at);
	for (uint32_t k = 0; k < change->settings; k++) {
		struct setting *setting =
		        &change->list.settings[(uint64_t)i * change->settings + k];

		setting_key(setting, template->seed);
		setting_apply(setting, change->at);
	}
	if (!change->timelines)
		return;
	timeline_exchange(cloud, &change->list.timelines[i].timeline);
	if (!named)
		return;
	timeline_key(cloud, template->seed);
	timeline_begin(cloud, change->at);
}

/* Lets the cloud make all changes that it has not made. */
static void template_settle(struct template *template, struct cloud *cloud)
{
	for (const struct template_change *change = template->changes; change;
	     change = change->next) {
		if (change->number > cloud->changed)
			change_cloud(template, change, (uint32_t)(cloud - template->clouds));
	}
}

/* Marks all changes as done. */
void template_clear(struct template *template)
{
	struct template_change *change = template->changes, *next;

	template->changes = template->changes_last = NULL;
	for (; change; change = next) {
		next = change->next;
		__atomic_store_n(&change->done, true, __ATOMIC_RELEASE);
	}
}

bool template_settle_some(struct template *template, uint32_t n)
{
	for (; n > 0 && template->settled < template->made; n--)
		template_settle(template, &template->clouds[template->settled++]);
	if (template->settled < template->made)
		return true;
	template_clear(template);
	return false;
}

void template_apply(struct template *template, struct template_change *change, simtime now,
                    void *argument, void (*woken)(void *argument, struct cloud *cloud))
{
	for (uint32_t i = 0; i < change->list.n_tallies; i++)
		tallies_exchange(template->head, &change->list.tallies[i].tallies);
	change->at = now;
	change->before_at = template->latest_at;
	change->number = ++template->latest;
	template->latest_at = now;
	if (template->changes)
		template->changes_last->next = change;
	else
		template->changes = change;
	template->changes_last = change;
	template->settled = 0;
	for (uint32_t i = 0; i < template->used; i++) {
		struct cloud *cloud = &template->clouds[i];

		rte_prefetch0(&cloud[8].link);
		rte_prefetch0(&cloud[8].line);
		if (!cloud_is_busy(cloud))
			continue;
		template_settle(template, cloud);
		woken(argument, cloud);
	}
}

/* ---- look-up ---- */

uint64_t template_hash(const struct template *template, const struct packet_key *key)
{
	return packet_key_hash(key, &template->mask, template->words, template->n_words);
}

/* Assigns the next cloud to this key, at this entry, which is free. Returns the head if no cloud is
 * left. */
static struct cloud *take(struct template *template, const struct packet_key *key, uint64_t hash,
                          uint64_t *entry)
{
	uint32_t i = template->used;
	struct cloud *cloud = &template->clouds[i];
	char *name = &template->names[(uint64_t)i * template->name_bytes];

	if (unlikely(i == template->most))
		return template->head;
	if (unlikely(i + 1 == template->made && i + 1 < template->most) &&
	    !template->make_more(template))
		return template->head;
	cloud_join(template, cloud);
	template_settle(template, cloud);
	template_name(template, key, name);
	cloud->name = name;
	cloud_key(cloud, template->seed);
	if (cloud->timeline)
		timeline_begin(cloud, template->latest_at);
	for (uint32_t k = 0; k < template->n_words; k++)
		entry[k + 1] =
		        key->word[template->words[k]] & template->mask.word[template->words[k]];
	entry[0] = (hash >> 32) << 32 | (i + 1);
	__atomic_store_n(&template->used, i + 1, __ATOMIC_RELEASE);
	return cloud;
}

struct cloud *template_find(struct template *template, const struct packet_key *key, uint64_t hash)
{
	uint64_t at = hash & (template->room - 1);
	uint64_t *entry = &template->entries[at * template->stride];
	struct cloud *cloud;

	while (entry[0] && (entry[0] >> 32 != hash >> 32 ||
	                    !packet_key_is(key, &template->mask, template->words, template->n_words,
	                                   &entry[1]))) {
		at = (at + 1) & (template->room - 1);
		entry = &template->entries[at * template->stride];
	}
	if (unlikely(!entry[0]))
		return take(template, key, hash, entry);
	cloud = &template->clouds[(uint32_t)entry[0] - 1];
	/* The cloud itself may still be cold: it is read only if there may be a change to make. */
	if (unlikely(template->changes && cloud->changed != template->latest))
		template_settle(template, cloud);
	return cloud;
}

/* ---- its end: control ---- */

void template_free(struct template *template)
{
	if (!template)
		return;
	for (uint32_t i = 0; template->head && i < template->made; i++) {
		cloud_clear(&template->clouds[i]);
		cloud_release(&template->clouds[i]);
	}
	if (template->head) {
		cloud_clear(template->head);
		cloud_release(template->head);
	}
	free(template->clouds);
	free(template->names);
	free(template->entries);
	free(template);
}

void template_change_free(struct template_change *change)
{
	if (!change)
		return;
	setting_list_free(&change->list);
	free(change);
}
