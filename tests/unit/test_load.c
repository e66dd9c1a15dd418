/* SPDX-License-Identifier: BSD-3-Clause */
/* Loading a whole scenario over the one in force: what a file contains, over anything that runs. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/filter.h"
#include "engine/engine_state.h"
#include "language/scenario_file.h"
#include "rig.h"
#include "runner/group.h"
#include "socket/change.h"

#define ORIGIN (10 * SIMTIME_S) /* live, no change comes at 0 */

static struct scenario *loaded(const char *path)
{
	char message[SCENARIO_FILE_ERROR];
	struct scenario *scenario;

	if (scenario_file_load(path, &scenario, message, sizeof(message)) != 0)
		fail_msg("%s", message);
	return scenario;
}

/* A text saved from a scenario of configs/ names its files like the original: relative to configs/,
 * or to the root. */
static struct scenario *of_text(const char *text)
{
	char message[SCENARIO_FILE_ERROR];
	struct scenario *scenario = NULL;

	assert_int_equal(chdir(SOURCE_ROOT "/configs"), 0);
	if (scenario_text_load(text, strlen(text), "text", &scenario, message, sizeof(message)) !=
	    0) {
		assert_int_equal(chdir(SOURCE_ROOT), 0);
		scenario_text_load(text, strlen(text), "text", &scenario, message, sizeof(message));
	}
	assert_int_equal(chdir(SOURCE_ROOT), 0);
	if (!scenario)
		fail_msg("%s", message);
	return scenario;
}

static struct rig *rig_of(const struct rig_setup *setup, struct scenario *scenario)
{
	struct rig *rig = rig_open(setup);

	scenario_free(rig->scenario);
	rig->scenario = scenario;
	return rig;
}

/* Does what `load` does. */
static void load_over(struct rig *rig, struct scenario *next, simtime now)
{
	struct batch batch = {.draft = next, .whole = true};
	struct answer_error error;

	assert_int_equal(batch_succeed(&batch, rig->scenario, &error), 0);
	scenario_free(rig->scenario);
	rig->scenario = next;
	rig_apply(rig, now);
}

/* ---- the scenario in force, loaded again ---- */

/* Everything that a change may replace, of all clouds. */
struct parts {
	uint32_t n;
	const void *part[1 << 20];
};

static void parts_list(const struct rig *rig, struct parts *parts)
{
	const struct cloud_table *cloud_table = rig->engine->cloud_table;

	parts->n = 0;
	for (uint32_t i = 0; i < cloud_table->n_slots; i++) {
		const struct cloud *cloud = cloud_table->slots[i];

		parts->part[parts->n++] = cloud;
		if (!cloud)
			continue;
		assert_true(parts->n + 5 + CLOUD_STAGES_MAX < LENGTH(parts->part));
		parts->part[parts->n++] = cloud->timeline;
		parts->part[parts->n++] = cloud->link.classes;
		parts->part[parts->n++] = cloud->link.queue.aqm;
		parts->part[parts->n++] = cloud->line.conf.jitter;
		for (uint16_t k = 0; k < cloud->n_stages; k++)
			parts->part[parts->n++] = cloud->stages[k];
	}
	while (parts->n > 0 && !parts->part[parts->n - 1])
		parts->n--;
}

static void send_some(struct rig *rig, simtime from)
{
	for (uint32_t i = 0; i < 60; i++) {
		rig_advance(rig, from + i * 3 * SIMTIME_MS);
		rig_send(rig, i % 2, 64 + (i * 131) % 1400, from + i * 3 * SIMTIME_MS);
	}
}

/* `text`: the saved scenario that is loaded over the one in force; NULL: as `show config` prints
 * it. */
static void expect_nothing_new(struct scenario *scenario, const char *text)
{
	static struct parts before, after;
	const struct rig_setup setup = {.seed = 42, .filters = &filters, .hosts = 50};
	struct rig *rig = rig_of(&setup, scenario);
	struct cloud_report *counted = malloc(sizeof(*counted));
	char *saved = scenario_text(scenario), *again;
	char name[SCENARIO_NAME_BYTES];

	strcpy(name, scenario->clouds[0]->name);
	rig_apply(rig, ORIGIN);
	send_some(rig, ORIGIN);
	parts_list(rig, &before);
	*counted = *rig_report(rig, name);
	load_over(rig, of_text(text ? text : saved), rig->now);
	parts_list(rig, &after);
	assert_int_equal(after.n, before.n);
	assert_memory_equal(after.part, before.part, before.n * sizeof(before.part[0]));
	assert_memory_equal(&rig_report(rig, name)->counters, &counted->counters,
	                    sizeof(counted->counters));
	again = scenario_text(rig->scenario);
	assert_string_equal(again, saved);
	rig_run_out(rig);
	rig_close(rig);
	free(counted);
	free(again);
	free(saved);
}

