/* SPDX-License-Identifier: BSD-3-Clause */
#include "show/achieved.h"
#include "show/achieved_queue.h"
#include "show/late.h"
#include "show/line_delay.h"
#include "show/offered.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine_report.h"
#include "line/delay.h"
#include "link/rate.h"
#include "loss/loss_every.h"
#include "report/chart_unit.h"
#include "show/table.h"
#include "statements.h"
#include "text/alloc_failure.h"
#include "text/statement_text.h"

#define DIGITS 5

/* The rows while they are being filled in. */
struct filler {
	const struct cloud_conf *cloud;
	const struct cloud_report *report;
	const struct achieved_run *run;
	struct achieved_row *rows;
	uint32_t n;
};

/* Text by value, so that one printf can have several. */
struct quantity {
	char text[CHART_UNIT_SIZE];
};

struct phrase {
	char text[160];
};

static struct quantity unit(enum chart_unit kind, double value)
{
	struct quantity q;

	chart_unit_format(q.text, sizeof(q.text), kind, value, DIGITS);
	return q;
}

static enum chart_unit time_unit(const struct filler *filler)
{
	return filler->run->time_unit ? filler->run->time_unit : CHART_NS;
}

static struct quantity time_of(const struct filler *filler, double ns)
{
	return unit(time_unit(filler), ns);
}

/* Formats a percentile of a histogram, with the digits that its buckets justify. */
static struct quantity percentile_of(const struct filler *filler, const struct histogram *h,
                                     double ns)
{
	struct quantity q;
	const int digits = histogram_digits(h);

	chart_unit_format(q.text, sizeof(q.text), time_unit(filler), ns,
	                  digits < DIGITS ? digits : DIGITS);
	return q;
}

static struct quantity rate_of(const struct filler *filler, double bps)
{
	return unit(filler->run->rate_unit ? filler->run->rate_unit : CHART_BPS, bps);
}

static struct quantity number(uint64_t value)
{
	struct quantity q;
	char text[COUNT_SIZE];

	snprintf(q.text, sizeof(q.text), "%s", count_text(text, value));
	return q;
}

static struct achieved_row *row_add(struct filler *filler, const char *what)
{
	struct achieved_row *row = &filler->rows[filler->n++];

	memset(row, 0, sizeof(*row));
	snprintf(row->what, sizeof(row->what), "%s", what);
	return row;
}

/* Prints the statement as the user would write it, without its name. */
static void asked_text(struct achieved_row *row, const struct conf *conf)
{
	FILE *text = fmemopen(row->asked, sizeof(row->asked), "w");
	size_t name = strlen(conf->statement->name);

	if (!text) {
		alloc_failure_note();
		return;
	}
	statement_print(text, conf);
	fclose(text);
	row->asked[sizeof(row->asked) - 1] = '\0';
	if (strncmp(row->asked, conf->statement->name, name) == 0 && row->asked[name] == ' ')
		memmove(row->asked, row->asked + name + 1, strlen(row->asked + name + 1) + 1);
}

/* Returns the standard deviation in ns, to the width of the buckets. */
static double achieved_deviation_ns(const struct histogram *h)
{
	double mean, sum = 0;

	if (h->count == 0 || h->min == h->max)
		return 0;
	mean = (double)h->sum / (double)h->count;
	for (struct histogram_walk w = histogram_walk(h); histogram_walk_next(&w);) {
		double low = fmax((double)h->min, (double)w.low);
		double away = (low + fmin((double)h->max, (double)w.top)) / 2 - mean;

		sum += (double)w.count * away * away;
	}
	return sqrt(sum / (double)h->count);
}

/* Returns how far a mean or a deviation is off the configured one. */
static struct quantity off_text(double got, double asked)
{
	struct quantity q;
	double off = fmin(fmax((got / asked - 1) * 100, -1e6), 1e6);

	if (fabs(off) < 0.005)
		snprintf(q.text, sizeof(q.text), "as asked");
	else
		snprintf(q.text, sizeof(q.text), "%+.2f %%", off);
	return q;
}

static struct delay_asked asked_of(const struct conf *conf)
{
	struct delay_asked asked;

	if (delay_asked((const struct delay_conf *)conf, &asked) != 0) {
		alloc_failure_note();
		asked = (struct delay_asked){0};
	}
	return asked;
}

