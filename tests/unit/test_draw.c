/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "random/draw.h"
#include "runner/group.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Computes Philox4x32-10 as published, for any counter of four words. philox_block() fixes the
 * fourth at 0, so the vectors verify this function, and this function verifies philox_block(). */
static void philox_reference(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
	uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]};
	uint32_t k[2] = {key[0], key[1]};

	for (int round = 0; round < 10; round++) {
		uint64_t p0 = UINT64_C(0xD2511F53) * c[0];
		uint64_t p1 = UINT64_C(0xCD9E8D57) * c[2];
		uint32_t next[4] = {(uint32_t)(p1 >> 32) ^ c[1] ^ k[0], (uint32_t)p1,
		                    (uint32_t)(p0 >> 32) ^ c[3] ^ k[1], (uint32_t)p0};

		for (int i = 0; i < 4; i++)
			c[i] = next[i];
		k[0] += 0x9E3779B9u;
		k[1] += 0xBB67AE85u;
	}
	for (int i = 0; i < 4; i++)
		out[i] = c[i];
}

/* The known answers of Random123 1.14 (kat_vectors, "philox4x32 10"): counter and key all zero, all
 * ones, and the digits of pi. */
static void philox_gives_the_published_known_answers(void **state)
{
	static const struct {
		uint32_t counter[4], key[2], answer[4];
	} rows[] = {
	        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
	        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
	         {0xffffffff, 0xffffffff},
	         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
	        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
	         {0xa4093822, 0x299f31d0},
	         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		uint32_t out[4];

		philox_reference(rows[i].counter, rows[i].key, out);
		assert_memory_equal(out, rows[i].answer, sizeof(out));
	}
}

static void a_block_is_philox_with_the_fourth_counter_word_zero(void **state)
{
	static const struct {
		uint64_t counter;
		uint32_t lane;
		struct draw_key key;
	} rows[] = {
	        {0, 0, {{0, 0}}},
	        {UINT64_MAX, UINT32_MAX, {{UINT32_MAX, UINT32_MAX}}},
	        {UINT64_C(0x85a308d3243f6a88), 0x13198a2e, {{0xa4093822, 0x299f31d0}}},
	        {UINT64_C(0x100000000), 1, {{1, 0}}},
	        {UINT64_C(0xffffffff), 0, {{0, 1}}},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		uint32_t counter[4] = {(uint32_t)rows[i].counter, (uint32_t)(rows[i].counter >> 32),
		                       rows[i].lane, 0};
		uint32_t expected[4], out[4];

		philox_reference(counter, rows[i].key.word, expected);
		philox_block(rows[i].key, rows[i].counter, rows[i].lane, out);
		assert_memory_equal(out, expected, sizeof(out));
	}
}

static void two_neighbouring_draws_are_the_two_halves_of_a_block(void **state)
{
	struct draw_key key = {{0, 0}};

	(void)state;
	assert_int_equal(draw_u64(key, 0, 0), UINT64_C(0xe169c58d6627e8d5));
	assert_int_equal(draw_u64(key, 1, 0), UINT64_C(0x9b00dbd8bc57ac4c));
}

static void a_burst_of_draws_equals_single_draws_from_any_offset_in_any_length(void **state)
{
	static const uint64_t bases[] = {0, UINT64_C(0xffffffff) * 2 - 20, UINT64_MAX - 200};
	struct draw_key key = draw_key_make(42, "down", "loss random");
	uint64_t out[70];

	(void)state;
	for (size_t b = 0; b < LENGTH(bases); b++) {
		for (uint32_t offset = 0; offset < 40; offset++) {
			for (uint32_t n = 0; n <= 65; n++) {
				for (size_t i = 0; i < LENGTH(out); i++)
					out[i] = 0x5a;
				draw_burst(key, bases[b] + offset, 3, n, out);
				for (uint32_t i = 0; i < n; i++)
					assert_int_equal(out[i],
					                 draw_u64(key, bases[b] + offset + i, 3));
				for (size_t i = n; i < LENGTH(out); i++)
					assert_int_equal(out[i], 0x5a);
			}
		}
	}
}

