/* SPDX-License-Identifier: BSD-3-Clause */
#include "line/in_flight.h"

#include "snapshot/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#define NOTES_A_CHUNK ((CHUNK_BYTES - sizeof(struct chunk)) / sizeof(struct in_flight_note))

_Static_assert(NOTES_A_CHUNK >= IN_FLIGHT_RESERVE_MAX, "a chunk has room for what is reserved");

struct in_flight *in_flight_make(void)
{
	return calloc(1, sizeof(struct in_flight));
}

void in_flight_free(struct in_flight *in_flight)
{
	free(in_flight);
}

/* ---- notes ---- */

static void spare(struct in_flight *in_flight, struct in_flight_note *note)
{
	note->next = in_flight->free;
	in_flight->free = note;
	in_flight->n_free++;
}

bool in_flight_reserve(struct in_flight *in_flight, struct arena *arena, uint32_t n)
{
	struct chunk *chunk;

	if (likely(in_flight->n_free + (size_t)(in_flight->end - in_flight->fresh) >= n))
		return true;
	chunk = arena_get(arena);
	if (unlikely(!chunk))
		return false;
	while (in_flight->fresh < in_flight->end)
		spare(in_flight, in_flight->fresh++);
	chunk->next = in_flight->chunks;
	in_flight->chunks = chunk;
	in_flight->fresh = (struct in_flight_note *)(void *)chunk->records;
	in_flight->end = in_flight->fresh + NOTES_A_CHUNK;
	return true;
}

static struct in_flight_note *take(struct in_flight *in_flight)
{
	struct in_flight_note *note = in_flight->free;

	if (!note)
		return in_flight->fresh++;
	in_flight->free = note->next;
	in_flight->n_free--;
	return note;
}

static void give(struct in_flight *in_flight, struct in_flight_note *note)
{
	spare(in_flight, note);
	in_flight->n--;
}

static void chunks_give_back(struct in_flight *in_flight, struct arena *arena)
{
	while (in_flight->chunks) {
		struct chunk *chunk = in_flight->chunks;

		in_flight->chunks = chunk->next;
		arena_put(arena, chunk);
	}
	in_flight->free = in_flight->fresh = in_flight->end = NULL;
	in_flight->n_free = 0;
}

void in_flight_clear(struct in_flight *in_flight, struct arena *arena)
{
	chunks_give_back(in_flight, arena);
	memset(in_flight, 0, sizeof(*in_flight));
}

/* ---- tiers ---- */

static uint32_t digit(simtime at, uint32_t tier)
{
	return (uint32_t)(at >> (IN_FLIGHT_DIGIT_BITS * tier)) & (IN_FLIGHT_SLOTS - 1);
}

/* Returns the highest digit in which a and b differ; they are not equal. */
static uint32_t tier_of(simtime a, simtime b)
{
	return (63u - (uint32_t)__builtin_clzll(a ^ b)) / IN_FLIGHT_DIGIT_BITS;
}

static void tiers_put(struct in_flight *in_flight, struct in_flight_note *note)
{
	uint32_t k = tier_of(note->due, in_flight->now), slot = digit(note->due, k);
	struct in_flight_tier *tier = &in_flight->tier[k];

	note->next = tier->taken >> slot & 1 ? tier->slot[slot] : NULL;
	tier->slot[slot] = note;
	tier->taken |= 1u << slot;
	in_flight->in_tiers++;
}

/* Discards all notes in these slots: they are due. */
static void slots_pass(struct in_flight *in_flight, struct in_flight_tier *tier, uint32_t slots)
{
	tier->taken &= ~slots;
	for (; slots; slots &= slots - 1) {
		struct in_flight_note *note = tier->slot[__builtin_ctz(slots)], *next;

		for (; note; note = next) {
			next = note->next;
			give(in_flight, note);
			in_flight->in_tiers--;
		}
	}
}

static void tiers_advance(struct in_flight *in_flight, simtime now)
{
	uint32_t k = tier_of(now, in_flight->now), slot = digit(now, k);
	struct in_flight_tier *tier = &in_flight->tier[k];
	struct in_flight_note *note = NULL, *next;

	/* Notes in lower tiers equal the previous instant in digit k: all are before the new
	 * one. */
	for (uint32_t lower = 0; lower < k; lower++)
		slots_pass(in_flight, &in_flight->tier[lower], in_flight->tier[lower].taken);
	slots_pass(in_flight, tier, tier->taken & ((1u << slot) - 1));
	if (tier->taken >> slot & 1) {
		note = tier->slot[slot];
		tier->taken &= ~(1u << slot);
	}
	in_flight->now = now;
	for (; note; note = next) {
		next = note->next;
		in_flight->in_tiers--;
		if (note->due <= now)
			give(in_flight, note);
		else
			tiers_put(in_flight, note);
	}
}

/* ---- */

void in_flight_note(struct in_flight *in_flight, simtime due)
{
	struct in_flight_note *note;

	if (due <= in_flight->now)
		return;
	note = take(in_flight);
	note->due = due;
	note->next = NULL;
	in_flight->n++;
	if (in_flight->first && due < in_flight->last->due) {
		tiers_put(in_flight, note);
	} else {
		if (in_flight->first)
			in_flight->last->next = note;
		else
			in_flight->first = note;
		in_flight->last = note;
	}
}

uint64_t in_flight_count(struct in_flight *in_flight, struct arena *arena, simtime now)
{
	if (now <= in_flight->now)
		return in_flight->n;
	while (in_flight->first && in_flight->first->due <= now) {
		struct in_flight_note *note = in_flight->first;

		in_flight->first = note->next;
		give(in_flight, note);
	}
	if (in_flight->in_tiers > 0)
		tiers_advance(in_flight, now);
	in_flight->now = now;
	if (in_flight->n == 0 && in_flight->chunks)
		chunks_give_back(in_flight, arena);
	return in_flight->n;
}

/* ---- snapshots ---- */

static void list_write(const struct in_flight_note *note, struct snapshot *snapshot)
{
	for (; note; note = note->next) {
		simtime due = note->due;

		snapshot_value(snapshot, due);
	}
}

/* Writes the notes of the list first, so that they are in order when they are read. */
static void notes_write(const struct in_flight *in_flight, struct snapshot *snapshot)
{
	list_write(in_flight->first, snapshot);
	for (uint32_t k = 0; k < IN_FLIGHT_TIERS; k++) {
		const struct in_flight_tier *tier = &in_flight->tier[k];

		for (uint32_t slots = tier->taken; slots; slots &= slots - 1)
			list_write(tier->slot[__builtin_ctz(slots)], snapshot);
	}
}

void in_flight_snapshot(struct in_flight *in_flight, struct arena *arena, struct snapshot *snapshot)
{
	uint64_t n = in_flight->n;

	snapshot_value(snapshot, in_flight->now);
	snapshot_value(snapshot, n);
	if (!snapshot->restores) {
		notes_write(in_flight, snapshot);
		return;
	}
	for (; n > 0 && !snapshot->failed; n--) {
		simtime due = 0;

		snapshot_value(snapshot, due);
		if (snapshot_holds(snapshot, in_flight_reserve(in_flight, arena, 1)))
			in_flight_note(in_flight, due);
	}
}
