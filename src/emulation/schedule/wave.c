/* SPDX-License-Identifier: BSD-3-Clause */
#include "schedule/wave.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "account/counters.h"
#include "link/rate.h"
#include "schedule/at.h"
#include "schedule/curve.h"

static const char *const shapes[] = {"sine", "square", "saw", NULL};

static uint32_t what(const struct conf *conf)
{
	if (conf->statement == &wave_rate_statement)
		return CURVE_RATE;
	if (conf->statement == &wave_delay_statement)
		return CURVE_DELAY;
	return conf->statement == &wave_jitter_statement ? CURVE_JITTER : CURVE_LOSS;
}

/* Returns the wave's position between FROM (0) and TO (1) in a step. */
static double height(enum wave_shape shape, uint32_t i)
{
	double x = ((double)i + 0.5) / WAVE_STEPS;

	switch (shape) {
	case WAVE_SINE:
		return 0.5 + 0.5 * sin(2 * M_PI * x);
	case WAVE_SQUARE:
		return i == 0 ? 1 : 0;
	case WAVE_SAW:
		return x;
	}
	return 0;
}

static uint64_t value(const struct wave_conf *wave, uint32_t i)
{
	double from = (double)wave->values.from, to = (double)wave->values.to;
	double at = height((enum wave_shape)wave->shape, i);

	/* FROM and TO themselves are exact. */
	if (at <= 0)
		return wave->values.from;
	if (at >= 1)
		return wave->values.to;
	return (uint64_t)(from + (to - from) * at + 0.5);
}

static int wave_plan(const struct conf *conf, struct timeline_plan *plan)
{
	const struct wave_conf *wave = (const struct wave_conf *)conf;
	struct curve_conf curve = {.has = what(conf),
	                           .n = wave->shape == WAVE_SQUARE ? 2 : WAVE_STEPS,
	                           .even = true,
	                           .loop = true,
	                           .period_ns = wave->period_ns};

	curve.points = calloc(curve.n, sizeof(*curve.points));
	if (!curve.points)
		return -ENOMEM;
	for (uint32_t i = 0; i < curve.n; i++) {
		struct curve_point *point = &curve.points[i];

		/* only the one in `has` is used */
		point->rate_bps = point->delay_ns = point->jitter_ns = point->loss = value(wave, i);
	}
	return curve_plan(&curve, plan);
}

static int wave_check(const struct conf *conf, const struct cloud_conf *cloud,
                      struct problem *problem)
{
	return timeline_check(conf, cloud, problem);
}

static uint32_t wave_covers(const struct conf *conf, struct order *covers)
{
	return curve_covers(what(conf), covers);
}

static bool wave_same(const struct conf *a, const struct conf *b)
{
	return a->statement == b->statement;
}

#define WAVE_FIELDS(kind, least, most, text)                                                       \
	{                                                                                          \
		{FIELD("values", kind, struct wave_conf, values,                                   \
		       .flags = FIELD_POSITIONAL | FIELD_REQUIRED, .min = least, .max = most,      \
		       .help = text)},                                                             \
		        {FIELD("period", FIELD_TIME, struct wave_conf, period_ns,                  \
		               .flags = FIELD_REQUIRED, .min = SIMTIME_MS, .max = SCHEDULE_MAX_NS, \
		               .help = "length of a cycle")},                                      \
		        {FIELD("shape", FIELD_WORD, struct wave_conf, shape, .words = shapes,      \
		               .help = "how it goes from one value to the other and back")},       \
		        FIELD_END,                                                                 \
	}

static const struct field rate_fields[] =
        WAVE_FIELDS(FIELD_RATES, 1, RATE_BPS_MAX, "rates between which the link goes");
static const struct field delay_fields[] =
        WAVE_FIELDS(FIELD_TIMES, 0, DELAY_MAX_NS, "delays between which the line goes");
static const struct field jitter_fields[] =
        WAVE_FIELDS(FIELD_TIMES, 0, DELAY_MAX_NS, "jitters between which the line goes");
static const struct field loss_fields[] = WAVE_FIELDS(
        FIELD_PROBABILITIES, 0, PROBABILITY_ONE, "shares of lost packets between which it goes");

const struct statement wave_rate_statement = {
        .name = "wave",
        .variant = "rate",
        .help = "the rate of the link goes up and down",
        .example = "rate 90gbit..100gbit period 10s",
        .role = ROLE_SCHEDULE,
        .fields = rate_fields,
        .many_max = 4,
        .same = wave_same,
        .conf_bytes = sizeof(struct wave_conf),
        .check = wave_check,
        .plan = wave_plan,
        .covers = wave_covers,
};

const struct statement wave_delay_statement = {
        .name = "wave",
        .variant = "delay",
        .help = "the delay of the line goes up and down",
        .example = "delay 9ms..11ms period 10s",
        .role = ROLE_SCHEDULE,
        .fields = delay_fields,
        .many_max = 4,
        .same = wave_same,
        .conf_bytes = sizeof(struct wave_conf),
        .check = wave_check,
        .plan = wave_plan,
        .covers = wave_covers,
};

const struct statement wave_jitter_statement = {
        .name = "wave",
        .variant = "jitter",
        .help = "the jitter of the line goes up and down",
        .example = "jitter 0ms..1ms period 10s",
        .beside = {"delay 10ms jitter 1ms"},
        .role = ROLE_SCHEDULE,
        .fields = jitter_fields,
        .many_max = 4,
        .same = wave_same,
        .conf_bytes = sizeof(struct wave_conf),
        .check = wave_check,
        .plan = wave_plan,
        .covers = wave_covers,
};

const struct statement wave_loss_statement = {
        .name = "wave",
        .variant = "loss",
        .help = "the share of packets that are lost goes up and down",
        .example = "loss 0%..0.1% period 10s",
        .role = ROLE_SCHEDULE,
        .fields = loss_fields,
        .many_max = 4,
        .same = wave_same,
        .conf_bytes = sizeof(struct wave_conf),
        .acts = {DROPS(LOSS)},
        .check = wave_check,
        .plan = wave_plan,
        .covers = wave_covers,
};
