/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figures/figures.h"
#include "link/class.h"
#include "link/rate.h"
#include "scenario/scenario.h"
#include "show/show.h"
#include "show/times.h"
#include "show/view.h"
#include "statements.h"
#include "text/alloc_failure.h"
#include "text/statement_text.h"
#include "text/table.h"
#include "text/value.h"
#include "units/human_unit.h"

static void print_queue(FILE *out, const struct class_conf *conf, const struct cloud_conf *cloud)
{
	static const enum field_type types[] = {[LIMIT_BYTES] = FIELD_BYTES,
	                                        [LIMIT_PACKETS] = FIELD_COUNT,
	                                        [LIMIT_TIME] = FIELD_TIME};
	struct limit limit = class_queue(conf, cloud);
	const struct conf *rate = cloud_conf_get(cloud, "rate");
	char text[48];

	if (limit.unit == LIMIT_NONE)
		return;
	value_print_number(types[limit.unit], limit.value, text, sizeof(text));
	fprintf(out, ", queue %s%s", text, limit.unit == LIMIT_PACKETS ? "pkt" : "");
	if (conf->queue.unit != LIMIT_NONE)
		return;
	fputs(((const struct rate_conf *)rate)->queue.unit != LIMIT_NONE
	              ? ": that of `rate`, for each class"
	              : ": its share of rate x delay, at least 64kB",
	      out);
}

void class_text_print(FILE *out, const char *indent, const struct cloud_conf *cloud)
{
	const struct scheduler_conf *scheduler =
	        (const struct scheduler_conf *)cloud_conf_get(cloud, "scheduler");
	bool priority = scheduler && scheduler->algorithm == SCHEDULER_PRIORITY;
	const struct class_conf *confs[CLASSES_MAX];
	uint32_t n = class_confs(cloud, confs);
	uint64_t weights[CLASSES_MAX], sum = 0;

	if (n == 0)
		return;
	class_weights(confs, n, weights);
	for (uint32_t i = 0; i < n; i++)
		sum += weights[i];
	for (uint32_t i = 0; i < n; i++) {
		fprintf(out, "%sclass %s: ", indent, confs[i]->conf.scope);
		if (priority)
			fprintf(out, "sent as number %u", i + 1);
		else
			fprintf(out, "%.6g %% of the rate",
			        100.0 * (double)weights[i] / (double)sum);
		print_queue(out, confs[i], cloud);
		fputc('\n', out);
	}
	if (!priority && class_weights_normalised(confs, n))
		fprintf(out, "%sthe weights do not sum to 1: they were normalised\n", indent);
}

/* Prints the size of a queue that was not given. */
static void view_print_queue(const struct view *view, FILE *out)
{
	const struct rate_conf *rate = (const struct rate_conf *)cloud_conf_get(view->conf, "rate");
	const struct class_conf *classes[CLASSES_MAX];

	if (rate == NULL || rate->queue.unit != LIMIT_NONE || class_confs(view->conf, classes) > 0)
		return;
	fprintf(out, "  the queue holds %s: rate x delay, at least %llu kB\n",
	        human_of(HUMAN_BYTES, (double)rate_queue(rate, view->conf).value, 4).text,
	        (unsigned long long)(RATE_QUEUE_BYTES_MIN / 1000));
}

static void view_print_configured(const struct view *view, FILE *out)
{
	struct table *table = table_make("ll");
	char achieved[256], period[VIEW_PERIOD_BYTES];
	struct printed text;

	view_period(view, view->began, true, period);
	table_text(table, "configured");
	table_format(table, "achieved %s", period);
	for (const struct statement *const *row = statements; *row != NULL; row++) {
		for (uint32_t i = 0; i < view->conf->n_confs; i++) {
			const struct conf *conf = view->conf->confs[i];
			if (conf->statement != *row)
				continue;
			statement_print(printed_begin(&text), conf);
			view_achieved(view, conf, achieved, sizeof(achieved));
			table_text(table, printed_end(&text) != NULL ? text.bytes : "");
			table_text(table, achieved);
			free(text.bytes);
		}
	}
	if (view->conf->n_confs == 0) {
		table_text(table, "(nothing: packets pass unchanged)");
		table_text(table, "");
	}
	table_end(table, out);
	view_print_queue(view, out);
	class_text_print(out, "  ", view->conf);
}

