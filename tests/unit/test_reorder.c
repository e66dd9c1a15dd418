/* SPDX-License-Identifier: BSD-3-Clause */
/* Reordering, packet by packet. Its shares and counts over a million packets:
 * ../statistics/test_reorder.c. */
#include <string.h>

#include "holding/log.h"
#include "trial.h"
#include "runner/group.h"

#define MS SIMTIME_MS
#define US SIMTIME_US

static void set(struct rig *rig, const char *cloud, const char *statement)
{
	int i = scenario_find_cloud(rig->scenario, cloud);
	struct conf *conf = trial_conf(statement);
	struct problem problem = {.text = ""};

	assert_true(i >= 0);
	assert_int_equal(cloud_conf_put(rig->scenario->clouds[i], conf), 0);
	if (conf->statement->check &&
	    conf->statement->check(conf, rig->scenario->clouds[i], &problem) != 0)
		fail_msg("%s: %s", statement, problem.text);
}

/* Opens a cloud of up to three statements. If `shared` is set, an idle cloud leads to the same
 * port. */
static struct rig *open_with(const char *const given[3], bool shared, simtime now)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 9});

	rig_cloud(rig, "x", 0, 1);
	if (shared)
		rig_cloud(rig, "y", 2, 1);
	for (int i = 0; i < 3 && given[i]; i++)
		set(rig, "x", given[i]);
	rig_apply(rig, now);
	return rig;
}

/* Compares with packet numbers from 1 as letters: a is the first. */
static void assert_order(const struct rig *rig, const char *order)
{
	char got[64] = "";

	for (uint32_t i = 0; i < rig->n_departures && i < sizeof(got) - 1; i++)
		got[i] = (char)('a' + rig->departures[i].number - 1);
	assert_string_equal(got, order);
}

/* By definition: counts the packets that leave before one that came before them. */
static uint64_t overtaking(const struct rig *rig)
{
	uint64_t least = UINT64_MAX, n = 0;

	for (uint32_t i = rig->n_departures; i-- > 0;) {
		n += rig->departures[i].number > least;
		least = RTE_MIN(least, rig->departures[i].number);
	}
	return n;
}

static void each_nth_packet_changes_places_with_the_one_after_it(void **state)
{
	static const struct {
		const char *statement, *order;
		uint64_t reordered;
	} rows[] = {
	        {"reorder every 1", "badcfehgji", 5},  {"reorder every 2", "acbedgfihj", 4},
	        {"reorder every 3", "abdcegfhji", 3},  {"reorder every 4", "abcedfgihj", 2},
	        {"reorder every 5", "abcdfeghij", 1}, /* the tenth has no successor */
	        {"reorder every 11", "abcdefghij", 0},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		for (int shared = 0; shared < 2; shared++) {
			struct rig *rig = open_with(
			        (const char *[3]){"delay 5ms", rows[i].statement}, shared, 0);

			for (uint32_t k = 0; k < 10; k++)
				rig_send(rig, 0, 60, k * MS);
			rig_run_out(rig);
			assert_order(rig, rows[i].order);
			assert_int_equal(rig_report(rig, "x")->counters.reordered,
			                 rows[i].reordered);
			rig_close(rig);
		}
	}
}

