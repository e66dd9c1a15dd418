/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_report.h"
#include "bench/bench_rows.h"
#include "report/chart.h"

#define BUCKETS_MAX 2048
#define BINS        80

struct steps {
	size_t n;
	double edge[BUCKETS_MAX + 1], share[BUCKETS_MAX];
};

/* Computes the share of packets that left later than the floor of each bucket, from which
 * percentiles are read. */
static void later_than(const json_t *buckets, struct steps *steps)
{
	double sum = 0, left;
	size_t i;
	json_t *bucket;

	steps->n = 0;
	json_array_foreach(buckets, i, bucket) sum += json_number_value(json_array_get(bucket, 1));
	left = sum;
	json_array_foreach(buckets, i, bucket)
	{
		if (steps->n == BUCKETS_MAX)
			break;
		steps->edge[steps->n] = fmax(1, json_number_value(json_array_get(bucket, 0)));
		steps->share[steps->n++] = left / sum;
		left -= json_number_value(json_array_get(bucket, 1));
	}
}

static void draw_lateness(struct page *page, const json_t *row)
{
	struct steps *steps = calloc(3, sizeof(*steps));
	char caption[400];

	if (!steps)
		return;
	later_than(json_object_get(row, "lateness_histogram"), &steps[0]);
	later_than(json_object_get(row, "calm_histogram"), &steps[1]);
	later_than(json_object_get(row, "noise_histogram"), &steps[2]);
	const struct series series[] = {
	        {.kind = SERIES_STEP,
	         .name = "weir",
	         .x = steps[0].edge,
	         .y = steps[0].share,
	         .n = steps[0].n},
	        {.kind = SERIES_STEP,
	         .name = "weir, calm turns",
	         .x = steps[1].edge,
	         .y = steps[1].share,
	         .n = steps[1].n},
	        {.kind = SERIES_STEP,
	         .name = "machine",
	         .x = steps[2].edge,
	         .y = steps[2].share,
	         .n = steps[2].n,
	         .dashed = true},
	};
	const struct chart chart = {
	        .x = {.label = "Later than", .unit = CHART_NS, .scale = AXIS_LOG10},
	        .y = {.label = "Share of packets", .unit = CHART_PERCENT, .scale = AXIS_LOG10},
	        .series = series,
	        .n_series = 3,
	};

	snprintf(caption, sizeof(caption),
	         "%s: the share of packets that left later than this after their due time. "
	         "`machine` is a loop on the same core that only reads the TSC; calm turns are "
	         "those in which no other process took the core.",
	         bench_text(row, "load"));
	page_figure(page, &chart, caption);
	free(steps);
}

/* Computes the shares of packets by lateness, in bins of equal width on a log scale. Returns the
 * number of packets. */
static double rebin(const json_t *buckets, double edges[BINS + 1], double shares[BINS])
{
	double low = INFINITY, high = 1, sum = 0;
	size_t i;
	json_t *bucket;

	json_array_foreach(buckets, i, bucket)
	{
		double at = fmax(1, json_number_value(json_array_get(bucket, 0)));

		low = fmin(low, at);
		high = fmax(high, at);
		sum += json_number_value(json_array_get(bucket, 1));
	}
	if (sum <= 0)
		return 0;
	high = fmax(high, low * 2) * 1.05;
	bins_divide(edges, BINS, AXIS_LOG10, low, high);
	memset(shares, 0, BINS * sizeof(shares[0]));
	json_array_foreach(buckets, i, bucket)
	{
		double at = fmax(1, json_number_value(json_array_get(bucket, 0)));
		size_t bin = (size_t)(log(at / low) / log(high / low) * BINS);

		shares[bin < BINS ? bin : BINS - 1] +=
		        json_number_value(json_array_get(bucket, 1)) / sum;
	}
	return sum;
}

static void draw_histogram(struct page *page, const json_t *row)
{
	double edges[BINS + 1], shares[BINS];
	double packets = rebin(json_object_get(row, "lateness_histogram"), edges, shares);
	const struct series series = {.kind = SERIES_HISTOGRAM, .x = edges, .y = shares, .n = BINS};
	const struct chart chart = {
	        .x = {.label = "Late by", .unit = CHART_NS, .scale = AXIS_LOG10},
	        .y = {.label = "Share of packets", .unit = CHART_PERCENT},
	        .series = &series,
	        .n_series = 1,
	        .height_px = 240,
	};
	char caption[200];

	snprintf(caption, sizeof(caption), "%s: how late %.0f packets left.",
	         bench_text(row, "load"), packets);
	if (packets > 0)
		page_figure(page, &chart, caption);
}

