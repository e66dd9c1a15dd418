/* SPDX-License-Identifier: BSD-3-Clause */
/* The searches of RFC 2544 against a device that is a formula: it forwards a number of frames a
 * second, and holds a number in a queue. Frames that do not fit are lost. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "measure/bench_rfc2544.h"
#include "runner/group.h"

#define LINE       1000000.0
#define LATENCY_NS 1500

struct device {
	struct rfc2544_tester base;
	double capacity_pps, queue_frames;
	double most_pps;    /* maximum of the tester; 0: unlimited */
	uint32_t disturbed; /* how many of the next trials lose a frame to a disturbance */
	uint32_t trials;
	double last_pps;
	int fails; /* -errno of every trial, or 0 */
};

static int trial(struct rfc2544_tester *tester, const struct rfc2544_trial *ask,
                 struct rfc2544_outcome *outcome)
{
	struct device *device = (struct device *)tester;
	double pps = device->most_pps > 0 ? fmin(ask->pps, device->most_pps) : ask->pps;
	double excess =
	        (double)ask->frames * (1 - device->capacity_pps / pps) - device->queue_frames;

	device->trials++;
	device->last_pps = ask->pps;
	if (device->fails)
		return device->fails;
	outcome->sent = ask->frames;
	outcome->received = ask->frames - (excess > 0 ? (uint64_t)ceil(excess) : 0);
	outcome->pps = pps;
	if (device->disturbed) {
		device->disturbed--;
		outcome->disturbed = true;
		outcome->received--;
	}
	histogram_add(&outcome->latency_ns, LATENCY_NS, outcome->received);
	while (outcome->n_tagged < RFC2544_TAGGED) {
		outcome->tagged_ns[outcome->n_tagged] = LATENCY_NS + outcome->n_tagged * 7 % 500;
		outcome->n_tagged++;
	}
	return 0;
}

static const struct rfc2544_conditions times = {
        .line_pps = LINE,
        .trial_s = 1,
        .latency_s = 0.1,
        .latency_repeats = 3,
        .burst_repeats = 2,
        .burst_s = 2,
        .tolerance = 0.005,
};

static struct rfc2544_result *run(struct device *device)
{
	struct rfc2544_result *result = calloc(1, sizeof(*result));

	device->base.trial = trial;
	assert_non_null(result);
	assert_int_equal(rfc2544_run(&device->base, &times, 64, result), 0);
	return result;
}

static void throughput_is_the_greatest_rate_without_loss(void **state)
{
	static const double capacities[] = {10e3, 123456, 500e3, 777777, 995e3};

	(void)state;
	for (size_t i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++) {
		struct device device = {.capacity_pps = capacities[i], .queue_frames = 1000};
		struct rfc2544_result *result = run(&device);
		double lossless = capacities[i] + 1000 / times.trial_s;

		assert_true(result->ndr.pps <= lossless + 1);
		assert_true(result->ndr.pps > fmin(lossless, LINE) - LINE * RFC2544_RESOLUTION);
		assert_true(result->ndr.loss == 0);
		free(result);
	}
}

static void a_device_that_keeps_up_is_found_in_one_trial(void **state)
{
	struct device device = {.capacity_pps = 2 * LINE};
	struct rfc2544_result *result = run(&device);

	(void)state;
	assert_true(result->ndr.pps == LINE);
	assert_int_equal(result->ndr.trials, 1);
	assert_true(result->pdr.pps == LINE);
	assert_int_equal(result->n_points, 2); /* two in a row without loss */
	assert_true(bench_repeats_mean(&result->burst_frames) == result->burst_most);
	free(result);
}

static void a_tolerated_loss_allows_a_higher_rate(void **state)
{
	struct device device = {.capacity_pps = 600e3};
	struct rfc2544_result *result = run(&device);
	double tolerated = 600e3 / (1 - times.tolerance);

	(void)state;
	assert_true(result->pdr.pps >= result->ndr.pps);
	assert_true(result->pdr.pps <= tolerated);
	assert_true(result->pdr.pps > tolerated - LINE * RFC2544_RESOLUTION);
	assert_true(result->pdr.loss <= times.tolerance);
	free(result);
}

