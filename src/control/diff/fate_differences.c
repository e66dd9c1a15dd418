/* SPDX-License-Identifier: BSD-3-Clause */
#include "diff/diff.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

const char *became_name(uint32_t became)
{
	if (became == BECAME_DELIVERED)
		return "delivered";
	return became == BECAME_NOTHING ? "not decided" : reason_name((enum reason)became);
}

static bool is_earlier(const struct fate_example *one, const struct fate_example *other)
{
	if (one->t_ns != other->t_ns)
		return one->t_ns < other->t_ns;
	if (one->port != other->port)
		return one->port < other->port;
	return one->packet < other->packet;
}

/* Keeps the earliest examples. Pairs do not come in the order of their packets: a packet is decided
 * when it leaves a queue. */
static void add_example(struct fate_change *change, const struct fate_example *example)
{
	uint32_t at = (uint32_t)RTE_MIN(change->packets, (uint64_t)FATE_EXAMPLES);

	change->packets++;
	if (at == FATE_EXAMPLES && !is_earlier(example, &change->few[--at]))
		return;
	for (; at > 0 && is_earlier(example, &change->few[at - 1]); at--)
		change->few[at] = change->few[at - 1];
	change->few[at] = *example;
}

static int64_t add_delay(struct fate_differences *differences, uint64_t before_ns,
                         uint64_t after_ns)
{
	if (after_ns > before_ns)
		histogram_add(&differences->later, after_ns - before_ns, 1);
	else if (after_ns < before_ns)
		histogram_add(&differences->earlier, before_ns - after_ns, 1);
	else
		differences->equal++;
	return (int64_t)(after_ns - before_ns);
}

/* Adds a pair. One of the two may be NULL. */
static void fate_differences_add(struct fate_differences *differences,
                                 const struct fate_seen *first, const struct fate_seen *second)
{
	const struct fate_seen *known = first ? first : second;
	const struct fate_example at = {known->packet, known->t_in_ns, known->port};
	const uint32_t from = first ? first->became : BECAME_NOTHING;
	const uint32_t to = second ? second->became : BECAME_NOTHING;
	const bool other_length = first && second && first->wire_bytes != second->wire_bytes;
	int64_t later_ns = 0;

	differences->pairs++;
	differences->other_length += other_length;
	if (from != to)
		add_example(&differences->changes[from][to], &at);
	else if (from == BECAME_DELIVERED)
		later_ns = add_delay(differences, first->delay_ns, second->delay_ns);
	if (from != to || later_ns != 0 || other_length) {
		if (!differences->first.found || is_earlier(&at, &differences->first.at))
			differences->first = (struct fate_first){true, at, from, to, later_ns};
	}
}

bool fate_differences_none(const struct fate_differences *differences)
{
	return !differences->first.found &&
	       memcmp(differences->own[0], differences->own[1], sizeof(differences->own[0])) == 0;
}

uint64_t fate_differences_changed(const struct fate_differences *differences)
{
	uint64_t n = 0;

	for (uint32_t from = 0; from < BECAME_KINDS; from++) {
		for (uint32_t to = 0; to < BECAME_KINDS; to++)
			n += differences->changes[from][to].packets;
	}
	return n;
}

/* Returns the difference at a rank: first the earlier ones, by descending amount, then the equal
 * ones, then the later ones. The extremes are taken from the histograms' greatest values, from
 * which a percentile may differ. */
static int64_t delay_at(const struct fate_differences *differences, uint64_t rank)
{
	const struct histogram *earlier = &differences->earlier, *later = &differences->later;
	uint64_t n = earlier->count;

	if (rank == 0 && n > 0)
		return -(int64_t)earlier->max;
	if (rank < n)
		return -(int64_t)histogram_percentile(earlier,
		                                      (uint32_t)((n - rank) * 1000000 / n));
	rank -= n;
	if (rank < differences->equal)
		return 0;
	rank -= differences->equal;
	n = later->count;
	if (rank + 1 == n)
		return (int64_t)later->max;
	return (int64_t)histogram_percentile(later, (uint32_t)((rank + 1) * 1000000 / n));
}

int64_t fate_differences_delay(const struct fate_differences *differences, uint32_t per_million)
{
	const uint64_t n =
	        differences->earlier.count + differences->equal + differences->later.count;

	if (n == 0)
		return 0;
	return delay_at(differences,
	                (uint64_t)((unsigned __int128)(n - 1) * per_million / 1000000));
}

#define NONE UINT32_MAX

struct waiting {
	struct fate_seen seen;
	uint32_t run;
	uint32_t next;         /* in its bucket, or in the free list */
	uint32_t older, newer; /* by their arrival */
};

