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

#include "engine/engine_state.h"
#include "folder.h"
#include "record/recorded_file.h"
#include "record/tape.h"
#include "recorded_rig.h"
#include "rig.h"
#include "runner/group.h"
#include "trial.h"

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

/* ---- what is lost or delayed ---- */

static struct rte_mbuf *borrowed[RIG_MBUFS + 1];
static uint32_t n_borrowed;

/* Sends a packet, and then takes all mbufs from the pool. */
static void send_and_borrow(struct rig *rig)
{
	rig_send(rig, 0, 100, 10);
	hold_give_back(&rig->engine->holder, 0);
	while ((borrowed[n_borrowed] = rte_pktmbuf_alloc(rig->pool)))
		n_borrowed++;
}

static void give_back(struct rig *rig)
{
	rte_pktmbuf_free_bulk(borrowed, n_borrowed);
	n_borrowed = 0;
	rig_collect(rig);
}

/* Two clouds meet at port 1, and the pool has no mbufs. */
static void what_is_due_and_gets_no_mbuf_is_lost(void **state)
{
	simtime lacked_ns = SIMTIME_NEVER;
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 3, .lacked_ns = &lacked_ns});
	(void)state;

	rig_cloud(rig, "x", 0, 1);
	rig_cloud(rig, "y", 2, 1);
	rig_delay(rig, "x", 1000, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	send_and_borrow(rig);
	rig_advance(rig, 1500);
	assert_int_equal(rig->n_departures, 0);
	assert_int_equal(lacked_ns, 1010);
	assert_int_equal(rig_report(rig, "x")->counters.drops[REASON_NO_BUFFER], 1);
	give_back(rig);
	rig_close(rig);
}

/* The same if the other cloud comes when the packet is on its line already. */
static void what_was_on_a_line_before_it_was_shared_and_gets_no_mbuf_is_lost(void **state)
{
	simtime lacked_ns = SIMTIME_NEVER;
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 3, .lacked_ns = &lacked_ns});
	(void)state;

	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", 1000, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	send_and_borrow(rig);
	rig_cloud(rig, "y", 2, 1);
	rig_apply(rig, 500);
	rig_advance(rig, 1009);
	assert_int_equal(lacked_ns, SIMTIME_NEVER);
	rig_advance(rig, 1010);
	assert_int_equal(lacked_ns, 1010);
	assert_int_equal(rig_report(rig, "x")->counters.drops[REASON_NO_BUFFER], 1);
	assert_int_equal(engine_next(rig->engine), SIMTIME_NEVER);
	give_back(rig);
	rig_close(rig);
}

/* The driver is asked for mbufs before a packet is lost. */
static void what_is_due_gets_an_mbuf_that_make_room_provides(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 3});
	(void)state;

	rig->make_room = give_back;
	rig_cloud(rig, "x", 0, 1);
	rig_cloud(rig, "y", 2, 1);
	rig_delay(rig, "x", 1000, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	send_and_borrow(rig);
	rig_advance(rig, 1500);
	assert_int_equal(rig->n_departures, 1);
	assert_int_equal(n_borrowed, 0);
	rig_close(rig);
}

/* Nothing depends on a line of its own, so its packets wait; a change would find them there. */
static void what_is_settled_without_mbufs_waits_and_is_said(void **state)
{
	simtime lacked_ns = SIMTIME_NEVER;
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 3, .lacked_ns = &lacked_ns});
	(void)state;

	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", 1000, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	send_and_borrow(rig);
	rig_advance(rig, 1500);
	assert_int_equal(lacked_ns, SIMTIME_NEVER);
	engine_settle(rig->engine, 1500);
	assert_int_equal(lacked_ns, 1010);
	give_back(rig);
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, 1);
	rig_close(rig);
}

/* The head, which the link sends already, has to be moved out of the way (link_oldest). */
static void a_packet_that_drop_head_cannot_push_out_counts_from_there(void **state)
{
	simtime lacked_ns = SIMTIME_NEVER;
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 3, .lacked_ns = &lacked_ns});
	struct arena *arena = &rig->engine->holder.arena;
	struct chunk *taken = NULL, *chunk;
	struct conf *rate = trial_conf("rate 8mbit queue 2pkt drop head");
	(void)state;

	rig_cloud(rig, "x", 0, 1);
	rig_put(rig, "x", rate);
	rig_apply(rig, 0);
	for (simtime now = 1; now <= 3; now++)
		rig_send(rig, 0, 100, now);
	while ((chunk = arena_get(arena))) {
		chunk->next = taken;
		taken = chunk;
	}
	rig_send(rig, 0, 100, 4);
	assert_int_equal(rig_report(rig, "x")->counters.drops[REASON_QUEUE_FULL], 1);
	assert_int_equal(rig_report(rig, "x")->counters.drops[REASON_NO_BUFFER], 0);
	assert_int_equal(lacked_ns, 4);
	for (; taken; taken = chunk) {
		chunk = taken->next;
		arena_put(arena, taken);
	}
	rig_run_out(rig);
	rig_close(rig);
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

