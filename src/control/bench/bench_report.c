/* SPDX-License-Identifier: BSD-3-Clause */
/* A document as one page with charts. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "capture/atomic_file.h"
#include "report/page.h"
#include "text/alloc_failure.h"
#include "text/table.h"

#define ROWS_MAX    512
#define BUCKETS_MAX 2048
#define BINS        80
#define CLOCK_BINS  40

/* Rows of a part, as far as there is room. */
struct rows {
	size_t n;
	const json_t *row[ROWS_MAX];
};

static struct rows rows_of(const json_t *all, const char *part)
{
	struct rows rows = {0};
	const json_t *row;
	size_t i = 0;

	while (rows.n < ROWS_MAX && (row = bench_next(all, part, &i)))
		rows.row[rows.n++] = row;
	return rows;
}

/* Keeps the rows in which the key has this text. */
static void rows_keep(struct rows *rows, const char *key, const char *text)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++)
		if (strcmp(bench_text(rows->row[i], key), text) == 0)
			rows->row[n++] = rows->row[i];
	rows->n = n;
}

/* A value of each row. */
struct values {
	double of[ROWS_MAX];
};

static struct values values(const struct rows *rows, const char *key, double times)
{
	struct values v = {0};

	for (size_t i = 0; i < rows->n; i++)
		v.of[i] = bench_number(rows->row[i], key) * times;
	return v;
}

/* Computes ns per packet from Mpps. */
static struct values values_ns(const struct rows *rows, const char *key)
{
	struct values v = {0};

	for (size_t i = 0; i < rows->n; i++)
		v.of[i] = 1e3 / bench_number(rows->row[i], key);
	return v;
}

/* A series of a value for each row; with x, a line. */
static struct series series_of(const char *name, const struct rows *rows, const struct values *x,
                               const struct values *y)
{
	return (struct series){.kind = x ? SERIES_LINE : SERIES_BARS,
	                       .name = name,
	                       .x = x ? x->of : NULL,
	                       .y = y->of,
	                       .n = rows->n};
}

/* ---- cost ---- */

/* Draws the cost of each scenario, with frames of one size: the first size that occurs. */
static void draw_stages(struct page *page, struct rows rows)
{
	const char *names[ROWS_MAX], *frames = rows.n ? bench_text(rows.row[0], "frames") : "";
	char caption[300];

	rows_keep(&rows, "frames", frames);
	for (size_t i = 0; i < rows.n; i++)
		names[i] = bench_text(rows.row[i], "scenario");
	struct values ns = values(&rows, "ns_per_packet", 1);
	struct values low = values_ns(&rows, "mpps_max"), high = values_ns(&rows, "mpps_min");
	struct values ceiling = values_ns(&rows, "ceiling_mpps");
	struct series series[] = {series_of("weir", &rows, NULL, &ns),
	                          series_of("ports alone", &rows, NULL, &ceiling)};
	const struct chart chart = {
	        .x = {.categories = names, .n_categories = rows.n},
	        .y = {.label = "Cost of a packet", .unit = HUMAN_NS},
	        .series = series,
	        .n_series = 2,
	        .width_px = 1000,
	};

	series[0].low = low.of;
	series[0].high = high.of;
	series[0].values = series[1].hollow = true;
	snprintf(caption, sizeof(caption),
	         "The cost of a packet of %s bytes by scenario: medians, with the range of the "
	         "runs, beside the cost of the ports with nothing in between.",
	         frames);
	if (rows.n > 0)
		page_figure(page, &chart, caption);
}

