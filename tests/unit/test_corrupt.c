/* SPDX-License-Identifier: BSD-3-Clause */
/* Corruption: the number of bits, the checksums, and whose bytes change. */
#include "trial.h"
#include "runner/group.h"

#include <string.h>

#include "frame.h"

/* The last packet that left. */
struct seen {
	uint32_t bytes;
	uint8_t frame[10000];
};

static void look(void *argument, struct rte_mbuf *mbuf)
{
	struct seen *seen = argument;

	seen->bytes = mbuf->pkt_len;
	memcpy(seen->frame, rte_pktmbuf_read(mbuf, 0, mbuf->pkt_len, seen->frame), mbuf->pkt_len);
}

static uint32_t bits_that_differ(const uint8_t *a, const uint8_t *b, uint32_t bytes)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < bytes; i++)
		n += (uint32_t)__builtin_popcount(a[i] ^ b[i]);
	return n;
}

static void as_many_bits_are_inverted_as_asked_for(void **state)
{
	static const struct {
		const char *statement;
		uint32_t bytes, bits;
	} rows[] = {
	        {"corrupt random 0%", 100, 0},
	        {"corrupt random 100%", 100, 1},
	        {"corrupt random 100% bits 2", 1, 2},
	        {"corrupt random 100% bits 8", 1, 8},
	        {"corrupt random 100% bits 64", 5, 40},
	        {"corrupt random 100% bits 64", 9, 64},
	        {"corrupt random 100% bits 64", 2000, 64},
	        {"corrupt bit-error 0%", 100, 0},
	        {"corrupt bit-error 100%", 100, 800},
	        {"corrupt bit-error 100%", 2000, 16000},
	};

	(void)state;
	for (int shape = 0; shape < RIG_SHAPES; shape++) {
		for (size_t i = 0; i < LENGTH(rows); i++) {
			struct trial *trial = trial_open(rows[i].statement, i);
			struct seen seen = {0};
			uint8_t frame[FRAME_BYTES_MAX] = {0x5a, 1, 2, 3};

			trial->shape = (enum rig_shape)shape;
			trial->look = look;
			trial->argument = &seen;
			for (int n = 0; n < 20; n++) {
				trial_send_frame(trial, frame, rows[i].bytes);
				assert_int_equal(seen.bytes, rows[i].bytes);
				assert_int_equal(bits_that_differ(seen.frame, frame, seen.bytes),
				                 rows[i].bits);
			}
			assert_int_equal(trial_counters(trial)->corrupted, rows[i].bits ? 20 : 0);
			trial_close(trial);
		}
	}
}

/* Another owner of a reference still reads the original bytes. */
static void a_packet_that_is_shared_is_copied_before_it_is_written(void **state)
{
	static const char *const rows[] = {"corrupt random 100% bits 8", "corrupt bit-error 1%",
	                                   "corrupt checksum ip,tcp"};
	static const struct frame_shape tcp = {
	        .ip = 4, .protocol = FRAME_TCP, .payload_bytes = 500};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = trial_open(rows[i], 1);
		uint8_t frame[FRAME_BYTES_MAX];
		uint32_t bytes = frame_make(frame, &tcp);
		struct seen seen = {0};
		const struct rte_mbuf *kept;

		trial->shape = RIG_SHARED;
		trial->look = look;
		trial->argument = &seen;
		trial_send_frame(trial, frame, bytes);
		kept = trial->rig->shared[0];
		assert_memory_equal(rte_pktmbuf_mtod(kept, const uint8_t *), frame, bytes);
		assert_memory_not_equal(seen.frame, frame, bytes);
		assert_int_equal(trial_counters(trial)->corrupted, 1);
		trial_close(trial);
	}
}

