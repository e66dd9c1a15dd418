/* SPDX-License-Identifier: BSD-3-Clause */
/* Marking above a threshold, and the effects of ECN on a frame. */
#include "trial.h"
#include "runner/group.h"

#include <string.h>

#include "frame.h"

#define CAPABLE_0   2
#define CAPABLE_1   1
#define EXPERIENCED 3

static uint8_t got[64][FRAME_BYTES_MAX];
static uint32_t n_got;

static void keep(void *argument, struct rte_mbuf *mbuf)
{
	(void)argument;
	assert_true(n_got < LENGTH(got));
	memcpy(got[n_got++], rte_pktmbuf_mtod(mbuf, void *), mbuf->data_len);
}

static void set_bits(uint8_t *frame, const struct frame_shape *shape, uint8_t bits)
{
	uint8_t *ip = frame + frame_network(shape);

	if (shape->ip == 6) {
		ip[1] = (uint8_t)((ip[1] & 0xcf) | bits << 4);
		return;
	}
	/* the checksum, computed independently: one's complement of the words */
	ip[1] = (uint8_t)((ip[1] & 0xfc) | bits);
	ip[10] = ip[11] = 0;
	uint32_t sum = 0;
	for (uint32_t i = 0; i < (ip[0] & 15u) * 4; i += 2)
		sum += (uint32_t)ip[i] << 8 | ip[i + 1];
	sum = (sum >> 16) + (sum & 0xffff);
	sum = ~((sum >> 16) + sum);
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

static uint8_t bits_of(const uint8_t *frame, const struct frame_shape *shape)
{
	const uint8_t *ip = frame + frame_network(shape);

	return (shape->ip == 6 ? ip[1] >> 4 : ip[1]) & 3;
}

/* A byte a microsecond; all packets come at one instant. */
static struct trial *marking(const char *mark, const char *ecn)
{
	struct trial *trial = trial_open("rate 8mbit queue 20kB", 1);

	n_got = 0;
	trial->look = keep;
	trial->gap_ns = 0;
	trial_set(trial, mark);
	if (ecn)
		trial_set(trial, ecn);
	return trial;
}

static void who_is_capable_is_marked_and_who_is_not_is_dropped(void **state)
{
	static const struct frame_shape shapes[] = {
	        {.ip = 4, .protocol = FRAME_UDP, .payload_bytes = 100},
	        {.ip = 4, .protocol = FRAME_TCP, .option_words = 10, .payload_bytes = 100},
	        {.ip = 4, .protocol = FRAME_TCP, .n_tags = 1, .payload_bytes = 1000},
	        {.ip = 4, .protocol = FRAME_TCP, .n_tags = 2, .payload_bytes = 100},
	        {.ip = 6, .protocol = FRAME_UDP, .payload_bytes = 100},
	        {.ip = 6,
	         .protocol = FRAME_TCP,
	         .n_tags = 2,
	         .n_extensions = 2,
	         .payload_bytes = 1000},
	        {.ip = 4, .protocol = FRAME_UDP, .fragment = 8, .payload_bytes = 100},
	};
	static const struct {
		const char *ecn;
		uint8_t bits;
		bool delivered;
		uint8_t after;
	} rows[] = {
	        {NULL, 0, false, 0},
	        {NULL, CAPABLE_0, true, EXPERIENCED},
	        {NULL, CAPABLE_1, true, EXPERIENCED},
	        {NULL, EXPERIENCED, true, EXPERIENCED},
	        {"ecn on standard 3168", CAPABLE_1, true, EXPERIENCED},
	        {"ecn on standard 2481", 0, false, 0},
	        {"ecn on standard 2481", CAPABLE_0, true, EXPERIENCED},
	        {"ecn on standard 2481", CAPABLE_1, false, 0},
	        {"ecn on standard 2481", EXPERIENCED, true, EXPERIENCED},
	};

	(void)state;
	for (size_t s = 0; s < LENGTH(shapes); s++) {
		for (size_t i = 0; i < LENGTH(rows); i++) {
			struct trial *trial = marking("mark above 1pkt", rows[i].ecn);
			uint8_t frame[FRAME_BYTES_MAX], expected[FRAME_BYTES_MAX];
			uint32_t bytes = frame_make(frame, &shapes[s]);
			const struct counters *counters;

			set_bits(frame, &shapes[s], rows[i].bits);
			memcpy(expected, frame, bytes);
			set_bits(expected, &shapes[s], rows[i].after);
			/* one is being sent, one waits: the third packet finds one waiting */
			trial_send_frames(trial, 3, frame, bytes);
			trial_run_out(trial);
			counters = trial_counters(trial);
			assert_int_equal(n_got, rows[i].delivered ? 3 : 2);
			assert_memory_equal(got[0], frame, bytes);
			assert_memory_equal(got[1], frame, bytes);
			if (rows[i].delivered) {
				assert_memory_equal(got[2], expected, bytes);
				assert_int_equal(bits_of(got[2], &shapes[s]), EXPERIENCED);
				assert_int_equal(frame_wrong_sums(got[2], &shapes[s]), 0);
			}
			assert_int_equal(counters->drops[REASON_NOT_CAPABLE], !rows[i].delivered);
			assert_int_equal(counters->ecn_marked,
			                 rows[i].delivered && rows[i].bits != EXPERIENCED);
			trial_close(trial);
		}
	}
}

static void a_checksum_that_was_wrong_stays_wrong_by_as_much(void **state)
{
	static const struct frame_shape shape = {
	        .ip = 4, .protocol = FRAME_UDP, .payload_bytes = 100};
	struct trial *trial = marking("mark above 1pkt", NULL);
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = frame_make(frame, &shape);

	(void)state;
	set_bits(frame, &shape, CAPABLE_0);
	frame[14 + 10] ^= 0x40;
	trial_send_frames(trial, 3, frame, bytes);
	trial_run_out(trial);
	assert_int_equal(frame_wrong_sums(got[2], &shape) & 1, 1);
	got[2][14 + 10] ^= 0x40;
	assert_int_equal(frame_wrong_sums(got[2], &shape), 0);
	trial_close(trial);
}

/* Frames of 1000 B at 8 Mbit/s. One is being sent, so the n-th finds n - 2 waiting. */
static void the_threshold_counts_what_waits_in_its_unit(void **state)
{
	static const struct {
		const char *mark;
		uint32_t first; /* the first marked packet */
	} rows[] = {
	        {"mark above 1B", 3},  {"mark above 1000B", 3}, {"mark above 1001B", 4},
	        {"mark above 5kB", 7}, {"mark above 1pkt", 3},  {"mark above 5pkt", 7},
	        {"mark above 1ms", 3}, {"mark above 5ms", 7},   {"mark above 5.000001ms", 8},
	};
	static const struct frame_shape shape = {
	        .ip = 4, .protocol = FRAME_UDP, .payload_bytes = 1000 - 42};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = marking(rows[i].mark, NULL);
		uint8_t frame[FRAME_BYTES_MAX];
		uint32_t bytes = frame_make(frame, &shape);

		assert_int_equal(bytes, 1000);
		set_bits(frame, &shape, CAPABLE_0);
		trial_send_frames(trial, 25, frame, bytes);
		trial_run_out(trial);
		assert_int_equal(n_got, 21); /* 20 wait, and one is being sent */
		for (uint32_t k = 0; k < n_got; k++)
			assert_int_equal(bits_of(got[k], &shape),
			                 k + 1 < rows[i].first ? CAPABLE_0 : EXPERIENCED);
		assert_int_equal(trial_counters(trial)->ecn_marked, 22 - rows[i].first);
		assert_int_equal(trial_counters(trial)->drops[REASON_QUEUE_FULL], 4);
		trial_close(trial);
	}
}

static void what_is_no_ip_or_is_cut_off_is_not_capable(void **state)
{
	struct trial *trial = marking("mark above 1pkt", NULL);
	uint8_t frame[FRAME_BYTES_MAX] = {0};

	(void)state;
	trial_send_frames(trial, 10, frame, 64);
	trial_send_frames(trial, 10, frame, 15);
	trial_run_out(trial);
	assert_int_equal(n_got, 2);
	assert_int_equal(trial_counters(trial)->drops[REASON_NOT_CAPABLE], 18);
	trial_close(trial);
}

GROUP(mark)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(who_is_capable_is_marked_and_who_is_not_is_dropped),
	        cmocka_unit_test(a_checksum_that_was_wrong_stays_wrong_by_as_much),
	        cmocka_unit_test(the_threshold_counts_what_waits_in_its_unit),
	        cmocka_unit_test(what_is_no_ip_or_is_cut_off_is_not_capable),
	};

	return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
