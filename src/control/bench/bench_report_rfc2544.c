/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench_report_rfc2544.h"

#include <stdio.h>

#include "bench/bench_rows.h"

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