void bench_report_precision(struct page *page, const json_t *rows)
{
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row)
	{
		if (!bench_is(row, "precision"))
			continue;
		draw_histogram(page, row);
		draw_lateness(page, row);
	}
}

#define CLOCK_BINS 40

/* Computes the shares of the intervals by error; a bin is a whole number of ns. */
static double fill(const json_t *buckets, double edges[CLOCK_BINS + 1], double shares[CLOCK_BINS])
{
	double high = 0, count = 0, width;
	size_t i;
	json_t *bucket;

	json_array_foreach(buckets, i, bucket)
	{
		high = fmax(high, json_number_value(json_array_get(bucket, 0)));
		count += json_number_value(json_array_get(bucket, 1));
	}
	width = ceil((high + 1) / CLOCK_BINS);
	bins_divide(edges, CLOCK_BINS, AXIS_LINEAR, 0, width * CLOCK_BINS);
	json_array_foreach(buckets, i, bucket)
	{
		size_t bin = (size_t)(json_number_value(json_array_get(bucket, 0)) / width);

		shares[bin < CLOCK_BINS ? bin : CLOCK_BINS - 1] +=
		        json_number_value(json_array_get(bucket, 1)) / count;
	}
	return count;
}

static void draw(struct page *page, const json_t *row)
{
	double edges[CLOCK_BINS + 1], shares[CLOCK_BINS] = {0};
	double count = fill(json_object_get(row, "error_histogram"), edges, shares);
	const struct series series = {
	        .kind = SERIES_HISTOGRAM, .x = edges, .y = shares, .n = CLOCK_BINS};
	const struct chart chart = {
	        .x = {.label = "Error of an interval of 100 ms", .unit = CHART_NS},
	        .y = {.label = "Share of intervals", .unit = CHART_PERCENT, .from_zero = true},
	        .series = &series,
	        .n_series = 1,
	        .height_px = 240,
	};
	char caption[200];

	snprintf(caption, sizeof(caption),
	         "Intervals of 100 ms of weir's clock against CLOCK_MONOTONIC_RAW: %.0f in %.0f s.",
	         count, bench_number(row, "seconds"));
	if (count > 0)
		page_figure(page, &chart, caption);
}

void bench_report_clock(struct page *page, const json_t *rows)
{
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row)
	{
		if (bench_is(row, "clock"))
			draw(page, row);
	}
}

#define FRAMES_MAX 16
#define POINTS_MAX 16
#define CELL_BYTES 48
#define COLUMNS    7

struct results {
	size_t n;
	const json_t *row[FRAMES_MAX];
};

static void draw_throughput(struct page *page, const struct results *results)
{
	double bytes[FRAMES_MAX], line[FRAMES_MAX], ndr[FRAMES_MAX], pdr[FRAMES_MAX];

	for (size_t i = 0; i < results->n; i++) {
		bytes[i] = bench_number(results->row[i], "frame_bytes");
		line[i] = bench_number(results->row[i], "line_mpps") * 1e6;
		ndr[i] = bench_number(results->row[i], "throughput_mpps") * 1e6;
		pdr[i] = bench_number(results->row[i], "pdr_mpps") * 1e6;
	}
	const struct series series[] = {
	        {.kind = SERIES_LINE,
	         .name = "the medium's maximum",
	         .x = bytes,
	         .y = line,
	         .n = results->n,
	         .dashed = true},
	        {.kind = SERIES_LINE, .name = "no loss", .x = bytes, .y = ndr, .n = results->n},
	        {.kind = SERIES_LINE,
	         .name = "loss up to 0.5 %",
	         .x = bytes,
	         .y = pdr,
	         .n = results->n},
	};
	const struct chart chart = {
	        .x = {.label = "Frame size", .unit = CHART_BYTES},
	        .y = {.label = "Frame rate", .unit = CHART_PPS, .from_zero = true},
	        .series = series,
	        .n_series = 3,
	};

	page_figure(page, &chart, "RFC 2544, 26.1: throughput.");
}

