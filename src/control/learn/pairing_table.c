/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/pairing.h"

#include <errno.h>
#include <stdlib.h>

int pairing_table_make(struct pairing_table *table, uint32_t room)
{
	*table = (struct pairing_table){.mask = room - 1};
	table->ring = calloc(room, sizeof(*table->ring));
	table->first = calloc(room, sizeof(*table->first));
	table->last = calloc(room, sizeof(*table->last));
	return table->ring && table->first && table->last ? 0 : -ENOMEM;
}

void pairing_table_free(struct pairing_table *table)
{
	free(table->ring);
	free(table->first);
	free(table->last);
}

void pairing_table_add(struct pairing_table *table, const struct waiting_frame *frame)
{
	const uint32_t place = table->end++ & table->mask;
	const uint32_t chain = (uint32_t)frame->key & table->mask;

	table->ring[place] = *frame;
	table->ring[place].waits = true;
	table->ring[place].behind = 0;
	if (table->first[chain] == 0)
		table->first[chain] = place + 1;
	else
		table->ring[table->last[chain] - 1].behind = place + 1;
	table->last[chain] = place + 1;
	table->n++;
}

/* Takes the frame at `place` out of its chain; `ahead` is the one before it there, as a place + 1,
 * or 0. */
static void unchain(struct pairing_table *table, uint32_t place, uint32_t ahead)
{
	struct waiting_frame *frame = &table->ring[place];
	const uint32_t chain = (uint32_t)frame->key & table->mask;

	if (ahead == 0)
		table->first[chain] = frame->behind;
	else
		table->ring[ahead - 1].behind = frame->behind;
	if (table->last[chain] == place + 1)
		table->last[chain] = ahead;
	frame->waits = false;
	table->n--;
}

static struct waiting_frame *another_like(const struct pairing_table *table, uint32_t at,
                                          uint64_t key)
{
	for (uint32_t i = 0; at > 0 && i < PAIRING_LOOKS; i++, at = table->ring[at - 1].behind) {
		if (table->ring[at - 1].key == key)
			return &table->ring[at - 1];
	}
	return NULL;
}

bool pairing_table_take(struct pairing_table *table, uint64_t key, struct waiting_frame *frame,
                        struct waiting_frame **alike)
{
	uint32_t ahead = 0, at = table->first[(uint32_t)key & table->mask];

	for (uint32_t i = 0; at > 0 && i < PAIRING_LOOKS; i++) {
		if (table->ring[at - 1].key == key) {
			*frame = table->ring[at - 1];
			*alike = another_like(table, frame->behind, key);
			unchain(table, at - 1, ahead);
			return true;
		}
		ahead = at;
		at = table->ring[at - 1].behind;
	}
	return false;
}

bool pairing_table_oldest(struct pairing_table *table, bool any, struct waiting_frame *frame)
{
	while (table->begin != table->end) {
		const uint32_t place = table->begin & table->mask;

		if (table->ring[place].waits) {
			if (!any && table->end - table->begin <= table->mask)
				return false;
			*frame = table->ring[place];
			/* The oldest frame of all is the first of its chain. */
			unchain(table, place, 0);
			table->begin++;
			return true;
		}
		table->begin++;
	}
	return false;
}