static void what_is_held_back_leaves_right_behind_the_packet_it_waits_for(void **state)
{
	static const struct {
		const char *delay, *reorder;
		simtime in[4], out[4]; /* out: in the order of departure */
		const char *order;
	} rows[] = {
	        /* no packet takes less than the delay */
	        {"delay 5ms",
	         "reorder every 2",
	         {0, 10, 20, 30},
	         {5 * MS, 20 + 5 * MS, 20 + 5 * MS, 30 + 105 * MS},
	         "acbd"},
	        {"delay 0ms",
	         "reorder every 2",
	         {0, 10, 20, 30},
	         {0, 20, 20, 30 + 100 * MS},
	         "acbd"},
	        /* long after its own time: a packet waits up to 100 ms */
	        {"delay 5ms",
	         "reorder every 2",
	         {0, 10, 90 * MS, 91 * MS},
	         {5 * MS, 95 * MS, 95 * MS, 196 * MS},
	         "acbd"},
	        {"delay 5ms",
	         "reorder every 2",
	         {0, 10, 110 * MS, 111 * MS},
	         {5 * MS, 10 + 105 * MS, 115 * MS, 216 * MS},
	         "abcd"},
	        {"delay 5ms",
	         "reorder every 2 wait 0ms",
	         {0, 10, 5 * MS, 6 * MS},
	         {5 * MS, 10 * MS, 10 * MS, 11 * MS},
	         "acbd"},
	        {"delay 5ms",
	         "reorder every 2 wait 0ms",
	         {0, 10, 10 + 5 * MS, 16 * MS},
	         {5 * MS, 10 + 5 * MS, 10 + 10 * MS, 21 * MS},
	         "abcd"},
	        /* three packets go ahead, at the time of the third */
	        {"delay 5ms",
	         "reorder random 100% by 1pkt",
	         {0, 10, 20, 30},
	         {10 + 5 * MS, 20 + 5 * MS, 30 + 5 * MS, 30 + 105 * MS},
	         "abcd"},
	        /* the third has given up, but the second leaves late, behind the fourth */
	        {"delay 1ms",
	         "reorder random 100% by 2pkt wait 100us",
	         {0, 500 * US, 900 * US, 1300 * US},
	         {1900 * US, 2300 * US, 2300 * US, 2400 * US},
	         "abcd"},
	        {"delay 5ms",
	         "reorder random 100% by 2ms",
	         {0, 10, 20, 30},
	         {7 * MS, 10 + 7 * MS, 20 + 7 * MS, 30 + 7 * MS},
	         "abcd"},
	        {"delay 5ms", "reorder 100%", {0, 10, 20, 30}, {0, 10, 20, 30}, "abcd"},
	        {"delay 5ms",
	         "reorder 100% gap 2",
	         {0, 10, 20, 30},
	         {10, 30, 5 * MS, 20 + 5 * MS},
	         "bdac"},
	        {"delay 5ms",
	         "reorder 100% gap 3",
	         {0, 10, 20, 30},
	         {20, 5 * MS, 10 + 5 * MS, 30 + 5 * MS},
	         "cabd"},
	        {"delay 5ms",
	         "reorder 0% gap 3",
	         {0, 10, 20, 30},
	         {5 * MS, 10 + 5 * MS, 20 + 5 * MS, 30 + 5 * MS},
	         "abcd"},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		for (int shared = 0; shared < 2; shared++) {
			const char *const given[3] = {rows[i].delay, rows[i].reorder};
			struct rig *rig = open_with(given, shared, 0);

			for (uint32_t k = 0; k < 4; k++) {
				if (k)
					rig_advance(rig, rows[i].in[k] - 1);
				rig_send(rig, 0, 60, rows[i].in[k]);
			}
			rig_run_out(rig);
			assert_order(rig, rows[i].order);
			for (uint32_t k = 0; k < 4; k++)
				assert_int_equal(rig->departures[k].due_ns, rows[i].out[k]);
			assert_int_equal(rig_report(rig, "x")->counters.reordered, overtaking(rig));
			rig_close(rig);
		}
	}
}

static void a_last_packet_leaves_after_its_wait_and_is_held_until_then(void **state)
{
	static const struct {
		const char *reorder;
		simtime due;
	} rows[] = {
	        {"reorder every 1", 105 * MS},
	        {"reorder every 1 wait 2s", 2005 * MS},
	        {"reorder every 1 wait 0ms", 5 * MS},
	        {"reorder every 1 wait 86400s", 86400 * SIMTIME_S + 5 * MS},
	        {"reorder random 100% by 3pkt", 105 * MS},
	        {"reorder random 100% by 65536pkt wait 1ns", 5 * MS + 1},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		for (int shared = 0; shared < 2; shared++) {
			struct rig *rig = open_with((const char *[3]){"delay 5ms", rows[i].reorder},
			                            shared, 0);

			rig_send(rig, 0, 60, 0);
			assert_int_equal(rig_report(rig, "x")->held_packets, 1);
			rig_advance(rig, rows[i].due - 1);
			assert_int_equal(rig->n_departures, 0);
			assert_int_equal(engine_held_packets(rig->engine), 1);
			rig_run_out(rig);
			assert_int_equal(rig->n_departures, 1);
			assert_int_equal(rig->departures[0].due_ns, rows[i].due);
			assert_true(rig->departures[0].intact);
			rig_close(rig);
		}
	}
}

