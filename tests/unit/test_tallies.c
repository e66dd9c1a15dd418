/* SPDX-License-Identifier: BSD-3-Clause */
/* What each statement of a cloud has done, apart from all others of its kind. */
#include <stdio.h>
#include <stdlib.h>

#include "account/count.h"
#include "engine/engine.h"
#include "runner/group.h"
#include "schedule_rig.h"
#include "show/achieved.h"
#include "show/share.h"
#include "statements.h"

#define PACKETS 100u
#define GAP     MS

static void send_all(struct rig *rig, uint32_t n)
{
	simtime from = rig->sent * GAP;

	for (uint32_t i = 0; i < n; i++)
		rig_send(rig, 0, 100, from + i * GAP);
}

/* Returns the text of the n-th row of this name, from 1; "" if there is none. */
static const char *row_of(struct rig *rig, const char *what, uint32_t n)
{
	static struct achieved_row rows[ACHIEVED_ROWS_MAX];
	struct achieved_run run = {.duration_ns = SIMTIME_S};
	uint32_t found = achieved_rows(rig->scenario->clouds[0], rig_report(rig, "x"), &run, rows);

	for (uint32_t i = 0; i < found; i++) {
		if (strcmp(rows[i].what, what) == 0 && --n == 0)
			return rows[i].got;
	}
	return "";
}

/* For each statement that may occur several times in a cloud, or acts on packets: two in one cloud,
 * of which the second has nothing to do. */
static const struct pair {
	const char *name, *variant, *words;
	const char *one, *other; /* how the rows begin */
} pairs[] = {
        {"rewrite", NULL, "rewrite 1 set eth.type 1; rewrite 2 match eth.type = 9 set eth.type 2",
         "100%, 100 of 100 packets", "0%, 0 of 100 packets"},
        {"at", NULL, "at 0s corrupt random 100%; at 3600s corrupt random 100%",
         "corrupt 100%, 100 of 100 packets", "corrupt no packet came"},
        {"every", NULL,
         "every 50ms for 10ms from 0s loss random 100%; every 1s for 1ms from 3600s corrupt random "
         "1%",
         "loss 100%, 20 of 20 packets", "corrupt no packet came"},
        {"markov", NULL, "markov good 3600s loss random 100% then bad 3600s loss random 1%",
         "loss 100%, 100 of 100 packets; loss no packet came", ""},
        {"flap", NULL, "down; flap down 1ms every 10ms", "100%, 9 of 9 packets", ""},
        {"wave", "loss", "wave loss 100%..100% period 1s; loss random 0%",
         "100%, 100 of 100 packets", ""},
        {"down", NULL, "down; at 50ms up; at 60ms down", "100%, 50 of 50 packets", ""},
        {"loss", "random", "loss random 100%; at 10ms no loss", "100%, 10 of 10 packets", ""},
        {"duplicate", "every", "duplicate every 2; at 0s duplicate every 1", "no packet came to it",
         ""},
        {"reorder", "every", "reorder every 2; at 50ms no reorder; delay 1ms",
         "50%, 25 of 50 packets", ""},
};

static const struct pair *pair_of(const char *name)
{
	for (size_t i = 0; i < LENGTH(pairs); i++) {
		if (strcmp(pairs[i].name, name) == 0)
			return &pairs[i];
	}
	return NULL;
}

/* A stage without a pair counts the packets that came to it until it is removed. */
static void try_example(const struct statement *statement)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 7});
	char words[160];

	rig_cloud(rig, "x", 0, 1);
	snprintf(words, sizeof(words), "%s %s; at 50ms no %s", statement->name, statement->example,
	         statement->name);
	schedule_set(rig, words);
	rig_apply(rig, 0);
	send_all(rig, PACKETS);
	if (!strstr(row_of(rig, statement->name, 1), " of 50 packets"))
		fail_msg("%s: `%s`", words, row_of(rig, statement->name, 1));
	rig_run_out(rig);
	rig_close(rig);
}

static void every_row_of_a_statement_that_may_be_repeated_has_a_counter_of_its_own(void **state)
{
	(void)state;
	for (const struct statement *const *row = statements; *row; row++) {
		bool repeats = (*row)->number_max || (*row)->many_max;

		/* A trace reads a file; `loss` is its column. */
		if (pair_of((*row)->name) || strcmp((*row)->name, "trace") == 0)
			continue;
		if (repeats)
			fail_msg("%s: no pair of it is tried here", (*row)->name);
		if (statement_acts(*row))
			try_example(*row);
	}
	for (size_t i = 0; i < LENGTH(pairs); i++) {
		struct rig *rig = rig_open(&(struct rig_setup){.seed = 7});
		const char *got;

		rig_cloud(rig, "x", 0, 1);
		schedule_set(rig, pairs[i].words);
		rig_apply(rig, 0);
		send_all(rig, PACKETS);
		got = row_of(rig, pairs[i].name, 1);
		if (strncmp(got, pairs[i].one, strlen(pairs[i].one)) != 0)
			fail_msg("%s: `%s` instead of `%s`", pairs[i].words, got, pairs[i].one);
		got = row_of(rig, pairs[i].name, 2);
		if (pairs[i].other[0] && strncmp(got, pairs[i].other, strlen(pairs[i].other)) != 0)
			fail_msg("%s: `%s` instead of `%s`", pairs[i].words, got, pairs[i].other);
		rig_run_out(rig);
		rig_close(rig);
	}
}

