/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Defects of other emulators, each tried once. More of them are tested with their part: everything
 * duplicated before a queue of one (test_duplicate.c), four-state probabilities that sum to one
 * (test_loss_four_state.c), delays beyond 2.1 s, 4.3 s and a minute (test_jitter.c), a change that
 * loses packets in flight (test_change.c).
 */
#include "trial.h"
#include "runner/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS SIMTIME_MS

/* ---- departures, in order ---- */

struct track {
	uint64_t n;
	uint64_t hash; /* of every packet's bytes, in the order in which they leave */
};

static void look(void *argument, struct rte_mbuf *mbuf)
{
	struct track *track = argument;
	uint8_t copy[2048];
	const uint8_t *data = rte_pktmbuf_read(mbuf, 0, mbuf->pkt_len, copy);

	track->n++;
	for (uint32_t i = 0; i < mbuf->pkt_len; i++)
		track->hash = (track->hash ^ data[i]) * UINT64_C(0x100000001b3);
}

/* Opens a cloud with these statements; the list ends with NULL. */
static struct trial *open_with(const char *const *statements_of, struct track *track)
{
	struct trial *trial = trial_open(*statements_of, 11);

	while (*++statements_of)
		trial_set(trial, *statements_of);
	*track = (struct track){0};
	trial->look = look;
	trial->argument = track;
	return trial;
}

/* ---- all impairments at once ---- */

static const char *const everything[] = {
        "loss random 10% correlation 25%",
        "rewrite set frame+20:1 7",
        "duplicate random 30% correlation 20%",
        "corrupt random 10% bits 3",
        "police 400mbit burst 3kB",
        "rate 300mbit algorithm token-bucket burst 2kB queue 30pkt",
        "delay 2ms jitter 1ms distribution normal order allow",
        "reorder random 5% by 3pkt",
        NULL,
};

/* Each of them acts, none disturbs another, and the size of bursts does not matter. The rig asserts
 * after each step that rx + duplicated = tx + drops + held. */
static void all_impairments_at_once_act_and_add_up(void **state)
{
	static const uint16_t bursts[] = {1, 7, 32};
	struct track track[LENGTH(bursts)];

	(void)state;
	for (size_t i = 0; i < LENGTH(bursts); i++) {
		struct trial *trial = open_with(everything, &track[i]);
		const struct counters *c;

		trial->burst = bursts[i];
		trial_send(trial, 20000, 60);
		trial_run_out(trial);
		c = trial_counters(trial);
		/* one packet in 256 had that byte already */
		assert_in_range(c->rewritten, 19800, 20000);
		assert_true(c->drops[REASON_LOSS] > 0 && c->duplicated > 0 && c->corrupted > 0);
		assert_true(c->drops[REASON_POLICE] > 0 && c->drops[REASON_QUEUE_FULL] > 0);
		assert_true(c->reordered > 0);
		/* of the packets that were not lost, at most one copy each */
		assert_true(c->duplicated <= c->rx_packets - c->drops[REASON_LOSS]);
		assert_int_equal(c->tx_packets, track[i].n);
		assert_int_equal(c->drops[REASON_NO_BUFFER], 0);
		assert_int_equal(track[i].hash, track[0].hash);
		trial_close(trial);
	}
}

/* ---- 0 % and 100 % ---- */

#define NOTHING SIZE_MAX

static void nothing_and_everything_are_no_special_values(void **state)
{
	static const struct {
		const char *statement; /* @: the probability */
		size_t counter;
		uint64_t none, all; /* of 1000 */
		bool delayed;       /* needs a delay beside it */
	} rows[] = {
	        {"loss random @", DROPS(LOSS), 0, 1000, false},
	        {"loss random 100% correlation @", DROPS(LOSS), 1000, 1000, false},
	        {"loss random 0% correlation @", DROPS(LOSS), 0, 0, false},
	        {"loss random @ correlation 50% as-netem", DROPS(LOSS), 0, 1000, false},
	        {"loss burst @ length 1..2", DROPS(LOSS), 0, 1000, false},
	        {"loss gilbert-elliott p @ r 0%", DROPS(LOSS), 0, 1000, false},
	        {"loss gilbert-elliott p 100% r 0% bad @", DROPS(LOSS), 0, 1000, false},
	        {"loss gilbert-elliott p 0% r 0% good @", DROPS(LOSS), 0, 1000, false},
	        {"loss gilbert-elliott p 100% r @", DROPS(LOSS), 1000, 500, false},
	        {"loss four-state p13 @ p31 0%", DROPS(LOSS), 0, 1000, false},
	        {"loss four-state p13 0% p31 0% p14 @", DROPS(LOSS), 0, 500, false},
	        {"loss bit-error @", DROPS(LOSS), 0, 1000, false},
	        {"duplicate random @", COUNTER(duplicated), 0, 1000, false},
	        {"duplicate random 100% correlation @", COUNTER(duplicated), 1000, 1000, false},
	        {"corrupt random @", COUNTER(corrupted), 0, 1000, false},
	        {"corrupt random 100% correlation @", COUNTER(corrupted), 1000, 1000, false},
	        {"corrupt bit-error @", COUNTER(corrupted), 0, 1000, false},
	        {"corrupt checksum tcp probability @", COUNTER(corrupted), 0, 0, false},
	        {"reorder @", COUNTER(reordered), 0, 0, true}, /* all at once: none overtakes */
	        {"reorder @ 100%", COUNTER(reordered), 0, 0, true},
	        {"reorder random @ by 2ms", COUNTER(reordered), 0, 0, true},
	        {"delay 5ms jitter 1ms correlation @", COUNTER(reordered), 0, 0, false},
	        {"delay 5ms jitter 1ms correlation @ order allow as-netem", NOTHING, 0, 0, false},
	        {"delay 5ms jitter 1ms distribution bimodal weight @ order allow",
	         COUNTER(reordered), 0, 0, false},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows) * 2; i++) {
		const char *const share = i % 2 ? "100%" : "0%";
		char statement[160];
		const char *const given[] = {statement, rows[i / 2].delayed ? "delay 10ms" : NULL,
		                             NULL};
		const char *const turned[] = {"delay 10ms", statement, NULL};
		struct track track;
		struct trial *trial;
		const struct counters *c;
		const char *at;

		at = strchr(rows[i / 2].statement, '@');
		snprintf(statement, sizeof(statement), "%.*s%s%s",
		         (int)(at - rows[i / 2].statement), rows[i / 2].statement, share, at + 1);
		trial = open_with(rows[i / 2].delayed ? turned : given, &track);
		trial_send(trial, 1000, 60);
		trial_run_out(trial);
		c = trial_counters(trial);
		assert_int_equal(c->tx_packets, track.n);
		if (rows[i / 2].counter != NOTHING) {
			uint64_t got, wanted = i % 2 ? rows[i / 2].all : rows[i / 2].none;

			memcpy(&got, (const char *)c + rows[i / 2].counter, sizeof(got));
			if (got != wanted)
				fail_msg("%s: %lu, not %lu", statement, got, wanted);
		}
		trial_close(trial);
	}
}

