/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "text/alloc_failure.h"
#include "account/count.h"
#include "figures/figures.h"
#include "language/scenario_file.h"
#include "show/json.h"
#include "show/times.h"
#include "show/show.h"
#include "show/doctor.h"
#include "text/table.h"
#include "show/view.h"

#define MEMORY_WARN_PERCENT 90

/* ---- ports ---- */

__attribute__((format(printf, 3, 4))) static void warn(FILE *out, const struct port_report *port,
                                                       const char *format, ...)
{
	va_list arguments;

	fprintf(out, "warning: port %s: ", port->name);
	va_start(arguments, format);
	vfprintf(out, format, arguments);
	va_end(arguments);
	fputc('\n', out);
}

/* A stamp that reached weir later than this after its instant is worth a warning. */
#define AGED_NS 1000000

static void warn_arrivals(FILE *out, const struct port_report *port)
{
	const uint64_t missed = port->rx_missed - port->unfinished;

	if (port->early > 0)
		fprintf(out, "port %s: %s before weir had started, and %s dropped\n", port->name,
		        count_of(port->early, "packet came").text,
		        port->early == 1 ? "was" : "were");
	if (port->gone)
		warn(out, port, "its interface is gone");
	else if (!port->link_up)
		warn(out, port, "the link is down");
	if (port->absences > 0)
		warn(out, port,
		     "its interface was gone %s, %.1f s in all: what arrived there meanwhile is "
		     "not "
		     "counted",
		     count_of(port->absences, "time").text, (double)port->absent_ns / 1e9);
	if (port->unfinished > 0)
		warn(out, port,
		     "%s lost on arrival at %s, because neither the kernel nor weir can finish "
		     "what "
		     "their sender left to a device; switch offloads off at the sender (of a veth "
		     "pair, that is the other end, which `ip link` shows behind @): ethtool -K "
		     "IFACE tx off",
		     count_of(port->unfinished, "packet").text, port->device);
	if (port->rx_missed > port->unfinished)
		warn(out, port,
		     "the device lost %s before weir saw them: its worker polls too rarely",
		     count_of(missed, "packet").text);
	if (port->rx_no_mbuf > 0)
		warn(out, port, "%s lost on arrival, because the mempool was empty",
		     count_of(port->rx_no_mbuf, "packet").text);
	if (port->stamps_odd > 0)
		warn(out, port, "%s implausible, and corrected",
		     count_of_these(port->stamps_odd, "time stamp of the device was",
		                    "time stamps of the device were")
		             .text);
	if (port->oldest_ns >= AGED_NS)
		warn(out, port,
		     "%s could be received only after weir had passed the instant of %s time "
		     "stamp, "
		     "by %s at most: %s left later than `late` says",
		     count_of(port->aged, "packet").text, port->aged == 1 ? "its" : "their",
		     human_of(HUMAN_NS, (double)port->oldest_ns, 3).text,
		     port->aged == 1 ? "it" : "they");
}

static void warn_departures(FILE *out, const struct port_report *port)
{
	const uint64_t known = port->too_large + port->not_ip + port->chained;

	if (port->launch_missed > 0)
		warn(out, port,
		     "%s handed over after the instant at which the device should have sent it: a "
		     "longer `launch` helps",
		     count_of_these(port->launch_missed, "packet was", "packets were").text);
	if (port->tx_full > 0)
		warn(out, port, "the device did not take %s within 100 ms of their due time",
		     count_of(port->tx_full, "packet").text);
	if (port->too_large > 0)
		warn(out, port,
		     "%s lost, because they are larger than the MTU of its interface: ip link set "
		     "IFACE mtu N",
		     count_of(port->too_large, "packet").text);
	if (port->not_ip > 0)
		warn(out, port, "%s lost, because its interface carries IP packets only",
		     count_of(port->not_ip, "frame").text);
	if (port->chained > 0)
		warn(out, port,
		     "%s lost, because its driver sends no frames larger than one buffer of 2,048 "
		     "bytes; a packet socket does: `port %s interface IFACE`",
		     count_of(port->chained, "packet").text, port->name);
	if (port->not_sent > known)
		warn(out, port, "the device accepted %s, but reports that it could not send %s",
		     count_of(port->not_sent - known, "packet").text,
		     port->not_sent - known == 1 ? "it" : "them");
	late_warn(out, "", port->name, &port->lateness_ns, LATE_WARN_NS, "see show workers");
	if (port->not_written > 0)
		warn(out, port, "%s could not be written to its file: is the disk full?",
		     count_of(port->not_written, "packet").text);
}

