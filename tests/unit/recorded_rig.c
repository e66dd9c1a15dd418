/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorded_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture/filter.h"
#include "change/change.h"
#include "engine/engine_state.h"
#include "language/scenario_file.h"
#include "machine/pool.h"
#include "offline/offline_pool.h"
#include "record/tape.h"
#include "statements.h"

static struct rte_mempool *pool;
static uint64_t random_state;

static uint64_t draw(void)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return random_state;
}

uint32_t dice(uint32_t sides)
{
	return (uint32_t)(draw() >> 33) % sides;
}

void dice_seed(uint64_t seed)
{
	random_state = seed;
}

int recorded_rig_setup(void **state)
{
	(void)state;
	pool = offline_pool_make("recorded_rig", 8191, 65535, NULL);
	return pool ? 0 : -1;
}

int recorded_rig_teardown(void **state)
{
	(void)state;
	assert_int_equal(pool_available(pool), pool_size(pool));
	offline_pool_free(pool);
	return 0;
}

struct rte_mempool *recorded_rig_pool(void)
{
	return pool;
}

/* ---- engines ---- */

static struct scenario *scenario_of(const struct recorded_rig *rig, uint32_t which)
{
	const char *text = rig->conf.texts[which];
	char message[SCENARIO_FILE_ERROR];
	struct scenario *scenario;

	if (scenario_text_load(text, strlen(text), "test", &scenario, message, sizeof(message)))
		fail_msg("%s", message);
	return scenario;
}

static void apply(struct recorded_rig *rig, uint32_t worker, const struct scenario *scenario,
                  simtime now)
{
	bool owned[SCENARIO_PORTS_MAX] = {false};
	struct problem problem;

	for (uint32_t port = 0; port < rig->conf.ports; port++)
		owned[port] = rig->emulator[port] == worker;
	assert_int_equal(change_at_once(rig->engines[worker], scenario, owned, now, &problem), 0);
}

static void empty(struct recorded_rig *rig, uint32_t worker, uint32_t port)
{
	struct outlet *outlet = engine_outlet(rig->engines[worker], port);

	tape_departures(recording_tape(rig->recording, worker), port, outlet, rig->now[worker]);
	rig->departed += outlet->n;
	rte_pktmbuf_free_bulk(outlet->mbufs, outlet->n);
	outlet_clear(outlet);
}

static void make_room(void *argument, uint32_t port)
{
	const struct recorded_rig_room *room = argument;

	empty(room->rig, room->worker, port);
}

static void begin(struct recorded_rig *rig, const struct recorded_rig_conf *conf)
{
	const struct recording_plan plan = {.folder = conf->flight ? NULL : "R",
	                                    .weir = "test",
	                                    .snap = conf->snap,
	                                    /* A whole run, however slow the writer: 24 MB. */
	                                    .tape_bytes = UINT64_C(32) << 20,
	                                    .flight_bytes = UINT64_C(64) << 20,
	                                    .held_max = RECORDING_FLIGHT_HELD};
	struct problem problem;
	char *text;

	memset(rig, 0, sizeof(*rig));
	rig->conf = *conf;
	for (uint32_t port = 0; port < conf->ports; port++)
		rig->emulator[port] = port % conf->workers;
	rig->scenarios[0] = scenario_of(rig, 0);
	text = scenario_text(rig->scenarios[0]);
	if (recording_open(&plan, rig->scenarios[0], text, &rig->recording, &problem) < 0)
		fail_msg("%s", problem.text);
	free(text);
	assert_int_equal(recording_begin(rig->recording, conf->workers, rig->emulator,
	                                 conf->memory_bytes, &problem),
	                 0);
	for (uint32_t i = 0; i < conf->workers; i++) {
		struct engine_setup setup = {
		        .statements = statements,
		        .pool = pool,
		        .memory_bytes = conf->memory_bytes,
		        .seed = rig->scenarios[0]->seed,
		        .filters = &filters,
		        .lacked_ns = &recording_tape(rig->recording, i)->lacked_ns,
		        .live = true,
		        .make_room = make_room,
		        .room_argument = &rig->rooms[i],
		};

		rig->rooms[i] = (struct recorded_rig_room){rig, i};

		setup.memory = rig->memories[i] = memory_make(conf->memory_bytes);
		rig->engines[i] = engine_make(&setup);
		assert_non_null(rig->engines[i]);
		rig->lacked[i].by = SIMTIME_NEVER;
		apply(rig, i, rig->scenarios[0], 0);
	}
}

