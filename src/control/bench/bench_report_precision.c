/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench_report_precision.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
