/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/replay_command.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "aqm/red.h"
#include "engine/engine_report.h"
#include "language/scenario_file.h"
#include "line/delay.h"
#include "link/rate.h"
#include "replay/replay_report.h"
#include "report/chart.h"
#include "show/achieved.h"
#include "text/table.h"
#include "units/human_unit.h"

#define BINS           80
#define PARAGRAPH_SIZE 400
/* The least and the greatest variation of delays, as a share of the greatest delay, for an axis
 * that does not begin at 0. */
#define FLAT_LEAST 1e-4
#define FLAT_MOST  0.3

/* Returns the configured delay in ns, or NAN if that is not one number. */
static double drawing_asked_delay(const struct cloud_conf *cloud)
{
	const struct conf *conf = cloud_conf_get(cloud, "delay");

	return conf && conf->statement == &delay_statement
	               ? (double)((const struct delay_conf *)conf)->delay_ns
	               : (double)NAN;
}

/* Makes instants relative to the first packet, so that they read as seconds of the run. */
static void from_start(struct samples *samples, double start_ns)
{
	for (size_t i = 0; i < samples->n; i++)
		samples->t[i] -= start_ns;
}

static struct axis drawing_time_axis(const struct drawing *drawing)
{
	return (struct axis){
	        .label = "Time", .unit = drawing->time_unit, .max = drawing->duration_ns};
}

/* The points of RED's curve. The last CURVE_BEYOND of them are in the zone where every packet is
 * selected. They are drawn only for gentle RED, which reaches that zone gradually: with a step, the
 * curve below would be too small to be seen. */
#define CURVE_POINTS 241
#define CURVE_BEYOND 20

static const struct red_conf *red_of(const struct cloud_conf *cloud)
{
	const struct conf *conf = cloud_conf_get(cloud, "red");

	return conf && conf->statement == &red_statement ? (const struct red_conf *)conf : NULL;
}

/* Returns a threshold in bytes, as everything that is drawn. */
static double threshold_bytes(const struct red_setup *setup, quantity_q64 threshold)
{
	double units = (double)(uint64_t)(threshold >> 32) / 0x1p32;

	return setup->bytes ? units : units * setup->mean_bytes;
}

/* ---- the queue over time ---- */

static double limit_bytes(const struct cloud_conf *cloud)
{
	const struct conf *conf = cloud_conf_get(cloud, "rate");
	struct limit limit = {.unit = LIMIT_NONE};

	if (conf && conf->statement == &rate_statement)
		limit = rate_queue((const struct rate_conf *)conf, cloud);
	return limit.unit == LIMIT_BYTES ? (double)limit.value : (double)NAN;
}

/* Returns the greatest number of bytes that drawing_queue shows. */
static double drawing_queue_most(const struct cloud_conf *cloud, const struct track *track)
{
	double most = fmax(0, limit_bytes(cloud));

	for (size_t i = 0; i < track->queue.n; i++)
		most = fmax(most, track->queue.value[i]);
	return most;
}

static void draw_over_time(struct drawing *drawing, const struct cloud_conf *cloud,
                           const struct track *track)
{
	const struct red_conf *red = red_of(cloud);
	double limit = limit_bytes(cloud), thresholds[2] = {NAN, NAN};
	const struct series series[] = {
	        {.kind = SERIES_STEP,
	         .name = "queue",
	         .x = track->queue.t,
	         .y = track->queue.value,
	         .n = track->queue.n,
	         .color = 1},
	        {.kind = SERIES_STEP,
	         .name = "average",
	         .x = track->average.t,
	         .y = track->average.value,
	         .n = track->average.n,
	         .color = 2},
	        {.kind = SERIES_HLINES,
	         .name = "min, max",
	         .y = thresholds,
	         .n = red ? 2 : 0,
	         .color = 3,
	         .dashed = true},
	        {.kind = SERIES_HLINES,
	         .name = "limit",
	         .y = &limit,
	         .n = isfinite(limit),
	         .color = 4,
	         .dashed = true},
	};
	struct series shown[4];
	struct chart chart = {
	        .x = drawing_time_axis(drawing),
	        .y = {.label = "Queue", .unit = drawing->queue_unit, .from_zero = true},
	        .series = shown,
	};
	char caption[PARAGRAPH_SIZE], every[64];

	if (red) {
		const struct red_setup setup = red_conf_setup(red);

		thresholds[0] = threshold_bytes(&setup, setup.min);
		thresholds[1] = threshold_bytes(&setup, setup.max);
	}
	for (size_t i = 0; i < 4; i++) {
		if (i == 0 || series[i].n > 0)
			shown[chart.n_series++] = series[i];
	}
	snprintf(every, sizeof(every), " (the maximum of %" PRIu64 ")", track->queue.stride);
	snprintf(caption, sizeof(caption),
	         "Bytes waiting in the queue of %s when a packet left it or was dropped%s%s.",
	         cloud->name, track->queue.stride > 1 ? every : "",
	         track->average.n > 0 ? ", and the average that its management computes" : "");
	page_figure(&drawing->page, &chart, caption);
}

