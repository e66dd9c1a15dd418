/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engines driven by hand, as workers do it; their tapes are recorded and run again. They cover what
 * live runs seldom have - ages of a device, packets of weir's own, frames in several segments, a
 * tape that is full, devices that take nothing while changes come - in any order. Live runs are in
 * tests/record.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "folder.h"
#include "live/worker.h"
#include "packet/digest.h"
#include "record/folder_write.h"
#include "record/recorded_file.h"
#include "record/tape.h"
#include "recorded_rig.h"
#include "rig.h"
#include "runner/group.h"

#define POLLS 1500

#define TWO_WAYS                                                                                   \
	"seed 9\nport a\nport b device x rx-latency 1us\ncloud down from a to b\n"                 \
	"cloud up from b to a\ncloud up delay 2ms jitter 1ms order allow\n"

/* Two directions, with statements that draw, queue, and generate packets. */
static const char *const texts[] = {
        TWO_WAYS "cloud down loss random 4%\ncloud down rate 40mbit queue 40kB\n"
                 "cloud down delay 3ms\n",
        TWO_WAYS "cloud down rate 20mbit queue 20pkt\ncloud down delay 1ms jitter 300us\n",
        TWO_WAYS "cloud down duplicate random 10%\ncloud down delay 2ms\n"
                 "cloud up loss random 9%\n",
        TWO_WAYS "cloud down red min 5kB max 20kB max-p 0.1\ncloud down rate 30mbit queue 60kB\n"
                 "cloud down delay 1ms\n",
};

static const struct recorded_rig_conf two_workers = {.texts = texts,
                                                     .n_texts = RTE_DIM(texts),
                                                     .workers = 2,
                                                     .ports = 2,
                                                     .memory_bytes = UINT64_C(16) << 20,
                                                     .burst_most = 5,
                                                     .aged_port = 1,
                                                     .segmented = true,
                                                     .stalls = true,
                                                     .messages = true};

static void what_engines_met_runs_again_whatever_came_in_between(void **state)
{
	static struct rerun_result result;
	static struct recorded_rig rig;
	struct recorded_rig_conf conf = two_workers;
	(void)state;

	for (uint32_t seed = 1; seed <= 12; seed++) {
		conf.snap = seed % 3 == 0 ? 96 : 0;
		conf.spread = seed % 2 == 0;
		dice_seed(seed);
		recorded_rig_play(&rig, &conf, POLLS);
		recorded_rig_again(&rig, &result);
		if (result.differs)
			fail_msg("seed %u: %s", seed, result.difference);
		assert_string_equal(result.damage, "");
		assert_int_equal(result.departures, rig.departed);
		assert_int_equal(result.compared, rig.departed);
		assert_true(result.checks > 0);
		assert_true(rig.overdue > 0);
		for (uint32_t i = 0; i < conf.workers; i++) {
			assert_string_equal(result.workers[i].unknown, "");
			assert_int_equal(result.workers[i].packets, rig.numbers[i]);
			assert_int_equal(result.workers[i].changes, rig.taken[i]);
		}
		recorded_rig_forget(&rig);
	}
}

/* One instant in the middle is a nanosecond later: the packets differ from there on. */
static void a_packet_that_came_a_nanosecond_later_is_another_run(void **state)
{
	static struct rerun_result result;
	static struct recorded_rig rig;
	static uint8_t data[16 << 20];
	struct recorded_rig_conf conf = two_workers;
	uint64_t packets = 0;
	FILE *file;
	(void)state;

	conf.messages = false;
	dice_seed(5);
	recorded_rig_play(&rig, &conf, POLLS);
	file = fopen("R/ingress.pcapng", "r+");
	assert_non_null(file);
	size_t bytes = fread(data, 1, sizeof(data), file);
	for (size_t at = 0; at + 12 <= bytes;) {
		uint32_t head[5];

		memcpy(head, data + at, sizeof(head));
		/* The last packet of a burst of port b, whose line depends only on its instant. */
		if (head[0] == 6 && head[2] == 1 && ++packets == 700) {
			head[4] += 1;
			memcpy(data + at, head, sizeof(head));
		}
		at += head[1];
	}
	rewind(file);
	assert_int_equal(fwrite(data, 1, bytes, file), bytes);
	fclose(file);
	recorded_rig_again(&rig, &result);
	assert_true(result.differs);
	assert_non_null(strstr(result.difference, "worker 1: packet "));
	recorded_rig_forget(&rig);
}

/* ---- a tape that is not emptied ---- */

