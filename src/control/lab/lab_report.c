/* SPDX-License-Identifier: BSD-3-Clause */
/* The lab's report: the rows of each experiment with the verdict, and its figures. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "account/count.h"
#include "lab/lab_campaign.h"
#include "replay/samples.h"
#include "report/page.h"
#include "report/theme.h"
#include "text/alloc_failure.h"
#include "text/table.h"

/*
 * A figure of an experiment, drawn as in the paper: a line for each case over the sweep, bars, or a
 * value over the time of a run. Hollow markers show what the paper says in words.
 *
 * Thread: control's.
 * Ownership: the page stays the caller's.
 */

/* One case's part of a figure. */
struct curve {
	double x[EXPERIMENT_VALUES_MAX], y[EXPERIMENT_VALUES_MAX];
	double low[EXPERIMENT_VALUES_MAX], high[EXPERIMENT_VALUES_MAX];
	size_t n;
	double paper_x[EXPERIMENT_POINTS_MAX], paper_y[EXPERIMENT_POINTS_MAX];
	size_t n_paper;
};

static void chart_draw(struct page *page, const struct chart *chart,
                       const struct experiment_plot *plot)
{
	char caption[256];

	snprintf(caption, sizeof(caption), "%s%s%s", plot->figure, plot->figure[0] ? ": " : "",
	         plot->title);
	page_figure(page, chart, caption);
}

/* Reads a case's values. A series of bars has a value for each of its categories, or none. */
static void curve_read(const struct campaign *campaign, const struct experiment_plot *plot,
                       uint32_t of, struct curve *curve)
{
	bool bars = plot->kind == PLOT_BARS;

	for (uint32_t i = 0; i < campaign_plot_values(campaign, plot); i++) {
		struct campaign_value value;
		const char *name;

		if (campaign_plot_value(campaign, plot, of, i, &name, &value)) {
			curve->x[curve->n] = bars ? i : strtod(name, NULL);
			curve->y[curve->n] = value.mean;
			curve->low[curve->n] = value.low;
			curve->high[curve->n++] = value.high;
		} else if (bars) {
			curve->n = 0;
			return;
		}
	}
}

static double place_of(const struct experiment_plot *plot, const char *x)
{
	for (uint32_t i = 0; i < plot->n_bars; i++)
		if (strcmp(plot->names[i], x) == 0)
			return i;
	return strtod(x, NULL);
}

static void add_series(struct chart *chart, struct series *series, const struct curve *curve,
                       const char *name, char *paper_name, bool bars)
{
	unsigned color = (unsigned)(chart->n_series % THEME_COLORS) + 1;

	for (size_t i = 0; i < chart->n_series; i++)
		color = series[i].color % THEME_COLORS + 1;
	if (curve->n)
		series[chart->n_series++] = (struct series){
		        .kind = bars ? SERIES_BARS : SERIES_LINE,
		        .name = name,
		        .x = curve->x,
		        .y = curve->y,
		        .low = curve->low,
		        .high = curve->high,
		        .n = curve->n,
		        .color = color,
		};
	if (curve->n && curve->n_paper)
		series[chart->n_series++] = (struct series){
		        .kind = SERIES_POINTS,
		        .name = paper_name,
		        .x = curve->paper_x,
		        .y = curve->paper_y,
		        .n = curve->n_paper,
		        .color = color,
		        .marker = SERIES_MARKER_DIAMOND,
		        .hollow = true,
		};
}

