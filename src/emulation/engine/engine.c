/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/engine.h"

#include <errno.h>
#include <stdlib.h>

#include "account/observed.h"
#include "engine/engine_state.h"
#include "engine/classifier.h"
#include "engine/cloud_tell.h"
#include "engine/timeline.h"
#include "holding/wheel_burst.h"
#include "link/aqm.h"
#include "link/classes.h"

#define CLOUDS_SETTLED  64 /* per poll */
#define CLOUDS_FOLLOWED 64 /* likewise */

struct engine *engine_make(const struct engine_setup *setup)
{
	uint32_t room =
	        rte_pktmbuf_data_room_size(setup->pool) - RTE_PKTMBUF_HEADROOM - COPY_BLOCK_BYTES;
	struct engine *engine;

	/* The offset of a frame in an mbuf depends on this size (hold_room). */
	if (rte_pktmbuf_priv_size(setup->pool) != PACKET_PRIVATE_BYTES) {
		errno = EINVAL;
		return NULL;
	}
	engine = aligned_alloc(64, RTE_ALIGN_CEIL(sizeof(*engine), 64u));
	if (!engine)
		return NULL;
	memset(engine, 0, sizeof(*engine));
	engine->setup = *setup;
	engine->tells = setup->witness && setup->witness->way;
	engine->holder.pool = setup->pool;
	engine->holder.lacked_ns = setup->lacked_ns;
	engine->holder.kept_max = setup->kept_mbufs_max ? setup->kept_mbufs_max : UINT32_MAX;
	engine->holder.copy_bytes_max =
	        setup->copy_bytes_max ? setup->copy_bytes_max : HOLD_COPY_BYTES_DEFAULT;
	/* A copy must fit into a chunk, and into an mbuf of the pool when it leaves. */
	engine->holder.copy_bytes_max = RTE_MIN(engine->holder.copy_bytes_max, LOG_STORED_MAX);
	engine->holder.copy_bytes_max = RTE_MIN(engine->holder.copy_bytes_max, room);
	arena_init(&engine->holder.arena, setup->memory,
	           RTE_MIN(setup->memory_bytes, WHEEL_MEMORY_MAX));
	engine->holder.arena.live = setup->live;
	engine->cloud_table = calloc(1, sizeof(*engine->cloud_table));
	engine->scenario = scenario_make();
	if (!engine->cloud_table || !engine->scenario) {
		engine_free(engine);
		errno = ENOMEM;
		return NULL;
	}
	return engine;
}

/* Drops the packets on the shared wheel. The clouds that they belong to are freed next. */
static void shared_clear(struct engine *engine)
{
	wheel_burst_drop(engine->events.wheel, &engine->holder);
	wheel_free(engine->events.wheel);
	timers_free(&engine->events.timers);
}

void owed_free(struct engine *engine, bool all)
{
	struct template_change **place = &engine->owed, *change;

	while ((change = *place)) {
		if (!all && !__atomic_load_n(&change->done, __ATOMIC_ACQUIRE)) {
			place = &change->next_owed;
			continue;
		}
		*place = change->next_owed;
		template_change_free(change);
	}
}

void cloud_table_free(struct cloud_table *cloud_table)
{
	struct classifier *next;

	if (!cloud_table)
		return;
	for (struct classifier *classifier = cloud_table->classifiers; classifier;
	     classifier = next) {
		next = classifier->next;
		classifier_free(classifier);
	}
	names_clear(&cloud_table->index);
	free(cloud_table->slots);
	free(cloud_table);
}

void engine_cloud_free(struct cloud *cloud)
{
	if (cloud && cloud->of)
		template_free(cloud->of);
	else
		cloud_free(cloud);
}

/* Returns NULL for the clouds of a template: they are freed with their head, which comes last. */
static struct cloud *slot_seen(struct cloud *cloud)
{
	return cloud && cloud->of && cloud->of->head != cloud ? NULL : cloud;
}