/* ---- RED's probability ---- */

/* Returns the second curve of the variants: drops with alpha, or ECN-mod flows. Returns NAN if
 * there is none. */
static double second_probability(const struct red_setup *setup, double p)
{
	switch (setup->selection) {
	case RED_SPACED:
		return p < 1 ? p * (double)setup->alpha / (double)PROBABILITY_ONE : 1;
	case RED_MAPPED:
		return p_mod_of(setup->p_mod, p);
	case RED_NS2:
		break;
	}
	return NAN;
}

static void draw_probability(struct drawing *drawing, const struct cloud_conf *cloud)
{
	const struct red_setup setup = red_conf_setup(red_of(cloud));
	double average[CURVE_POINTS], p[CURVE_POINTS], second[CURVE_POINTS];
	const size_t n = setup.gentle ? CURVE_POINTS : CURVE_POINTS - CURVE_BEYOND - 1;
	const struct series series[] = {
	        {.kind = SERIES_LINE,
	         .name = setup.selection == RED_SPACED ? "marks" : "RED",
	         .x = average,
	         .y = p,
	         .n = n,
	         .color = 1,
	         .marker = SERIES_MARKER_NONE},
	        {.kind = SERIES_LINE,
	         .name = setup.selection == RED_SPACED ? "drops" : "ECN-mod flows",
	         .x = average,
	         .y = second,
	         .n = n,
	         .color = 2,
	         .marker = SERIES_MARKER_NONE},
	};
	const struct chart chart = {
	        .x = {.label = "Average queue", .unit = drawing->queue_unit, .from_zero = true},
	        .y = {.label = "Probability", .unit = HUMAN_PERCENT, .from_zero = true},
	        .series = series,
	        .n_series = setup.selection == RED_NS2 ? 1 : 2,
	};
	char caption[PARAGRAPH_SIZE];
	struct red_rule rule;

	red_rule_make(&rule, &setup);
	for (size_t i = 0; i < n; i++) {
		quantity_q64 at = rule.forced_from / (CURVE_POINTS - CURVE_BEYOND - 1) * i;

		average[i] = threshold_bytes(&setup, at);
		p[i] = (double)red_probability(&rule, at) / (double)PROBABILITY_ONE;
		second[i] = second_probability(&setup, p[i]);
	}
	snprintf(
	        caption, sizeof(caption),
	        "The probability with which RED in %s selects a packet at an average queue, before "
	        "it spaces them.",
	        cloud->name);
	page_figure(&drawing->page, &chart, caption);
}

/* Draws the queue and, for RED, its average, its thresholds, and its probability. */
static void drawing_queue(struct drawing *drawing, const struct cloud_conf *cloud,
                          const struct track *track)
{
	if (!cloud_conf_get(cloud, "rate"))
		return;
	draw_over_time(drawing, cloud, track);
	if (red_of(cloud))
		draw_probability(drawing, cloud);
}

/* Returns true if an axis from 0 would flatten the variation. Variation of less than a
 * ten-thousandth is to be shown as the line that it is. */
static bool is_flat_from_zero(const struct samples *samples, double asked)
{
	double low = INFINITY, high = -INFINITY;

	for (size_t i = 0; i < samples->n; i++) {
		low = fmin(low, samples->value[i]);
		high = fmax(high, samples->value[i]);
	}
	low = fmin(low, isfinite(asked) ? asked : low);
	high = fmax(high, isfinite(asked) ? asked : high);
	return samples->n > 0 && high - low > high * FLAT_LEAST && high - low < high * FLAT_MOST;
}

