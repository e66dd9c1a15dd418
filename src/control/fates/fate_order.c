/* SPDX-License-Identifier: BSD-3-Clause */
#include "fates/fate_order.h"

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "capture/fate_ring.h"
#include "packet/packet.h"
#include "scenario/names.h"
#include "scenario/scenario.h"
#include "text/array.h"

#define ALIGN 8u

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

bool fate_order_put(struct fate_order *order, const struct fate *fate, uint64_t lost)
{
	const size_t cloud = fate->cloud ? strlen(fate->cloud) + 1 : 0;
	const size_t stage = fate->stage ? strlen(fate->stage) + 1 : 0;
	const uint32_t frame = fate_frame_bytes(&fate->frame, order->snap);
	const size_t bytes =
	        RTE_ALIGN_CEIL(sizeof(struct kept) + cloud + stage + frame, (size_t)ALIGN);
	struct kept *kept;
	uint8_t *at;

	if (!array_fits(&order->bytes, &order->room, order->used + bytes, 1) ||
	    !array_fits(&order->keys, &order->keys_room, order->n + 1, sizeof(*order->keys)))
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

#define ROOM_FIRST  1024u
#define PATIENCE_NS SIMTIME_S
/* What a packet's flags say of its name; others may come on the way. */
#define NAME_FLAGS (PACKET_COPY | PACKET_GENERATED)

/* A fate that waits. Fates are numbered from 1; those of one hash are chained, the latest first. */
struct waiting {
	struct fate fate;
	uint64_t before; /* number of the one before in the chain; it may have been passed on */
	bool settled;
};

struct departures {
	struct witness witness; /* first */
	struct witness *to;
	uint64_t first, end;                /* numbers of those that wait: first <= number < end */
	uint32_t room;                      /* a power of two */
	struct waiting *waiting;            /* fate `number` is at number % room */
	uint64_t *chains;                   /* the latest number of each hash % room */
	simtime due_ns[SCENARIO_PORTS_MAX]; /* of what has left there, the greatest */
	struct names names;                 /* of clouds, each its place in `name` */
	char **name;                        /* owned */
	uint64_t missed;
};

static struct waiting *waiting_at(const struct departures *d, uint64_t number)
{
	return &d->waiting[number & (d->room - 1)];
}

static uint64_t *chain_of(const struct departures *d, const struct fate *fate)
{
	uint64_t hash = fate->packet * UINT64_C(0x9e3779b97f4a7c15) + fate->port;

	return &d->chains[(hash ^ hash >> 32) & (d->room - 1)];
}

/* Returns the name as it is kept here, or NULL if there is no memory. */
static const char *name_of(struct departures *d, const char *cloud)
{
	const uint32_t found = names_find(&d->names, cloud), n = d->names.n;
	char **more;

	if (found != NAMES_NONE)
		return d->name[found];
	more = realloc(d->name, (n + 1) * sizeof(*more));
	if (!more)
		return NULL;
	d->name = more;
	d->name[n] = strdup(cloud);
	if (d->name[n] && names_add(&d->names, d->name[n], n))
		return d->name[n];
	free(d->name[n]);
	return NULL;
}

static void pass_first(struct departures *d)
{
	d->to->tell(d->to, &waiting_at(d, d->first)->fate);
	d->first++;
}

static void chain(struct departures *d, uint64_t number)
{
	struct waiting *waiting = waiting_at(d, number);
	uint64_t *latest = chain_of(d, &waiting->fate);

	waiting->before = *latest;
	*latest = number;
}

/* Doubles the room. Returns false if there is no memory. */
static bool grow(struct departures *d)
{
	struct departures more = {.room = d->room ? 2 * d->room : ROOM_FIRST};

	more.waiting = malloc(more.room * sizeof(*more.waiting));
	more.chains = calloc(more.room, sizeof(*more.chains));
	if (!more.waiting || !more.chains) {
		free(more.waiting);
		free(more.chains);
		return false;
	}
	for (uint64_t number = d->first; number < d->end; number++) {
		*waiting_at(&more, number) = *waiting_at(d, number);
		chain(&more, number);
	}
	free(d->waiting);
	free(d->chains);
	d->room = more.room;
	d->waiting = more.waiting;
	d->chains = more.chains;
	return true;
}

static void wait_for(struct departures *d, const struct fate *fate, bool settled)
{
	const char *cloud = name_of(d, fate->cloud);
	struct waiting *waiting;

	if (!cloud) {
		d->missed++;
		return;
	}
	if (d->end - d->first == d->room && (d->room >= DEPARTURES_MOST || !grow(d)))
		pass_first(d);
	waiting = waiting_at(d, d->end);
	*waiting = (struct waiting){.fate = *fate, .settled = settled};
	waiting->fate.cloud = cloud;
	chain(d, d->end++);
}

static simtime distance(simtime a, simtime b)
{
	return a > b ? a - b : b - a;
}

static bool is_of(const struct fate *delivery, const struct fate *fate)
{
	return delivery->packet == fate->packet && delivery->port == fate->port &&
	       delivery->to_port == fate->to_port &&
	       ((delivery->flags ^ fate->flags) & NAME_FLAGS) == 0;
}

/* Returns the delivery of a packet that was to leave at t_in_ns of `fate`; NULL: it is not here. */
static struct waiting *delivery_of(struct departures *d, const struct fate *fate)
{
	struct waiting *closest = NULL, *waiting;

	for (uint64_t number = *chain_of(d, fate); number >= d->first; number = waiting->before) {
		waiting = waiting_at(d, number);
		if (waiting->settled || !is_of(&waiting->fate, fate))
			continue;
		if (!closest || distance(waiting->fate.t_out_ns, fate->t_in_ns) <
		                        distance(closest->fate.t_out_ns, fate->t_in_ns))
			closest = waiting;
	}
	return closest;
}

static void settle(struct departures *d, const struct fate *fate)
{
	struct waiting *waiting = delivery_of(d, fate);

	if (!waiting)
		return;
	waiting->settled = true;
	waiting->fate.sent = fate->kind == FATE_SENT;
	if (waiting->fate.sent && fate->at_ns > fate->t_in_ns)
		waiting->fate.late_ns = fate->at_ns - fate->t_in_ns;
}

static bool is_settled(const struct departures *d, const struct waiting *waiting)
{
	return waiting->settled || waiting->fate.t_out_ns + PATIENCE_NS <
	                                   d->due_ns[waiting->fate.to_port % SCENARIO_PORTS_MAX];
}

static void tell(struct witness *witness, const struct fate *fate)
{
	struct departures *d = (struct departures *)witness;
	simtime *latest = &d->due_ns[fate->to_port % SCENARIO_PORTS_MAX];

	if (fate->kind == FATE_DELIVERED) {
		wait_for(d, fate, false);
	} else if (fate->kind == FATE_SENT) {
		*latest = simtime_max(*latest, fate->t_in_ns);
		settle(d, fate);
	} else if (fate->kind == FATE_DROPPED && fate->reason == REASON_TX_FULL) {
		settle(d, fate);
	} else if (fate->kind == FATE_DROPPED) {
		wait_for(d, fate, true);
	}
	while (d->first < d->end && is_settled(d, waiting_at(d, d->first)))
		pass_first(d);
}

struct departures *departures_make(struct witness *to)
{
	struct departures *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->witness.tell = tell;
	d->to = to;
	d->first = d->end = 1;
	if (grow(d))
		return d;
	free(d);
	return NULL;
}

struct witness *departures_witness(struct departures *departures)
{
	return &departures->witness;
}

void departures_end(struct departures *departures)
{
	while (departures->first < departures->end)
		pass_first(departures);
}

uint64_t departures_missed(const struct departures *departures)
{
	return departures->missed;
}

void departures_free(struct departures *departures)
{
	if (!departures)
		return;
	for (uint32_t i = 0; i < departures->names.n; i++)
		free(departures->name[i]);
	free(departures->name);
	names_clear(&departures->names);
	free(departures->waiting);
	free(departures->chains);
	free(departures);
}