void engine_free(struct engine *engine)
{
	if (!engine)
		return;
	for (uint32_t i = 0; i < SCENARIO_PORTS_MAX; i++) {
		struct outlet *outlet = &engine->ports[i].outlet;

		rte_pktmbuf_free_bulk(outlet->mbufs, outlet->n);
	}
	if (engine->cloud_table) {
		shared_clear(engine);
		for (uint32_t i = 0, behind; i < engine->cloud_table->n_slots; i = behind) {
			behind = cloud_table_behind(engine->cloud_table, i);
			engine_cloud_free(slot_seen(engine->cloud_table->slots[i]));
		}
		cloud_table_free(engine->cloud_table);
	}
	owed_free(engine, true);
	hold_give_back(&engine->holder, 0);
	scenario_free(engine->scenario);
	free(engine);
}

/* ---- clouds with a line of their own ---- */

/* Lets packets leave one by one, and reports each. */
static __attribute__((noinline)) uint64_t line_pop_told(struct engine *engine, struct cloud *cloud,
                                                        simtime now, struct outlet *outlet)
{
	uint64_t bytes = 0;
	struct held head;

	while (outlet->n < OUTLET_ROOM && line_front(&cloud->line, now, &head)) {
		const uint32_t at = outlet->n;

		bytes += line_pop(&cloud->line, &engine->holder, now, outlet, 1);
		if (unlikely(outlet->n == at))
			break;
		cloud_tell_left(cloud, outlet->mbufs[at], &head, head.t_ns);
		outlet_name(outlet);
	}
	return bytes;
}

/* Runs the link of a direct cloud, then lets leave what is due on the line. Returns how many
 * left. */
static uint32_t own_line_advance(struct engine *engine, struct cloud *cloud, simtime now)
{
	struct outlet *outlet = &engine->ports[cloud->exit->port].outlet;
	const uint32_t before = outlet->n;
	uint32_t n;

	if (!cloud->events && cloud_next(cloud) <= now)
		cloud_advance_link(cloud, now);
	if (!line_is_due(&cloud->line, now))
		return 0;
	if (cloud_tells(cloud, FATE_LEFT))
		cloud->counters.tx_bytes += line_pop_told(engine, cloud, now, outlet);
	else
		cloud->counters.tx_bytes +=
		        line_pop(&cloud->line, &engine->holder, now, outlet, OUTLET_ROOM);
	n = outlet->n - before;
	engine->ports[cloud->exit->port].sent += n;
	cloud->counters.tx_packets += n;
	return n;
}

void engine_advance_own(struct engine *engine, struct cloud *cloud, simtime now)
{
	struct held head;

	do {
		engine_room(engine, cloud->exit->port);
		engine->left += own_line_advance(engine, cloud, now);
	} while (line_front(&cloud->line, now, &head) && hold_provide(&engine->holder) > 0);
}

void engine_settle(struct engine *engine, simtime now)
{
	const struct cloud_table *cloud_table = engine->cloud_table;
	simtime next;

	for (uint32_t i = 0; i < cloud_table->n_own; i++)
		engine_advance_own(engine, cloud_table->own[i], now);
	next = engine_next(engine);
	if (next <= now)
		hold_lacked(&engine->holder, next);
}

/* A few clouds at a time: 65,536 clouds take a thousand polls to make a change, and nothing waits
 * for that. */
static void settle_some(struct engine *engine)
{
	struct template *template = engine->unsettled;

	if (template_settle_some(template, CLOUDS_SETTLED))
		return;
	engine->unsettled = template->next_unsettled;
	template->unsettled = false;
}

/* ---- witnesses ---- */

static struct witness *ask_about(const struct engine_follower *follower, const struct cloud *cloud)
{
	const struct engine_followed followed = {
	        .name = cloud->of ? cloud->of->name : cloud->name,
	        .from_port = cloud->from_port,
	        .to_port = cloud->exit->port,
	};

	return follower->choose(follower->argument, &followed);
}