/* ---- the queue ---- */

/* netem put reordered packets at the head of the queue, beyond its limit. Here packets that
 * overtake, or are held back, have passed through the queue, and count as held. */
static void reordered_packets_count_in_the_queue(void **state)
{
	static const char *const reorders[] = {"reorder 100%", "reorder random 100% by 9pkt",
	                                       "reorder every 2", "reorder random 100% by 5ms"};

	(void)state;
	for (size_t i = 0; i < LENGTH(reorders); i++) {
		const char *const given[] = {"rate 1mbit queue 5pkt", "delay 10ms", reorders[i],
		                             NULL};
		struct track track;
		struct trial *trial = open_with(given, &track);
		struct cloud_report *report;

		trial->gap_ns = 1; /* 125 bytes take 1 ms: one is being sent, five wait */
		trial_send(trial, 100, 125);
		report = rig_report(trial->rig, "x");
		assert_int_equal(report->counters.drops[REASON_QUEUE_FULL], 94);
		assert_int_equal(report->held_packets, 6);
		trial->rig->now = trial->now = 4 * MS;
		trial_send(trial, 1, 125); /* five have left the queue, and are in flight */
		report = rig_report(trial->rig, "x");
		assert_int_equal(report->held_packets + report->counters.tx_packets, 7);
		trial_run_out(trial);
		assert_int_equal(track.n, 7);
		trial_close(trial);
	}
}

/* ---- slots ---- */

/* netem's slots overflowed above 2.1 s. */
static void slots_longer_than_32_bits_of_nanoseconds_are_what_they_say(void **state)
{
	static const struct {
		const char *statement;
		simtime opens;
	} rows[] = {
	        {"slots min 2200ms max 2200ms", 2200 * MS},
	        {"slots min 4300ms max 4300ms", 4300 * MS},
	        {"slots min 61s max 61s", 61 * SIMTIME_S},
	        {"slots min 86400s max 86400s", 86400 * SIMTIME_S},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *const given[] = {rows[i].statement, NULL};
		struct track track;
		struct trial *trial = open_with(given, &track);
		const struct histogram *h;

		trial_send(trial, 3, 60); /* a microsecond apart: all in the first slot */
		assert_int_equal(track.n, 0);
		trial_run_out(trial);
		h = &rig_report(trial->rig, "x")->delay_ns;
		assert_int_equal(track.n, 3);
		assert_int_equal(h->max, rows[i].opens);
		assert_int_equal(h->min, rows[i].opens - 2000);
		trial_close(trial);
	}
}

/* ---- the seed ---- */

/* A change of another statement, or a change to the same value, does not draw anew. */
static void a_seed_survives_a_change(void **state)
{
	static const char *const changes[] = {
	        "delay 3ms",
	        "loss random 20% correlation 30%",
	        "duplicate random 10%",
	        "corrupt random 5% bits 2",
	};
	static const char *const given[] = {"loss random 20% correlation 30%",
	                                    "duplicate random 10%", "corrupt random 5% bits 2",
	                                    "delay 3ms", NULL};
	struct track calm, changed;
	struct trial *trial = open_with(given, &calm);

	(void)state;
	trial_send(trial, 8000, 60);
	trial_run_out(trial);
	trial_close(trial);
	trial = open_with(given, &changed);
	for (size_t i = 0; i < LENGTH(changes); i++) {
		trial_send(trial, 2000, 60);
		trial_set(trial, changes[i]);
	}
	trial_run_out(trial);
	assert_int_equal(changed.n, calm.n);
	assert_int_equal(changed.hash, calm.hash);
	trial_close(trial);
}

GROUP(regressions)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(all_impairments_at_once_act_and_add_up),
	        cmocka_unit_test(nothing_and_everything_are_no_special_values),
	        cmocka_unit_test(reordered_packets_count_in_the_queue),
	        cmocka_unit_test(slots_longer_than_32_bits_of_nanoseconds_are_what_they_say),
	        cmocka_unit_test(a_seed_survives_a_change),
	};

	return cmocka_run_group_tests_name("regressions", tests, rig_group_setup,
	                                   rig_group_teardown);
}