/* Adds what keeping order has cost: packets that waited for the one ahead. */
static void add_order(struct filler *filler)
{
	const struct cloud_report *report = filler->report;
	struct achieved_row *row;

	if (report->order_waits == 0 || report->delay_ns.count == 0)
		return;
	row = row_add(filler, "order");
	snprintf(row->asked, sizeof(row->asked), "keep");
	snprintf(row->got, sizeof(row->got),
	         "%s packets waited for the one ahead: %s more on average over all packets",
	         number(report->order_waits).text,
	         time_of(filler, (double)report->order_waited_ns / (double)report->delay_ns.count)
	                 .text);
}

/* Prints figures that are all of the same packets. `mean_is`: how far the mean is off, or "". */
static void got_delays(const struct filler *filler, struct achieved_row *row,
                       const struct histogram *h, const char *mean_is)
{
	if (h->min == h->max)
		snprintf(row->got, sizeof(row->got), "%s, every packet",
		         time_of(filler, (double)h->min).text);
	else
		snprintf(row->got, sizeof(row->got), "mean %s%s, min %s, p50 %s, p99 %s, max %s",
		         time_of(filler, (double)h->sum / (double)h->count).text, mean_is,
		         time_of(filler, (double)h->min).text,
		         percentile_of(filler, h, (double)histogram_percentile(h, 500000)).text,
		         percentile_of(filler, h, (double)histogram_percentile(h, 990000)).text,
		         time_of(filler, (double)h->max).text);
}

/* Prints the time on the line, which is what `delay` configures. */
static void got_line_delay(const struct filler *filler, const struct conf *conf,
                           struct achieved_row *row)
{
	const struct histogram *h = &filler->report->delay_ns;
	struct line_delay line = line_delay_of(filler->cloud, filler->report);
	double asked_ns = conf && conf->statement == &delay_statement ? asked_of(conf).mean_ns : 0;
	char off[CHART_UNIT_SIZE + 8] = "";

	if (line.known && asked_ns > 0 && !line_delay_is_scheduled(filler->cloud))
		snprintf(off, sizeof(off), " (%s)", off_text(line.mean_ns, asked_ns).text);
	if (h->count == 0)
		snprintf(row->got, sizeof(row->got), "no packet came through");
	else if (!line_delay_has_link(filler->cloud))
		got_delays(filler, row, h, off);
	else if (line.known && line.spread && line.min_ns >= line.max_ns)
		snprintf(row->got, sizeof(row->got), "%s on the line, every packet",
		         time_of(filler, line.mean_ns).text);
	else if (line.known && line.spread)
		snprintf(row->got, sizeof(row->got),
		         "mean %s%s, min %s, p50 %s, p99 %s, max %s on the line",
		         time_of(filler, line.mean_ns).text, off, time_of(filler, line.min_ns).text,
		         percentile_of(filler, &filler->report->line_ns, line.p50_ns).text,
		         percentile_of(filler, &filler->report->line_ns, line.p99_ns).text,
		         time_of(filler, line.max_ns).text);
	else if (line.known)
		snprintf(row->got, sizeof(row->got), "mean %s%s on the line",
		         time_of(filler, line.mean_ns).text, off);
	else
		snprintf(row->got, sizeof(row->got), "on the line not known");
}

static void add_delay(struct filler *filler, const struct conf *conf)
{
	const struct histogram *h = &filler->report->delay_ns;
	struct achieved_row *row = row_add(filler, "delay");

	if (conf && conf->statement == &delay_statement)
		snprintf(row->asked, sizeof(row->asked), "%s",
		         time_of(filler, asked_of(conf).mean_ns).text);
	else if (conf)
		asked_text(row, conf);
	else
		snprintf(row->asked, sizeof(row->asked), "none");
	got_line_delay(filler, conf, row);
	if (h->count > 0 && line_delay_has_link(filler->cloud)) {
		row = row_add(filler, "delay in all");
		snprintf(row->asked, sizeof(row->asked), "with the queue");
		got_delays(filler, row, h, "");
	}
}

