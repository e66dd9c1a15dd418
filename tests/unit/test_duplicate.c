/* SPDX-License-Identifier: BSD-3-Clause */
/* Duplicates: what is copied, what copies look like, and what happens without memory. */
#include "trial.h"
#include "runner/group.h"

#include <string.h>

/* Everything that leaves, in order. */
struct seen {
	uint64_t n;
	struct {
		uint64_t number; /* the first eight bytes of the rig's packets */
		uint32_t bytes, wire_bytes, segments;
		uint8_t flags;
		struct rte_mbuf *mbuf;
	} packet[4096];
};

static void look(void *argument, struct rte_mbuf *mbuf)
{
	struct seen *seen = argument;
	uint8_t start[8] = {0};
	uint32_t bytes = RTE_MIN(mbuf->pkt_len, 8u);
	const uint8_t *read = bytes ? rte_pktmbuf_read(mbuf, 0, bytes, start) : start;

	assert_true(seen->n < LENGTH(seen->packet));
	memcpy(&seen->packet[seen->n].number, read, bytes);
	seen->packet[seen->n].bytes = mbuf->pkt_len;
	seen->packet[seen->n].wire_bytes = packet_of(mbuf)->wire_bytes;
	seen->packet[seen->n].segments = mbuf->nb_segs;
	seen->packet[seen->n].flags = packet_of(mbuf)->flags;
	seen->n++;
}

static void one_of_every_n_is_copied(void **state)
{
	static const struct {
		const char *statement;
		uint64_t first, copies;
	} rows[] = {
	        {"duplicate every 1", 1, 1000},
	        {"duplicate every 3", 3, 333},
	        {"duplicate every 1000", 1000, 1},
	        {"duplicate every 2147483647", 1001, 0},
	        {"duplicate random 0%", 1001, 0},
	        {"duplicate random 100%", 1, 1000},
	        {"duplicate random 100% correlation 50%", 1, 1000},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = trial_open(rows[i].statement, 1);
		uint64_t first = 1;

		trial_send(trial, 1000, 60);
		assert_int_equal(trial_count(trial, TRIAL_DELIVERED), 1000);
		assert_int_equal(trial_count(trial, TRIAL_COPY), rows[i].copies);
		assert_int_equal(trial_counters(trial)->duplicated, rows[i].copies);
		while (first <= 1000 && !(trial->fate[first] & TRIAL_COPY))
			first++;
		assert_int_equal(first, rows[i].first);
		trial_close(trial);
		trial_assert_bursts_agree(rows[i].statement, 200, 60);
	}
	trial_assert_bursts_agree("duplicate random 30% correlation 50%", 2000, 60);
}

/* Any shape of mbuf: small, chained, larger than a segment of the pool, shared, cloned. */
static void a_copy_follows_its_original_and_has_the_same_bytes(void **state)
{
	static const uint32_t lengths[] = {0, 1, 14, 60, 513, 1518, 9000};

	(void)state;
	for (int shape = 0; shape < RIG_SHAPES; shape++) {
		struct trial *trial = trial_open("duplicate every 1", 1);
		struct seen *seen = calloc(1, sizeof(*seen));

		assert_non_null(seen);
		trial->shape = (enum rig_shape)shape;
		trial->look = look;
		trial->argument = seen;
		for (size_t i = 0; i < LENGTH(lengths); i++)
			trial_send(trial, 2, lengths[i]);
		assert_int_equal(seen->n, 4 * LENGTH(lengths));
		for (uint64_t i = 0; i < seen->n; i += 2) {
			assert_int_equal(seen->packet[i].bytes, lengths[i / 4]);
			assert_int_equal(seen->packet[i + 1].bytes, lengths[i / 4]);
			assert_int_equal(seen->packet[i].number, seen->packet[i + 1].number);
			assert_int_equal(seen->packet[i + 1].wire_bytes,
			                 seen->packet[i].wire_bytes);
			assert_int_equal(seen->packet[i].flags, 0);
			assert_int_equal(seen->packet[i + 1].flags, PACKET_COPY);
		}
		free(seen);
		trial_close(trial);
	}
}

