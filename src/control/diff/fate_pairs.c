/* SPDX-License-Identifier: BSD-3-Clause */
#include "diff/fate_pairs.h"

#include <assert.h>
#include <stdlib.h>

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
