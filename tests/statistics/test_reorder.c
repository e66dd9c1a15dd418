/* SPDX-License-Identifier: BSD-3-Clause */
/* Reordering, a million packets each: counts, shares, and distances. */
#include "statistics.h"
#include "runner/group.h"

#include <stdlib.h>
#include <string.h>

/* The packets in the order in which they leave. */
struct places {
	uint64_t n;
	uint32_t *number; /* of the n-th packet to leave */
};

static void look(void *argument, struct rte_mbuf *mbuf)
{
	struct places *places = argument;

	places->number[places->n++] = *rte_pktmbuf_mtod(mbuf, const uint32_t *);
}

/* Returns a trial in which a million packets were sent and have left. */
static struct trial *sent(const char *delay, const char *reorder, struct places *places)
{
	struct trial *trial = trial_open(delay, 20);

	places->n = 0;
	places->number = malloc((PACKETS + 1) * sizeof(*places->number));
	assert_non_null(places->number);
	trial->look = look;
	trial->argument = places;
	trial_set(trial, reorder);
	trial_send(trial, PACKETS, 16);
	trial_run_out(trial);
	assert_int_equal(places->n, PACKETS);
	assert_int_equal(trial_count(trial, TRIAL_DELIVERED), PACKETS);
	return trial;
}

static void closed(struct trial *trial, struct places *places)
{
	trial_close(trial);
	free(places->number);
}

static void every_nth_changes_places_exactly(void **state)
{
	static const struct {
		const char *statement;
		uint32_t every;
	} rows[] = {
	        {"reorder every 2", 2},
	        {"reorder every 7", 7},
	        {"reorder every 1000", 1000},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		uint32_t every = rows[i].every;
		struct places places;
		struct trial *trial = sent("delay 1ms", rows[i].statement, &places);

		for (uint32_t k = 1; k <= PACKETS; k++) {
			uint32_t number = places.number[k - 1];
			/* the last packet, if it is chosen, has no successor */
			if (k % every == 0 && k < PACKETS)
				assert_int_equal(number, k + 1);
			else if (k > 1 && k % every == 1 % every)
				assert_int_equal(number, k - 1);
			else
				assert_int_equal(number, k);
		}
		assert_int_equal(trial_counters(trial)->reordered, (PACKETS - 1) / every);
		closed(trial, &places);
	}
}

/* The number of packets that leave out of place is binomial. */
static void packets_are_held_back_with_the_probability_asked_for(void **state)
{
	static const struct {
		const char *statement;
		double p;
		uint32_t by;
	} rows[] = {
	        {"reorder random 1% by 3pkt", 0.01, 3},
	        {"reorder random 0.1% by 32pkt", 0.001, 32},
	        {"reorder random 1% by 5us", 0.01, 4}, /* the fifth leaves with it, but behind it */
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct places places;
		struct trial *trial = sent("delay 1ms", rows[i].statement, &places);
		uint64_t back = 0, far = 0;
		uint32_t most = 0;

		/* A packet that leaves after one with a higher number was held back. */
		for (uint32_t k = 0; k < PACKETS; k++) {
			back += places.number[k] < most;
			far += places.number[k] + rows[i].by <= most;
			most = RTE_MAX(most, places.number[k]);
		}
		assert_share(rows[i].statement, back, PACKETS, rows[i].p,
		             rows[i].p * (1 - rows[i].p));
		/* and nearly all of them by `by` places; one in by x p meets another such packet */
		assert_true(far >= back * (1 - 3 * rows[i].by * rows[i].p));
		closed(trial, &places);
	}
}

/* A two-state chain (chance.h): share p whatever the correlation, runs geometric. */
static void netems_share_is_sent_at_once(void **state)
{
	static const struct {
		const char *statement;
		double share, variance;
	} rows[] = {
	        {"reorder 25%", 0.25, 0.25 * 0.75},
	        {"reorder 25% 50%", 0.25, 0.25 * 0.75 * 1.5 / 0.5},
	        /* four delayed, then on average 1/p - 1 more: 1 in 4 + 1/p is sent at once */
	        {"reorder 25% gap 5", 1.0 / 8, 1.0 / 8},
	        {"reorder 100% gap 5", 1.0 / 5, 1e-6},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct places places;
		struct trial *trial = sent("delay 100ms", rows[i].statement, &places);

		/* A packet that is sent at once overtakes 100,000 others, except the very first. */
		assert_share(rows[i].statement, trial_counters(trial)->reordered, PACKETS,
		             rows[i].share, rows[i].variance);
		closed(trial, &places);
	}
}

GROUP(reorder)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_nth_changes_places_exactly),
	        cmocka_unit_test(packets_are_held_back_with_the_probability_asked_for),
	        cmocka_unit_test(netems_share_is_sent_at_once),
	};

	return cmocka_run_group_tests_name("reorder", tests, rig_group_setup, rig_group_teardown);
}