/* At the end of its wait, a packet leaves behind those that went ahead of it, not between them. */
static void what_gives_up_leaves_behind_those_that_have_passed(void **state)
{
	static const char *const given[3] = {"delay 300ms", "reorder random 100% by 4pkt wait 0ms"};

	(void)state;
	for (int shared = 0; shared < 2; shared++) {
		struct rig *rig = open_with(given, shared, 0);

		rig_send(rig, 0, 60, 0);
		set(rig, "x", "reorder every 1000");
		set(rig, "x", "reorder random 0% by 4pkt wait 0ms");
		rig_apply(rig, 1);
		rig_send(rig, 0, 60, 10 * MS);
		rig_send(rig, 0, 60, 299 * MS);
		rig_send(rig, 0, 60, 301 * MS);
		rig_run_out(rig);
		assert_order(rig, "bcad");
		assert_int_equal(rig->departures[1].due_ns, 599 * MS);
		assert_int_equal(rig->departures[2].due_ns, 599 * MS);
		assert_int_equal(rig_report(rig, "x")->counters.reordered, 2);
		rig_close(rig);
	}
}

/* A packet that is held back takes 10 ms, behind one that takes 100 ms. */
static void what_is_held_back_when_order_begins_to_be_kept_overtakes_no_other(void **state)
{
	(void)state;
	for (int shared = 0; shared < 2; shared++) {
		struct rig *rig =
		        open_with((const char *[3]){"delay 100ms", "reorder every 100"}, shared, 0);

		rig_send(rig, 0, 60, 0);
		set(rig, "x", "delay 10ms order allow");
		set(rig, "x", "reorder random 100% by 9pkt wait 5ms");
		rig_apply(rig, 1);
		rig_send(rig, 0, 60, 2);
		set(rig, "x", "delay 10ms");
		rig_apply(rig, 3);
		rig_run_out(rig);
		assert_order(rig, "ab");
		assert_int_equal(rig->departures[1].due_ns, 100 * MS);
		assert_int_equal(rig_report(rig, "x")->counters.reordered, 0);
		rig_close(rig);
	}
}

static void a_change_keeps_what_is_held_back(void **state)
{
	static const struct {
		const char *next; /* NULL: no reorder any more */
		const char *order;
		simtime first_due;
	} rows[] = {
	        {NULL, "abc", 7 * MS}, /* leaves at the change, at its own time */
	        {"reorder random 0% by 2ms", "abc", 7 * MS},
	        {"reorder every 100", "bac", 13 * MS}, /* still waits for its successor */
	        {"reorder random 0% by 9pkt", "bac", 13 * MS},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		for (int shared = 0; shared < 2; shared++) {
			struct rig *rig = open_with(
			        (const char *[3]){"delay 7ms", "reorder every 1"}, shared, 0);

			rig_send(rig, 0, 60, 0);
			if (rows[i].next)
				set(rig, "x", rows[i].next);
			else
				rig_unset(rig, "x", "reorder");
			rig_apply(rig, 5 * MS);
			assert_int_equal(engine_held_packets(rig->engine), 1);
			rig_send(rig, 0, 60, 6 * MS);
			rig_send(rig, 0, 60, 8 * MS);
			rig_run_out(rig);
			assert_order(rig, rows[i].order);
			assert_int_equal(rig->departures[0].due_ns, rows[i].first_due);
			rig_close(rig);
		}
	}
}

static void a_change_of_the_delay_does_not_disturb_the_count(void **state)
{
	struct rig *rig = open_with((const char *[3]){"delay 7ms", "reorder every 4"}, false, 0);

	(void)state;
	for (uint32_t k = 0; k < 10; k++) {
		if (k == 2 || k == 7) {
			set(rig, "x", k == 2 ? "delay 9ms" : "delay 9ms jitter 1us");
			rig_apply(rig, k * MS);
		}
		rig_send(rig, 0, 60, k * MS);
	}
	rig_run_out(rig);
	assert_order(rig, "abcedfgihj");
	rig_close(rig);
}

