/* SPDX-License-Identifier: BSD-3-Clause */
#include "aqm/red.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define THRESHOLD_MAX (UINT64_C(1) << 40)
/* More than any average. */
#define NO_END ((quantity_q64)1 << 124)

#define C1_INITIAL 0.0625
#define C2_INITIAL 0.125

enum {
	RED_FIELD_MIN,
	RED_FIELD_MAX,
	RED_FIELD_MAX_P,
	RED_FIELD_WEIGHT,
	RED_FIELD_UNIT,
	RED_FIELD_MEAN,
	RED_FIELD_GENTLE,
	RED_FIELD_WAIT,
	RED_FIELD_SPACING,
	RED_FIELD_ADAPTIVE,
	RED_FIELD_MARK_TO,
	RED_FIELD_ALPHA,
	RED_FIELD_MARKING,
	RED_FIELD_C1,
	RED_FIELD_C2,
	RED_FIELD_MATCH,
};

static const char *const units[] = {"byte", "packet", NULL};
static const char *const markings[] = {"red", "ecn-mod", NULL};

const struct field red_fields[] = {
        [RED_FIELD_MIN] = {FIELD("min", FIELD_LIMIT, struct red_conf, min, .flags = FIELD_REQUIRED,
                                 .min = 1, .max = THRESHOLD_MAX,
                                 .help = "average queue from which packets are selected")},
        [RED_FIELD_MAX] = {FIELD(
                "max", FIELD_LIMIT, struct red_conf, max, .flags = FIELD_REQUIRED, .min = 1,
                .max = THRESHOLD_MAX,
                .help = "average queue at which the probability is max-p; above it all "
                        "are selected, or see `gentle`")},
        [RED_FIELD_MAX_P] = {FIELD("max-p", FIELD_PROBABILITY, struct red_conf, max_p, .min = 1,
                                   .max = PROBABILITY_ONE, .initial = PROBABILITY_OF(1, 10),
                                   .help = "probability of selection where the average is max")},
        [RED_FIELD_WEIGHT] = {FIELD("weight", FIELD_PROBABILITY, struct red_conf, weight,
                                    .flags = FIELD_SHARE, .min = 1, .max = PROBABILITY_ONE,
                                    .initial = PROBABILITY_OF(1, 500),
                                    .help = "of the queue at an arrival in the average")},
        [RED_FIELD_UNIT] = {FIELD("unit", FIELD_WORD, struct red_conf, unit, .words = units,
                                  .help = "unit of the queue; that of min if not given")},
        [RED_FIELD_MEAN] = {FIELD(
                "mean", FIELD_BYTES, struct red_conf, mean_bytes, .min = 1, .max = RED_MEAN_MAX,
                .initial = 1000,
                .help = "size of a mean packet: for idle times, and for unit byte")},
        [RED_FIELD_GENTLE] = {FIELD(
                "gentle", FIELD_SWITCH, struct red_conf, gentle,
                .help = "from max to twice max the probability rises to 1, instead of at once")},
        [RED_FIELD_WAIT] = {FIELD(
                "wait", FIELD_SWITCH, struct red_conf, wait, .initial = 1,
                .help = "at least 1/p other packets come between two selected ones")},
        [RED_FIELD_SPACING] = {FIELD(
                "spacing", FIELD_SWITCH, struct red_conf, spacing, .initial = 1,
                .help = "off: each packet is selected with p, independently of others")},
        [RED_FIELD_ADAPTIVE] = {FIELD(
                "adaptive", FIELD_SWITCH, struct red_conf, adaptive,
                .help = "max-p moves to keep the average between min and max")},
        [RED_FIELD_MARK_TO] = {FIELD("mark-to", FIELD_LIMIT, struct red_conf, mark_to, .min = 1,
                                     .max = THRESHOLD_MAX,
                                     .help = "average from which capable packets are dropped too")},
        [RED_FIELD_ALPHA] = {FIELD(
                "alpha", FIELD_PROBABILITY, struct red_conf, alpha, .flags = FIELD_SHARE, .min = 1,
                .max = PROBABILITY_ONE,
                .help = "BCN-TCP's switch: drops have alpha times the probability of marks")},
        [RED_FIELD_MARKING] = {FIELD("marking", FIELD_WORD, struct red_conf, marking,
                                     .words = markings,
                                     .help = "ecn-mod: probability p_mod for ECN-mod flows")},
        [RED_FIELD_C1] = {FIELD(
                "c1", FIELD_RATIO, struct red_conf, c1, .flags = FIELD_SHARE,
                .help = "what an ECN-mod host adds to its window; 0.0625 if not given")},
        [RED_FIELD_C2] = {FIELD("c2", FIELD_RATIO, struct red_conf, c2, .flags = FIELD_SHARE,
                                .help = "share of its window that it removes; 0.125 if not given")},
        [RED_FIELD_MATCH] = {FIELD("match", FIELD_TEXT, struct red_conf, match, .flags = FIELD_REST,
                                   .help = "the flows of alpha or ecn-mod, in tcpdump's words")},
        FIELD_END,
};

static bool is_given(const struct red_conf *conf, int field)
{
	return conf->conf.given >> field & 1;
}

/* ---- conversion ---- */

static bool in_bytes(const struct red_conf *conf)
{
	return is_given(conf, RED_FIELD_UNIT) ? conf->unit == RED_BYTE
	                                      : conf->min.unit != LIMIT_PACKETS;
}

