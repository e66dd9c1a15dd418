/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A whole runtime between net_null ports, with real workers on the real clock: it starts, accepts
 * changes, reports events, and stops with every packet accounted for and every mbuf returned. The
 * mempool is the poisoning one. Speed is not tested.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/engine_report.h"
#include "line/delay.h"
#include "live/runtime_state.h"
#include "machine/eal.h"
#include "match/selection.h"
#include "poison_ops.h"
#include "runner/group.h"
#include "scenario/port_setting.h"
#include "unable.h"
#include "live_eal.h"

static const enum runtime_layout layouts[] = {LAYOUT_RUN_TO_COMPLETION, LAYOUT_PIPELINE};

static struct scenario *scenario_between(const char *a, const char *b)
{
	struct scenario *scenario = scenario_make();

	scenario->seed = 3;
	assert_int_equal(scenario_add_port(scenario, "a", a, NULL), 0);
	assert_int_equal(scenario_add_port(scenario, "b", b, NULL), 0);
	assert_int_equal(scenario_add_cloud(scenario, "down", "a", "b"), 0);
	assert_int_equal(scenario_add_cloud(scenario, "up", "b", "a"), 0);
	for (uint32_t i = 0; i < 2; i++) {
		struct delay_conf *delay = (struct delay_conf *)conf_make(&delay_statement);

		delay->delay_ns = 100 * SIMTIME_US;
		cloud_conf_put(scenario->clouds[i], &delay->conf);
	}
	return scenario;
}

static struct scenario *scenario_null(void)
{
	return scenario_between("net_null0,size=64", "net_null1,size=1000");
}

static struct runtime *start_with(const struct scenario *scenario, enum runtime_layout layout)
{
	const struct runtime_options options = {
	        .layout = layout, .memory_bytes = 32 << 20, .mempool_ops = POISON_OPS};
	struct runtime *runtime = NULL;
	struct problem problem = {.text = ""};

	if (runtime_start(scenario, &options, &runtime, &problem) < 0)
		fail_msg("%s", problem.text);
	poison_arm(runtime->pool);
	return runtime;
}

static void stop_and_account(struct runtime *runtime)
{
	struct problem problem = {.text = ""};

	if (runtime_stop(runtime, &problem) < 0)
		fail_msg("%s", problem.text);
}

/* Waits until the clouds have sent `packets` more to port b. */
static void let_flow(const struct runtime *runtime, uint64_t packets)
{
	static struct port_report report;
	uint64_t before;

	assert_true(runtime_port_report(runtime, 1, &report));
	for (before = report.tx_packets; report.tx_packets < before + packets;) {
		usleep(1000);
		runtime_port_report(runtime, 1, &report);
	}
}

static int put_in_force(struct runtime *runtime, const struct scenario *next,
                        struct problem *problem)
{
	struct transaction *transaction;
	int result = transaction_change(runtime, next, &transaction, problem);

	if (result != 0)
		return result;
	transaction_post(transaction);
	assert_true(transaction_taken(transaction, 60 * SIMTIME_S));
	transaction_finish(transaction);
	return 0;
}

static void clear_all(struct runtime *runtime)
{
	struct transaction *transaction;

	assert_int_equal(transaction_clear(runtime, &transaction), 0);
	transaction_post(transaction);
	assert_true(transaction_taken(transaction, 60 * SIMTIME_S));
	transaction_finish(transaction);
}

static void every_layout_accounts_for_every_packet_when_it_stops(void **state)
{
	struct scenario *scenario = scenario_null();
	(void)state;

	for (size_t i = 0; i < 2; i++) {
		struct runtime *runtime = start_with(scenario, layouts[i]);

		let_flow(runtime, 5000);
		stop_and_account(runtime);
	}
	scenario_free(scenario);
}

