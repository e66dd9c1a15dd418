/* SPDX-License-Identifier: BSD-3-Clause */
/* A Linux host's decisions about its window, in numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "window.h"
#include "runner/group.h"

static void a_segment_is_on_its_way_from_una_to_before_next(void **state)
{
	(void)state;
	assert_false(window_in_flight(1000, 3000, 999));
	assert_true(window_in_flight(1000, 3000, 1000));
	assert_true(window_in_flight(1000, 3000, 2999));
	assert_false(window_in_flight(1000, 3000, 3000));
	assert_false(window_in_flight(1000, 1000, 1000));
	/* half of the number space away, on either side */
	assert_false(window_in_flight(1000, 3000, 1000 + 0x80000000u));
}

static void sequence_numbers_go_around(void **state)
{
	(void)state;
	assert_true(window_in_flight(0xfffffff0u, 0x10, 0xffffffffu));
	assert_true(window_in_flight(0xfffffff0u, 0x10, 0xf));
	assert_false(window_in_flight(0xfffffff0u, 0x10, 0x10));
	assert_false(window_in_flight(0xfffffff0u, 0x10, 0xffffffefu));
}

static void a_cut_is_due_when_all_that_was_out_at_the_last_is_acknowledged(void **state)
{
	(void)state;
	assert_false(window_cut_due(1000, 3000));
	assert_false(window_cut_due(2999, 3000));
	assert_true(window_cut_due(3000, 3000));
	assert_true(window_cut_due(5, 0xfffffff0u));
	assert_false(window_cut_due(0xfffffff0u, 5));
}

static void an_echo_cuts_again_only_behind_the_segment_that_says_cwr(void **state)
{
	(void)state;
	assert_false(window_echo_due(2999, 3000));
	assert_false(window_echo_due(3000, 3000));
	assert_true(window_echo_due(3001, 3000));
	assert_true(window_echo_due(5, 0xfffffff0u));
}

static void a_cut_leaves_two_segments(void **state)
{
	(void)state;
	assert_int_equal(window_half(100), 50);
	assert_int_equal(window_half(101), 50);
	assert_int_equal(window_half(5), 2);
	assert_int_equal(window_half(2), 2);
	assert_int_equal(window_half(1), 2);
	assert_int_equal(window_half(0), 2);
}

/* The papers: 800 Mbit/s, 200 ms, 1460 bytes, "5000". */
static void slow_start_ends_at_three_quarters_of_half_a_round_trip(void **state)
{
	(void)state;
	assert_int_equal(window_slow_start_end(800000, 200000, 1460), 5137);
	assert_int_equal(window_slow_start_end(100000, 500000, 1448), 1619);
	/* at least 2, and no overflow at the ends of the ranges */
	assert_int_equal(window_slow_start_end(1, 1, 1460), 2);
	assert_int_equal(window_slow_start_end(UINT32_MAX, UINT32_MAX, 1), INT32_MAX);
	assert_int_equal(window_slow_start_end(10000000, 60000000, 1460), 19263699);
}

static void beyond_max_ssthresh_a_round_trip_adds_half_of_it(void **state)
{
	(void)state;
	assert_int_equal(window_slow_start_k(50, 100), 1);
	assert_int_equal(window_slow_start_k(100, 100), 1);
	/* RFC 3742: K = int(cwnd / (max_ssthresh / 2)) */
	assert_int_equal(window_slow_start_k(101, 100), 2);
	assert_int_equal(window_slow_start_k(149, 100), 2);
	assert_int_equal(window_slow_start_k(150, 100), 3);
	assert_int_equal(window_slow_start_k(5000, 100), 100);
	assert_int_equal(window_slow_start_k(UINT32_MAX, 1), UINT32_MAX);
}

GROUP(window)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_segment_is_on_its_way_from_una_to_before_next),
	        cmocka_unit_test(sequence_numbers_go_around),
	        cmocka_unit_test(a_cut_is_due_when_all_that_was_out_at_the_last_is_acknowledged),
	        cmocka_unit_test(an_echo_cuts_again_only_behind_the_segment_that_says_cwr),
	        cmocka_unit_test(a_cut_leaves_two_segments),
	        cmocka_unit_test(slow_start_ends_at_three_quarters_of_half_a_round_trip),
	        cmocka_unit_test(beyond_max_ssthresh_a_round_trip_adds_half_of_it),
	};

	return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}
