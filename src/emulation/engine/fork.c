/* SPDX-License-Identifier: BSD-3-Clause */
#include "fork.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_prefetch.h>

/* ---- hashing ---- */

static uint32_t hash_of(const struct fork_set *set, const struct packet_key *key)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < set->n_words; i++) {
		uint32_t word = set->words[i];

		hash = (hash ^ (key->word[word] & set->mask.word[word])) *
		       UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return (uint32_t)hash;
}

static bool is_key(const struct fork_set *set, const struct fork_entry *entry,
                   const struct packet_key *key)
{
	uint64_t differ = 0;

	for (uint32_t i = 0; i < set->n_words; i++) {
		uint32_t word = set->words[i];

		differ |= (key->word[word] & set->mask.word[word]) ^ entry->values[i];
	}
	return differ == 0;
}

/* The entry with this key, or the free one where it would be. */
static struct fork_entry *entry_of(const struct fork_set *set, const struct packet_key *key,
                                   uint32_t hash)
{
	uint32_t at = hash & (set->room - 1);

	while (set->entries[at].branch != FORK_NONE &&
	       (set->entries[at].hash != hash || !is_key(set, &set->entries[at], key)))
		at = (at + 1) & (set->room - 1);
	return &set->entries[at];
}

/* ---- making: control ---- */

static struct fork_set *set_of(struct fork *fork, const struct packet_key *mask)
{
	struct fork_set *set = fork->sets;

	while (set < fork->sets + fork->n_sets && memcmp(&set->mask, mask, sizeof(*mask)) != 0)
		set++;
	return set;
}

/* The sets, with room for their entries. The parts come in the order of their ranks, so the sets come
 * in the order of their best. */
static int sets_make(struct fork *fork, const struct fork_part *parts, uint32_t n_rows)
{
	uint64_t *values;

	fork->sets = calloc(n_rows + 1, sizeof(*fork->sets));
	fork->values = calloc((size_t)n_rows * KEY_WORDS + 1, sizeof(*fork->values));
	if (!fork->sets || !fork->values)
		return -ENOMEM;
	for (uint32_t i = 0; i < fork->n_branches; i++) {
		const struct match *rows = parts[i].filter ? NULL : parts[i].rows;

		for (uint32_t k = 0; rows && k < rows->n; k++) {
			struct fork_set *set = set_of(fork, &rows->rows[k].mask);

			if (set == fork->sets + fork->n_sets) {
				fork->n_sets++;
				set->mask = rows->rows[k].mask;
				set->best = i;
			}
			set->room++; /* for now, how many there are */
		}
	}
	values = fork->values;
	for (struct fork_set *set = fork->sets; set < fork->sets + fork->n_sets; set++) {
		uint32_t rows = set->room;

		for (uint8_t word = 0; word < KEY_WORDS; word++) {
			if (set->mask.word[word])
				set->words[set->n_words++] = word;
		}
		for (set->room = 4; set->room < 2 * rows;)
			set->room *= 2;
		set->entries = calloc(set->room, sizeof(*set->entries));
		if (!set->entries)
			return -ENOMEM;
		for (uint32_t i = 0; i < set->room; i++)
			set->entries[i].branch = FORK_NONE;
		set->values = values;
		values += (size_t)rows * set->n_words;
	}
	return 0;
}

/* Of two equal conditions the first counts. */
static void entry_add(struct fork_set *set, const struct match_row *row, uint32_t branch)
{
	uint32_t hash = hash_of(set, &row->value);
	struct fork_entry *entry = entry_of(set, &row->value, hash);

	if (entry->branch != FORK_NONE)
		return;
	entry->hash = hash;
	entry->branch = branch;
	entry->values = set->values;
	for (uint32_t i = 0; i < set->n_words; i++)
		*set->values++ = row->value.word[set->words[i]];
	set->only = set->n_entries++ == 0 ? entry : NULL;
}

static int filter_add(struct fork *fork, const struct fork_part *part, uint32_t branch,
                      struct problem *problem)
{
	struct fork_branch *to = &fork->branches[branch];

	if (!fork->filters) {
		problem_set(problem, -1, "`match %s` takes a filter, and there are none here",
		            part->filter);
		return -EINVAL;
	}
	if (part->rows) {
		to->rows = malloc(sizeof(*to->rows));
		if (!to->rows)
			return -ENOMEM;
		*to->rows = *part->rows;
	}
	fork->filtered[fork->n_filters++] = branch;
	return fork->filters->make(part->filter, &to->filter, problem);
}

static int fork_fill(struct fork *fork, const struct fork_part *parts, struct problem *problem)
{
	for (uint32_t i = 0; i < fork->n_branches; i++) {
		const struct fork_part *part = &parts[i];
		int error;

		fork->branches[i].cloud = part->cloud;
		fork->branches[i].template = part->template;
		fork->templates |= part->template != NULL;
		if (part->filter) {
			error = filter_add(fork, part, i, problem);
			if (error)
				return error;
		} else if (!part->rows) {
			fork->rest = i;
			continue;
		}
		for (uint32_t k = 0; !part->filter && k < part->rows->n; k++)
			entry_add(set_of(fork, &part->rows->rows[k].mask), &part->rows->rows[k], i);
	}
	if (fork->rest == 0 && !fork->branches[0].template)
		fork->only = fork->branches[0].cloud;
	return 0;
}

int fork_make(const struct fork_part *parts, uint32_t n, const struct fork_filters *filters,
              struct fork **result, struct problem *problem)
{
	struct fork *fork = calloc(1, sizeof(*fork));
	uint32_t n_rows = 0;
	int error = -ENOMEM;

