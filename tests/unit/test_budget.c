/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory that a scenario needs: the arithmetic by hand, and the engine itself. In the memory of
 * the budget, the engine must hold the worst load of a port.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/budget.h"
#include "check/memory_plan.h"
#include "engine/engine_report.h"
#include "language/scenario_file.h"
#include "machine/pool.h"
#include "rig.h"
#include "runner/group.h"

#define PORTS "port a\nport b\nport c\ncloud x from a to c\n"

static struct scenario *loaded(const char *text)
{
	char message[SCENARIO_FILE_ERROR];
	struct scenario *scenario;

	if (scenario_text_load(text, strlen(text), "t", &scenario, message, sizeof(message)) != 0)
		fail_msg("%s", message);
	return scenario;
}

static void packets_in_flight_are_rate_times_delay(void **state)
{
	static const struct {
		const char *statements;
		uint64_t port_bps, product_bytes, delay_max_ns, packets_64, packets_1518;
	} rows[] = {
	        /* nothing holds packets */
	        {"", 0, 0, 0, 0, 0},
	        /* 10 Gbit/s is 14.88 million frames of 64 bytes a second, with preamble and gap */
	        {"cloud x delay 500ms\n", 0, 625000000, 500000000, 7440477, 406372},
	        {"cloud x delay 500ms\n", 1000000000, 62500000, 500000000, 744048, 40638},
	        /* the link counts frames without FCS: 60 and 1514 bytes. The queue has rate x
	         * delay, and at least 64000 bytes; one more packet is being sent */
	        {"cloud x rate 10mbit\ncloud x delay 40ms\n", 0, 50000, 40000000, 834 + 1067 + 1,
	         34 + 43 + 1},
	        {"cloud x rate 10mbit queue 100pkt\ncloud x delay 40ms\n", 0, 50000, 40000000,
	         834 + 101, 34 + 101},
	        {"cloud x rate 10mbit queue 50ms\ncloud x delay 40ms\n", 0, 50000, 40000000,
	         834 + 1042 + 1, 34 + 42 + 1},
	        {"cloud x rate 10mbit queue 6000B\n", 0, 0, 0, 100 + 1, 4 + 1},
	        /* a link faster than its port receives no more than the port delivers */
	        {"cloud x rate 100gbit queue 1pkt\ncloud x delay 500ms\n", 0, 6250000000, 500000000,
	         7440477 + 2, 406372 + 2},
	        /* the jitter counts with its maximum */
	        {"cloud x delay 500ms jitter 100ms\n", 0, 625000000, 600000000, 8928572, 487647},
	        {"cloud x delay 500ms jitter 100ms distribution normal\n", 0, 625000000, 1150000000,
	         17113096, 934656},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		uint64_t speeds[SCENARIO_PORTS_MAX] = {rows[i].port_bps};
		struct scenario *scenario;
		struct budget budget;
		char text[400];

		snprintf(text, sizeof(text), "%s%s", PORTS, rows[i].statements);
		scenario = loaded(text);
		assert_int_equal(budget_of(scenario, speeds, &budget), 0);
		if (budget.clouds[0].load[BUDGET_64].packets != rows[i].packets_64 ||
		    budget.clouds[0].load[BUDGET_1518].packets != rows[i].packets_1518)
			fail_msg("%s: %llu %llu", rows[i].statements,
			         (unsigned long long)budget.clouds[0].load[BUDGET_64].packets,
			         (unsigned long long)budget.clouds[0].load[BUDGET_1518].packets);
		assert_int_equal(budget.clouds[0].product_bytes, rows[i].product_bytes);
		assert_int_equal(budget.clouds[0].delay_max_ns, rows[i].delay_max_ns);
		assert_int_equal(budget.clouds[0].load[BUDGET_64].mbufs, 0);
		assert_int_equal(budget.clouds[0].load[BUDGET_1518].mbufs, rows[i].packets_1518);
		assert_int_equal(budget.mbufs, rows[i].packets_1518);
		assert_true(budget.memory_bytes + budget.mbufs * pool_mbuf_bytes() >=
		            budget.clouds[0].bytes);
		budget_release(&budget);
		scenario_free(scenario);
	}
}