static void what_is_dropped_on_the_way_to_the_sending_worker_counts_at_the_port(void **state)
{
	struct scenario *scenario = scenario_null();
	struct runtime *runtime = start_with(scenario, LAYOUT_PIPELINE);
	static struct port_report before, after;
	(void)state;

	runtime_halt(runtime);
	assert_true(runtime_port_report(runtime, 1, &before));
	for (uint32_t i = 0; i < runtime->n_workers; i++) {
		if (runtime->workers[i].n_tx_queues)
			runtime->workers[i].tx_queues[1].tx_full += 7;
	}
	assert_true(runtime_port_report(runtime, 1, &after));
	assert_int_equal(after.tx_full, before.tx_full + 7);
	for (uint32_t i = 0; i < runtime->n_workers; i++) {
		if (runtime->workers[i].n_tx_queues)
			runtime->workers[i].tx_queues[1].tx_full -= 7;
	}
	stop_and_account(runtime);
	scenario_free(scenario);
}

/* A capture has one queue, so one worker sends its own packets and those that the others hand
 * over. */
static void all_that_a_worker_sends_to_a_port_of_known_speed_shares_one_wire(void **state)
{
	struct scenario *scenario = scenario_between("net_null0,size=64", "file:,out=/dev/null");
	struct port_setting_conf *setting =
	        (struct port_setting_conf *)conf_make(&port_setting_statement);
	struct runtime *runtime;
	struct worker *sender;
	const struct wire *wire;
	(void)state;

	assert_non_null(setting);
	setting->speed_bps = UINT64_C(10000000000);
	scenario->ports[1].setting = &setting->conf;
	runtime = start_with(scenario, LAYOUT_RUN_TO_COMPLETION);
	sender = &runtime->workers[runtime->sender[1]];
	wire = sender->tx_queues[1].wire;
	assert_non_null(wire);
	assert_int_equal(wire->byte_ps, 800);
	assert_int_equal(sender->n_drains, 1);
	assert_ptr_equal(sender->drains[0].tx_queue.port, &runtime->ports[1]);
	assert_ptr_equal(sender->drains[0].tx_queue.wire, wire);
	for (uint32_t i = 0; i < runtime->n_workers; i++)
		assert_null(runtime->workers[i].tx_queues[0].wire);
	stop_and_account(runtime);
	scenario_free(scenario);
}

static void changes_under_load_are_taken_and_lose_nothing(void **state)
{
	struct scenario *scenario = scenario_null(), *next = scenario_null();
	static struct cloud_report report;
	struct problem problem;
	(void)state;

	scenario_remove_cloud(next, 1);
	for (size_t i = 0; i < 2; i++) {
		struct runtime *runtime = start_with(scenario, layouts[i]);

		for (uint32_t round = 0; round < 20; round++) {
			assert_int_equal(
			        put_in_force(runtime, round % 2 ? scenario : next, &problem), 0);
			assert_int_equal(runtime_cloud_report(runtime, "up", &report), round % 2);
			let_flow(runtime, 100);
		}
		runtime_halt(runtime);
		assert_true(runtime_cloud_report(runtime, "down", &report));
		assert_int_equal(report.counters.rx_packets,
		                 report.counters.tx_packets + report.held_packets +
		                         counters_drops(&report.counters));
		stop_and_account(runtime);
	}
	scenario_free(scenario);
	scenario_free(next);
}

/* A template replaces a cloud of the same name, and another template replaces that. */
static void clouds_that_become_others_of_the_same_name_leave_nothing_unaccounted_for(void **state)
{
	struct scenario *scenario = scenario_null(), *next[2];
	struct problem problem;
	(void)state;

	for (uint32_t i = 0; i < 2; i++) {
		struct selection_conf *per =
		        (struct selection_conf *)conf_make(&selection_per_statement);

		assert_non_null(per);
		per->source = strdup(i ? "10.0.0.0/24" : "10.0.0.0/28");
		next[i] = scenario_null();
		next[i]->clouds[0]->many = true;
		next[i]->clouds[0]->selection = &per->conf;
	}
	for (size_t i = 0; i < 2; i++) {
		struct runtime *runtime = start_with(scenario, layouts[i]);

		let_flow(runtime, 100);
		for (uint32_t round = 0; round < 2; round++) {
			assert_int_equal(put_in_force(runtime, next[round], &problem), 0);
			usleep(2000);
		}
		stop_and_account(runtime);
	}
	scenario_free(scenario);
	scenario_free(next[0]);
	scenario_free(next[1]);
}