static void a_removed_or_freed_cloud_takes_what_it_holds_back_with_it(void **state)
{
	(void)state;
	for (int shared = 0; shared < 2; shared++) {
		struct rig *rig =
		        open_with((const char *[3]){"delay 7ms", "reorder every 1"}, shared, 0);

		rig_send(rig, 0, 1500, 0);
		rig_remove(rig, "x");
		rig_apply(rig, MS);
		rig_run_out(rig);
		assert_int_equal(rig->n_departures, 1);
		assert_int_equal(rig->departures[0].due_ns, 107 * MS);
		rig_close(rig);
		/* the engine is freed while packets are held back */
		rig = open_with((const char *[3]){"delay 7ms", "reorder random 100% by 9pkt"},
		                shared, 0);
		for (uint32_t k = 0; k < 5; k++)
			rig_send(rig, 0, k % 2 ? 60 : 1500, k);
		rig_close(rig);
	}
}

static void a_cloud_that_becomes_shared_releases_what_it_holds_back(void **state)
{
	struct rig *rig = open_with((const char *[3]){"delay 7ms", "reorder every 2"}, false, 0);

	(void)state;
	rig_send(rig, 0, 60, 0);
	rig_send(rig, 0, 60, 1);
	rig_cloud(rig, "y", 2, 1);
	rig_apply(rig, 2);
	rig_run_out(rig);
	assert_order(rig, "ab");
	assert_int_equal(rig->departures[1].due_ns, 1 + 107 * MS);
	rig_close(rig);
}

static void memory_that_is_used_up_drops_with_no_buffer(void **state)
{
	static const char *const rules[] = {"reorder every 2", "reorder random 50% by 9pkt",
	                                    "reorder random 50% by 1ms", "reorder 50%"};

	(void)state;
	for (size_t i = 0; i < LENGTH(rules); i++) {
		struct rig *rig =
		        rig_open(&(struct rig_setup){.seed = 1, .memory_bytes = 40 * CHUNK_BYTES});

		rig_cloud(rig, "x", 0, 1);
		set(rig, "x", "delay 5ms");
		set(rig, "x", rules[i]);
		rig_apply(rig, 0);
		for (uint32_t k = 0; k < 5000; k++)
			rig_send(rig, 0, 60, k);
		assert_true(rig_report(rig, "x")->counters.drops[REASON_NO_BUFFER] > 1000);
		rig_run_out(rig);
		assert_true(rig->n_departures > 1000);
		rig_close(rig);
	}
}

/* Everything together: each packet's place is the same, whatever the bursts, and whether the cloud
 * is shared or not. */
static void bursts_and_sharing_change_nothing(void **state)
{
	static const char *const rows[][3] = {
	        {"delay 5ms", "reorder every 3"},
	        {"delay 5ms jitter 1ms", "reorder every 3"},
	        {"delay 5ms jitter 1ms distribution normal order allow", "reorder every 7"},
	        {"delay 5ms", "reorder random 20% by 3pkt"},
	        {"delay 5ms jitter 1ms order allow", "reorder random 20% by 3pkt wait 1us"},
	        {"delay 5ms jitter 1ms", "reorder random 20% by 40pkt wait 20us"},
	        {"delay 5ms", "reorder random 50% by 5pkt wait 10us"},
	        {"delay 5ms", "reorder random 20% by 2ms"},
	        {"delay 5ms jitter 1ms", "reorder random 20% by 2ms"},
	        {"delay 5ms", "reorder 25% 50% gap 5"},
	        {"delay 5ms jitter 100us distribution pareto correlation 50%", "reorder 25% 50%"},
	        {"delay 1ms", "reorder every 2", "rate 100mbit queue 5000pkt"},
	        {"delay 1ms jitter 900us order allow half-life 1ms", "reorder random 10% by 2pkt",
	         "rate 100mbit queue 5000pkt"},
	        {"delay 0ms", "reorder every 5", "rate 10mbit queue 5000pkt"},
	};
	static const uint16_t bursts[] = {1, 7, 32};

	(void)state;
	for (size_t r = 0; r < LENGTH(rows); r++) {
		struct rig *rigs[6];

		for (int i = 0; i < 6; i++) {
			uint16_t burst = bursts[i % 3], ready = 0;
			struct rte_mbuf *mbufs[BURST_MAX];
			struct rig *rig = open_with(rows[r], i >= 3, 0);

			rigs[i] = rig;
			for (uint32_t k = 0; k < 3000; k++) {
				simtime t = k / 3 * 7 * US;

				mbufs[ready++] = rig_packet(rig, RIG_PLAIN, 0, k + 1,
				                            k % 5 ? 60 : 900, 0, t);
				if (ready == burst || k == 2999) {
					rig_ingress(rig, mbufs, ready);
					rig_advance(rig, t);
					ready = 0;
				}
			}
			rig_run_out(rig);
			assert_int_equal(rig->n_departures, 3000);
			assert_int_equal(rig_report(rig, "x")->counters.reordered, overtaking(rig));
			assert_int_equal(rig_report(rig, "x")->delay_ns.count, 3000);
			for (uint32_t k = 0; k < 3000; k++) {
				const struct departure *a = &rig->departures[k];
				const struct departure *b = &rigs[0]->departures[k];

				if (a->number != b->number || a->due_ns != b->due_ns || !a->intact)
					fail_msg("row %zu, rig %d: departure %u", r, i, k);
			}
		}
		assert_true(overtaking(rigs[0]) > 50);
		for (int i = 0; i < 6; i++)
			rig_close(rigs[i]);
	}
}