static void seven_million_packets_of_64_bytes_fit_128_bytes_each(void **state)
{
	struct scenario *scenario = loaded(PORTS "cloud x delay 500ms\n");
	struct budget budget;

	(void)state;
	assert_int_equal(budget_of(scenario, NULL, &budget), 0);
	assert_true(budget.speed_assumed);
	assert_true(budget.memory_bytes <= UINT64_C(7440477) * 128);
	budget_release(&budget);
	scenario_free(scenario);
}

static void files_count_with_what_is_read_out_of_them(void **state)
{
	char path[] = "/tmp/weir-budget-XXXXXX", text[200];
	struct scenario *scenario;
	struct budget budget, bare;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "1\n22\n", 5), 5);
	close(fd);
	snprintf(text, sizeof(text),
	         "port a\nport b\ncloud x from a to b\ncloud x delay 1ms\ncloud x loss list %s\n",
	         path);
	scenario = loaded(text);
	unlink(path);
	assert_int_equal(budget_of(scenario, NULL, &budget), 0);
	assert_int_equal(budget.clouds[0].files_bytes, 5 * 5);
	assert_int_equal(budget_files(scenario), 5);
	cloud_conf_remove(scenario->clouds[0], "loss");
	assert_int_equal(budget_of(scenario, NULL, &bare), 0);
	assert_int_equal(budget.own_bytes - bare.own_bytes, 5 * 5);
	budget_release(&budget);
	budget_release(&bare);
	scenario_free(scenario);
}

static void numbers_beyond_64_bits_stop_at_the_greatest(void **state)
{
	static const char *const texts[] = {
	        "cloud x rate 400gbit queue 18446744073709551615B\ncloud x delay 86400s jitter "
	        "86400s "
	        "distribution normal order allow\n",
	        "cloud x rate 400gbit queue 18446744073709551615pkt\n",
	        "cloud x rate 400gbit queue 18446744073s\n",
	        "cloud x rate 1bit\ncloud x delay 86400s jitter 1ns order allow\n",
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(texts); i++) {
		struct scenario *scenario;
		struct machine_memory machine = {.address.free_bytes = UINT64_MAX,
		                                 .locked.free_bytes = UINT64_MAX};
		struct memory_plan plan;
		struct problem problem;
		struct budget budget;
		char text[400];

		snprintf(text, sizeof(text), "%s%s", PORTS, texts[i]);
		scenario = loaded(text);
		assert_int_equal(budget_of(scenario, NULL, &budget), 0);
		assert_int_equal(memory_plan_make(&(struct memory_request){.scenario = scenario,
		                                                           .budget = &budget,
		                                                           .machine = &machine,
		                                                           .workers = 1},
		                                  &plan, &problem),
		                 -ENOMEM);
		assert_true(plan.needed_bytes >= budget.memory_bytes);
		budget_release(&budget);
		scenario_free(scenario);
	}
}

static void what_a_flight_takes_is_counted(void **state)
{
	static const struct {
		const char *text;
		struct recording_plan plan;
		uint64_t more_mib; /* of two workers */
	} cases[] = {
	        {"cloud x rate 10mbit\n", {.folder = "R"}, 64},
	        {"cloud x rate 10mbit queue 10pkt\n",
	         {.flight_bytes = 64 << 20, .held_max = 16384},
	         2 * (32 + 64 + 16 + 8)},
	        {"clouds t from b to a per source 10.0.0.0/8 most 32768\nclouds t rate 1mbit "
	         "queue 1pkt\ncloud x rate 10mbit queue 10pkt\n",
	         {.flight_bytes = 64 << 20, .held_max = 1, .snap = 96},
	         2 * (32 + 64 + 16) + 64},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct machine_memory machine = {.pages.free_bytes = UINT64_MAX,
		                                 .address.free_bytes = UINT64_MAX,
		                                 .locked.free_bytes = UINT64_MAX};
		struct memory_plan without, with;
		struct memory_request request = {.machine = &machine, .workers = 2};
		struct scenario *scenario;
		struct problem problem;
		struct budget budget;
		char text[400];

		snprintf(text, sizeof(text), "%s%s", PORTS, cases[i].text);
		scenario = loaded(text);
		assert_int_equal(budget_of(scenario, NULL, &budget), 0);
		request.scenario = scenario;
		request.budget = &budget;
		assert_int_equal(memory_plan_make(&request, &without, &problem), 0);
		request.recording = &cases[i].plan;
		assert_int_equal(memory_plan_make(&request, &with, &problem), 0);
		assert_int_equal((with.needed_bytes - without.needed_bytes) >> 20,
		                 cases[i].more_mib);
		machine.pages.free_bytes = without.needed_bytes;
		assert_int_equal(memory_plan_make(&request, &with, &problem), -ENOMEM);
		budget_release(&budget);
		scenario_free(scenario);
	}
}

