/* SPDX-License-Identifier: BSD-3-Clause */
#include "service/marks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine_report.h"

struct mark_class {
	char name[SCENARIO_NAME_BYTES];
	struct queue_counters counters;
};

struct mark {
	char name[SCENARIO_NAME_BYTES];
	uint64_t at_ns;
	struct counters counters;
	uint64_t order_waits, order_waited_ns;
	uint64_t line_packets;
	double line_sum_ns, line_square_ns;
	uint32_t n_classes;
	struct mark_class *classes;
	uint32_t n_tallies;
	struct tally *tallies;
	struct histogram_part delay_ns, line_ns;
};

/* ---- which clouds get a mark ---- */

static bool same_selection(const struct conf *a, const struct conf *b)
{
	return a == b || (a != NULL && b != NULL && conf_equal(a, b));
}

/* Returns true if the cloud has this configuration, in whatever order its statements were given. */
static bool has_conf(const struct cloud_conf *cloud, const struct conf *conf)
{
	for (uint32_t i = 0; i < cloud->n_confs; i++) {
		if (conf_equal(cloud->confs[i], conf))
			return true;
	}
	return false;
}

static bool is_new(const struct cloud_conf *cloud, const struct scenario *before)
{
	int index = scenario_find_cloud(before, cloud->name);
	const struct cloud_conf *other = index >= 0 ? before->clouds[index] : NULL;

	if (other == NULL || cloud->many != other->many || cloud->n_confs != other->n_confs ||
	    strcmp(cloud->from, other->from) != 0 || strcmp(cloud->to, other->to) != 0 ||
	    !same_selection(cloud->selection, other->selection))
		return true;
	for (uint32_t i = 0; i < cloud->n_confs; i++) {
		if (!conf_equal(cloud->confs[i], other->confs[i]) &&
		    !has_conf(other, cloud->confs[i]))
			return true;
	}
	return false;
}

/* ---- making ---- */

static void mark_free(struct mark *mark)
{
	if (mark == NULL)
		return;
	free(mark->classes);
	free(mark->tallies);
	histogram_part_free(&mark->delay_ns);
	histogram_part_free(&mark->line_ns);
	free(mark);
}

static struct mark *mark_make(const char *name, const struct cloud_report *report, uint64_t now_ns)
{
	struct mark *mark = calloc(1, sizeof(*mark));
	double n = (double)report->line_packets;

	if (mark == NULL)
		return NULL;
	snprintf(mark->name, sizeof(mark->name), "%s", name);
	mark->at_ns = now_ns;
	mark->counters = report->counters;
	mark->order_waits = report->order_waits;
	mark->order_waited_ns = report->order_waited_ns;
	mark->line_packets = report->line_packets;
	mark->line_sum_ns = n * report->line_mean_ns;
	mark->line_square_ns = n * (report->line_mean_ns * report->line_mean_ns +
	                            report->line_deviation_ns * report->line_deviation_ns);
	mark->n_classes = report->n_classes;
	mark->classes = calloc(report->n_classes + 1, sizeof(*mark->classes));
	mark->n_tallies = report->n_tallies;
	mark->tallies = calloc(report->n_tallies + 1, sizeof(*mark->tallies));
	if (mark->classes == NULL || mark->tallies == NULL ||
	    !histogram_part_make(&mark->delay_ns, &report->delay_ns) ||
	    !histogram_part_make(&mark->line_ns, &report->line_ns)) {
		mark_free(mark);
		return NULL;
	}
	memcpy(mark->tallies, report->tallies, report->n_tallies * sizeof(*mark->tallies));
	for (uint32_t i = 0; i < mark->n_classes; i++) {
		strcpy(mark->classes[i].name, report->classes[i].name);
		mark->classes[i].counters = report->classes[i].counters;
	}
	return mark;
}

/* Replaces the marks, and frees those that were not taken over. */
static void marks_replace(struct marks *marks, struct mark **mark, uint32_t n)
{
	marks_clear(marks);
	marks->mark = mark;
	marks->n = n;
}

static struct mark *mark_new(const char *name, marks_report *report_of,
                             const struct runtime *context, uint64_t now_ns,
                             struct cloud_report *report)
{
	return report != NULL && report_of(context, name, report) ? mark_make(name, report, now_ns)
	                                                          : NULL;
}

/* Takes out the mark of a cloud that stays as it is; NULL if there is none. */
static struct mark *mark_taken(struct marks *marks, const struct scenario *before, const char *name)
{
	int index = scenario_find_cloud(before, name);
	struct mark *mark = NULL;