static void draw_loss(struct page *page, const struct results *results)
{
	static double share[FRAMES_MAX][POINTS_MAX], loss[FRAMES_MAX][POINTS_MAX];
	struct series series[FRAMES_MAX] = {0};
	char names[FRAMES_MAX][CELL_BYTES];
	const struct chart chart = {
	        .x = {.label = "Share of the greatest rate", .unit = CHART_PERCENT},
	        .y = {.label = "Frames lost", .unit = CHART_PERCENT, .from_zero = true},
	        .series = series,
	        .n_series = results->n,
	};

	for (size_t i = 0; i < results->n; i++) {
		const json_t *points = json_object_get(results->row[i], "loss");
		size_t n = json_array_size(points);

		n = n > POINTS_MAX ? POINTS_MAX : n;
		/* Points are in the order of decreasing rate; the line needs increasing rates. */
		for (size_t k = 0; k < n; k++) {
			const json_t *point = json_array_get(points, n - 1 - k);

			share[i][k] = bench_number(point, "share");
			loss[i][k] = bench_number(point, "loss");
		}
		snprintf(names[i], sizeof(names[i]), "%.0f B",
		         bench_number(results->row[i], "frame_bytes"));
		series[i] = (struct series){.kind = SERIES_LINE,
		                            .name = names[i],
		                            .x = share[i],
		                            .y = loss[i],
		                            .n = n,
		                            .marker = SERIES_MARKER_CIRCLE};
	}
	page_figure(page, &chart, "RFC 2544, 26.3: frame loss rate.");
}

static void write_table(struct page *page, const struct results *results)
{
	static const char *const head[COLUMNS] = {
	        "frame (B)", "rate (Mpps)", "mean (us)",          "median",
	        "p99",       "max",         "back-to-back frames"};
	static char text[FRAMES_MAX * COLUMNS][CELL_BYTES];
	const char *cells[FRAMES_MAX * COLUMNS];
	struct page_rows table = {
	        .caption = "RFC 2544, 26.2 and 26.4: latency at the throughput's rate, and the "
	                   "longest burst without loss.",
	        .head = head,
	        .cells = cells,
	        .n_columns = COLUMNS,
	        .n_rows = results->n,
	};

	for (size_t i = 0; i < results->n; i++) {
		const json_t *row = results->row[i], *latency = json_object_get(row, "latency_ns");
		char(*at)[CELL_BYTES] = &text[i * COLUMNS];
		double burst = bench_number(row, "back_to_back_frames");

		snprintf(at[0], CELL_BYTES, "%.0f", bench_number(row, "frame_bytes"));
		snprintf(at[1], CELL_BYTES, "%.3f", bench_number(row, "throughput_mpps"));
		snprintf(at[2], CELL_BYTES, "%.1f", bench_number(row, "latency_mean_ns") / 1e3);
		snprintf(at[3], CELL_BYTES, "%.1f", bench_number(latency, "p50") / 1e3);
		snprintf(at[4], CELL_BYTES, "%.1f", bench_number(latency, "p99") / 1e3);
		snprintf(at[5], CELL_BYTES, "%.1f", bench_number(latency, "max") / 1e3);
		snprintf(at[6], CELL_BYTES, "%s%.0f",
		         burst >= bench_number(row, "back_to_back_most") ? "at least " : "", burst);
		for (size_t k = 0; k < COLUMNS; k++)
			cells[i * COLUMNS + k] = at[k];
	}
	page_table(page, &table);
}

static void write_times(struct page *page, const json_t *row)
{
	char text[600];

	snprintf(text, sizeof(text),
	         "Under test: %s. Trials of %.3g s (RFC: at least 60), latency %.0f times %.3g "
	         "s (RFC: 20 times 120), back-to-back %.0f times (RFC: 50); every frame carries a "
	         "time stamp, whereas the RFC tags one. Frame sizes include the FCS.",
	         bench_text(row, "under_test"), bench_number(row, "trial_seconds"),
	         bench_number(row, "latency_repeats"), bench_number(row, "latency_seconds"),
	         bench_number(row, "back_to_back_repeats"));
	page_text(page, text);
}

void bench_report_rfc2544(struct page *page, const json_t *rows)
{
	struct results results = {0};
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row)
	{
		if (bench_is(row, "rfc2544") && results.n < FRAMES_MAX)
			results.row[results.n++] = row;
	}
	if (results.n == 0)
		return;
	page_heading(page, "RFC 2544");
	write_times(page, results.row[0]);
	if (results.n > 1)
		draw_throughput(page, &results);
	draw_loss(page, &results);
	write_table(page, &results);
}
