/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers on a fake clock. Packets come in through rte_rings that are ports (net_ring). They leave
 * through rings on which each packet carries the instant at which it was due. So the departures of
 * a worker can be compared with those of an engine that is driven like a replay.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>

#include "change/change.h"
#include "engine/engine.h"
#include "engine/engine_report.h"
#include "line/delay.h"
#include "link/rate.h"
#include "live/worker.h"
#include "holding/hold.h"
#include "loss/loss_random.h"
#include "eal/offline_eal.h"
#include "machine/pool.h"
#include "packet/burst.h"
#include "runner/group.h"
#include "scenario/port_setting.h"
#include "statements.h"

#define MBUFS   8191
#define MEMORY  (8u << 20)
#define FRAMES  3000
#define PORTS   2
#define STEP_NS UINT64_C(10000) /* the trace's instants are multiples of this */

struct departure {
	uint32_t frame;
	simtime due_ns;
};

struct departures {
	uint32_t n;
	struct departure list[2 * FRAMES];
};

static struct rte_mempool *pool;
static struct scenario *scenario;

static struct conf *conf_of(const struct statement *statement)
{
	struct conf *conf = conf_make(statement);

	assert_non_null(conf);
	return conf;
}

/* Two clouds: down is a lossy bottleneck, up has jitter and reorders. */
static struct scenario *scenario_two_clouds(void)
{
	struct scenario *made = scenario_make();
	struct loss_random_conf *loss = (struct loss_random_conf *)conf_of(&loss_random_statement);
	struct rate_conf *rate = (struct rate_conf *)conf_of(&rate_statement);
	struct delay_conf *down = (struct delay_conf *)conf_of(&delay_statement);
	struct delay_conf *up = (struct delay_conf *)conf_of(&delay_statement);

	made->seed = 7;
	assert_int_equal(scenario_add_port(made, "a", "ring", NULL), 0);
	assert_int_equal(scenario_add_port(made, "b", "ring", NULL), 0);
	assert_int_equal(scenario_add_cloud(made, "down", "a", "b"), 0);
	assert_int_equal(scenario_add_cloud(made, "up", "b", "a"), 0);
	loss->probability = PROBABILITY_ONE / 20;
	rate->rate_bps = 100000000;
	rate->queue = (struct limit){.value = 20, .unit = LIMIT_PACKETS};
	down->delay_ns = 3 * SIMTIME_MS;
	up->delay_ns = 2 * SIMTIME_MS;
	up->jitter_ns = SIMTIME_MS;
	up->order = ORDER_ALLOW;
	cloud_conf_put(made->clouds[0], &loss->conf);
	cloud_conf_put(made->clouds[0], &rate->conf);
	cloud_conf_put(made->clouds[0], &down->conf);
	cloud_conf_put(made->clouds[1], &up->conf);
	return made;
}

/* The trace: frame i arrives at port i % 2; one to forty frames at an instant. */
static simtime arrival_of(uint32_t frame)
{
	static simtime at[FRAMES];

	if (at[FRAMES - 1] == 0) {
		uint32_t random = 12345;

		for (uint32_t i = 1; i < FRAMES; i++) {
			random = random * 1664525 + 1013904223;
			at[i] = at[i - 1] + (random >> 24 < 40 ? (random >> 16 & 31) * STEP_NS : 0);
		}
	}
	return STEP_NS + at[frame];
}

static struct rte_mbuf *frame_make(uint32_t frame)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	uint16_t bytes = (uint16_t)(60 + frame * 37 % 1455);
	char *data;

	assert_non_null(mbuf);
	data = rte_pktmbuf_append(mbuf, bytes);
	memset(data, 0, bytes);
	memcpy(data, &frame, sizeof(frame));
	return mbuf;
}

static uint32_t frame_of(struct rte_mbuf *mbuf)
{
	uint32_t frame;

	memcpy(&frame, rte_pktmbuf_mtod(mbuf, void *), sizeof(frame));
	return frame;
}

static void depart(struct departures *departures, struct rte_mbuf *mbuf, simtime due_ns)
{
	departures->list[departures->n++] =
	        (struct departure){.frame = frame_of(mbuf), .due_ns = due_ns};
	rte_pktmbuf_free(mbuf);
}

struct bench {
	struct rte_ring *in[PORTS], *out[PORTS], *feed;
	struct port ports[PORTS];
	uint16_t ids[PORTS];
	void *memory;
	struct engine *engine;
	struct inlet inlets[PORTS];
	struct tx_queue tx_queues[PORTS];
	struct drain drains[PORTS];
	struct rte_ring *drain_from[PORTS];
	struct worker workers[3];
};

/* Makes room, by the worker that has the engine. */
static void make_room(void *argument, uint32_t port)
{
	struct bench *bench = argument;

	worker_make_room(&bench->workers[bench->workers[0].engine ? 0 : 1], port);
}

/* `bench`: its worker makes room; NULL: no outlet is ever full in the middle of a call. */
static struct engine *engine_start(void *memory, const struct scenario *with, struct bench *bench)
{
	const struct engine_setup setup = {
	        .statements = statements,
	        .pool = pool,
	        .memory = memory,
	        .memory_bytes = MEMORY,
	        .seed = with->seed,
	        .live = true,
	        .make_room = bench ? make_room : NULL,
	        .room_argument = bench,
	};
	struct engine *engine = engine_make(&setup);
	struct change *change;
	struct problem problem;

	assert_non_null(engine);
	assert_int_equal(change_prepare(engine, with, NULL, &change, &problem), 0);
	engine_apply(engine, change, 0);
	change_free(change);
	return engine;
}

/* ---- as in a replay ---- */

static void drain_outlets(struct engine *engine, struct departures departures[PORTS])
{
	for (uint32_t port = 0; port < PORTS; port++) {
		struct outlet *outlet = engine_outlet(engine, port);

		for (uint32_t i = 0; i < outlet->n; i++)
			depart(&departures[port], outlet->mbufs[i], outlet->due_ns[i]);
		outlet->n = 0;
	}
}

static void replay(struct departures departures[PORTS])
{
	void *memory = memory_make(MEMORY);
	struct engine *engine = engine_start(memory, scenario, NULL);
	uint64_t numbers[PORTS] = {0};

	memset(departures, 0, PORTS * sizeof(*departures));
	for (uint32_t i = 0; i < FRAMES; i++) {
		struct rte_mbuf *mbuf = frame_make(i);
		struct burst burst;

		while (engine_next(engine) < arrival_of(i)) {
			engine_advance(engine, engine_next(engine));
			drain_outlets(engine, departures);
		}
		burst_one(&burst, mbuf, i % PORTS, arrival_of(i), ++numbers[i % PORTS],
		          mbuf->pkt_len, 0);
		engine_ingress(engine, &burst);
	}
	while (engine_next(engine) != SIMTIME_NEVER) {
		engine_advance(engine, engine_next(engine));
		drain_outlets(engine, departures);
	}
	engine_free(engine);
	memory_free(memory, MEMORY);
}

/* ---- a worker driven by hand ---- */

static struct rte_ring *ring_make(const char *what, uint32_t index, uint32_t room)
{
	static unsigned serial;
	char name[RTE_RING_NAMESIZE];
	struct rte_ring *ring;

	snprintf(name, sizeof(name), "%s%u-%u", what, index, serial++);
	ring = rte_ring_create(name, room, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	assert_non_null(ring);
	return ring;
}

/* Makes a port that receives from one ring and sends to another. */
static void port_make(struct port *port, struct rte_ring *in, struct rte_ring *out)
{
	static unsigned serial;
	const struct rte_eth_conf conf = {0};
	char name[32];
	int id;

	snprintf(name, sizeof(name), "port%u", serial++);
	id = rte_eth_from_rings(name, &in, 1, &out, 1, 0);
	assert_true(id >= 0);
	memset(port, 0, sizeof(*port));
	port->id = (uint16_t)id;
	port->tx_queues = 1;
	assert_int_equal(rte_eth_dev_configure(port->id, 1, 1, &conf), 0);
	assert_int_equal(rte_eth_rx_queue_setup(port->id, 0, 64, 0, NULL, pool), 0);
	assert_int_equal(rte_eth_tx_queue_setup(port->id, 0, 64, 0, NULL), 0);
	assert_int_equal(rte_eth_dev_start(port->id), 0);
}

static struct bench *bench_make(const struct scenario *with)
{
	struct bench *bench = aligned_alloc(64, RTE_ALIGN_CEIL(sizeof(*bench), 64));