	if (index >= 0 && (uint32_t)index < marks->n) {
		mark = marks->mark[index];
		marks->mark[index] = NULL;
	}
	return mark;
}

void marks_follow(struct marks *marks, const struct scenario *before, const struct scenario *next,
                  marks_report *report_of, const struct runtime *context, uint64_t now_ns)
{
	struct cloud_report *report = malloc(sizeof(*report));
	struct mark **mark = calloc(next->n_clouds + 1, sizeof(struct mark *));

	for (uint32_t i = 0; mark != NULL && i < next->n_clouds; i++) {
		const struct cloud_conf *cloud = next->clouds[i];

		mark[i] = is_new(cloud, before)
		                  ? mark_new(cloud->name, report_of, context, now_ns, report)
		                  : mark_taken(marks, before, cloud->name);
	}
	marks_replace(marks, mark, mark != NULL ? next->n_clouds : 0);
	free(report);
}

void marks_clear(struct marks *marks)
{
	for (uint32_t i = 0; i < marks->n; i++)
		mark_free(marks->mark[i]);
	free(marks->mark);
	*marks = (struct marks){.mark = NULL};
}

/* ---- since ---- */

static void counters_less(struct counters *counters, const struct counters *before)
{
	const uint64_t *from = (const uint64_t *)before;
	uint64_t *to = (uint64_t *)counters;

	for (size_t i = 0; i < sizeof(*counters) / sizeof(*to); i++)
		to[i] -= from[i] < to[i] ? from[i] : to[i];
}

static void class_less(struct class_report *class, const struct mark *mark)
{
	for (uint32_t i = 0; i < mark->n_classes; i++) {
		const struct queue_counters *before = &mark->classes[i].counters;
		struct queue_counters *c = &class->counters;

		/* A class that was made anew counts from 0. */
		if (strcmp(mark->classes[i].name, class->name) != 0 ||
		    c->rx_packets < before->rx_packets)
			continue;
		c->rx_packets -= before->rx_packets;
		c->rx_bytes -= before->rx_bytes;
		c->tx_packets -= before->tx_packets;
		c->tx_bytes -= before->tx_bytes;
		c->dropped -= before->dropped;
		c->ecn_marked -= before->ecn_marked;
	}
}

/* Subtracts the line's delays, unless a schedule has changed its delay since: then they begin anew,
 * and there are fewer. */
static void line_less(struct cloud_report *report, const struct mark *mark)
{
	double n = (double)report->line_packets, mean = report->line_mean_ns;
	double square = n * (mean * mean + report->line_deviation_ns * report->line_deviation_ns);

	if (mark->line_packets == 0 || report->line_packets < mark->line_packets)
		return;
	histogram_less(&report->line_ns, &mark->line_ns);
	report->line_packets -= mark->line_packets;
	if (report->line_packets == 0)
		return;
	n = (double)report->line_packets;
	mean = (mean * (double)(report->line_packets + mark->line_packets) - mark->line_sum_ns) / n;
	square = (square - mark->line_square_ns) / n;
	report->line_mean_ns = mean;
	report->line_deviation_ns = square > mean * mean ? sqrt(square - mean * mean) : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The list is that of the configuration since the mark. */
static void tallies_less(struct cloud_report *report, const struct mark *mark)
{
	for (uint32_t i = 0; i < report->n_tallies && i < mark->n_tallies; i++) {
		struct tally *tally = &report->tallies[i];

		tally->came -= least(mark->tallies[i].came, tally->came);
		tally->acted -= least(mark->tallies[i].acted, tally->acted);
	}
}

bool marks_since(const struct marks *marks, uint32_t index, const char *cloud,
                 struct cloud_report *report, uint64_t *at_ns)
{
	const struct mark *mark = index < marks->n ? marks->mark[index] : NULL;

	if (mark == NULL || strcmp(mark->name, cloud) != 0)
		return false;
	counters_less(&report->counters, &mark->counters);
	for (uint32_t i = 0; i < report->n_classes; i++)
		class_less(&report->classes[i], mark);
	line_less(report, mark);
	tallies_less(report, mark);
	report->order_waits -= least(mark->order_waits, report->order_waits);
	report->order_waited_ns -= least(mark->order_waited_ns, report->order_waited_ns);
	histogram_less(&report->delay_ns, &mark->delay_ns);
	*at_ns = mark->at_ns;
	return true;
}
