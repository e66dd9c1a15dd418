/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "change/change.h"
#include "lab/arrivals.h"
#include "packet/burst.h"

/* Few, so that they are still in the processor's cache when they are used again. */
#define MBUFS_FIRST  1024u
#define MBUFS_GROW   1024u
#define MBUFS_MOST   (1u << 19)
#define MBUFS_SPARE  64u  /* for what clouds generate */
#define MBUFS_LOOK   256u /* frames of hosts between two checks of MBUFS_SPARE */
#define MEMORY_BYTES (UINT64_C(256) << 20)
#define HOSTS_MOST   (1u << 20)
/* The interval at which a drain looks whether anything is in flight. */
#define DRAIN_LOOK_NS (10 * SIMTIME_MS)
/* The address of the first host; the others follow. */
#define ADDRESS_FIRST UINT32_C(0x0a000001)

struct world_left {
	struct rte_mbuf *mbuf;
	simtime due_ns;
	uint32_t port;
};

/* Moves what lies in the outlet behind what has left before; the engine's call goes on. Provides
 * mbufs, too, of which large frames may hold all. */
static void make_room(void *argument, uint32_t port)
{
	struct world *world = argument;
	struct outlet *outlet = engine_outlet(world->engine, port);
	const uint32_t n = world->n_left + outlet->n;

	if (n > world->left_room) {
		struct world_left *left = realloc(world->left, 2 * n * sizeof(*left));

		if (!left) {
			world->error = -ENOMEM;
			rte_pktmbuf_free_bulk(outlet->mbufs, outlet->n);
			outlet_clear(outlet);
			return;
		}
		world->left = left;
		world->left_room = 2 * n;
	}
	for (uint32_t i = 0; i < outlet->n; i++)
		world->left[world->n_left++] =
		        (struct world_left){outlet->mbufs[i], outlet->due_ns[i], port};
	outlet_clear(outlet);
	if (rte_mempool_avail_count(world->pool) < MBUFS_SPARE &&
	    world->platform->pool_grow(world->pool, MBUFS_GROW) == 0)
		world->error = -ENOMEM;
}

int world_open(struct world *world, const struct platform *platform, const char *name,
               struct scenario *scenario, uint64_t seed, struct problem *problem)
{
	struct engine_setup setup = {
	        .statements = platform->statements,
	        .memory_bytes = MEMORY_BYTES,
	        .seed = seed,
	        .filters = platform->filters,
	        .make_room = make_room,
	        .room_argument = world,
	};

	world->platform = platform;
	world->scenario = scenario;
	heap_init(&world->heap);
	world->pool = platform->pool_make(name, MBUFS_FIRST, MBUFS_MOST);
	world->memory = platform->memory_make(MEMORY_BYTES);
	if (!world->pool || !world->memory) {
		problem_set(problem, -1, "no memory for the packets of a run");
		return -ENOMEM;
	}
	setup.pool = world->pool;
	setup.memory = world->memory;
	world->engine = engine_make(&setup);
	if (!world->engine) {
		problem_set(problem, -1, "no memory for an engine");
		return -ENOMEM;
	}
	return change_at_once(world->engine, scenario, NULL, 0, problem);
}

void world_close(struct world *world)
{
	network_release(&world->network);
	engine_free(world->engine);
	for (uint32_t i = 0; i < world->n_left; i++)
		rte_pktmbuf_free(world->left[i].mbuf);
	free(world->left);
	rte_pktmbuf_free_bulk(world->spare, world->n_spare);
	if (world->pool)
		world->platform->pool_free(world->pool);
	if (world->memory)
		world->platform->memory_free(world->memory, MEMORY_BYTES);
	scenario_free(world->scenario);
	heap_release(&world->heap);
}

/* ---- mbufs ---- */

static void mbuf_give_back(struct world *world, struct rte_mbuf *mbuf)
{
	if (unlikely(mbuf->nb_segs > 1 || world->n_spare == WORLD_SPARES)) {
		rte_pktmbuf_free(mbuf);
		return;
	}
	mbuf = rte_pktmbuf_prefree_seg(mbuf);
	if (likely(mbuf != NULL))
		world->spare[world->n_spare++] = mbuf;
}

static struct rte_mbuf *mbuf_take(struct world *world)
{
	struct rte_mbuf *mbuf;

	if (unlikely(world->counters.frames % MBUFS_LOOK == 0) &&
	    rte_mempool_avail_count(world->pool) < MBUFS_SPARE + MBUFS_LOOK)
		world->platform->pool_grow(world->pool, MBUFS_GROW);
	if (likely(world->n_spare > 0)) {
		mbuf = world->spare[--world->n_spare];
		rte_pktmbuf_reset(mbuf);
		return mbuf;
	}
	mbuf = rte_pktmbuf_alloc(world->pool);
	if (unlikely(!mbuf) && world->platform->pool_grow(world->pool, MBUFS_GROW) > 0)
		mbuf = rte_pktmbuf_alloc(world->pool);
	if (unlikely(!mbuf))
		world->error = -ENOMEM;
	return mbuf;
}