static void without_memory_for_that_copy_the_packet_is_dropped_as_no_buffer(void **state)
{
	static const char *const rows[] = {"corrupt random 100%", "corrupt bit-error 1%",
	                                   "corrupt checksum ip"};
	static const struct frame_shape tcp = {
	        .ip = 4, .protocol = FRAME_TCP, .payload_bytes = 500};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = trial_open(rows[i], 1);
		struct rte_mbuf *taken[RIG_MBUFS];
		uint8_t frame[FRAME_BYTES_MAX];
		uint32_t bytes = frame_make(frame, &tcp), n = 0;

		trial->shape = RIG_CLONED;
		while (n < RIG_MBUFS && (taken[n] = rte_pktmbuf_alloc(trial->rig->pool)) != NULL)
			n++;
		rte_pktmbuf_free(taken[--n]); /* the packet itself */
		trial_send_frame(trial, frame, bytes);
		assert_int_equal(trial->fate[1], TRIAL_LOST);
		assert_int_equal(trial->reason, REASON_NO_BUFFER);
		assert_int_equal(trial_counters(trial)->corrupted, 0);
		rte_pktmbuf_free_bulk(taken, n);
		trial_close(trial);
	}
}

static void what_a_capture_has_cut_off_is_not_written(void **state)
{
	static const char *const rows[] = {"corrupt random 100% bits 64", "corrupt bit-error 100%"};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = trial_open(rows[i], 1);
		struct rte_mbuf *mbuf;

		trial_send(trial, 1, 60);
		mbuf = rig_packet(trial->rig, RIG_PLAIN, 0, 1, 60, 1500, trial->now);
		rig_hand_over(trial->rig->engine, &mbuf, 1);
		trial->rig->sent++;
		rig_advance(trial->rig, trial->now);
		assert_int_equal(trial->rig->departures[0].frame_bytes, 60);
		assert_int_equal(trial->rig->departures[0].wire_bytes, 1500);
		assert_false(trial->rig->departures[0].intact);
		trial_close(trial);
	}
}

static void named_checksums_are_wrong_and_nothing_else(void **state)
{
	static const struct {
		const char *statement;
		struct frame_shape shape;
		uint32_t wrong; /* as frame_wrong_sums returns it */
	} rows[] = {
	        {"corrupt checksum ip", {.ip = 4, .protocol = FRAME_TCP, .payload_bytes = 9}, 1},
	        {"corrupt checksum tcp", {.ip = 4, .protocol = FRAME_TCP, .payload_bytes = 9}, 2},
	        {"corrupt checksum ip, tcp, udp", {.ip = 4, .protocol = FRAME_TCP}, 3},
	        {"corrupt checksum udp", {.ip = 4, .protocol = FRAME_TCP}, 0},
	        {"corrupt checksum udp,ip", {.ip = 4, .protocol = FRAME_UDP, .n_tags = 2}, 3},
	        {"corrupt checksum udp", {.ip = 4, .protocol = FRAME_UDP, .no_sum = true}, 0},
	        {"corrupt checksum icmp", {.ip = 4, .protocol = FRAME_ICMP, .option_words = 5}, 2},
	        {"corrupt checksum icmp", {.ip = 6, .protocol = FRAME_ICMPV6}, 2},
	        {"corrupt checksum ip", {.ip = 6, .protocol = FRAME_TCP}, 0},
	        {"corrupt checksum ip,tcp", {.ip = 6, .protocol = FRAME_TCP, .n_extensions = 3}, 2},
	        {"corrupt checksum ip,udp",
	         {.ip = 4, .protocol = FRAME_UDP, .fragment = 100, .payload_bytes = 40},
	         1},
	        {"corrupt checksum tcp probability 0%", {.ip = 4, .protocol = FRAME_TCP}, 0},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		const struct frame_shape *shape = &rows[i].shape;
		struct trial *trial = trial_open(rows[i].statement, 1);
		uint8_t frame[FRAME_BYTES_MAX];
		uint32_t bytes = frame_make(frame, shape);
		struct seen seen = {0};

		assert_int_equal(frame_wrong_sums(frame, shape), 0);
		trial->look = look;
		trial->argument = &seen;
		trial_send_frame(trial, frame, bytes);
		assert_int_equal(frame_wrong_sums(seen.frame, shape), rows[i].wrong);
		assert_int_equal(bits_that_differ(frame, seen.frame, bytes),
		                 __builtin_popcount(rows[i].wrong));
		assert_int_equal(trial_counters(trial)->corrupted, rows[i].wrong != 0);
		trial_close(trial);
	}
}