	memset(bench, 0, sizeof(*bench));
	bench->memory = memory_make(MEMORY);
	bench->engine = engine_start(bench->memory, with, bench);
	bench->feed = ring_make("feed", 0, 1024);
	for (uint32_t i = 0; i < PORTS; i++) {
		bench->in[i] = ring_make("in", i, 1024);
		bench->out[i] = ring_make("out", i, 4096);
		port_make(&bench->ports[i], bench->in[i], bench->out[i]);
		bench->inlets[i] =
		        (struct inlet){.port = &bench->ports[i], .index = i, .ring = bench->feed};
		bench->tx_queues[i].outlet = engine_outlet(bench->engine, i);
		bench->tx_queues[i].holder = engine_holder(bench->engine);
		bench->tx_queues[i].ring = bench->out[i];
	}
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(mailbox_make(&bench->workers[i].mailbox, i == 0   ? "mail0"
		                                                          : i == 1 ? "mail1"
		                                                                   : "mail2"),
		                 0);
	bench->workers[0] = (struct worker){
	        .role = WORKER_RUN_TO_COMPLETION,
	        .engine = bench->engine,
	        .inlets = bench->inlets,
	        .n_inlets = PORTS,
	        .tx_queues = bench->tx_queues,
	        .n_tx_queues = PORTS,
	        .mailbox = bench->workers[0].mailbox,
	};
	return bench;
}

static void bench_free(struct bench *bench)
{
	for (uint32_t i = 0; i < PORTS; i++) {
		tx_queue_drop(&bench->tx_queues[i]);
		tx_queue_drop(&bench->drains[i].tx_queue);
	}
	engine_free(bench->engine);
	for (uint32_t i = 0; i < PORTS; i++) {
		rte_eth_dev_stop(bench->ports[i].id);
		rte_eth_dev_close(bench->ports[i].id);
		rte_ring_free(bench->in[i]);
		rte_ring_free(bench->out[i]);
	}
	rte_ring_free(bench->feed);
	for (uint32_t i = 0; i < 3; i++)
		mailbox_free(&bench->workers[i].mailbox);
	memory_free(bench->memory, MEMORY);
	free(bench);
	assert_int_equal(pool_available(pool), MBUFS);
}

static void arrive(struct bench *bench, uint32_t *next, simtime now)
{
	for (; *next < FRAMES && arrival_of(*next) <= now; (*next)++)
		assert_int_equal(rte_ring_enqueue(bench->in[*next % PORTS], frame_make(*next)), 0);
}

static void collect(struct bench *bench, struct departures departures[PORTS])
{
	struct rte_mbuf *mbuf;

	for (uint32_t port = 0; port < PORTS; port++) {
		while (rte_ring_dequeue(bench->out[port], (void **)&mbuf) == 0)
			depart(&departures[port], mbuf, packet_of(mbuf)->t_ns);
	}
}

static void assert_same(const struct departures *a, const struct departures *b)
{
	for (uint32_t port = 0; port < PORTS; port++) {
		assert_int_equal(a[port].n, b[port].n);
		for (uint32_t i = 0; i < a[port].n; i++) {
			assert_int_equal(a[port].list[i].frame, b[port].list[i].frame);
			assert_int_equal(a[port].list[i].due_ns, b[port].list[i].due_ns);
		}
	}
}

#define END_NS (arrival_of(FRAMES - 1) + 40 * SIMTIME_MS)

/* ---- a device that stamps received frames ---- */

#define DEVICE_TICK_NS  4
#define DEVICE_AHEAD_NS 700 /* the most between a frame's stamp and its reception */

static bool device_stamp(const void *device, const struct rte_mbuf *mbuf, uint64_t *ticks)
{
	uint32_t frame;
	(void)device;

	memcpy(&frame, rte_pktmbuf_mtod(mbuf, const void *), sizeof(frame));
	*ticks = (arrival_of(frame) - DEVICE_AHEAD_NS) / DEVICE_TICK_NS;
	return true;
}

/* The device stores the instant behind the frame's number. */
static void device_launch(const void *device, struct rte_mbuf *mbuf, uint64_t ticks)
{
	(void)device;
	memcpy(rte_pktmbuf_mtod_offset(mbuf, void *, 8), &ticks, sizeof(ticks));
}

static const struct port_time_ops device_time = {.stamp = device_stamp, .launch = device_launch};

static struct scenario *scenario_stamped(simtime delay_ns, simtime launch_ns)
{
	struct scenario *made = scenario_make();
	struct port_setting_conf *setting =
	        (struct port_setting_conf *)conf_of(&port_setting_statement);

	setting->time = PORT_TIME_DEVICE;
	setting->launch_ns = launch_ns;
	assert_int_equal(scenario_add_port(made, "a", "ring", &setting->conf), 0);
	assert_int_equal(scenario_add_port(made, "b", "ring", &setting->conf), 0);
	conf_free(&setting->conf);
	assert_int_equal(scenario_add_cloud(made, "down", "a", "b"), 0);
	assert_int_equal(scenario_add_cloud(made, "up", "b", "a"), 0);
	for (uint32_t i = 0; i < 2; i++) {
		struct delay_conf *delay = (struct delay_conf *)conf_of(&delay_statement);

		delay->delay_ns = delay_ns;
		cloud_conf_put(made->clouds[i], &delay->conf);
	}
	return made;
}

static void time_start(struct port_time *time)
{
	const struct clock_sample first = {.tsc = 0, .raw_ns = 0};
	const struct clock_sample second = {.tsc = 1000000 / DEVICE_TICK_NS, .raw_ns = 1000000};

	assert_int_equal(port_time_start_from(time, &device_time, NULL, &first, &second), 0);
	/* From the first tick on, which no real device needs. */
	time->line.origin_raw_ns = 0;
	time->line.line[1] =
	        (struct clock_line){.mult = (uint64_t)DEVICE_TICK_NS << CLOCK_SHIFT, .base_tsc = 0};
}

static void run_stamped(struct worker *worker, struct bench *bench, bool pipeline, uint64_t step_ns,
                        struct departures departures[PORTS])
{
	static struct port_time times[PORTS]; /* the caller reads them */
	uint32_t next = 0;

	for (uint32_t i = 0; i < PORTS; i++) {
		time_start(&times[i]);
		bench->inlets[i].time = &times[i];
	}
	memset(departures, 0, PORTS * sizeof(*departures));
	for (simtime now = 0; now < END_NS; now += step_ns) {
		arrive(bench, &next, now);
		worker_poll(worker, now);
		if (pipeline)
			worker_poll(&bench->workers[1], now);
		collect(bench, departures);
	}
}

static void the_instants_of_a_device_count_whenever_a_worker_polls(void **state)
{
	static const uint64_t steps_ns[] = {500, 7777, 23000};
	static struct departures got[PORTS];
	struct scenario *with = scenario_stamped(SIMTIME_MS, 0);
	(void)state;

	for (size_t s = 0; s < 6; s++) {
		struct bench *bench = bench_make(with);
		bool pipeline = s >= 3;

		if (pipeline) {
			bench->workers[1] = (struct worker){
			        .role = WORKER_EMULATION,
			        .engine = bench->engine,
			        .tx_queues = bench->tx_queues,
			        .n_tx_queues = PORTS,
			        .feed = bench->feed,
			        .stamped_ns = &bench->workers[0].done_ns,
			        .mailbox = bench->workers[1].mailbox,
			};
			bench->workers[0].role = WORKER_RX;
		}
		run_stamped(&bench->workers[0], bench, pipeline, steps_ns[s % 3], got);
		for (uint32_t port = 0; port < PORTS; port++) {
			assert_int_equal(got[port].n, FRAMES / 2);
			for (uint32_t i = 0; i < got[port].n; i++)
				assert_int_equal(got[port].list[i].due_ns,
				                 arrival_of(got[port].list[i].frame) -
				                         DEVICE_AHEAD_NS + SIMTIME_MS);
			assert_int_equal(bench->inlets[port].time->stamped, FRAMES / 2);
		}
		bench_free(bench);
	}
	scenario_free(with);
}

static void without_a_delay_no_packet_leaves_before_the_poll_that_has_seen_it(void **state)
{
	static struct departures got[PORTS];
	struct scenario *with = scenario_stamped(200, 0);
	struct bench *bench = bench_make(with);
	(void)state;

	run_stamped(&bench->workers[0], bench, false, STEP_NS, got);
	for (uint32_t port = 0; port < PORTS; port++) {
		assert_int_equal(got[port].n, FRAMES / 2);
		for (uint32_t i = 0; i < got[port].n; i++)
			assert_int_equal(got[port].list[i].due_ns,
			                 arrival_of(got[port].list[i].frame));
	}
	bench_free(bench);
	scenario_free(with);
}

/* ---- the wire ---- */

static void fill(struct outlet *outlet, uint32_t n, uint16_t bytes)
{
	for (uint32_t i = 0; i < n; i++) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);

		assert_non_null(mbuf);
		assert_non_null(rte_pktmbuf_append(mbuf, bytes));
		outlet->mbufs[outlet->n] = mbuf;
		outlet->due_ns[outlet->n++] = 1000;
	}
}

static void empty(struct rte_ring *ring)
{
	struct rte_mbuf *mbuf;

	while (rte_ring_dequeue(ring, (void **)&mbuf) == 0)
		rte_pktmbuf_free(mbuf);
}

static void a_port_is_not_handed_a_frame_long_before_its_wire_can_be_free(void **state)
{
	static struct outlet outlet;
	struct bench *bench = bench_make(scenario);
	struct wire wire;
	struct tx_queue tx_queue = {.outlet = &outlet, .port = &bench->ports[0], .wire = &wire};
	(void)state;

	wire_init(&wire, UINT64_C(10000000000));
	fill(&outlet, 8, 1514);
	for (simtime now = 1000; now < 12000; now += 50) {
		uint32_t expected = 0;

		/* 1,514 bytes and 24: 1,230.4 ns each; sent up to a microsecond ahead. */
		while (expected < 8 && 10000 + expected * 12304 <= (now + WIRE_SLACK_NS) * 10)
			expected++;
		tx_queue_send(&tx_queue, NULL, now);
		assert_int_equal(tx_queue.tx_packets, expected);
		assert_int_equal(tx_queue_waiting(&tx_queue), 8 - expected);
	}
	assert_int_equal(tx_queue.tx_packets, 8);
	assert_int_equal(tx_queue.tx_bytes, 8 * 1514);
	assert_int_equal(tx_queue.tx_full, 0);
	empty(bench->out[0]);
	bench_free(bench);
}

static void a_worker_that_comes_round_seldom_does_not_let_the_wire_run_dry(void **state)
{
	static struct outlet outlet;
	struct bench *bench = bench_make(scenario);
	struct wire wire;
	struct tx_queue tx_queue = {.outlet = &outlet, .port = &bench->ports[0], .wire = &wire};
	(void)state;

	wire_init(&wire, UINT64_C(10000000000));
	for (simtime now = 5000; now <= 100000; now += 5000) {
		if (now > 10000)
			assert_true(wire.free_ps >= now * 1000);
		/* no more is handed over than a round lasts, and one frame, which takes 219 ns */
		assert_true(wire.free_ps <= (now + 250) * 1000);
		fill(&outlet, 40, 250);
		while (tx_queue.front.n > OUTLET_ROOM - 40)
			rte_pktmbuf_free(tx_queue.front.mbufs[--tx_queue.front.n]);
		tx_queue_send(&tx_queue, NULL, now);
		empty(bench->out[0]);
	}
	tx_queue_drop(&tx_queue);
	bench_free(bench);
}

