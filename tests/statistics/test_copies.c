/* SPDX-License-Identifier: BSD-3-Clause */
/* Duplication and corruption, a million packets each. */
#include "statistics.h"
#include "runner/group.h"

#include <math.h>
#include <string.h>

#include "frame.h"

/* As in test_loss.c: a two-state chain. */
static void duplicates_have_the_share_and_the_runs_asked_for(void **state)
{
	static const struct {
		const char *statement;
		double p, r;
	} rows[] = {
	        {"duplicate random 1%", 0.01, 0},
	        {"duplicate random 50%", 0.5, 0},
	        {"duplicate random 2% correlation 10%", 0.02, 0.1},
	        {"duplicate random 10% correlation 60%", 0.1, 0.6},
	};
	static struct runs runs;

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = trial_open(rows[i].statement, 20);
		double p = rows[i].p, r = rows[i].r;

		trial_send(trial, PACKETS, 16);
		assert_share(rows[i].statement, trial_counters(trial)->duplicated, PACKETS, p,
		             p * (1 - p) * (1 + r) / (1 - r));
		runs_count(&runs, trial, TRIAL_COPY);
		assert_runs_geometric(rows[i].statement, &runs, p + r * (1 - p));
		trial_close(trial);
	}
}

static void corruption_with_a_correlation_keeps_its_share(void **state)
{
	static const struct {
		const char *statement;
		double p, r;
	} rows[] = {
	        {"corrupt random 1% correlation 25%", 0.01, 0.25},
	        {"corrupt random 20% correlation 60%", 0.2, 0.6},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = trial_open(rows[i].statement, 20);
		double p = rows[i].p, r = rows[i].r;

		trial_send(trial, PACKETS, 16);
		assert_share(rows[i].statement, trial_counters(trial)->corrupted, PACKETS, p,
		             p * (1 - p) * (1 + r) / (1 - r));
		trial_close(trial);
	}
}

#define FRAME_BYTES 32
#define FRAME_BITS  (FRAME_BYTES * 8)

/* How often each bit was wrong, and how many packets had each number of wrong bits. */
struct in_flight {
	uint64_t bit[FRAME_BITS];
	uint64_t wrong[FRAME_BITS + 1];
};

/* The frames that are sent contain zeros: every bit set is wrong. */
static void in_flight(void *argument, struct rte_mbuf *mbuf)
{
	const uint8_t *data = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	struct in_flight *count = argument;
	uint32_t wrong = 0;

	for (uint32_t byte = 0; byte < FRAME_BYTES; byte++) {
		for (uint32_t bit = 0; data[byte] && bit < 8; bit++) {
			if (data[byte] & 0x80 >> bit) {
				count->bit[byte * 8 + bit]++;
				wrong++;
			}
		}
	}
	count->wrong[wrong]++;
}

static struct trial *tallied(const char *statement, struct in_flight *count)
{
	static const uint8_t noughts[FRAME_BYTES];
	struct trial *trial = trial_open(statement, 20);

	memset(count, 0, sizeof(*count));
	trial->look = in_flight;
	trial->argument = count;
	trial_send_frames(trial, PACKETS, noughts, FRAME_BYTES);
	return trial;
}

/* A packet has K wrong bits or none. Every bit is equally likely. For K = 1 the counts of the bits
 * are multinomial, and chi-square is exact. For more, the bits of a packet are distinct, which
 * makes the counts a little more even, and the bound a little wider than necessary. */