static void show_ports_text(FILE *out, struct control *control)
{
	struct table *upper =
	        table_headed("lllllrrrr", "port", "device", "driver", "link", "time", NULL);
	struct table *lower = table_headed("lrrrrrrrrrr", "port", NULL);
	struct port_report *port = alloc_failure_calloc(sizeof(*port));
	uint32_t n = control->ops->ports(control->context);

	figures_headings(upper, FIGURE_PORT, FIGURE_COLUMN);
	figures_headings(lower, FIGURE_PORT, FIGURE_LOSSES);
	table_texts(lower, "late p50", "p99", "max", NULL);
	for (uint32_t i = 0; port != NULL && i < n; i++) {
		if (!control->ops->port(control->context, i, port))
			continue;
		table_text(upper, port->name);
		table_text(upper, port->device != NULL ? port->device : "");
		table_text(upper, port->driver != NULL ? port->driver : "");
		table_text(upper, port->gone       ? "gone"
		                  : !port->link_up ? "down"
		                  : port->link_bps > 0
		                          ? human_of(HUMAN_BPS, (double)port->link_bps, 4).text
		                          : "up");
		table_text(upper, port->time != NULL ? port->time : "poll");
		figures_cells(upper, FIGURE_PORT, FIGURE_COLUMN, port);
		table_text(lower, port->name);
		figures_cells(lower, FIGURE_PORT, FIGURE_LOSSES, port);
		late_cells(lower, &port->lateness_ns);
	}
	table_end(upper, out);
	fputc('\n', out);
	table_end(lower, out);
	for (uint32_t i = 0; port != NULL && i < n; i++)
		if (control->ops->port(control->context, i, port)) {
			warn_arrivals(out, port);
			warn_departures(out, port);
		}
	free(port);
}

/* ---- workers ---- */

/* Longer than a poll with work takes. */
#define AWAY_NS (2 * SIMTIME_MS)

/* Warns of a worker that was away, with the causes and remedies of weir bench machine. */
static void warn_away(FILE *out, uint32_t index, const struct worker_report *worker)
{
	struct bench_machine machine;
	struct doctor doctor;

	if (worker->stalls == 0 && worker->longest_poll_ns < AWAY_NS)
		return;
	bench_machine_read("", worker->cpu, &machine);
	doctor_examine("", &machine, NULL, 0, &doctor);
	fprintf(out,
	        "warning: worker %u did not poll for %s, and packets that were due meanwhile left "
	        "late; `weir bench machine` says of processor %u:\n",
	        index, human_of(HUMAN_NS, (double)worker->longest_poll_ns, 3).text, worker->cpu);
	doctor_print_late(out, "  ", &doctor);
}

static void warn_worker(FILE *out, uint32_t index, const struct worker_report *worker)
{
	warn_away(out, index, worker);
	if (worker->stalls > 0)
		fprintf(out,
		        "warning: worker %u did not poll for a second, %s: does anything else use "
		        "CPU "
		        "%u?\n",
		        index, count_of(worker->stalls, "time").text, worker->cpu);
	if (worker->memory_bytes > 0 &&
	    worker->memory_used_bytes > worker->memory_bytes / 100 * MEMORY_WARN_PERCENT)
		fprintf(out,
		        "warning: worker %u has used %d%% of its memory for held packets: soon it "
		        "will drop packets (no-buffer); a shorter delay or a lower rate holds "
		        "fewer\n",
		        index, MEMORY_WARN_PERCENT);
}

static void show_workers_text(FILE *out, struct control *control)
{
	struct table *table = table_headed("rlrrrrrrrrr", "worker", NULL);
	struct worker_report worker;
	uint32_t n = control->ops->workers(control->context);

	figures_headings(table, FIGURE_WORKER, FIGURE_COLUMN);
	for (uint32_t i = 0; i < n; i++)
		if (control->ops->worker(control->context, i, &worker)) {
			table_format(table, "%u", i);
			figures_cells(table, FIGURE_WORKER, FIGURE_COLUMN, &worker);
		}
	table_end(table, out);
	for (uint32_t i = 0; i < n; i++)
		if (control->ops->worker(control->context, i, &worker))
			warn_worker(out, i, &worker);
}

/* ---- clouds and the rest ---- */

/* Returns the known values; null: not known. */
static json_t *line_delay_object(const struct times *line)
{
	json_t *object = json_object();

	figures_set(&object, "mean", line->known ? json_real(line->ns[TIMES_MEAN]) : json_null());
	figures_set(&object, "p50", line->spread ? json_real(line->ns[TIMES_P50]) : json_null());
	figures_set(&object, "p99", line->spread ? json_real(line->ns[TIMES_P99]) : json_null());
	return object;
}

