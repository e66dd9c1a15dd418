/* SPDX-License-Identifier: BSD-3-Clause */
/* Latencies of devices: in a live run, the known latencies are subtracted from the time on the
 * line. */
#include "match/selection.h"
#include "rig.h"
#include "runner/group.h"
#include "scenario/port_setting.h"
#include "trial.h"

#define RX_NS    350
#define TX_NS    420
#define EARLY_NS (RX_NS + TX_NS)
#define T0       UINT64_C(1000000)
#define N        400

/* Opens a rig whose ports 0 and 1 have both latencies; port 0 receives, and port 1 sends. */
static struct rig *rig_between(bool live)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 11, .live = live});

	for (uint32_t i = 0; i < 2; i++) {
		struct port_setting_conf *setting =
		        (struct port_setting_conf *)conf_make(&port_setting_statement);

		setting->rx_latency_ns = i == 0 ? RX_NS : 7000;
		setting->tx_latency_ns = i == 1 ? TX_NS : 9000;
		rig->scenario->ports[i].setting = &setting->conf;
	}
	return rig;
}

static void
a_packet_leaves_earlier_by_both_latencies_and_its_delay_is_told_as_asked_for(void **state)
{
	struct rig *rig = rig_between(true);
	(void)state;

	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", 10 * SIMTIME_US, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	rig_send(rig, 0, 100, T0);
	rig_advance(rig, T0 + 10 * SIMTIME_US - EARLY_NS - 1);
	assert_int_equal(rig->n_departures, 0);
	rig_advance(rig, T0 + 10 * SIMTIME_US - EARLY_NS);
	assert_int_equal(rig->n_departures, 1);
	assert_int_equal(rig->departures[0].due_ns, T0 + 10 * SIMTIME_US - EARLY_NS);
	assert_int_equal(rig_report(rig, "x")->delay_ns.max, 10 * SIMTIME_US);
	rig_close(rig);
}

static void a_replay_knows_no_latencies(void **state)
{
	struct rig *rig = rig_between(false);
	(void)state;

	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", 10 * SIMTIME_US, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	rig_send(rig, 0, 100, T0);
	rig_run_out(rig);
	assert_int_equal(rig->departures[0].due_ns, T0 + 10 * SIMTIME_US);
	rig_close(rig);
}

static void the_latencies_are_those_of_the_port_of_entry_and_of_the_port_of_exit(void **state)
{
	struct rig *rig = rig_between(true);
	(void)state;

	rig_cloud(rig, "back", 1, 0);
	rig_delay(rig, "back", SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	rig_send(rig, 1, 100, T0);
	rig_run_out(rig);
	assert_int_equal(rig->departures[0].due_ns, T0 + SIMTIME_MS - 7000 - 9000);
	rig_close(rig);
}

static void a_delay_that_is_shorter_than_the_latencies_leaves_none_and_never_less(void **state)
{
	static const simtime delays[] = {0, 1, EARLY_NS - 1, EARLY_NS, EARLY_NS + 1};
	(void)state;

	for (size_t i = 0; i < LENGTH(delays); i++) {
		struct rig *rig = rig_between(true);

		rig_cloud(rig, "x", 0, 1);
		rig_delay(rig, "x", delays[i], 0, DELAY_UNIFORM, ORDER_KEEP);
		rig_apply(rig, 0);
		rig_send(rig, 0, 100, T0);
		rig_run_out(rig);
		assert_int_equal(rig->departures[0].due_ns, T0 + (delays[i] > EARLY_NS));
		rig_close(rig);
	}
}

static struct rig *run_jitter(bool live, bool shared)
{
	struct rig *rig = rig_between(live);

	rig_cloud(rig, "x", 0, 1);
	if (shared)
		rig_cloud(rig, "y", 2, 1);
	rig_delay(rig, "x", 2 * SIMTIME_US, 2 * SIMTIME_US, DELAY_UNIFORM, ORDER_ALLOW);
	rig_apply(rig, 0);
	/* So far apart that no packet overtakes another, so that departures can be compared one by
	 * one. */
	for (uint32_t i = 0; i < N; i++)
		rig_send(rig, 0, 100, T0 + i * 10 * SIMTIME_US);
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, N);
	return rig;
}

static void with_jitter_each_packet_is_earlier_by_as_much_as_it_was_held(void **state)
{
	(void)state;
	for (int shared = 0; shared < 2; shared++) {
		struct rig *with = run_jitter(true, shared), *without = run_jitter(false, shared);
		uint32_t bounded = 0;

		for (uint32_t i = 0; i < N; i++) {
			simtime t = T0 + i * 10 * SIMTIME_US;
			simtime due = without->departures[i].due_ns;

			bounded += due < t + EARLY_NS;
			assert_int_equal(with->departures[i].due_ns,
			                 simtime_max(t, due - simtime_min(due, EARLY_NS)));
		}
		/* With a delay from 0 to 4 us, some packets are below 770 ns, most are not. */
		assert_in_range(bounded, N / 10, N / 3);
		rig_close(with);
		rig_close(without);
	}
}