quantity_q64 red_conf_threshold(const struct red_conf *conf, const struct limit *limit)
{
	quantity_q64 quantity = (quantity_q64)limit->value << 64;

	if (in_bytes(conf) && limit->unit == LIMIT_PACKETS)
		return quantity * conf->mean_bytes;
	if (!in_bytes(conf) && limit->unit == LIMIT_BYTES)
		return quantity / conf->mean_bytes;
	return quantity;
}

static double value_of(const struct ratio *ratio, double initial)
{
	return ratio->digits ? (double)ratio->digits / pow(10, ratio->places) : initial;
}

struct red_setup red_conf_setup(const struct red_conf *conf)
{
	struct red_setup setup = {
	        .min = red_conf_threshold(conf, &conf->min),
	        .max = red_conf_threshold(conf, &conf->max),
	        .mark_limit = red_conf_threshold(conf, &conf->mark_to),
	        .max_p = conf->max_p,
	        .weight = conf->weight,
	        .bytes = in_bytes(conf),
	        .gentle = conf->gentle,
	        .wait = conf->wait,
	        .unspaced = !conf->spacing,
	        .adaptive = conf->adaptive,
	        .mean_bytes = (uint32_t)conf->mean_bytes,
	        .alpha = conf->alpha,
	};

	if (is_given(conf, RED_FIELD_ALPHA)) {
		setup.selection = RED_SPACED;
		if (!is_given(conf, RED_FIELD_MARK_TO))
			setup.mark_limit = NO_END;
	} else if (conf->marking == RED_MARKING_ECN_MOD) {
		setup.selection = RED_MAPPED;
		setup.gentle = is_given(conf, RED_FIELD_GENTLE) ? conf->gentle : true;
		setup.p_mod = p_mod_make(value_of(&conf->c1, C1_INITIAL),
		                         value_of(&conf->c2, C2_INITIAL));
	}
	return setup;
}

/* ---- checks ---- */

static int check_thresholds(const struct red_conf *conf, struct problem *problem)
{
	static const int fields[] = {RED_FIELD_MIN, RED_FIELD_MAX, RED_FIELD_MARK_TO};
	const struct limit *limits[] = {&conf->min, &conf->max, &conf->mark_to};
	quantity_q64 min, max;

	for (int i = 0; i < 3; i++) {
		if (limits[i]->unit != LIMIT_TIME)
			continue;
		return problem_set(
		        problem, fields[i],
		        "a threshold is in bytes or packets, like 15kB or 15pkt; as a time it "
		        "would depend on the rate");
	}
	min = red_conf_threshold(conf, &conf->min);
	max = red_conf_threshold(conf, &conf->max);
	if (max < min)
		return problem_set(
		        problem, RED_FIELD_MAX,
		        "max is below min; the average is compared with min first, so max has "
		        "to be at least as much (three times as much is usual)");
	if (max > min && max - min < QUANTITY_ONE)
		return problem_set(
		        problem, RED_FIELD_MAX,
		        "max is less than one packet above min: make it the same, or at least "
		        "%llu B more (the mean packet)",
		        (unsigned long long)conf->mean_bytes);
	return 0;
}

static int check_variant(const struct red_conf *conf, struct problem *problem)
{
	bool ecn_mod = conf->marking == RED_MARKING_ECN_MOD;

	if (is_given(conf, RED_FIELD_ALPHA) && ecn_mod)
		return problem_set(
		        problem, RED_FIELD_MARKING,
		        "alpha is BCN-TCP's switch and ecn-mod another router: leave one out");
	if (!conf->spacing && (is_given(conf, RED_FIELD_ALPHA) || is_given(conf, RED_FIELD_WAIT)))
		return problem_set(
		        problem, RED_FIELD_SPACING,
		        "`spacing off` selects each packet independently; `%s` sets how they "
		        "are spaced: leave one out",
		        is_given(conf, RED_FIELD_ALPHA) ? "alpha" : "wait");
	for (int field = RED_FIELD_C1; field <= RED_FIELD_C2; field++) {
		const struct ratio *ratio = field == RED_FIELD_C1 ? &conf->c1 : &conf->c2;

		if (!is_given(conf, field))
			continue;
		if (!ecn_mod)
			return problem_set(problem, field, "%s is for `marking ecn-mod`: add that",
			                   red_fields[field].name);
		if (ratio->digits == 0)
			return problem_set(problem, field, "%s has to be above 0, like 0.0625",
			                   red_fields[field].name);
	}
	return 0;
}

static int check_match(const struct red_conf *conf, struct problem *problem)
{
	struct match match;

	if (!conf->match)
		return 0;
	if (!is_given(conf, RED_FIELD_ALPHA) && conf->marking != RED_MARKING_ECN_MOD)
		return problem_set(
		        problem, RED_FIELD_MATCH,
		        "plain RED has no flows of its own: `match` goes with `alpha` or "
		        "`marking ecn-mod`");
	if (!match_parse(conf->match, &match))
		return problem_set(
		        problem, RED_FIELD_MATCH,
		        "`match` can have here only addresses, ports, protocols, vlan and "
		        "dscp, joined by `and`, like `tcp and dst port 5001`, and `mpls` at "
		        "the end");
	if (match.n == 0)
		return problem_set(problem, RED_FIELD_MATCH,
		                   "`match %.80s` contradicts itself: no packet fits it",
		                   conf->match);
	return 0;
}

int red_conf_check(const struct red_conf *conf, struct problem *problem)
{
	int error = check_thresholds(conf, problem);

	if (!error)
		error = check_variant(conf, problem);
	return error ? error : check_match(conf, problem);
}