static void a_copy_never_meets_a_duplicator_again(void **state)
{
	static const char *const rows[] = {"duplicate every 1", "duplicate random 100%"};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = trial_open(rows[i], 1);
		struct rte_mbuf *mbuf;

		trial_send(trial, 1, 60);
		mbuf = rig_packet(trial->rig, RIG_PLAIN, 0, 1, 60, 0, trial->now);
		packet_of(mbuf)->flags = PACKET_COPY;
		rig_hand_over(trial->rig->engine, &mbuf, 1);
		assert_int_equal(trial_counters(trial)->duplicated, 1);
		trial->rig->sent++;
		rig_advance(trial->rig, trial->now);
		trial_close(trial);
	}
}

/* 100 % duplication, no delay, a queue of one packet. */
static void all_duplicated_before_a_queue_of_one_packet_adds_up(void **state)
{
	struct trial *trial = trial_open("duplicate random 100%", 1);
	const struct counters *counters;

	(void)state;
	trial_set(trial, "rate 1mbit queue 1pkt");
	trial_send(trial, 3000, 125);
	counters = trial_counters(trial);
	assert_int_equal(counters->duplicated, 3000);
	/* 1 ms a packet, within 3 ms: the first is sent at once, then one waits in each ms. */
	assert_int_equal(counters->tx_packets + counters->drops[REASON_QUEUE_FULL] +
	                         rig_report(trial->rig, "x")->held_packets,
	                 6000);
	assert_int_equal(rig_report(trial->rig, "x")->held_packets, 2);
	assert_int_equal(counters->tx_packets, 2);
	trial_close(trial);
}

static void without_memory_the_original_goes_on_and_the_failure_is_counted(void **state)
{
	struct trial *trial = trial_open("duplicate every 1", 1);
	struct rte_mbuf *taken[RIG_MBUFS];
	uint32_t n = 0;

	(void)state;
	trial->shape = RIG_FOREIGN;
	while (n < RIG_MBUFS && (taken[n] = rte_pktmbuf_alloc(trial->rig->pool)) != NULL)
		n++;
	trial_send(trial, 10, 600);
	assert_int_equal(trial_count(trial, TRIAL_DELIVERED), 10);
	assert_int_equal(trial_count(trial, TRIAL_COPY_LOST), 10);
	assert_int_equal(trial_counters(trial)->duplicated, 10);
	assert_int_equal(trial_counters(trial)->drops[REASON_NO_BUFFER], 10);
	assert_int_equal(trial->reason, REASON_NO_BUFFER);
	rte_pktmbuf_free_bulk(taken, n);
	trial_send(trial, 10, 600);
	assert_int_equal(trial_count(trial, TRIAL_COPY), 10);
	trial_close(trial);
}

static void a_change_keeps_the_count(void **state)
{
	struct trial *trial = trial_open("duplicate every 10", 1);

	(void)state;
	trial_send(trial, 9, 60);
	trial_set(trial, "duplicate every 11");
	trial_send(trial, 2, 60);
	assert_int_equal(trial->fate[10], TRIAL_DELIVERED);
	assert_int_equal(trial->fate[11], TRIAL_DELIVERED | TRIAL_COPY);
	trial_close(trial);
}

GROUP(duplicate)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(one_of_every_n_is_copied),
	        cmocka_unit_test(a_copy_follows_its_original_and_has_the_same_bytes),
	        cmocka_unit_test(a_copy_never_meets_a_duplicator_again),
	        cmocka_unit_test(all_duplicated_before_a_queue_of_one_packet_adds_up),
	        cmocka_unit_test(without_memory_the_original_goes_on_and_the_failure_is_counted),
	        cmocka_unit_test(a_change_keeps_the_count),
	};

	return cmocka_run_group_tests_name("duplicate", tests, rig_group_setup, rig_group_teardown);
}
