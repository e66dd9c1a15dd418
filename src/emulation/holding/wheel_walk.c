/* SPDX-License-Identifier: BSD-3-Clause */
#include "holding/wheel.h"

struct walk {
	struct wheel *wheel;
	wheel_visit *visit;
	void *argument;
	uint64_t number;
};

static const struct wheel_key *key_at(const struct walk *walk, wheel_link link)
{
	return link_at(walk->wheel->store.arena, link);
}

static void visit(struct walk *walk, simtime t_ns, uint64_t number, const void *place)
{
	struct wheel *wheel = walk->wheel;
	const struct held *held = place;

	if (wheel->has_cells && store_cell(&wheel->store, place))
		held = wheel_cell_read(wheel, place);
	walk->visit(walk->argument, t_ns, number, held);
}

/* Visits the keys of a list. `last_first`: the list is in reverse order of insertion, as all are
 * except those of instants. */
static void visit_list(struct walk *walk, wheel_link list, bool last_first)
{
	uint64_t n = 0, i = 0;

	for (wheel_link link = list; link; link = key_at(walk, link)->next)
		n++;
	for (wheel_link link = list; link; link = key_at(walk, link)->next, i++)
		visit(walk, key_at(walk, link)->t_ns, walk->number + (last_first ? n - 1 - i : i),
		      link_at(walk->wheel->store.arena, key_at(walk, link)->held));
	walk->number += n;
}

static void visit_key_list(struct walk *walk, const struct key_list *key_list)
{
	const struct arena *arena = walk->wheel->store.arena;
	wheel_link place = key_list_begin(key_list);
	const struct wheel_key *key;

	while (key_list->first && (key = key_list_walk(arena, key_list, &place)) != NULL)
		visit(walk, key->t_ns, walk->number++, link_at(arena, key->held));
}

/* Keys from the level above were inserted before those inserted at this level. */
static void visit_level(struct walk *walk, uint32_t number)
{
	const struct wheel_level *level = &walk->wheel->level[number - 1];

	for (uint32_t slot = 0; slot < wheel_slots[number]; slot++) {
		if (level->used[slot / 64] == 0) {
			slot |= 63;
			continue;
		}
		if (!(level->used[slot / 64] >> (slot % 64) & 1))
			continue;
		visit_list(walk, level->list[slot], true);
		visit_key_list(walk, &level->key_lists[slot]);
	}
}

/* Of two keys with one due time, that at the higher level was inserted first. */
void wheel_walk(struct wheel *wheel, wheel_visit *visit_one, void *argument)
{
	struct walk walk = {.wheel = wheel, .visit = visit_one, .argument = argument};

	for (uint32_t number = WHEEL_LEVELS - 1; number > 0; number--)
		visit_level(&walk, number);
	for (uint32_t i = wheel->sorted_at; i < wheel->sorted_n; i++)
		visit(&walk, wheel->sorted[i].t_ns, walk.number++, wheel->sorted[i].held);
	for (uint32_t i = 0; i < WHEEL_INSTANTS; i++)
		visit_list(&walk, wheel->instant[i].first, false);
	for (uint32_t slot = 0; slot < WHEEL_SLOTS_FINE; slot++)
		visit_list(&walk, wheel->fine[slot], true);
}