/* One queue for the worker's own packets, one for those of another worker. */
static void two_tx_queues_of_a_worker_to_one_port_share_its_wire(void **state)
{
	static struct outlet outlets[2];
	struct bench *bench = bench_make(scenario);
	struct wire wire;
	struct tx_queue own = {.outlet = &outlets[0], .port = &bench->ports[0], .wire = &wire};
	struct tx_queue others = {.outlet = &outlets[1], .port = &bench->ports[0], .wire = &wire};
	(void)state;

	wire_init(&wire, UINT64_C(10000000000));
	fill(&outlets[0], 2, 1514);
	fill(&outlets[1], 2, 1514);
	tx_queue_send(&own, NULL, 1000);
	tx_queue_send(&others, NULL, 1000);
	/* The second frame begins 1,230.4 ns after the first, which is more than a microsecond
	 * ahead. */
	assert_int_equal(own.tx_packets, 1);
	assert_int_equal(others.tx_packets, 0);
	tx_queue_send(&own, NULL, 2000);
	tx_queue_send(&others, NULL, 2000);
	assert_int_equal(own.tx_packets, 2);
	assert_int_equal(others.tx_packets, 0);
	tx_queue_send(&others, NULL, 1000 + 4 * 1231);
	assert_int_equal(others.tx_packets, 2);
	empty(bench->out[0]);
	bench_free(bench);
}

static void where_the_speed_is_not_known_nothing_waits_for_the_wire(void **state)
{
	static struct outlet outlet;
	struct bench *bench = bench_make(scenario);
	struct tx_queue tx_queue = {.outlet = &outlet, .port = &bench->ports[0]};
	(void)state;

	fill(&outlet, OUTLET_ROOM, 1514);
	tx_queue_send(&tx_queue, NULL, 1000);
	assert_int_equal(tx_queue.tx_packets, OUTLET_ROOM);
	empty(bench->out[0]);
	bench_free(bench);
}

static void departures_do_not_depend_on_how_often_a_worker_polls(void **state)
{
	static const uint64_t steps_ns[] = {1000, 2500, 5000, 10000};
	static struct departures expected[PORTS], got[PORTS];
	(void)state;

	replay(expected);
	assert_in_range(expected[0].n, FRAMES / 2, FRAMES / 2);
	assert_in_range(expected[1].n, FRAMES / 3, FRAMES / 2 - 30);
	for (size_t s = 0; s < sizeof(steps_ns) / sizeof(steps_ns[0]); s++) {
		struct bench *bench = bench_make(scenario);
		uint32_t next = 0;

		memset(got, 0, sizeof(got));
		for (simtime now = 0; now < END_NS; now += steps_ns[s]) {
			arrive(bench, &next, now);
			/* More than a burst may wait at one instant. */
			do
				worker_poll(&bench->workers[0], now);
			while (rte_ring_count(bench->in[0]) + rte_ring_count(bench->in[1]) > 0);
			collect(bench, got);
		}
		assert_int_equal(next, FRAMES);
		assert_same(expected, got);
		bench_free(bench);
	}
}

static void make_pipeline(struct bench *bench)
{
	struct worker *rx = &bench->workers[0], *emulation = &bench->workers[1];

	*emulation = (struct worker){
	        .role = WORKER_EMULATION,
	        .engine = bench->engine,
	        .tx_queues = bench->tx_queues,
	        .n_tx_queues = PORTS,
	        .feed = bench->feed,
	        .stamped_ns = &rx->done_ns,
	        .mailbox = emulation->mailbox,
	};
	rx->role = WORKER_RX;
	rx->engine = NULL;
	rx->n_tx_queues = 0;
}

/* The order in which the two workers run is drawn; emulation may lag behind or run ahead. */
static void a_pipeline_gives_the_departures_of_a_single_worker(void **state)
{
	static struct departures expected[PORTS], got[PORTS];
	(void)state;

	replay(expected);
	for (uint32_t round = 0; round < 5; round++) {
		struct bench *bench = bench_make(scenario);
		uint32_t next = 0, random = 99 + round;
		simtime now = 0;

		make_pipeline(bench);
		memset(got, 0, sizeof(got));
		while (now < END_NS) {
			random = random * 1664525 + 1013904223;
			/* Occasionally, so that more than a burst lies between them. */
			if (random >> (round % 2 ? 31 : 27) == 0) {
				worker_poll(&bench->workers[1], now);
				collect(bench, got);
				continue;
			}
			arrive(bench, &next, now);
			worker_poll(&bench->workers[0], now);
			/* rx takes a burst per port and poll; packets of one instant may remain */
			if (rte_ring_count(bench->in[0]) + rte_ring_count(bench->in[1]) == 0)
				now += STEP_NS / 2;
		}
		for (int i = 0; i < 100; i++) {
			worker_poll(&bench->workers[1], now);
			collect(bench, got);
		}
		assert_same(expected, got);
		bench_free(bench);
	}
}

/* Makes a cloud with a constant delay of 1 ms from a to b, and nothing else. */
static struct scenario *scenario_constant(void)
{
	struct scenario *made = scenario_make();
	struct delay_conf *delay = (struct delay_conf *)conf_of(&delay_statement);

	assert_int_equal(scenario_add_port(made, "a", "ring", NULL), 0);
	assert_int_equal(scenario_add_port(made, "b", "ring", NULL), 0);
	assert_int_equal(scenario_add_cloud(made, "down", "a", "b"), 0);
	delay->delay_ns = SIMTIME_MS;
	cloud_conf_put(made->clouds[0], &delay->conf);
	return made;
}

/* Makes the queues send to the port's device, instead of a ring with instants. */
static void tx_queues_to_ports(struct bench *bench)
{
	for (uint32_t i = 0; i < PORTS; i++) {
		bench->tx_queues[i].ring = NULL;
		bench->tx_queues[i].port = &bench->ports[i];
	}
}

static void send_frames(struct bench *bench, uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(rte_ring_enqueue(bench->in[0], frame_make(first + i)), 0);
}

static void lateness_is_the_time_from_due_to_handed_over(void **state)
{
	struct scenario *constant = scenario_constant();
	struct bench *bench = bench_make(constant);
	struct worker *worker = &bench->workers[0];
	struct tx_queue *tx_queue = &bench->tx_queues[1];
	static struct departures out[PORTS];
	(void)state;

	tx_queues_to_ports(bench);
	send_frames(bench, 0, 20);
	worker_poll(worker, 1000);
	assert_int_equal(tx_queue->tx_packets, 0);
	worker_poll(worker, 1000 + SIMTIME_MS - 1);
	assert_int_equal(tx_queue->tx_packets, 0);
	worker_poll(worker, 1000 + SIMTIME_MS);
	assert_int_equal(tx_queue->tx_packets, 20);
	assert_int_equal(tx_queue->lateness_ns.max, 0);
	send_frames(bench, 20, 5);
	worker_poll(worker, 2 * SIMTIME_MS);
	worker_poll(worker, 3 * SIMTIME_MS + 777);
	assert_int_equal(tx_queue->tx_packets, 25);
	assert_int_equal(tx_queue->lateness_ns.count, 25);
	assert_int_equal(tx_queue->lateness_ns.min, 0);
	assert_int_equal(tx_queue->lateness_ns.max, 777);
	assert_int_equal(tx_queue->lateness_ns.sum, 5 * 777);
	assert_int_equal(worker->inlets[0].rx_packets, 25);
	assert_int_equal(worker->inlets[0].rx_bytes, tx_queue->tx_bytes);
	collect(bench, out);
	bench_free(bench);
	scenario_free(constant);
}

static void a_departure_close_ahead_is_executed_after_an_idle_poll(void **state)
{
	struct scenario *constant = scenario_constant();
	struct bench *bench = bench_make(constant);
	struct worker *worker = &bench->workers[0];
	struct tx_queue *tx_queue = &bench->tx_queues[1];
	const simtime due = 1000 + SIMTIME_MS;
	static struct departures out[PORTS];
	(void)state;

	tx_queues_to_ports(bench);
	worker_poll(worker, 500);
	worker_ahead(worker);
	assert_int_equal(worker->now, 500);
	send_frames(bench, 0, 3);
	worker_poll(worker, 1000);
	worker_poll(worker, due - WORKER_AHEAD_NS - 1);
	worker_ahead(worker);
	assert_int_equal(tx_queue->tx_packets, 0);
	assert_int_equal(worker->now, due - WORKER_AHEAD_NS - 1);
	worker_poll(worker, due - WORKER_AHEAD_NS);
	worker_ahead(worker);
	assert_int_equal(tx_queue->tx_packets, 3);
	assert_int_equal(tx_queue->lateness_ns.count, 3);
	assert_int_equal(tx_queue->lateness_ns.max, 0);
	/* Later packets are stamped later. */
	assert_int_equal(worker->now, due);
	collect(bench, out);
	bench_free(bench);
	scenario_free(constant);
}

static void what_is_ready_ahead_waits_for_its_instant(void **state)
{
	struct scenario *constant = scenario_constant();
	struct bench *bench = bench_make(constant);
	struct worker *worker = &bench->workers[0];
	struct tx_queue *tx_queue = &bench->tx_queues[1];
	struct clock clock = {0};
	static struct departures out[PORTS];
	simtime due;
	(void)state;

	/* A hundred ticks are a nanosecond: WORKER_AHEAD_NS takes long enough to be observed. */
	clock.line[0] = (struct clock_line){rte_rdtsc(), (UINT64_C(1) << CLOCK_SHIFT) / 100, 1000};
	tx_queues_to_ports(bench);
	worker->clock = &clock;
	send_frames(bench, 0, 1);
	worker_poll(worker, clock_now(&clock));
	due = worker->now + SIMTIME_MS;
	clock.line[0].base_ns += SIMTIME_MS - WORKER_AHEAD_NS / 2;
	worker_poll(worker, clock_now(&clock));
	if (tx_queue->tx_packets == 0) {
		worker_ahead(worker);
		assert_true(clock_now(&clock) >= due);
	}
	assert_int_equal(tx_queue->tx_packets, 1);
	assert_true(tx_queue->lateness_ns.max < SIMTIME_MS);
	collect(bench, out);
	bench_free(bench);
	scenario_free(constant);
}