static void what_runs_loaded_again_changes_nothing(void **state)
{
	glob_t configs;

	(void)state;
	assert_int_equal(glob("configs/*.weir", 0, NULL, &configs), 0);
	assert_true(configs.gl_pathc >= 20);
	for (size_t i = 0; i < configs.gl_pathc; i++)
		expect_nothing_new(loaded(configs.gl_pathv[i]), NULL);
	globfree(&configs);
}

/* The order of unrelated lines is left to the user. */
static void what_runs_said_in_another_order_changes_nothing(void **state)
{
	static const char *const rows[][2] = {
	        {"seed 42\nport a\nport b\ncloud x from a to b\n"
	         "cloud x delay 5ms\ncloud x class v match udp\ncloud x class d\n"
	         "cloud x class v mark above 3kB\ncloud x scheduler drr\n"
	         "cloud x rate 1mbit queue 20kB\ncloud x loss random 1%\n",
	         "port b\nport a\ncloud x from a to b\ncloud x loss random 1%\n"
	         "cloud x rate 1mbit queue 20kB\ncloud x class v match udp\ncloud x class d\n"
	         "cloud x scheduler drr\ncloud x class v mark above 3kB\ncloud x delay 5ms\n"},
	        {"seed 42\nport a\nport b\ncloud x from a to b\n"
	         "cloud x at 20s delay 9ms\ncloud x at 10s loss random 50%\n"
	         "cloud x delay 5ms\ncloud x loss random 1%\ncloud x every 7s for 1s duplicate "
	         "random 1%\n",
	         "port a\nport b\ncloud x from a to b\ncloud x every 7s for 1s duplicate random "
	         "1%\n"
	         "cloud x loss random 1%\ncloud x delay 5ms\ncloud x at 10s loss random 50%\n"
	         "cloud x at 20s delay 9ms\n"},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct scenario *scenario = of_text(rows[i][0]);
		const struct rig_setup setup = {.seed = 42, .filters = &filters, .hosts = 50};
		static struct parts before, after;
		struct rig *rig = rig_of(&setup, scenario);

		rig_apply(rig, ORIGIN);
		send_some(rig, ORIGIN);
		parts_list(rig, &before);
		load_over(rig, of_text(rows[i][1]), rig->now);
		parts_list(rig, &after);
		assert_int_equal(after.n, before.n);
		assert_memory_equal(after.part, before.part, before.n * sizeof(before.part[0]));
		rig_run_out(rig);
		rig_close(rig);
	}
}

/* A class is removed by hand; the file that is saved then is the scenario in force. */
static void what_is_saved_after_a_class_went_is_what_runs(void **state)
{
	struct scenario *scenario =
	        of_text("seed 42\nport a\nport b\ncloud x from a to b\ncloud x rate 1mbit queue "
	                "20kB\ncloud x class v match udp\ncloud x class t match tcp\ncloud x class "
	                "t mark above 3kB\ncloud x class d\n");

	(void)state;
	assert_int_equal(cloud_conf_remove_scope(scenario->clouds[0], "v"), 0);
	expect_nothing_new(scenario, NULL);
}

/* ---- one scenario over another ---- */

static int compare_departures(const void *a, const void *b)
{
	const struct departure *x = a, *y = b;

	if (x->due_ns != y->due_ns)
		return x->due_ns < y->due_ns ? -1 : 1;
	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return memcmp(&x->digest, &y->digest, sizeof(x->digest));
}

/* Plays the same packets. `first`: NULL, or the scenario in force before the other is loaded. */
static struct rig *rig_played(const char *first, const char *path)
{
	const struct rig_setup setup = {.seed = 42, .filters = &filters, .hosts = 50};
	struct rig *rig = rig_of(&setup, loaded(first ? first : path));

	rig_apply(rig, ORIGIN);
	if (first)
		load_over(rig, loaded(path), ORIGIN);
	send_some(rig, ORIGIN);
	rig_run_out(rig);
	qsort(rig->departures, rig->n_departures, sizeof(*rig->departures), compare_departures);
	return rig;
}

static void expect_alike(const char *path, struct rig *fresh, const char *first)
{
	struct rig *rig = rig_played(first, path);
	char *text = scenario_text(rig->scenario), *fresh_text = scenario_text(fresh->scenario);
	bool same = rig->n_departures == fresh->n_departures;

	for (uint32_t i = 0; same && i < fresh->n_departures; i++)
		same = compare_departures(&rig->departures[i], &fresh->departures[i]) == 0;
	if (!same)
		fail_msg("%s over %s: %u packets left, of a fresh run %u, or others", path, first,
		         rig->n_departures, fresh->n_departures);
	assert_string_equal(text, fresh_text);
	free(text);
	free(fresh_text);
	rig_close(rig);
}

