/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/replay_report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "account/count.h"
#include "figures/figures.h"
#include "show/json.h"
#include "show/view.h"
#include "text/alloc_failure.h"
#include "text/table.h"
#include "units/human_unit.h"

#define CLOUDS_SHOWN 16

/* Returns what achieved_rows needs of a cloud's run. The busiest second of its port is the cloud's
 * own if no other cloud leads there. */
static struct achieved_run achieved_run_of(const struct scenario *scenario,
                                           const struct replay_result *result, uint32_t cloud)
{
	const struct cloud_conf *conf = scenario->clouds[cloud];
	struct achieved_run run = {.duration_ns = result->last_ns - result->first_ns};
	int port = scenario_find_port(scenario, conf->to);

	if (port >= 0)
		run.late = result->ports[port].lateness_ns;
	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		if (i != cloud && strcmp(scenario->clouds[i]->to, conf->to) == 0)
			return run;
	}
	if (port >= 0 && run.duration_ns >= SIMTIME_S)
		run.busiest_second_bytes = result->ports[port].busiest_second_bytes;
	return run;
}

struct table *replay_table_statements(const struct scenario *scenario,
                                      const struct replay_result *result, uint32_t cloud,
                                      enum human_unit time_unit, enum human_unit rate_unit)
{
	struct table *table = table_headed("lll", "", "configured", "achieved", NULL);
	struct achieved_run run = achieved_run_of(scenario, result, cloud);
	struct achieved_row rows[ACHIEVED_ROWS_MAX];
	uint32_t n;

	run.time_unit = time_unit;
	run.rate_unit = rate_unit;
	n = achieved_rows(scenario->clouds[cloud], &result->clouds[cloud], &run, rows);
	for (uint32_t i = 0; i < n; i++)
		table_texts(table, rows[i].what, rows[i].asked, rows[i].got, NULL);
	return table;
}

struct table *replay_table_times(const struct scenario *scenario,
                                 const struct replay_result *result, uint32_t cloud,
                                 enum human_unit unit)
{
	struct achieved_times times[ACHIEVED_TIMES_MAX];
	uint32_t n = achieved_times(scenario->clouds[cloud], &result->clouds[cloud], times);
	static const int columns[] = {TIMES_MEAN, TIMES_MIN, TIMES_P50, TIMES_P99, TIMES_MAX};
	struct table *table = n > 0 ? table_headed("lrrrrr", "", NULL) : NULL;
	char text[HUMAN_UNIT_SIZE];

	for (size_t k = 0; k < sizeof(columns) / sizeof(columns[0]); k++)
		table_text(table, times_head[columns[k]]);
	for (uint32_t i = 0; i < n; i++) {
		table_text(table, times[i].what);
		for (size_t k = 0; k < sizeof(columns) / sizeof(columns[0]); k++) {
			times_cell(&times[i].times, columns[k], unit ? unit : HUMAN_NS, text);
			table_text(table, text);
		}
	}
	return table;
}

void replay_table_print_clouds(FILE *out, const struct scenario *scenario,
                               const struct replay_result *result)
{
	uint32_t shown = result->n_clouds < CLOUDS_SHOWN ? result->n_clouds : CLOUDS_SHOWN;

	for (uint32_t i = 0; i < shown; i++) {
		const struct cloud_conf *conf = scenario->clouds[i];
		struct table *times = replay_table_times(scenario, result, i, HUMAN_NS);

		fprintf(out, "\ncloud %s from %s to %s\n", conf->name, conf->from, conf->to);
		table_end(replay_table_statements(scenario, result, i, 0, 0), out);
		if (times)
			fputc('\n', out);
		table_end(times, out);
	}
	if (shown < result->n_clouds)
		fprintf(out, "\nand %" PRIu32 " more clouds: --report FILE has them all\n",
		        result->n_clouds - shown);
}

void replay_table_print_books(FILE *out, const struct scenario *scenario,
                              const struct replay_result *result)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < scenario->n_ports; i++)
		lost += result->ports[i].lost;
	for (uint32_t i = 0; i < result->n_clouds; i++)
		lost += counters_drops_of(&result->clouds[i].counters, REASON_REAL);
	if (lost > 0)
		fprintf(out, "\n%s lost by weir itself, not by the scenario\n",
		        count_of_these(lost, "packet was", "packets were").text);
	else
		fputs("\nevery packet is accounted for; weir itself lost none\n", out);
}

void replay_table_print(FILE *out, const struct scenario *scenario,
                        const struct replay_result *result)
{
	char span[HUMAN_UNIT_SIZE], memory[HUMAN_UNIT_SIZE];
	const uint64_t read = replay_packets_read(result);
	const uint64_t written = replay_packets_written(result);
	char count_out[COUNT_SIZE];

	human_unit_format(span, sizeof(span), HUMAN_NS,
	                  (double)(result->last_ns - result->first_ns), 6);
	human_unit_format(memory, sizeof(memory), HUMAN_BYTES, (double)result->memory_bytes, 3);
	fprintf(out, "seed %" PRIu64 ": %s, %s written, %s of virtual time", scenario->seed,
	        count_of(read, "packet read").text, count_text(count_out, written), span);
	/* A recording does not say how much memory its packets took. */
	if (result->memory_bytes > 0)
		fprintf(out, ", %s of memory for packets", memory);
	fputc('\n', out);
	replay_table_print_clouds(out, scenario, result);
	replay_table_print_books(out, scenario, result);
}