static simtime rest_of(struct worker *worker)
{
	struct timespec begin, end;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	worker_rest(worker);
	clock_gettime(CLOCK_MONOTONIC, &end);
	return (simtime)((end.tv_sec - begin.tv_sec) * (int64_t)SIMTIME_S + end.tv_nsec -
	                 begin.tv_nsec);
}

/* Returns the shortest of several rests: a machine that stands still prolongs one of them. */
static simtime shortest_rest_of(struct worker *worker)
{
	simtime shortest = rest_of(worker);

	for (uint32_t i = 0; i < 10 && shortest >= 500 * SIMTIME_MS; i++)
		shortest = RTE_MIN(shortest, rest_of(worker));
	return shortest;
}

/* The clock stands still, so the length of each sleep is known. The bounds above are patience: a
 * machine may take longer. */
static void a_sleep_ends_ahead_of_the_next_departure(void **state)
{
	struct scenario *constant = scenario_constant();
	struct bench *bench = bench_make(constant);
	struct worker *worker = &bench->workers[0];
	struct clock clock = {0};
	static struct departures out[PORTS];
	simtime rest;
	(void)state;

	clock.line[0] = (struct clock_line){.base_ns = 1000};
	tx_queues_to_ports(bench);
	worker->clock = &clock;
	worker->rest_ns = 2 * SIMTIME_MS;
	worker->wake_ns = WORKER_WAKE_NS;
	assert_true(rest_of(worker) >= 2 * SIMTIME_MS);
	worker->rest_ns = 900 * SIMTIME_MS;
	send_frames(bench, 0, 1);
	worker_poll(worker, clock_now(&clock));
	rest = shortest_rest_of(worker);
	assert_true(rest >= SIMTIME_MS - WORKER_DOZE_NS && rest < 500 * SIMTIME_MS);
	clock.line[0].base_ns += SIMTIME_MS - WORKER_WAKE_NS;
	assert_true(shortest_rest_of(worker) < 500 * SIMTIME_MS);
	clock.line[0].base_ns += WORKER_WAKE_NS;
	worker_poll(worker, clock_now(&clock));
	assert_int_equal(bench->tx_queues[1].tx_packets, 1);
	collect(bench, out);
	bench_free(bench);
	scenario_free(constant);
}

/* Something that another thread does as soon as a worker sleeps. */
struct caller {
	pthread_t thread;
	struct bell *bell; /* the sleeper's */
	struct mailbox *mailbox;
	struct message message;
	struct worker *other;
};

static void *call(void *argument)
{
	struct caller *caller = argument;

	while (!__atomic_load_n(&caller->bell->listens, __ATOMIC_ACQUIRE))
		sched_yield();
	if (caller->other)
		worker_poll(caller->other, SIMTIME_MS);
	else
		mailbox_post(caller->mailbox, &caller->message);
	return NULL;
}

/* Sleeps for a year, unless it is woken. */
static void sleep_until_called(struct worker *worker, struct caller *caller)
{
	worker->rest_ns = 365 * 24 * 3600 * SIMTIME_S;
	assert_int_equal(bell_make(&worker->bell), 0);
	caller->bell = &worker->bell;
	assert_int_equal(pthread_create(&caller->thread, NULL, call, caller), 0);
	worker_rest(worker);
	assert_int_equal(pthread_join(caller->thread, NULL), 0);
	/* What it finds before it sleeps keeps it awake. */
	worker_rest(worker);
	bell_free(&worker->bell);
}

static void a_message_ends_a_sleep(void **state)
{
	struct scenario *constant = scenario_constant();
	struct bench *bench = bench_make(constant);
	struct worker *worker = &bench->workers[0];
	struct clock clock = {0};
	struct caller caller = {.mailbox = &worker->mailbox, .message = {.kind = MESSAGE_CLEAR}};
	(void)state;

	worker->clock = &clock;
	worker->mailbox.bell = &worker->bell;
	sleep_until_called(worker, &caller);
	worker_poll(worker, 1000);
	assert_true(message_wait(&caller.message, 0));
	bench_free(bench);
	scenario_free(constant);
}

static void what_another_worker_hands_over_ends_a_sleep(void **state)
{
	struct scenario *constant = scenario_constant();
	struct bench *bench = bench_make(constant);
	struct worker *sender = &bench->workers[2];
	struct rte_ring *between = ring_make("between", 0, 64);
	struct drain *drain = &bench->drains[1];
	struct caller caller = {.other = &bench->workers[0]};
	struct clock clock = {0};
	static struct departures out[PORTS];
	(void)state;

	bench->tx_queues[1].ring = between;
	bench->tx_queues[1].bell = &sender->bell;
	drain->from = &bench->drain_from[0];
	drain->from[0] = between;
	drain->n_from = 1;
	drain->tx_queue.outlet = &drain->outlet;
	drain->tx_queue.port = &bench->ports[1];
	*sender = (struct worker){.role = WORKER_TX,
	                          .drains = drain,
	                          .n_drains = 1,
	                          .mailbox = sender->mailbox,
	                          .clock = &clock};
	send_frames(bench, 0, 8);
	worker_poll(&bench->workers[0], 0);
	sleep_until_called(sender, &caller);
	sender->clock = NULL;
	worker_poll(sender, SIMTIME_MS);
	assert_int_equal(drain->tx_queue.tx_packets, 8);
	collect(bench, out);
	rte_ring_free(between);
	bench_free(bench);
	scenario_free(constant);
}

static void fill_ring(struct rte_ring *ring, uint32_t leave)
{
	while (rte_ring_free_count(ring) > leave)
		assert_int_equal(rte_ring_enqueue(ring, frame_make(0)), 0);
}

static void empty_ring(struct rte_ring *ring)
{
	struct rte_mbuf *mbuf;

	while (rte_ring_dequeue(ring, (void **)&mbuf) == 0)
		rte_pktmbuf_free(mbuf);
}

