/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engines that run out of memory, recorded: the repetition equals the run up to the first packet
 * that found none, and says so. Recordings of older versions of weir, which wrote down each such
 * packet, are repeated up to the first one, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>

#include "folder.h"
#include "record/recorded_file.h"
#include "record/tape.h"
#include "recorded_rig.h"

#define POLLS 2500
#define SEEDS 6

/* Each direction has a line of its own. */
static const char *const apart[] = {
        "seed 6\nport a\nport b\ncloud down from a to b\ncloud up from b to a\n"
        "cloud down duplicate 5%\ncloud down rate 200mbit queue 40MB drop head\n"
        "cloud down delay 10ms jitter 2ms order allow\n"
        "cloud up rate 120mbit queue 40MB\ncloud up delay 10ms\n",
        "seed 7\nport a\nport b\ncloud down from a to b\ncloud up from b to a\n"
        "cloud down rate 150mbit queue 40MB\ncloud down red min 500kB max 2MB max-p 0.1\n"
        "cloud down reorder random 20% by 3pkt\ncloud down delay 10ms\n"
        "cloud up rate 120mbit queue 40MB\ncloud up delay 10ms limit 2000pkt\n",
};

/* Clouds share ports: their events are in one order. */
static const char *const meeting[] = {
        "seed 5\nport a\nport b\nport c\n"
        "cloud ab from a to b priority 1 match udp\ncloud ac from a to c\n"
        "cloud ba from b to a\ncloud ca from c to a\ncloud far from ab to b\n"
        "cloud ab duplicate 5%\ncloud ab rate 80mbit queue 40MB\ncloud ab fq-codel\n"
        "cloud ab delay 10ms jitter 2ms\ncloud far delay 6ms\n"
        "cloud ac reorder random 20% by 3pkt\ncloud ac delay 10ms\n"
        "cloud ba hop 192.0.2.254 mtu 1000\ncloud ba rate 100mbit queue 20MB\n"
        "cloud ba delay 10ms\n"
        "cloud ca rate 200mbit queue 20MB drop head\n"
        "cloud ca delay 10ms jitter 2ms order allow\n",
};

static const struct recorded_rig_conf one_worker = {.n_texts = 1,
                                                    .workers = 1,
                                                    .memory_bytes = UINT64_C(256) << 10,
                                                    .burst_most = BURST_MAX,
                                                    .aged_port = RECORDED_RIG_NO_PORT};

static void assert_agrees(const struct rerun_result *result, uint32_t seed)
{
	if (result->differs)
		fail_msg("seed %u: %s", seed, result->difference);
	assert_string_equal(result->damage, "");
}

/* Asserts that the repetition ends where memory was first short: in the poll that first counted a
 * packet without, or before it, if an event had to wait. */
static void assert_ends_there(const struct recorded_rig *rig, const struct rerun_result *result,
                              bool waits)
{
	const struct rerun_worker *worker = &result->workers[0];

	assert_non_null(strstr(worker->unknown, "weir had no memory for some packets"));
	assert_non_null(strstr(worker->unknown, "--memory"));
	assert_int_equal(worker->known_ns, worker->lacked_ns);
	assert_true(worker->known_ns <= rig->lacked[0].by);
	assert_true(waits || worker->known_ns >= rig->lacked[0].after);
	assert_false(worker->ended);
	/* All that left in the polls before is compared. */
	if (!rig->conf.flight && worker->known_ns > rig->lacked[0].after)
		assert_int_equal(result->compared, rig->lacked[0].recorded);
}

/* Plays and reruns SEEDS runs, with two to four times their memory_bytes. `waits`: events may have
 * to wait for memory. */
