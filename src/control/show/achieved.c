/* SPDX-License-Identifier: BSD-3-Clause */
#include "show/achieved.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "account/count.h"
#include "engine/engine_report.h"
#include "line/delay.h"
#include "link/class.h"
#include "link/rate.h"
#include "loss/loss_every.h"
#include "show/share.h"
#include "statements.h"
#include "text/alloc_failure.h"
#include "text/statement_text.h"

#define DIGITS      5
#define LATE_DIGITS 3

/* The rows while they are being filled in. */
struct filler {
	const struct cloud_conf *cloud;
	const struct cloud_report *report;
	const struct achieved_run *run;
	struct achieved_row *rows;
	uint32_t n;
};

/* Formats a value in the unit of its page, unless that would be a small fraction: 34 kbit/s beside
 * a link of 10 Mbit/s. */
static struct human_of quantity(enum human_unit one, enum human_unit kind, double value)
{
	if (!one || (value > 0 && value < 0.1 * human_unit_prefix(one, value, 5)->factor))
		one = kind;
	return human_of(one, value, DIGITS);
}

static struct human_of a_time(const struct filler *filler, double ns)
{
	return quantity(filler->run->time_unit, HUMAN_NS, ns);
}

static struct human_of a_rate(const struct filler *filler, double bps)
{
	return quantity(filler->run->rate_unit, HUMAN_BPS, bps);
}

#define ASKED(row, ...) text_add((row)->asked, sizeof((row)->asked), __VA_ARGS__)
#define GOT(row, ...)   text_add((row)->got, sizeof((row)->got), __VA_ARGS__)

static struct achieved_row *add_row(struct filler *filler, const char *what)
{
	struct achieved_row *row = &filler->rows[filler->n++];

	*row = (struct achieved_row){.what = ""};
	snprintf(row->what, sizeof(row->what), "%s", what);
	return row;
}

/* Prints the statement as the user would write it, without its name. */
static void asked_as_written(struct achieved_row *row, const struct conf *conf)
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

static void got_share(const struct filler *filler, const struct conf *conf,
                      struct achieved_row *row)
{
	struct share share = share_of(filler->cloud, filler->report, conf);

	GOT(row, "%s", share_text(&share, "no packet came to it", "").text);
}

static void add_loss(struct filler *filler, const struct conf *conf)
{
	struct achieved_row *row = add_row(filler, "loss");

	asked_as_written(row, conf);
	/* The numbers of packets as a share, for comparison. */
	if (conf->statement == &loss_every_statement) {
		const struct loss_every_conf *every = (const struct loss_every_conf *)conf;

		ASKED(row, ": %s",
		      human_of(HUMAN_PERCENT,
		               (double)every->burst / (double)(every->every - 1 + every->burst),
		               DIGITS)
		              .text);
	}
	got_share(filler, conf, row);
}

static void add_rate(struct filler *filler, const struct conf *conf)
{
	const struct rate_conf *rate = (const struct rate_conf *)conf;
	const struct counters *c = &filler->report->counters;
	struct achieved_row *row = add_row(filler, "rate");
	const struct class_conf *classes[CLASSES_MAX];
	double seconds = (double)filler->run->duration_ns / 1e9;

	asked_as_written(row, conf);
	if (rate->queue.unit == LIMIT_NONE && class_confs(filler->cloud, classes) == 0)
		ASKED(row, " queue %s (default)",
		      human_of(HUMAN_BYTES, (double)rate_queue(rate, filler->cloud).value, DIGITS)
		              .text);
	if (filler->run->busiest_second_bytes > 0)
		GOT(row, "%s in the busiest second, ",
		    a_rate(filler, (double)filler->run->busiest_second_bytes * 8).text);
	if (seconds > 0)
		GOT(row, "%s on average", a_rate(filler, (double)c->tx_bytes * 8 / seconds).text);
}

static void add_other(struct filler *filler, const struct conf *conf)
{
	const struct observed *observed = &filler->report->observed;
	struct achieved_row *row = add_row(filler, conf->statement->name);

	asked_as_written(row, conf);
	if (conf->statement->role == ROLE_SCHEDULE)
		shares_format(filler->cloud, filler->report, conf, "no packet came", row->got,
		              sizeof(row->got));
	else if (statement_acts(conf->statement))
		got_share(filler, conf, row);
	else if (strcmp(conf->statement->name, "meter") == 0 && observed->has_meter &&
	         observed->meter.measured)
		GOT(row, "in the latest window %s sent, %s queuing delay",
		    a_rate(filler, (double)observed->meter.sent_bps).text,
		    a_time(filler, (double)observed->meter.delay_ns).text);
	else
		counts_format(filler->cloud, filler->report,
		              filler->run->time_unit ? filler->run->time_unit : HUMAN_NS, conf,
		              row->got, sizeof(row->got));
}

