/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "line/delay.h"
#include "account/count.h"
#include "link/rate.h"
#include "units/human_unit.h"
#include "show/times.h"
#include "show/share.h"
#include "show/view.h"

#define FRAME_BYTES 1514 /* the longest ordinary frame */

static const char *const since[] = {[CONTROL_SINCE_START] = "the start",
                                    [CONTROL_SINCE_CLEAR] = "clear counters",
                                    [CONTROL_SINCE_CHANGE] = "the last change"};

void view_period(const struct view *view, enum control_since from, bool ago,
                 char text[VIEW_PERIOD_BYTES])
{
	snprintf(text, VIEW_PERIOD_BYTES, "since %s", since[from]);
	if (ago)
		text_add(text, VIEW_PERIOD_BYTES, ", %s ago",
		         human_of(HUMAN_NS, (double)(view->now_ns - view->since_ns), 3).text);
}

bool view_open(struct view *view, struct control *control, uint32_t cloud, const char *address,
               bool all)
{
	const struct scenario *scenario = *control->scenario;
	int port;

	memset(view, 0, sizeof(*view));
	view->conf = scenario->clouds[cloud];
	snprintf(view->name, sizeof(view->name), "%s%s%s", view->conf->name,
	         address != NULL ? "/" : "", address != NULL ? address : "");
	if (!control_cloud(control, view->name, &view->report))
		return false;
	port = scenario_find_port(scenario, view->conf->to);
	view->has_port =
	        port >= 0 && control->ops->port(control->context, (uint32_t)port, &view->port);
	view->now_ns = control_now_ns(control);
	view->since_ns = control->cleared_ns;
	view->counting = view->began = control->cleared ? CONTROL_SINCE_CLEAR : CONTROL_SINCE_START;
	view->since = view->report;
	if (address == NULL && !all)
		view->began = control_since(control, cloud, &view->since, &view->since_ns);
	return true;
}

void view_look(struct view *view, struct control *control)
{
	view->looked =
	        control_look(control, view->name, &view->report, view->now_ns, &view->look) &&
	        view->look.now_ns >= view->since_ns;
}

double view_bps(uint64_t bytes, uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? (double)bytes * 8e9 / (double)(to_ns - from_ns) : 0;
}

/* ---- configured and achieved ---- */

static void achieved_rate(const struct view *view, char *text, size_t size)
{
	uint64_t since_ns = view->looked ? view->look.now_ns : view->since_ns;
	const struct human_of span = human_of(HUMAN_NS, (double)(view->now_ns - since_ns), 3);
	const struct human_of mean =
	        human_of(HUMAN_BPS,
	                 view_bps(view->since.counters.tx_bytes, view->since_ns, view->now_ns), 4);

	if (view->looked)
		snprintf(text, size, "%s in the last %s, %s on average",
		         human_of(HUMAN_BPS,
		                  view_bps(view->report.counters.tx_bytes - view->look.tx_bytes,
		                           since_ns, view->now_ns),
		                  4)
		                 .text,
		         span.text, mean.text);
	else
		snprintf(text, size, "%s on average in %s", mean.text, span.text);
}

/* Prints the delay of the line, which is what `delay` configures. */
static void achieved_delay(const struct view *view, char *text, size_t size)
{
	const struct cloud_report *report = &view->since;
	const struct histogram *h = &report->delay_ns;
	struct times line = line_delay_of(view->conf, report);

	if (h->count == 0)
		snprintf(text, size, "no packet yet");
	else if (!line.known)
		snprintf(text, size, "%s on average%s, queueing included",
		         human_of(HUMAN_NS, (double)h->sum / (double)h->count, 6).text,
		         line_delay_of_all(view->conf, report) ? " of all clouds" : "");
	else if (report->line_packets > 0)
		snprintf(text, size, "%s on the line on average, standard deviation %s%s",
		         human_of(HUMAN_NS, report->line_mean_ns, 6).text,
		         human_of(HUMAN_NS, report->line_deviation_ns, 4).text,
		         report->order_waits > 0 ? ", order made packets wait" : "");
	else
		snprintf(text, size, "%s on the line",
		         human_of(HUMAN_NS, line.ns[TIMES_MEAN], 6).text);
}

