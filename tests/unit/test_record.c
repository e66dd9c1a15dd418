/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engines by hand, as workers drive them, whose tapes are recorded and run again: what live runs
 * seldom have - ages of a device, packets of weir's own, frames in several segments, a tape that is
 * full, devices that take nothing while changes come - and any order of all. tests/record has live
 * runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "change/change.h"
#include "capture/filter.h"
#include "folder.h"
#include "language/scenario_file.h"
#include "live/worker.h"
#include "machine/pool.h"
#include "offline/offline_pool.h"
#include "packet/digest.h"
#include "record/recorded_file.h"
#include "record/recording.h"
#include "record/rerun.h"
#include "record/scenario_lines.h"
#include "record/tape.h"
#include "rig.h"
#include "runner/group.h"
#include "statements.h"

#define WORKERS 2
#define MEMORY  (UINT64_C(16) << 20)
#define POLLS   1500
#define CHANGES 64

static struct rte_mempool *pool;
static uint64_t random_state;

static uint32_t dice(uint32_t sides)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(random_state >> 33) % sides;
}

/* Two directions, with what draws, queues, and makes more of packets. */
static const char *const middles[] = {
        "cloud down loss random 4%\ncloud down rate 40mbit queue 40kB\ncloud down delay 3ms\n",
        "cloud down rate 20mbit queue 20pkt\ncloud down delay 1ms jitter 300us\n",
        "cloud down duplicate random 10%\ncloud down delay 2ms\ncloud up loss random 9%\n",
        "cloud down red min 5kB max 20kB max-p 0.1\ncloud down rate 30mbit queue 60kB\n"
        "cloud down delay 1ms\n",
};

static struct scenario *scenario_of(uint32_t which)
{
	char text[1024], message[SCENARIO_FILE_ERROR];
	struct scenario *scenario;

	snprintf(text, sizeof(text),
	         "seed 9\nport a\nport b device x rx-latency 1us\ncloud down from a to b\n"
	         "cloud up from b to a\ncloud up delay 2ms jitter 1ms order allow\n%s",
	         middles[which]);
	if (scenario_text_load(text, strlen(text), "test", &scenario, message, sizeof(message)))
		fail_msg("%s", message);
	return scenario;
}

/* ---- a live run by hand ---- */

struct live {
	struct recording *recording;
	struct scenario *scenarios[CHANGES]; /* [0]: of the beginning; behind it each change */
	uint32_t changes, taken[WORKERS];
	struct engine *engines[WORKERS];
	void *memories[WORKERS];
	uint64_t numbers[2], departed, most_late;
	bool stuck; /* devices take nothing */
	simtime now[WORKERS];
};

static const uint32_t emulator[SCENARIO_PORTS_MAX] = {0, 1};

static void apply(struct live *live, uint32_t worker, const struct scenario *scenario, simtime now)
{
	const bool owned[SCENARIO_PORTS_MAX] = {worker == 0, worker == 1};
	struct problem problem;
	struct change *change;

	assert_int_equal(change_prepare(live->engines[worker], scenario, owned, &change, &problem),
	                 0);
	engine_apply(live->engines[worker], change, now);
	change_free(change);
}

static void live_begin(struct live *live, uint32_t snap)
{
	const struct recording_plan plan = {
	        .folder = "R", .weir = "test", .snap = snap, .tape_bytes = UINT64_C(8) << 20};
	struct problem problem;
	char *text;

	memset(live, 0, sizeof(*live));
	live->scenarios[0] = scenario_of(0);
	text = scenario_text(live->scenarios[0]);
	if (recording_open(&plan, live->scenarios[0], text, &live->recording, &problem) < 0)
		fail_msg("%s", problem.text);
	free(text);
	assert_int_equal(recording_begin(live->recording, WORKERS, emulator, MEMORY, &problem), 0);
	for (uint32_t i = 0; i < WORKERS; i++) {
		struct engine_setup setup = {.statements = statements,
		                             .pool = pool,
		                             .memory_bytes = MEMORY,
		                             .seed = 9,
		                             .filters = &filters,
		                             .live = true};

		setup.memory = live->memories[i] = memory_make(MEMORY);
		live->engines[i] = engine_make(&setup);
		assert_non_null(live->engines[i]);
		apply(live, i, live->scenarios[0], 0);
	}
}