/* Returns what a cloud has achieved since the start, a clear or its last change. */
static json_t *since_object(const struct view *view)
{
	static const char *const words[] = {[CONTROL_SINCE_START] = "start",
	                                    [CONTROL_SINCE_CLEAR] = "clear",
	                                    [CONTROL_SINCE_CHANGE] = "change"};
	const struct histogram *h = &view->since.delay_ns;
	struct times line = line_delay_of(view->conf, &view->since);
	json_t *object = json_object(), *delay = figures_spread(h);

	figures_set(&delay, "mean",
	            json_real(h->count > 0 ? (double)h->sum / (double)h->count : 0));
	figures_set(&object, "what", json_string(words[view->began]));
	figures_set(&object, "for_ns", json_integer((json_int_t)(view->now_ns - view->since_ns)));
	figures_add(&object, FIGURE_CLOUD, FIGURE_SINCE, &view->since);
	figures_set(&object, "line_ns", line_delay_object(&line));
	figures_set(&object, "delay_ns", delay);
	return object;
}

/* Returns the object of a cloud, or, if `address` is not NULL, of that cloud of the template; NULL
 * if there is none. */
static json_t *cloud_object(struct control *control, uint32_t cloud, const char *address)
{
	struct view *view = alloc_failure_calloc(sizeof(*view));
	json_t *object = NULL;

	if (view != NULL && view_open(view, control, cloud, address, false)) {
		object = json_cloud(view->name, &view->report);
		if (address == NULL)
			figures_set(&object, "since", since_object(view));
		if (view->has_port)
			figures_set(&object, "lateness_ns", figures_late(&view->port.lateness_ns));
	}
	free(view);
	return object;
}

static json_t *path_object(struct control *control, uint32_t cloud)
{
	const char *name = (*control->scenario)->clouds[cloud]->name;
	struct cloud_report *report = alloc_failure_calloc(sizeof(*report));
	json_t *object = NULL;

	if (report != NULL && control_cloud(control, name, report))
		object = json_pack("{s:b,s:o}", "ok", 1, "path", json_path(&report->observed));
	free(report);
	return object;
}

static json_t *clouds_array(struct control *control)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < (*control->scenario)->n_clouds; i++)
		json_array_append_new(array, cloud_object(control, i, NULL));
	return array;
}

static json_t *show_object(struct control *control, enum show_what what, uint32_t cloud)
{
	switch (what) {
	case SHOW_CLOUD:
	case SHOW_CLOUD_ALL:
		return cloud_object(control, cloud, NULL);
	case SHOW_CLOUDS:
		return json_pack("{s:b,s:o}", "ok", 1, "clouds", clouds_array(control));
	case SHOW_PATH:
		return path_object(control, cloud);
	case SHOW_PORTS:
		return json_pack("{s:b,s:o}", "ok", 1, "ports", json_ports(control, false));
	case SHOW_TOTALS:
		return totals_object(control, cloud);
	default:
		return json_pack("{s:b,s:o}", "ok", 1, "workers", json_workers(control));
	}
}

bool show_answer(struct output *output, struct control *control, enum show_what what,
                 uint32_t cloud, const char *address, const char *late)
{
	json_t *object = NULL;
	struct printed text;
	FILE *out;

	if (address != NULL) {
		object = cloud_object(control, cloud, address);
		if (object == NULL)
			return false;
	}
	if (output->json && what != SHOW_CONFIG) {
		answer_object(output, object != NULL ? object : show_object(control, what, cloud));
		return true;
	}
	json_decref(object);
	out = printed_begin(&text);
	if (what == SHOW_CLOUD || what == SHOW_CLOUD_ALL) {
		show_cloud_text(out, control, cloud, address, what == SHOW_CLOUD_ALL);
	} else if (what == SHOW_PATH) {
		show_path_text(out, control, cloud);
	} else if (what == SHOW_CLOUDS) {
		show_clouds_text(out, control);
	} else if (what == SHOW_CONFIG) {
		if (*late)
			fprintf(out,
			        "# %s is stalled; the last change takes effect there at its next "
			        "poll\n",
			        late);
		scenario_file_print(out, *control->scenario);
	} else if (what == SHOW_TOTALS) {
		/* For a person the object that programs get, indented. */
		object = totals_object(control, cloud);
		if (object != NULL && json_dumpf(object, out, JSON_INDENT(2)) == 0)
			fputc('\n', out);
		json_decref(object);
	} else if (what == SHOW_PORTS) {
		show_ports_text(out, control);
	} else {
		show_workers_text(out, control);
	}
	answer_printed(output, "config", &text);
	return true;
}
