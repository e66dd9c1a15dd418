/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/classifier.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_prefetch.h>

#include "packet/headers.h"

/* ---- hashing ---- */

static uint32_t hash_of(const struct classifier_set *set, const struct packet_key *key)
{
	return (uint32_t)(packet_key_hash(key, &set->mask, set->words, set->n_words) >> 32);
}

/* Returns the entry with this key, or the free one where it would be. */
static struct classifier_entry *entry_of(const struct classifier_set *set,
                                         const struct packet_key *key, uint32_t hash)
{
	uint32_t at = hash & (set->room - 1);

	while (set->entries[at].branch != CLASSIFIER_NONE &&
	       (set->entries[at].hash != hash ||
	        !packet_key_is(key, &set->mask, set->words, set->n_words, set->entries[at].values)))
		at = (at + 1) & (set->room - 1);
	return &set->entries[at];
}

/* ---- making: control ---- */

static struct classifier_set *set_of(struct classifier *classifier, const struct packet_key *mask)
{
	struct classifier_set *set = classifier->sets;

	while (set < classifier->sets + classifier->n_sets &&
	       memcmp(&set->mask, mask, sizeof(*mask)) != 0)
		set++;
	return set;
}

/* Makes the sets, with room for their entries. The parts are in the order of their ranks, so the
 * sets are in the order of their best branches. */
static int sets_make(struct classifier *classifier, const struct classifier_part *parts,
                     uint32_t n_rows)
{
	uint64_t *values;

	classifier->sets = calloc(n_rows + 1, sizeof(*classifier->sets));
	classifier->values = calloc((size_t)n_rows * KEY_WORDS + 1, sizeof(*classifier->values));
	if (!classifier->sets || !classifier->values)
		return -ENOMEM;
	for (uint32_t i = 0; i < classifier->n_branches; i++) {
		const struct match *rows = parts[i].filter ? NULL : parts[i].rows;

		for (uint32_t k = 0; rows && k < rows->n; k++) {
			struct classifier_set *set = set_of(classifier, &rows->rows[k].mask);

			if (set == classifier->sets + classifier->n_sets) {
				classifier->n_sets++;
				set->mask = rows->rows[k].mask;
				set->best = i;
			}
			set->room++; /* for now, the number of rows */
		}
	}
	values = classifier->values;
	for (struct classifier_set *set = classifier->sets;
	     set < classifier->sets + classifier->n_sets; set++) {
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
			set->entries[i].branch = CLASSIFIER_NONE;
		set->values = values;
		values += (size_t)rows * set->n_words;
	}
	return 0;
}

/* Adds a condition. If it is there already, the first one counts. */
static void entry_add(struct classifier_set *set, const struct match_row *row, uint32_t branch)
{
	uint32_t hash = hash_of(set, &row->value);
	struct classifier_entry *entry = entry_of(set, &row->value, hash);

	if (entry->branch != CLASSIFIER_NONE)
		return;
	entry->hash = hash;
	entry->branch = branch;
	entry->values = set->values;
	for (uint32_t i = 0; i < set->n_words; i++)
		*set->values++ = row->value.word[set->words[i]];
}

/* Offsets of the words of a glance in the header, and of the fields that conditions use. */
static const uint8_t glance_at[CLASSIFIER_GLANCE_WORDS] = {0, 8, 12};

enum { IPV4_TOS = 1, IPV4_PROTOCOL = 9, IPV4_SOURCE = 12, IPV4_DESTINATION = 16, IPV4_BYTES = 20 };

/* Computes the words of an IPv4 header with these fields of a key. */
static void glance_words(const struct packet_key *key, uint64_t words[CLASSIFIER_GLANCE_WORDS])
{
	uint8_t header[IPV4_BYTES] = {0};

	header[IPV4_TOS] = (uint8_t)(key->dscp << 2);
	header[IPV4_PROTOCOL] = key->protocol;
	memcpy(&header[IPV4_SOURCE], key->source, 4);
	memcpy(&header[IPV4_DESTINATION], key->destination, 4);
	for (uint32_t i = 0; i < CLASSIFIER_GLANCE_WORDS; i++)
		memcpy(&words[i], &header[glance_at[i]], sizeof(words[i]));
}

enum glance { GLANCE_TELLS, GLANCE_NEVER, GLANCE_NOT_ENOUGH };

/* Returns GLANCE_TELLS if a glance determines whether an IPv4 packet fits the row: `glance` is
 * filled in. Returns GLANCE_NEVER if no IPv4 packet fits the row. */
static enum glance glance_make(const struct match_row *row, struct classifier_glance *glance)
{
	/* what all IPv4 packets have in common */
	const struct packet_key ipv4 = {
	        .ethertype = 0x0800, .family = 4, .is_ip = 1, .dscp = KEY_DSCP_THERE};
	struct match_row rest = *row;

