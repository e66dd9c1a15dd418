/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over the clouds of a template. */
#include <math.h>
#include <string.h>

#include "account/counter_read.h"
#include "engine/engine_report.h"
#include "engine/engine_state.h"
#include "link/aqm.h"

/* Adds counters, which are words. */
static void counters_add(void *sum, const void *counters, size_t bytes)
{
	const uint64_t *from = counters;
	uint64_t *to = sum;

	for (size_t i = 0; i < bytes / sizeof(*to); i++)
		to[i] += from[i];
}

/* Adds figures. The means of those that are not counts are computed in the end (aqm_mean). */
static void aqm_add(struct aqm_report *sum, const struct aqm_report *aqm)
{
	sum->name = aqm->name;
	sum->n_figures = aqm->n_figures;
	for (uint32_t i = 0; i < aqm->n_figures; i++) {
		double so_far = sum->figures[i].value;

		sum->figures[i] = aqm->figures[i];
		sum->figures[i].value += so_far;
	}
}

static void aqm_mean(struct aqm_report *sum, uint32_t clouds)
{
	for (uint32_t i = 0; i < sum->n_figures && clouds > 0; i++) {
		if (sum->figures[i].unit != AQM_COUNT)
			sum->figures[i].value /= clouds;
	}
}

static void class_add(struct class_report *sum, const struct class_report *class)
{
	memcpy(sum->name, class->name, sizeof(sum->name));
	counters_add(&sum->counters, &class->counters, sizeof(sum->counters));
	sum->queue_packets += class->queue_packets;
	sum->queue_bytes += class->queue_bytes;
	sum->queue_average_bytes += class->queue_average_bytes;
	aqm_add(&sum->aqm, &class->aqm);
}

static void queue_add(struct cloud_report *sum, const struct cloud_report *report)
{
	counters_add(&sum->counters, &report->counters, sizeof(sum->counters));
	sum->held_packets += report->held_packets;
	sum->queue_packets += report->queue_packets;
	sum->queue_bytes += report->queue_bytes;
	sum->queue_average_bytes += report->queue_average_bytes;
	aqm_add(&sum->aqm, &report->aqm);
	sum->n_classes = report->n_classes;
	for (uint32_t i = 0; i < report->n_classes; i++)
		class_add(&sum->classes[i], &report->classes[i]);
}

void template_report_queue(const struct template *template, struct cloud_report *sum)
{
	struct cloud_report one;
	uint32_t n = template_used(template);

	memset(sum, 0, sizeof(*sum));
	for (uint32_t i = 0; i < n; i++) {
		cloud_report_queue(&template->clouds[i], &one);
		queue_add(sum, &one);
	}
	aqm_mean(&sum->aqm, n);
	for (uint32_t i = 0; i < sum->n_classes; i++)
		aqm_mean(&sum->classes[i].aqm, n);
	cloud_report_queue(template->head, &one);
	counters_add(&sum->counters, &one.counters, sizeof(sum->counters));
	sum->held_packets += one.held_packets;
	sum->clouds = n;
	sum->clouds_most = template->most;
}

void template_report_line(const struct template *template, struct cloud_report *sum)
{
	uint32_t n = template_used(template);
	double mean = 0, square = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct line *line = &template->clouds[i].line;
		struct line_moments moments = line_moments_read(line);

		sum->line_packets += moments.packets;
		mean += (double)moments.sum;
		square += (double)moments.square;
		sum->order_waits += counter_read(&line->waits);
		sum->order_waited_ns += counter_read(&line->waited_ns);
	}
	if (sum->line_packets) {
		mean /= (double)sum->line_packets;
		square /= (double)sum->line_packets;
	}
	sum->line_mean_ns = (double)counter_read(&template->clouds[0].line.conf.delay_ns) + mean;
	sum->line_deviation_ns = square > mean * mean ? sqrt(square - mean * mean) : 0;
}