static void no_rate_is_offered_that_the_tester_cannot_send(void **state)
{
	struct device device = {.capacity_pps = 2 * LINE, .most_pps = 400e3};
	struct rfc2544_result *result = run(&device);

	(void)state;
	assert_true(result->offered_pps == 400e3);
	assert_true(result->ndr.pps == 400e3);
	assert_true(result->line_pps == LINE);
	free(result);
}

static void latency_is_measured_at_the_throughput(void **state)
{
	struct device device = {.capacity_pps = 300e3};
	struct rfc2544_result *result = run(&device);

	(void)state;
	assert_true(result->latency_mean_ns == LATENCY_NS);
	assert_int_equal(result->latency_ns.min, LATENCY_NS);
	assert_int_equal(result->latency_ns.max, LATENCY_NS);
	assert_int_equal(result->latency_ns.count,
	                 (uint64_t)(result->ndr.pps * times.latency_s + 0.5) *
	                         times.latency_repeats);
	free(result);
}

static void the_loss_rate_goes_down_in_tenths_until_two_are_without(void **state)
{
	struct device device = {.capacity_pps = 750e3};
	struct rfc2544_result *result = run(&device);
	static const double shares[] = {1, 0.9, 0.8, 0.7, 0.6};

	(void)state;
	assert_int_equal(result->n_points, 5);
	for (uint32_t i = 0; i < 5; i++) {
		double loss = 1 - 750e3 / (LINE * shares[i]);

		assert_true(fabs(result->points[i].share - shares[i]) < 1e-9);
		assert_true(fabs(result->points[i].loss - fmax(loss, 0)) < 1e-5);
	}
	free(result);
}

static void the_longest_burst_is_what_the_queue_takes(void **state)
{
	struct device device = {.capacity_pps = 500e3, .queue_frames = 10000};
	struct rfc2544_result *result = run(&device);

	(void)state;
	/* While a burst of 20000 frames arrives at the line's rate, half of them leave. */
	assert_true(bench_repeats_mean(&result->burst_frames) <= 20000);
	assert_true(bench_repeats_mean(&result->burst_frames) > 20000 * 0.99 - 1);
	free(result);
}

static void the_buffer_is_what_the_burst_leaves_less_what_has_left(void **state)
{
	struct device device = {.capacity_pps = 500e3, .queue_frames = 10000};
	struct rfc2544_result *result = run(&device);

	(void)state;
	/* RFC 9004: 20000 frames arrive at the line's rate, and leave at the rate of the
	 * throughput. */
	assert_true(fabs(result->implied_buffer_ns - 20e6) < 0.3e6);
	assert_true(fabs(result->corrected_buffer_ns -
	                 result->implied_buffer_ns * (1 - result->ndr.pps / LINE)) < 1);
	assert_true(fabs(result->corrected_buffer_ns - 10e6) < 0.5e6);
	assert_true(bench_repeats_deviation(&result->burst_frames) == 0);
	free(result);
}

static void tagged_frames_give_typical_and_worst_case(void **state)
{
	struct device device = {.capacity_pps = 300e3};
	struct rfc2544_result *result = run(&device);

	(void)state;
	/* 500 of them, one nanosecond apart; the 99.9th percentile of 500 is the greatest. */
	assert_int_equal(result->typical_ns.n, times.latency_repeats);
	assert_true(bench_repeats_at(&result->typical_ns, 0.5) == LATENCY_NS + 249);
	assert_true(bench_repeats_at(&result->worst_ns, 0.99) == LATENCY_NS + 499);
	assert_true(bench_repeats_at(&result->variation_ns, 0.5) == 0);
	free(result);
}

static void searches_are_repeated_and_their_median_counts(void **state)
{
	struct rfc2544_conditions again = times;
	struct device device = {.capacity_pps = 300e3};
	struct rfc2544_result *result = calloc(1, sizeof(*result));

	(void)state;
	again.searches = 10;
	device.base.trial = trial;
	assert_non_null(result);
	assert_int_equal(rfc2544_run(&device.base, &again, 64, result), 0);
	assert_int_equal(result->ndr_pps.n, 10);
	assert_int_equal(result->pdr_pps.n, 10);
	assert_true(bench_repeats_at(&result->ndr_pps, 0.5) == result->ndr.pps);
	free(result);
}