static void a_full_tape_counts_what_is_missing_and_says_so_when_there_is_room(void **state)
{
	static struct tape tape; /* the stack is not aligned to cache lines */
	const struct tape_entry *entry;
	struct burst burst;
	uint64_t packets = 0;
	(void)state;

	assert_int_equal(tape_make(&tape, 1 << 20, 0), 0);
	for (uint32_t i = 0; i < 2000; i++) {
		burst.mbuf[0] = recorded_rig_frame(1400, false);
		burst_received(&burst, 1, 0, 1000 + i, i + 1);
		tape_burst(&tape, &burst);
		rte_pktmbuf_free(burst.mbuf[0]);
	}
	assert_int_equal(tape.packets + tape.missed, 2000);
	assert_true(tape.missed > 500);
	/* There is room for changes when there is none for packets. */
	tape_change(&tape, 1, 5000);
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

/* ---- a flight's tape ---- */

static void burst_on(struct tape *tape, simtime now)
{
	struct burst burst;

	burst.mbuf[0] = recorded_rig_frame(1400, false);
	burst_received(&burst, 1, 0, now, 1);
	tape_burst(tape, &burst);
	rte_pktmbuf_free(burst.mbuf[0]);
}

static void pass_part(void *argument, const struct tape_entry *entry)
{
	(void)argument;
	(void)entry;
}

/* Returns the kinds of the entries on the tape, a letter each, and empties the tape. */
static const char *kinds_on(struct tape *tape)
{
	static struct tape_part part;
	static char kinds[1 << 10];
	const struct tape_entry *entry;
	size_t n = 0;

	for (; (entry = tape_look(tape)); tape_pass(tape, entry)) {
		assert_true(n + 1 < sizeof(kinds));
		kinds[n++] = entry->kind == TAPE_PACKETS    ? 'p'
		             : entry->kind == TAPE_SNAPSHOT ? 's'
		             : entry->kind == TAPE_GAP      ? 'g'
		             : entry->kind == TAPE_UNHELD   ? 'u'
		                                            : '?';
		if (entry->kind == TAPE_SNAPSHOT)
			tape_snapshot_parts(tape, entry, &part, pass_part, NULL);
	}
	kinds[n] = '\0';
	return kinds;
}

static void a_flight_has_packets_from_a_snapshot_to_a_gap(void **state)
{
	static const struct tape_snapshots snapshots = {.room_bytes = 1 << 20,
	                                                .every_ns = 10 * SIMTIME_S,
	                                                .every_bytes = UINT64_C(1) << 40,
	                                                .held_max = 1000};
	static struct tape tape; /* the stack is not aligned to cache lines */
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 3});
	simtime gap;
	(void)state;

	rig_cloud(rig, "x", 0, 1);
	rig_apply(rig, 0);
	assert_int_equal(tape_make(&tape, 1 << 20, 0), 0);
	assert_int_equal(tape_take_snapshots(&tape, &snapshots), 0);
	burst_on(&tape, 1000);
	assert_string_equal(kinds_on(&tape), "");
	assert_true(tape_wants_snapshot(&tape, 2000));
	tape_snapshot(&tape, rig->engine, 2000);
	burst_on(&tape, 3000);
	assert_string_equal(kinds_on(&tape), "sp");
	assert_int_equal(tape.missed, 1);
	/* The tape is not emptied for a while, and then it is. */
	for (gap = 4000; tape.missed == 1; gap++)
		burst_on(&tape, gap);
	assert_int_equal(strspn(kinds_on(&tape), "p"), tape.packets - 1);
	burst_on(&tape, gap);
	assert_string_equal(kinds_on(&tape), "");
	assert_int_equal(tape.missed, 3);
	assert_false(tape_wants_snapshot(&tape, gap + 99 * SIMTIME_MS));
	gap += 101 * SIMTIME_MS;
	assert_true(tape_wants_snapshot(&tape, gap));
	tape_snapshot(&tape, rig->engine, gap);
	burst_on(&tape, gap);
	assert_string_equal(kinds_on(&tape), "gsp");
	tape_free(&tape);
	rig_close(rig);
}

