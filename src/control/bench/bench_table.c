/* SPDX-License-Identifier: BSD-3-Clause */
/* A document as tables: each is a list of columns, filled from rows, or from objects in a row. */
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "text/table.h"

#define DROPPED_MUCH 0.05 /* share from which a figure is about drops rather than forwarding */

enum { WHOLE = -1, WORDS = -2 };

struct column {
	const char *heading;
	const char *key; /* of the row (bench_number), */
	int decimals;    /* which are shown of its number; or WHOLE: 1,234,567; WORDS: a text */
	double unit;     /* by which the number is divided; 0: 1 */
	void (*cell)(struct table *table, const json_t *row); /* or this fills the cell */
};

/* Makes a table with its headings. */
static struct table *begin(const char *sides, const struct column *columns)
{
	struct table *table = table_make(sides);

	for (; columns->heading; columns++)
		table_text(table, columns->heading);
	return table;
}

static void fill(struct table *table, const struct column *columns, const json_t *row)
{
	for (; columns->heading; columns++) {
		double number = columns->cell ? 0 : bench_number(row, columns->key);

		if (columns->cell)
			columns->cell(table, row);
		else if (columns->decimals == WORDS)
			table_text(table, bench_text(row, columns->key));
		else if (columns->decimals == WHOLE)
			table_count(table, (uint64_t)number);
		else
			table_format(table, "%.*f", columns->decimals,
			             columns->unit ? number / columns->unit : number);
	}
}

/* Prints a table of the part, below a title. */
static void print_part(FILE *out, const json_t *rows, const char *part, const char *title,
                       const char *sides, const struct column *columns)
{
	struct table *table = begin(sides, columns);
	const json_t *row;
	size_t i = 0;

	while ((row = bench_next(rows, part, &i)))
		fill(table, columns, row);
	fprintf(out, "\n%s\n", title);
	table_end(table, out);
}

/* ---- cost, depth, clouds ---- */

/* By how much the runs deviate from their median, in percent. */
static void spread_cell(struct table *table, const json_t *row)
{
	double median = bench_number(row, "mpps");
	double most = fmax(median - bench_number(row, "mpps_min"),
	                   bench_number(row, "mpps_max") - median);

	table_format(table, "%.0f", median > 0 ? most / median * 100 : 0);
}

/* What readers must know before they rely on the figure. */
static void remark_cell(struct table *table, const json_t *row)
{
	double disturbed = bench_number(row, "disturbed_runs");
	double drops = bench_number(row, "dropped_mpps");
	double dropped = drops > 0 ? drops / (drops + bench_number(row, "mpps")) : 0;
	double lost = bench_number(row, "lost_packets");
	double missed = bench_number(row, "flight_missed");

	if (json_is_true(json_object_get(row, "mbufs_short")))
		table_text(table, "limited by packet buffers");
	else if (lost > 0)
		table_format(table, "limited by memory: %.0f lost", lost);
	else if (dropped > DROPPED_MUCH)
		table_format(table, "the scenario drops %.1f %%: %.1f ns per arriving packet",
		             dropped * 100, bench_number(row, "ns_per_arrival"));
	else if (missed == 1)
		table_text(table, "the flight keeps no packets");
	else if (missed > 0)
		table_format(table, "the flight keeps %.1f Mpps, and misses %.0f %%",
		             bench_number(row, "flight_mpps"), missed * 100);
	else if (disturbed > 0)
		table_format(table, "%.0f of %.0f runs disturbed, %.1f %% taken away", disturbed,
		             bench_number(row, "runs"), bench_number(row, "taken") * 100);
	else
		table_text(table, "");
}

#define COST                                                                                       \
	{"Mpps", "mpps", .decimals = 2}, {"+-%", .cell = spread_cell},                             \
	        {"ns/pkt", "ns_per_packet", .decimals = 2},                                        \
	        {"cycles", "cycles_per_packet", .decimals = 1},                                    \
	        {"ceiling", "ceiling_mpps", .decimals = 1},                                        \
	{                                                                                          \
		"ratio", "ratio", .decimals = 3                                                    \
	}