/* Returns what a statement that acts on packets does to one, or NULL. */
static const char *done_to(const struct statement *statement)
{
	const size_t counter = statement->acts[0];

	if (!statement_acts(statement) || statement->role == ROLE_SCHEDULE)
		return NULL;
#define X(field, text, metric, help)                                                               \
	if (counter == COUNTER(field))                                                             \
		return text;
	COUNTERS_EFFECTS(X)
	COUNTERS_LATER(X)
	COUNTERS_CHANGES(X)
#undef X
	return counter == DROPS(LOSS) ? "lost" : "dropped";
}

void view_achieved(const struct view *view, const struct conf *conf, char *text, size_t size)
{
	const char *name = conf->statement->name, *done = done_to(conf->statement);
	struct share share;

	text[0] = '\0';
	if (done) {
		share = share_of(view->conf, &view->since, conf);
		snprintf(text, size, "%s", share_text(&share, "no packet yet", done).text);
	} else if (conf->statement->role == ROLE_SCHEDULE)
		shares_format(view->conf, &view->since, conf, "no packet yet", text, size);
	else if (strcmp(name, "rate") == 0)
		achieved_rate(view, text, size);
	else if (strcmp(name, "delay") == 0)
		achieved_delay(view, text, size);
	else if (is_of_queue(conf->statement))
		counts_format(view->conf, &view->since, HUMAN_NS, conf, text, size);
}

static void warn_queue(const struct view *view, FILE *out)
{
	const struct rate_conf *rate = (const struct rate_conf *)cloud_conf_get(view->conf, "rate");
	const struct delay_conf *delay =
	        (const struct delay_conf *)cloud_conf_get(view->conf, "delay");
	struct limit queue;
	double bytes, product;

	if (rate == NULL)
		return;
	queue = rate_queue(rate, view->conf);
	if (queue.unit == LIMIT_BYTES)
		bytes = (double)queue.value;
	else if (queue.unit == LIMIT_TIME)
		bytes = (double)queue.value * (double)rate->rate_bps / 8e9;
	else
		bytes = (double)queue.value * FRAME_BYTES;
	product = delay != NULL ? (double)rate->rate_bps * (double)delay->delay_ns / 8e9 : 0;
	if (bytes < FRAME_BYTES)
		fprintf(out,
		        "warning: the queue of %s cannot hold one frame of %d B; make it %d B or "
		        "more\n",
		        human_of(HUMAN_BYTES, bytes, 4).text, FRAME_BYTES, FRAME_BYTES);
	else if (view->report.counters.drops[REASON_QUEUE_FULL] > 0 && bytes < product)
		fprintf(out,
		        "warning: the queue drops, and its %s are less than rate x delay, %s: one "
		        "TCP "
		        "connection cannot fill the link\n",
		        human_of(HUMAN_BYTES, bytes, 4).text,
		        human_of(HUMAN_BYTES, product, 4).text);
}

void view_print_warnings(const struct view *view, FILE *out)
{
	const struct counters *c = &view->report.counters;

	for (int i = 0; i < REASON_COUNT; i++)
		if (reason_kind((enum reason)i) == REASON_REAL && c->drops[i] > 0)
			fprintf(out,
			        "warning: %s lost to %s, which the scenario did not ask for: %s\n",
			        count_of(c->drops[i], "packet").text, reason_name((enum reason)i),
			        reason_help((enum reason)i));
	if (view->has_port)
		late_warn(out, "", view->conf->to, &view->port.lateness_ns, LATE_WARN_NS,
		          "see show workers");
	warn_queue(view, out);
}