/* ---- forwarding ---- */

/* Returns when a packet enters: if arrivals are first, ahead of a departure of the link at this
 * instant that is not executed yet. */
static simtime enters_at(const struct world *world, uint32_t port, simtime now)
{
	if (world->arrivals_first && world->advanced_ns < now &&
	    engine_departure(world->engine, port) == now)
		return now - 1;
	return now;
}

static void enter_cloud(struct world *world, uint32_t port, struct rte_mbuf *mbuf, simtime now)
{
	struct burst burst;

	if (unlikely(world->tap != NULL))
		world->tap(world->tap_argument, port, mbuf, now);
	burst_one(&burst, mbuf, port, enters_at(world, port, now), ++world->numbered[port],
	          frame_wire_bytes(mbuf), 0);
	engine_ingress(world->engine, &burst);
	world->touched = true;
}

static void at_switch(struct world *world, uint32_t here, struct rte_mbuf *mbuf, simtime now)
{
	uint32_t index = frame_to(mbuf) - ADDRESS_FIRST;
	struct host *host = index < world->network.n_hosts ? world->network.hosts[index] : NULL;
	uint32_t port;

	if (unlikely(!host)) {
		world->counters.strangers++;
		rte_pktmbuf_free(mbuf);
		return;
	}
	if (host->at == here) {
		frame_prefetch(mbuf);
		if (unlikely(!pipe_push(&host->down, mbuf, frame_wire_bytes(mbuf), now)))
			world->error = -ENOMEM;
		return;
	}
	port = world->network.way[here][host->at];
	if (unlikely(port == NETWORK_NO_WAY)) {
		world->counters.strangers++;
		rte_pktmbuf_free(mbuf);
		return;
	}
	enter_cloud(world, port, mbuf, now);
}

static void from_host(void *argument, struct rte_mbuf *mbuf, simtime now)
{
	struct host *host = argument;

	at_switch(host->world, host->at, mbuf, now);
}

/* Returns the port that a frame is for. A quench is for the sender of the packet that it quotes. */
static uint16_t port_of(const struct frame *frame)
{
	switch (frame->kind) {
	case FRAME_SEGMENT:
		return frame->segment.to.port;
	case FRAME_DATAGRAM:
		return frame->datagram.to.port;
	case FRAME_QUENCH:
		return frame->quench.from.port;
	case FRAME_OTHER:
	case FRAME_BROKEN:
		break;
	}
	return 0;
}

static void to_host(void *argument, struct rte_mbuf *mbuf, simtime now)
{
	struct host *host = argument;
	struct world *world = host->world;
	struct listener *listener = NULL;
	struct frame frame;
	uint32_t index;

	frame_read(mbuf, &frame);
	mbuf_give_back(world, mbuf);
	if (unlikely(frame.kind == FRAME_BROKEN)) {
		world->counters.broken++;
		return;
	}
	index = (uint32_t)port_of(&frame) - host->first_port;
	if (index < host->n_listeners)
		listener = &host->listeners[index];
	if (unlikely(!listener || !listener->receive)) {
		world->counters.strangers++;
		return;
	}
	listener->receive(listener->argument, &frame, now);
}

static void forward(struct world *world, const struct world_left *left)
{
	if (unlikely(world->tap != NULL))
		world->tap(world->tap_argument, left->port, left->mbuf, left->due_ns);
	at_switch(world, network_port_switch(&world->network, left->port), left->mbuf,
	          world->now_ns);
}

/* Forwards the packets that have left the clouds. Returns true if an outlet was full, so that more
 * may be due. */
static bool collect(struct world *world)
{
	bool full = world->n_left > 0;

	/* More may come meanwhile. */
	for (uint32_t i = 0; i < world->n_left; i++) {
		const struct world_left left = world->left[i];

		forward(world, &left);
	}
	world->n_left = 0;
	for (uint32_t port = 0; port < 2 * world->network.n_links; port++) {
		struct outlet *outlet = engine_outlet(world->engine, port);
		uint32_t n = outlet->n;

		full |= n == OUTLET_ROOM;
		outlet_clear(outlet);
		for (uint32_t i = 0; i < n; i++)
			forward(world,
			        &(struct world_left){outlet->mbufs[i], outlet->due_ns[i], port});
	}
	return full;
}

/* If due packets cannot leave for want of an mbuf, because large frames hold them all, grows the
 * pool. */
static void provide(struct world *world, simtime now)
{
	if (engine_next(world->engine) > now || rte_mempool_avail_count(world->pool) >= MBUFS_SPARE)
		return;
	if (world->platform->pool_grow(world->pool, MBUFS_GROW) == 0)
		world->error = -ENOMEM;
}

/* Returns the instant of the engine's next event. Packets that left during an ingress are in their
 * outlet already, and due now. */
