/* SPDX-License-Identifier: BSD-3-Clause */
/* `weir bench latency`, on a cable and devices whose latencies are known. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "measure/bench_rfc2544.h"
#include "runner/group.h"

#define SECONDS 0.1
#define FRAMES  1001

/* For every hundredth frame, the receiver is away for a millisecond. */
struct loop {
	struct rfc2544_tester base;
	uint64_t tx_ns, rx_ns;
	double line_bps, cable_m;
	uint64_t lost;
};

static int trial(struct rfc2544_tester *base, const struct rfc2544_trial *trial,
                 struct rfc2544_outcome *outcome)
{
	const struct loop *loop = (const struct loop *)base;
	double wire_ns = loop->line_bps > 0 ? (trial->frame_bytes + 8) * 8e9 / loop->line_bps : 0;

	outcome->sent = trial->frames;
	outcome->received = trial->frames - loop->lost;
	for (uint64_t i = 0; i < outcome->received; i++) {
		double ns = (double)(loop->tx_ns + loop->rx_ns) + wire_ns + 5 * loop->cable_m;

		histogram_add(&outcome->latency_ns, (uint64_t)ns + (i % 100 == 99 ? 1000000 : 0),
		              1);
	}
	return 0;
}

static struct bench_latency *measure(struct loop *loop, uint32_t bytes, double line, double cable,
                                     int expected)
{
	struct bench_latency *result = malloc(sizeof(*result));

	assert_non_null(result);
	loop->base.trial = trial;
	assert_int_equal(bench_latency_measure(&loop->base, bytes, line, cable, SECONDS, result),
	                 expected);
	return result;
}

/* Asserts that the values differ by no more than the histogram's resolution, which depends on the
 * latency of the whole loop. */
static void assert_near(uint64_t value, uint64_t ought, uint64_t loop)
{
	uint64_t apart = value > ought ? value - ought : ought - value;

	if (apart > loop / 32 + 1)
		fail_msg("%lu ns for %lu", (unsigned long)value, (unsigned long)ought);
}

static void the_sum_is_that_of_the_devices_whatever_wire_and_cable_take(void **state)
{
	static const struct {
		uint32_t bytes;
		double line, cable;
	} rows[] = {{64, 10e9, 1}, {1518, 10e9, 1}, {1518, 1e9, 100}, {512, 100e9, 3}, {64, 0, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct loop loop = {.tx_ns = 420,
		                    .rx_ns = 350,
		                    .line_bps = rows[i].line,
		                    .cable_m = rows[i].cable};
		struct bench_latency *result =
		        measure(&loop, rows[i].bytes, rows[i].line, rows[i].cable, 0);

		assert_int_equal(result->sent, FRAMES);
		assert_near(result->sum_ns, 770,
		            (uint64_t)(770 + result->wire_ns + result->cable_ns));
		assert_int_equal(result->half_ns, result->sum_ns / 2);
		free(result);
	}
}

static void a_frame_of_1518_bytes_takes_1221_ns_on_ten_gigabits(void **state)
{
	struct loop loop = {.tx_ns = 1, .line_bps = 10e9};
	struct bench_latency *result = measure(&loop, 1518, 10e9, 2, 0);

	(void)state;
	assert_true(result->wire_ns > 1220.7 && result->wire_ns < 1220.9);
	assert_true(result->cable_ns == 10);
	free(result);
}

static void a_wire_said_longer_than_the_loop_leaves_nothing(void **state)
{
	struct loop loop = {.tx_ns = 100, .rx_ns = 100};
	struct bench_latency *result = measure(&loop, 1518, 1e9, 0, 0);

	(void)state;
	assert_int_equal(result->sum_ns, 0);
	assert_int_equal(result->half_ns, 0);
	free(result);
}

static void a_loop_that_loses_frames_is_no_cable(void **state)
{
	struct loop loop = {.tx_ns = 100, .rx_ns = 100, .lost = 1};
	struct bench_latency *result = measure(&loop, 64, 0, 0, -EIO);

	(void)state;
	assert_int_equal(result->sent - result->received, 1);
	free(result);
}

GROUP(bench_latency)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_sum_is_that_of_the_devices_whatever_wire_and_cable_take),
	        cmocka_unit_test(a_frame_of_1518_bytes_takes_1221_ns_on_ten_gigabits),
	        cmocka_unit_test(a_wire_said_longer_than_the_loop_leaves_nothing),
	        cmocka_unit_test(a_loop_that_loses_frames_is_no_cable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