	if (!fork)
		return -ENOMEM;
	fork->filters = filters;
	fork->rest = FORK_NONE;
	fork->branches = calloc(n + 1, sizeof(*fork->branches));
	fork->filtered = calloc(n + 1, sizeof(*fork->filtered));
	fork->n_branches = n;
	for (uint32_t i = 0; i < n; i++)
		n_rows += parts[i].rows && !parts[i].filter ? parts[i].rows->n : 0;
	if (fork->branches && fork->filtered)
		error = sets_make(fork, parts, n_rows);
	if (!error)
		error = fork_fill(fork, parts, problem);
	if (error) {
		fork_free(fork);
		return error;
	}
	*result = fork;
	return 0;
}

void fork_free(struct fork *fork)
{
	if (!fork)
		return;
	for (uint32_t i = 0; fork->branches && i < fork->n_branches; i++) {
		if (fork->branches[i].filter)
			fork->filters->free(fork->branches[i].filter);
		free(fork->branches[i].rows);
	}
	for (uint32_t i = 0; i < fork->n_sets; i++)
		free(fork->sets[i].entries);
	free(fork->sets);
	free(fork->values);
	free(fork->branches);
	free(fork->filtered);
	free(fork);
}

/* ---- finding: worker ---- */

/* The same with one entry: there is nothing to look for. */
static void only_find(const struct fork_set *set, const struct packet_key *keys, uint16_t n,
                      uint32_t *best)
{
	for (uint16_t i = 0; i < n; i++) {
		if (is_key(set, set->only, &keys[i]))
			best[i] = RTE_MIN(best[i], set->only->branch);
	}
}

/* All packets that a better branch has not taken. */
static void set_find(const struct fork_set *set, const struct packet_key *keys, uint16_t n,
                     uint32_t *best)
{
	uint32_t hash[BURST_MAX];

	for (uint16_t i = 0; i < n; i++) {
		hash[i] = hash_of(set, &keys[i]);
		rte_prefetch0(&set->entries[hash[i] & (set->room - 1)]);
	}
	for (uint16_t i = 0; i < n; i++) {
		const struct fork_entry *entry;

		if (best[i] < set->best)
			continue;
		entry = entry_of(set, &keys[i], hash[i]);
		best[i] = RTE_MIN(best[i], entry->branch);
	}
}

static bool rows_fit(const struct match *rows, const struct packet_key *key)
{
	for (uint32_t i = 0; i < rows->n; i++) {
		if (match_row_fits(&rows->rows[i], key))
			return true;
	}
	return false;
}

static void filter_find(const struct fork *fork, uint32_t branch, struct rte_mbuf *const *mbufs,
                        const struct packet_key *keys, uint16_t n, uint32_t *best)
{
	const struct fork_branch *of = &fork->branches[branch];
	struct rte_mbuf *asked[BURST_MAX];
	uint16_t which[BURST_MAX], n_asked = 0;
	uint32_t fits;

	for (uint16_t i = 0; i < n; i++) {
		if (best[i] < branch || (of->rows && !rows_fit(of->rows, &keys[i])))
			continue;
		which[n_asked] = i;
		asked[n_asked++] = mbufs[i];
	}
	if (n_asked == 0)
		return;
	fits = fork->filters->fit(of->filter, asked, n_asked);
	for (uint16_t i = 0; i < n_asked; i++) {
		if (fits >> i & 1)
			best[which[i]] = branch;
	}
}

/* What a packet of one of a template's clouds is going to touch. */
static void cloud_fetch(const struct cloud *cloud)
{
	rte_prefetch0(cloud);
	rte_prefetch0(&cloud->holder);
	rte_prefetch0(&cloud->line);
	rte_prefetch0(&cloud->link);
	rte_prefetch0(&cloud->stages);
}

/* The clouds of templates, for the packets that one takes. */
static void templates_find(const struct fork *fork, const struct packet_key *keys, uint16_t n,
                           const uint32_t *best, struct cloud **clouds)
{
	uint64_t hash[BURST_MAX];

	for (uint16_t i = 0; i < n; i++) {
		struct template *template =
		        best[i] == FORK_NONE ? NULL : fork->branches[best[i]].template;

		if (!template)
			continue;
		hash[i] = template_hash(template, &keys[i]);
		rte_prefetch0(template_entry(template, hash[i]));
	}
	for (uint16_t i = 0; i < n; i++) {
		struct template *template =
		        best[i] == FORK_NONE ? NULL : fork->branches[best[i]].template;

		if (!template)
			continue;
		clouds[i] = template_find(template, &keys[i], hash[i]);
		cloud_fetch(clouds[i]);
	}
}

void fork_find(const struct fork *fork, struct rte_mbuf *const *mbufs, uint16_t n,
               struct cloud **clouds)
{
	struct packet_key keys[BURST_MAX];
	uint32_t best[BURST_MAX];

	if (fork->only) {
		for (uint16_t i = 0; i < n; i++)
			clouds[i] = fork->only;
		return;
	}
	for (uint16_t i = 0; i < n; i++) {
		packet_key_read(mbufs[i], &keys[i]);
		best[i] = fork->rest;
	}
	for (uint32_t i = 0; i < fork->n_sets; i++) {
		if (fork->sets[i].only)
			only_find(&fork->sets[i], keys, n, best);
		else
			set_find(&fork->sets[i], keys, n, best);
	}
	for (uint32_t i = 0; i < fork->n_filters; i++)
		filter_find(fork, fork->filtered[i], mbufs, keys, n, best);
	for (uint16_t i = 0; i < n; i++)
		clouds[i] = best[i] == FORK_NONE ? NULL : fork->branches[best[i]].cloud;
	if (unlikely(fork->templates))
		templates_find(fork, keys, n, best, clouds);
}