struct fate_pairs {
	struct fate_differences *differences;
	struct waiting *waiting;
	uint32_t *bucket; /* first entry of each; `room` buckets */
	uint32_t room, used, free;
	uint32_t oldest, newest;
	uint64_t gone;
};

struct fate_pairs *fate_pairs_make(uint32_t room, struct fate_differences *differences)
{
	struct fate_pairs *pairs = calloc(1, sizeof(*pairs));

	assert((room & (room - 1)) == 0);
	if (!pairs)
		return NULL;
	pairs->differences = differences;
	pairs->room = room;
	pairs->free = pairs->oldest = pairs->newest = NONE;
	/* Pages that are never used are not touched. */
	pairs->waiting = calloc(room, sizeof(*pairs->waiting));
	pairs->bucket = malloc(room * sizeof(*pairs->bucket));
	if (!pairs->waiting || !pairs->bucket) {
		fate_pairs_free(pairs);
		return NULL;
	}
	for (uint32_t i = 0; i < room; i++)
		pairs->bucket[i] = NONE;
	return pairs;
}

void fate_pairs_free(struct fate_pairs *pairs)
{
	if (!pairs)
		return;
	free(pairs->waiting);
	free(pairs->bucket);
	free(pairs);
}

static uint32_t *bucket_of(struct fate_pairs *pairs, const struct fate_seen *seen)
{
	uint64_t word = seen->packet * 64 + seen->port * 2 + seen->copy;

	word *= UINT64_C(0x9e3779b97f4a7c15);
	return &pairs->bucket[(word >> 32) & (pairs->room - 1)];
}

static bool is_of_one(const struct fate_seen *one, const struct fate_seen *other)
{
	return one->packet == other->packet && one->port == other->port && one->copy == other->copy;
}

/* Frees the entry whose index is at `place`, and puts its successor there. */
static void take_out(struct fate_pairs *pairs, uint32_t *place)
{
	const uint32_t index = *place;
	struct waiting *one = &pairs->waiting[index];

	*place = one->next;
	if (one->older == NONE)
		pairs->oldest = one->newer;
	else
		pairs->waiting[one->older].newer = one->newer;
	if (one->newer == NONE)
		pairs->newest = one->older;
	else
		pairs->waiting[one->newer].older = one->older;
	one->next = pairs->free;
	pairs->free = index;
}

static void add(struct fate_pairs *pairs, uint32_t run, const struct fate_seen *one,
                const struct fate_seen *other)
{
	fate_differences_add(pairs->differences, run == 0 ? one : other, run == 0 ? other : one);
}

static void let_go_oldest(struct fate_pairs *pairs)
{
	const uint32_t index = pairs->oldest;
	struct waiting *one = &pairs->waiting[index];
	uint32_t *place = bucket_of(pairs, &one->seen);

	while (*place != index)
		place = &pairs->waiting[*place].next;
	take_out(pairs, place);
	add(pairs, one->run, &one->seen, NULL);
}

static uint32_t take_free(struct fate_pairs *pairs)
{
	uint32_t index = pairs->free;

	if (index == NONE && pairs->used < pairs->room)
		return pairs->used++;
	if (index == NONE) {
		pairs->gone++;
		let_go_oldest(pairs);
		index = pairs->free;
	}
	pairs->free = pairs->waiting[index].next;
	return index;
}

static void wait(struct fate_pairs *pairs, uint32_t run, const struct fate_seen *seen)
{
	const uint32_t index = take_free(pairs);
	uint32_t *place = bucket_of(pairs, seen);

	/* Behind those of the same packet, so that they leave in order. */
	while (*place != NONE)
		place = &pairs->waiting[*place].next;
	*place = index;
	pairs->waiting[index] = (struct waiting){
	        .seen = *seen, .run = run, .next = NONE, .older = pairs->newest, .newer = NONE};
	if (pairs->newest == NONE)
		pairs->oldest = index;
	else
		pairs->waiting[pairs->newest].newer = index;
	pairs->newest = index;
}

void fate_pairs_put(struct fate_pairs *pairs, uint32_t run, const struct fate_seen *seen)
{
	uint32_t *place = bucket_of(pairs, seen);

	for (; *place != NONE; place = &pairs->waiting[*place].next) {
		struct waiting *one = &pairs->waiting[*place];

		if (one->run == run || !is_of_one(&one->seen, seen))
			continue;
		take_out(pairs, place);
		add(pairs, run, seen, &one->seen);
		return;
	}
	wait(pairs, run, seen);
}

uint64_t fate_pairs_end(struct fate_pairs *pairs)
{
	while (pairs->oldest != NONE)
		let_go_oldest(pairs);
	return pairs->gone;
}