/* ---- the line: delay, jitter and order; and how late packets left ---- */

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

struct comparison {
	char text[160];
};

/* Returns how far a mean or a deviation is off the configured one; of so few packets that chance
 * decides, only their number. `before` and `after` enclose what is said. */
static struct comparison compared(const char *before, double got, double asked, uint64_t packets,
                                  const char *after)
{
	struct comparison c;
	double off = fmin(fmax((got / asked - 1) * 100, -1e6), 1e6);

	if (packets < SHARE_LEAST)
		snprintf(c.text, sizeof(c.text), " of %s", count_of(packets, "packet").text);
	else if (fabs(off) < 0.005)
		snprintf(c.text, sizeof(c.text), "%sas asked%s", before, after);
	else
		snprintf(c.text, sizeof(c.text), "%s%+.2f %%%s", before, off, after);
	return c;
}

/* Adds what keeping order has cost: packets that waited for the one ahead. And how many have lost
 * their order, by whatever statement: `reorder`, or a jitter that lets packets overtake. */
static void add_order(struct filler *filler)
{
	const struct cloud_report *report = filler->report;
	struct achieved_row *row;

	if (report->order_waits > 0 && report->delay_ns.count > 0) {
		row = add_row(filler, "order");
		ASKED(row, "keep");
		GOT(row, "%s waited for the one ahead: %s more on average over all packets",
		    count_of(report->order_waits, "packet").text,
		    a_time(filler, (double)report->order_waited_ns / (double)report->delay_ns.count)
		            .text);
	}
	if (report->counters.reordered > 0) {
		row = add_row(filler, "order lost");
		GOT(row, "%s left before one that came earlier",
		    count_of(report->counters.reordered, "packet").text);
	}
}

/* Prints the time on the line, which is what `delay` configures. */
static void got_line_delay(const struct filler *filler, double asked_ns, struct achieved_row *row)
{
	const struct histogram *h = &filler->report->delay_ns;
	const bool has_link = line_delay_has_link(filler->cloud);
	struct times line = line_delay_of(filler->cloud, filler->report);
	const char *on_the_line = has_link ? " on the line" : "";
	struct comparison off = {""};

	if (line.known && asked_ns > 0 && !line_delay_is_scheduled(filler->cloud))
		off = compared(" (", line.ns[TIMES_MEAN], asked_ns, h->count, ")");
	if (h->count == 0)
		GOT(row, "no packet came through");
	else if (!line.known)
		GOT(row, "on the line not known");
	else if (line.spread && line.ns[TIMES_MIN] >= line.ns[TIMES_MAX])
		GOT(row, "%s%s, every packet", a_time(filler, line.ns[TIMES_MEAN]).text,
		    on_the_line);
	else
		GOT(row, "mean %s%s%s", a_time(filler, line.ns[TIMES_MEAN]).text, off.text,
		    on_the_line);
}

static void add_delay(struct filler *filler, const struct conf *conf,
                      const struct delay_asked *asked)
{
	struct achieved_row *row = add_row(filler, "delay");

	if (!conf)
		ASKED(row, "none");
	else if (conf->statement != &delay_statement)
		asked_as_written(row, conf);
	else if (asked->mean_ns > asked->drawn_mean_ns * 1.0005)
		ASKED(row, "%s (mean %s: none is below 0)",
		      a_time(filler, asked->drawn_mean_ns).text,
		      a_time(filler, asked->mean_ns).text);
	else
		ASKED(row, "%s", a_time(filler, asked->mean_ns).text);
	got_line_delay(filler, asked->mean_ns, row);
}

/* Prints the jitter as configured: a standard deviation, if it is not already one. */
static void asked_jitter(const struct filler *filler, const struct delay_conf *delay,
                         double deviation_ns, struct achieved_row *row)
{
	const double jitter_ns = (double)delay->jitter_ns;
	const struct human_of deviation = a_time(filler, deviation_ns);

	if (deviation_ns <= 0)
		ASKED(row, "none");
	else if (jitter_ns <= 0)
		ASKED(row, "standard deviation %s", deviation.text);
	else if (fabs(deviation_ns / jitter_ns - 1) < 5e-4)
		ASKED(row, "%s", deviation.text);
	else
		ASKED(row, "%s (standard deviation %s)", a_time(filler, jitter_ns).text,
		      deviation.text);
}