static uint32_t get_u16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

static void put_u16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* Gives the frame another checksum, and changes the last two bytes of its payload so that this
 * checksum is right. */
static void make_sum(uint8_t *frame, uint32_t bytes, uint8_t *sum, uint32_t wanted)
{
	uint32_t word = get_u16(frame + bytes - 2) + (get_u16(sum) + 65535 - wanted) % 65535;

	put_u16(frame + bytes - 2, (word & 0xffff) + (word >> 16));
	put_u16(sum, wanted);
}

/* If a UDP checksum of 1 became 0, it would mean that there is none. */
static void every_udp_checksum_is_wrong_and_none_becomes_nought(void **state)
{
	static const struct frame_shape shape = {
	        .ip = 4, .protocol = FRAME_UDP, .payload_bytes = 2};
	static const uint32_t rows[] = {1, 2, 3, 4, 0x100, 0x8000, 0xfffd, 0xfffe, 0xffff};
	struct trial *trial = trial_open("corrupt checksum udp", 1);
	uint32_t sum_at = frame_transport(&shape) + 6;
	struct seen seen = {0};

	(void)state;
	trial->look = look;
	trial->argument = &seen;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		uint8_t frame[FRAME_BYTES_MAX];
		uint32_t bytes = frame_make(frame, &shape);

		make_sum(frame, bytes, frame + sum_at, rows[i]);
		assert_int_equal(frame_wrong_sums(frame, &shape), 0);
		trial_send_frame(trial, frame, bytes);
		assert_int_not_equal(get_u16(seen.frame + sum_at), 0);
		assert_int_equal(frame_wrong_sums(seen.frame, &shape), 2);
	}
	trial_close(trial);
}

static void the_size_of_bursts_does_not_matter(void **state)
{
	static const char *const rows[] = {"corrupt random 40% bits 3", "corrupt bit-error 1e-3",
	                                   "corrupt checksum ip probability 30%"};
	static const uint16_t bursts[] = {1, 7, 32};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct departure *first = NULL;

		for (size_t b = 0; b < LENGTH(bursts); b++) {
			struct rig *rig = rig_open(&(struct rig_setup){.seed = 4});
			struct rte_mbuf *mbufs[BURST_MAX];
			uint64_t number = 0;

			rig_cloud(rig, "x", 0, 1);
			assert_int_equal(
			        cloud_conf_put(rig->scenario->clouds[0], trial_conf(rows[i])), 0);
			rig_apply(rig, 0);
			while (number < 500) {
				uint16_t n = 0;

				for (; n < bursts[b] && number < 500; n++, number++)
					mbufs[n] = rig_packet(rig, RIG_PLAIN, 0, number + 1, 100, 0,
					                      number);
				rig_ingress(rig, mbufs, n);
				rig_advance(rig, number);
			}
			assert_int_equal(rig->n_departures, 500);
			if (!first) {
				first = rig->departures;
				rig->departures = NULL;
			}
			for (uint32_t n = 0; n < 500 && rig->departures; n++) {
				assert_int_equal(rig->departures[n].intact, first[n].intact);
				assert_int_equal(rig->departures[n].number, first[n].number);
			}
			rig_close(rig);
		}
		free(first);
	}
}

GROUP(corrupt)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(as_many_bits_are_inverted_as_asked_for),
	        cmocka_unit_test(a_packet_that_is_shared_is_copied_before_it_is_written),
	        cmocka_unit_test(without_memory_for_that_copy_the_packet_is_dropped_as_no_buffer),
	        cmocka_unit_test(what_a_capture_has_cut_off_is_not_written),
	        cmocka_unit_test(named_checksums_are_wrong_and_nothing_else),
	        cmocka_unit_test(every_udp_checksum_is_wrong_and_none_becomes_nought),
	        cmocka_unit_test(the_size_of_bursts_does_not_matter),
	};

	return cmocka_run_group_tests_name("corrupt", tests, rig_group_setup, rig_group_teardown);
}