static struct rte_mbuf *frame_make(uint32_t bytes)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	char *data = rte_pktmbuf_append(mbuf, (uint16_t)bytes);

	assert_non_null(data);
	for (uint32_t i = 0; i < bytes; i++)
		data[i] = (char)dice(256);
	if (dice(8) == 0) {
		struct rte_mbuf *more = rte_pktmbuf_alloc(pool);
		char *rest = rte_pktmbuf_append(more, 333);

		memset(rest, (int)dice(256), 333);
		assert_int_equal(rte_pktmbuf_chain(mbuf, more), 0);
	}
	return mbuf;
}

static void receive(struct live *live, uint32_t worker, simtime now)
{
	struct tape *tape = recording_tape(live->recording, worker);
	const uint16_t n = (uint16_t)(1 + dice(5));
	struct burst burst;

	for (uint16_t i = 0; i < n; i++)
		burst.mbuf[i] = frame_make(60 + dice(1400));
	burst_received(&burst, n, worker, now, live->numbers[worker] + 1);
	live->numbers[worker] += n;
	if (worker == 1 && dice(2) == 0) {
		uint32_t ages[BURST_MAX];

		for (uint16_t i = 0; i < n; i++)
			ages[i] = dice(900);
		burst_set_ages(&burst, ages);
	}
	tape_burst(tape, &burst);
	engine_ingress(live->engines[worker], &burst);
}

static void advance(struct live *live, uint32_t worker, simtime now)
{
	struct tape *tape = recording_tape(live->recording, worker);
	struct engine *engine = live->engines[worker];

	do {
		engine_advance(engine, now);
		for (uint32_t port = 0; port < 2; port++) {
			struct outlet *outlet = engine_outlet(engine, port);

			tape_departures(tape, port, outlet, now);
			if (!live->stuck) {
				live->departed += outlet->n;
				rte_pktmbuf_free_bulk(outlet->mbufs, outlet->n);
				outlet->n = 0;
			}
			tape_left(tape, port, outlet->n);
			live->most_late = RTE_MAX(live->most_late, engine_late(engine, port));
		}
	} while (!live->stuck && engine_next(engine) <= now);
	tape_check(tape, engine, now);
}

static void take_change(struct live *live, uint32_t worker, simtime now)
{
	const uint32_t number = ++live->taken[worker];

	tape_change(recording_tape(live->recording, worker), number, now,
	            engine_settle(live->engines[worker], now));
	apply(live, worker, live->scenarios[number], now);
}

/* One poll of a worker, as worker.c has it. */
static void poll(struct live *live, uint32_t worker)
{
	static const uint8_t frames[120];
	struct tape *tape = recording_tape(live->recording, worker);
	const simtime now = live->now[worker] += dice(4) ? dice(200000) : 0;

	if (dice(30) == 0)
		live->stuck = dice(3) == 0;
	if (dice(3) > 0)
		receive(live, worker, now);
	advance(live, worker, now);
	if (live->taken[worker] < live->changes && dice(3) == 0) {
		take_change(live, worker, now);
	} else if (dice(60) == 0) {
		const struct insertion insertion = {worker ? "up" : "down", 2, 60, frames};

		tape_insertion(tape, &insertion, now, engine_settle(live->engines[worker], now));
		engine_insert(live->engines[worker], &insertion, now);
	} else if (dice(90) == 0) {
		tape_clear(tape, now, engine_settle(live->engines[worker], now));
		engine_clear(live->engines[worker]);
	}
}

