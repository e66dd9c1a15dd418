/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench_report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_rows.h"
#include "bench/bench_table.h"
#include "capture/atomic_file.h"
#include "report/page.h"
#include "text/alloc_failure.h"

#define BARS_MAX  64
#define CURVE_MAX 32

struct curve {
	size_t n;
	double x[CURVE_MAX], y[CURVE_MAX], low[CURVE_MAX], high[CURVE_MAX];
};

static void curve_add(struct curve *curve, double x, double y, double low, double high)
{
	if (curve->n == CURVE_MAX)
		return;
	curve->x[curve->n] = x;
	curve->y[curve->n] = y;
	curve->low[curve->n] = low;
	curve->high[curve->n++] = high;
}

/* Adds the ns per packet, computed from the Mpps of the runs. */
static void curve_add_ns(struct curve *curve, double x, const json_t *row)
{
	curve_add(curve, x, bench_number(row, "ns_per_packet"), 1e3 / bench_number(row, "mpps_max"),
	          1e3 / bench_number(row, "mpps_min"));
}

/* ---- cost ---- */

/* Draws the cost of each scenario on net_null, with frames of one size: the first size that
 * occurs. */
static void draw_stages(struct page *page, const json_t *rows)
{
	const char *names[BARS_MAX], *frames = NULL;
	double ns[BARS_MAX], low[BARS_MAX], high[BARS_MAX], ceiling[BARS_MAX];
	size_t n = 0, i;
	json_t *row;
	char caption[300];

	json_array_foreach(rows, i, row)
	{
		if (!bench_is(row, "cost") || strcmp(bench_text(row, "ports"), "net_null") != 0 ||
		    n == BARS_MAX)
			continue;
		frames = frames ? frames : bench_text(row, "frames");
		if (strcmp(frames, bench_text(row, "frames")) != 0)
			continue;
		names[n] = bench_text(row, "scenario");
		ns[n] = bench_number(row, "ns_per_packet");
		low[n] = 1e3 / bench_number(row, "mpps_max");
		high[n] = 1e3 / bench_number(row, "mpps_min");
		ceiling[n++] = 1e3 / bench_number(row, "ceiling_mpps");
	}
	const struct series series[] = {
	        {.kind = SERIES_BARS,
	         .name = "weir",
	         .y = ns,
	         .low = low,
	         .high = high,
	         .n = n,
	         .values = true},
	        {.kind = SERIES_BARS, .name = "ports alone", .y = ceiling, .n = n, .hollow = true},
	};
	const struct chart chart = {
	        .x = {.categories = names, .n_categories = n},
	        .y = {.label = "Cost of a packet", .unit = CHART_NS},
	        .series = series,
	        .n_series = 2,
	        .width_px = 1000,
	};

	if (n == 0)
		return;
	snprintf(caption, sizeof(caption),
	         "The cost of a packet of %s bytes by scenario: medians, with the range of the "
	         "runs, beside the cost of the ports with nothing in between.",
	         frames);
	page_figure(page, &chart, caption);
}

/* Collects one value for each frame size of a scenario on net_null. */
static size_t by_frames(const json_t *rows, const char *scenario, const char *key,
                        const char **names, double *values)
{
	size_t n = 0, i;
	json_t *row;

	json_array_foreach(rows, i, row)
	{
		if (!bench_is(row, "cost") || strcmp(bench_text(row, "ports"), "net_null") != 0 ||
		    strcmp(bench_text(row, "scenario"), scenario) != 0 || n == BARS_MAX)
			continue;
		names[n] = bench_text(row, "frames");
		values[n++] = bench_number(row, key) * 1e6;
	}
	return n;
}

static void draw_frames(struct page *page, const json_t *rows)
{
	const char *names[BARS_MAX];
	double ceiling[BARS_MAX], bare[BARS_MAX], delay[BARS_MAX];
	size_t n = by_frames(rows, "bare", "ceiling_mpps", names, ceiling);
	size_t n_bare = by_frames(rows, "bare", "mpps", names, bare);
	size_t n_delay = by_frames(rows, "delay-10ms", "mpps", names, delay);
	const struct series series[] = {
	        {.kind = SERIES_BARS, .name = "ports alone", .y = ceiling, .n = n, .hollow = true},
	        {.kind = SERIES_BARS, .name = "bare forwarding", .y = bare, .n = n},
	        {.kind = SERIES_BARS, .name = "delay 10 ms", .y = delay, .n = n},
	};
	const struct chart chart = {
	        .x = {.label = "Frame size (bytes)", .categories = names, .n_categories = n},
	        .y = {.label = "Throughput", .unit = CHART_PPS},
	        .series = series,
	        .n_series = 3,
	        .width_px = 1000,
	};

	if (n > 1 && n == n_bare && n == n_delay)
		page_figure(page, &chart,
		            "Throughput by frame size, both directions together, one core per "
		            "worker.");
}