static void what_does_not_fit_is_said_with_what_would(void **state)
{
	struct scenario *scenario = loaded(PORTS "cloud y from b to a\n"
	                                         "cloud x rate 10mbit\n"
	                                         "cloud x delay 40ms\n"
	                                         "cloud y delay 1s\n");
	struct problem problem;
	struct budget budget;
	char expected[sizeof(problem.text)];
	struct budget_sums sums;
	uint64_t needed;

	(void)state;
	assert_int_equal(budget_of(scenario, NULL, &budget), 0);
	needed = budget.memory_bytes + budget.mbufs * pool_mbuf_bytes();
	sums = (struct budget_sums){.needed_bytes = needed, .there_bytes = needed - 1};
	budget_refuse(&budget, &sums, "", &problem);
	snprintf(expected, sizeof(expected),
	         "the scenario needs %llu MiB of memory, but %llu MiB are available; cloud `y` "
	         "(10gbit x "
	         "1s) "
	         "needs %llu MiB of it: give it a `rate`, or shorten its delay",
	         (unsigned long long)(needed >> 20) + 1, (unsigned long long)(needed - 1) >> 20,
	         (unsigned long long)(budget.clouds[1].bytes >> 20) + 1);
	assert_string_equal(problem.text, expected);
	budget_refuse(&budget, &sums, "ulimit -d is 5 MiB", &problem);
	assert_non_null(strstr(problem.text, " MiB are available (ulimit -d is 5 MiB); cloud `y`"));
	/* A change of the clouds would not help. */
	sums = (struct budget_sums){.needed_bytes = needed + (9 << 20),
	                            .there_bytes = 8 << 20,
	                            .beside_bytes = 9 << 20};
	budget_refuse(&budget, &sums, "", &problem);
	assert_string_equal(problem.text, "weir and its ports need 10 MiB of memory apart from "
	                                  "that for packets, but 8 MiB are available; give it "
	                                  "more, or use fewer ports or workers");
	budget_release(&budget);
	scenario_free(scenario);
}

/* ---- against the engine ---- */

struct trial {
	const char *text;     /* the scenario after its ports */
	uint64_t port_bps;    /* of port a */
	uint32_t frame_bytes; /* without FCS */
	simtime length_ns;    /* how long the port sends back to back */
};

static void set_rig(struct rig *rig, const struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		const struct cloud_conf *cloud = scenario->clouds[i];
		int own;

		rig_cloud(rig, cloud->name, (uint32_t)scenario_find_port(scenario, cloud->from),
		          (uint32_t)scenario_find_port(scenario, cloud->to));
		own = scenario_find_cloud(rig->scenario, cloud->name);
		for (uint32_t j = 0; j < cloud->n_confs; j++)
			assert_int_equal(cloud_conf_put(rig->scenario->clouds[own],
			                                conf_copy(cloud->confs[j])),
			                 0);
	}
	rig_apply(rig, 0);
}