static void warn_port(FILE *out, const char *name, const struct replay_port_report *port)
{
	if (port->damage[0])
		fprintf(out,
		        "weir replay: warning: port %s: the capture is damaged, and ends: %s\n",
		        name, port->damage);
	if (port->stamps[0])
		fprintf(out, "weir replay: warning: port %s: %s\n", name, port->stamps);
	if (port->other_link)
		fprintf(out, "weir replay: warning: port %s: %s left out (%s)\n", name,
		        count_of_these(port->other_link, "packet of another link type was",
		                       "packets of other link types were")
		                .text,
		        port->other_links);
	if (port->no_cloud)
		fprintf(out, "weir replay: warning: port %s: %s came in and no cloud took %s\n",
		        name, count_of(port->no_cloud, "packet").text,
		        port->no_cloud == 1 ? "it" : "them");
	if (port->untouched)
		fprintf(out, "weir replay: port %s: %s matched no cloud and passed untouched\n",
		        name, count_of(port->untouched, "packet").text);
	if (port->no_file)
		fprintf(out,
		        "weir replay: warning: port %s: %s left and %s not written; --out %s=PCAP "
		        "would write %s\n",
		        name, count_of(port->no_file, "packet").text,
		        port->no_file == 1 ? "was" : "were", name,
		        port->no_file == 1 ? "it" : "them");
}

/* Warns of a rule that matches all or no frames: it is most often wrong, and leaves one direction
 * without packets. */
static void warn_split(FILE *out, const struct scenario *scenario, const struct replay_split *split)
{
	bool none = split->packets[0] == 0;
	char count[COUNT_SIZE];

	if (split->packets[0] + split->packets[1] == 0 ||
	    (split->packets[0] != 0 && split->packets[1] != 0))
		return;
	fprintf(out,
	        "weir replay: warning: %s: --split %s: %s frame matches, so all %s packets came in "
	        "at port %s and none at %s: clouds from %s got no packets\n",
	        split->path, split->rule, none ? "no" : "every",
	        count_text(count, split->packets[none]), scenario->ports[split->ports[none]].name,
	        scenario->ports[split->ports[!none]].name,
	        scenario->ports[split->ports[!none]].name);
}

void replay_warnings_print(FILE *out, const struct scenario *scenario,
                           const struct replay_result *result)
{
	for (uint32_t i = 0; i < result->n_splits; i++)
		warn_split(out, scenario, &result->splits[i]);
	for (uint32_t i = 0; i < scenario->n_ports; i++)
		warn_port(out, scenario->ports[i].name, &result->ports[i]);
	for (uint32_t i = 0; i < result->n_clouds; i++) {
		const struct counters *c = &result->clouds[i].counters;

		for (int reason = 0; reason < REASON_COUNT; reason++) {
			if (c->drops[reason] == 0 ||
			    reason_kind((enum reason)reason) != REASON_REAL)
				continue;
			fprintf(out,
			        "weir replay: warning: cloud %s: %s lost by weir itself, not by "
			        "the scenario: %s%s\n",
			        scenario->clouds[i]->name,
			        count_of_these(c->drops[reason], "packet was", "packets were").text,
			        reason_help((enum reason)reason),
			        reason == REASON_NO_BUFFER ? "; allow more with --memory" : "");
		}
	}
}

/* ---- CSV ---- */

static int write_csv(FILE *out, const struct scenario *scenario, const struct replay_result *result)
{
	fprintf(out,
	        FIGURES_CSV_HEAD "run,,seed,%" PRIu64 ",,gauge\nrun,,duration_ns,%" PRIu64
	                         ",ns,gauge\n",
	        scenario->seed, result->last_ns - result->first_ns);
	for (uint32_t i = 0; i < result->n_clouds; i++)
		figures_csv(out, FIGURE_CLOUD, scenario->clouds[i]->name, &result->clouds[i]);
	for (uint32_t i = 0; i < scenario->n_ports; i++)
		figures_csv(out, FIGURE_REPLAY_PORT, scenario->ports[i].name, &result->ports[i]);
	return ferror(out) ? -EIO : 0;
}

/* `a.csv`, or `a.csv.gz`. */
static bool is_csv(const char *path)
{
	const char *name = strrchr(path, '/'),
	           *csv = strcasestr(name != NULL ? name : path, ".csv");

	return csv != NULL && (csv[4] == '\0' || csv[4] == '.');
}

int report_file_write(struct atomic_file *file, const struct scenario *scenario,
                      const struct replay_result *result, struct problem *problem)
{
	FILE *stream = atomic_file_stream(file);
	int rc = is_csv(atomic_file_path(file)) ? write_csv(stream, scenario, result)
	                                        : report_json_write(stream, scenario, result);

	if (rc == -EIO)
		rc = atomic_file_error(file, problem);
	/* A value that found no memory is missing in an object, and in its text. */
	if (alloc_failure_taken() || rc == -ENOMEM) {
		problem_set(problem, -1, "%s: no memory for the report", atomic_file_path(file));
		return -ENOMEM;
	}
	return rc ? rc : atomic_file_finish(file, problem);
}