static void draw_frames(struct page *page, struct rows bare)
{
	struct rows delayed = bare;
	const char *names[ROWS_MAX];

	rows_keep(&bare, "scenario", "bare");
	rows_keep(&delayed, "scenario", "delay-10ms");
	for (size_t i = 0; i < bare.n; i++)
		names[i] = bench_text(bare.row[i], "frames");
	struct values ceiling = values(&bare, "ceiling_mpps", 1e6);
	struct values forwarded = values(&bare, "mpps", 1e6);
	struct values delay = values(&delayed, "mpps", 1e6);
	struct series series[] = {series_of("ports alone", &bare, NULL, &ceiling),
	                          series_of("bare forwarding", &bare, NULL, &forwarded),
	                          series_of("delay 10 ms", &bare, NULL, &delay)};
	const struct chart chart = {
	        .x = {.label = "Frame size (bytes)", .categories = names, .n_categories = bare.n},
	        .y = {.label = "Throughput", .unit = HUMAN_PPS},
	        .series = series,
	        .n_series = 3,
	        .width_px = 1000,
	};

	series[0].hollow = true;
	if (bare.n > 1 && bare.n == delayed.n)
		page_figure(page, &chart,
		            "Throughput by frame size, both directions together, one core per "
		            "worker.");
}

static void draw_cost(struct page *page, const json_t *all)
{
	struct rows rows = rows_of(all, "cost");

	rows_keep(&rows, "ports", "net_null");
	draw_stages(page, rows);
	draw_frames(page, rows);
}

/* ---- depth and clouds ---- */

static void draw_curve(struct page *page, const struct rows *rows, const char *key,
                       const char *x_label, const char *by)
{
	struct values x = values(rows, key, 1), ns = values(rows, "ns_per_packet", 1);
	struct values low = values_ns(rows, "mpps_max"), high = values_ns(rows, "mpps_min");
	struct series series = series_of("cost of a packet", rows, &x, &ns);
	const struct chart chart = {
	        .x = {.label = x_label, .unit = HUMAN_COUNT, .scale = AXIS_LOG10},
	        .y = {.label = "Cost", .unit = HUMAN_NS, .from_zero = true},
	        .series = &series,
	        .n_series = 1,
	};
	char caption[200];

	series.low = low.of;
	series.high = high.of;
	series.marker = SERIES_MARKER_CIRCLE;
	snprintf(caption, sizeof(caption),
	         "The cost of a packet of 64 bytes by the number of %s: medians, with the range of "
	         "the runs.",
	         by);
	if (rows->n > 1)
		page_figure(page, &chart, caption);
}

static void draw_depth(struct page *page, const json_t *all)
{
	struct rows rows = rows_of(all, "depth");

	draw_curve(page, &rows, "in_flight_packets", "Packets in flight", "packets in flight");
}

static void draw_clouds(struct page *page, const json_t *all)
{
	struct rows rows = rows_of(all, "clouds");

	draw_curve(page, &rows, "clouds", "Clouds", "clouds");
}

/* ---- precision and clock ---- */

/* A histogram of a row is [[from_ns, count], ...]. On a log scale, 0 counts as 1. */
static double from_of(const json_t *bucket, bool log_scale)
{
	double from = json_number_value(json_array_get(bucket, 0));

	return log_scale ? fmax(1, from) : from;
}

static double packets_of(const json_t *bucket)
{
	return json_number_value(json_array_get(bucket, 1));
}

/* Computes the shares by value, in n bins: of equal width on a log scale, or of a whole number of
 * ns. Returns what all buckets count. */
static double rebin(const json_t *buckets, bool log_scale, size_t n, double *edges, double *shares)
{
	double low = INFINITY, high = log_scale ? 1 : 0, sum = 0, width;
	const json_t *bucket;
	size_t i;

	json_array_foreach(buckets, i, bucket)
	{
		low = fmin(low, from_of(bucket, log_scale));
		high = fmax(high, from_of(bucket, log_scale));
		sum += packets_of(bucket);
	}
	if (sum <= 0)
		return 0;
	width = ceil((high + 1) / (double)n);
	high = fmax(high, low * 2) * 1.05;
	if (log_scale)
		bins_divide(edges, n, AXIS_LOG10, low, high);
	else
		bins_divide(edges, n, AXIS_LINEAR, 0, width * (double)n);
	memset(shares, 0, n * sizeof(shares[0]));
	json_array_foreach(buckets, i, bucket)
	{
		double from = from_of(bucket, log_scale);
		size_t bin = log_scale ? (size_t)(log(from / low) / log(high / low) * (double)n)
		                       : (size_t)(from / width);

		shares[bin < n ? bin : n - 1] += packets_of(bucket) / sum;
	}
	return sum;
}

