/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/flight_losses.h"

#include <errno.h>
#include <stdlib.h>

#define ROOM_AT_FIRST 1024

void flight_losses_make(struct flight_losses *losses, uint64_t bytes_max)
{
	*losses = (struct flight_losses){.most = bytes_max / sizeof(*losses->list)};
}

void flight_losses_free(struct flight_losses *losses)
{
	free(losses->list);
	*losses = (struct flight_losses){0};
}

void flight_losses_clear(struct flight_losses *losses)
{
	losses->n = 0;
}

/* Copies what was due after `from_ns`; the destination may be the list itself. Returns the
 * number. */
static uint64_t copy_since(const struct flight_losses *losses, simtime from_ns,
                           struct flight_loss *to)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < losses->n; i++) {
		if (losses->list[i].due_ns > from_ns)
			to[n++] = losses->list[i];
	}
	return n;
}

/* Makes room for one more. Grows the list if less than half of it could be removed; if it may not
 * grow, a quarter must have been. So the work for a loss is O(1) on average. */
static bool make_room(struct flight_losses *losses, simtime from_ns)
{
	const simtime second_ago =
	        losses->latest_ns > SIMTIME_S ? losses->latest_ns - SIMTIME_S : 0;
	uint64_t room = losses->room ? 2 * losses->room : ROOM_AT_FIRST;
	struct flight_loss *list;

	losses->n = copy_since(losses, simtime_min(from_ns, second_ago), losses->list);
	if (losses->n < losses->room / 2)
		return true;
	if (room > losses->most)
		room = losses->most;
	list = room > losses->room ? realloc(losses->list, room * sizeof(*list)) : NULL;
	if (!list)
		return losses->n < losses->room - losses->room / 4;
	losses->list = list;
	losses->room = room;
	return true;
}

bool flight_losses_put(struct flight_losses *losses, uint32_t worker,
                       const struct tape_entry *entry, simtime from_ns)
{
	if (losses->n == losses->room && !make_room(losses, from_ns))
		return false;
	losses->list[losses->n++] = (struct flight_loss){.due_ns = entry->number,
	                                                 .bytes = entry->n,
	                                                 .digest = entry->word,
	                                                 .port = entry->port,
	                                                 .worker = (uint16_t)worker};
	losses->latest_ns = simtime_max(losses->latest_ns, entry->number);
	return true;
}

int flight_losses_copy(const struct flight_losses *losses, simtime from_ns,
                       struct flight_losses *copy)
{
	*copy = (struct flight_losses){.room = losses->n, .most = losses->n};
	copy->list = malloc((losses->n + 1) * sizeof(*copy->list));
	if (!copy->list)
		return -ENOMEM;
	copy->n = copy_since(losses, from_ns, copy->list);
	return 0;
}

struct tape_entry flight_loss_entry(const struct flight_loss *loss)
{
	return (struct tape_entry){.bytes = sizeof(struct tape_entry),
	                           .kind = TAPE_UNSENT,
	                           .port = loss->port,
	                           .n = loss->bytes,
	                           .word = loss->digest,
	                           .number = loss->due_ns};
}
