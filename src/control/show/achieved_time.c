/* SPDX-License-Identifier: BSD-3-Clause */
/* What the line of a cloud has achieved: delay, jitter and order; and how late packets left. */
#include <math.h>

#include "line/delay.h"
#include "show/achieved_filler.h"
#include "show/times.h"
#include "show/share.h"
#include "text/alloc_failure.h"
#include "account/count.h"

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

static struct delay_asked asked_of(const struct conf *conf)
{
	struct delay_asked asked;

	if (delay_asked((const struct delay_conf *)conf, &asked) != 0) {
		alloc_failure_note();
		asked = (struct delay_asked){0};
	}
	return asked;
}

/* Adds what keeping order has cost: packets that waited for the one ahead. And how many have lost
 * their order, by whatever statement: `reorder`, or a jitter that lets packets overtake. */
static void add_order(struct achieved_filler *filler)
{
	const struct cloud_report *report = filler->report;
	struct achieved_row *row;

	if (report->order_waits > 0 && report->delay_ns.count > 0) {
		row = filler_add(filler, "order");
		snprintf(row->asked, sizeof(row->asked), "keep");
		snprintf(row->got, sizeof(row->got),
		         "%s waited for the one ahead: %s more on average over all packets",
		         count_of(report->order_waits, "packet").text,
		         filler_time(filler, (double)report->order_waited_ns /
		                                     (double)report->delay_ns.count)
		                 .text);
	}
	if (report->counters.reordered > 0) {
		row = filler_add(filler, "order lost");
		snprintf(row->got, sizeof(row->got), "%s left before one that came earlier",
		         count_of(report->counters.reordered, "packet").text);
	}
}

/* Prints the time on the line, which is what `delay` configures. */
static void got_line_delay(const struct achieved_filler *filler, const struct conf *conf,
                           struct achieved_row *row)
{
	const struct histogram *h = &filler->report->delay_ns;
	const bool has_link = line_delay_has_link(filler->cloud);
	struct times line = line_delay_of(filler->cloud, filler->report);
	double asked_ns = conf && conf->statement == &delay_statement ? asked_of(conf).mean_ns : 0;
	const char *on_the_line = has_link ? " on the line" : "";
	struct comparison off = {""};

	if (line.known && asked_ns > 0 && !line_delay_is_scheduled(filler->cloud))
		off = compared(" (", line.ns[TIMES_MEAN], asked_ns, h->count, ")");
	if (h->count == 0)
		snprintf(row->got, sizeof(row->got), "no packet came through");
	else if (!line.known)
		snprintf(row->got, sizeof(row->got), "on the line not known");
	else if (line.spread && line.ns[TIMES_MIN] >= line.ns[TIMES_MAX])
		snprintf(row->got, sizeof(row->got), "%s%s, every packet",
		         filler_time(filler, line.ns[TIMES_MEAN]).text, on_the_line);
	else
		snprintf(row->got, sizeof(row->got), "mean %s%s%s",
		         filler_time(filler, line.ns[TIMES_MEAN]).text, off.text, on_the_line);
}

static void add_delay(struct achieved_filler *filler, const struct conf *conf)
{
	struct achieved_row *row = filler_add(filler, "delay");

	if (conf && conf->statement == &delay_statement) {
		struct delay_asked asked = asked_of(conf);

		if (asked.mean_ns > asked.drawn_mean_ns * 1.0005)
			snprintf(row->asked, sizeof(row->asked), "%s (mean %s: none is below 0)",
			         filler_time(filler, asked.drawn_mean_ns).text,
			         filler_time(filler, asked.mean_ns).text);
		else
			snprintf(row->asked, sizeof(row->asked), "%s",
			         filler_time(filler, asked.mean_ns).text);
	} else if (conf)
		filler_asked(row, conf);
	else
		snprintf(row->asked, sizeof(row->asked), "none");
	got_line_delay(filler, conf, row);
}

/* Prints the jitter as configured: a standard deviation, if it is not already one. */
static void asked_jitter(const struct achieved_filler *filler, const struct delay_conf *delay,
                         double deviation_ns, struct achieved_row *row)
{
	const double jitter_ns = (double)delay->jitter_ns;
	const struct quantity deviation = filler_time(filler, deviation_ns);

	if (deviation_ns <= 0)
		snprintf(row->asked, sizeof(row->asked), "none");
	else if (jitter_ns <= 0)
		snprintf(row->asked, sizeof(row->asked), "standard deviation %s", deviation.text);
	else if (fabs(deviation_ns / jitter_ns - 1) < 5e-4)
		snprintf(row->asked, sizeof(row->asked), "%s", deviation.text);
	else
		snprintf(row->asked, sizeof(row->asked), "%s (standard deviation %s)",
		         filler_time(filler, jitter_ns).text, deviation.text);
}

/* Compares jitter as a standard deviation, which any distribution has. */
static void add_jitter(struct achieved_filler *filler, const struct conf *conf)
{
	const struct cloud_report *report = filler->report;
	const struct histogram *h = &report->delay_ns;
	const bool has_link = line_delay_has_link(filler->cloud);
	const struct times line = line_delay_of(filler->cloud, report);
	struct achieved_row *row = filler_add(filler, "jitter");
	double asked_ns = 0;

	if (conf && conf->statement == &delay_statement) {
		asked_ns = asked_of(conf).deviation_ns;
		asked_jitter(filler, (const struct delay_conf *)conf, asked_ns, row);
	} else if (!conf) {
		snprintf(row->asked, sizeof(row->asked), "none");
	}
	/* The figures of the line count from its latest change. */
	if (report->line_packets > 0 && asked_ns > 0 && !line_delay_is_scheduled(filler->cloud))
		snprintf(row->got, sizeof(row->got), "%s (standard deviation)%s",
		         filler_time(filler, report->line_deviation_ns).text,
		         compared(", ", report->line_deviation_ns, asked_ns, report->line_packets,
		                  "")
		                 .text);
	else if (has_link && line.known && line.spread && line.ns[TIMES_MIN] >= line.ns[TIMES_MAX])
		snprintf(row->got, sizeof(row->got), "none on the line");
	else if (h->count > 0)
		snprintf(row->got, sizeof(row->got), "%s (standard deviation%s)",
		         filler_time(filler, achieved_deviation_ns(h)).text,
		         has_link ? ", queueing included" : "");
}

/* Delays are those of the emulation: a live run may exceed them. */
static void add_late(struct achieved_filler *filler)
{
	const struct histogram *late = filler->run->late;
	struct achieved_row *row;
	char text[128];

	if (!late)
		return;
	row = filler_add(filler, "late");
	snprintf(row->asked, sizeof(row->asked), "never");
	late_text(late, text, sizeof(text));
	if (late->count == 0)
		snprintf(row->got, sizeof(row->got), "no packet left");
	else
		snprintf(row->got, sizeof(row->got), "%s, beyond the delay", text);
}

void filler_add_times(struct achieved_filler *filler)
{
	add_delay(filler, cloud_conf_get(filler->cloud, "delay"));
	add_jitter(filler, cloud_conf_get(filler->cloud, "delay"));
	add_late(filler);
	add_order(filler);
}

/* ---- the table of times ---- */

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
		if (times[i].times.digits > ACHIEVED_DIGITS)
			times[i].times.digits = ACHIEVED_DIGITS;
	return n;
}