static void what_is_said_of_repeats_is_right(void **state)
{
	struct bench_repeats repeats = {.n = 0};
	const double values[] = {4, 1, 3, 2, 10};

	(void)state;
	assert_true(bench_repeats_at(&repeats, 0.5) == 0 && bench_repeats_mean(&repeats) == 0);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		bench_repeats_add(&repeats, values[i]);
	assert_true(bench_repeats_at(&repeats, 0) == 1 && bench_repeats_at(&repeats, 1) == 10);
	assert_true(bench_repeats_at(&repeats, 0.5) == 3 && bench_repeats_mean(&repeats) == 4);
	assert_true(fabs(bench_repeats_deviation(&repeats) - sqrt(50.0 / 4)) < 1e-12);
	for (int i = 0; i < 2 * BENCH_REPEATS_MAX; i++)
		bench_repeats_add(&repeats, 0);
	assert_int_equal(repeats.n, BENCH_REPEATS_MAX);
}

static void a_disturbed_trial_is_repeated(void **state)
{
	struct device calm = {.capacity_pps = 2 * LINE};
	struct device disturbed = {.capacity_pps = 2 * LINE, .disturbed = RFC2544_RETRIES};
	struct rfc2544_result *of_calm = run(&calm), *of_disturbed = run(&disturbed);

	(void)state;
	assert_true(of_disturbed->ndr.pps == LINE);
	assert_int_equal(of_disturbed->disturbed, 0);
	/* the first trial only measures the rate that can be offered, and tolerates any loss */
	assert_int_equal(of_disturbed->trials, of_calm->trials + RFC2544_RETRIES - 1);
	free(of_calm);
	free(of_disturbed);
}

static void a_disturbance_that_stays_is_told(void **state)
{
	struct device device = {.capacity_pps = 2 * LINE, .disturbed = UINT32_MAX};
	struct rfc2544_result *result = run(&device);

	(void)state;
	assert_true(result->ndr.pps == 0);
	assert_true(result->disturbed > 0);
	free(result);
}

static void a_tester_that_fails_ends_the_test(void **state)
{
	struct device device = {.base.trial = trial, .fails = -EIO};
	struct rfc2544_result *result = calloc(1, sizeof(*result));

	(void)state;
	assert_non_null(result);
	assert_int_equal(rfc2544_run(&device.base, &times, 64, result), -EIO);
	assert_int_equal(device.trials, 1);
	free(result);
}

static void a_search_alone_starts_from_nothing(void **state)
{
	struct device device = {.base.trial = trial, .capacity_pps = 250e3};
	struct rfc2544_result *result = calloc(1, sizeof(*result));
	struct rfc2544_rate rate = {.pps = 999};

	(void)state;
	assert_non_null(result);
	assert_int_equal(rfc2544_search(&device.base, &times, LINE, 0, result, &rate), 0);
	assert_true(rate.pps <= 250e3 && rate.pps > 250e3 - LINE * RFC2544_RESOLUTION);
	free(result);
}

GROUP(bench_rfc2544)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(throughput_is_the_greatest_rate_without_loss),
	        cmocka_unit_test(a_device_that_keeps_up_is_found_in_one_trial),
	        cmocka_unit_test(a_tolerated_loss_allows_a_higher_rate),
	        cmocka_unit_test(no_rate_is_offered_that_the_tester_cannot_send),
	        cmocka_unit_test(latency_is_measured_at_the_throughput),
	        cmocka_unit_test(the_loss_rate_goes_down_in_tenths_until_two_are_without),
	        cmocka_unit_test(the_longest_burst_is_what_the_queue_takes),
	        cmocka_unit_test(the_buffer_is_what_the_burst_leaves_less_what_has_left),
	        cmocka_unit_test(tagged_frames_give_typical_and_worst_case),
	        cmocka_unit_test(searches_are_repeated_and_their_median_counts),
	        cmocka_unit_test(what_is_said_of_repeats_is_right),
	        cmocka_unit_test(a_disturbed_trial_is_repeated),
	        cmocka_unit_test(a_disturbance_that_stays_is_told),
	        cmocka_unit_test(a_tester_that_fails_ends_the_test),
	        cmocka_unit_test(a_search_alone_starts_from_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