static const struct column cost[] = {
        {"scenario", "scenario", .decimals = WORDS},
        {"ports", "ports", .decimals = WORDS},
        {"bytes", "frames", .decimals = WORDS},
        COST,
        {"Gbit/s", "gbps", .decimals = 1},
        {"", .cell = remark_cell},
        {.heading = NULL},
};
static const struct column depth[] = {
        {"in flight", "in_flight_packets", .decimals = WHOLE},
        {"delay ms", "delay_ns", .decimals = 1, .unit = 1e6},
        COST,
        {"bytes", "bytes_per_packet", .decimals = 1},
        {"against first", "relative", .decimals = 3},
        {"", .cell = remark_cell},
        {.heading = NULL},
};
static const struct column clouds[] = {
        {"clouds", "clouds", .decimals = WHOLE},
        COST,
        {"against first", "relative", .decimals = 3},
        {"", .cell = remark_cell},
        {.heading = NULL},
};

/* ---- precision, clock ---- */

#define PERCENTILES                                                                                \
	{"p50", "p50", .decimals = WHOLE}, {"p90", "p90", .decimals = WHOLE},                      \
	        {"p99", "p99", .decimals = WHOLE}, {"p99.9", "p99.9", .decimals = WHOLE},          \
	        {"p99.99", "p99.99", .decimals = WHOLE},                                           \
	{                                                                                          \
		"max", "max", .decimals = WHOLE                                                    \
	}

static const struct column late[] = {
        PERCENTILES,
        {"early", "early", .decimals = 0},
        {.heading = NULL},
};
static const struct column off[] = {
        PERCENTILES,
        {"count", "count", .decimals = WHOLE},
        {.heading = NULL},
};

static void late_cells(struct table *table, const json_t *row, const char *name, const char *key,
                       const char *share)
{
	const json_t *object = json_object_get(row, key);

	table_text(table, name);
	/* If no turn was calm, there are no packets, and no figures. */
	if (bench_number(object, "count") > 0)
		fill(table, late, object);
	else
		table_texts(table, "-", "-", "-", "-", "-", "-", "-", NULL);
	if (share)
		table_format(table, "%.3f", bench_number(row, share) * 100);
	else
		table_text(table, "");
}

static void print_precision(FILE *out, const json_t *rows)
{
	struct table *table = table_headed("llrrrrrrrrl", "load", "ns late", "p50", "p90", "p99",
	                                   "p99.9", "p99.99", "max", "early", "taken %", "", NULL);
	const json_t *row;
	double seconds = 0;
	size_t i = 0;

	while ((row = bench_next(rows, "precision", &i))) {
		seconds = bench_number(row, "seconds");
		table_text(table, bench_text(row, "load"));
		late_cells(table, row, "weir", "lateness_ns", "taken");
		table_format(table, "%.0f missed, %.0f lost", bench_number(row, "missed_packets"),
		             bench_number(row, "lost_packets"));
		table_text(table, "");
		late_cells(table, row, "weir, calm", "calm_ns", NULL);
		table_format(table, "%.0f of %.0f turns", bench_number(row, "calm_turns"),
		             bench_number(row, "turns"));
		table_text(table, "");
		late_cells(table, row, "machine", "noise_ns", "noise_taken");
		table_texts(table, "", "", NULL);
		late_cells(table, row, "end to end", "through_ns", NULL);
		table_text(table, "");
	}
	fprintf(out,
	        "\nprecision: how long after their due times packets leave, beside a loop that "
	        "only reads the TSC; %.2g s each\n",
	        seconds);
	table_end(table, out);
}

static void print_clock(FILE *out, const json_t *rows)
{
	struct table *table = table_headed("lrrrrrrrl", "ns, either way", "p50", "p90", "p99",
	                                   "p99.9", "p99.99", "max", "count", "", NULL);
	const json_t *row;
	size_t i = 0;

	while ((row = bench_next(rows, "clock", &i))) {
		table_text(table, "100 ms");
		fill(table, off, json_object_get(row, "error_ns"));
		table_format(table, "%.0f of %.0f samples disturbed",
		             bench_number(row, "disturbed_samples"), bench_number(row, "samples"));
		table_text(table, "since the start");
		fill(table, off, json_object_get(row, "distance_ns"));
		table_text(table, "");
	}
	fputs("\nclock: weir's clock against CLOCK_MONOTONIC_RAW\n", out);
	table_end(table, out);
}