static void draw_delays(struct drawing *drawing, const struct cloud_conf *cloud,
                        const struct track *track)
{
	double asked = drawing_asked_delay(cloud);
	bool flat = is_flat_from_zero(&track->delay, asked);
	const struct series series[] = {
	        {.kind = SERIES_POINTS,
	         .name = "delivered",
	         .x = track->delay.t,
	         .y = track->delay.value,
	         .n = track->delay.n,
	         .color = 1},
	        {.kind = SERIES_HLINES,
	         .name = "configured",
	         .y = &asked,
	         .n = isfinite(asked),
	         .color = 4,
	         .dashed = true},
	        {.kind = SERIES_MARKS,
	         .name = "lost as configured",
	         .color = 2,
	         .x = track->lost[REASON_EMULATED].t,
	         .n = track->lost[REASON_EMULATED].n},
	        {.kind = SERIES_MARKS,
	         .name = "dropped by the queue",
	         .color = 3,
	         .x = track->lost[REASON_CONGESTION].t,
	         .n = track->lost[REASON_CONGESTION].n},
	        {.kind = SERIES_MARKS,
	         .name = "lost by weir itself",
	         .color = 5,
	         .x = track->lost[REASON_REAL].t,
	         .n = track->lost[REASON_REAL].n},
	};
	/* Kinds of loss that did not happen are left out of the legend. */
	struct series shown[5];
	struct chart chart = {
	        .x = drawing_time_axis(drawing),
	        .y = {.label = "Delay", .unit = drawing->delay_unit, .from_zero = !flat},
	        .series = shown,
	};
	char caption[PARAGRAPH_SIZE], every[64];

	for (size_t i = 0; i < 5; i++) {
		if (i == 0 || series[i].n > 0)
			shown[chart.n_series++] = series[i];
	}
	snprintf(every, sizeof(every), "one in %" PRIu64 " packets", track->delay.stride);
	snprintf(caption, sizeof(caption),
	         "Delay of %s through %s, at the instant of its arrival.%s Marks below: packets "
	         "that "
	         "were not delivered.",
	         track->delay.stride > 1 ? every : "each packet", cloud->name,
	         flat ? " The axis does not begin at 0." : "");
	page_figure(&drawing->page, &chart, caption);
}

static double asked_rate_bps(const struct cloud_conf *cloud)
{
	const struct conf *conf = cloud_conf_get(cloud, "rate");

	return conf && conf->statement == &rate_statement
	               ? (double)((const struct rate_conf *)conf)->rate_bps
	               : (double)NAN;
}

void drawing_choose_units(struct drawing *drawing, const struct track *tracks, uint32_t n)
{
	double t[THROUGHPUT_STEPS + 2], value[THROUGHPUT_STEPS + 2], step_ns;
	double delay = 0, rate = 0, queue = 0;

	/* fmax() ignores NAN. */
	for (uint32_t i = 0; i < n; i++) {
		const struct cloud_conf *cloud = drawing->scenario->clouds[i];
		size_t steps = throughput_points(&tracks[i].throughput, drawing->result->first_ns,
		                                 t, value, &step_ns);

		delay = fmax(delay, (double)drawing->result->clouds[i].delay_ns.max);
		delay = fmax(delay, drawing_asked_delay(cloud));
		rate = fmax(rate, asked_rate_bps(cloud));
		for (size_t k = 0; k < steps; k++)
			rate = fmax(rate, value[k]);
		queue = fmax(queue, drawing_queue_most(cloud, &tracks[i]));
	}
	/* One second and more are shown in s, as on any axis. */
	drawing->time_unit = drawing->duration_ns >= 1e9
	                             ? HUMAN_NS_AS_S
	                             : human_unit_one(HUMAN_NS, drawing->duration_ns);
	drawing->delay_unit = human_unit_one(HUMAN_NS, delay);
	drawing->rate_unit = human_unit_one(HUMAN_BPS, rate);
	drawing->queue_unit = human_unit_one(HUMAN_BYTES, queue);
}