static void a_statement_that_a_change_keeps_keeps_its_count(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 7});

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	schedule_set(rig, "rewrite 1 set eth.src 02:00:00:00:00:09; at 3600s corrupt random 1%");
	rig_apply(rig, 0);
	send_all(rig, 10);
	/* another rule, before it by its number */
	schedule_set(rig, "rewrite 3 set eth.dst 02:00:00:00:00:09; loss random 100%");
	rig_apply(rig, 10 * GAP);
	send_all(rig, 5);
	assert_string_equal(row_of(rig, "rewrite", 1), "100%, 15 of 15 packets");
	assert_string_equal(row_of(rig, "rewrite", 2), "100%, 5 of 5 packets");
	assert_string_equal(row_of(rig, "loss", 1), "100%, 5 of 5 packets");
	/* The same statement with another value counts anew; without the first rule, the second one
	 * counts on. */
	cloud_conf_remove_number(rig->scenario->clouds[0], "rewrite", 1);
	schedule_set(rig, "loss random 0%");
	rig_apply(rig, 15 * GAP);
	send_all(rig, 7);
	assert_string_equal(row_of(rig, "rewrite", 1), "100%, 12 of 12 packets");
	assert_string_equal(row_of(rig, "loss", 1), "0%, 0 of 7 packets");
	rig_close(rig);
}

static void clearing_the_counters_clears_those_of_statements(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 7});

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	schedule_set(rig, "corrupt random 100%; at 0s loss random 0%");
	rig_apply(rig, 0);
	send_all(rig, 10);
	rig_run_out(rig);
	engine_clear(rig->engine);
	assert_string_equal(row_of(rig, "corrupt", 1), "no packet came to it");
	assert_string_equal(row_of(rig, "at", 1), "loss no packet came");
	rig_close(rig);
}

/* `at` is removed, and the numbers of those behind it change: each goes on with its own count. */
static void schedules_keep_their_counts_when_their_numbers_change(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 7});

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	schedule_set(rig, "at 3600s corrupt random 1%; at 5ms loss random 100%");
	rig_apply(rig, 0);
	send_all(rig, 10);
	assert_string_equal(row_of(rig, "at", 2), "loss 100%, 5 of 5 packets");
	cloud_conf_remove_number(rig->scenario->clouds[0], "at", 1);
	rig_apply(rig, 10 * GAP);
	send_all(rig, 10);
	assert_string_equal(row_of(rig, "at", 1), "loss 100%, 15 of 15 packets");
	rig_close(rig);
}

/* Chance alone moves a share by two standard deviations in one of 20 runs. Of fewer than 30 packets
 * nothing is said. */
static void a_share_has_its_measure_of_chance(void **state)
{
	static const struct {
		const char *statement;
		uint64_t came;
		double spread;
	} rows[] = {
	        {"loss random 1%", 10000, 2 * 0.000994987},
	        {"loss random 50%", 100, 2 * 0.05},
	        {"corrupt random 50%", 100, 2 * 0.05},
	        {"duplicate random 50%", 100, 2 * 0.05},
	        {"reorder 50%", 100, 2 * 0.05},
	        {"loss random 50%", 29, -1},
	        {"loss random 50% correlation 10%", 100, -1},
	        {"loss every 2", 100, -1},
	        {"reorder 50% gap 3", 100, -1},
	        {"rewrite set ip.ttl 3", 100, -1},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct conf *conf = trial_conf(rows[i].statement);
		struct cloud_conf cloud = {.name = "x", .confs = {conf}, .n_confs = 1};
		struct cloud_report *report = calloc(1, sizeof(*report));
		struct share share;

		assert_non_null(report);
		report->n_tallies = 1;
		report->tallies[0].came = rows[i].came;
		share = share_of(&cloud, report, conf);
		if (share.spread < rows[i].spread - 1e-6 || share.spread > rows[i].spread + 1e-6)
			fail_msg("%s: %g instead of %g", rows[i].statement, share.spread,
			         rows[i].spread);
		free(report);
		conf_free(conf);
	}
}

static void a_thing_is_one_and_things_are_several(void **state)
{
	(void)state;
	assert_string_equal(count_of(1, "packet").text, "1 packet");
	assert_string_equal(count_of(0, "packet").text, "0 packets");
	assert_string_equal(count_of(1200, "packet read").text, "1,200 packets read");
	assert_string_equal(count_of_these(1, "packet was", "packets were").text, "1 packet was");
	assert_string_equal(count_of_these(2, "packet was", "packets were").text, "2 packets were");
}

GROUP(tallies)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(
	                every_row_of_a_statement_that_may_be_repeated_has_a_counter_of_its_own),
	        cmocka_unit_test(a_statement_that_a_change_keeps_keeps_its_count),
	        cmocka_unit_test(clearing_the_counters_clears_those_of_statements),
	        cmocka_unit_test(schedules_keep_their_counts_when_their_numbers_change),
	        cmocka_unit_test(a_share_has_its_measure_of_chance),
	        cmocka_unit_test(a_thing_is_one_and_things_are_several),
	};

	return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