static void cases_write(struct page *page, const struct campaign *campaign,
                        const struct experiment_plot *plot)
{
	const struct experiment *experiment = campaign->experiment;
	bool bars = plot->kind == PLOT_BARS;
	const char *categories[EXPERIMENT_BARS_MAX];
	size_t n = experiment->n_cases;
	struct series *series = alloc_failure_calloc(2 * n * sizeof(*series));
	struct curve *curves = alloc_failure_calloc(n * sizeof(*curves));
	/* Names of the papers' series, beside those of the cases, such as `ecn`. */
	char(*names)[EXPERIMENT_NAME_BYTES + 16] = alloc_failure_calloc(n * sizeof(*names));
	struct chart chart = {
	        .title = plot->title,
	        .x = {.label = bars ? NULL : campaign->sweep,
	              .categories = bars ? categories : NULL,
	              .n_categories = plot->n_bars},
	        .y = {.label = plot->label},
	        .series = series,
	};

	for (uint32_t i = 0; i < plot->n_bars; i++)
		categories[i] = plot->names[i];
	for (uint32_t of = 0; series && curves && names && of < n; of++) {
		curve_read(campaign, plot, of, &curves[of]);
		for (uint32_t i = 0; i < experiment->n_points; i++) {
			const struct experiment_point *point = &experiment->points[i];

			if (&experiment->plots[point->plot] != plot || point->of != of)
				continue;
			curves[of].paper_x[curves[of].n_paper] = place_of(plot, point->x);
			curves[of].paper_y[curves[of].n_paper++] = point->y;
		}
		snprintf(names[of], sizeof(*names), "%s, paper", experiment->cases[of]);
		add_series(&chart, series, &curves[of], experiment->cases[of], names[of], bars);
	}
	if (chart.n_series)
		chart_draw(page, &chart, plot);
	free(names);
	free(curves);
	free(series);
}

/* ---- over time ---- */

struct trace {
	struct samples value, average;
	bool averaged;
};

/* Reads the lines `t_s,WHAT,value,average` of a trace. */
static void trace_read(struct trace *trace, struct page *page, const char *path, const char *what)
{
	FILE *in = fopen(path, "r");
	size_t bytes = strlen(what);
	char line[256];

	while (in && fgets(line, sizeof(line), in)) {
		char *at = strchr(line, ','), *end;
		double t = strtod(line, NULL);

		if (!at || strncmp(at + 1, what, bytes) != 0 || at[1 + bytes] != ',')
			continue;
		samples_add(&trace->value, t, strtod(at + 2 + bytes, &end));
		samples_add(&trace->average, t, *end == ',' ? strtod(end + 1, NULL) : 0);
		trace->averaged |= *end == ',' && end[1] != '\n';
	}
	if (in)
		fclose(in);
	else
		page->error = page->error ? page->error : -EIO;
	if (trace->value.failed || trace->average.failed)
		alloc_failure_note();
}

static void trace_write(struct page *page, const struct campaign *campaign,
                        const struct experiment_plot *plot)
{
	static const char rate[] = ".rate";
	const char *ending = strrchr(plot->expression, '.');
	bool is_rate = ending && strcmp(ending, rate) == 0;
	struct trace trace = {0};
	char what[EXPERIMENT_NAME_BYTES];

	if (is_rate)
		snprintf(what, sizeof(what), "%.*s.bytes", (int)(ending - plot->expression),
		         plot->expression);
	else
		snprintf(what, sizeof(what), "%s", plot->expression);
	for (uint32_t i = 0; i < campaign->n_jobs; i++)
		if (campaign->jobs[i].trace == plot)
			trace_read(&trace, page, campaign->jobs[i].trace_path, what);
	double *t = trace.value.t, *value = trace.value.value;
	size_t n = trace.value.n;

	if (is_rate && n > 0) {
		/* Converts total bytes into Mbit/s since the line before. */
		for (size_t i = n; i-- > 1;)
			value[i] = (value[i] - value[i - 1]) * 8e-6 / (t[i] - t[i - 1]);
		value[0] = 0;
	}
	const struct series series[2] = {
	        {.kind = SERIES_LINE,
	         .name = trace.averaged ? "queue" : NULL,
	         .x = t,
	         .y = value,
	         .n = n},
	        {.kind = SERIES_LINE, .name = "average", .x = t, .y = trace.average.value, .n = n},
	};
	const struct chart chart = {
	        .title = plot->title,
	        .x = {.label = "Time (s)"},
	        .y = {.label = plot->label, .from_zero = true},
	        .series = series,
	        .n_series = trace.averaged ? 2 : 1,
	};

	if (n > 0)
		chart_draw(page, &chart, plot);
	samples_free(&trace.value);
	samples_free(&trace.average);
}

static void number_cell(struct table *table, double value)
{
	if (isinf(value))
		table_text(table, "any");
	else
		table_format(table, "%.4g", value);
}

