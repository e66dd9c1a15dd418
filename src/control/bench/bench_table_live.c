/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench_table.h"

#include <inttypes.h>

#include "bench/bench_rows.h"
#include "text/table.h"

static void window_cells(struct table *table, const json_t *window)
{
	static const char *const keys[] = {"p50", "p99", "p99.9", "p99.99", "max"};
	const json_t *lateness = json_object_get(window, "lateness_ns");

	table_count(table, (uint64_t)bench_number(window, "offered_packets"));
	table_count(table, (uint64_t)bench_number(window, "lost_packets"));
	table_count(table, (uint64_t)bench_number(window, "missed_packets"));
	table_count(table, (uint64_t)bench_number(window, "missed_away_packets"));
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		table_format(table, "%.1f", bench_number(lateness, keys[i]) / 1e3);
	table_format(table, "%.1f", bench_number(window, "longest_poll_ns") / 1e3);
	table_format(table, "%.1f", bench_number(window, "own_longest_poll_ns") / 1e3);
	table_count(table, (uint64_t)bench_number(window, "late_packets"));
	table_format(table, "%.1f %%", bench_number(window, "taken") * 100);
}

static void window_headings(struct table *table)
{

	table_texts(table, "offered", "lost", "missed", "by others", "late us p50", "p99", "p99.9",
	            "p99.99", "max", "longest poll", "own", "later", "taken", NULL);
}

static void print_reconf(FILE *out, const json_t *row)
{
	struct table *table = table_make("lrrrrrrrrrrrrr");

	if (!table)
		return;
	table_text(table, "");
	window_headings(table);
	table_text(table, "with changes");
	window_cells(table, json_object_get(row, "with"));
	table_text(table, "without");
	window_cells(table, json_object_get(row, "without"));
	fprintf(out,
	        "\nreconf: during %.0f changes at 1 Mpps, weir blocked packets for %.3f ms in "
	        "total; others had its processor for %.3f ms, which blocked them for another "
	        "%.3f ms\n",
	        bench_number(row, "changes"), bench_number(row, "blocked_ns") / 1e6,
	        bench_number(row, "taken_ns") / 1e6, bench_number(row, "blocked_away_ns") / 1e6);
	table_print(table, out);
	table_free(table);
}

static void print_soak(FILE *out, const json_t *row)
{
	struct table *table = table_make("rrrrrrrrrrrrrrrrrrr");
	const json_t *part;
	size_t i;

	if (!table)
		return;
	table_text(table, "until s");
	window_headings(table);
	table_text(table, "changes");
	table_text(table, "attached");
	table_text(table, "RSS KiB");
	table_text(table, "written KiB");
	table_text(table, "unaccounted");
	json_array_foreach(json_object_get(row, "parts"), i, part)
	{
		table_format(table, "%.0f", bench_number(part, "until_s"));
		window_cells(table, part);
		table_count(table, (uint64_t)bench_number(part, "changes"));
		table_count(table, (uint64_t)bench_number(part, "attached"));
		table_count(table, (uint64_t)bench_number(part, "rss_kib"));
		table_count(table, (uint64_t)bench_number(part, "written_kib"));
		table_count(table, (uint64_t)bench_number(part, "unaccounted_packets"));
	}
	fprintf(out,
	        "\nsoak: at a loss of %.2g, the critical load is %.2f Mpps (%.2f to %.2f, %.0f "
	        "searches); the load since then is %.2f Mpps\n",
	        bench_number(row, "loss_bound"), bench_number(row, "critical_mpps"),
	        bench_number(row, "critical_mpps_min"), bench_number(row, "critical_mpps_max"),
	        bench_number(row, "searches"), bench_number(row, "load_mpps"));
	table_print(table, out);
	table_free(table);
}

void bench_table_live(FILE *out, const json_t *rows)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		if (bench_is(row, "reconf"))
			print_reconf(out, row);
		if (bench_is(row, "soak"))
			print_soak(out, row);
	}
}
