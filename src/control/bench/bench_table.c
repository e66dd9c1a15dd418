/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench_table.h"

#include <math.h>
#include <string.h>

#include "bench/bench_rows.h"
#include "text/table.h"

#define DROPPED_MUCH 0.05 /* share from which a figure is about drops rather than forwarding */

static void end(struct table *table, FILE *out)
{
	table_print(table, out);
	table_free(table);
}

static bool has_part(const json_t *rows, const char *part)
{
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row)
	{
		if (bench_is(row, part))
			return true;
	}
	return false;
}

/* Returns true if there is a row of another part than these. */
static bool has_other(const json_t *rows, const char *const *parts)
{
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row)
	{
		const char *const *part = parts;

		while (*part && !bench_is(row, *part))
			part++;
		if (!*part)
			return true;
	}
	return false;
}

/* Returns by how much the runs deviate from their median, in percent. */
static double spread_of(const json_t *row, const char *key)
{
	char name[64];
	double median = bench_number(row, key), low, high;

	snprintf(name, sizeof(name), "%s_min", key);
	low = median - bench_number(row, name);
	snprintf(name, sizeof(name), "%s_max", key);
	high = bench_number(row, name) - median;
	return median > 0 ? fmax(low, high) / median * 100 : 0;
}

static void cost_cells(struct table *table, const json_t *row)
{
	table_format(table, "%.2f", bench_number(row, "mpps"));
	table_format(table, "%.0f", spread_of(row, "mpps"));
	table_format(table, "%.2f", bench_number(row, "ns_per_packet"));
	table_format(table, "%.1f", bench_number(row, "cycles_per_packet"));
	table_format(table, "%.1f", bench_number(row, "ceiling_mpps"));
	table_format(table, "%.3f", bench_number(row, "ratio"));
}

/* Prints what readers must know before they rely on the figure. */
static void remark_cell(struct table *table, const json_t *row)
{
	double disturbed = bench_number(row, "disturbed_runs");
	double drops = bench_number(row, "dropped_mpps");
	double dropped = drops > 0 ? drops / (drops + bench_number(row, "mpps")) : 0;
	char text[160] = "";

	if (json_is_true(json_object_get(row, "mbufs_short")))
		snprintf(text, sizeof(text), "limited by packet buffers");
	else if (bench_number(row, "lost_packets") > 0)
		snprintf(text, sizeof(text), "limited by memory: %.0f lost",
		         bench_number(row, "lost_packets"));
	else if (dropped > DROPPED_MUCH)
		snprintf(text, sizeof(text),
		         "the scenario drops %.1f %%: %.1f ns per arriving packet", dropped * 100,
		         bench_number(row, "ns_per_arrival"));
	else if (bench_number(row, "flight_missed") == 1)
		snprintf(text, sizeof(text), "the flight keeps no packets");
	else if (bench_number(row, "flight_missed") > 0)
		snprintf(text, sizeof(text), "the flight keeps %.1f Mpps, and misses %.0f %%",
		         bench_number(row, "flight_mpps"),
		         bench_number(row, "flight_missed") * 100);
	else if (disturbed > 0)
		snprintf(text, sizeof(text), "%.0f of %.0f runs disturbed, %.1f %% taken away",
		         disturbed, bench_number(row, "runs"), bench_number(row, "taken") * 100);
	table_text(table, text);
}

static void print_cost(FILE *out, const json_t *rows)
{
	struct table *table =
	        table_headed("llrrrrrrrrl", "scenario", "ports", "bytes", "Mpps", "+-%", "ns/pkt",
	                     "cycles", "ceiling", "ratio", "Gbit/s", "", NULL);
	size_t i;
	json_t *row;

	if (!table)
		return;
	json_array_foreach(rows, i, row)
	{
		if (!bench_is(row, "cost"))
			continue;
		table_text(table, bench_text(row, "scenario"));
		table_text(table, bench_text(row, "ports"));
		table_text(table, bench_text(row, "frames"));
		cost_cells(table, row);
		table_format(table, "%.1f", bench_number(row, "gbps"));
		remark_cell(table, row);
	}
	fputs("\ncost: packets a second on the workers' cores, against the ports alone (ceiling)\n",
	      out);
	end(table, out);
}