/* Sets the witnesses of a few clouds at a time, so that no packet waits for many clouds. */
static void follow_some(struct engine *engine)
{
	const struct cloud_table *cloud_table = engine->cloud_table;
	const struct engine_follower *follower = &engine->follower;
	const uint32_t end = RTE_MIN(engine->followed + CLOUDS_FOLLOWED, cloud_table->n_slots);

	for (; engine->followed < end;
	     engine->followed = cloud_table_behind(cloud_table, engine->followed)) {
		struct cloud *cloud = cloud_table->slots[engine->followed];
		struct witness *witness;

		if (!cloud)
			continue;
		witness = follower->choose ? ask_about(follower, cloud) : engine->setup.witness;
		engine->found |= witness && witness->way;
		cloud->witness = witness;
	}
	engine->following = engine->followed < cloud_table->n_slots;
	engine->chores = engine->following || engine->unsettled;
	if (!engine->following)
		engine->tells = engine->found;
}

void engine_follow(struct engine *engine, const struct engine_follower *follower)
{
	engine->follower = *follower;
	engine->following = true;
	engine_follow_again(engine);
}

bool engine_follows_more(const struct engine *engine)
{
	return engine->following;
}

void engine_follow_again(struct engine *engine)
{
	if (!engine->follower.choose && !engine->following)
		return;
	engine->followed = 0;
	engine->found = false;
	engine->tells = true;
	follow_some(engine);
}

static __attribute__((noinline)) void do_chores(struct engine *engine)
{
	if (engine->unsettled)
		settle_some(engine);
	if (engine->following)
		follow_some(engine);
	engine->chores = engine->following || engine->unsettled;
}

uint32_t engine_advance(struct engine *engine, simtime now)
{
	const struct cloud_table *cloud_table = engine->cloud_table;
	uint32_t left;

	if (engine->events.wheel)
		engine_advance_shared(engine, now);
	for (uint32_t i = 0; i < cloud_table->n_own; i++) {
		struct cloud *cloud = cloud_table->own[i];

		if (likely(!engine->ports[cloud->exit->port].stalled))
			engine->left += own_line_advance(engine, cloud, now);
	}
	if (unlikely(engine->chores))
		do_chores(engine);
	left = engine->left;
	engine->left = 0;
	return left;
}

void engine_stall(struct engine *engine, uint32_t port, bool stalled)
{
	engine->ports[port].stalled = stalled;
}

bool engine_has_left(const struct engine *engine)
{
	return engine->left > 0;
}

simtime engine_next(const struct engine *engine)
{
	const struct cloud_table *cloud_table = engine->cloud_table;
	simtime next = SIMTIME_NEVER;

	for (uint32_t i = 0; i < cloud_table->n_own; i++) {
		next = simtime_min(next, cloud_next(cloud_table->own[i]));
		next = simtime_min(next, line_next(&cloud_table->own[i]->line));
	}
	if (engine->events.wheel)
		next = simtime_min(next, wheel_next(engine->events.wheel));
	return simtime_min(next, timers_next(&engine->events.timers));
}

/* ---- ingress ---- */

static void no_cloud(struct engine_port *port, struct rte_mbuf **mbufs, uint16_t n)
{
	port->no_cloud += n;
	rte_pktmbuf_free_bulk(mbufs, n);
}

static void arrive(struct engine *engine, struct cloud *cloud, struct burst *burst)
{
	if (cloud->events)
		engine_shared_arrive(engine, cloud, burst);
	else
		cloud_arrive(cloud, burst);
}

/* Returns which packets of `todo`, one bit each, belong to the same cloud as the first one and may
 * arrive with it: if the cloud is direct all of them, since no other cloud is involved, else those
 * up to the first packet of another cloud. */
static uint32_t of_one_cloud(struct cloud *const *clouds, uint32_t todo)
{
	const struct cloud *cloud = clouds[__builtin_ctz(todo)];
	const bool shared = cloud && cloud->events;
	uint32_t found = 0;

	for (uint32_t rest = todo; rest; rest &= rest - 1) {
		if (clouds[__builtin_ctz(rest)] == cloud)
			found |= rest & -rest;
		else if (shared)
			break;
	}
	return found;
}