static void bad_values_are_refused_with_what_would_be_right(void **state)
{
	static const struct {
		const char *statement, *problem;
	} rows[] = {
	        {"reorder 25%",
	         "packets that are sent at once overtake those that are delayed: the "
	         "cloud needs a delay, like `delay 10ms`"},
	        {"reorder random 1% by 2kB", "a packet is held back by a number of packets, like "
	                                     "3pkt, or by a time, like 2ms"},
	        {"reorder random 1% by 65537pkt", "a packet is held back by at most 65536 packets"},
	        {"reorder random 1% by 86401s", "a packet is held back by at most a day, 86400s"},
	        {"reorder random 1% by 2ms wait 1ms",
	         "a packet that is held back by a time waits for no other; leave `wait` out"},
	        {"reorder random 1% by 2pkt wait 1ms", ""},
	        {"reorder every 2147483647", ""},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++)
		assert_string_equal(trial_problem(rows[i].statement), rows[i].problem);
}

/* As on the line itself: large frames stay in their mbufs, but some mbufs are always left for
 * devices. */
static void what_is_held_back_leaves_mbufs_for_others(void **state)
{
	enum { BOUND = 20, SENT = 30, LARGE = 1500 };
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1, .kept_mbufs_max = BOUND});

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	set(rig, "x", "delay 10ms");
	set(rig, "x", "reorder random 100% by 50pkt");
	rig_apply(rig, 0);
	for (uint32_t i = 0; i < SENT; i++)
		rig_send(rig, 0, LARGE, i);
	assert_int_equal(rig_report(rig, "x")->counters.drops[REASON_NO_BUFFER], SENT - BOUND);
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, BOUND);
	rig_close(rig);
}

GROUP(reorder)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(each_nth_packet_changes_places_with_the_one_after_it),
	        cmocka_unit_test(what_is_held_back_leaves_right_behind_the_packet_it_waits_for),
	        cmocka_unit_test(a_last_packet_leaves_after_its_wait_and_is_held_until_then),
	        cmocka_unit_test(what_gives_up_leaves_behind_those_that_have_passed),
	        cmocka_unit_test(what_is_held_back_when_order_begins_to_be_kept_overtakes_no_other),
	        cmocka_unit_test(a_change_keeps_what_is_held_back),
	        cmocka_unit_test(a_change_of_the_delay_does_not_disturb_the_count),
	        cmocka_unit_test(a_removed_or_freed_cloud_takes_what_it_holds_back_with_it),
	        cmocka_unit_test(a_cloud_that_becomes_shared_releases_what_it_holds_back),
	        cmocka_unit_test(memory_that_is_used_up_drops_with_no_buffer),
	        cmocka_unit_test(bursts_and_sharing_change_nothing),
	        cmocka_unit_test(bad_values_are_refused_with_what_would_be_right),
	        cmocka_unit_test(what_is_held_back_leaves_mbufs_for_others),
	};

	return cmocka_run_group_tests_name("reorder", tests, rig_group_setup, rig_group_teardown);
}