/* The second packet has waited in its device for 500 ns, and comes 100 ns after the first. */
static void a_packet_that_waited_longer_in_its_device_overtakes_no_other(void **state)
{
	static const char *const reorders[] = {NULL, "reorder every 1000",
	                                       "reorder random 0% by 3pkt"};
	(void)state;

	for (size_t r = 0; r < LENGTH(reorders); r++) {
		struct rig *rig = rig_between(true);
		struct rte_mbuf *mbufs[2];

		rig_cloud(rig, "x", 0, 1);
		rig_delay(rig, "x", 10 * SIMTIME_US, 0, DELAY_UNIFORM, ORDER_KEEP);
		if (reorders[r])
			rig_put(rig, "x", trial_conf(reorders[r]));
		rig_apply(rig, 0);
		for (uint32_t i = 0; i < 2; i++)
			mbufs[i] = rig_packet(rig, RIG_PLAIN, 0, i + 1, 100, 0, T0 + i * 100);
		packet_of(mbufs[1])->age_ns = 500;
		rig_ingress(rig, mbufs, 2);
		rig_run_out(rig);
		for (uint32_t i = 0; i < 2; i++) {
			assert_int_equal(rig->departures[i].number, i + 1);
			assert_int_equal(rig->departures[i].due_ns,
			                 T0 + 10 * SIMTIME_US - EARLY_NS);
		}
		rig_close(rig);
	}
}

static void behind_a_link_only_the_line_is_shortened(void **state)
{
	struct rig *rig = rig_between(true);
	(void)state;

	rig_cloud(rig, "x", 0, 1);
	rig_rate(rig, "x", 100000000, 0, LIMIT_PACKETS, 100);
	rig_delay(rig, "x", 300, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	/* 100 bytes at 100 Mbit/s: 8 us each. */
	rig_send(rig, 0, 100, T0);
	rig_send(rig, 0, 100, T0);
	rig_run_out(rig);
	assert_int_equal(rig->departures[0].due_ns, T0 + 8 * SIMTIME_US);
	assert_int_equal(rig->departures[1].due_ns, T0 + 16 * SIMTIME_US);
	rig_close(rig);
}

static void a_cloud_of_a_template_is_shortened_like_any_other(void **state)
{
	struct selection_conf *per = (struct selection_conf *)conf_make(&selection_per_statement);
	struct rig *rig = rig_between(true);
	(void)state;

	assert_non_null(per);
	per->flow = true;
	per->most = 4;
	rig_cloud(rig, "x", 0, 1);
	rig->scenario->clouds[0]->many = true;
	rig->scenario->clouds[0]->selection = &per->conf;
	rig_delay(rig, "x", 10 * SIMTIME_US, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	rig_send(rig, 0, 100, T0);
	rig_run_out(rig);
	assert_int_equal(rig_report(rig, "x")->clouds, 1);
	assert_int_equal(rig->departures[0].due_ns, T0 + 10 * SIMTIME_US - EARLY_NS);
	rig_close(rig);
}

static void of_a_chain_the_last_cloud_is_shortened(void **state)
{
	struct rig *rig = rig_between(true);
	(void)state;

	rig_cloud(rig, "first", 0, 1);
	rig_delay(rig, "first", 10 * SIMTIME_US, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_chain(rig, "second", "first", 1);
	rig_delay(rig, "second", 5 * SIMTIME_US, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	rig_send(rig, 0, 100, T0);
	rig_run_out(rig);
	assert_int_equal(rig->departures[0].due_ns, T0 + 15 * SIMTIME_US - EARLY_NS);
	assert_int_equal(rig_report(rig, "first")->delay_ns.max, 10 * SIMTIME_US);
	assert_int_equal(rig_report(rig, "second")->delay_ns.max, 5 * SIMTIME_US);

	/* Alone, the first cloud is the last one. */
	rig_remove(rig, "second");
	rig_apply(rig, 2 * T0);
	rig_send(rig, 0, 100, 2 * T0);
	rig_run_out(rig);
	assert_int_equal(rig->departures[1].due_ns, 2 * T0 + 10 * SIMTIME_US - EARLY_NS);
	rig_close(rig);
}

GROUP(port_setting)
{
	static const struct CMUnitTest tests[] = {
	        cmocka_unit_test(
	                a_packet_leaves_earlier_by_both_latencies_and_its_delay_is_told_as_asked_for),
	        cmocka_unit_test(a_replay_knows_no_latencies),
	        cmocka_unit_test(
	                the_latencies_are_those_of_the_port_of_entry_and_of_the_port_of_exit),
	        cmocka_unit_test(
	                a_delay_that_is_shorter_than_the_latencies_leaves_none_and_never_less),
	        cmocka_unit_test(with_jitter_each_packet_is_earlier_by_as_much_as_it_was_held),
	        cmocka_unit_test(a_packet_that_waited_longer_in_its_device_overtakes_no_other),
	        cmocka_unit_test(behind_a_link_only_the_line_is_shortened),
	        cmocka_unit_test(a_cloud_of_a_template_is_shortened_like_any_other),
	        cmocka_unit_test(of_a_chain_the_last_cloud_is_shortened),
	};

	return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