	if (row->mask.tag[0] || row->mask.tag[1] || row->mask.source_port ||
	    row->mask.destination_port || row->mask.has_ports)
		return GLANCE_NOT_ENOUGH;
	glance_words(&row->mask, glance->mask);
	glance_words(&row->value, glance->value);
	memset(rest.mask.source, 0, 4);
	memset(rest.mask.destination, 0, 4);
	rest.mask.protocol = 0;
	rest.mask.dscp &= 0xc0;
	for (uint32_t i = 0; i < KEY_WORDS; i++)
		rest.value.word[i] &= rest.mask.word[i];
	return match_row_fits(&rest, &ipv4) ? GLANCE_TELLS : GLANCE_NEVER;
}

/* Makes glances if they determine the outcome of all rows. */
static void glances_make(struct classifier *classifier, const struct classifier_part *parts)
{
	uint32_t n = 0;

	if (classifier->n_filters > 0 || classifier->templates)
		return;
	for (uint32_t i = 0; i < classifier->n_branches; i++) {
		for (uint32_t k = 0; parts[i].rows && k < parts[i].rows->n; k++) {
			struct classifier_glance glance = {.cloud = parts[i].cloud};
			enum glance tells = glance_make(&parts[i].rows->rows[k], &glance);

			if (tells == GLANCE_NEVER)
				continue;
			if (tells == GLANCE_NOT_ENOUGH || n == CLASSIFIER_GLANCES_MAX)
				return;
			classifier->glances[n++] = glance;
		}
	}
	classifier->n_glances = n;
}

static int filter_add(struct classifier *classifier, const struct classifier_part *part,
                      uint32_t branch, struct problem *problem)
{
	struct classifier_branch *to = &classifier->branches[branch];

	if (!classifier->filters)
		return problem_set(problem, -1,
		                   "`match %s` needs a filter, and filters are not available here",
		                   part->filter);
	if (part->rows) {
		to->rows = malloc(sizeof(*to->rows));
		if (!to->rows)
			return -ENOMEM;
		*to->rows = *part->rows;
	}
	classifier->filtered[classifier->n_filters++] = branch;
	return classifier->filters->make(part->filter, &to->filter, problem);
}

static int classifier_fill(struct classifier *classifier, const struct classifier_part *parts,
                           struct problem *problem)
{
	for (uint32_t i = 0; i < classifier->n_branches; i++) {
		const struct classifier_part *part = &parts[i];
		int error;

		classifier->branches[i].cloud = part->cloud;
		classifier->branches[i].template = part->template;
		classifier->templates |= part->template != NULL;
		if (part->filter) {
			error = filter_add(classifier, part, i, problem);
			if (error)
				return error;
		} else if (!part->rows) {
			classifier->rest = i;
			continue;
		}
		for (uint32_t k = 0; !part->filter && k < part->rows->n; k++)
			entry_add(set_of(classifier, &part->rows->rows[k].mask),
			          &part->rows->rows[k], i);
	}
	if (classifier->rest == 0 && !classifier->branches[0].template)
		classifier->only = classifier->branches[0].cloud;
	glances_make(classifier, parts);
	return 0;
}

int classifier_make(const struct classifier_part *parts, uint32_t n,
                    const struct classifier_filters *filters, struct classifier **result,
                    struct problem *problem)
{
	struct classifier *classifier = calloc(1, sizeof(*classifier));
	uint32_t n_rows = 0;
	int error = -ENOMEM;

	if (!classifier)
		return -ENOMEM;
	classifier->filters = filters;
	classifier->rest = CLASSIFIER_NONE;
	classifier->branches = calloc(n + 1, sizeof(*classifier->branches));
	classifier->filtered = calloc(n + 1, sizeof(*classifier->filtered));
	classifier->n_branches = n;
	for (uint32_t i = 0; i < n; i++)
		n_rows += parts[i].rows && !parts[i].filter ? parts[i].rows->n : 0;
	if (classifier->branches && classifier->filtered)
		error = sets_make(classifier, parts, n_rows);
	if (!error)
		error = classifier_fill(classifier, parts, problem);
	if (error) {
		classifier_free(classifier);
		return error;
	}
	*result = classifier;
	return 0;
}

void classifier_free(struct classifier *classifier)
{
	if (!classifier)
		return;
	for (uint32_t i = 0; classifier->branches && i < classifier->n_branches; i++) {
		if (classifier->branches[i].filter)
			classifier->filters->free(classifier->branches[i].filter);
		free(classifier->branches[i].rows);
	}
	for (uint32_t i = 0; i < classifier->n_sets; i++)
		free(classifier->sets[i].entries);
	free(classifier->sets);
	free(classifier->values);
	free(classifier->branches);
	free(classifier->filtered);
	free(classifier);
}

/* ---- finding: worker ---- */