/* Asserts that port 1 has sent frames 0 to n - 1, in order. */
static void assert_sent_in_order(struct bench *bench, uint32_t n)
{
	static struct departures out[PORTS];

	memset(out, 0, sizeof(out));
	collect(bench, out);
	assert_int_equal(out[1].n, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(out[1].list[i].frame, i);
}

static void what_a_device_does_not_take_is_sent_later_in_order(void **state)
{
	struct scenario *constant = scenario_constant();
	struct bench *bench = bench_make(constant);
	struct worker *worker = &bench->workers[0];
	static struct departures out[PORTS];
	(void)state;

	tx_queues_to_ports(bench);
	fill_ring(bench->out[1], 7);
	send_frames(bench, 100, 30);
	worker_poll(worker, 0);
	worker_poll(worker, SIMTIME_MS);
	assert_int_equal(bench->tx_queues[1].tx_packets, 7);
	assert_true(worker->waiting);
	/* 99 ms later the packet is still there */
	worker_poll(worker, 100 * SIMTIME_MS);
	assert_int_equal(bench->tx_queues[1].tx_full, 0);
	for (int i = 0; i < 4096 - 8; i++) {
		void *mbuf = NULL;

		assert_int_equal(rte_ring_dequeue(bench->out[1], &mbuf), 0);
		rte_pktmbuf_free(mbuf);
	}
	worker_poll(worker, 100 * SIMTIME_MS + 1);
	assert_int_equal(bench->tx_queues[1].tx_packets, 30);
	assert_false(worker->waiting);
	memset(out, 0, sizeof(out));
	collect(bench, out);
	assert_int_equal(out[1].n, 30);
	for (uint32_t i = 0; i < 30; i++)
		assert_int_equal(out[1].list[i].frame, 100 + i);
	assert_int_equal(bench->tx_queues[1].tx_full, 0);
	bench_free(bench);
	scenario_free(constant);
}

/* Two clouds that lead to port b, 1 ms each. */
static struct scenario *scenario_meeting(void)
{
	struct scenario *made = scenario_constant();
	struct delay_conf *delay = (struct delay_conf *)conf_of(&delay_statement);

	assert_int_equal(scenario_add_cloud(made, "back", "b", "b"), 0);
	delay->delay_ns = SIMTIME_MS;
	cloud_conf_put(made->clouds[1], &delay->conf);
	return made;
}

/* Returns the number of departures on a tape, which must be one behind the other, and the latest
 * instant. */
static uint64_t departures_on(struct tape *tape, simtime *latest)
{
	const struct tape_entry *entry;
	uint64_t n = 0;

	for (; (entry = tape_look(tape)); tape_pass(tape, entry)) {
		if (entry->kind != TAPE_DEPARTURES)
			continue;
		assert_int_equal(entry->port, 1);
		assert_int_equal(entry->number, n + 1);
		assert_true(entry->t_ns >= *latest);
		n += entry->n;
		*latest = entry->t_ns;
	}
	return n;
}

/* More than four outlets are due when a worker polls. */
static void a_full_outlet_is_handed_over_in_the_middle_of_a_poll(void **state)
{
	struct scenario *meeting = scenario_meeting();
	struct bench *bench = bench_make(meeting);
	struct worker *worker = &bench->workers[0];
	const simtime later = 2 * SIMTIME_MS;
	static struct tape tape;
	simtime latest = 0;
	(void)state;

	assert_int_equal(tape_make(&tape, 1 << 20, 0), 0);
	worker->tape = &tape;
	tx_queues_to_ports(bench);
	send_frames(bench, 0, 300);
	for (simtime now = 0; now < 10; now++)
		worker_poll(worker, now);
	/* A burst comes in; the rest is executed before it. */
	send_frames(bench, 300, 1);
	worker_poll(worker, later);
	assert_int_equal(bench->tx_queues[1].tx_packets, 300);
	assert_false(worker->waiting);
	assert_int_equal(departures_on(&tape, &latest), 300);
	assert_int_equal(latest, later);
	assert_sent_in_order(bench, 300);
	bench_free(bench);
	tape_free(&tape);
	scenario_free(meeting);
}

/* The device takes an outlet and 20 packets more. */
static void behind_a_device_that_refuses_packets_wait_until_it_takes_them(void **state)
{
	struct scenario *meeting = scenario_meeting();
	struct bench *bench = bench_make(meeting);
	struct worker *worker = &bench->workers[0];
	static struct departures out[PORTS];
	(void)state;

	tx_queues_to_ports(bench);
	send_frames(bench, 0, 300);
	for (simtime now = 0; now < 10; now++)
		worker_poll(worker, now);
	fill_ring(bench->out[1], OUTLET_ROOM + 20);
	worker_poll(worker, 2 * SIMTIME_MS);
	assert_int_equal(bench->tx_queues[1].tx_packets, OUTLET_ROOM + 20);
	assert_true(worker->waiting);
	assert_int_equal(tx_queue_waiting(&bench->tx_queues[1]), 300 - OUTLET_ROOM - 20);
	empty_ring(bench->out[1]);
	worker_poll(worker, 2 * SIMTIME_MS + 1);
	assert_int_equal(bench->tx_queues[1].tx_packets, 300);
	assert_false(worker->waiting);
	memset(out, 0, sizeof(out));
	collect(bench, out);
	assert_int_equal(out[1].n, 300 - OUTLET_ROOM - 20);
	for (uint32_t i = 0; i < out[1].n; i++)
		assert_int_equal(out[1].list[i].frame, OUTLET_ROOM + 20 + i);
	bench_free(bench);
	scenario_free(meeting);
}

/* 300 packets are due, a device takes none, and an outlet full leaves in each poll. */
static void a_change_finds_in_no_cloud_what_is_due_whatever_a_device_takes(void **state)
{
	struct scenario *constant = scenario_constant();
	struct bench *bench = bench_make(constant);
	struct worker *worker = &bench->workers[0];
	struct message message = {.kind = MESSAGE_CLEAR};
	(void)state;

	tx_queues_to_ports(bench);
	fill_ring(bench->out[1], 0);
	send_frames(bench, 0, 300);
	for (simtime now = 0; now < 10; now++)
		worker_poll(worker, now);
	worker_poll(worker, 2 * SIMTIME_MS);
	assert_int_equal(engine_held_packets(bench->engine), 300 - OUTLET_ROOM);
	assert_int_equal(mailbox_post(&worker->mailbox, &message), 0);
	worker_poll(worker, 2 * SIMTIME_MS + 1);
	assert_true(message_wait(&message, 0));
	assert_int_equal(engine_held_packets(bench->engine), 0);
	empty_ring(bench->out[1]);
	worker_poll(worker, 2 * SIMTIME_MS + 2);
	assert_false(worker->waiting);
	assert_sent_in_order(bench, 300);
	bench_free(bench);
	scenario_free(constant);
}

/* A packet that waits behind an outlet may be copied twice more, one on its line is not. */
static void what_is_due_stays_on_its_line_while_a_device_takes_nothing(void **state)
{
	struct scenario *constant = scenario_constant();
	struct bench *bench = bench_make(constant);
	struct worker *worker = &bench->workers[0];
	(void)state;

	tx_queues_to_ports(bench);
	fill_ring(bench->out[1], 0);
	send_frames(bench, 0, 300);
	for (simtime now = 0; now < 10; now++)
		worker_poll(worker, now);
	for (simtime ms = 2; ms < 20; ms++)
		worker_poll(worker, ms * SIMTIME_MS);
	assert_int_equal(tx_queue_waiting(&bench->tx_queues[1]), OUTLET_ROOM);
	assert_int_equal(engine_held_packets(bench->engine), 300 - OUTLET_ROOM);
	empty_ring(bench->out[1]);
	for (simtime ms = 20; ms < 30; ms++)
		worker_poll(worker, ms * SIMTIME_MS);
	assert_false(worker->waiting);
	assert_sent_in_order(bench, 300);
	bench_free(bench);
	scenario_free(constant);
}

/* 300 packets are due, and an outlet full leaves in each poll. */
static void what_a_message_lets_out_is_handed_over_in_the_same_poll(void **state)
{
	struct scenario *constant = scenario_constant();
	struct bench *bench = bench_make(constant);
	struct worker *worker = &bench->workers[0];
	struct message message = {.kind = MESSAGE_CLEAR};
	static struct departures out[PORTS];
	(void)state;

	tx_queues_to_ports(bench);
	send_frames(bench, 0, 300);
	for (simtime now = 0; now < 10; now++)
		worker_poll(worker, now);
	assert_int_equal(mailbox_post(&worker->mailbox, &message), 0);
	assert_true(worker_poll(worker, 2 * SIMTIME_MS));
	assert_int_equal(bench->tx_queues[1].outlet->n, 0);
	memset(out, 0, sizeof(out));
	collect(bench, out);
	assert_int_equal(out[1].n, 300);
	bench_free(bench);
	scenario_free(constant);
}

static void what_is_not_taken_within_100_ms_is_dropped_and_counted(void **state)
{
	struct scenario *constant = scenario_constant();
	struct bench *bench = bench_make(constant);
	struct worker *worker = &bench->workers[0];
	(void)state;

	tx_queues_to_ports(bench);
	fill_ring(bench->out[1], 0);
	send_frames(bench, 0, 10);
	worker_poll(worker, 0);
	worker_poll(worker, SIMTIME_MS);
	send_frames(bench, 10, 10);
	worker_poll(worker, 50 * SIMTIME_MS);
	worker_poll(worker, 60 * SIMTIME_MS);
	worker_poll(worker, 101 * SIMTIME_MS);
	assert_int_equal(bench->tx_queues[1].tx_full, 0);
	worker_poll(worker, 101 * SIMTIME_MS + 1);
	assert_int_equal(bench->tx_queues[1].tx_full, 10);
	worker_poll(worker, 151 * SIMTIME_MS + 1);
	assert_int_equal(bench->tx_queues[1].tx_full, 20);
	assert_int_equal(bench->tx_queues[1].tx_packets, 0);
	empty_ring(bench->out[1]);
	bench_free(bench);
	scenario_free(constant);
}

/* ---- stamps of the kernel ---- */

/* The stamp of a frame is the instant of the trace. */
static uint16_t stamped_receive(struct port *port, struct rte_mbuf **mbufs, simtime *came_ns,
                                uint16_t n)
{
	uint16_t got = rte_eth_rx_burst(port->id, 0, mbufs, n);

	for (uint16_t i = 0; i < got; i++)
		came_ns[i] = arrival_of(frame_of(mbufs[i]));
	return got;
}

static struct bench *stamped_bench; /* of the port that is asked */

static bool stamped_is_behind(const struct port *port)
{
	return rte_ring_count(stamped_bench->in[port - stamped_bench->ports]) > 0;
}

static const struct port_stamped stamped = {.receive = stamped_receive,
                                            .is_behind = stamped_is_behind};

static void stamp_ports(struct bench *bench, struct arrivals arrivals[PORTS])
{
	stamped_bench = bench;
	memset(arrivals, 0, PORTS * sizeof(*arrivals));
	bench->workers[0].stamped = true;
	for (uint32_t i = 0; i < PORTS; i++) {
		bench->ports[i].stamped = &stamped;
		bench->inlets[i].stamped = true;
		bench->inlets[i].arrivals = &arrivals[i];
	}
}

/* The worker loses its processor for up to 16 ms, again and again. In between it polls as often as
 * it finds something to do. Rate, queue and jitter, and the packets that are lost, are those of a
 * replay. */
static void with_stamps_of_the_kernel_a_worker_may_read_as_late_as_it_likes(void **state)
{
	static struct departures expected[PORTS], got[PORTS];
	static struct arrivals arrivals[PORTS];
	(void)state;

	replay(expected);
	for (uint32_t round = 0; round < 6; round++) {
		struct bench *bench = bench_make(scenario);
		uint32_t next = 0, random = 17 + round;
		const bool pipeline = round % 2;
		simtime now = 0;

		stamp_ports(bench, arrivals);
		if (pipeline)
			make_pipeline(bench);
		memset(got, 0, sizeof(got));
		while (now < END_NS) {
			bool busy;

			arrive(bench, &next, now);
			do {
				busy = worker_poll(&bench->workers[0], now);
				if (pipeline)
					busy |= worker_poll(&bench->workers[1], now);
				collect(bench, got);
			} while (busy);
			random = random * 1664525 + 1013904223;
			now += random >> 28 ? 700 : random >> 4 & 0xffffff;
		}
		assert_int_equal(next, FRAMES);
		assert_same(expected, got);
		for (uint32_t port = 0; port < PORTS; port++) {
			assert_int_equal(bench->inlets[port].rx_packets, FRAMES / 2);
			assert_int_equal(bench->inlets[port].aged, 0);
		}
		bench_free(bench);
	}
}

/* Port a is read late, too, but what it brings is due later. */
static void a_late_reading_delays_only_what_was_due_by_then_and_that_is_counted(void **state)
{
	struct scenario *constant = scenario_constant();
	struct bench *bench = bench_make(constant);
	struct tx_queue *tx_queue = &bench->tx_queues[1];
	static struct arrivals arrivals[PORTS];
	const simtime first = arrival_of(0), last = arrival_of(400);
	(void)state;

	stamp_ports(bench, arrivals);
	tx_queues_to_ports(bench);
	assert_in_range(last - first, 2 * SIMTIME_MS / 10, 100 * SIMTIME_MS);
	send_frames(bench, 0, 1);
	send_frames(bench, 400, 1);
	worker_poll(&bench->workers[0], last + SIMTIME_MS - 1);
	assert_int_equal(tx_queue->tx_packets, 1);
	assert_int_equal(tx_queue->lateness_ns.max, last - 1 - first);
	worker_poll(&bench->workers[0], last + SIMTIME_MS);
	assert_int_equal(tx_queue->tx_packets, 2);
	assert_int_equal(tx_queue->lateness_ns.min, 0);
	empty_ring(bench->out[1]);
	bench_free(bench);
	scenario_free(constant);
}

/* What came by the reading with which a poll begins is handed over, and what came later is in
 * hand. */
static void a_packet_that_came_during_a_poll_is_in_hand_until_the_next(void **state)
{
	struct scenario *constant = scenario_constant();
	struct bench *bench = bench_make(constant);
	struct worker *worker = &bench->workers[0];
	static struct arrivals arrivals[PORTS];
	const simtime came = arrival_of(50);
	(void)state;

	stamp_ports(bench, arrivals);
	send_frames(bench, 50, 1);
	assert_true(worker_poll(worker, came - 1));
	assert_int_equal(worker->in_hand, 1);
	assert_int_equal(bench->inlets[0].rx_packets, 0);
	assert_int_equal(worker->done_ns, came - 1);
	assert_true(worker_poll(worker, came));
	assert_int_equal(worker->in_hand, 0);
	assert_int_equal(bench->inlets[0].rx_packets, 1);
	assert_int_equal(bench->inlets[0].aged, 0);
	assert_false(worker_poll(worker, came + 1));
	bench_free(bench);
	scenario_free(constant);
}

/* The kernel stamped it before a poll, and handed it over after that. */
static void a_stamp_before_the_instant_of_the_engine_is_counted(void **state)
{
	struct scenario *constant = scenario_constant();
	struct bench *bench = bench_make(constant);
	struct worker *worker = &bench->workers[0];
	static struct arrivals arrivals[PORTS];
	static struct departures out[PORTS];
	const simtime came = arrival_of(50);
	(void)state;

	stamp_ports(bench, arrivals);
	worker_poll(worker, came + 300);
	send_frames(bench, 50, 1);
	worker_poll(worker, came + 900);
	worker_poll(worker, came + SIMTIME_MS + 300);
	memset(out, 0, sizeof(out));
	collect(bench, out);
	assert_int_equal(out[1].n, 1);
	assert_int_equal(out[1].list[0].due_ns, came + 300 + SIMTIME_MS);
	assert_int_equal(bench->inlets[0].aged, 1);
	assert_int_equal(bench->inlets[0].oldest_ns, 300);
	bench_free(bench);
	scenario_free(constant);
}

static void what_came_before_a_worker_was_launched_is_dropped_and_counted(void **state)
{
	struct scenario *constant = scenario_constant();
	struct bench *bench = bench_make(constant);
	struct worker *worker = &bench->workers[0];
	static struct arrivals arrivals[PORTS];
	static struct departures out[PORTS];
	uint32_t early = 0, next = 0;
	const simtime began = arrival_of(500);
	(void)state;

	stamp_ports(bench, arrivals);
	worker->began_ns = began;
	while (arrival_of(early) < began)
		early += 2; /* those of port a */
	arrive(bench, &next, began + 10 * STEP_NS);
	while (worker_poll(worker, began + 10 * STEP_NS))
		;
	worker_poll(worker, END_NS);
	memset(out, 0, sizeof(out));
	collect(bench, out);
	assert_int_equal(bench->inlets[0].early, early / 2);
	assert_int_equal(bench->inlets[0].rx_packets, (next + 1) / 2 - early / 2);
	assert_int_equal(out[1].n, bench->inlets[0].rx_packets);
	for (uint32_t i = 0; i < out[1].n; i++)
		assert_true(out[1].list[i].due_ns >= began + SIMTIME_MS);
	bench_free(bench);
	scenario_free(constant);
}

static void what_is_in_hand_when_a_worker_ends_is_freed(void **state)
{
	struct scenario *constant = scenario_constant();
	struct bench *bench = bench_make(constant);
	struct arrivals arrivals[PORTS], *own = calloc(1, sizeof(*own));
	(void)state;

	stamp_ports(bench, arrivals);
	bench->inlets[0].arrivals = own;
	send_frames(bench, 50, 3);
	worker_poll(&bench->workers[0], 0);
	assert_int_equal(bench->workers[0].in_hand, 3);
	arrivals_free(own);
	arrivals_free(NULL);
	bench_free(bench); /* finds all mbufs in the pool */
	scenario_free(constant);
}

/* While its worker was away, a packet was due for long. The device has not refused it for long. */
static void a_worker_that_was_late_drops_nothing_that_a_device_refuses_for_a_moment(void **state)
{
	struct scenario *constant = scenario_constant();
	struct bench *bench = bench_make(constant);
	struct worker *worker = &bench->workers[0];
	const simtime back = 500 * SIMTIME_MS;
	(void)state;

	tx_queues_to_ports(bench);
	fill_ring(bench->out[1], 0);
	send_frames(bench, 0, 10);
	worker_poll(worker, 0);
	worker_poll(worker, back);
	worker_poll(worker, back + TX_QUEUE_PATIENCE_NS);
	assert_int_equal(bench->tx_queues[1].tx_full, 0);
	worker_poll(worker, back + TX_QUEUE_PATIENCE_NS + 1);
	assert_int_equal(bench->tx_queues[1].tx_full, 10);
	empty_ring(bench->out[1]);
	bench_free(bench);
	scenario_free(constant);
}

struct lost {
	struct witness witness;
	uint64_t number[4 * OUTLET_ROOM];
	uint32_t n;
};

static void take_number(struct witness *witness, const struct fate *fate)
{
	struct lost *lost = (struct lost *)witness;

	assert_in_range(lost->n, 0, 4 * OUTLET_ROOM - 1);
	assert_int_equal(fate->t_in_ns, 1000);
	lost->number[lost->n++] = fate->packet;
}

/* Of six frames, the departures of the second and the fifth are reported, so only these have names.
 * The private areas of the others have data of a packet that was due at the same instant. Through a
 * worker's own transmit queue, and through a ring to that of another. */
static void what_a_port_loses_has_its_name_only_if_its_leaving_was_told(void **state)
{
	static const uint64_t expected[] = {0, 5, 0, 0, 5, 0};
	struct bench *bench = bench_make(scenario);
	(void)state;

	for (int over_ring = 0; over_ring < 2; over_ring++) {
		static struct outlet first, second;
		struct lost lost = {.witness = {.tell = take_number}};
		struct tx_queue ring = {.outlet = &first, .ring = bench->out[0]};
		struct tx_queue port = {.outlet = over_ring ? &second : &first,
		                        .port = &bench->ports[1],
		                        .witness = &lost.witness};

		for (uint32_t i = 0; i < 6; i++) {
			fill(&first, 1, 100);
			*packet_of(first.mbufs[i]) = (struct packet){.t_ns = 1000, .number = 5};
			if (expected[i])
				outlet_name(&first);
		}
		bench->ports[1].down = 1;
		if (over_ring) {
			assert_int_equal(tx_queue_send(&ring, NULL, 1000), 6);
			assert_int_equal(tx_queue_collect(&port, bench->out[0]), 6);
		}
		assert_int_equal(tx_queue_send(&port, NULL, 1000), 0);
		assert_int_equal(tx_queue_send(&port, NULL, 1001 + TX_QUEUE_PATIENCE_NS), 6);
		assert_int_equal(lost.n, 6);
		assert_memory_equal(lost.number, expected, sizeof(expected));
		assert_int_equal(first.n | second.n | first.named | second.named, 0);
	}
	bench_free(bench);
}

/* Fills an outlet with frames of all lengths from 60 to 1500 bytes, of which every third has a
 * name: its number. */
static void fill_mixed(struct outlet *outlet, uint32_t number)
{
	for (uint32_t i = 0; i < OUTLET_ROOM; i++, number++) {
		fill(outlet, 1, (uint16_t)(60 + number * 97 % 1441));
		*packet_of(outlet->mbufs[i]) = (struct packet){.t_ns = 1000, .number = number};
		if (number % 3 == 0)
			outlet_name(outlet);
	}
}

/* The first 64 in their mbufs, small ones behind these in records, large ones in mbufs. */
static void what_waits_for_a_device_stays_in_order_and_keeps_its_name(void **state)
{
	struct bench *bench = bench_make(scenario);
	struct lost lost = {.witness = {.tell = take_number}};
	struct outlet *outlet = engine_outlet(bench->engine, 1);
	struct tx_queue port = {.outlet = outlet,
	                        .holder = engine_holder(bench->engine),
	                        .port = &bench->ports[1],
	                        .witness = &lost.witness};
	(void)state;

	bench->ports[1].down = 1;
	for (uint32_t i = 0; i < 4; i++) {
		fill_mixed(outlet, 1 + i * OUTLET_ROOM);
		if (i % 2)
			tx_queue_make_room(&port, NULL, 1000);
		else
			assert_int_equal(tx_queue_send(&port, NULL, 1000), 0);
		assert_int_equal(outlet->n, 0);
		assert_int_equal(tx_queue_waiting(&port), (i + 1) * OUTLET_ROOM);
	}
	while (tx_queue_waiting(&port) > 0)
		tx_queue_send(&port, NULL, 1001 + TX_QUEUE_PATIENCE_NS);
	assert_int_equal(port.tx_full, 4 * OUTLET_ROOM);
	assert_int_equal(lost.n, 4 * OUTLET_ROOM);
	for (uint32_t i = 0; i < lost.n; i++)
		assert_int_equal(lost.number[i], (i + 1) % 3 == 0 ? i + 1 : 0);
	assert_int_equal(port.holder->kept, 0);
	bench_free(bench);
}

static void what_waits_for_a_device_at_the_end_is_given_back(void **state)
{
	struct bench *bench = bench_make(scenario);
	struct tx_queue *port = &bench->tx_queues[1];
	(void)state;

	port->port = &bench->ports[1];
	bench->ports[1].down = 1;
	for (uint32_t i = 0; i < 4; i++) {
		fill_mixed(port->outlet, 1);
		tx_queue_send(port, NULL, 1000);
	}
	fill_mixed(port->outlet, 1);
	assert_int_equal(tx_queue_waiting(port), 4 * OUTLET_ROOM);
	bench_free(bench);
}

/* Behind those that keep their mbufs. */
static void without_memory_to_wait_in_a_packet_is_lost_at_once(void **state)
{
	struct bench *bench = bench_make(scenario);
	struct tx_queue *port = &bench->tx_queues[1];
	struct arena *arena = &port->holder->arena;
	struct chunk *taken = NULL, *chunk;
	(void)state;

	while ((chunk = arena_get(arena))) {
		chunk->next = taken;
		taken = chunk;
	}
	port->port = &bench->ports[1];
	bench->ports[1].down = 1;
	for (uint32_t i = 0; i < 2; i++) {
		fill_mixed(port->outlet, 1);
		tx_queue_send(port, NULL, 1000);
		assert_int_equal(port->tx_full, i * OUTLET_ROOM);
		assert_int_equal(tx_queue_waiting(port), OUTLET_ROOM);
	}
	for (; taken; taken = chunk) {
		chunk = taken->next;
		arena_put(arena, taken);
	}
	bench_free(bench);
}

struct took {
	struct witness witness;
	struct fate fates[6];
	uint32_t n;
};

static void take_fate(struct witness *witness, const struct fate *fate)
{
	struct took *took = (struct took *)witness;

	assert_in_range(took->n, 0, 5);
	took->fates[took->n++] = *fate;
}

/* Six frames are due at 1,000 to 1,005; the third and the fifth have names. The device has room for
 * four at 1,500, and for the others at 2,000. */
static void what_a_device_takes_is_told_with_the_instant_of_that(void **state)
{
	static struct outlet first, second;
	struct bench *bench = bench_make(scenario);
	(void)state;

	for (int over_ring = 0; over_ring < 2; over_ring++) {
		struct took took = {.witness = {.tell = take_fate, .way = 1u << FATE_SENT}};
		struct tx_queue ring = {.outlet = &first, .ring = bench->out[0]};
		struct tx_queue port = {.outlet = over_ring ? &second : &first,
		                        .port = &bench->ports[1],
		                        .index = 1,
		                        .witness = &took.witness};

		for (uint32_t i = 0; i < 6; i++) {
			fill(&first, 1, 100);
			first.due_ns[i] = 1000 + i;
			*packet_of(first.mbufs[i]) =
			        (struct packet){.number = i + 1, .wire_bytes = 100};
			if (i == 2 || i == 4)
				outlet_name(&first);
		}
		if (over_ring) {
			assert_int_equal(tx_queue_send(&ring, NULL, 1400), 6);
			assert_int_equal(tx_queue_collect(&port, bench->out[0]), 6);
		}
		fill_ring(bench->out[1], 4);
		assert_int_equal(tx_queue_send(&port, NULL, 1500), 4);
		empty_ring(bench->out[1]);
		assert_int_equal(tx_queue_send(&port, NULL, 2000), 2);
		empty_ring(bench->out[1]);
		assert_int_equal(took.n, 2);
		for (uint32_t i = 0; i < 2; i++) {
			assert_int_equal(took.fates[i].kind, FATE_SENT);
			assert_int_equal(took.fates[i].packet, i == 0 ? 3 : 5);
			assert_int_equal(took.fates[i].to_port, 1);
			assert_int_equal(took.fates[i].wire_bytes, 100);
			assert_int_equal(took.fates[i].t_in_ns, i == 0 ? 1002 : 1004);
			assert_int_equal(took.fates[i].at_ns, i == 0 ? 1500 : 2000);
		}
		assert_int_equal(port.lateness_ns.count, 6);
		assert_int_equal(port.lateness_ns.min, 497);
		assert_int_equal(port.lateness_ns.max, 996);
	}
	bench_free(bench);
}

/* Packets sent while the link is down would stay in the device, and leave much too late. */
static void nothing_is_given_to_a_device_whose_link_went_down(void **state)
{
	struct scenario *constant = scenario_constant();
	struct bench *bench = bench_make(constant);
	struct worker *worker = &bench->workers[0];
	(void)state;

	tx_queues_to_ports(bench);
	bench->ports[1].down = 1;
	send_frames(bench, 0, 10);
	worker_poll(worker, 0);
	worker_poll(worker, 50 * SIMTIME_MS);
	assert_int_equal(rte_ring_count(bench->out[1]), 0);
	bench->ports[1].down = 0;
	worker_poll(worker, 60 * SIMTIME_MS);
	assert_int_equal(rte_ring_count(bench->out[1]), 10);
	empty_ring(bench->out[1]);
	bench_free(bench);
	scenario_free(constant);
}

/* A frame in a chain of mbufs, each with so many bytes of this value. */
static struct rte_mbuf *chain_make(uint16_t bytes, uint8_t value)
{
	struct rte_mbuf *head = NULL;

	for (int i = 0; i < 2; i++) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);

		assert_non_null(mbuf);
		memset(rte_pktmbuf_append(mbuf, bytes), value + i, bytes);
		if (head)
			assert_int_equal(rte_pktmbuf_chain(head, mbuf), 0);
		else
			head = mbuf;
	}
	return head;
}

