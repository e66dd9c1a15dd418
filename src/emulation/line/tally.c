/* SPDX-License-Identifier: BSD-3-Clause */
#include "line/tally.h"

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#define NOTES_A_CHUNK ((CHUNK_BYTES - sizeof(struct chunk)) / sizeof(struct tally_note))

_Static_assert(NOTES_A_CHUNK >= TALLY_RESERVE_MAX, "a chunk has room for what is reserved");

struct tally *tally_make(void)
{
	return calloc(1, sizeof(struct tally));
}

void tally_free(struct tally *tally)
{
	free(tally);
}

/* ---- notes ---- */

static void spare(struct tally *tally, struct tally_note *note)
{
	note->next = tally->free;
	tally->free = note;
	tally->n_free++;
}

bool tally_reserve(struct tally *tally, struct arena *arena, uint32_t n)
{
	struct chunk *chunk;

	if (likely(tally->n_free + (size_t)(tally->end - tally->fresh) >= n))
		return true;
	chunk = arena_get(arena);
	if (unlikely(!chunk))
		return false;
	while (tally->fresh < tally->end)
		spare(tally, tally->fresh++);
	chunk->next = tally->chunks;
	tally->chunks = chunk;
	tally->fresh = (struct tally_note *)(void *)chunk->records;
	tally->end = tally->fresh + NOTES_A_CHUNK;
	return true;
}

static struct tally_note *take(struct tally *tally)
{
	struct tally_note *note = tally->free;

	if (!note)
		return tally->fresh++;
	tally->free = note->next;
	tally->n_free--;
	return note;
}

static void give(struct tally *tally, struct tally_note *note)
{
	spare(tally, note);
	tally->n--;
}

static void chunks_give_back(struct tally *tally, struct arena *arena)
{
	while (tally->chunks) {
		struct chunk *chunk = tally->chunks;

		tally->chunks = chunk->next;
		arena_put(arena, chunk);
	}
	tally->free = tally->fresh = tally->end = NULL;
	tally->n_free = 0;
}

void tally_clear(struct tally *tally, struct arena *arena)
{
	chunks_give_back(tally, arena);
	memset(tally, 0, sizeof(*tally));
}

/* ---- tiers ---- */

static uint32_t digit(simtime at, uint32_t tier)
{
	return (uint32_t)(at >> (TALLY_DIGIT_BITS * tier)) & (TALLY_SLOTS - 1);
}

/* The highest digit in which they differ; they do. */
static uint32_t tier_of(simtime a, simtime b)
{
	return (63u - (uint32_t)__builtin_clzll(a ^ b)) / TALLY_DIGIT_BITS;
}

static void tiers_put(struct tally *tally, struct tally_note *note)
{
	uint32_t k = tier_of(note->due, tally->now), slot = digit(note->due, k);
	struct tally_tier *tier = &tally->tier[k];

	note->next = tier->taken >> slot & 1 ? tier->slot[slot] : NULL;
	tier->slot[slot] = note;
	tier->taken |= 1u << slot;
	tally->in_tiers++;
}

/* All in these slots are due. */
static void slots_pass(struct tally *tally, struct tally_tier *tier, uint32_t slots)
{
	tier->taken &= ~slots;
	for (; slots; slots &= slots - 1) {
		struct tally_note *note = tier->slot[__builtin_ctz(slots)], *next;

		for (; note; note = next) {
			next = note->next;
			give(tally, note);
			tally->in_tiers--;
		}
	}
}

static void tiers_advance(struct tally *tally, simtime now)
{
	uint32_t k = tier_of(now, tally->now), slot = digit(now, k);
	struct tally_tier *tier = &tally->tier[k];
	struct tally_note *note = NULL, *next;

	/* What agrees with the last instant in this digit is before the new one. */
	for (uint32_t lower = 0; lower < k; lower++)
		slots_pass(tally, &tally->tier[lower], tally->tier[lower].taken);
	slots_pass(tally, tier, tier->taken & ((1u << slot) - 1));
	if (tier->taken >> slot & 1) {
		note = tier->slot[slot];
		tier->taken &= ~(1u << slot);
	}
	tally->now = now;
	for (; note; note = next) {
		next = note->next;
		tally->in_tiers--;
		if (note->due <= now)
			give(tally, note);
		else
			tiers_put(tally, note);
	}
}

/* ---- */

void tally_note(struct tally *tally, simtime due)
{
	struct tally_note *note;

	if (due <= tally->now)
		return;
	note = take(tally);
	note->due = due;
	note->next = NULL;
	tally->n++;
	if (tally->first && due < tally->last->due) {
		tiers_put(tally, note);
	} else {
		if (tally->first)
			tally->last->next = note;
		else
			tally->first = note;
		tally->last = note;
	}
}

uint64_t tally_count(struct tally *tally, struct arena *arena, simtime now)
{
	if (now <= tally->now)
		return tally->n;
	while (tally->first && tally->first->due <= now) {
		struct tally_note *note = tally->first;

		tally->first = note->next;
		give(tally, note);
	}
	if (tally->in_tiers > 0)
		tiers_advance(tally, now);
	tally->now = now;
	if (tally->n == 0 && tally->chunks)
		chunks_give_back(tally, arena);
	return tally->n;
}