/* Compares jitter as a standard deviation, which any distribution has. */
static void add_jitter(struct filler *filler, const struct conf *conf)
{
	const struct cloud_report *report = filler->report;
	const struct histogram *h = &report->delay_ns;
	const bool has_link = line_delay_has_link(filler->cloud);
	const struct line_delay line = line_delay_of(filler->cloud, report);
	struct achieved_row *row = row_add(filler, "jitter");
	double asked_ns = 0;

	if (conf && conf->statement == &delay_statement)
		asked_ns = asked_of(conf).deviation_ns;
	if (!conf || conf->statement == &delay_statement)
		snprintf(row->asked, sizeof(row->asked), "%s",
		         asked_ns > 0 ? time_of(filler, asked_ns).text : "none");
	/* The figures of the line count from its latest change. */
	if (report->line_packets > 0 && asked_ns > 0 && !line_delay_is_scheduled(filler->cloud))
		snprintf(row->got, sizeof(row->got), "%s (standard deviation), %s",
		         time_of(filler, report->line_deviation_ns).text,
		         off_text(report->line_deviation_ns, asked_ns).text);
	else if (has_link && line.known && line.spread && line.min_ns >= line.max_ns)
		snprintf(row->got, sizeof(row->got), "none on the line");
	else if (h->count > 0)
		snprintf(row->got, sizeof(row->got), "%s (standard deviation%s)",
		         time_of(filler, achieved_deviation_ns(h)).text,
		         has_link ? ", queueing included" : "");
}

/* Delays are those of the emulation: a live run may exceed them. */
static void add_late(struct filler *filler)
{
	const struct histogram *late = filler->run->late;
	struct achieved_row *row;
	char text[128];

	if (!late)
		return;
	row = row_add(filler, "late");
	snprintf(row->asked, sizeof(row->asked), "never");
	late_text(late, text, sizeof(text));
	if (late->count == 0)
		snprintf(row->got, sizeof(row->got), "no packet left");
	else
		snprintf(row->got, sizeof(row->got), "%s, beyond the delay", text);
}

/* Prints how many packets the statement has treated, of those that came to it. */
static void got_share(const struct filler *filler, const struct conf *conf, uint64_t count,
                      struct achieved_row *row)
{
	uint64_t offered;

	if (!offered_packets(filler->cloud, filler->report, conf, &offered)) {
		snprintf(row->got, sizeof(row->got), "%s packets", number(count).text);
		return;
	}
	if (offered < count)
		offered = count;
	if (offered == 0) {
		snprintf(row->got, sizeof(row->got), "no packet came to it");
		return;
	}
	snprintf(row->got, sizeof(row->got), "%s, %s of %s packets",
	         unit(CHART_PERCENT, (double)count / (double)offered).text, number(count).text,
	         number(offered).text);
}

static void add_loss(struct filler *filler, const struct conf *conf)
{
	struct achieved_row *row = row_add(filler, "loss");
	double share = -1;

	asked_text(row, conf);
	/* The numbers of packets as a share, for comparison. */
	if (conf->statement == &loss_every_statement) {
		const struct loss_every_conf *every = (const struct loss_every_conf *)conf;

		share = (double)every->burst / (double)(every->every - 1 + every->burst);
	}
	if (share >= 0)
		snprintf(row->asked + strlen(row->asked), sizeof(row->asked) - strlen(row->asked),
		         ": %s", unit(CHART_PERCENT, share).text);
	got_share(filler, conf, filler->report->counters.drops[REASON_LOSS], row);
}

static void add_rate(struct filler *filler, const struct conf *conf)
{
	const struct counters *c = &filler->report->counters;
	struct achieved_row *row = row_add(filler, "rate");
	double seconds = (double)filler->run->duration_ns / 1e9;
	size_t at = 0;

	asked_text(row, conf);
	if (filler->run->busiest_second_bytes > 0)
		at = (size_t)snprintf(
		        row->got, sizeof(row->got), "%s in the busiest second, ",
		        rate_of(filler, (double)filler->run->busiest_second_bytes * 8).text);
	if (seconds > 0)
		snprintf(row->got + at, sizeof(row->got) - at, "%s on average",
		         rate_of(filler, (double)c->tx_bytes * 8 / seconds).text);
}

/* Other statements have counters, each with its words. Those that are `always` are printed even if
 * 0. */
struct in_flight {
	const char *statement, *words;
	size_t counter;
	bool always;
};

#define COUNTER(name) offsetof(struct counters, name)

static const struct in_flight in_flights[] = {
        {"hop", "packets of its own", COUNTER(generated), true},
        {"feedback", "answers written", COUNTER(feedback_written), false},
        {"feedback", "requests inserted", COUNTER(feedback_inserted), false},
        {"feedback", "headers with answers inserted", COUNTER(feedback_answered), false},
        {"feedback", "headers removed", COUNTER(feedback_stripped), false},
        {"feedback", "without room", COUNTER(feedback_no_room), false},
        {"feedback", "malformed", COUNTER(feedback_malformed), false},
        {"xcp", "requests reduced", COUNTER(feedback_written), true},
        {"xcp", "malformed", COUNTER(feedback_malformed), false},
};