/* ---- rfc2544, latency ---- */

static void gbps_cell(struct table *table, const json_t *row)
{
	table_format(table, "%.2f",
	             bench_number(row, "throughput_mpps") * bench_number(row, "frame_bytes") * 8 /
	                     1e3);
}

static void burst_cell(struct table *table, const json_t *row)
{
	table_format(table, "%s%.0f", bench_burst_is_least(row) ? ">=" : "",
	             bench_number(row, "back_to_back_frames"));
}

static void disturbed_cell(struct table *table, const json_t *row)
{
	table_format(table, "%.0f of %.0f", bench_number(row, "disturbed_trials"),
	             bench_number(row, "trials"));
}

static const struct column rfc2544[] = {
        {"bytes", "frame_bytes", .decimals = 0},
        {"line", "line_mpps", .decimals = 3},
        {"offered", "offered_mpps", .decimals = 3},
        {"NDR Mpps", "throughput_mpps", .decimals = 3},
        {"Gbit/s", .cell = gbps_cell},
        {"PDR Mpps", "pdr_mpps", .decimals = 3},
        {"lat us", "latency_mean_ns", .decimals = 1, .unit = 1e3},
        {"p99 us", "latency_ns.p99", .decimals = 1, .unit = 1e3},
        {"max us", "latency_ns.max", .decimals = 1, .unit = 1e3},
        {"back-to-back", .cell = burst_cell},
        {"disturbed", .cell = disturbed_cell},
        {.heading = NULL},
};
/* What RFC 8219 and RFC 9004 derive from the same trials. */
static const struct column spreads[] = {
        {"bytes", "frame_bytes", .decimals = 0},
        {"NDR least", "throughput.min", .decimals = 3},
        {"greatest", "throughput.max", .decimals = 3},
        {"typical us", "typical_latency_ns.median", .decimals = 1, .unit = 1e3},
        {"worst case us", "worst_case_latency_ns.median", .decimals = 1, .unit = 1e3},
        {"PDV us", "delay_variation_ns.median", .decimals = 1, .unit = 1e3},
        {"burst least", "back_to_back.min", .decimals = 0},
        {"greatest", "back_to_back.max", .decimals = 0},
        {"deviation", "back_to_back.deviation", .decimals = 0},
        {"buffer us", "implied_buffer_ns", .decimals = 1, .unit = 1e3},
        {"corrected us", "corrected_buffer_ns", .decimals = 1, .unit = 1e3},
        {.heading = NULL},
};

static void print_rfc2544(FILE *out, const json_t *rows)
{
	char title[400];
	const json_t *row, *point;
	size_t i = 0, k;

	row = bench_next(rows, "rfc2544", &i);
	snprintf(title, sizeof(title),
	         "RFC 2544, under test: %s; trials of %.3g s (RFC: 60), latency %.0f x %.3g s "
	         "(RFC: 20 x 120), bursts %.0f times (RFC: 50)",
	         bench_text(row, "under_test"), bench_number(row, "trial_seconds"),
	         bench_number(row, "latency_repeats"), bench_number(row, "latency_seconds"),
	         bench_number(row, "back_to_back_repeats"));
	print_part(out, rows, "rfc2544", title, "rrrrrrrrrrr", rfc2544);
	print_part(out, rows, "rfc2544",
	           "RFC 8219: latency of 500 tagged frames, and packet delay variation; RFC 9004: "
	           "back-to-back",
	           "rrrrrrrrrrr", spreads);
	fputs("\nframe loss rate, by share of the highest offered rate\n", out);
	for (i = 0; (row = bench_next(rows, "rfc2544", &i));) {
		fprintf(out, "  %4.0f B:", bench_number(row, "frame_bytes"));
		json_array_foreach(json_object_get(row, "loss"), k, point)
		        fprintf(out, "  %.0f %%: %.3g %%", bench_number(point, "share") * 100,
		                bench_number(point, "loss") * 100);
		fputc('\n', out);
	}
}

static void wire_cell(struct table *table, const json_t *row)
{
	table_text(table,
	           bench_number(row, "line_bps") > 0 ? "" : "wire unknown: give --line-rate");
}

