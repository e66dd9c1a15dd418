/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of a replay's picture that shows a queue. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "aqm/red_aqm.h"
#include "link/rate.h"
#include "replay/drawing.h"

#define PARAGRAPH_SIZE 400
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

double drawing_queue_most(const struct cloud_conf *cloud, const struct track *track)
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

void drawing_queue(struct drawing *drawing, const struct cloud_conf *cloud,
                   const struct track *track)
{
	if (!cloud_conf_get(cloud, "rate"))
		return;
	draw_over_time(drawing, cloud, track);
	if (red_of(cloud))
		draw_probability(drawing, cloud);
}
