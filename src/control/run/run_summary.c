/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/run_summary.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "account/count.h"
#include "engine/engine_report.h"
#include "figures/figures.h"
#include "show/times.h"
#include "text/table.h"

#define CLOUDS_SHOWN 32
#define LOSSES_MAX   16
#define REMEDY                                                                                     \
	"`weir bench machine` says what takes the processor away, `weir setup` what isolates it"

struct losses {
	uint64_t of_clouds[REASON_COUNT];
	uint64_t of_ports[LOSSES_MAX]; /* in the order of the figures */
};

/* What ports lose is weir's own loss, too. */
static void add_port(struct losses *losses, const struct port_report *port)
{
	uint64_t *sum = losses->of_ports;

	for (const struct figure *f = NULL; (f = figure_next(FIGURE_PORT, FIGURE_LOST, port, f));)
		*sum++ += figure_read(f, port).count;
	assert(sum <= losses->of_ports + LOSSES_MAX);
}

static void print_ports(FILE *out, const struct runtime *runtime, struct port_report *port,
                        struct losses *losses)
{
	struct table *table = table_make("lrrrrrrrrrrrr");
	uint64_t early = 0;

	if (!table)
		return;
	table_text(table, "port");
	figures_headings(table, FIGURE_PORT, FIGURE_SUMMARY);
	table_texts(table, "late by p50", "p99", "max", NULL);
	for (uint32_t i = 0; runtime_port_report(runtime, i, port); i++) {
		add_port(losses, port);
		early += port->early;
		table_text(table, port->name);
		figures_cells(table, FIGURE_PORT, FIGURE_SUMMARY, port);
		late_cells(table, &port->lateness_ns);
	}
	table_print(table, out);
	table_free(table);
	if (early > 0)
		fprintf(out, "%s before weir had started, and %s dropped\n",
		        count_of(early, "packet came").text, early == 1 ? "was" : "were");
	for (uint32_t i = 0; runtime_port_report(runtime, i, port); i++)
		late_warn(out, "", port->name, &port->lateness_ns, LATE_WARN_NS, REMEDY);
}

static void print_clouds(FILE *out, const struct runtime *runtime, const struct scenario *scenario,
                         struct cloud_report *cloud, struct losses *losses)
{
	struct table *table = table_make("lrrrrrrrr");

	if (!table)
		return;
	table_text(table, "cloud");
	figures_headings(table, FIGURE_CLOUD, FIGURE_SUMMARY);
	table_texts(table, "delay p50", "p99", NULL);
	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		const struct histogram *delay = &cloud->delay_ns;

		if (!runtime_cloud_report(runtime, scenario->clouds[i]->name, cloud))
			continue;
		for (int reason = 0; reason < REASON_COUNT; reason++)
			losses->of_clouds[reason] += cloud->counters.drops[reason];
		if (i >= CLOUDS_SHOWN)
			continue;
		table_text(table, scenario->clouds[i]->name);
		figures_cells(table, FIGURE_CLOUD, FIGURE_SUMMARY, cloud);
		table_percentile(table, delay, 500000);
		table_percentile(table, delay, 990000);
	}
	table_print(table, out);
	table_free(table);
	if (scenario->n_clouds > CLOUDS_SHOWN)
		fprintf(out, "  and %" PRIu32 " more clouds\n", scenario->n_clouds - CLOUDS_SHOWN);
}

/* Adds to a line of losses, which `gap` has begun. */
static void print_loss(FILE *out, const char *name, uint64_t packets, const char **gap)
{
	char count[COUNT_SIZE];

	if (packets == 0)
		return;
	fprintf(out, "%s%s %s", *gap, name, count_text(count, packets));
	*gap = ", ";
}

static void print_losses(FILE *out, const struct losses *losses)
{
	static const struct {
		enum reason_kind kind;
		const char *title;
	} kinds[] = {
	        {REASON_EMULATED, "emulated losses"},
	        {REASON_CONGESTION, "dropped by emulated queues"},
	        {REASON_REAL, "real losses, weir's own"},
	};

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		const bool real = kinds[k].kind == REASON_REAL;
		const uint64_t *lost = losses->of_ports;
		const char *gap = ": ";

		fprintf(out, "%s", kinds[k].title);
		for (int reason = 0; reason < REASON_COUNT; reason++) {
			if (reason_kind((enum reason)reason) == kinds[k].kind)
				print_loss(out, reason_name((enum reason)reason),
				           losses->of_clouds[reason], &gap);
		}
		for (const struct figure *f = NULL;
		     real && (f = figure_next(FIGURE_PORT, FIGURE_LOST, NULL, f));)
			print_loss(out, f->loss, *lost++, &gap);
		fprintf(out, "%s\n", gap[0] == ':' ? ": none" : "");
	}
}

void run_summary_print(FILE *out, const struct runtime *runtime, const struct scenario *scenario)
{
	struct cloud_report *cloud = malloc(sizeof(*cloud));
	struct port_report *port = malloc(sizeof(*port));
	struct losses losses = {0};

	if (cloud && port) {
		print_ports(out, runtime, port, &losses);
		fputc('\n', out);
		print_clouds(out, runtime, scenario, cloud, &losses);
		fputc('\n', out);
		print_losses(out, &losses);
	}
	free(cloud);
	free(port);
}