/* ---- the tape ---- */

static void put_packet(struct tape *tape, simtime now)
{
	struct burst burst;

	burst.mbuf[0] = recorded_rig_frame(1400, false);
	burst_received(&burst, 1, 0, now, now);
	tape_burst(tape, &burst);
	rte_pktmbuf_free(burst.mbuf[0]);
}

/* Asserts that the next entry says that memory was short at t_ns. */
static void assert_unheld(struct tape *tape, simtime t_ns)
{
	const struct tape_entry *entry = tape_look(tape);

	assert_non_null(entry);
	assert_int_equal(entry->kind, TAPE_UNHELD);
	assert_int_equal(tape_lacked_ns(entry), t_ns);
	tape_pass(tape, entry);
}

static void assert_kind(struct tape *tape, enum tape_kind kind)
{
	const struct tape_entry *entry = tape_look(tape);

	assert_non_null(entry);
	assert_int_equal(entry->kind, kind);
	assert_int_equal(tape_lacked_ns(entry), SIMTIME_NEVER);
	tape_pass(tape, entry);
}

static void a_tape_says_once_when_memory_was_short_ahead_of_the_next_entry(void **state)
{
	static struct tape tape; /* the stack is not aligned to cache lines */
	(void)state;

	assert_int_equal(tape_make(&tape, 1 << 20, 0), 0);
	put_packet(&tape, 1000);
	assert_kind(&tape, TAPE_PACKETS);
	tape.lacked_ns = 990;
	assert_null(tape_look(&tape));
	put_packet(&tape, 2000);
	assert_unheld(&tape, 990);
	assert_kind(&tape, TAPE_PACKETS);
	put_packet(&tape, 3000);
	assert_kind(&tape, TAPE_PACKETS);
	/* Another cloud, executed later, has lacked memory earlier. */
	tape.lacked_ns = 980;
	tape_clear(&tape, 3000);
	assert_unheld(&tape, 980);
	assert_kind(&tape, TAPE_CLEAR);
	tape_end(&tape, 4000, true);
	assert_kind(&tape, TAPE_END);
	tape_free(&tape);
}

/* Without the instant, the entry would be taken for one that can be repeated. */
static void a_full_tape_takes_no_entry_before_it_has_said_that_memory_was_short(void **state)
{
	static struct tape tape; /* the stack is not aligned to cache lines */
	const struct tape_entry *entry;
	simtime now = 1000;
	(void)state;

	assert_int_equal(tape_make(&tape, 1 << 20, 0), 0);
	while (tape.missed == 0)
		put_packet(&tape, now++);
	tape.lacked_ns = now;
	put_packet(&tape, now);
	assert_int_equal(tape.missed, 2);
	/* There is room for a change, and for what precedes it. */
	tape_change(&tape, 1, now);
	while ((entry = tape_look(&tape)) && entry->kind == TAPE_PACKETS)
		tape_pass(&tape, entry);
	assert_kind(&tape, TAPE_GAP);
	assert_unheld(&tape, now);
	assert_kind(&tape, TAPE_CHANGE);
	tape_free(&tape);
}

GROUP(shortage)
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
	        cmocka_unit_test_setup_teardown(what_is_due_gets_an_mbuf_that_make_room_provides,
	                                        rig_group_setup, rig_group_teardown),
	        cmocka_unit_test_setup_teardown(what_is_settled_without_mbufs_waits_and_is_said,
	                                        rig_group_setup, rig_group_teardown),
	        cmocka_unit_test_setup_teardown(what_is_due_and_gets_no_mbuf_is_lost,
	                                        rig_group_setup, rig_group_teardown),
	        cmocka_unit_test_setup_teardown(
	                what_was_on_a_line_before_it_was_shared_and_gets_no_mbuf_is_lost,
	                rig_group_setup, rig_group_teardown),
	        cmocka_unit_test_setup_teardown(
	                a_packet_that_drop_head_cannot_push_out_counts_from_there, rig_group_setup,
	                rig_group_teardown),
	        cmocka_unit_test_setup_teardown(
	                an_older_recording_is_repeated_up_to_the_first_packet_without_memory,
	                enter_folder, leave_folder),
	        cmocka_unit_test(a_tape_says_once_when_memory_was_short_ahead_of_the_next_entry),
	        cmocka_unit_test(
	                a_full_tape_takes_no_entry_before_it_has_said_that_memory_was_short),
	};

	return cmocka_run_group_tests(tests, recorded_rig_setup, recorded_rig_teardown);
}