static void classified_ingress(struct engine *engine, struct burst *burst)
{
	const uint32_t port = burst->port;
	const struct classifier *classifier = engine->cloud_table->classified[port];
	const uint32_t all = burst->n == 32 ? UINT32_MAX : (1u << burst->n) - 1;
	struct cloud *clouds[BURST_MAX];

	if (!classifier) {
		no_cloud(&engine->ports[port], burst->mbuf, burst->n);
		return;
	}
	classifier_find(classifier, burst, clouds);
	for (uint32_t todo = all, now; todo; todo &= ~now) {
		struct cloud *cloud = clouds[__builtin_ctz(todo)];
		struct burst part, *arrives = burst;

		now = of_one_cloud(clouds, todo);
		if (unlikely(now != all)) {
			burst_pick(&part, burst, now);
			arrives = &part;
		}
		if (likely(cloud != NULL))
			arrive(engine, cloud, arrives);
		else
			no_cloud(&engine->ports[port], arrives->mbuf, arrives->n);
	}
}

void engine_ingress(struct engine *engine, struct burst *burst)
{
	struct cloud *cloud = engine->cloud_table->ingress[burst->port];

	if (unlikely(burst->n == 0))
		return;
	if (likely(cloud != NULL))
		arrive(engine, cloud, burst);
	else
		classified_ingress(engine, burst);
}

/* Lets a packet of weir's own enter the cloud, as if it had come in at the port. It has no number,
 * and its flags stay on it from cloud to cloud. Returns false if there is no mbuf. */
static bool insert(struct engine *engine, struct cloud *cloud, const uint8_t *frame, uint32_t bytes,
                   simtime now)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(engine->holder.pool);
	char *to = mbuf ? rte_pktmbuf_append(mbuf, (uint16_t)bytes) : NULL;
	struct burst burst;

	if (unlikely(!to)) {
		rte_pktmbuf_free(mbuf);
		return false;
	}
	memcpy(to, frame, bytes);
	burst_one(&burst, mbuf, cloud->from_port, now, 0, bytes, PACKET_GENERATED | PACKET_FOREIGN);
	arrive(engine, cloud, &burst);
	/* It counts as generated, and not as received. */
	cloud->counters.rx_packets--;
	cloud->counters.rx_bytes -= bytes;
	cloud->counters.generated++;
	cloud->counters.joined++;
	return true;
}

uint32_t engine_insert(struct engine *engine, const struct insertion *insertion, simtime now)
{
	uint32_t slot = names_find(&engine->cloud_table->index, insertion->cloud);
	struct cloud *cloud;

	if (slot == NAMES_NONE)
		return 0;
	cloud = engine->cloud_table->slots[slot];
	for (uint32_t i = 0; i < insertion->n; i++) {
		if (!insert(engine, cloud, insertion->frames + i * insertion->frame_bytes,
		            insertion->frame_bytes, now))
			cloud_generate_nothing(cloud, now, 0);
	}
	return insertion->n;
}

simtime engine_link_rate(struct engine *engine, const char *name, simtime now, uint64_t *rate_bps)
{
	uint32_t slot = names_find(&engine->cloud_table->index, name);
	struct cloud *cloud = slot == NAMES_NONE ? NULL : engine->cloud_table->slots[slot];

	*rate_bps = OBSERVED_NO_LIMIT;
	if (!cloud)
		return SIMTIME_NEVER;
	if (cloud->change <= now)
		timeline_keep_up(cloud, now);
	if (cloud->link.conf.stopped)
		*rate_bps = 0;
	else if (cloud->link.shaper.rate_bps)
		*rate_bps = cloud->link.shaper.rate_bps;
	return cloud->change;
}

struct outlet *engine_outlet(struct engine *engine, uint32_t port)
{
	return &engine->ports[port].outlet;
}

struct holder *engine_holder(struct engine *engine)
{
	return &engine->holder;
}

simtime engine_departure(const struct engine *engine, uint32_t port)
{
	const struct cloud *cloud = engine->cloud_table->ingress[port];

	return cloud ? cloud->link.departure : SIMTIME_NEVER;
}
