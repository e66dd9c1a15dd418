/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of figures: what is in it reaches every output. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "account/count.h"
#include "engine/engine_report.h"
#include "figures/figures.h"
#include "live/runtime.h"
#include "offline/replay.h"
#include "runner/group.h"
#include "show/json.h"
#include "text/table.h"

/* The rows of account/counters.h. */
static const struct row {
	const char *field, *label, *metric;
	size_t offset;
} rows[] = {
#define X(field, label, metric, help) {#field, label, metric, COUNTER(field)},
        COUNTERS_TRAFFIC(X, X) COUNTERS_EFFECTS(X) COUNTERS_LATER(X) COUNTERS_QUENCHES(X, X)
                COUNTERS_CHANGES(X) COUNTERS_FEEDBACK(X)
#undef X
};

#define ROWS      (sizeof(rows) / sizeof(rows[0]))
#define VALUE(i)  (1000000u + 7u * (uint32_t)(i))
#define TEXT_SIZE 65536

/* Returns a report in which every counter has a value of its own. */
static struct cloud_report *report_make(void)
{
	struct cloud_report *report = calloc(1, sizeof(*report));

	assert_non_null(report);
	for (size_t i = 0; i < ROWS; i++)
		*(uint64_t *)(void *)((char *)&report->counters + rows[i].offset) = VALUE(i);
	return report;
}

static void expect(const char *text, const char *line)
{
	if (strstr(text, line) == NULL)
		fail_msg("not there: %s\nin:\n%s", line, text);
}

/* A counter without a row is in no output. These have none: they are parts of others. */
static void each_counter_has_a_row(void **state)
{
	const size_t words = sizeof(struct counters) / sizeof(uint64_t);
	static const char *const without[] = {"onward", "answers", "carried", "joined"};

	(void)state;
	assert_int_equal(words, ROWS + sizeof(without) / sizeof(without[0]) + REASON_COUNT);
}

static void each_counter_is_in_the_json_of_its_cloud(void **state)
{
	struct cloud_report *report = report_make();
	json_t *cloud = json_cloud("down", report);

	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		bool inside = strncmp(rows[i].field, "feedback_", 9) == 0;
		json_t *of = inside ? json_object_get(cloud, "feedback") : cloud;
		json_t *value = json_object_get(of, rows[i].field + (inside ? 9 : 0));

		if (json_integer_value(value) != VALUE(i))
			fail_msg("%s is not in JSON", rows[i].field);
	}
	json_decref(cloud);
	free(report);
}

static void each_counter_is_a_line_of_text(void **state)
{
	struct cloud_report *report = report_make();
	struct table *table = table_make("lrr");
	char *text = NULL, cell[HUMAN_UNIT_SIZE], line[160];
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	(void)state;
	assert_non_null(out);
	figures_lines(table, FIGURE_CLOUD, FIGURE_LINE, report);
	table_end(table, out);
	fclose(out);
	for (size_t i = 0; i < ROWS; i++) {
		const char *at;

		if (strcmp(rows[i].label, "bytes") == 0) { /* beside the packets */
			human_unit_format(cell, sizeof(cell), HUMAN_BYTES, VALUE(i), 6);
			expect(text, cell);
			continue;
		}
		snprintf(line, sizeof(line), "  %s ", rows[i].label);
		expect(text, line);
		at = strstr(text, line);
		count_text(cell, VALUE(i));
		if (strstr(at, cell) == NULL || strstr(at, cell) > strchr(at, '\n'))
			fail_msg("%s is not %s", rows[i].label, cell);
	}
	free(text);
	free(report);
}

/* Returns the figures of a report as CSV. The caller frees the text. */
static char *csv_of(enum figure_scope scope, const char *name, const void *record)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(out);
	figures_csv(out, scope, name, record);
	fclose(out);
	return text;
}