static void change_something(struct live *live)
{
	if (live->changes + 1 == CHANGES)
		return;
	live->scenarios[++live->changes] = scenario_of(dice((uint32_t)RTE_DIM(middles)));
	recording_change(live->recording, live->changes,
	                 scenario_text(live->scenarios[live->changes]));
}

static void live_end(struct live *live)
{
	live->stuck = false;
	for (uint32_t i = 0; i < WORKERS; i++) {
		advance(live, i, live->now[i]);
		tape_end(recording_tape(live->recording, i), live->now[i], true);
		engine_free(live->engines[i]);
		memory_free(live->memories[i], MEMORY);
	}
	recording_finish(live->recording);
	recording_free(live->recording);
}

static void live_forget(struct live *live)
{
	for (uint32_t i = 0; i <= live->changes; i++)
		scenario_free(live->scenarios[i]);
	assert_int_equal(system("rm -r R"), 0);
}

/* ---- again ---- */

static const struct scenario *scenario_after(void *argument, uint32_t worker, uint64_t number,
                                             struct problem *problem)
{
	const struct live *live = argument;
	(void)worker;
	(void)problem;

	return number <= live->changes ? live->scenarios[number] : NULL;
}

static void again(struct live *live, uint32_t snap, struct rerun_result *result)
{
	const struct replay_options replay = {.memory_bytes = 64 << 20};
	struct rerun_options options = {.path = "R/ingress.pcapng",
	                                .workers = WORKERS,
	                                .snap = snap,
	                                .change = scenario_after,
	                                .until_ns = SIMTIME_NEVER,
	                                .replay = &replay,
	                                .argument = live};
	struct problem problem;

	memcpy(options.emulator, emulator, sizeof(emulator));
	memset(result, 0, sizeof(*result));
	if (rerun_run(live->scenarios[0], &options, result, &problem) < 0)
		fail_msg("%s", problem.text);
	replay_result_free(&result->replay);
}

static void what_engines_met_runs_again_whatever_came_in_between(void **state)
{
	static struct rerun_result result;
	static struct live live;
	(void)state;

	for (uint32_t seed = 1; seed <= 12; seed++) {
		const uint32_t snap = seed % 3 == 0 ? 96 : 0;

		random_state = seed;
		live_begin(&live, snap);
		for (uint32_t i = 0; i < POLLS; i++) {
			if (dice(30) == 0)
				change_something(&live);
			poll(&live, dice(WORKERS));
		}
		live_end(&live);
		again(&live, snap, &result);
		if (result.differs)
			fail_msg("seed %u: %s", seed, result.difference);
		assert_string_equal(result.damage, "");
		assert_int_equal(result.departures, live.departed);
		assert_int_equal(result.compared, live.departed);
		assert_true(result.checks > 0);
		assert_true(live.most_late > 0);
		for (uint32_t i = 0; i < WORKERS; i++) {
			assert_string_equal(result.workers[i].unknown, "");
			assert_int_equal(result.workers[i].packets, live.numbers[i]);
			assert_int_equal(result.workers[i].changes, live.taken[i]);
		}
		live_forget(&live);
	}
}

/* An instant of one nanosecond more, in the middle: the packets are others from there on. */
static void a_packet_that_came_a_nanosecond_later_is_another_run(void **state)
{
	static struct rerun_result result;
	static struct live live;
	static uint8_t data[16 << 20];
	uint64_t packets = 0;
	FILE *file;
	(void)state;

	random_state = 5;
	live_begin(&live, 0);
	for (uint32_t i = 0; i < POLLS; i++)
		poll(&live, dice(WORKERS));
	live_end(&live);
	file = fopen("R/ingress.pcapng", "r+");
	assert_non_null(file);
	size_t bytes = fread(data, 1, sizeof(data), file);
	for (size_t at = 0; at + 12 <= bytes;) {
		uint32_t head[5];

		memcpy(head, data + at, sizeof(head));
		/* The last of a burst of port b, whose line depends on nothing but its instant. */
		if (head[0] == 6 && head[2] == 1 && ++packets == 700) {
			head[4] += 1;
			memcpy(data + at, head, sizeof(head));
		}
		at += head[1];
	}
	rewind(file);
	assert_int_equal(fwrite(data, 1, bytes, file), bytes);
	fclose(file);
	again(&live, 0, &result);
	assert_true(result.differs);
	assert_non_null(strstr(result.difference, "worker 1: packet "));
	live_forget(&live);
}