static struct scenario *scenario_of(uint32_t devices, uint32_t captures)
{
	struct scenario *scenario = scenario_make();
	char name[16], device[32];

	for (uint32_t i = 0; i < devices + captures; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		snprintf(device, sizeof(device), i < devices ? "net_null%u" : "file:,out=/dev/null",
		         i);
		assert_int_equal(scenario_add_port(scenario, name, device, NULL), 0);
	}
	assert_int_equal(scenario_add_cloud(scenario, "down", "p0", "p1"), 0);
	return scenario;
}

static void more_devices_than_dpdk_has_room_for_are_refused_before_one_is_opened(void **state)
{
	struct scenario *scenario = scenario_of(RTE_MAX_ETHPORTS + 1, 0);
	const struct runtime_options options = {.memory_bytes = 32 << 20};
	struct problem problem = {.text = ""};
	struct runtime *runtime;
	char room[64];
	(void)state;

	assert_int_equal(runtime_start(scenario, &options, &runtime, &problem), -ENOSPC);
	snprintf(room, sizeof(room), "device number %u, but this DPDK has room for %u",
	         RTE_MAX_ETHPORTS + 1, RTE_MAX_ETHPORTS);
	assert_non_null(strstr(problem.text, room));
	assert_int_equal(rte_eth_dev_count_total(), 0);
	scenario_free(scenario);
}

static void as_many_devices_as_dpdk_has_room_for_run_and_captures_beside_them(void **state)
{
	struct scenario *scenario = scenario_of(RTE_MAX_ETHPORTS, 2);
	/* Their buffers take 409 MiB, from outside the EAL, which has less without huge pages. */
	const struct runtime_options options = {.memory_bytes = 32 << 20};
	struct problem problem = {.text = ""};
	struct runtime *runtime;
	(void)state;

#ifdef __SANITIZE_THREAD__
	/* Every mbuf that goes from one worker to another would be reported. */
	scenario_free(scenario);
	UNABLE("ThreadSanitizer does not see the locks of DPDK's own mempools");
#endif
	if (runtime_start(scenario, &options, &runtime, &problem) < 0)
		fail_msg("%s", problem.text);
	let_flow(runtime, 1000);
	stop_and_account(runtime);
	scenario_free(scenario);
}

static void a_change_of_ports_or_seed_is_refused_and_changes_nothing(void **state)
{
	struct scenario *scenario = scenario_null();
	struct scenario *other_port = scenario_between("net_null0,size=64", "net_null1,size=65");
	struct scenario *other_seed = scenario_null();
	struct runtime *runtime = start_with(scenario, LAYOUT_RUN_TO_COMPLETION);
	struct problem problem;
	(void)state;

	other_seed->seed = 4;
	assert_int_equal(put_in_force(runtime, other_port, &problem), -EINVAL);
	assert_non_null(strstr(problem.text, "ports cannot change while packets flow"));
	assert_int_equal(put_in_force(runtime, other_seed, &problem), -EINVAL);
	assert_non_null(strstr(problem.text, "now 3"));
	let_flow(runtime, 100);
	stop_and_account(runtime);
	scenario_free(scenario);
	scenario_free(other_port);
	scenario_free(other_seed);
}