static void assert_run_again_up_to_there(const struct recorded_rig_conf *of, bool waits)
{
	static struct rerun_result result;
	static struct recorded_rig rig;
	struct recorded_rig_conf conf = *of;
	uint64_t agreed = 0;

	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		dice_seed(seed);
		conf.memory_bytes = (2 + dice(3)) * of->memory_bytes;
		recorded_rig_play(&rig, &conf, POLLS);
		assert_int_not_equal(rig.lacked[0].by, SIMTIME_NEVER);
		recorded_rig_again(&rig, &result);
		assert_agrees(&result, seed);
		assert_ends_there(&rig, &result, waits);
		agreed += conf.flight ? result.checks : result.compared;
		recorded_rig_forget(&rig);
	}
	assert_true(agreed > 0);
}

static void a_run_without_memory_is_repeated_up_to_there_on_lines_of_its_own(void **state)
{
	struct recorded_rig_conf conf = one_worker;
	(void)state;

	conf.ports = 2;
	for (uint32_t i = 0; i < 2 * RTE_DIM(apart); i++) {
		conf.texts = &apart[i / 2];
		conf.spread = i % 2;
		conf.memory_bytes = (UINT64_C(256) << 10) >> i;
		assert_run_again_up_to_there(&conf, false);
	}
}

static void a_run_without_memory_is_repeated_up_to_there_where_clouds_meet(void **state)
{
	struct recorded_rig_conf conf = one_worker;
	(void)state;

	conf.texts = meeting;
	conf.ports = 3;
	assert_run_again_up_to_there(&conf, true);
	conf.spread = true;
	assert_run_again_up_to_there(&conf, true);
}

/* Changes, clearings and insertions find clouds in which something due waits for memory. */
static void a_run_without_memory_is_repeated_up_to_there_amid_messages(void **state)
{
	struct recorded_rig_conf conf = one_worker;
	(void)state;

	conf.texts = apart;
	conf.n_texts = RTE_DIM(apart);
	conf.ports = 2;
	conf.messages = true;
	assert_run_again_up_to_there(&conf, true);
}

static void a_flight_without_memory_is_repeated_up_to_there(void **state)
{
	struct recorded_rig_conf conf = one_worker;
	(void)state;

	conf.texts = apart;
	conf.ports = 2;
	conf.flight = true;
	assert_run_again_up_to_there(&conf, false);
	conf.texts = meeting;
	conf.ports = 3;
	conf.memory_bytes = UINT64_C(1) << 20;
	assert_run_again_up_to_there(&conf, true);
}

static void an_ideal_repetition_goes_on_and_compares_up_to_there(void **state)
{
	static struct rerun_result result;
	static struct recorded_rig rig;
	struct recorded_rig_conf conf = one_worker;
	(void)state;

	conf.texts = apart;
	conf.ports = 2;
	conf.memory_bytes = UINT64_C(512) << 10;
	dice_seed(3);
	recorded_rig_play(&rig, &conf, POLLS);
	rig.conf.ideal = true;
	recorded_rig_again(&rig, &result);
	assert_agrees(&result, 3);
	assert_string_equal(result.workers[0].unknown, "");
	assert_true(result.workers[0].ended);
	assert_int_equal(result.packets, rig.numbers[0] + rig.numbers[1]);
	assert_int_equal(result.compared, rig.lacked[0].recorded);
	recorded_rig_forget(&rig);
}

/* ---- older recordings ---- */

#define FILE_MAX (64u << 20)

/* What older versions wrote, in the middle of a recording. */
static const struct older {
	struct tape_entry entry;
	const char *what;
} olds[] = {
        {{.kind = TAPE_UNHELD, .flags = 1, .n = 3, .word = 0x1234567, .number = 17},
         "packets without a place in the queue"},
        {{.kind = TAPE_UNHELD, .flags = 11, .n = 1, .word = 0x1234567}, "a timer"},
        {{.kind = TAPE_CLEAR, .flags = TAPE_UNSETTLED}, "packets due when counters were cleared"},
        {{.kind = TAPE_CHANGE, .flags = TAPE_UNSETTLED, .number = 1},
         "packets due when a change came"},
};

/* Puts the entry behind half of the departures, at the same instant. Returns the instant, and how
 * many departures are recorded before that. */