static void draw_throughput(struct drawing *drawing, const struct cloud_conf *cloud,
                            const struct track *track)
{
	double t[THROUGHPUT_STEPS + 2], value[THROUGHPUT_STEPS + 2], step_ns;
	double asked = asked_rate_bps(cloud);
	size_t n = throughput_points(&track->throughput, drawing->result->first_ns, t, value,
	                             &step_ns);
	const struct series series[] = {
	        {.kind = SERIES_STEP,
	         .name = track->has_link ? "on the link" : "left the cloud",
	         .x = t,
	         .y = value,
	         .n = n,
	         .color = 1},
	        {.kind = SERIES_HLINES,
	         .name = "configured",
	         .y = &asked,
	         .n = 1,
	         .color = 4,
	         .dashed = true},
	};
	const struct chart chart = {
	        .x = drawing_time_axis(drawing),
	        .y = {.label = "Throughput", .unit = drawing->rate_unit, .from_zero = true},
	        .series = series,
	        .n_series = isfinite(asked) ? 2 : 1,
	};
	char caption[PARAGRAPH_SIZE], slot[HUMAN_UNIT_SIZE];

	human_unit_format(slot, sizeof(slot), drawing->time_unit, step_ns, 4);
	snprintf(caption, sizeof(caption),
	         "%s %s, in bits on the wire; each step is the average over %s.",
	         track->has_link ? "What was sent on the link of" : "What came through",
	         cloud->name, slot);
	page_figure(&drawing->page, &chart, caption);
}

static void draw_distribution(struct drawing *drawing, const struct cloud_conf *cloud,
                              const struct track *track, const struct histogram *delay_ns)
{
	double edges[BINS + 1], shares[BINS] = {0}, asked = drawing_asked_delay(cloud);
	double low = (double)delay_ns->min, high = (double)delay_ns->max;
	const struct series series[] = {
	        {.kind = SERIES_HISTOGRAM,
	         .name = "delivered",
	         .x = edges,
	         .y = shares,
	         .n = BINS,
	         .color = 1},
	        {.kind = SERIES_VLINES,
	         .name = "configured",
	         .x = &asked,
	         .n = 1,
	         .color = 4,
	         .dashed = true},
	};
	const struct chart chart = {
	        .x = {.label = "Delay", .unit = drawing->delay_unit},
	        .y = {.label = "Share of packets", .unit = HUMAN_PERCENT},
	        .series = series,
	        .n_series = isfinite(asked) ? 2 : 1,
	};
	char caption[PARAGRAPH_SIZE];

	/* A single value, and a line beside it, need an axis of some width. */
	if (isfinite(asked)) {
		low = fmin(low, asked);
		high = fmax(high, asked);
	}
	if (high - low < 100) {
		low = fmax(0, low - 50);
		high = low + 100;
	}
	bins_divide(edges, BINS, AXIS_LINEAR, low, high);
	bins_count(edges, shares, BINS, track->delay.value, track->delay.n);
	for (size_t i = 0; i < BINS; i++)
		shares[i] /= (double)track->delay.n;
	snprintf(caption, sizeof(caption), "Distribution of the delays through %s.", cloud->name);
	page_figure(&drawing->page, &chart, caption);
}

static void draw_table(struct drawing *drawing, struct table *table)
{
	table_page(table, &drawing->page, NULL, NULL);
	table_free(table);
}

void drawing_cloud(struct drawing *drawing, uint32_t index, struct track *track)
{
	const struct cloud_conf *cloud = drawing->scenario->clouds[index];
	char heading[PARAGRAPH_SIZE];

	snprintf(heading, sizeof(heading), "Cloud %s, from %s to %s", cloud->name, cloud->from,
	         cloud->to);
	page_heading(&drawing->page, heading);
	draw_table(drawing, replay_table_statements(drawing->scenario, drawing->result, index,
	                                            drawing->delay_unit, drawing->rate_unit));
	draw_table(drawing, replay_table_times(drawing->scenario, drawing->result, index,
	                                       drawing->delay_unit));
	from_start(&track->delay, (double)drawing->result->first_ns);
	from_start(&track->queue, (double)drawing->result->first_ns);
	from_start(&track->average, (double)drawing->result->first_ns);
	samples_sort(&track->queue);
	samples_sort(&track->average);
	for (int i = 0; i < TRACK_REASON_KINDS; i++)
		from_start(&track->lost[i], (double)drawing->result->first_ns);
	draw_delays(drawing, cloud, track);
	if (track->throughput.n > 0)
		draw_throughput(drawing, cloud, track);
	if (track->delay.n > 0)
		draw_distribution(drawing, cloud, track, &drawing->result->clouds[index].delay_ns);
	drawing_queue(drawing, cloud, track);
}

void drawing_scenario(struct drawing *drawing)
{
	char *text = scenario_text(drawing->scenario);

	page_heading(&drawing->page, "The scenario");
	if (text)
		page_code(&drawing->page, text);
	else
		drawing->page.error = -ENOMEM;
	free(text);
}