static void print_depth(FILE *out, const json_t *rows)
{
	struct table *table =
	        table_headed("rrrrrrrrrrl", "in flight", "delay ms", "Mpps", "+-%", "ns/pkt",
	                     "cycles", "ceiling", "ratio", "bytes", "against first", "", NULL);
	size_t i;
	json_t *row;

	if (!table)
		return;
	json_array_foreach(rows, i, row)
	{
		if (!bench_is(row, "depth"))
			continue;
		table_count(table, (uint64_t)bench_number(row, "in_flight_packets"));
		table_format(table, "%.1f", bench_number(row, "delay_ns") / 1e6);
		cost_cells(table, row);
		table_format(table, "%.1f", bench_number(row, "bytes_per_packet"));
		table_format(table, "%.3f", bench_number(row, "relative"));
		remark_cell(table, row);
	}
	fputs("\ndepth: cost and memory by packets in flight, 64 bytes\n", out);
	end(table, out);
}

static void print_clouds(FILE *out, const json_t *rows)
{
	struct table *table = table_headed("rrrrrrrrl", "clouds", "Mpps", "+-%", "ns/pkt", "cycles",
	                                   "ceiling", "ratio", "against first", "", NULL);
	size_t i;
	json_t *row;

	if (!table)
		return;
	json_array_foreach(rows, i, row)
	{
		if (!bench_is(row, "clouds"))
			continue;
		table_count(table, (uint64_t)bench_number(row, "clouds"));
		cost_cells(table, row);
		table_format(table, "%.3f", bench_number(row, "relative"));
		remark_cell(table, row);
	}
	fputs("\nclouds: cost by the number of clouds, 64 bytes, 10 ms\n", out);
	end(table, out);
}

#define PERCENTILES 6

static void lateness_cells(struct table *table, const json_t *object)
{
	static const char *const keys[PERCENTILES] = {"p50",   "p90",    "p99",
	                                              "p99.9", "p99.99", "max"};

	for (size_t i = 0; i < PERCENTILES; i++)
		table_count(table, (uint64_t)bench_number(object, keys[i]));
}

static void precision_row(struct table *table, const json_t *row, const char *key, const char *name,
                          const char *share)
{
	const json_t *object = json_object_get(row, key);

	table_text(table, name);
	/* If no turn was calm, there are no packets, and no figures. */
	for (int i = 0; bench_number(object, "count") == 0 && i <= PERCENTILES; i++)
		table_text(table, "-");
	if (bench_number(object, "count") > 0) {
		lateness_cells(table, object);
		table_format(table, "%.0f", bench_number(object, "early"));
	}
	if (*share)
		table_format(table, "%.3f", bench_number(row, share) * 100);
	else
		table_text(table, "");
}

static void precision_rows(struct table *table, const json_t *row)
{
	table_text(table, bench_text(row, "load"));
	precision_row(table, row, "lateness_ns", "weir", "taken");
	table_format(table, "%.0f missed, %.0f lost", bench_number(row, "missed_packets"),
	             bench_number(row, "lost_packets"));
	table_text(table, "");
	precision_row(table, row, "calm_ns", "weir, calm", "");
	table_format(table, "%.0f of %.0f turns", bench_number(row, "calm_turns"),
	             bench_number(row, "turns"));
	table_text(table, "");
	precision_row(table, row, "noise_ns", "machine", "noise_taken");
	table_text(table, "");
	table_text(table, "");
	precision_row(table, row, "through_ns", "end to end", "");
	table_text(table, "");
}

static void print_precision(FILE *out, const json_t *rows)
{
	struct table *table = table_headed("llrrrrrrrrl", "load", "ns late", "p50", "p90", "p99",
	                                   "p99.9", "p99.99", "max", "early", "taken %", "", NULL);
	double seconds = 0;
	size_t i;
	json_t *row;

	if (!table)
		return;
	json_array_foreach(rows, i, row)
	{
		if (!bench_is(row, "precision"))
			continue;
		seconds = bench_number(row, "seconds");
		precision_rows(table, row);
	}
	fprintf(out,
	        "\nprecision: how long after their due times packets leave, beside a loop that "
	        "only reads the TSC; %.2g s each\n",
	        seconds);
	end(table, out);
}

