/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench_report_clock.h"

#include <math.h>
#include <stdio.h>

#include "bench/bench_rows.h"
#include "report/chart.h"

#define BINS 40

/* Computes the shares of the intervals by error; a bin is a whole number of ns. */
static double fill(const json_t *buckets, double edges[BINS + 1], double shares[BINS])
{
	double high = 0, count = 0, width;
	size_t i;
	json_t *bucket;

	json_array_foreach(buckets, i, bucket)
	{
		high = fmax(high, json_number_value(json_array_get(bucket, 0)));
		count += json_number_value(json_array_get(bucket, 1));
	}
	width = ceil((high + 1) / BINS);
	bins_divide(edges, BINS, AXIS_LINEAR, 0, width * BINS);
	json_array_foreach(buckets, i, bucket)
	{
		size_t bin = (size_t)(json_number_value(json_array_get(bucket, 0)) / width);

		shares[bin < BINS ? bin : BINS - 1] +=
		        json_number_value(json_array_get(bucket, 1)) / count;
	}
	return count;
}

static void draw(struct page *page, const json_t *row)
{
	double edges[BINS + 1], shares[BINS] = {0};
	double count = fill(json_object_get(row, "error_histogram"), edges, shares);
	const struct series series = {.kind = SERIES_HISTOGRAM, .x = edges, .y = shares, .n = BINS};
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