/* ---- polls ---- */

struct rte_mbuf *recorded_rig_frame(uint32_t bytes, bool segmented)
{
	static const uint8_t ip[] = {8, 0, 0x45};
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	char *data = mbuf ? rte_pktmbuf_append(mbuf, (uint16_t)bytes) : NULL;
	struct rte_mbuf *more = NULL;

	if (!data)
		return NULL;
	for (uint32_t i = 0; i < bytes; i += 4) {
		uint32_t drawn = (uint32_t)(draw() >> 32);

		memcpy(data + i, &drawn, RTE_MIN(sizeof(drawn), bytes - i));
	}
	memcpy(data + 12, ip, sizeof(ip));
	data[16] = (char)((bytes - 14) >> 8);
	data[17] = (char)(bytes - 14);
	data[20] = data[21] = 0; /* no fragment */
	data[23] = dice(3) ? 17 : 6;
	if (segmented && dice(8) == 0)
		more = rte_pktmbuf_alloc(pool);
	if (more) {
		memset(rte_pktmbuf_append(more, 333), (int)dice(256), 333);
		assert_int_equal(rte_pktmbuf_chain(mbuf, more), 0);
	}
	return mbuf;
}

static void receive(struct recorded_rig *rig, uint32_t worker)
{
	const struct recorded_rig_conf *conf = &rig->conf;
	const uint32_t port = worker + conf->workers * dice(conf->ports / conf->workers);
	const uint32_t most = 1 + dice(conf->burst_most);
	simtime now = rig->now[worker];
	struct burst burst;

	burst_open(&burst, port, rig->numbers[port] + 1);
	for (uint32_t i = 0; i < most; i++) {
		struct rte_mbuf *mbuf = recorded_rig_frame(60 + dice(1400), conf->segmented);

		if (!mbuf)
			break;
		if (conf->spread)
			now += dice(2) ? dice(40000) : 0;
		burst_put(&burst, mbuf, now, mbuf->pkt_len);
	}
	rig->now[worker] = now;
	if (burst.n == 0)
		return;
	rig->numbers[port] += burst.n;
	if (port == conf->aged_port && dice(2) == 0) {
		uint32_t ages[BURST_MAX];

		for (uint16_t i = 0; i < burst.n; i++)
			ages[i] = dice(900);
		burst_set_ages(&burst, ages);
	}
	tape_burst(recording_tape(rig->recording, worker), &burst);
	engine_ingress(rig->engines[worker], &burst);
}

static void advance(struct recorded_rig *rig, uint32_t worker)
{
	struct engine *engine = rig->engines[worker];
	const simtime now = rig->now[worker];

	engine_advance(engine, now);
	for (uint32_t port = 0; port < rig->conf.ports; port++)
		empty(rig, worker, port);
	rig->overdue += engine_next(engine) <= now;
	tape_check(recording_tape(rig->recording, worker), engine, now);
}

static void take_change(struct recorded_rig *rig, uint32_t worker)
{
	const simtime now = rig->now[worker];
	const uint32_t number = ++rig->taken[worker];

	engine_settle(rig->engines[worker], now);
	tape_change(recording_tape(rig->recording, worker), number, now);
	apply(rig, worker, rig->scenarios[number], now);
}

/* Inserts into the worker's first cloud; the scenarios have two. */
static void take_insertion(struct recorded_rig *rig, uint32_t worker)
{
	static const uint8_t frames[120];
	const struct insertion insertion = {worker ? "up" : "down", 2, 60, frames};
	const simtime now = rig->now[worker];

	engine_settle(rig->engines[worker], now);
	tape_insertion(recording_tape(rig->recording, worker), &insertion, now);
	engine_insert(rig->engines[worker], &insertion, now);
}

static void take_message(struct recorded_rig *rig, uint32_t worker)
{
	const simtime now = rig->now[worker];

	if (rig->taken[worker] < rig->changes && dice(3) == 0) {
		take_change(rig, worker);
	} else if (dice(60) == 0) {
		take_insertion(rig, worker);
	} else if (dice(90) == 0) {
		engine_settle(rig->engines[worker], now);
		tape_clear(recording_tape(rig->recording, worker), now);
		engine_clear(rig->engines[worker]);
	}
}

