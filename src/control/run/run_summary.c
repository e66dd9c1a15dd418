/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/run_summary.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "account/count.h"
#include "engine/engine_report.h"
#include "show/late.h"
#include "text/table.h"

#define CLOUDS_SHOWN 32
#define REMEDY                                                                                     \
	"`weir bench machine` says what takes the processor away, `weir setup` what isolates it"

/* What ports lose is weir's own loss, too. */
static const struct {
	const char *name;
	size_t counter;
} port_losses[] = {
        {"rx-missed", offsetof(struct port_report, rx_missed)},
        {"no-mbuf", offsetof(struct port_report, rx_no_mbuf)},
        {"tx-full", offsetof(struct port_report, tx_full)},
        {"not-sent", offsetof(struct port_report, not_sent)},
        {"not-written", offsetof(struct port_report, not_written)},
};

#define PORT_LOSSES (sizeof(port_losses) / sizeof(port_losses[0]))

struct losses {
	uint64_t of_clouds[REASON_COUNT], of_ports[PORT_LOSSES];
};

static void row(struct table *table, const char *const *cells)
{
	for (; *cells; cells++)
		table_text(table, *cells);
}

static void add_port(struct losses *losses, const struct port_report *port)
{
	uint64_t count;

	for (size_t i = 0; i < PORT_LOSSES; i++) {
		memcpy(&count, (const char *)port + port_losses[i].counter, sizeof(count));
		losses->of_ports[i] += count;
	}
}

static void print_ports(FILE *out, const struct runtime *runtime, struct port_report *port,
                        struct losses *losses)
{
	static const char *const headings[] = {"port",    "received",    "bytes",       "sent",
	                                       "bytes",   "no cloud",    "untouched",   "rx lost",
	                                       "tx lost", "not written", "late by p50", "p99",
	                                       "max",     NULL};
	struct table *table = table_make("lrrrrrrrrrrrr");
	uint64_t early = 0;

	if (!table)
		return;
	row(table, headings);
	for (uint32_t i = 0; runtime_port_report(runtime, i, port); i++) {
		add_port(losses, port);
		early += port->early;
		table_text(table, port->name);
		table_count(table, port->rx_packets);
		table_unit(table, CHART_BYTES, (double)port->rx_bytes);
		table_count(table, port->tx_packets);
		table_unit(table, CHART_BYTES, (double)port->tx_bytes);
		table_count(table, port->no_cloud);
		table_count(table, port->untouched);
		table_count(table, port->rx_missed + port->rx_no_mbuf);
		table_count(table, port->tx_full + port->not_sent);
		table_count(table, port->not_written);
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

static uint64_t drops_of(const struct counters *counters, enum reason_kind kind)
{
	uint64_t sum = 0;

	for (int reason = 0; reason < REASON_COUNT; reason++) {
		if (reason_kind((enum reason)reason) == kind)
			sum += counters->drops[reason];
	}
	return sum;
}

static void print_clouds(FILE *out, const struct runtime *runtime, const struct scenario *scenario,
                         struct cloud_report *cloud, struct losses *losses)
{
	static const char *const headings[] = {"cloud",       "received",  "sent", "emulated loss",
	                                       "queue drops", "real loss", "held", "delay p50",
	                                       "p99",         NULL};
	struct table *table = table_make("lrrrrrrrr");

	if (!table)
		return;
	row(table, headings);
	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		const struct histogram *delay = &cloud->delay_ns;
		const struct counters *c = &cloud->counters;

		if (!runtime_cloud_report(runtime, scenario->clouds[i]->name, cloud))
			continue;
		for (int reason = 0; reason < REASON_COUNT; reason++)
			losses->of_clouds[reason] += c->drops[reason];
		if (i >= CLOUDS_SHOWN)
			continue;
		table_text(table, scenario->clouds[i]->name);
		table_count(table, c->rx_packets);
		table_count(table, c->tx_packets);
		table_count(table, drops_of(c, REASON_EMULATED));
		table_count(table, drops_of(c, REASON_CONGESTION));
		table_count(table, drops_of(c, REASON_REAL));
		table_count(table, cloud->held_packets);
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
		const char *gap = ": ";

		fprintf(out, "%s", kinds[k].title);
		for (int reason = 0; reason < REASON_COUNT; reason++) {
			if (reason_kind((enum reason)reason) == kinds[k].kind)
				print_loss(out, reason_name((enum reason)reason),
				           losses->of_clouds[reason], &gap);
		}
		for (size_t i = 0; kinds[k].kind == REASON_REAL && i < PORT_LOSSES; i++)
			print_loss(out, port_losses[i].name, losses->of_ports[i], &gap);
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
