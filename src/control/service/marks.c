/* SPDX-License-Identifier: BSD-3-Clause */
/* What was seen of clouds (control.h): the counters at their last change, and at the last look. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine_report.h"
#include "service/control.h"

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

	if (other == NULL || cloud->n_confs != other->n_confs ||
	    !cloud_conf_same_path(cloud, other))
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

/* With marks_lock. */
static void marks_clear(struct marks *marks)
{
	for (uint32_t i = 0; i < marks->n; i++)
		mark_free(marks->mark[i]);
	free(marks->mark);
	*marks = (struct marks){.mark = NULL};
}

void control_mark(struct control *control, const struct scenario *before)
{
	const struct scenario *next = *control->scenario;
	struct cloud_report *report = malloc(sizeof(*report));
	struct mark **mark = calloc(next->n_clouds + 1, sizeof(struct mark *));
	uint64_t now_ns = control_now_ns(control);

	pthread_mutex_lock(&control->marks_lock);
	for (uint32_t i = 0; mark != NULL && i < next->n_clouds; i++) {
		const char *name = next->clouds[i]->name;

		if (!is_new(next->clouds[i], before))
			mark[i] = mark_taken(&control->marks, before, name);
		else if (report != NULL && control->ops->cloud(control->context, name, report))
			mark[i] = mark_make(name, report, now_ns);
	}
	marks_clear(&control->marks);
	control->marks = (struct marks){mark, mark != NULL ? next->n_clouds : 0};
	pthread_mutex_unlock(&control->marks_lock);
	free(report);
}

void control_unmark(struct control *control)
{
	pthread_mutex_lock(&control->marks_lock);
	marks_clear(&control->marks);
	pthread_mutex_unlock(&control->marks_lock);
}

/* ---- since ---- */

/* Subtracts counters from others, each of which is not below 0. */
static void less(void *counters, const void *before, size_t bytes)
{
	const uint64_t *from = before;
	uint64_t *to = counters;

	for (size_t i = 0; i < bytes / sizeof(*to); i++)
		to[i] -= from[i] < to[i] ? from[i] : to[i];
}

/* Returns true if a counter is less than before: what it counts was made anew. */
static bool is_anew(const void *counters, const void *before, size_t bytes)
{
	const uint64_t *now = counters, *from = before;
	size_t i = 0;

	while (i < bytes / sizeof(*now) && now[i] >= from[i])
		i++;
	return i < bytes / sizeof(*now);
}

static void class_less(struct class_report *class, const struct mark *mark)
{
	for (uint32_t i = 0; i < mark->n_classes; i++) {
		const struct queue_counters *before = &mark->classes[i].counters;

		if (strcmp(mark->classes[i].name, class->name) == 0 &&
		    !is_anew(&class->counters, before, sizeof(*before)))
			less(&class->counters, before, sizeof(*before));
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

/* Subtracts from the report what was counted before the mark. */
static void subtract(struct cloud_report *report, const struct mark *mark)
{
	less(&report->counters, &mark->counters, sizeof(report->counters));
	for (uint32_t i = 0; i < report->n_classes; i++)
		class_less(&report->classes[i], mark);
	line_less(report, mark);
	for (uint32_t i = 0; i < report->n_tallies && i < mark->n_tallies; i++) {
		less(&report->tallies[i].came, &mark->tallies[i].came, sizeof(uint64_t));
		less(&report->tallies[i].acted, &mark->tallies[i].acted, sizeof(uint64_t));
	}
	less(&report->order_waits, &mark->order_waits, sizeof(uint64_t));
	less(&report->order_waited_ns, &mark->order_waited_ns, sizeof(uint64_t));
	histogram_less(&report->delay_ns, &mark->delay_ns);
}

enum control_since control_since(struct control *control, uint32_t index,
                                 struct cloud_report *report, uint64_t *since_ns)
{
	const char *cloud = (*control->scenario)->clouds[index]->name;
	const struct mark *mark;
	enum control_since since;

	pthread_mutex_lock(&control->marks_lock);
	mark = index < control->marks.n ? control->marks.mark[index] : NULL;
	if (mark != NULL && strcmp(mark->name, cloud) == 0) {
		subtract(report, mark);
		*since_ns = mark->at_ns;
		since = CONTROL_SINCE_CHANGE;
	} else {
		*since_ns = control->cleared_ns;
		since = control->cleared ? CONTROL_SINCE_CLEAR : CONTROL_SINCE_START;
	}
	pthread_mutex_unlock(&control->marks_lock);
	return since;
}

/* ---- looks ---- */

void control_cleared(struct control *control)
{
	pthread_mutex_lock(&control->marks_lock);
	memset(control->looks, 0, sizeof(control->looks));
	marks_clear(&control->marks);
	control->cleared = true;
	control->cleared_ns = control_now_ns(control);
	pthread_mutex_unlock(&control->marks_lock);
}

bool control_cloud(struct control *control, const char *cloud, struct cloud_report *report)
{
	if (!control->ops->cloud(control->context, cloud, report))
		return false;
	report->observed.now_ns = simtime_max(report->observed.now_ns, control_now_ns(control));
	return true;
}

bool control_look(struct control *control, const char *cloud, const struct cloud_report *report,
                  uint64_t now_ns, struct control_look *before)
{
	struct control_look *look = NULL;
	bool seen;

	pthread_mutex_lock(&control->marks_lock);
	for (uint32_t i = 0; i < CONTROL_LOOKS && look == NULL; i++)
		if (strcmp(control->looks[i].cloud, cloud) == 0)
			look = &control->looks[i];
	seen = look != NULL && now_ns > look->now_ns &&
	       report->counters.rx_bytes >= look->rx_bytes &&
	       report->counters.tx_bytes >= look->tx_bytes;
	if (seen)
		*before = *look;
	if (look == NULL) {
		look = &control->looks[control->next_look];
		control->next_look = (control->next_look + 1) % CONTROL_LOOKS;
	}
	strncpy(look->cloud, cloud, sizeof(look->cloud) - 1);
	look->now_ns = now_ns;
	look->rx_bytes = report->counters.rx_bytes;
	look->tx_bytes = report->counters.tx_bytes;
	pthread_mutex_unlock(&control->marks_lock);
	return seen;
}