static void draw_histogram(struct page *page, const struct series *series, const char *x_label,
                           enum axis_scale scale, const char *y_label, const char *caption)
{
	const struct chart chart = {
	        .x = {.label = x_label, .unit = HUMAN_NS, .scale = scale},
	        .y = {.label = y_label, .unit = HUMAN_PERCENT, .from_zero = scale == AXIS_LINEAR},
	        .series = series,
	        .n_series = 1,
	        .height_px = 240,
	};

	page_figure(page, &chart, caption);
}

/* Draws the share of packets that left later than the floor of each bucket, from which percentiles
 * are read. */
static void draw_lateness(struct page *page, const json_t *row)
{
	static const struct {
		const char *name, *key;
		bool dashed;
	} lines[] = {{"weir", "lateness_histogram", false},
	             {"weir, calm turns", "calm_histogram", false},
	             {"machine", "noise_histogram", true}};
	struct steps {
		double edge[BUCKETS_MAX], share[BUCKETS_MAX];
	} *steps = calloc(3, sizeof(*steps));
	struct series series[3];
	const struct chart chart = {
	        .x = {.label = "Later than", .unit = HUMAN_NS, .scale = AXIS_LOG10},
	        .y = {.label = "Share of packets", .unit = HUMAN_PERCENT, .scale = AXIS_LOG10},
	        .series = series,
	        .n_series = 3,
	};
	char caption[400];

	for (size_t k = 0; steps && k < 3; k++) {
		const json_t *buckets = json_object_get(row, lines[k].key), *bucket;
		double sum = 0, left;
		size_t i, n = 0;

		json_array_foreach(buckets, i, bucket) sum += packets_of(bucket);
		left = sum;
		json_array_foreach(buckets, i, bucket)
		{
			if (n == BUCKETS_MAX)
				break;
			steps[k].edge[n] = from_of(bucket, true);
			steps[k].share[n++] = left / sum;
			left -= packets_of(bucket);
		}
		series[k] = (struct series){.kind = SERIES_STEP,
		                            .name = lines[k].name,
		                            .x = steps[k].edge,
		                            .y = steps[k].share,
		                            .n = n,
		                            .dashed = lines[k].dashed};
	}
	snprintf(caption, sizeof(caption),
	         "%s: the share of packets that left later than this after their due time. "
	         "`machine` is a loop on the same core that only reads the TSC; calm turns are "
	         "those in which no other process took the core.",
	         bench_text(row, "load"));
	if (steps)
		page_figure(page, &chart, caption);
	free(steps);
}

static void draw_precision(struct page *page, const json_t *all)
{
	struct rows rows = rows_of(all, "precision");
	double edges[BINS + 1], shares[BINS];
	char caption[200];

	for (size_t i = 0; i < rows.n; i++) {
		const struct series series = {
		        .kind = SERIES_HISTOGRAM, .x = edges, .y = shares, .n = BINS};
		double packets = rebin(json_object_get(rows.row[i], "lateness_histogram"), true,
		                       BINS, edges, shares);

		snprintf(caption, sizeof(caption), "%s: how late %.0f packets left.",
		         bench_text(rows.row[i], "load"), packets);
		if (packets > 0)
			draw_histogram(page, &series, "Late by", AXIS_LOG10, "Share of packets",
			               caption);
		draw_lateness(page, rows.row[i]);
	}
}