/* Compares jitter as a standard deviation, which any distribution has. */
static void add_jitter(struct filler *filler, const struct conf *conf, double asked_ns)
{
	const struct cloud_report *report = filler->report;
	const struct histogram *h = &report->delay_ns;
	const bool has_link = line_delay_has_link(filler->cloud);
	const struct times line = line_delay_of(filler->cloud, report);
	struct achieved_row *row = add_row(filler, "jitter");

	if (!conf)
		ASKED(row, "none");
	else if (conf->statement == &delay_statement)
		asked_jitter(filler, (const struct delay_conf *)conf, asked_ns, row);
	/* The figures of the line count from its latest change. */
	if (report->line_packets > 0 && asked_ns > 0 && !line_delay_is_scheduled(filler->cloud))
		GOT(row, "%s (standard deviation)%s",
		    a_time(filler, report->line_deviation_ns).text,
		    compared(", ", report->line_deviation_ns, asked_ns, report->line_packets, "")
		            .text);
	else if (has_link && line.known && line.spread && line.ns[TIMES_MIN] >= line.ns[TIMES_MAX])
		GOT(row, "none on the line");
	else if (h->count > 0)
		GOT(row, "%s (standard deviation%s)", a_time(filler, achieved_deviation_ns(h)).text,
		    has_link ? ", queueing included" : "");
}

/* Delays are those of the emulation: a live run may exceed them. */
static void add_late(struct filler *filler)
{
	const struct histogram *late = filler->run->late;
	struct achieved_row *row;

	if (!late)
		return;
	row = add_row(filler, "late");
	ASKED(row, "never");
	if (late->count == 0)
		GOT(row, "no packet left");
	else
		GOT(row, "p50 %s, p99 %s, max %s, beyond the delay",
		    human_of(HUMAN_NS, (double)histogram_percentile(late, 500000), LATE_DIGITS)
		            .text,
		    human_of(HUMAN_NS, (double)histogram_percentile(late, 990000), LATE_DIGITS)
		            .text,
		    human_of(HUMAN_NS, (double)late->max, LATE_DIGITS).text);
}

/* ---- all rows ---- */

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
		row = add_row(filler, "");
		snprintf(row->what, sizeof(row->what), "dropped: %s", reason_name(reason));
		GOT(row, "%s, %s", count_of(c->drops[i], "packet").text,
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

/* Prints all terms of the sum that every cloud keeps (counters.h), so that a reader can check it:
 * what came in or was made is what went out, was dropped, or is still here; nothing of 0. */
static void add_books(struct filler *filler)
{
	const struct counters *c = &filler->report->counters;
	const struct {
		uint64_t count;
		const char *words;
		bool always;
	} terms[] = {{c->rx_packets, "in", true},
	             {c->duplicated, "copied", false},
	             {c->generated, "made", false},
	             {c->tx_packets, "out", true},
	             {counters_drops(c), "dropped", false}};
	struct achieved_row *row = add_row(filler, "packets");
	char digits[COUNT_SIZE];

	for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++)
		if (terms[i].count > 0 || terms[i].always)
			GOT(row, "%s%s %s", row->got[0] ? ", " : "",
			    count_text(digits, terms[i].count), terms[i].words);
	if (filler->report->held_packets > 0)
		GOT(row, "; still on their way: %s",
		    count_text(digits, filler->report->held_packets));
}

uint32_t achieved_rows(const struct cloud_conf *cloud, const struct cloud_report *report,
                       const struct achieved_run *run, struct achieved_row *rows)
{
	struct filler filler = {.cloud = cloud, .report = report, .run = run, .rows = rows};
	const struct conf *delay = cloud_conf_get(cloud, delay_statement.name);
	struct delay_asked asked;

	add_books(&filler);
	for (const struct statement *const *s = statements; *s; s++) {
		/* A scoped statement may occur once in each class. */
		for (uint32_t i = 0; i < cloud->n_confs; i++) {
			if (cloud->confs[i]->statement == *s && strcmp((*s)->name, "delay") != 0)
				add_statement(&filler, cloud->confs[i]);
		}
	}
	line_delay_asked(cloud, &asked);
	add_delay(&filler, delay, &asked);
	add_jitter(&filler, delay, asked.deviation_ns);
	add_late(&filler);
	add_order(&filler);
	add_drops(&filler);
	return filler.n;
}

uint32_t achieved_times(const struct cloud_conf *cloud, const struct cloud_report *report,
                        struct achieved_times times[ACHIEVED_TIMES_MAX])
{
	const bool has_link = line_delay_has_link(cloud);
	const struct times all = times_of(&report->delay_ns);
	uint32_t n = 0;

	if (report->delay_ns.count > 0 && has_link)
		times[n++] = (struct achieved_times){"delay, line", line_delay_of(cloud, report)};
	if (report->delay_ns.count > 0)
		times[n++] = (struct achieved_times){has_link ? "delay in all" : "delay", all};
	for (uint32_t i = 0; i < n; i++)
		if (times[i].times.digits > DIGITS)
			times[i].times.digits = DIGITS;
	return n;
}