static void csv_has_a_line_for_each_figure_of_the_json(void **state)
{
	struct cloud_report *report = report_make();
	char *text;

	(void)state;
	report->aqm = (struct aqm_report){
	        .name = "red", .n_figures = 1, .figures = {{"early drops", 2.5, AQM_COUNT}}};
	report->n_classes = 1;
	strcpy(report->classes[0].name, "voice");
	report->classes[0].counters.tx_bytes = 99;
	histogram_add(&report->delay_ns, 1000, 3);
	text = csv_of(FIGURE_CLOUD, "down", report);
	expect(text, "cloud,down,rx_packets,1000000,packets,counter\n");
	expect(text, "\ncloud,down,feedback.written,");
	expect(text, "\ncloud,down,drops.queue-full,0,packets,counter\n");
	expect(text, "\ncloud,down,queue.red.early drops,2.5,,gauge\n");
	expect(text, "\ncloud,down,delay_ns.max,1000,ns,histogram\n");
	expect(text, "\nclass,down/voice,tx_bytes,99,bytes,counter\n");
	assert_null(strstr(text, "lateness_ns"));
	free(text);
	free(report);
}

static void csv_quotes_text(void **state)
{
	struct replay_port_report port = {.damage = "cut, at \"here\""};
	char *text = csv_of(FIGURE_REPLAY_PORT, "a", &port);

	(void)state;
	expect(text, "\nreplay-port,a,damage,\"cut, at \"\"here\"\"\",,gauge\n");
	free(text);
}

/* Counts the rows of a scope that would be the same member. */
static uint32_t count_same(enum figure_scope scope, const struct figure *figure)
{
	uint32_t n = 0;

	for (const struct figure *f = NULL; (f = figure_next(scope, FIGURE_JSON, NULL, f));)
		n += strcmp(f->name, figure->name) == 0 &&
		     (f->object == figure->object ||
		      (f->object && figure->object && strcmp(f->object, figure->object) == 0));
	return n;
}

static void each_figure_of_json_has_a_name_of_its_own_and_help(void **state)
{
	(void)state;
	for (int scope = 0; scope < FIGURE_SCOPES; scope++) {
		const struct figure *f = NULL;

		while ((f = figure_next((enum figure_scope)scope, FIGURE_JSON, NULL, f))) {
			if (count_same((enum figure_scope)scope, f) != 1)
				fail_msg("%s is there twice", f->name);
			if (f->help == NULL || f->help[strlen(f->help) - 1] != '.')
				fail_msg("%s has no help", f->name);
		}
	}
}

static void columns_have_headings_and_are_in_every_record(void **state)
{
	const unsigned texts = FIGURE_COLUMN | FIGURE_LOSSES | FIGURE_SUMMARY | FIGURE_LINE;

	(void)state;
	for (int scope = 0; scope < FIGURE_SCOPES; scope++) {
		const struct figure *f = NULL;

		while ((f = figure_next((enum figure_scope)scope, texts, NULL, f)))
			if (f->label == NULL || f->there != NULL)
				fail_msg("%s is no column", f->name);
	}
}

static void a_port_of_exec_has_the_counts_of_the_live_one(void **state)
{
	static const struct port_report live = {.rx_packets = 1,
	                                        .rx_bytes = 2,
	                                        .tx_packets = 3,
	                                        .tx_bytes = 4,
	                                        .no_cloud = 5,
	                                        .untouched = 6,
	                                        .rx_missed = 10,
	                                        .rx_no_mbuf = 20,
	                                        .tx_full = 30,
	                                        .not_sent = 40};
	struct replay_port_report port = {.no_file = 7};

	(void)state;
	figures_copy(FIGURE_REPLAY_PORT, &port, FIGURE_PORT, &live);
	assert_int_equal(port.rx_packets, 1);
	assert_int_equal(port.rx_bytes, 2);
	assert_int_equal(port.tx_packets, 3);
	assert_int_equal(port.tx_bytes, 4);
	assert_int_equal(port.no_cloud, 5);
	assert_int_equal(port.untouched, 6);
	assert_int_equal(port.lost, 100);
	assert_int_equal(port.no_file, 7);
}

GROUP(figures)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(each_counter_has_a_row),
	        cmocka_unit_test(each_counter_is_in_the_json_of_its_cloud),
	        cmocka_unit_test(each_counter_is_a_line_of_text),
	        cmocka_unit_test(csv_has_a_line_for_each_figure_of_the_json),
	        cmocka_unit_test(csv_quotes_text),
	        cmocka_unit_test(each_figure_of_json_has_a_name_of_its_own_and_help),
	        cmocka_unit_test(columns_have_headings_and_are_in_every_record),
	        cmocka_unit_test(a_port_of_exec_has_the_counts_of_the_live_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