static const struct column latency[] = {
        {"from", "from", .decimals = WORDS},
        {"to", "to", .decimals = WORDS},
        {"bytes", "frame_bytes", .decimals = 0},
        {"loop p50", "loop_ns.p50", .decimals = WHOLE},
        {"p99", "loop_ns.p99", .decimals = WHOLE},
        {"max", "loop_ns.max", .decimals = WHOLE},
        {"wire", "wire_ns", .decimals = 0},
        {"cable", "cable_ns", .decimals = 0},
        {"rest", "latency_ns", .decimals = WHOLE},
        {"", .cell = wire_cell},
        {.heading = NULL},
};

/* ---- reconf, soak: windows of time ---- */

static void taken_cell(struct table *table, const json_t *window)
{
	table_format(table, "%.1f %%", bench_number(window, "taken") * 100);
}

#define WINDOW                                                                                     \
	{"offered", "offered_packets", .decimals = WHOLE},                                         \
	        {"lost", "lost_packets", .decimals = WHOLE},                                       \
	        {"missed", "missed_packets", .decimals = WHOLE},                                   \
	        {"by others", "missed_away_packets", .decimals = WHOLE},                           \
	        {"late us p50", "lateness_ns.p50", .decimals = 1, .unit = 1e3},                    \
	        {"p99", "lateness_ns.p99", .decimals = 1, .unit = 1e3},                            \
	        {"p99.9", "lateness_ns.p99.9", .decimals = 1, .unit = 1e3},                        \
	        {"p99.99", "lateness_ns.p99.99", .decimals = 1, .unit = 1e3},                      \
	        {"max", "lateness_ns.max", .decimals = 1, .unit = 1e3},                            \
	        {"longest poll", "longest_poll_ns", .decimals = 1, .unit = 1e3},                   \
	        {"own", "own_longest_poll_ns", .decimals = 1, .unit = 1e3},                        \
	        {"later", "late_packets", .decimals = WHOLE},                                      \
	{                                                                                          \
		"taken", .cell = taken_cell                                                        \
	}

static const struct column reconf[] = {
        {"", "", .decimals = WORDS},
        WINDOW,
        {.heading = NULL},
};
static const struct column soak[] = {
        {"until s", "until_s", .decimals = 0},
        WINDOW,
        {"changes", "changes", .decimals = WHOLE},
        {"attached", "attached", .decimals = WHOLE},
        {"RSS KiB", "rss_kib", .decimals = WHOLE},
        {"written KiB", "written_kib", .decimals = WHOLE},
        {"unaccounted", "unaccounted_packets", .decimals = WHOLE},
        {.heading = NULL},
};

static void print_reconf(FILE *out, const json_t *rows)
{
	const json_t *row = bench_next(rows, "reconf", &(size_t){0});
	struct table *table = begin("lrrrrrrrrrrrrr", reconf);

	table_text(table, "with changes");
	fill(table, reconf + 1, json_object_get(row, "with"));
	table_text(table, "without");
	fill(table, reconf + 1, json_object_get(row, "without"));
	fprintf(out,
	        "\nreconf: during %.0f changes at 1 Mpps, weir blocked packets for %.3f ms in "
	        "total; others had its processor for %.3f ms, which blocked them for another "
	        "%.3f ms\n",
	        bench_number(row, "changes"), bench_number(row, "blocked_ns") / 1e6,
	        bench_number(row, "taken_ns") / 1e6, bench_number(row, "blocked_away_ns") / 1e6);
	table_end(table, out);
}

static void print_soak(FILE *out, const json_t *rows)
{
	const json_t *row = bench_next(rows, "soak", &(size_t){0}), *part;
	struct table *table = begin("rrrrrrrrrrrrrrrrrrr", soak);
	size_t i;

	json_array_foreach(json_object_get(row, "parts"), i, part) fill(table, soak, part);
	fprintf(out,
	        "\nsoak: at a loss of %.2g, the critical load is %.2f Mpps (%.2f to %.2f, %.0f "
	        "searches); the load since then is %.2f Mpps\n",
	        bench_number(row, "loss_bound"), bench_number(row, "critical_mpps"),
	        bench_number(row, "critical_mpps_min"), bench_number(row, "critical_mpps_max"),
	        bench_number(row, "searches"), bench_number(row, "load_mpps"));
	table_end(table, out);
}