static void print_clock(FILE *out, const json_t *rows)
{
	static const char *const keys[] = {"error_ns", "distance_ns"};
	static const char *const names[] = {"100 ms", "since the start"};
	struct table *table = table_headed("lrrrrrrrl", "ns, either way", "p50", "p90", "p99",
	                                   "p99.9", "p99.99", "max", "count", "", NULL);
	size_t i;
	json_t *row;

	if (!table)
		return;
	json_array_foreach(rows, i, row)
	{
		if (!bench_is(row, "clock"))
			continue;
		for (size_t k = 0; k < 2; k++) {
			const json_t *object = json_object_get(row, keys[k]);

			table_text(table, names[k]);
			lateness_cells(table, object);
			table_count(table, (uint64_t)bench_number(object, "count"));
			if (k == 0)
				table_format(table, "%.0f of %.0f samples disturbed",
				             bench_number(row, "disturbed_samples"),
				             bench_number(row, "samples"));
			else
				table_text(table, "");
		}
	}
	fputs("\nclock: weir's clock against CLOCK_MONOTONIC_RAW\n", out);
	end(table, out);
}

static void rfc2544_row(struct table *table, const json_t *row)
{
	const json_t *latency = json_object_get(row, "latency_ns");
	double bytes = bench_number(row, "frame_bytes");
	double mpps = bench_number(row, "throughput_mpps");
	double most = bench_number(row, "back_to_back_most");
	double burst = bench_number(row, "back_to_back_frames");

	table_format(table, "%.0f", bytes);
	table_format(table, "%.3f", bench_number(row, "line_mpps"));
	table_format(table, "%.3f", bench_number(row, "offered_mpps"));
	table_format(table, "%.3f", mpps);
	table_format(table, "%.2f", mpps * bytes * 8 / 1e3);
	table_format(table, "%.3f", bench_number(row, "pdr_mpps"));
	table_format(table, "%.1f", bench_number(row, "latency_mean_ns") / 1e3);
	table_format(table, "%.1f", bench_number(latency, "p99") / 1e3);
	table_format(table, "%.1f", bench_number(latency, "max") / 1e3);
	table_format(table, "%s%.0f", burst >= most ? ">=" : "", burst);
	table_format(table, "%.0f of %.0f", bench_number(row, "disturbed_trials"),
	             bench_number(row, "trials"));
}

static void print_loss(FILE *out, const json_t *rows)
{
	size_t i, k;
	json_t *row, *point;

	fputs("\nframe loss rate, by share of the highest offered rate\n", out);
	json_array_foreach(rows, i, row)
	{
		if (!bench_is(row, "rfc2544"))
			continue;
		fprintf(out, "  %4.0f B:", bench_number(row, "frame_bytes"));
		json_array_foreach(json_object_get(row, "loss"), k, point)
		        fprintf(out, "  %.0f %%: %.3g %%", bench_number(point, "share") * 100,
		                bench_number(point, "loss") * 100);
		fputc('\n', out);
	}
}

/* Prints what RFC 8219 and RFC 9004 derive from the same trials. */
static void print_spreads(FILE *out, const json_t *rows)
{
	struct table *table =
	        table_headed("rrrrrrrrrrr", "bytes", "NDR least", "greatest", "typical us",
	                     "worst case us", "PDV us", "burst least", "greatest", "deviation",
	                     "buffer us", "corrected us", NULL);
	size_t i;
	json_t *row;

	if (!table)
		return;
	json_array_foreach(rows, i, row)
	{
		const json_t *rate = json_object_get(row, "throughput");
		const json_t *burst = json_object_get(row, "back_to_back");

		if (!bench_is(row, "rfc2544"))
			continue;
		table_format(table, "%.0f", bench_number(row, "frame_bytes"));
		table_format(table, "%.3f", bench_number(rate, "min"));
		table_format(table, "%.3f", bench_number(rate, "max"));
		for (size_t k = 0; k < 3; k++) {
			static const char *const keys[] = {"typical_latency_ns",
			                                   "worst_case_latency_ns",
			                                   "delay_variation_ns"};
			const json_t *of = json_object_get(row, keys[k]);

			table_format(table, "%.1f", bench_number(of, "median") / 1e3);
		}
		table_format(table, "%.0f", bench_number(burst, "min"));
		table_format(table, "%.0f", bench_number(burst, "max"));
		table_format(table, "%.0f", bench_number(burst, "deviation"));
		table_format(table, "%.1f", bench_number(row, "implied_buffer_ns") / 1e3);
		table_format(table, "%.1f", bench_number(row, "corrected_buffer_ns") / 1e3);
	}
	fputs("\nRFC 8219: latency of 500 tagged frames, and packet delay variation; RFC 9004: "
	      "back-to-back\n",
	      out);
	end(table, out);
}