static void random_corruption_inverts_k_bits_anywhere(void **state)
{
	static const struct {
		const char *statement;
		double p;
		uint32_t bits;
	} rows[] = {
	        {"corrupt random 1%", 0.01, 1},
	        {"corrupt random 50%", 0.5, 1},
	        {"corrupt random 10% bits 7", 0.1, 7},
	        {"corrupt random 5% bits 64", 0.05, 64},
	};
	static struct in_flight count;

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = tallied(rows[i].statement, &count);
		uint64_t corrupted = count.wrong[rows[i].bits];
		double expected[FRAME_BITS], p = rows[i].p;

		assert_share(rows[i].statement, corrupted, PACKETS, p, p * (1 - p));
		assert_int_equal(trial_counters(trial)->corrupted, corrupted);
		assert_int_equal(count.wrong[0], PACKETS - corrupted);
		for (uint32_t bit = 0; bit < FRAME_BITS; bit++)
			expected[bit] = (double)corrupted * rows[i].bits / FRAME_BITS;
		assert_chi_square(rows[i].statement, count.bit, expected, FRAME_BITS);
		trial_close(trial);
	}
}

/* The number of wrong bits of a packet is binomial (n = 256), and every bit is wrong equally often.
 * Cells for the number: each number that at least 10 packets are expected to have, and the rest in
 * one. */
static void bit_errors_are_independent_bits(void **state)
{
	static const struct {
		const char *statement;
		double ber;
	} rows[] = {
	        {"corrupt bit-error 1e-5", 1e-5},
	        {"corrupt bit-error 1e-3", 1e-3},
	        {"corrupt bit-error 2%", 0.02},
	};
	static struct in_flight count;

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = tallied(rows[i].statement, &count);
		double ber = rows[i].ber, expected[FRAME_BITS + 2], left = PACKETS;
		uint64_t seen[FRAME_BITS + 2], bits = 0, rest = PACKETS;
		uint32_t n = 0;

		assert_int_equal(trial_counters(trial)->corrupted, PACKETS - count.wrong[0]);
		for (uint32_t k = 0; k <= FRAME_BITS; k++) {
			double ways =
			        lgamma(FRAME_BITS + 1) - lgamma(k + 1) - lgamma(FRAME_BITS - k + 1);
			double mine =
			        PACKETS * exp(ways + k * log(ber) + (FRAME_BITS - k) * log1p(-ber));

			bits += k * count.wrong[k];
			if (mine < 10 || left - mine < 10)
				continue;
			seen[n] = count.wrong[k];
			expected[n++] = mine;
			left -= mine;
			rest -= count.wrong[k];
		}
		seen[n] = rest;
		expected[n++] = left;
		assert_chi_square(rows[i].statement, seen, expected, n);
		assert_share(rows[i].statement, bits, (uint64_t)PACKETS * FRAME_BITS, ber,
		             ber * (1 - ber));
		for (uint32_t bit = 0; bit < FRAME_BITS; bit++)
			expected[bit] = (double)bits / FRAME_BITS;
		assert_chi_square(rows[i].statement, count.bit, expected, FRAME_BITS);
		trial_close(trial);
	}
}

static void checksums_are_wrong_in_the_share_asked_for(void **state)
{
	static const struct frame_shape tcp = {.ip = 4, .protocol = FRAME_TCP};
	struct trial *trial = trial_open("corrupt checksum tcp probability 3%", 20);
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = frame_make(frame, &tcp);

	(void)state;
	trial_send_frames(trial, PACKETS, frame, bytes);
	assert_share("checksum 3%", trial_counters(trial)->corrupted, PACKETS, 0.03, 0.03 * 0.97);
	trial_close(trial);
}

static void every_nth_is_copied_exactly(void **state)
{
	struct trial *trial = trial_open("duplicate every 7", 20);

	(void)state;
	trial_send(trial, PACKETS, 16);
	assert_int_equal(trial_counters(trial)->duplicated, PACKETS / 7);
	trial_close(trial);
}

GROUP(copies)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(duplicates_have_the_share_and_the_runs_asked_for),
	        cmocka_unit_test(corruption_with_a_correlation_keeps_its_share),
	        cmocka_unit_test(random_corruption_inverts_k_bits_anywhere),
	        cmocka_unit_test(bit_errors_are_independent_bits),
	        cmocka_unit_test(checksums_are_wrong_in_the_share_asked_for),
	        cmocka_unit_test(every_nth_is_copied_exactly),
	};

	return cmocka_run_group_tests_name("copies", tests, rig_group_setup, rig_group_teardown);
}