static simtime next_of_engine(const struct world *world)
{
	return engine_has_left(world->engine) ? world->now_ns : engine_next(world->engine);
}

int world_run(struct world *world, simtime until_ns)
{
	simtime engine_ns = next_of_engine(world);

	world->touched = false;
	while (!world->error) {
		simtime timer_ns = heap_next(&world->heap);

		if (world->touched) {
			engine_ns = next_of_engine(world);
			world->touched = false;
		}
		if (simtime_min(timer_ns, engine_ns) > until_ns)
			break;
		if (engine_ns < timer_ns || (engine_ns == timer_ns && !world->arrivals_first)) {
			/* A router's answer to a packet that came a nanosecond earlier is as
			 * early. */
			world->now_ns = simtime_max(world->now_ns, engine_ns);
			world->advanced_ns = engine_ns;
			world->touched = true;
			if (engine_advance(world->engine, engine_ns) == 0)
				provide(world, engine_ns);
			else
				while (collect(world) && engine_advance(world->engine, engine_ns))
					;
		} else {
			world->now_ns = timer_ns;
			heap_fire(&world->heap);
		}
	}
	world->now_ns = simtime_max(world->now_ns, until_ns);
	return world->error;
}

static bool is_in_flight(const struct world *world)
{
	bool found = engine_has_left(world->engine) || engine_held_packets(world->engine) > 0;

	for (uint32_t i = 0; i < world->network.n_hosts && !found; i++)
		found = world->network.hosts[i]->up.n > 0 || world->network.hosts[i]->down.n > 0;
	return found;
}

int world_drain(struct world *world, simtime most_ns)
{
	simtime end_ns = world->now_ns + most_ns;

	world->silent = true;
	while (!world->error && world->now_ns < end_ns && is_in_flight(world))
		world_run(world, world->now_ns + DRAIN_LOOK_NS);
	return world->error;
}

/* ---- hosts ---- */

struct host *world_host(struct world *world, uint32_t at, uint64_t access_bps, simtime delay_ns)
{
	struct network *network = &world->network;
	struct host *host;

	if (network->n_hosts == network->hosts_room) {
		uint32_t room = network->hosts_room ? 2 * network->hosts_room : 64;
		struct host **hosts = realloc(network->hosts, room * sizeof(struct host *));

		if (!hosts || room > HOSTS_MOST)
			return NULL;
		network->hosts = hosts;
		network->hosts_room = room;
	}
	host = calloc(1, sizeof(*host));
	if (!host)
		return NULL;
	host->world = world;
	host->address = ADDRESS_FIRST + network->n_hosts;
	host->at = at;
	host->first_port = HOST_FIRST_PORT;
	if (pipe_init(&host->up, &world->heap, access_bps, delay_ns, from_host, host) < 0 ||
	    pipe_init(&host->down, &world->heap, access_bps, delay_ns, to_host, host) < 0) {
		pipe_release(&host->up);
		pipe_release(&host->down);
		free(host);
		return NULL;
	}
	network->hosts[network->n_hosts++] = host;
	return host;
}

uint16_t host_listen(struct host *host,
                     void (*receive)(void *argument, const struct frame *frame, simtime now),
                     void *argument)
{
	struct listener *listener;

	if (host->n_listeners == host->listeners_room) {
		uint32_t room = host->listeners_room ? 2 * host->listeners_room : 4;
		struct listener *listeners = realloc(host->listeners, room * sizeof(*listeners));

		if (!listeners)
			return 0;
		host->listeners = listeners;
		host->listeners_room = room;
	}
	if (host->first_port + host->n_listeners > UINT16_MAX)
		return 0;
	listener = &host->listeners[host->n_listeners];
	listener->port = (uint16_t)(host->first_port + host->n_listeners++);
	listener->receive = receive;
	listener->argument = argument;
	return listener->port;
}

void host_hang_up(struct host *host, uint16_t port)
{
	host->listeners[port - host->first_port].receive = NULL;
}

static void host_send(struct host *host, struct rte_mbuf *mbuf)
{
	struct world *world = host->world;

	world->counters.frames++;
	if (unlikely(!pipe_push(&host->up, mbuf, frame_wire_bytes(mbuf), world->now_ns)))
		world->error = -ENOMEM;
}

void host_send_segment(struct host *host, const struct segment *segment)
{
	struct rte_mbuf *mbuf = host->world->silent ? NULL : mbuf_take(host->world);

	if (!mbuf)
		return;
	frame_write_segment(mbuf, segment, arrivals_number(host));
	host_send(host, mbuf);
}

void host_send_datagram(struct host *host, const struct datagram *datagram)
{
	struct rte_mbuf *mbuf = host->world->silent ? NULL : mbuf_take(host->world);

	if (!mbuf)
		return;
	frame_write_datagram(mbuf, datagram, arrivals_number(host));
	host_send(host, mbuf);
}