/* net_af_xdp copies as many bytes as the whole frame has, beginning in its first mbuf. */
static void a_driver_that_sends_no_chains_gets_only_whole_frames(void **state)
{
	const unsigned free_before = rte_mempool_avail_count(pool);
	struct bench *bench = bench_make(scenario);
	struct rte_mbuf *frames[] = {frame_make(0), chain_make(50, 7),   chain_make(1500, 8),
	                             frame_make(1), chain_make(1500, 9), chain_make(1000, 1)};
	const uint32_t expected[] = {60, 100, 97, 2000};
	struct port_losses losses;
	(void)state;

	packet_of(frames[1])->number = 77;
	bench->ports[1].one_buffer = true;
	assert_int_equal(port_transmit(&bench->ports[1], 0, frames, NULL, RTE_DIM(frames)),
	                 RTE_DIM(frames));
	assert_int_equal(rte_ring_count(bench->out[1]), RTE_DIM(expected));
	for (uint32_t i = 0; i < RTE_DIM(expected); i++) {
		struct rte_mbuf *mbuf = NULL;

		assert_int_equal(rte_ring_dequeue(bench->out[1], (void **)&mbuf), 0);
		assert_int_equal(mbuf->nb_segs, 1);
		assert_int_equal(mbuf->pkt_len, expected[i]);
		assert_int_equal(mbuf->data_len, expected[i]);
		if (i == 1) {
			assert_int_equal(*rte_pktmbuf_mtod_offset(mbuf, uint8_t *, 49), 7);
			assert_int_equal(*rte_pktmbuf_mtod_offset(mbuf, uint8_t *, 50), 8);
			assert_int_equal(packet_of(mbuf)->number, 77);
		}
		rte_pktmbuf_free(mbuf);
	}
	port_losses(&bench->ports[1], &losses);
	assert_int_equal(losses.chained, 2);
	assert_int_equal(losses.not_sent, 2);
	bench_free(bench);
	assert_int_equal(rte_mempool_avail_count(pool), free_before);
}