static void got_in_flights(struct achieved_row *row, const char *statement,
                           const struct counters *c)
{
	size_t at = 0;

	for (size_t i = 0; i < sizeof(in_flights) / sizeof(in_flights[0]); i++) {
		uint64_t count;

		if (strcmp(in_flights[i].statement, statement) != 0)
			continue;
		memcpy(&count, (const char *)c + in_flights[i].counter, sizeof(count));
		if ((count == 0 && !in_flights[i].always) || at >= sizeof(row->got))
			continue;
		at += (size_t)snprintf(row->got + at, sizeof(row->got) - at, "%s%s %s",
		                       at ? ", " : "", number(count).text, in_flights[i].words);
	}
}

static void got_meter(const struct filler *filler, struct achieved_row *row,
                      const struct observed *observed)
{
	const struct meter_reading *meter = &observed->meter;

	if (!observed->has_meter || !meter->measured)
		return;
	snprintf(row->got, sizeof(row->got), "in the latest window %s sent, %s queuing delay",
	         rate_of(filler, (double)meter->sent_bps).text,
	         time_of(filler, (double)meter->delay_ns).text);
}

static void add_other(struct filler *filler, const struct conf *conf)
{
	static const struct {
		const char *statement;
		size_t counter;
	} known[] = {
	        {"duplicate", offsetof(struct counters, duplicated)},
	        {"corrupt", offsetof(struct counters, corrupted)},
	        {"police", offsetof(struct counters, drops[REASON_POLICE])},
	        {"reorder", offsetof(struct counters, reordered)},
	        {"rewrite", offsetof(struct counters, rewritten)},
	};
	const struct counters *c = &filler->report->counters;
	struct achieved_row *row = row_add(filler, conf->statement->name);

	asked_text(row, conf);
	achieved_queue_text(filler->cloud, filler->report, time_unit(filler), conf, row->got,
	                    sizeof(row->got));
	got_in_flights(row, conf->statement->name, c);
	if (strcmp(conf->statement->name, "meter") == 0)
		got_meter(filler, row, &filler->report->observed);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		uint64_t count;

		if (strcmp(conf->statement->name, known[i].statement) != 0)
			continue;
		memcpy(&count, (const char *)c + known[i].counter, sizeof(count));
		got_share(filler, conf, count, row);
	}
}

static void add_drops(struct filler *filler)
{
	static const char *const kinds[] = {
	        [REASON_EMULATED] = "as configured",
	        [REASON_CONGESTION] = "by the emulated queue",
	        [REASON_REAL] = "NOT configured: lost by weir itself",
	};
	const struct counters *c = &filler->report->counters;

	for (int i = 0; i < REASON_COUNT; i++) {
		enum reason reason = (enum reason)i;
		struct achieved_row *row;

		if (c->drops[i] == 0)
			continue;
		row = row_add(filler, "");
		snprintf(row->what, sizeof(row->what), "dropped: %s", reason_name(reason));
		snprintf(row->got, sizeof(row->got), "%s packets, %s", number(c->drops[i]).text,
		         kinds[reason_kind(reason)]);
	}
}

static void add_statement(struct filler *filler, const struct conf *conf)
{
	if (strcmp(conf->statement->name, "loss") == 0)
		add_loss(filler, conf);
	else if (strcmp(conf->statement->name, "rate") == 0)
		add_rate(filler, conf);
	else
		add_other(filler, conf);
}

uint32_t achieved_rows(const struct cloud_conf *cloud, const struct cloud_report *report,
                       const struct achieved_run *run, struct achieved_row *rows)
{
	struct filler filler = {.cloud = cloud, .report = report, .run = run, .rows = rows};
	const struct counters *c = &report->counters;
	struct achieved_row *row = row_add(&filler, "packets");

	snprintf(row->got, sizeof(row->got), "%s in, %s out", number(c->rx_packets).text,
	         number(c->tx_packets).text);
	for (const struct statement *const *s = statements; *s; s++) {
		/* A scoped statement may occur once in each class. */
		for (uint32_t i = 0; i < cloud->n_confs; i++) {
			if (cloud->confs[i]->statement == *s && strcmp((*s)->name, "delay") != 0)
				add_statement(&filler, cloud->confs[i]);
		}
	}
	add_delay(&filler, cloud_conf_get(cloud, "delay"));
	add_jitter(&filler, cloud_conf_get(cloud, "delay"));
	add_late(&filler);
	add_order(&filler);
	add_drops(&filler);
	return filler.n;
}