/* Looks up all packets that a better branch has not taken. */
static void set_find(const struct classifier_set *set, const struct packet_key *keys, uint16_t n,
                     uint32_t *best)
{
	uint32_t hash[BURST_MAX];

	for (uint16_t i = 0; i < n; i++) {
		hash[i] = hash_of(set, &keys[i]);
		rte_prefetch0(&set->entries[hash[i] & (set->room - 1)]);
	}
	for (uint16_t i = 0; i < n; i++) {
		const struct classifier_entry *entry;

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

static void filter_find(const struct classifier *classifier, uint32_t branch,
                        const struct burst *burst, const struct packet_key *keys, uint32_t *best)
{
	const struct classifier_branch *of = &classifier->branches[branch];

	for (uint16_t i = 0; i < burst->n; i++) {
		if (best[i] < branch || (of->rows && !rows_fit(of->rows, &keys[i])))
			continue;
		if (classifier->filters->fits(of->filter, burst, i))
			best[i] = branch;
	}
}

/* Prefetches what a packet of a template's cloud will touch. `stages`: the clouds have some. */
static void cloud_fetch(const struct cloud *cloud, bool stages)
{
	rte_prefetch0(cloud);
	rte_prefetch0(&cloud->holder);
	rte_prefetch0(&cloud->line);
	rte_prefetch0(&cloud->link);
	if (stages)
		rte_prefetch0(&cloud->stages);
}

/* Finds the clouds of packets that a template takes. */
static void templates_find(const struct classifier *classifier, const struct packet_key *keys,
                           uint16_t n, const uint32_t *best, struct cloud **clouds)
{
	uint64_t hash[BURST_MAX];

	for (uint16_t i = 0; i < n; i++) {
		struct template *template =
		        best[i] == CLASSIFIER_NONE ? NULL : classifier->branches[best[i]].template;

		if (!template)
			continue;
		hash[i] = template_hash(template, &keys[i]);
		rte_prefetch0(template_entry(template, hash[i]));
	}
	for (uint16_t i = 0; i < n; i++) {
		struct template *template =
		        best[i] == CLASSIFIER_NONE ? NULL : classifier->branches[best[i]].template;

		if (!template)
			continue;
		clouds[i] = template_find(template, &keys[i], hash[i]);
		cloud_fetch(clouds[i], template->clouds[0].n_stages > 0);
	}
}

/* Finds the clouds of a burst; returns false if not all packets are IPv4. Gathers the words of the
 * headers first, so that the compiler vectorizes each comparison. */
static bool glances_find(const struct classifier *classifier, struct burst *burst,
                         struct cloud **clouds)
{
	const uint16_t n = burst->n;
	struct cloud *rest = classifier->rest == CLASSIFIER_NONE
	                             ? NULL
	                             : classifier->branches[classifier->rest].cloud;
	uint64_t words[CLASSIFIER_GLANCE_WORDS][BURST_MAX];

	burst_headers_read_all(burst);
	for (uint16_t i = 0; i < n; i++) {
		const struct headers *headers = &burst->headers[i];
		const uint8_t *ip = burst_frame(burst, i) + headers->network;

		if (unlikely(headers->ip != 4))
			return false;
		for (uint32_t w = 0; w < CLASSIFIER_GLANCE_WORDS; w++)
			memcpy(&words[w][i], ip + glance_at[w], sizeof(words[w][i]));
		clouds[i] = rest;
	}
	/* The first condition that a packet fits takes it, so it is compared last. */
	for (uint32_t k = classifier->n_glances; k-- > 0;) {
		const struct classifier_glance glance = classifier->glances[k];

		for (uint16_t i = 0; i < n; i++) {
			uint64_t differ = 0;

			for (uint32_t w = 0; w < CLASSIFIER_GLANCE_WORDS; w++)
				differ |= (words[w][i] & glance.mask[w]) ^ glance.value[w];
			clouds[i] = differ == 0 ? glance.cloud : clouds[i];
		}
	}
	return true;
}

void classifier_find(const struct classifier *classifier, struct burst *burst,
                     struct cloud **clouds)
{
	const uint16_t n = burst->n;
	struct packet_key keys[BURST_MAX];
	uint32_t best[BURST_MAX];

	if (classifier->only) {
		for (uint16_t i = 0; i < n; i++)
			clouds[i] = classifier->only;
		return;
	}
	if (classifier->n_glances > 0 && glances_find(classifier, burst, clouds))
		return;
	for (uint16_t i = 0; i < n; i++) {
		packet_key_read(burst, i, &keys[i]);
		best[i] = classifier->rest;
	}
	for (uint32_t i = 0; i < classifier->n_sets; i++)
		set_find(&classifier->sets[i], keys, n, best);
	for (uint32_t i = 0; i < classifier->n_filters; i++)
		filter_find(classifier, classifier->filtered[i], burst, keys, best);
	for (uint16_t i = 0; i < n; i++)
		clouds[i] = best[i] == CLASSIFIER_NONE ? NULL : classifier->branches[best[i]].cloud;
	if (unlikely(classifier->templates))
		templates_find(classifier, keys, n, best, clouds);
}