/* ---- depth and clouds ---- */

static void draw_curve(struct page *page, const struct curve *curve, const char *x_label,
                       const char *caption)
{
	const struct series series = {.kind = SERIES_LINE,
	                              .name = "cost of a packet",
	                              .x = curve->x,
	                              .y = curve->y,
	                              .low = curve->low,
	                              .high = curve->high,
	                              .n = curve->n,
	                              .marker = SERIES_MARKER_CIRCLE};
	const struct chart chart = {
	        .x = {.label = x_label, .unit = CHART_COUNT, .scale = AXIS_LOG10},
	        .y = {.label = "Cost", .unit = CHART_NS, .from_zero = true},
	        .series = &series,
	        .n_series = 1,
	};

	if (curve->n > 1)
		page_figure(page, &chart, caption);
}

static void draw_depth(struct page *page, const json_t *rows)
{
	struct curve curve = {0};
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row)
	{
		if (bench_is(row, "depth"))
			curve_add_ns(&curve, bench_number(row, "in_flight_packets"), row);
	}
	draw_curve(page, &curve, "Packets in flight",
	           "The cost of a packet of 64 bytes by the number of packets in flight: medians, "
	           "with the range of the runs.");
}

static void draw_clouds(struct page *page, const json_t *rows)
{
	struct curve curve = {0};
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row)
	{
		if (bench_is(row, "clouds"))
			curve_add_ns(&curve, bench_number(row, "clouds"), row);
	}
	draw_curve(page, &curve, "Clouds",
	           "The cost of a packet of 64 bytes by the number of clouds: medians, with the "
	           "range of the runs.");
}

/* ---- the page ---- */

/* Writes the tables that a terminal shows. */
static void write_tables(struct page *page, const json_t *document)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = alloc_failure_stream(&text, &bytes);

	if (!out)
		return;
	bench_table_print(out, document);
	if (alloc_failure_close(out) == 0)
		page_code(page, text);
	free(text);
}

static void write_doctor(struct page *page, const json_t *findings)
{
	size_t n = json_array_size(findings), i;
	static const char *const head[] = {"", "subject", "what", "costs", "remedy"};
	static const char *const keys[] = {"state", "subject", "what", "cost", "remedy"};
	const char **cells = calloc(n * 5 + 1, sizeof(*cells));
	struct page_rows table = {
	        .caption = "What in this machine costs packets a second, or nanoseconds.",
	        .head = head,
	        .cells = cells,
	        .n_columns = 5,
	        .n_rows = n};
	json_t *finding;

	if (!cells)
		return;
	json_array_foreach(findings, i, finding)
	{
		for (size_t k = 0; k < 5; k++)
			cells[5 * i + k] = bench_text(finding, keys[k]);
	}
	if (n > 0)
		page_table(page, &table);
	free(cells);
}

static void begin_part(struct page *page, const json_t *rows, const char *part, const char *heading)
{
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row)
	{
		if (bench_is(row, part)) {
			page_heading(page, heading);
			return;
		}
	}
}

static void write_page(struct page *page, FILE *out, const json_t *document)
{
	const json_t *rows = json_object_get(document, "rows");
	const json_t *machine = json_object_get(document, "machine");
	char subtitle[400];

	snprintf(subtitle, sizeof(subtitle), "weir %s on %s, %s", bench_text(machine, "weir"),
	         bench_text(machine, "cpu"), bench_text(machine, "dpdk"));
	page_open(page, out, "What weir costs on this machine", subtitle);
	begin_part(page, rows, "cost", "Cost");
	draw_stages(page, rows);
	draw_frames(page, rows);
	begin_part(page, rows, "precision", "Precision");
	bench_report_precision(page, rows);
	begin_part(page, rows, "depth", "Packets in flight");
	draw_depth(page, rows);
	begin_part(page, rows, "clouds", "Clouds");
	draw_clouds(page, rows);
	begin_part(page, rows, "clock", "Clock");
	bench_report_clock(page, rows);
	bench_report_rfc2544(page, rows);
	page_heading(page, "All figures");
	write_tables(page, document);
	write_doctor(page, json_object_get(document, "doctor"));
}

int bench_report_write(const char *path, const json_t *document, struct problem *problem)
{
	struct atomic_file *atomic_file;
	struct page page;
	int rc = atomic_file_open(path, &atomic_file, problem);

	if (rc < 0)
		return rc;
	memset(&page, 0, sizeof(page));
	write_page(&page, atomic_file_stream(atomic_file), document);
	if (page_close(&page) < 0) {
		problem_set(problem, -1, "%s: the report could not be drawn: %s", path,
		            strerror(-page.error));
		atomic_file_discard(atomic_file);
		return -EIO;
	}
	rc = atomic_file_finish(atomic_file, problem);
	if (rc == 0)
		return atomic_file_publish(atomic_file, problem);
	atomic_file_discard(atomic_file);
	return rc;
}