/* Adds the rows of one experiment to the table, and whether each is an alarm. */
static void add_rows(const struct campaign *campaign, struct table *table, bool *alarms, size_t *n)
{
	static const char *const verdicts[] = {"inside", "OUTSIDE", "not measured", "not measured",
	                                       "not comparable"};
	const struct experiment *experiment = campaign->experiment;
	char message[EXPERIMENT_MESSAGE];

	for (uint32_t i = 0; i < experiment->n_rows; i++) {
		const struct experiment_row *row = &experiment->rows[i];
		struct campaign_value value;
		enum verdict verdict;
		bool known;

		if (!campaign_has_row(campaign, row))
			continue;
		verdict = campaign_verdict(campaign, row, &value, message);
		known = verdict != VERDICT_UNKNOWN && verdict != VERDICT_LEFT_OUT;
		alarms[(*n)++] = verdict != VERDICT_INSIDE && verdict != VERDICT_NOT_COMPARABLE;
		table_texts(table, row->id, row->what, row->paper, NULL);
		number_cell(table, known ? value.mean : NAN);
		if (!known || value.n > 1)
			number_cell(table, known ? value.high - value.mean : NAN);
		else
			table_text(table, ""); /* one seed has no error */
		table_format(table, "%.4g to %.4g", row->low, row->high);
		table_text(table, verdicts[verdict]);
		table_format(table, "%.150s", message);
	}
}

/* Writes the rows of so many campaigns, in one table. */
static void rows_write(struct page *page, struct campaign *const *campaigns, uint32_t n)
{
	struct table *table = table_headed("llllllll", "row", "what", "paper", "weir", "+-",
	                                   "to accept", "verdict", "reason", NULL);
	bool *alarms = alloc_failure_calloc((size_t)n * EXPERIMENT_ROWS_MAX * sizeof(*alarms));
	size_t n_rows = 0;

	for (uint32_t i = 0; alarms && i < n; i++)
		add_rows(campaigns[i], table, alarms, &n_rows);
	table_page(table, page,
	           "Comparison with the papers. +-: the standard error over the seeds.", alarms);
	free(alarms);
	table_free(table);
}

static void experiment_write(struct page *page, struct campaign *campaign)
{
	const struct experiment *experiment = campaign->experiment;
	char *text = NULL;

	page_heading(page, experiment->title);
	if (asprintf(&text, "%s%s%s, %s from %llu", experiment->name,
	             experiment->paper[0] ? ": " : "", experiment->paper,
	             count_of(campaign->arguments->seeds, "seed").text,
	             (unsigned long long)campaign->arguments->first_seed) < 0)
		alloc_failure_note();
	else
		page_text(page, text);
	free(text);
	if (experiment->about[0])
		page_text(page, experiment->about);
	rows_write(page, &campaign, 1);
	for (uint32_t i = 0; i < experiment->n_plots; i++) {
		const struct experiment_plot *plot = &experiment->plots[i];

		if (campaign_has_plot(campaign, plot) && plot->kind == PLOT_TRACE)
			trace_write(page, campaign, plot);
		else if (campaign_has_plot(campaign, plot))
			cases_write(page, campaign, plot);
	}
}

/* The page keeps the first error of its output. A lack of memory is noted (alloc_failure.h). */
int lab_output_html(struct campaign *const *campaigns, uint32_t n, FILE *out)
{
	uint32_t all, done = campaigns_done(campaigns, n, &all);
	struct table *contents = NULL;
	struct page page;
	char text[256];

	page_open(&page, out, "weir lab", "The papers' experiments, through weir's own data path");
	snprintf(text, sizeof(text),
	         "Partial: %u of %u runs. The same command with --continue runs the rest.", done,
	         all);
	if (done < all)
		page_alarm(&page, text);
	/* A table of contents, so that every row and its verdict is on the first page. */
	if (n > 1)
		contents = table_headed("lll", "experiment", "title", "paper", NULL);
	for (uint32_t i = 0; i < n; i++)
		table_texts(contents, campaigns[i]->experiment->name,
		            campaigns[i]->experiment->title, campaigns[i]->experiment->paper, NULL);
	table_page(contents, &page, "Contents", NULL);
	table_free(contents);
	if (n > 1)
		rows_write(&page, campaigns, n);
	for (uint32_t i = 0; i < n; i++)
		experiment_write(&page, campaigns[i]);
	return page_close(&page) < 0 ? page.error : 0;
}