static simtime insert_older(const struct tape_entry *older, uint64_t *recorded)
{
	const uint32_t length = RECORDED_ENTRY_HEAD + sizeof(*older) + 4, worker = 0;
	uint8_t *data = malloc(FILE_MAX);
	FILE *file = fopen("R/ingress.pcapng", "r+");
	uint64_t departures = 0, before = 0, same = 0;
	struct tape_entry entry = {.t_ns = 0};
	size_t bytes, at = 0;

	assert_non_null(data);
	assert_non_null(file);
	bytes = fread(data, 1, FILE_MAX, file);
	for (uint32_t head[2]; at + 12 <= bytes && departures < POLLS / 2; at += head[1]) {
		struct tape_entry next;

		memcpy(head, data + at, sizeof(head));
		if (head[0] != RECORDED_ENTRY)
			continue;
		memcpy(&next, data + at + RECORDED_ENTRY_HEAD, sizeof(next));
		if (next.kind != TAPE_DEPARTURES)
			continue;
		departures++;
		same = (next.t_ns == entry.t_ns ? same : 0) + next.n;
		before += next.n;
		entry = next;
	}
	assert_int_equal(departures, POLLS / 2);
	*recorded = before - same;
	departures = entry.t_ns;
	entry = *older;
	entry.bytes = sizeof(entry);
	entry.t_ns = departures;
	fseek(file, (long)at, SEEK_SET);
	fwrite((const uint32_t[]){RECORDED_ENTRY, length, worker, 0}, RECORDED_ENTRY_HEAD, 1, file);
	fwrite(&entry, sizeof(entry), 1, file);
	fwrite(&length, sizeof(length), 1, file);
	assert_int_equal(fwrite(data + at, 1, bytes - at, file), bytes - at);
	assert_int_equal(fclose(file), 0);
	free(data);
	return departures;
}

static void an_older_recording_is_repeated_up_to_the_first_packet_without_memory(void **state)
{
	static struct rerun_result result;
	static struct recorded_rig rig;
	struct recorded_rig_conf conf = one_worker;
	(void)state;

	conf.texts = apart;
	conf.ports = 2;
	conf.memory_bytes = UINT64_C(32) << 20;
	conf.burst_most = 6;
	for (uint32_t i = 0; i < RTE_DIM(olds); i++) {
		uint64_t recorded;
		simtime t_ns;

		dice_seed(7);
		recorded_rig_play(&rig, &conf, POLLS);
		assert_int_equal(rig.lacked[0].by, SIMTIME_NEVER);
		t_ns = insert_older(&olds[i].entry, &recorded);
		recorded_rig_again(&rig, &result);
		assert_agrees(&result, 7);
		if (result.workers[0].known_ns != t_ns ||
		    !strstr(result.workers[0].unknown, "no memory"))
			fail_msg("%s: known up to %" PRIu64 ", not %" PRIu64 ": %s", olds[i].what,
			         result.workers[0].known_ns, t_ns, result.workers[0].unknown);
		assert_true(recorded > 0);
		assert_int_equal(result.compared, recorded);
		recorded_rig_forget(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(
	                a_run_without_memory_is_repeated_up_to_there_on_lines_of_its_own,
	                enter_folder, leave_folder),
	        cmocka_unit_test_setup_teardown(
	                a_run_without_memory_is_repeated_up_to_there_where_clouds_meet,
	                enter_folder, leave_folder),
	        cmocka_unit_test_setup_teardown(
	                a_run_without_memory_is_repeated_up_to_there_amid_messages, enter_folder,
	                leave_folder),
	        cmocka_unit_test_setup_teardown(a_flight_without_memory_is_repeated_up_to_there,
	                                        enter_folder, leave_folder),
	        cmocka_unit_test_setup_teardown(
	                an_ideal_repetition_goes_on_and_compares_up_to_there, enter_folder,
	                leave_folder),
	        cmocka_unit_test_setup_teardown(
	                an_older_recording_is_repeated_up_to_the_first_packet_without_memory,
	                enter_folder, leave_folder),
	};

	return cmocka_run_group_tests_name("shortages", tests, recorded_rig_setup,
	                                   recorded_rig_teardown);
}