static void a_clear_sets_the_counters_back_and_packets_still_add_up(void **state)
{
	struct scenario *scenario = scenario_null();
	static struct port_report before, after;
	(void)state;

	for (size_t i = 0; i < 2; i++) {
		struct runtime *runtime = start_with(scenario, layouts[i]);
		uint32_t tries = 0;

		let_flow(runtime, 20000);
		/* Packets flow on: so many between two looks are rare, and not so in every try. */
		do {
			runtime_port_report(runtime, 1, &before);
			clear_all(runtime);
			runtime_port_report(runtime, 1, &after);
		} while (after.tx_packets >= before.tx_packets && ++tries < 100);
		assert_true(tries < 100);
		runtime_halt(runtime);
		runtime_port_report(runtime, 1, &after);
		assert_string_equal(after.driver, "net_null");
		/* All counters are cleared together, so they agree afterwards. */
		assert_true(after.lateness_ns.count == after.tx_packets);
		stop_and_account(runtime);
	}
	scenario_free(scenario);
}

static void a_runtime_that_does_not_start_leaves_the_devices_free(void **state)
{
	struct scenario *good = scenario_null();
	struct scenario *bad = scenario_between("net_null0,size=64", "net_nothing1");
	const struct runtime_options options = {.memory_bytes = 32 << 20};
	struct runtime *runtime;
	struct problem problem;
	(void)state;

	for (int round = 0; round < 3; round++) {
		assert_true(runtime_start(bad, &options, &runtime, &problem) < 0);
		assert_non_null(
		        strstr(problem.text, "port b: DPDK cannot open device net_nothing1"));
		runtime = start_with(good, LAYOUT_RUN_TO_COMPLETION);
		stop_and_account(runtime);
	}
	scenario_free(good);
	scenario_free(bad);
}

/* ---- the tick, on a runtime that was halted ---- */

static char told[400];

static void remember(void *argument, const struct runtime_event *event)
{
	(void)argument;
	strncat(told, event->line, sizeof(told) - strlen(told) - 1);
}

static const char *tick(struct runtime *runtime)
{
	told[0] = '\0';
	runtime_tick(runtime, remember, NULL);
	return told;
}

static void a_worker_that_stands_still_for_a_second_is_told_once(void **state)
{
	struct scenario *scenario = scenario_null();
	struct runtime *runtime = start_with(scenario, LAYOUT_RUN_TO_COMPLETION);
	struct watch *watch = &runtime->watches[0];
	struct worker_report report;
	(void)state;

	runtime_halt(runtime);
	runtime->running = true; /* as far as the tick can see, the workers have stalled now */
	tick(runtime);
	assert_string_equal(tick(runtime), "");
	/* The real clock adds nothing to that. */
	watch->patience = (struct patience){.last_ns = UINT64_MAX, .waited_ns = 1100 * SIMTIME_MS};
	assert_non_null(strstr(tick(runtime), "worker 0 (run-to-completion, processor "));
	assert_non_null(strstr(told, "has not completed a poll for 1.1 s"));
	watch->patience.last_ns = UINT64_MAX;
	assert_null(strstr(tick(runtime), "worker 0"));
	watch->patience.last_ns = UINT64_MAX;
	runtime->workers[0].polls++;
	assert_non_null(strstr(tick(runtime), "worker 0"));
	assert_non_null(strstr(told, "polls again after 1.1 s"));
	runtime_worker_report(runtime, 0, &report);
	assert_int_equal(report.stalls, 1);
	runtime->running = false;
	stop_and_account(runtime);
	scenario_free(scenario);
}

/* When the process continues, control runs first; the worker has not completed a poll since. */
static void a_stop_of_the_whole_process_is_no_stall_of_its_workers(void **state)
{
	struct scenario *scenario = scenario_null();
	struct runtime *runtime = start_with(scenario, LAYOUT_RUN_TO_COMPLETION);
	struct watch *watch = &runtime->watches[0];
	struct worker_report report;
	(void)state;

	runtime_halt(runtime);
	runtime->running = true;
	tick(runtime);
	watch->patience.last_ns -= 11 * SIMTIME_S;
	assert_string_equal(tick(runtime), "");
	runtime->workers[0].polls++;
	assert_string_equal(tick(runtime), "");
	runtime_worker_report(runtime, 0, &report);
	assert_int_equal(report.stalls, 0);
	runtime->running = false;
	stop_and_account(runtime);
	scenario_free(scenario);
}

