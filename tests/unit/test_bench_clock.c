/* SPDX-License-Identifier: BSD-3-Clause */
/* The findings of `weir bench clock`, on clocks whose errors are known. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure/bench_precision.h"
#include "runner/group.h"

#define TICKS_A_NS 2
#define SECONDS    5.0

/* A counter of two ticks a ns beside a raw clock that jumps forward once. */
struct model {
	struct bench_clock_source base;
	uint64_t true_ns;
	uint64_t jump_at_ns, jump_ns;
	uint64_t samples, wrong_sample; /* the number of the sample that is 1 us wrong; 0: none */
	uint64_t waits, waits_max;      /* 0: no end */
	bool stands;                    /* the counter stands still */
};

static void model_sample(struct bench_clock_source *source, struct clock_sample *sample)
{
	struct model *model = (struct model *)source;

	sample->tsc = 1000000 + (model->stands ? 0 : model->true_ns * TICKS_A_NS);
	sample->raw_ns = 7000000 + model->true_ns;
	if (model->jump_at_ns && model->true_ns >= model->jump_at_ns)
		sample->raw_ns += model->jump_ns;
	if (++model->samples == model->wrong_sample)
		sample->raw_ns -= 1000;
	model->true_ns += 50;
}

static bool model_wait(struct bench_clock_source *source, uint64_t ns)
{
	struct model *model = (struct model *)source;

	model->true_ns += ns;
	return model->waits_max == 0 || ++model->waits <= model->waits_max;
}

static struct model model_make(void)
{
	return (struct model){.base = {.sample = model_sample, .wait = model_wait}};
}

static uint64_t above(const struct histogram *histogram, uint64_t ns)
{
	uint64_t n = 0;

	for (struct histogram_walk w = histogram_walk(histogram); histogram_walk_next(&w);)
		n += w.low >= ns ? w.count : 0;
	return n;
}

static void a_clock_that_is_exact_is_said_to_be(void **state)
{
	struct model model = model_make();
	static struct bench_clock result;

	(void)state;
	assert_int_equal(bench_clock_watch(&model.base, SECONDS, &result), 0);
	assert_int_equal(result.samples, 500);
	assert_int_equal(result.disturbed, 0);
	assert_int_equal(result.distance_ns.count, 500);
	assert_int_equal(result.interval_ns.count, 490); /* the first ten end none */
	/* The errors are those of rounding to whole ns, of each line and of both ends. */
	assert_true(result.interval_ns.max <= 2);
	assert_true(result.distance_ns.max <= 2);
}

static void a_jump_is_seen_in_each_interval_across_it(void **state)
{
	struct model model = model_make();
	static struct bench_clock result;

	(void)state;
	model.jump_at_ns = 2555 * SIMTIME_MS;
	model.jump_ns = 3000;
	assert_int_equal(bench_clock_watch(&model.base, SECONDS, &result), 0);
	/* An interval shows 3 us, less the tenth that the clock corrects within 100 ms. */
	assert_int_equal(above(&result.interval_ns, 2500), 10);
	assert_true(result.interval_ns.max >= 2900 && result.interval_ns.max <= 3100);
	assert_true(result.distance_ns.max >= 2900 && result.distance_ns.max <= 3100);
}

static void a_disturbed_sample_counts_apart(void **state)
{
	struct model model = model_make();
	static struct bench_clock result;

	(void)state;
	model.wrong_sample = 400; /* the first or second of a pair: both disagree */
	assert_int_equal(bench_clock_watch(&model.base, SECONDS, &result), 0);
	assert_int_equal(result.samples, 500);
	assert_int_equal(result.disturbed, 1);
	assert_int_equal(result.distance_ns.count, 499);
	assert_int_equal(result.interval_ns.count, 488); /* it ends one and begins one */
	assert_true(result.interval_ns.max <= 2);
}

static void the_shortest_watch_has_intervals_all_the_same(void **state)
{
	struct model model = model_make();
	static struct bench_clock result;

	(void)state;
	assert_int_equal(bench_clock_watch(&model.base, 0.05, &result), 0);
	assert_int_equal(result.interval_ns.count, BENCH_CLOCK_STEPS);
}

static void what_was_seen_before_the_end_is_kept(void **state)
{
	struct model model = model_make();
	static struct bench_clock result;

	(void)state;
	model.waits_max = 31; /* one for the calibration */
	assert_int_equal(bench_clock_watch(&model.base, SECONDS, &result), -EINTR);
	assert_int_equal(result.samples, 30);
}

static void a_counter_that_stands_is_refused(void **state)
{
	struct model model = model_make();
	static struct bench_clock result;

	(void)state;
	model.stands = true;
	assert_int_equal(bench_clock_watch(&model.base, SECONDS, &result), -ERANGE);
}

GROUP(bench_clock)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_clock_that_is_exact_is_said_to_be),
	        cmocka_unit_test(a_jump_is_seen_in_each_interval_across_it),
	        cmocka_unit_test(a_disturbed_sample_counts_apart),
	        cmocka_unit_test(the_shortest_watch_has_intervals_all_the_same),
	        cmocka_unit_test(what_was_seen_before_the_end_is_kept),
	        cmocka_unit_test(a_counter_that_stands_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
