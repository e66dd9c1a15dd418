/* SPDX-License-Identifier: BSD-3-Clause */
#include "explain/flow.h"

#include <stdlib.h>
#include <string.h>

#include "packet/packet.h"

#define ROOM_FIRST 8
#define ROOM_KEPT  16

static bool make_room(struct way *way)
{
	const uint32_t room = way->room ? way->room * 2 : ROOM_FIRST;
	struct passage *more;

	if (way_kept(way) < way->room)
		return true;
	more = reallocarray(way->passages, room, sizeof(*more));
	if (!more)
		return false;
	way->passages = more;
	way->room = room;
	return true;
}

/* Returns the number of the first packet that has sent the byte `at`, or the earliest that is
 * kept. `reach` does not decrease from packet to packet. */
static uint32_t original_of(const struct way *way, uint64_t at)
{
	uint32_t low = way->first, high = way->end;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (way_at(way, middle)->reach > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Joins a packet that sends bytes again to the one that has sent them last. */
static void repeat(struct way *way, struct passage *passage)
{
	const uint32_t original = original_of(way, passage->at);
	struct passage *first;

	if (original == way->end)
		return;
	first = way_at(way, original);
	passage->repeats = original;
	if (first->latest != PASSAGE_NONE && first->latest >= way->first)
		passage->repeats = first->latest;
	first->latest = way->end;
}

struct passage *way_add(struct way *way, const struct passage *passage, bool tcp, uint32_t sequence,
                        uint32_t *number)
{
	struct passage *added;

	if (way->end == PASSAGE_NONE || !make_room(way))
		return NULL;
	added = &way->passages[way_kept(way)];
	*added = *passage;
	added->repeats = added->latest = PASSAGE_NONE;
	if (way_kept(way) > 0)
		added->sent_ns = simtime_max(added->sent_ns, added[-1].sent_ns);
	if (way->reach == 0) {
		/* Numbers of TCP start anywhere. 2^32 are before, for what comes out of order. */
		way->reach = (UINT64_C(1) << 32) + (tcp ? sequence : 0);
		way->data = PASSAGE_NONE;
	}
	added->before = way->data;
	added->at = tcp ? way->reach + (uint64_t)(int64_t)(int32_t)(sequence - (uint32_t)way->reach)
	                : way->reach;
	if (added->bytes > 0 && added->at < way->reach)
		repeat(way, added);
	if (added->bytes > 0 && added->at + added->bytes > way->reach)
		way->reach = added->at + added->bytes;
	added->reach = way->reach;
	*number = way->end++;
	return added;
}

void way_mark(struct way *way, uint16_t marks)
{
	struct passage *last = way_at(way, way->end - 1);

	last->marks |= marks;
	if (marks & PASSAGE_DATA)
		way->data = way->end - 1;
}

void way_forget(struct way *way, uint32_t number)
{
	if (number <= way->first)
		return;
	if (number > way->end)
		number = way->end;
	memmove(way->passages, way_at(way, number), (way->end - number) * sizeof(*way->passages));
	way->first = number;
}

void way_empty(struct way *way)
{
	if (way->room > ROOM_KEPT)
		way_free(way);
	*way = (struct way){.passages = way->passages, .room = way->room};
}

void way_free(struct way *way)
{
	free(way->passages);
	*way = (struct way){.passages = NULL};
}

/* ---- what becomes of it ---- */

static uint32_t short_ns(simtime ns)
{
	return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

void passage_deliver(struct passage *passage, const struct fate *fate, simtime free_ns)
{
	/* A copy is as good as its original: the first one counts. */
	if (fate->flags & PACKET_COPY && passage->fate == PASSAGE_ARRIVED &&
	    passage->arrived_ns <= fate->t_out_ns)
		return;
	passage->fate = PASSAGE_ARRIVED;
	passage->arrived_ns = fate->t_out_ns;
	passage->entered_ns = fate->entered_ns;
	passage->rate_ns = short_ns(fate->entered_ns > free_ns ? fate->entered_ns - free_ns : 0);
	passage->clouds = (uint8_t)(passage->clouds < UINT8_MAX ? passage->clouds + 1 : UINT8_MAX);
}

void passage_drop(struct passage *passage, const struct fate *fate)
{
	if (fate->flags & PACKET_COPY)
		return;
	passage->fate = PASSAGE_LOST;
	passage->arrived_ns = fate->at_ns;
	passage->reason = (uint8_t)fate->reason;
}

void passage_send(struct passage *passage, const struct fate *fate)
{
	if (passage->fate != PASSAGE_ARRIVED || fate->t_in_ns != passage->arrived_ns ||
	    fate->at_ns <= fate->t_in_ns)
		return;
	passage->late_ns = short_ns(fate->at_ns - fate->t_in_ns);
	passage->arrived_ns = fate->at_ns;
}