/* Draws by how much intervals of 100 ms deviate from 100 ms. */
static void draw_clock(struct page *page, const json_t *all)
{
	struct rows rows = rows_of(all, "clock");
	double edges[CLOCK_BINS + 1], shares[CLOCK_BINS];
	char caption[200];

	for (size_t i = 0; i < rows.n; i++) {
		const struct series series = {
		        .kind = SERIES_HISTOGRAM, .x = edges, .y = shares, .n = CLOCK_BINS};
		double count = rebin(json_object_get(rows.row[i], "error_histogram"), false,
		                     CLOCK_BINS, edges, shares);

		snprintf(caption, sizeof(caption),
		         "Intervals of 100 ms of weir's clock against CLOCK_MONOTONIC_RAW: %.0f in "
		         "%.0f s.",
		         count, bench_number(rows.row[i], "seconds"));
		if (count > 0)
			draw_histogram(page, &series, "Error of an interval of 100 ms", AXIS_LINEAR,
			               "Share of intervals", caption);
	}
}

/*
 * ---- rfc2544: the report that RFC 2544 requires ----
 *
 * The throughput is a graph beside the theoretical maximum of the medium (26.1), latency and
 * back-to-back frames are tables (26.2, 26.4), the frame loss rate is a graph over the share of the
 * maximum rate (26.3).
 */

#define FRAMES_MAX 16
#define POINTS_MAX 16

static void draw_throughput(struct page *page, const struct rows *rows)
{
	struct values bytes = values(rows, "frame_bytes", 1);
	struct values line = values(rows, "line_mpps", 1e6);
	struct values ndr = values(rows, "throughput_mpps", 1e6);
	struct values pdr = values(rows, "pdr_mpps", 1e6);
	struct series series[] = {series_of("the medium's maximum", rows, &bytes, &line),
	                          series_of("no loss", rows, &bytes, &ndr),
	                          series_of("loss up to 0.5 %", rows, &bytes, &pdr)};
	const struct chart chart = {
	        .x = {.label = "Frame size", .unit = HUMAN_BYTES},
	        .y = {.label = "Frame rate", .unit = HUMAN_PPS, .from_zero = true},
	        .series = series,
	        .n_series = 3,
	};

	series[0].dashed = true;
	page_figure(page, &chart, "RFC 2544, 26.1: throughput.");
}

static void draw_loss(struct page *page, const struct rows *rows)
{
	double share[FRAMES_MAX][POINTS_MAX], loss[FRAMES_MAX][POINTS_MAX];
	struct series series[FRAMES_MAX] = {0};
	char names[FRAMES_MAX][48];
	const struct chart chart = {
	        .x = {.label = "Share of the greatest rate", .unit = HUMAN_PERCENT},
	        .y = {.label = "Frames lost", .unit = HUMAN_PERCENT, .from_zero = true},
	        .series = series,
	        .n_series = rows->n,
	};

	for (size_t i = 0; i < rows->n; i++) {
		const json_t *points = json_object_get(rows->row[i], "loss");
		size_t n = json_array_size(points);

		n = n > POINTS_MAX ? POINTS_MAX : n;
		/* Points are in the order of decreasing rate; the line needs increasing rates. */
		for (size_t k = 0; k < n; k++) {
			const json_t *point = json_array_get(points, n - 1 - k);

			share[i][k] = bench_number(point, "share");
			loss[i][k] = bench_number(point, "loss");
		}
		snprintf(names[i], sizeof(names[i]), "%.0f B",
		         bench_number(rows->row[i], "frame_bytes"));
		series[i] = (struct series){.kind = SERIES_LINE,
		                            .name = names[i],
		                            .x = share[i],
		                            .y = loss[i],
		                            .n = n,
		                            .marker = SERIES_MARKER_CIRCLE};
	}
	page_figure(page, &chart, "RFC 2544, 26.3: frame loss rate.");
}