static void a_chain_waits_for_the_mbuf_that_its_copy_needs(void **state)
{
	static struct rte_mbuf *all[MBUFS];
	struct bench *bench = bench_make(scenario);
	struct rte_mbuf *frames[] = {frame_make(0), chain_make(50, 7), frame_make(1)};
	struct port_losses losses;
	uint32_t n = 0;
	(void)state;

	while (n < MBUFS && (all[n] = rte_pktmbuf_alloc(pool)))
		n++;
	bench->ports[1].one_buffer = true;
	assert_int_equal(port_transmit(&bench->ports[1], 0, frames, NULL, 3), 1);
	port_losses(&bench->ports[1], &losses);
	assert_int_equal(losses.not_sent, 0);
	rte_pktmbuf_free_bulk(all, n);
	assert_int_equal(port_transmit(&bench->ports[1], 0, frames + 1, NULL, 2), 2);
	assert_int_equal(rte_ring_count(bench->out[1]), 3);
	empty_ring(bench->out[1]);
	bench_free(bench);
}

static void a_message_is_obeyed_once_and_packets_in_flight_are_kept(void **state)
{
	struct scenario *constant = scenario_constant(), *next = scenario_constant();
	struct bench *bench = bench_make(constant);
	struct worker *worker = &bench->workers[0];
	struct message message = {.kind = MESSAGE_CHANGE};
	static struct departures out[PORTS];
	struct problem problem;
	(void)state;

	((struct delay_conf *)next->clouds[0]->confs[0])->delay_ns = 5 * SIMTIME_MS;
	assert_int_equal(change_prepare(bench->engine, next, NULL, &message.change, &problem), 0);
	send_frames(bench, 0, 4);
	worker_poll(worker, 1000);
	assert_int_equal(mailbox_post(&worker->mailbox, &message), 0);
	assert_false(message_wait(&message, 0));
	worker_poll(worker, 2000);
	assert_true(message_wait(&message, 0));
	change_free(message.change);
	send_frames(bench, 4, 4);
	worker_poll(worker, 3000);
	worker_poll(worker, 20 * SIMTIME_MS);
	memset(out, 0, sizeof(out));
	collect(bench, out);
	assert_int_equal(out[1].n, 8);
	for (uint32_t i = 0; i < 8; i++) {
		assert_int_equal(out[1].list[i].frame, i);
		assert_int_equal(out[1].list[i].due_ns,
		                 i < 4 ? 1000 + SIMTIME_MS : 3000 + 5 * SIMTIME_MS);
	}
	bench_free(bench);
	scenario_free(constant);
	scenario_free(next);
}

/* Returns how many frames were handed to the device, and their instants, in order. */
static uint32_t told(struct rte_ring *ring, simtime *instants)
{
	struct rte_mbuf *mbuf;
	uint32_t n = 0;

	while (rte_ring_dequeue(ring, (void **)&mbuf) == 0) {
		uint64_t ticks;

		memcpy(&ticks, rte_pktmbuf_mtod_offset(mbuf, void *, 8), sizeof(ticks));
		instants[n++] = ticks * DEVICE_TICK_NS;
		rte_pktmbuf_free(mbuf);
	}
	return n;
}

