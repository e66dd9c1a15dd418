/* SPDX-License-Identifier: BSD-3-Clause */
/* Bit errors: fixed point compared with long doubles, and the gaps between errors. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "random/bit_error.h"
#include "runner/group.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static long double as_double(probability_q127 p)
{
	return ldexpl((long double)p, -127);
}

/* x86's long doubles have a mantissa of 64 bits: expm1l and log1pl are exact to about 1e-18. The
 * bound, a relative error of 1e-15, is a thousand times that. */
static void within_is_exact_from_1e_18_to_one(void **state)
{
	static const struct ratio rows[] = {{1, 18}, {1, 12}, {3, 10}, {1, 9}, {1, 6},
	                                    {1, 4},  {1, 3},  {1, 1},  {5, 1}, {1234567, 25}};
	static const uint64_t bits[] = {1,   2,     3,     8,       60 * 8,
	                                512, 12144, 72000, 2097144, UINT64_C(1) << 35};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		long double ber = rows[i].digits * powl(10, -(long double)rows[i].places);
		struct bit_error error;

		bit_error_prepare(&error, &rows[i]);
		for (size_t j = 0; j < LENGTH(bits); j++) {
			long double right = -expm1l((long double)bits[j] * log1pl(-ber));
			long double is = as_double(bit_error_within(&error, bits[j]));

			if (fabsl(is - right) > right * 1e-15L)
				fail_msg("%Lg in %lu bits: %Lg, not %Lg", ber, bits[j], is, right);
		}
	}
}

static void nought_is_never_and_one_is_always(void **state)
{
	struct draw_key key = draw_key_make(1, "x", "y");
	struct bit_error error;

	(void)state;
	bit_error_prepare(&error, &(struct ratio){0, 0});
	assert_true(bit_error_within(&error, 1000) == 0);
	assert_true(bit_error_gap(&error, key, 0, 0) >= UINT64_C(1) << 35);
	bit_error_prepare(&error, &(struct ratio){1, 0});
	assert_true(bit_error_within(&error, 0) == 0);
	assert_true(bit_error_within(&error, 1) == PROBABILITY_Q127_ONE);
	assert_true(bit_error_within(&error, 1000) == PROBABILITY_Q127_ONE);
	for (uint64_t i = 0; i < 100; i++) {
		assert_true(bit_error_strikes(key, i, 0, PROBABILITY_Q127_ONE));
		assert_false(bit_error_strikes(key, i, 0, 0));
		assert_int_equal(bit_error_gap(&error, key, i, 0), 0);
	}
}

/* Both answers come from one draw, so they never contradict each other. */
static void a_packet_is_struck_exactly_when_the_gap_ends_in_it(void **state)
{
	static const struct ratio rows[] = {{1, 1}, {1, 3}, {1, 5}};
	static const uint64_t bits[] = {1, 8, 512, 12144};
	struct draw_key key = draw_key_make(2, "x", "y");

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct bit_error error;

		bit_error_prepare(&error, &rows[i]);
		for (uint64_t index = 0; index < 5000; index++) {
			uint64_t gap = bit_error_gap(&error, key, index, 0);

			for (size_t j = 0; j < LENGTH(bits); j++)
				assert_int_equal(
				        bit_error_strikes(key, index, 0,
				                          bit_error_within(&error, bits[j])),
				        gap < bits[j]);
		}
	}
}

/* If the upper 63 bits are equal, the lower 64 decide. */
static void the_last_of_127_bits_decides(void **state)
{
	struct draw_key key = draw_key_make(3, "x", "y");
	uint64_t high = draw_u64(key, 9, 4) >> 1, low = draw_u64(key, 9, 5);
	probability_q127 draw = (probability_q127)high << 64 | low;

	(void)state;
	assert_false(bit_error_strikes(key, 9, 4, draw));
	assert_true(bit_error_strikes(key, 9, 4, draw + 1));
	assert_false(bit_error_strikes(key, 9, 4, draw - 1));
}

GROUP(bit_error)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(within_is_exact_from_1e_18_to_one),
	        cmocka_unit_test(nought_is_never_and_one_is_always),
	        cmocka_unit_test(a_packet_is_struck_exactly_when_the_gap_ends_in_it),
	        cmocka_unit_test(the_last_of_127_bits_decides),
	};

	return cmocka_run_group_tests_name("bit_error", tests, NULL, NULL);
}