static void write_latency(struct page *page, const struct rows *rows)
{
	struct table *table = table_headed("rrrrrrl", "frame (B)", "rate (Mpps)", "mean (us)",
	                                   "median", "p99", "max", "back-to-back frames", NULL);

	for (size_t i = 0; i < rows->n; i++) {
		const json_t *row = rows->row[i];

		table_format(table, "%.0f", bench_number(row, "frame_bytes"));
		table_format(table, "%.3f", bench_number(row, "throughput_mpps"));
		table_format(table, "%.1f", bench_number(row, "latency_mean_ns") / 1e3);
		table_format(table, "%.1f", bench_number(row, "latency_ns.p50") / 1e3);
		table_format(table, "%.1f", bench_number(row, "latency_ns.p99") / 1e3);
		table_format(table, "%.1f", bench_number(row, "latency_ns.max") / 1e3);
		table_format(table, "%s%.0f", bench_burst_is_least(row) ? "at least " : "",
		             bench_number(row, "back_to_back_frames"));
	}
	table_page(table, page,
	           "RFC 2544, 26.2 and 26.4: latency at the throughput's rate, and the "
	           "longest burst without loss.",
	           NULL);
	table_free(table);
}

static void draw_rfc2544(struct page *page, const json_t *all)
{
	struct rows rows = rows_of(all, "rfc2544");
	const json_t *row = rows.row[0];
	char text[600];

	rows.n = rows.n < FRAMES_MAX ? rows.n : FRAMES_MAX;
	snprintf(text, sizeof(text),
	         "Under test: %s. Trials of %.3g s (RFC: at least 60), latency %.0f times %.3g "
	         "s (RFC: 20 times 120), back-to-back %.0f times (RFC: 50); every frame carries a "
	         "time stamp, whereas the RFC tags one. Frame sizes include the FCS.",
	         bench_text(row, "under_test"), bench_number(row, "trial_seconds"),
	         bench_number(row, "latency_repeats"), bench_number(row, "latency_seconds"),
	         bench_number(row, "back_to_back_repeats"));
	page_text(page, text);
	if (rows.n > 1)
		draw_throughput(page, &rows);
	draw_loss(page, &rows);
	write_latency(page, &rows);
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
	static const char *const keys[] = {"state", "subject", "what", "cost", "remedy"};
	struct table *table = table_headed("lllll", "", "subject", "what", "costs", "remedy", NULL);
	json_t *finding;
	size_t i;

	json_array_foreach(findings, i, finding)
	{
		for (size_t k = 0; k < 5; k++)
			table_text(table, bench_text(finding, keys[k]));
	}
	table_page(table, page, "What in this machine costs packets a second, or nanoseconds.",
	           NULL);
	table_free(table);
}

static const struct {
	const char *part, *heading;
	void (*draw)(struct page *page, const json_t *rows);
} parts[] = {
        {"cost", "Cost", draw_cost},
        {"precision", "Precision", draw_precision},
        {"depth", "Packets in flight", draw_depth},
        {"clouds", "Clouds", draw_clouds},
        {"clock", "Clock", draw_clock},
        {"rfc2544", "RFC 2544", draw_rfc2544},
};

int bench_report_write(const char *path, const json_t *document, struct problem *problem)
{
	const json_t *rows = json_object_get(document, "rows");
	const json_t *machine = json_object_get(document, "machine");
	struct atomic_file *file;
	struct page page = {0};
	char subtitle[400];
	int rc = atomic_file_open(path, &file, problem);

	if (rc < 0)
		return rc;
	snprintf(subtitle, sizeof(subtitle), "weir %s on %s, %s", bench_text(machine, "weir"),
	         bench_text(machine, "cpu"), bench_text(machine, "dpdk"));
	page_open(&page, atomic_file_stream(file), "What weir costs on this machine", subtitle);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!bench_next(rows, parts[i].part, &(size_t){0}))
			continue;
		page_heading(&page, parts[i].heading);
		parts[i].draw(&page, rows);
	}
	page_heading(&page, "All figures");
	write_tables(&page, document);
	write_doctor(&page, json_object_get(document, "doctor"));
	if (page_close(&page) < 0) {
		problem_set(problem, -1, "%s: the report could not be drawn: %s", path,
		            strerror(-page.error));
		atomic_file_discard(file);
		return -EIO;
	}
	return atomic_file_publish(file, problem);
}