static bool counts_a_lack(const struct engine *engine)
{
	const struct cloud_table *cloud_table = engine->cloud_table;
	uint64_t lacks = 0;

	for (uint32_t i = 0; i < cloud_table->n_slots; i++) {
		if (cloud_table->slots[i])
			lacks += cloud_table->slots[i]->counters.drops[REASON_NO_BUFFER];
	}
	return lacks > 0;
}

static void snapshot(struct recorded_rig *rig, uint32_t worker)
{
	struct tape *tape = recording_tape(rig->recording, worker);

	if (tape_wants_snapshot(tape, rig->now[worker]) &&
	    engine_next(rig->engines[worker]) > rig->now[worker])
		tape_snapshot(tape, rig->engines[worker], rig->now[worker]);
}

/* Does one poll of a worker, as worker.c does. */
static void poll(struct recorded_rig *rig, uint32_t worker)
{
	const struct tape *tape = recording_tape(rig->recording, worker);
	const simtime before = rig->now[worker];
	uint64_t recorded = 0;

	for (uint32_t port = 0; port < rig->conf.ports; port++)
		recorded += tape->account.departed[port];
	rig->now[worker] += dice(4) ? dice(200000) : 0;
	if (rig->conf.stalls && dice(20) == 0)
		rig->now[worker] += dice(20000000);
	if (dice(3) > 0)
		receive(rig, worker);
	advance(rig, worker);
	if (rig->lacked[worker].by == SIMTIME_NEVER && counts_a_lack(rig->engines[worker])) {
		rig->lacked[worker].after = before;
		rig->lacked[worker].by = rig->now[worker];
		rig->lacked[worker].recorded = recorded;
	}
	if (rig->conf.messages)
		take_message(rig, worker);
	snapshot(rig, worker);
}

static void change_something(struct recorded_rig *rig)
{
	if (rig->changes + 1 == RECORDED_RIG_CHANGES)
		return;
	rig->scenarios[++rig->changes] = scenario_of(rig, dice(rig->conf.n_texts));
	recording_change(rig->recording, rig->changes, scenario_text(rig->scenarios[rig->changes]));
}

static void end(struct recorded_rig *rig)
{
	struct recording_dump dump;
	struct problem problem;

	for (uint32_t i = 0; i < rig->conf.workers; i++) {
		do
			advance(rig, i);
		while (engine_next(rig->engines[i]) <= rig->now[i]);
		tape_end(recording_tape(rig->recording, i), rig->now[i], true);
		engine_free(rig->engines[i]);
		memory_free(rig->memories[i], rig->conf.memory_bytes);
	}
	recording_finish(rig->recording);
	if (rig->conf.flight && recording_dump(rig->recording, "R", &dump, &problem) < 0)
		fail_msg("%s", problem.text);
	recording_free(rig->recording);
}

void recorded_rig_play(struct recorded_rig *rig, const struct recorded_rig_conf *conf,
                       uint32_t polls)
{
	begin(rig, conf);
	for (uint32_t i = 0; i < polls; i++) {
		if (conf->messages && dice(30) == 0)
			change_something(rig);
		poll(rig, dice(conf->workers));
	}
	end(rig);
}

void recorded_rig_forget(struct recorded_rig *rig)
{
	for (uint32_t i = 0; i <= rig->changes; i++)
		scenario_free(rig->scenarios[i]);
	assert_int_equal(system("rm -r R"), 0);
}

/* ---- again ---- */

static const struct scenario *scenario_after(void *argument, uint32_t worker, uint64_t number,
                                             struct problem *problem)
{
	const struct recorded_rig *rig = argument;
	(void)worker;
	(void)problem;

	return number <= rig->changes ? rig->scenarios[number] : NULL;
}

void recorded_rig_again(struct recorded_rig *rig, struct rerun_result *result)
{
	const struct replay_options replay = {.memory_bytes = 64 << 20};
	struct rerun_options options = {.path = "R/ingress.pcapng",
	                                .workers = rig->conf.workers,
	                                .snap = rig->conf.snap,
	                                .flight = rig->conf.flight,
	                                .ideal = rig->conf.ideal,
	                                .change = scenario_after,
	                                .until_ns = SIMTIME_NEVER,
	                                .replay = &replay,
	                                .argument = rig};
	struct problem problem;

	memcpy(options.emulator, rig->emulator, sizeof(rig->emulator));
	memset(result, 0, sizeof(*result));
	if (rerun_run(rig->scenarios[0], &options, result, &problem) < 0)
		fail_msg("%s", problem.text);
	replay_result_free(&result->replay);
}