static void keys_differ_by_seed_by_cloud_by_purpose_and_by_where_the_name_ends(void **state)
{
	static const struct {
		uint64_t seed;
		const char *cloud, *purpose;
	} rows[] = {
	        {0, "down", "loss random"},
	        {1, "down", "loss random"},
	        {UINT64_MAX, "down", "loss random"},
	        {0, "up", "loss random"},
	        {0, "down", "delay"},
	        {0, "ab", "c"},
	        {0, "a", "bc"},
	        {0, "abc", ""},
	        {0, "", "abc"},
	        {0, "", ""},
	        {1, "", ""},
	        {UINT64_C(1) << 32, "", ""},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct draw_key a = draw_key_make(rows[i].seed, rows[i].cloud, rows[i].purpose);
		struct draw_key again = draw_key_make(rows[i].seed, rows[i].cloud, rows[i].purpose);

		assert_memory_equal(&a, &again, sizeof(a));
		for (size_t j = i + 1; j < LENGTH(rows); j++) {
			struct draw_key b =
			        draw_key_make(rows[j].seed, rows[j].cloud, rows[j].purpose);

			assert_memory_not_equal(&a, &b, sizeof(a));
		}
	}
}

static void lanes_of_one_index_are_different_draws(void **state)
{
	struct draw_key key = draw_key_make(1, "x", "y");

	(void)state;
	for (uint32_t lane = 1; lane < 100; lane++)
		assert_int_not_equal(draw_u64(key, 5, 0), draw_u64(key, 5, lane));
}

/* 2^20 draws into 256 equal cells, by the top byte and by the bottom byte. The statistic has a
 * chi-square distribution of 255 degrees of freedom, whose 99.9 % quantile is 330.5 and whose 0.1 %
 * quantile is 190.9. The seeds are fixed, so the outcome never varies. */
static void draws_are_uniform_by_chi_square(void **state)
{
	static const uint64_t seeds[] = {1, 2, 3, 42};
	enum { DRAWS = 1 << 20, CELLS = 256 };

	(void)state;
	for (size_t s = 0; s < LENGTH(seeds); s++) {
		struct draw_key key = draw_key_make(seeds[s], "down", "loss random");

		for (int shift = 0; shift <= 56; shift += 56) {
			uint32_t count[CELLS] = {0};
			double chi = 0;

			for (uint64_t i = 0; i < DRAWS; i++)
				count[draw_u64(key, i, 0) >> shift & 0xff]++;
			for (int i = 0; i < CELLS; i++) {
				double off = count[i] - (double)DRAWS / CELLS;

				chi += off * off / ((double)DRAWS / CELLS);
			}
			assert_true(chi > 190.9 && chi < 330.5);
		}
	}
}

static void probability_nought_is_never_and_one_is_always(void **state)
{
	(void)state;
	assert_false(draw_below(0, 0));
	assert_true(draw_below(UINT64_MAX, PROBABILITY_ONE));
	assert_true(draw_below(0, 1));
	assert_false(draw_below(2, 1));
	assert_true(draw_below((UINT64_C(1) << 63) - 1, PROBABILITY_ONE / 2));
	assert_false(draw_below(UINT64_C(1) << 63, PROBABILITY_ONE / 2));
}

static void draws_at_places_are_those_of_their_keys_and_indices(void **state)
{
	struct draw_place place[67];
	uint64_t draw[LENGTH(place)];

	(void)state;
	for (uint32_t i = 0; i < LENGTH(place); i++)
		place[i] = (struct draw_place){
		        draw_key_within((struct draw_key){{1, 2}}, UINT64_C(1) << (i % 64)),
		        i * UINT64_C(0x123456789abcdef)};
	for (uint32_t n = 0; n <= LENGTH(place); n++) {
		memset(draw, 0, sizeof(draw));
		draw_places(place, 5, n, draw);
		for (uint32_t i = 0; i < LENGTH(place); i++)
			assert_int_equal(draw[i],
			                 i < n ? draw_u64(place[i].key, place[i].index, 5) : 0);
	}
}

GROUP(draw)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(philox_gives_the_published_known_answers),
	        cmocka_unit_test(a_block_is_philox_with_the_fourth_counter_word_zero),
	        cmocka_unit_test(two_neighbouring_draws_are_the_two_halves_of_a_block),
	        cmocka_unit_test(
	                a_burst_of_draws_equals_single_draws_from_any_offset_in_any_length),
	        cmocka_unit_test(draws_at_places_are_those_of_their_keys_and_indices),
	        cmocka_unit_test(
	                keys_differ_by_seed_by_cloud_by_purpose_and_by_where_the_name_ends),
	        cmocka_unit_test(lanes_of_one_index_are_different_draws),
	        cmocka_unit_test(draws_are_uniform_by_chi_square),
	        cmocka_unit_test(probability_nought_is_never_and_one_is_always),
	};

	return cmocka_run_group_tests_name("draw", tests, NULL, NULL);
}
