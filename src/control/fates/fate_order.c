/* SPDX-License-Identifier: BSD-3-Clause */
#include "fates/fate_order.h"

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "capture/fate_ring.h"

#define ALIGN       8u
#define BYTES_FIRST (1u << 20)
#define KEYS_FIRST  4096u

/* Followed by the names of the cloud and the stage, then the frame. */
struct kept {
	struct fate fate; /* its pointers are set by tell_kept */
	uint64_t lost;
	uint32_t bytes; /* in all, with what follows */
	uint16_t cloud_bytes, stage_bytes;
};

struct key {
	simtime at_ns;
	size_t place; /* in `bytes`; increases from one fate to the next */
};

struct fate_order {
	uint32_t snap;
	uint8_t *bytes;
	size_t used, room;
	struct key *keys;
	size_t n, keys_room;
	bool sorted;
};

struct fate_order *fate_order_make(uint32_t snap)
{
	struct fate_order *order = calloc(1, sizeof(*order));

	if (!order)
		return NULL;
	order->snap = snap;
	order->sorted = true;
	return order;
}

void fate_order_free(struct fate_order *order)
{
	if (!order)
		return;
	free(order->bytes);
	free(order->keys);
	free(order);
}

static bool make_room(struct fate_order *order, size_t bytes)
{
	if (order->room - order->used < bytes) {
		size_t room = 2 * order->room + RTE_MAX(bytes, (size_t)BYTES_FIRST);
		uint8_t *grown = realloc(order->bytes, room);

		if (!grown)
			return false;
		order->bytes = grown;
		order->room = room;
	}
	if (order->n == order->keys_room) {
		size_t room = 2 * order->keys_room + KEYS_FIRST;
		struct key *grown = realloc(order->keys, room * sizeof(*grown));

		if (!grown)
			return false;
		order->keys = grown;
		order->keys_room = room;
	}
	return true;
}

bool fate_order_put(struct fate_order *order, const struct fate *fate, uint64_t lost)
{
	const size_t cloud = fate->cloud ? strlen(fate->cloud) + 1 : 0;
	const size_t stage = fate->stage ? strlen(fate->stage) + 1 : 0;
	const uint32_t frame = fate_frame_bytes(&fate->frame, order->snap);
	const size_t bytes =
	        RTE_ALIGN_CEIL(sizeof(struct kept) + cloud + stage + frame, (size_t)ALIGN);
	struct kept *kept;
	uint8_t *at;

	if (!make_room(order, bytes))
		return false;
	kept = (struct kept *)(void *)(order->bytes + order->used);
	*kept = (struct kept){.fate = *fate,
	                      .lost = lost,
	                      .bytes = (uint32_t)bytes,
	                      .cloud_bytes = (uint16_t)cloud,
	                      .stage_bytes = (uint16_t)stage};
	at = (uint8_t *)(kept + 1);
	if (cloud)
		memcpy(at, fate->cloud, cloud);
	if (stage)
		memcpy(at + cloud, fate->stage, stage);
	fate_frame_copy(at + cloud + stage, &fate->frame, frame);
	kept->fate.frame = (struct fate_frame){.bytes = frame};
	order->sorted &= order->n == 0 || order->keys[order->n - 1].at_ns <= fate->at_ns;
	order->keys[order->n++] = (struct key){.at_ns = fate->at_ns, .place = order->used};
	order->used += bytes;
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct key *one = a, *other = b;

	if (one->at_ns != other->at_ns)
		return one->at_ns < other->at_ns ? -1 : 1;
	return one->place < other->place ? -1 : one->place > other->place;
}

static int compare_places(const void *a, const void *b)
{
	const struct key *one = a, *other = b;

	return one->place < other->place ? -1 : one->place > other->place;
}

/* Moves what is left to the front, in the order in which it was put. */
static void close_up(struct fate_order *order, size_t told)
{
	size_t used = 0;

	memmove(order->keys, order->keys + told, (order->n - told) * sizeof(*order->keys));
	order->n -= told;
	qsort(order->keys, order->n, sizeof(*order->keys), compare_places);
	order->sorted = true;
	for (size_t i = 0; i < order->n; i++) {
		struct key *key = &order->keys[i];
		uint32_t bytes = ((struct kept *)(void *)(order->bytes + key->place))->bytes;

		memmove(order->bytes + used, order->bytes + key->place, bytes);
		key->place = used;
		used += bytes;
		order->sorted &= i == 0 || key[-1].at_ns <= key->at_ns;
	}
	order->used = used;
}

void fate_order_until(struct fate_order *order, simtime until, fate_order_tell *tell,
                      void *argument)
{
	size_t told = 0;

	if (!order->sorted)
		qsort(order->keys, order->n, sizeof(*order->keys), compare);
	order->sorted = true;
	for (; told < order->n && order->keys[told].at_ns <= until; told++) {
		struct kept *kept = (struct kept *)(void *)(order->bytes + order->keys[told].place);
		const uint8_t *at = (const uint8_t *)(kept + 1);
		struct fate fate = kept->fate;

		fate.cloud = kept->cloud_bytes ? (const char *)at : "";
		fate.stage = kept->stage_bytes ? (const char *)at + kept->cloud_bytes : NULL;
		fate.frame.data = at + kept->cloud_bytes + kept->stage_bytes;
		tell(argument, &fate, kept->lost);
	}
	if (told > 0)
		close_up(order, told);
}