/* Sends frames back to back from the port; every frame must find memory. */
static void hold(const struct trial *trial)
{
	uint64_t speeds[SCENARIO_PORTS_MAX] = {trial->port_bps};
	struct cloud_report *report;
	struct scenario *scenario;
	struct budget budget;
	struct rig *rig;
	char text[400];

	snprintf(text, sizeof(text), "%s%s", PORTS, trial->text);
	scenario = loaded(text);
	assert_int_equal(budget_of(scenario, speeds, &budget), 0);
	rig = rig_open(&(struct rig_setup){.seed = 7, .memory_bytes = budget.memory_bytes});
	set_rig(rig, scenario);
	for (uint64_t i = 0;; i++) {
		/* with preamble, gap and FCS; rounded up: never faster than the port */
		simtime t = (i * (trial->frame_bytes + 24) * 8 * SIMTIME_S + trial->port_bps - 1) /
		            trial->port_bps;

		if (t >= trial->length_ns)
			break;
		rig_send(rig, 0, trial->frame_bytes, t);
		rig_collect(rig); /* at a shared port, arrivals let other packets leave */
		if (i % 32 == 31)
			rig_advance(rig, t);
	}
	rig_advance(rig, trial->length_ns);
	report = rig_report(rig, "x");
	if (report->counters.drops[REASON_NO_BUFFER] != 0)
		fail_msg("%s: %llu bytes were too few for %llu packets", trial->text,
		         (unsigned long long)budget.memory_bytes,
		         (unsigned long long)report->held_packets);
	if (report->held_packets > budget.clouds[0].load[BUDGET_64].packets)
		fail_msg("%s: %llu packets instead of %llu", trial->text,
		         (unsigned long long)report->held_packets,
		         (unsigned long long)budget.clouds[0].load[BUDGET_64].packets);
	rig_close(rig);
	budget_release(&budget);
	scenario_free(scenario);
}

static void the_engine_holds_the_worst_within_the_budget(void **state)
{
	static const struct trial trials[] = {
	        {"cloud x delay 10ms\n", 1000000000, 60, 30 * SIMTIME_MS},
	        {"cloud x delay 1s\n", 1000000, 60, 3 * SIMTIME_S},
	        {"cloud x delay 10ms jitter 5ms\n", 1000000000, 60, 30 * SIMTIME_MS},
	        {"cloud x delay 10ms jitter 5ms order allow\n", 1000000000, 60, 30 * SIMTIME_MS},
	        {"cloud x delay 10ms jitter 3ms distribution normal order allow\n", 1000000000, 60,
	         30 * SIMTIME_MS},
	        /* slots of the second and third level, and packets across their edges */
	        {"cloud x delay 1s jitter 500ms order allow\n", 10000000, 60, 6 * SIMTIME_S},
	        {"cloud x delay 5s jitter 1s order allow\n", 2000000, 60, 20 * SIMTIME_S},
	        {"cloud x rate 10mbit\ncloud x delay 40ms\n", 100000000, 60, 300 * SIMTIME_MS},
	        {"cloud x rate 10mbit queue 50ms\ncloud x delay 40ms jitter 20ms order allow\n",
	         100000000, 60, 300 * SIMTIME_MS},
	        /* shares port c with x, so both are on the wheel */
	        {"cloud y from b to c\ncloud y delay 10ms\ncloud x delay 20ms\n", 1000000000, 60,
	         60 * SIMTIME_MS},
	        /* these packets stay in their mbufs */
	        {"cloud x delay 10ms\n", 1000000000, 1514, 30 * SIMTIME_MS},
	        {"cloud x delay 10ms jitter 5ms order allow\n", 1000000000, 1514, 30 * SIMTIME_MS},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(trials); i++)
		hold(&trials[i]);
}

GROUP(budget)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(packets_in_flight_are_rate_times_delay),
	        cmocka_unit_test(seven_million_packets_of_64_bytes_fit_128_bytes_each),
	        cmocka_unit_test(files_count_with_what_is_read_out_of_them),
	        cmocka_unit_test(numbers_beyond_64_bits_stop_at_the_greatest),
	        cmocka_unit_test(what_a_flight_takes_is_counted),
	        cmocka_unit_test(what_does_not_fit_is_said_with_what_would),
	        cmocka_unit_test(the_engine_holds_the_worst_within_the_budget),
	};

	return cmocka_run_group_tests_name("budget", tests, rig_group_setup, rig_group_teardown);
}