static void a_device_is_told_the_instant_of_each_frame_whenever_a_worker_polls(void **state)
{
	static const uint64_t steps_ns[] = {500, 7777, 23000};
	const simtime lead = 20 * SIMTIME_US;
	struct scenario *with = scenario_stamped(SIMTIME_MS, lead);
	(void)state;

	for (size_t s = 0; s < 3; s++) {
		struct bench *bench = bench_make(with);
		static struct port_time time;
		simtime instants[64];
		uint32_t next = 0, seen = 0;

		time_start(&time);
		tx_queues_to_ports(bench);
		for (uint32_t i = 0; i < PORTS; i++) {
			bench->inlets[i].time = &time;
			bench->tx_queues[i].launch = &time;
			bench->tx_queues[i].launch_ns = lead;
		}
		for (simtime now = 0; now < END_NS; now += steps_ns[s]) {
			uint32_t n;

			arrive(bench, &next, now);
			worker_poll(&bench->workers[0], now);
			assert_in_range(rte_ring_count(bench->out[1]), 0, RTE_DIM(instants));
			n = told(bench->out[1], instants);
			for (uint32_t i = 0; i < n; i++, seen++)
				assert_int_equal(instants[i], arrival_of(seen * PORTS) -
				                                      DEVICE_AHEAD_NS + SIMTIME_MS);
			empty(bench->out[0]);
		}
		assert_int_equal(seen, FRAMES / 2);
		/* A worker that polls every 23 us is sometimes too late for a lead of 20. */
		assert_int_equal(bench->tx_queues[1].launch_missed > 0, steps_ns[s] > lead);
		assert_in_range(bench->tx_queues[1].launch_missed, 0, FRAMES / 4);
		bench_free(bench);
	}
	scenario_free(with);
}

static void a_clear_sets_every_counter_of_the_worker_to_zero(void **state)
{
	struct scenario *constant = scenario_constant();
	struct bench *bench = bench_make(constant);
	struct worker *worker = &bench->workers[0];
	struct message message = {.kind = MESSAGE_CLEAR};
	static struct cloud_report report;
	static struct departures out[PORTS];
	struct port_time time = {
	        .latest = 7, .stamped = 1, .unstamped = 2, .ahead = 3, .backward = 4, .stale = 5};
	(void)state;

	tx_queues_to_ports(bench);
	send_frames(bench, 0, 10);
	worker_poll(worker, 0);
	worker_poll(worker, SIMTIME_MS);
	send_frames(bench, 10, 3);
	worker_poll(worker, 2 * SIMTIME_MS);
	bench->inlets[0].time = &time;
	assert_int_equal(mailbox_post(&worker->mailbox, &message), 0);
	worker_poll(worker, 2 * SIMTIME_MS);
	assert_true(message_wait(&message, 0));
	assert_int_equal(bench->inlets[0].rx_packets, 0);
	assert_int_equal(time.stamped + time.unstamped, 0);
	assert_int_equal(time.ahead + time.backward + time.stale, 0);
	/* Instants increase. */
	assert_int_equal(time.latest, 7);
	bench->inlets[0].time = NULL;
	assert_int_equal(bench->tx_queues[1].tx_packets, 0);
	assert_int_equal(bench->tx_queues[1].lateness_ns.count, 0);
	assert_true(engine_report(bench->engine, "down", &report));
	assert_int_equal(report.counters.rx_packets, 3);
	assert_int_equal(report.held_packets, 3);
	worker_poll(worker, 3 * SIMTIME_MS);
	assert_int_equal(bench->tx_queues[1].tx_packets, 3);
	collect(bench, out);
	bench_free(bench);
	scenario_free(constant);
}

static void a_mailbox_that_is_full_refuses_a_message(void **state)
{
	struct message messages[MAILBOX_ROOM];
	struct mailbox mailbox;
	(void)state;

	assert_int_equal(mailbox_make(&mailbox, "full"), 0);
	assert_null(mailbox_take(&mailbox));
	for (uint32_t i = 0; i < MAILBOX_ROOM - 1; i++)
		assert_int_equal(mailbox_post(&mailbox, &messages[i]), 0);
	assert_int_equal(mailbox_post(&mailbox, &messages[MAILBOX_ROOM - 1]), -ENOBUFS);
	for (uint32_t i = 0; i < MAILBOX_ROOM - 1; i++)
		assert_ptr_equal(mailbox_take(&mailbox), &messages[i]);
	assert_null(mailbox_take(&mailbox));
	mailbox_free(&mailbox);
}

/* Through a ring to the worker that owns the port, as in a pipeline's tx. */
static void a_drain_sends_what_other_workers_hand_over(void **state)
{
	struct scenario *constant = scenario_constant();
	struct bench *bench = bench_make(constant);
	struct worker *sender = &bench->workers[2];
	struct rte_ring *between = ring_make("between", 0, 64);
	struct drain *drain = &bench->drains[1];
	static struct departures out[PORTS];
	(void)state;

	bench->tx_queues[1].ring = between;
	drain->from = &bench->drain_from[0];
	drain->from[0] = between;
	drain->n_from = 1;
	drain->tx_queue.outlet = &drain->outlet;
	drain->tx_queue.port = &bench->ports[1];
	*sender = (struct worker){
	        .role = WORKER_TX, .drains = drain, .n_drains = 1, .mailbox = sender->mailbox};
	send_frames(bench, 0, 32);
	worker_poll(&bench->workers[0], 0);
	send_frames(bench, 32, 32);
	worker_poll(&bench->workers[0], 0);
	/* the ring holds 63 */
	worker_poll(&bench->workers[0], SIMTIME_MS);
	assert_int_equal(rte_ring_count(between), 63);
	worker_poll(sender, SIMTIME_MS + 50);
	worker_poll(&bench->workers[0], SIMTIME_MS + 60);
	worker_poll(sender, SIMTIME_MS + 90);
	assert_int_equal(drain->tx_queue.tx_packets, 64);
	assert_int_equal(drain->tx_queue.lateness_ns.min, 50);
	assert_int_equal(drain->tx_queue.lateness_ns.max, 90);
	memset(out, 0, sizeof(out));
	collect(bench, out);
	for (uint32_t i = 0; i < 64; i++)
		assert_int_equal(out[1].list[i].frame, i);
	rte_ring_free(between);
	bench_free(bench);
	scenario_free(constant);
}

static int start(void **state)
{
	struct problem problem;
	(void)state;

	if (offline_eal_start(96, &problem) < 0)
		return -1;
	pool = pool_make("worker-test", MBUFS, NULL);
	scenario = scenario_two_clouds();
	return pool ? 0 : -1;
}

static int stop(void **state)
{
	(void)state;
	scenario_free(scenario);
	pool_free(pool);
	offline_eal_stop();
	return 0;
}

GROUP(worker)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(departures_do_not_depend_on_how_often_a_worker_polls),
	        cmocka_unit_test(the_instants_of_a_device_count_whenever_a_worker_polls),
	        cmocka_unit_test(without_a_delay_no_packet_leaves_before_the_poll_that_has_seen_it),
	        cmocka_unit_test(a_port_is_not_handed_a_frame_long_before_its_wire_can_be_free),
	        cmocka_unit_test(a_worker_that_comes_round_seldom_does_not_let_the_wire_run_dry),
	        cmocka_unit_test(two_tx_queues_of_a_worker_to_one_port_share_its_wire),
	        cmocka_unit_test(where_the_speed_is_not_known_nothing_waits_for_the_wire),
	        cmocka_unit_test(a_pipeline_gives_the_departures_of_a_single_worker),
	        cmocka_unit_test(lateness_is_the_time_from_due_to_handed_over),
	        cmocka_unit_test(a_departure_close_ahead_is_executed_after_an_idle_poll),
	        cmocka_unit_test(what_is_ready_ahead_waits_for_its_instant),
	        cmocka_unit_test(a_sleep_ends_ahead_of_the_next_departure),
	        cmocka_unit_test(a_message_ends_a_sleep),
	        cmocka_unit_test(what_another_worker_hands_over_ends_a_sleep),
	        cmocka_unit_test(what_a_device_does_not_take_is_sent_later_in_order),
	        cmocka_unit_test(a_full_outlet_is_handed_over_in_the_middle_of_a_poll),
	        cmocka_unit_test(behind_a_device_that_refuses_packets_wait_until_it_takes_them),
	        cmocka_unit_test(a_change_finds_in_no_cloud_what_is_due_whatever_a_device_takes),
	        cmocka_unit_test(what_is_due_stays_on_its_line_while_a_device_takes_nothing),
	        cmocka_unit_test(what_a_message_lets_out_is_handed_over_in_the_same_poll),
	        cmocka_unit_test(what_is_not_taken_within_100_ms_is_dropped_and_counted),
	        cmocka_unit_test(what_waits_for_a_device_stays_in_order_and_keeps_its_name),
	        cmocka_unit_test(what_waits_for_a_device_at_the_end_is_given_back),
	        cmocka_unit_test(without_memory_to_wait_in_a_packet_is_lost_at_once),
	        cmocka_unit_test(
	                a_worker_that_was_late_drops_nothing_that_a_device_refuses_for_a_moment),
	        cmocka_unit_test(with_stamps_of_the_kernel_a_worker_may_read_as_late_as_it_likes),
	        cmocka_unit_test(
	                a_late_reading_delays_only_what_was_due_by_then_and_that_is_counted),
	        cmocka_unit_test(a_packet_that_came_during_a_poll_is_in_hand_until_the_next),
	        cmocka_unit_test(a_stamp_before_the_instant_of_the_engine_is_counted),
	        cmocka_unit_test(what_came_before_a_worker_was_launched_is_dropped_and_counted),
	        cmocka_unit_test(what_is_in_hand_when_a_worker_ends_is_freed),
	        cmocka_unit_test(what_a_port_loses_has_its_name_only_if_its_leaving_was_told),
	        cmocka_unit_test(what_a_device_takes_is_told_with_the_instant_of_that),
	        cmocka_unit_test(nothing_is_given_to_a_device_whose_link_went_down),
	        cmocka_unit_test(a_driver_that_sends_no_chains_gets_only_whole_frames),
	        cmocka_unit_test(a_chain_waits_for_the_mbuf_that_its_copy_needs),
	        cmocka_unit_test(a_message_is_obeyed_once_and_packets_in_flight_are_kept),
	        cmocka_unit_test(
	                a_device_is_told_the_instant_of_each_frame_whenever_a_worker_polls),
	        cmocka_unit_test(a_clear_sets_every_counter_of_the_worker_to_zero),
	        cmocka_unit_test(a_mailbox_that_is_full_refuses_a_message),
	        cmocka_unit_test(a_drain_sends_what_other_workers_hand_over),
	};

	return cmocka_run_group_tests_name("worker", tests, start, stop);
}