/* What follows a snapshot can be repeated, so the tape says anew when it cannot. */
static void a_flight_says_behind_each_snapshot_when_memory_was_short(void **state)
{
	static const struct tape_snapshots snapshots = {.room_bytes = 1 << 20,
	                                                .every_ns = 10 * SIMTIME_S,
	                                                .every_bytes = UINT64_C(1) << 40,
	                                                .held_max = 1000};
	static struct tape tape; /* the stack is not aligned to cache lines */
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 3});
	(void)state;

	rig_cloud(rig, "x", 0, 1);
	rig_apply(rig, 0);
	assert_int_equal(tape_make(&tape, 1 << 20, 0), 0);
	assert_int_equal(tape_take_snapshots(&tape, &snapshots), 0);
	for (simtime now = 1000; now < 4000; now += 1000) {
		tape_snapshot(&tape, rig->engine, now);
		burst_on(&tape, now + 100);
		assert_string_equal(kinds_on(&tape), "sp");
		tape.lacked_ns = now + 150;
		burst_on(&tape, now + 200);
		burst_on(&tape, now + 300);
		assert_string_equal(kinds_on(&tape), "upp");
	}
	/* That it was short directly before a snapshot is part of what came before. */
	tape.lacked_ns = 3120;
	tape_snapshot(&tape, rig->engine, 5000);
	burst_on(&tape, 5000);
	assert_string_equal(kinds_on(&tape), "usp");
	tape_free(&tape);
	rig_close(rig);
}

/* Returns the initials of the clouds whose counters a check puts on the tape. */
static const char *clouds_checked(struct tape *tape, struct engine *engine, simtime now)
{
	static const char *const names[] = {"x", "y"};
	static char initials[TAPE_CHECK_CLOUDS + 1];
	const struct tape_entry *entry;
	size_t n = 0;

	tape->until_check = 0;
	tape_check(tape, engine, now);
	for (; (entry = tape_look(tape)); tape_pass(tape, entry)) {
		for (size_t i = 0; i < LENGTH(names) && entry->kind == TAPE_CHECK; i++) {
			if (entry->word == digest_name(names[i]))
				initials[n++] = names[i][0];
		}
	}
	initials[n] = '\0';
	return initials;
}

/* A flight that begins behind the removal does not know what the cloud has counted. */
static void a_flight_checks_no_cloud_that_is_removed_and_empty(void **state)
{
	static const struct tape_snapshots snapshots = {.room_bytes = 1 << 20,
	                                                .every_ns = 10 * SIMTIME_S};
	static struct tape tape, flight; /* the stack is not aligned to cache lines */
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 3});
	(void)state;

	assert_int_equal(tape_make(&tape, 1 << 20, 0), 0);
	assert_int_equal(tape_make(&flight, 1 << 20, 0), 0);
	assert_int_equal(tape_take_snapshots(&flight, &snapshots), 0);
	rig_cloud(rig, "x", 0, 1);
	rig_cloud(rig, "y", 2, 3);
	rig_delay(rig, "y", 1000, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	rig_send(rig, 2, 100, 1);
	rig_remove(rig, "y");
	rig_apply(rig, 2);
	rig_advance(rig, 1000);
	assert_string_equal(clouds_checked(&flight, rig->engine, 1000), "xyxy");
	rig_advance(rig, 1001);
	assert_string_equal(clouds_checked(&flight, rig->engine, 1001), "xx");
	assert_string_equal(clouds_checked(&tape, rig->engine, 1001), "xyxy");
	tape_free(&tape);
	tape_free(&flight);
	rig_close(rig);
}

/* ---- parts ---- */

static void a_digest_does_not_depend_on_segments(void **state)
{
	(void)state;
	for (uint32_t cut = 1; cut < 700; cut += 13) {
		struct rte_mbuf *whole = rte_pktmbuf_alloc(recorded_rig_pool()),
		                *first = rte_pktmbuf_alloc(recorded_rig_pool());
		struct rte_mbuf *rest = rte_pktmbuf_alloc(recorded_rig_pool());
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

/* RFC 3720, B.4: 32 bytes of 0, and 0, 1, 2 ... 31. With any instructions of the processor. */
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

/* A whole outlet has left, and more is due. */
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
	        cmocka_unit_test_setup_teardown(a_flight_has_packets_from_a_snapshot_to_a_gap,
	                                        rig_group_setup, rig_group_teardown),
	        cmocka_unit_test_setup_teardown(
	                a_flight_says_behind_each_snapshot_when_memory_was_short, rig_group_setup,
	                rig_group_teardown),
	        cmocka_unit_test_setup_teardown(a_flight_checks_no_cloud_that_is_removed_and_empty,
	                                        rig_group_setup, rig_group_teardown),
	        cmocka_unit_test(a_digest_does_not_depend_on_segments),
	        cmocka_unit_test_setup_teardown(an_end_says_when_not_all_that_was_due_has_left,
	                                        rig_group_setup, rig_group_teardown),
	        cmocka_unit_test(a_digest_is_the_crc_32c_of_the_rfc),
	        cmocka_unit_test(a_change_is_the_lines_that_it_makes_others),
	};

	return cmocka_run_group_tests(tests, recorded_rig_setup, recorded_rig_teardown);
}