/* ---- counters ---- */

static void view_print_packets(const struct view *view, FILE *out)
{
	char period[VIEW_PERIOD_BYTES];
	struct table *table;

	view_period(view, view->counting, false, period);
	table = table_headed("lrr", period, "packets", "bytes", NULL);
	figures_lines(table, FIGURE_CLOUD, FIGURE_LINE, &view->report);
	figures_lines(table, FIGURE_CLOUD, FIGURE_FOOT, &view->report);
	table_end(table, out);
}

static void view_print_classes(const struct view *view, FILE *out)
{
	struct table *table = view->report.n_classes > 0 ? table_make("lrrrrrrr") : NULL;

	figures_headings(table, FIGURE_CLASS, FIGURE_COLUMN);
	for (uint32_t i = 0; i < view->report.n_classes; i++)
		figures_cells(table, FIGURE_CLASS, FIGURE_COLUMN, &view->report.classes[i]);
	table_end(table, out);
}

/* Prints the management of a class's queue; `class` NULL: of the link's. */
static void view_print_management(const struct aqm_report *aqm, const char *class, FILE *out)
{
	static const enum human_unit units[] = {[AQM_COUNT] = HUMAN_COUNT,
	                                        [AQM_BYTES] = HUMAN_BYTES,
	                                        [AQM_NS] = HUMAN_NS,
	                                        [AQM_FRACTION] = HUMAN_PERCENT};
	struct table *table = aqm->n_figures > 0 ? table_make("lr") : NULL;

	if (table == NULL)
		return;
	if (class != NULL)
		table_format(table, "%s of class %s", aqm->name, class);
	else
		table_text(table, aqm->name);
	table_text(table, "at present");
	for (uint32_t i = 0; i < aqm->n_figures; i++) {
		table_text(table, aqm->figures[i].name);
		table_unit(table, units[aqm->figures[i].unit], aqm->figures[i].value);
	}
	fputc('\n', out);
	table_end(table, out);
}

/* Formats `loss 1,204, queue-full 3` of one kind; "" if there are none. */
static void drops_text(const struct counters *counters, enum reason_kind kind, char *text,
                       size_t size)
{
	char count[COUNT_SIZE];

	text[0] = '\0';
	for (int i = 0; i < REASON_COUNT; i++)
		if (reason_kind((enum reason)i) == kind && counters->drops[i] > 0)
			text_add(text, size, "%s%s %s", text[0] ? ", " : "",
			         reason_name((enum reason)i),
			         count_text(count, counters->drops[i]));
}

static void view_print_drops(const struct view *view, FILE *out)
{
	const struct counters *c = &view->report.counters;
	struct table *table = table_headed("lrrl", "drops", "packets", "share", "reasons", NULL);
	char text[200];

	for (int kind = REASON_EMULATED; kind <= REASON_REAL; kind++) {
		uint64_t drops = counters_drops_of(c, (enum reason_kind)kind);

		drops_text(c, (enum reason_kind)kind, text, sizeof(text));
		table_text(table, reason_kind_name((enum reason_kind)kind));
		table_count(table, drops);
		table_share(table, drops, counters_in(c));
		table_text(table, text);
	}
	table_end(table, out);
}

/* Prints a dash for what is not known. */
static void table_times(struct table *table, const char *name, const struct times *times)
{
	char text[HUMAN_UNIT_SIZE];

	table_text(table, name);
	for (int i = 0; i < TIMES_COLUMNS; i++) {
		times_cell(times, i, HUMAN_NS, text);
		table_text(table, text);
	}
}