/* Each over two others: the packets and the configuration are those of a fresh run. */
static void over_any_other_a_scenario_is_as_if_it_had_been_the_first(void **state)
{
	glob_t configs;

	(void)state;
	assert_int_equal(glob("configs/*.weir", 0, NULL, &configs), 0);
	for (size_t i = 0; i < configs.gl_pathc; i++) {
		struct rig *fresh = rig_played(NULL, configs.gl_pathv[i]);

		for (size_t k = 0; k < 2; k++) {
			size_t first = (i + 1 + (2 * i + k * 5) % (configs.gl_pathc - 1)) %
			               configs.gl_pathc;

			assert_int_not_equal(first, i);
			expect_alike(configs.gl_pathv[i], fresh, configs.gl_pathv[first]);
		}
		assert_true(fresh->n_departures > 0);
		rig_close(fresh);
	}
	globfree(&configs);
}

/* Packets in flight keep their delay when everything around them changes. */
static void what_is_on_its_way_arrives_when_it_would_have(void **state)
{
	const struct rig_setup setup = {.seed = 42, .filters = &filters};
	struct rig *rig = rig_of(&setup, of_text("seed 42\nport a\nport b\ncloud x from a to b\n"
	                                         "cloud x delay 100ms\n"));

	(void)state;
	rig_apply(rig, ORIGIN);
	for (uint32_t i = 0; i < 10; i++)
		rig_send(rig, 0, 100, ORIGIN + i * SIMTIME_MS);
	load_over(rig, of_text("port a\nport b\nclouds y from a to b per source 10.0.0.0/24\n"),
	          ORIGIN + 50 * SIMTIME_MS);
	load_over(rig, of_text("port a\nport b\nclouds x from a to b per source 10.0.0.0/24\n"),
	          ORIGIN + 60 * SIMTIME_MS);
	load_over(rig, of_text("port a\nport b\n"), ORIGIN + 70 * SIMTIME_MS);
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, 10);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(rig->departures[i].due_ns, ORIGIN + (100 + i) * SIMTIME_MS);
	rig_close(rig);
}

/* ---- changes that are refused ---- */

/* The batch that `begin whole` and these lines make. */
static void batch_of(struct batch *batch, const char *text)
{
	struct language_error wrong;
	struct answer_error error;
	struct command command;
	char line[100];

	assert_int_equal(batch_begin_whole(batch), 0);
	for (; *text != '\0'; text += strlen(line) + 1) {
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\n"), text);
		batch->lines++;
		assert_int_equal(language_parse(line, &command, &wrong), 0);
		assert_int_equal(batch_edit(batch, line, &command, 1000, &error), 0);
		language_release(&command);
	}
}

static void ports_and_the_seed_are_refused_and_nothing_is_changed(void **state)
{
	static const struct {
		const char *text, *refusals; /* NULL: none */
	} rows[] = {
	        {"port a\nport b\n", NULL},
	        {"port b\nport a\n", NULL},
	        {"seed 42\nport a device net_null0\nport b device net_null1 rx-latency 5us\n",
	         NULL},
	        {"seed 43\nport a\nport b\n", "line 1, seed 43 (it runs with 42); "},
	        {"port a\nport b\nport c\n", "line 3, port c (a new one); "},
	        {"port a\n", "port b, which is in use, has no line; "},
	        {"port a device net_null1\nport b\n",
	         "line 1, port a (differs from the running one); "},
	        {"port a\nport b device net_null1\n",
	         "line 2, port b (differs from the running one); "},
	        {"port a\nport b device net_null1 rx-latency 6us\n",
	         "line 2, port b (differs from the running one); "},
	        {"seed 1\nport b interface eth1\nport c\n",
	         "line 1, seed 1 (it runs with 42); line 2, port b (differs from the running "
	         "one); line 3, port c (a new one); port a, which is in use, has no line; "},
	};
	struct scenario *now = of_text(
	        "seed 42\nport a device net_null0\nport b device net_null1 rx-latency 5us\n");

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		char *before, *after, *in_force = scenario_text(now), said[760];
		struct answer_error error;
		struct batch batch;

		batch_of(&batch, rows[i].text);
		before = scenario_text(batch.draft);
		assert_int_equal(batch_succeed(&batch, now, &error),
		                 rows[i].refusals ? -EINVAL : 0);
		snprintf(said, sizeof(said), "while packets flow this cannot change: %snothing is ",
		         rows[i].refusals ? rows[i].refusals : "");
		if (rows[i].refusals)
			assert_memory_equal(error.message, said, strlen(said));
		after = scenario_text(batch.draft);
		assert_string_equal(after, rows[i].refusals ? before : in_force);
		free(before);
		free(after);
		free(in_force);
		batch_abort(&batch);
	}
	scenario_free(now);
}

GROUP(load)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(what_runs_loaded_again_changes_nothing),
	        cmocka_unit_test(what_runs_said_in_another_order_changes_nothing),
	        cmocka_unit_test(what_is_saved_after_a_class_went_is_what_runs),
	        cmocka_unit_test(over_any_other_a_scenario_is_as_if_it_had_been_the_first),
	        cmocka_unit_test(what_is_on_its_way_arrives_when_it_would_have),
	        cmocka_unit_test(ports_and_the_seed_are_refused_and_nothing_is_changed),
	};

	/* File names are relative to the root of the source. */
	if (chdir(SOURCE_ROOT) != 0)
		return 1;
	return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
