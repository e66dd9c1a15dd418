/* SPDX-License-Identifier: BSD-3-Clause */
/* The throughput of a cloud over time, as a picture draws it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "replay/replay_command.h"
#include "runner/group.h"

#define START (5 * SIMTIME_S)

static double t[THROUGHPUT_STEPS + 2], value[THROUGHPUT_STEPS + 2], step_ns;

/* Returns the bits under the steps, which are all that came, whatever the steps. */
static double bits(size_t n)
{
	double sum = 0;

	for (size_t i = 0; i + 1 < n; i++)
		sum += value[i] * (t[i + 1] - t[i]) / 1e9;
	return sum;
}

static void a_steady_rate_is_a_flat_line_however_long_the_run(void **state)
{
	(void)state;
	/* 1250 bytes every 100 us are 100 Mbit/s; from 20 ms to an hour. */
	for (uint64_t packets = 200; packets <= 36000000; packets *= 30) {
		struct throughput throughput = {.n = 0};
		size_t n;

		for (uint64_t i = 0; i < packets; i++)
			throughput_add(&throughput, START + i * 100 * SIMTIME_US,
			               START + i * 100 * SIMTIME_US, 1250);
		n = throughput_points(&throughput, START, t, value, &step_ns);
		assert_in_range(n, 2, THROUGHPUT_STEPS + 2);
		assert_true(t[0] == 0);
		/* The end of the run may cut the last step. */
		for (size_t i = 0; i + 2 < n; i++)
			assert_true(value[i] > 99.999e6 && value[i] < 100.001e6);
		assert_true(value[n - 1] == 0);
		assert_true(bits(n) > (double)packets * 1e4 * 0.999999 &&
		            bits(n) < (double)packets * 1e4 * 1.000001);
	}
}

/* Frames of 1.2 ms each, one behind the other, in slots of 1 ms: each slot that is full has the
 * rate of the link, and none has more. */
static void a_packet_counts_while_the_link_sends_it(void **state)
{
	const simtime each = 1200 * SIMTIME_US;
	struct throughput throughput = {.n = 0};
	size_t n;

	(void)state;
	for (uint64_t i = 0; i < 100; i++)
		throughput_add(&throughput, START + i * each, START + (i + 1) * each, 1500);
	n = throughput_points(&throughput, START, t, value, &step_ns);
	assert_int_equal(n, 122);
	for (size_t i = 0; i < 120; i++)
		assert_true(value[i] > 9.999999e6 && value[i] < 10.000001e6);
	assert_true(value[120] < 1);
	assert_true(bits(n) > 1.2e6 - 1 && bits(n) < 1.2e6 + 1);
}

static void what_comes_late_and_what_overtakes_is_counted_where_it_belongs(void **state)
{
	struct throughput throughput = {.n = 0};
	size_t n;

	(void)state;
	assert_int_equal(throughput_points(&throughput, START, t, value, &step_ns), 0);
	throughput_add(&throughput, START + 10 * SIMTIME_MS, START + 10 * SIMTIME_MS, 125);
	throughput_add(&throughput, START + 9 * SIMTIME_MS, START + 9 * SIMTIME_MS,
	               125); /* earlier: counts as the first */
	throughput_add(&throughput, START + 12 * SIMTIME_MS, START + 12 * SIMTIME_MS, 1000);
	n = throughput_points(&throughput, START, t, value, &step_ns);
	assert_int_equal(n, 5);
	assert_true(step_ns == 1e6);
	assert_true(t[0] == 0 && value[0] == 0);
	assert_true(t[1] == 10e6 && value[1] == 2e6);
	assert_true(t[2] == 11e6 && value[2] == 0);
	assert_true(t[3] == 12e6 && value[3] == 8e6);
	assert_true(t[4] == 13e6 && value[4] == 0);
}

static void a_pause_of_a_year_is_a_pause(void **state)
{
	struct throughput throughput = {.n = 0};
	size_t n;

	(void)state;
	throughput_add(&throughput, START, START, 1000);
	throughput_add(&throughput, START + 31536000 * SIMTIME_S, START + 31536000 * SIMTIME_S,
	               1000);
	n = throughput_points(&throughput, START, t, value, &step_ns);
	assert_true(bits(n) > 15999 && bits(n) < 16001);
	for (size_t i = 1; i + 2 < n; i++)
		assert_true(value[i] == 0);
}

GROUP(throughput)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_packet_counts_while_the_link_sends_it),
	        cmocka_unit_test(a_steady_rate_is_a_flat_line_however_long_the_run),
	        cmocka_unit_test(what_comes_late_and_what_overtakes_is_counted_where_it_belongs),
	        cmocka_unit_test(a_pause_of_a_year_is_a_pause),
	};

	return cmocka_run_group_tests_name("throughput", tests, NULL, NULL);
}