/* ---- the whole ---- */

static bool has_part(const json_t *rows, const char *part)
{
	return bench_next(rows, part, &(size_t){0}) != NULL;
}

/* Prints the machine, and of the conditions those that hold for the parts that were measured. */
static void print_machine(FILE *out, const json_t *machine, const json_t *rows)
{
	bool medians =
	        has_part(rows, "cost") || has_part(rows, "depth") || has_part(rows, "clouds");
	bool live = false; /* with devices, which the clock needs not */
	bool weir = false; /* with weir between them, too */
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		live |= !bench_is(row, "clock");
		weir |= !bench_is(row, "clock") && !bench_is(row, "latency");
	}
	fprintf(out, "%s, %.0f processors, TSC %.1f MHz%s%s%s\n", bench_text(machine, "cpu"),
	        bench_number(machine, "processors"), bench_number(machine, "tsc_hz") / 1e6,
	        *bench_text(machine, "hypervisor") ? ", a guest of " : "",
	        bench_text(machine, "hypervisor"),
	        !live                                                 ? ""
	        : json_is_true(json_object_get(machine, "hugepages")) ? ", hugepages"
	                                                              : ", no hugepages");
	fprintf(out, "weir %s, %s, Linux %s", bench_text(machine, "weir"),
	        bench_text(machine, "dpdk"), bench_text(machine, "kernel"));
	if (medians)
		fprintf(out, "; medians of %.0f run%s of %.2g s", bench_number(machine, "runs"),
		        bench_number(machine, "runs") == 1 ? "" : "s",
		        bench_number(machine, "seconds"));
	if (weir)
		fprintf(out, "%s%s", medians ? ", " : "; ", bench_text(machine, "layout"));
	if (live)
		fprintf(out, "%sprocessor %.0f%s", weir ? ", " : "; ",
		        bench_number(machine, "core"),
		        bench_number(machine, "priority") > 0 ? ", real-time priority" : "");
	if (bench_number(machine, "flight_ns") > 0)
		fprintf(out, ", flight of %.3g s", bench_number(machine, "flight_ns") / 1e9);
	if (bench_number(machine, "flight_snap_bytes") > 0)
		fprintf(out, " with %.0f bytes of each frame",
		        bench_number(machine, "flight_snap_bytes"));
	fputc('\n', out);
}

static const struct {
	const char *part, *title, *sides;
	const struct column *columns;
	void (*print)(FILE *out, const json_t *rows); /* or this prints the part */
} parts[] = {
        {"cost", "cost: packets a second on the workers' cores, against the ports alone (ceiling)",
         "llrrrrrrrrl", cost, NULL},
        {"precision", NULL, NULL, NULL, print_precision},
        {"depth", "depth: cost and memory by packets in flight, 64 bytes", "rrrrrrrrrrl", depth,
         NULL},
        {"clouds", "clouds: cost by the number of clouds, 64 bytes, 10 ms", "rrrrrrrrl", clouds,
         NULL},
        {"clock", NULL, NULL, NULL, print_clock},
        {"rfc2544", NULL, NULL, NULL, print_rfc2544},
        {"latency",
         "latency: ns over a loop, minus wire and cable: tx-latency of one device and rx-latency "
         "of the other",
         "llrrrrrrrl", latency, NULL},
        {"reconf", NULL, NULL, NULL, print_reconf},
        {"soak", NULL, NULL, NULL, print_soak},
};

void bench_table_print(FILE *out, const json_t *document)
{
	const json_t *rows = json_object_get(document, "rows");
	json_t *remark;
	size_t k;

	print_machine(out, json_object_get(document, "machine"), rows);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!has_part(rows, parts[i].part))
			continue;
		if (parts[i].print)
			parts[i].print(out, rows);
		else
			print_part(out, rows, parts[i].part, parts[i].title, parts[i].sides,
			           parts[i].columns);
	}
	json_array_foreach(json_object_get(document, "remarks"), k, remark)
	        fprintf(out, "\n%s\n", json_string_value(remark));
}