/* ---- a tape that nobody empties ---- */

static void a_full_tape_counts_what_is_missing_and_says_so_when_there_is_room(void **state)
{
	static struct tape tape; /* the stack is not aligned to cache lines */
	const struct tape_entry *entry;
	struct burst burst;
	uint64_t packets = 0;
	(void)state;

	assert_int_equal(tape_make(&tape, 1 << 20, 0), 0);
	for (uint32_t i = 0; i < 2000; i++) {
		burst.mbuf[0] = frame_make(1400);
		burst_received(&burst, 1, 0, 1000 + i, i + 1);
		tape_burst(&tape, &burst);
		rte_pktmbuf_free(burst.mbuf[0]);
	}
	assert_int_equal(tape.packets + tape.missed, 2000);
	assert_true(tape.missed > 500);
	/* Changes find room where packets do not. */
	tape_change(&tape, 1, 5000, true);
	for (bool told = false; (entry = tape_look(&tape)); tape_pass(&tape, entry)) {
		if (entry->kind == TAPE_PACKETS)
			packets += entry->n;
		if (entry->kind == TAPE_GAP) {
			assert_int_equal(entry->n, tape.missed);
			assert_int_equal(entry->number, 1000 + packets);
			told = true;
		}
		if (entry->kind == TAPE_CHANGE)
			assert_true(told);
	}
	assert_int_equal(packets, tape.packets);
	tape_free(&tape);
}

/* ---- parts ---- */

static void a_digest_does_not_depend_on_segments(void **state)
{
	(void)state;
	for (uint32_t cut = 1; cut < 700; cut += 13) {
		struct rte_mbuf *whole = rte_pktmbuf_alloc(pool), *first = rte_pktmbuf_alloc(pool);
		struct rte_mbuf *rest = rte_pktmbuf_alloc(pool);
		uint8_t *data = (uint8_t *)rte_pktmbuf_append(whole, 700);

		for (uint32_t i = 0; i < 700; i++)
			data[i] = (uint8_t)dice(256);
		memcpy(rte_pktmbuf_append(first, (uint16_t)cut), data, cut);
		memcpy(rte_pktmbuf_append(rest, (uint16_t)(700 - cut)), data + cut, 700 - cut);
		assert_int_equal(rte_pktmbuf_chain(first, rest), 0);
		for (uint32_t most = 0; most < 800; most += 61)
			assert_int_equal(digest_departure(whole, 7, 700, most),
			                 digest_departure(first, 7, 700, most));
		assert_int_not_equal(digest_departure(whole, 7, 700, 700),
		                     digest_departure(whole, 8, 700, 700));
		data[cut] ^= 1;
		assert_int_not_equal(digest_departure(whole, 7, 700, 700),
		                     digest_departure(first, 7, 700, 700));
		rte_pktmbuf_free(whole);
		rte_pktmbuf_free(first);
	}
}

/* RFC 3720, B.4: 32 bytes of 0, and 0, 1, 2 ... 31. Whatever the processor has. */
static void a_digest_is_the_crc_32c_of_the_rfc(void **state)
{
	uint8_t data[32] = {0};
	(void)state;

	assert_int_equal(digest_crc_bytes(UINT32_MAX, data, 32) ^ UINT32_MAX, 0x8a9136aa);
	for (uint8_t i = 0; i < 32; i++)
		data[i] = i;
	assert_int_equal(digest_crc_bytes(UINT32_MAX, data, 32) ^ UINT32_MAX, 0x46dd794e);
}