static void a_link_that_goes_down_and_up_is_told(void **state)
{
	struct scenario *scenario = scenario_between("net_null0", "net_ring1");
	struct runtime *runtime;
	(void)state;

	/* No packet enters that device: the device would hand it to another worker through a ring
	 * of the driver, which ThreadSanitizer does not recognise. */
	scenario_remove_cloud(scenario, 0);
	runtime = start_with(scenario, LAYOUT_RUN_TO_COMPLETION);
	tick(runtime);
	assert_int_equal(rte_eth_dev_set_link_down(runtime->ports[1].id), 0);
	assert_string_equal(tick(runtime), "port b: link down");
	assert_string_equal(tick(runtime), "");
	assert_int_equal(rte_eth_dev_set_link_up(runtime->ports[1].id), 0);
	assert_string_equal(tick(runtime), "port b: link up");
	stop_and_account(runtime);
	scenario_free(scenario);
}

static int start(void **state)
{
	(void)state;
	return live_eal_start(3);
}

static void a_worker_sleeps_where_its_ports_wake_it_and_others_may_run(void **state)
{
	static const struct {
		enum runtime_rest rest;
		bool isolated, woken;
		simtime rest_ns;
	} cases[] = {
	        {REST_NEVER, false, true, 0},
	        {REST_WOKEN, false, true, WORKER_REST_NS},
	        {REST_WOKEN, true, true, WORKER_REST_NS},
	        {REST_WOKEN, false, false, 0},
	        {REST_SHARED, false, true, WORKER_REST_NS},
	        {REST_SHARED, false, false, 0},
	        {REST_SHARED, true, true, 0},
	        {REST_SHARED, true, false, 0},
	        {REST_TIMED, false, true, 7000},
	        {REST_TIMED, true, false, 7000},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct runtime_options options = {.rest = cases[i].rest, .sleep_ns = 7000};

		assert_int_equal(layout_rest(&options, cases[i].isolated, cases[i].woken),
		                 cases[i].rest_ns);
		options.layout = LAYOUT_PIPELINE;
		assert_int_equal(layout_rest(&options, cases[i].isolated, cases[i].woken), 0);
	}
}

GROUP(runtime)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_worker_sleeps_where_its_ports_wake_it_and_others_may_run),
	        cmocka_unit_test(every_layout_accounts_for_every_packet_when_it_stops),
	        cmocka_unit_test(
	                what_is_dropped_on_the_way_to_the_sending_worker_counts_at_the_port),
	        cmocka_unit_test(all_that_a_worker_sends_to_a_port_of_known_speed_shares_one_wire),
	        cmocka_unit_test(changes_under_load_are_taken_and_lose_nothing),
	        cmocka_unit_test(
	                clouds_that_become_others_of_the_same_name_leave_nothing_unaccounted_for),
	        cmocka_unit_test(
	                more_devices_than_dpdk_has_room_for_are_refused_before_one_is_opened),
	        cmocka_unit_test(as_many_devices_as_dpdk_has_room_for_run_and_captures_beside_them),
	        cmocka_unit_test(a_change_of_ports_or_seed_is_refused_and_changes_nothing),
	        cmocka_unit_test(a_clear_sets_the_counters_back_and_packets_still_add_up),
	        cmocka_unit_test(a_runtime_that_does_not_start_leaves_the_devices_free),
	        cmocka_unit_test(a_worker_that_stands_still_for_a_second_is_told_once),
	        cmocka_unit_test(a_stop_of_the_whole_process_is_no_stall_of_its_workers),
	        cmocka_unit_test(a_link_that_goes_down_and_up_is_told),
	};

	return cmocka_run_group_tests_name("runtime", tests, start, live_eal_stop);
}