static void print_rfc2544(FILE *out, const json_t *rows)
{
	struct table *table = table_headed("rrrrrrrrrrr", "bytes", "line", "offered", "NDR Mpps",
	                                   "Gbit/s", "PDR Mpps", "lat us", "p99 us", "max us",
	                                   "back-to-back", "disturbed", NULL);
	const json_t *first = NULL;
	size_t i;
	json_t *row;

	if (!table)
		return;
	json_array_foreach(rows, i, row)
	{
		if (!bench_is(row, "rfc2544"))
			continue;
		first = first ? first : row;
		rfc2544_row(table, row);
	}
	fprintf(out,
	        "\nRFC 2544, under test: %s; trials of %.3g s (RFC: 60), latency %.0f x %.3g s "
	        "(RFC: 20 x 120), bursts %.0f times (RFC: 50)\n",
	        bench_text(first, "under_test"), bench_number(first, "trial_seconds"),
	        bench_number(first, "latency_repeats"), bench_number(first, "latency_seconds"),
	        bench_number(first, "back_to_back_repeats"));
	end(table, out);
	print_spreads(out, rows);
	print_loss(out, rows);
}

static void print_latency(FILE *out, const json_t *rows)
{
	struct table *table = table_headed("llrrrrrrrl", "from", "to", "bytes", "loop p50", "p99",
	                                   "max", "wire", "cable", "rest", "", NULL);
	size_t i;
	json_t *row;

	if (!table)
		return;
	json_array_foreach(rows, i, row)
	{
		const json_t *loop = json_object_get(row, "loop_ns");

		if (!bench_is(row, "latency"))
			continue;
		table_text(table, bench_text(row, "from"));
		table_text(table, bench_text(row, "to"));
		table_format(table, "%.0f", bench_number(row, "frame_bytes"));
		table_count(table, (uint64_t)bench_number(loop, "p50"));
		table_count(table, (uint64_t)bench_number(loop, "p99"));
		table_count(table, (uint64_t)bench_number(loop, "max"));
		table_format(table, "%.0f", bench_number(row, "wire_ns"));
		table_format(table, "%.0f", bench_number(row, "cable_ns"));
		table_count(table, (uint64_t)bench_number(row, "latency_ns"));
		table_text(table, bench_number(row, "line_bps") > 0
		                          ? ""
		                          : "wire unknown: give --line-rate");
	}
	fputs("\nlatency: ns over a loop, minus wire and cable: tx-latency of one device and "
	      "rx-latency of the other\n",
	      out);
	end(table, out);
}

/* Prints the machine, and of the conditions those that hold for the parts that were measured. */
static void print_machine(FILE *out, const json_t *machine, const json_t *rows)
{
	bool live = has_other(rows, (const char *const[]){"clock", NULL});
	bool weir = has_other(rows, (const char *const[]){"clock", "latency", NULL});
	bool medians =
	        has_part(rows, "cost") || has_part(rows, "depth") || has_part(rows, "clouds");

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

void bench_table_print(FILE *out, const json_t *document)
{
	const json_t *rows = json_object_get(document, "rows");
	json_t *remark;
	size_t i;

	print_machine(out, json_object_get(document, "machine"), rows);
	if (has_part(rows, "cost"))
		print_cost(out, rows);
	if (has_part(rows, "precision"))
		print_precision(out, rows);
	if (has_part(rows, "depth"))
		print_depth(out, rows);
	if (has_part(rows, "clouds"))
		print_clouds(out, rows);
	if (has_part(rows, "clock"))
		print_clock(out, rows);
	if (has_part(rows, "rfc2544"))
		print_rfc2544(out, rows);
	if (has_part(rows, "latency"))
		print_latency(out, rows);
	bench_table_live(out, rows);
	json_array_foreach(json_object_get(document, "remarks"), i, remark)
	        fprintf(out, "\n%s\n", json_string_value(remark));
}