static void view_print_times(const struct view *view, FILE *out)
{
	struct table *table = table_make("lrrrrrr");
	struct times times = line_delay_of(view->conf, &view->since);
	const bool of_all = line_delay_of_all(view->conf, &view->report);
	char name[SCENARIO_NAME_BYTES + 32], period[VIEW_PERIOD_BYTES];

	view_period(view, view->began, false, period);
	fprintf(out, "  %s:\n", period);
	table_text(table, "");
	for (int i = 0; i < TIMES_COLUMNS; i++)
		table_text(table, times_head[i]);
	times.digits = TIMES_DIGITS;
	if (!of_all)
		table_times(table, "delay, line", &times);
	times = times_of(&view->since.delay_ns);
	table_times(table, of_all ? "delay, all clouds" : "delay in all", &times);
	if (view->has_port) {
		/* The port counts on when clouds change. */
		snprintf(name, sizeof(name), "late at %s%s", view->conf->to,
		         view->began == CONTROL_SINCE_CHANGE ? ", in all" : "");
		times = times_of(&view->port.lateness_ns);
		table_times(table, name, &times);
	}
	table_end(table, out);
}

/* Prints how many clouds a template has, and how to see one. */
static void view_print_template(const struct view *view, FILE *out)
{
	char clouds[COUNT_SIZE], most[COUNT_SIZE];

	if (view->report.clouds_most == 0)
		return;
	fprintf(out,
	        "%s clouds of at most %s; their sums follow. For one of them: show clouds %s "
	        "ADDRESS\n"
	        "\n",
	        count_text(clouds, view->report.clouds), count_text(most, view->report.clouds_most),
	        view->conf->name);
}

void show_cloud_text(FILE *out, struct control *control, uint32_t cloud, const char *address,
                     bool all)
{
	struct view *view = alloc_failure_calloc(sizeof(*view));

	if (view == NULL || !view_open(view, control, cloud, address, all)) {
		fprintf(out, "cloud %s: no report yet\n",
		        (*control->scenario)->clouds[cloud]->name);
	} else {
		view_look(view, control);
		fprintf(out, "%s %s from %s to %s\n\n",
		        view->report.clouds_most > 0 ? "clouds" : "cloud", view->name,
		        view->conf->from, view->conf->to);
		view_print_template(view, out);
		view_print_configured(view, out);
		fputc('\n', out);
		view_print_packets(view, out);
		view_print_management(&view->report.aqm, NULL, out);
		for (uint32_t i = 0; i < view->report.n_classes; i++)
			view_print_management(&view->report.classes[i].aqm,
			                      view->report.classes[i].name, out);
		fputc('\n', out);
		view_print_classes(view, out);
		view_print_drops(view, out);
		fputc('\n', out);
		view_print_times(view, out);
		if (view->report.observed.has_meter) {
			fputc('\n', out);
			show_meter_text(out, &view->report.observed.meter);
		}
		if (view->report.observed.has_xcp) {
			fputc('\n', out);
			show_xcp_text(out, &view->report.observed.xcp);
		}
		view_print_warnings(view, out);
	}
	free(view);
}

/* ---- all clouds ---- */

void show_clouds_text(FILE *out, struct control *control)
{
	struct table *table = table_headed("lllrrrrrrrrr", "cloud", "from", "to", NULL);
	struct view *view = alloc_failure_calloc(sizeof(*view));
	uint64_t real = 0;

	figures_headings(table, FIGURE_CLOUD, FIGURE_COLUMN);
	table_texts(table, "rate sent", "delay p50", "delay p99", NULL);
	for (uint32_t i = 0; view != NULL && i < (*control->scenario)->n_clouds; i++) {
		if (!view_open(view, control, i, NULL, true))
			continue;
		view_look(view, control);
		const struct histogram *delay = &view->report.delay_ns;
		uint64_t from_ns = view->looked ? view->look.now_ns : view->since_ns;
		uint64_t bytes =
		        view->report.counters.tx_bytes - (view->looked ? view->look.tx_bytes : 0);

		table_texts(table, view->conf->name, view->conf->from, view->conf->to, NULL);
		figures_cells(table, FIGURE_CLOUD, FIGURE_COLUMN, &view->report);
		table_unit(table, HUMAN_BPS, view_bps(bytes, from_ns, view->now_ns));
		table_percentile(table, delay, 500000);
		table_percentile(table, delay, 990000);
		real += counters_drops_of(&view->report.counters, REASON_REAL);
	}
	table_end(table, out);
	if (real > 0)
		fprintf(out, "warning: weir itself lost packets (real drops); show cloud NAME says "
		             "which and why\n");
	free(view);
}