static void a_change_is_the_lines_that_it_makes_others(void **state)
{
	static const struct {
		const char *before, *after, *line;
	} cases[] = {
	        {"a\nb\nc\n", "a\nx\nc\n", "\"from\":1,\"removed\":1,\"lines\":[\"x\"]"},
	        {"a\nc\n", "a\nb\nc\n", "\"from\":1,\"removed\":0,\"lines\":[\"b\"]"},
	        {"a\nb\n", "a\n", "\"from\":1,\"removed\":1,\"lines\":[]"},
	        {"a\n", "a\n", "\"from\":1,\"removed\":0,\"lines\":[]"},
	        {"a\nb\n", "a\nbb\n", "\"from\":1,\"removed\":1,\"lines\":[\"bb\"]"},
	        {"ab\nb\n", "b\n", "\"from\":0,\"removed\":1,\"lines\":[]"},
	        {"a\n", "say \"x\\y\"\n",
	         "\"from\":0,\"removed\":1,\"lines\":[\"say \\\"x\\\\y\\\"\"]"},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = NULL, wanted[200];
		size_t bytes;
		FILE *out = open_memstream(&text, &bytes);

		scenario_lines_write(out, 3, cases[i].before, cases[i].after);
		fclose(out);
		snprintf(wanted, sizeof(wanted), "{\"change\":3,%s}\n", cases[i].line);
		assert_string_equal(text, wanted);
		free(text);
	}
}

/* A device has taken a whole outlet, and more is due. */
static void an_end_says_when_not_all_that_was_due_has_left(void **state)
{
	static struct worker worker; /* the stack is not aligned to cache lines */
	static struct tape tape;
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 3});

	(void)state;
	worker.engine = rig->engine;
	worker.now = 50;
	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", 10, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	for (uint32_t i = 0; i < OUTLET_ROOM + 36; i++)
		rig_send(rig, 0, 100, 1);
	assert_int_equal(tape_make(&tape, 1 << 20, 0), 0);
	worker.tape = &tape;
	engine_advance(rig->engine, worker.now);
	rig_collect(rig);
	worker_record_end(&worker);
	assert_int_equal(tape_look(&tape)->kind, TAPE_END);
	assert_int_equal(tape_look(&tape)->flags, TAPE_UNSETTLED);
	tape_pass(&tape, tape_look(&tape));
	engine_advance(rig->engine, worker.now);
	rig_collect(rig);
	worker_record_end(&worker);
	assert_int_equal(tape_look(&tape)->kind, TAPE_END);
	assert_int_equal(tape_look(&tape)->flags, 0);
	tape_free(&tape);
	rig_close(rig);
}

static int pool_begin(void **state)
{
	(void)state;
	pool = offline_pool_make("record", 8191, 16383, NULL);
	return pool ? 0 : -1;
}

static int pool_end(void **state)
{
	(void)state;
	assert_int_equal(pool_available(pool), pool_size(pool));
	offline_pool_free(pool);
	return 0;
}

GROUP(record)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(
	                what_engines_met_runs_again_whatever_came_in_between, enter_folder,
	                leave_folder),
	        cmocka_unit_test_setup_teardown(
	                a_packet_that_came_a_nanosecond_later_is_another_run, enter_folder,
	                leave_folder),
	        cmocka_unit_test(a_full_tape_counts_what_is_missing_and_says_so_when_there_is_room),
	        cmocka_unit_test(a_digest_does_not_depend_on_segments),
	        cmocka_unit_test_setup_teardown(an_end_says_when_not_all_that_was_due_has_left,
	                                        rig_group_setup, rig_group_teardown),
	        cmocka_unit_test(a_digest_is_the_crc_32c_of_the_rfc),
	        cmocka_unit_test(a_change_is_the_lines_that_it_makes_others),
	};

	return cmocka_run_group_tests(tests, pool_begin, pool_end);
}
