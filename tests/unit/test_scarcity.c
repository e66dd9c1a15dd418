/* SPDX-License-Identifier: BSD-3-Clause */
/* Engines that run out of memory, recorded: in the rerun, the same packets find no memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "folder.h"
#include "record/tape_room.h"
#include "recorded_rig.h"
#include "runner/group.h"

#define POLLS 2500
#define SEEDS 6

/* Each direction has a line of its own. */
static const char *const apart[] = {
        "seed 6\nport a\nport b\ncloud down from a to b\ncloud up from b to a\n"
        "cloud down duplicate 5%\ncloud down rate 200mbit queue 40MB drop head\n"
        "cloud down delay 100ms jitter 5ms order allow\n"
        "cloud up rate 120mbit queue 40MB\ncloud up delay 100ms\n",
        "seed 7\nport a\nport b\ncloud down from a to b\ncloud up from b to a\n"
        "cloud down rate 150mbit queue 40MB\ncloud down red min 500kB max 2MB max-p 0.1\n"
        "cloud down reorder random 20% by 3pkt\ncloud down delay 100ms\n"
        "cloud up rate 120mbit queue 40MB\ncloud up delay 100ms limit 2000pkt\n",
};

/* Clouds share ports: their events are in one order. */
static const char *const meeting[] = {
        "seed 5\nport a\nport b\nport c\n"
        "cloud ab from a to b priority 1 match udp\ncloud ac from a to c\n"
        "cloud ba from b to a\ncloud ca from c to a\ncloud far from ab to b\n"
        "cloud ab duplicate 5%\ncloud ab rate 80mbit queue 40MB\ncloud ab fq-codel\n"
        "cloud ab delay 100ms jitter 5ms\ncloud far delay 60ms\n"
        "cloud ac reorder random 20% by 3pkt\ncloud ac delay 100ms\n"
        "cloud ba hop 192.0.2.254 mtu 1000\ncloud ba rate 100mbit queue 20MB\n"
        "cloud ba delay 100ms\n"
        "cloud ca rate 200mbit queue 20MB drop head\n"
        "cloud ca delay 100ms jitter 5ms order allow\n",
};

/* Plays and reruns SEEDS runs. Returns how many are known to their end: in the others, due packets
 * may have had to wait. */
static uint32_t runs_again(const struct recorded_rig_conf *of)
{
	static struct rerun_result result;
	static struct recorded_rig rig;
	struct recorded_rig_conf conf = *of;
	uint64_t unheld = 0;
	uint32_t known = 0;

	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		dice_seed(seed);
		conf.memory_bytes = (2 + dice(3)) * (UINT64_C(256) << 10);
		recorded_rig_play(&rig, &conf, POLLS);
		recorded_rig_again(&rig, &result);
		if (result.differs)
			fail_msg("seed %u: %s", seed, result.difference);
		unheld += result.unheld;
		known += !result.workers[0].unknown[0];
		recorded_rig_forget(&rig);
	}
	assert_true(unheld > 100);
	return known;
}

static const struct recorded_rig_conf one_worker = {
        .n_texts = 1, .workers = 1, .burst_most = BURST_MAX, .aged_port = RECORDED_RIG_NO_PORT};

static void what_found_no_memory_finds_none_again_on_lines_of_its_own(void **state)
{
	struct recorded_rig_conf conf = one_worker;
	(void)state;

	conf.ports = 2;
	conf.sticks = true;
	for (uint32_t i = 0; i < 2 * RTE_DIM(apart); i++) {
		conf.texts = &apart[i / 2];
		conf.spread = i % 2;
		assert_int_equal(runs_again(&conf), SEEDS);
	}
}

static void what_found_no_memory_finds_none_again_where_clouds_meet(void **state)
{
	struct recorded_rig_conf conf = one_worker;
	(void)state;

	conf.texts = meeting;
	conf.ports = 3;
	assert_true(runs_again(&conf) > SEEDS / 3);
	conf.spread = true;
	assert_true(runs_again(&conf) > SEEDS / 3);
	conf.sticks = true;
	runs_again(&conf);
}

/* Without this record, the rerun would keep the packet. */
static void what_finds_no_memory_is_on_the_tape_though_packets_have_no_room_there(void **state)
{
	static struct tape tape; /* the stack is not aligned to cache lines */
	const struct tape_entry *entry;
	struct burst burst;
	uint64_t unheld = 0;
	bool blind = false;
	(void)state;

	assert_int_equal(tape_make(&tape, 1 << 20, 0), 0);
	for (uint64_t i = 0; tape_room(&tape) > 80000; i++) {
		burst.mbuf[0] = recorded_rig_frame(1400, false);
		burst_received(&burst, 1, 0, 1000 + i, i + 1);
		tape_burst(&tape, &burst);
		rte_pktmbuf_free(burst.mbuf[0]);
	}
	for (uint32_t i = 0; i < 400; i++)
		tape.scarcity.lacked(&tape.scarcity, "down", WANT_LINE, 7 + i, 1);
	for (; (entry = tape_look(&tape)); tape_pass(&tape, entry)) {
		if (entry->kind == TAPE_UNHELD)
			assert_int_equal(entry->number, 7 + unheld++);
	}
	assert_int_equal(unheld, 400);
	/* There is no room for that many. Then what follows is unknown, as after missing
	 * packets. */
	while (!tape.gap)
		tape.scarcity.lacked(&tape.scarcity, "down", WANT_LINE, 107, 1);
	assert_false(tape.gap_blind);
	/* A change still finds room. */
	tape_change(&tape, 1, 2000, true);
	for (; (entry = tape_look(&tape)); tape_pass(&tape, entry))
		blind |= entry->kind == TAPE_GAP && (entry->flags & TAPE_BLIND);
	assert_false(blind || tape.gap_blind);
	tape_free(&tape);
}

GROUP(scarcity)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(
	                what_found_no_memory_finds_none_again_on_lines_of_its_own, enter_folder,
	                leave_folder),
	        cmocka_unit_test_setup_teardown(
	                what_found_no_memory_finds_none_again_where_clouds_meet, enter_folder,
	                leave_folder),
	        cmocka_unit_test(
	                what_finds_no_memory_is_on_the_tape_though_packets_have_no_room_there),
	};

	return cmocka_run_group_tests(tests, recorded_rig_setup, recorded_rig_teardown);
}
