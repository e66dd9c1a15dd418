/* SPDX-License-Identifier: BSD-3-Clause */
#include "fates/departures.h"

#include <stdlib.h>
#include <string.h>

#include "packet/packet.h"
#include "scenario/names.h"
#include "scenario/scenario.h"

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
