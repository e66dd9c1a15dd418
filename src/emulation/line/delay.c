/* SPDX-License-Identifier: BSD-3-Clause */
#include "line/delay.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "match/selection.h"
#include "line/delay_table.h"
#include "line/jitter_keep.h"
#include "line/line.h"
#include "match/keyed.h"
#include "random/distribution.h"

static const char *const distributions[] = {
        [DELAY_UNIFORM] = "uniform",
        [DELAY_NORMAL] = "normal",
        [DELAY_PARETO] = "pareto",
        [DELAY_PARETONORMAL] = "paretonormal",
        [DELAY_EXPONENTIAL] = "exponential",
        [DELAY_GAMMA] = "gamma",
        [DELAY_LOGNORMAL] = "lognormal",
        [DELAY_BIMODAL] = "bimodal",
        [DELAY_TABLE] = "table",
        NULL,
};
static const char *const orders[] = {"keep", "allow", NULL};

enum {
	DELAY_FIELD_DELAY,
	DELAY_FIELD_JITTER,
	DELAY_FIELD_DISTRIBUTION,
	DELAY_FIELD_TABLE,
	DELAY_FIELD_WEIGHT,
	DELAY_FIELD_CORRELATION,
	DELAY_FIELD_HALF_LIFE,
	DELAY_FIELD_ORDER,
	DELAY_FIELD_AS_NETEM,
	DELAY_FIELD_LIMIT,
	DELAY_FIELD_KEYED,
};

static const struct field delay_fields[] = {
        {FIELD("delay", FIELD_TIME, struct delay_conf, delay_ns,
               .flags = FIELD_POSITIONAL | FIELD_REQUIRED, .max = DELAY_MAX_NS,
               .help = "time that a packet travels, on average")},
        {FIELD("jitter", FIELD_TIME, struct delay_conf, jitter_ns, .max = DELAY_MAX_NS,
               .help = "the standard deviation; uniform, bimodal: the largest deviation")},
        {FIELD("distribution", FIELD_WORD, struct delay_conf, distribution, .words = distributions,
               .help = "of the delay around its mean")},
        {FIELD("table", FIELD_FILE, struct delay_conf, table,
               .help = "after `distribution`: a .dist file of netem, or measured delays, one per "
                       "line")},
        {FIELD("weight", FIELD_PROBABILITY, struct delay_conf, weight,
               .initial = PROBABILITY_OF(1, 2),
               .help = "bimodal: the share of packets that take delay + jitter")},
        {FIELD("correlation", FIELD_PROBABILITY, struct delay_conf, correlation,
               .help = "of the delay with that of the previous packet")},
        {FIELD("half-life", FIELD_TIME, struct delay_conf, half_life_ns, .min = 1,
               .max = DELAY_MAX_NS,
               .help = "the time after which half of the correlation is left")},
        {FIELD("order", FIELD_WORD, struct delay_conf, order, .words = orders,
               .help = "keep: no packet overtakes another; allow: each leaves after its own "
                       "delay")},
        {FIELD("as-netem", FIELD_FLAG, struct delay_conf, as_netem,
               .help = "drawn with netem's recurrence and tables")},
        {FIELD("limit", FIELD_LIMIT, struct delay_conf, limit, .form = "Npkt",
               .help = "maximum number of packets in the cloud, queued and on their way; more "
                       "are dropped")},
        KEYED_FIELD(struct delay_conf),
        FIELD_END,
};

bool delay_has_jitter(const struct delay_conf *delay)
{
	return delay->jitter_ns != 0 || delay->distribution == DELAY_TABLE;
}

uint64_t delay_limit(const struct delay_conf *delay)
{
	return delay && delay->limit.unit == LIMIT_PACKETS ? delay->limit.value : LINE_UNLIMITED;
}

static bool given(const struct delay_conf *delay, int field)
{
	return delay->conf.given >> field & 1;
}

/* ---- a table in ns ---- */

static void moments(const struct delay_table *table, double *mean, double *deviation)
{
	double sum = 0, square = 0;

	for (uint32_t i = 0; i < table->n; i++)
		sum += (double)table->value[i];
	*mean = sum / table->n;
	for (uint32_t i = 0; i < table->n; i++)
		square += ((double)table->value[i] - *mean) * ((double)table->value[i] - *mean);
	*deviation = sqrt(square / table->n);
}

/* Converts the values of the file to deviations from delay_ns. The entries of a netem table are
 * deviations from the mean already, and only scaled. */
static int table_scale(const struct delay_conf *delay, struct delay_table *table,
                       struct problem *problem)
{
	double jitter = (double)delay->jitter_ns, middle = 0, unit = DELAY_TABLE_NETEM_UNIT;

	if (table->netem && delay->jitter_ns == 0)
		return problem_set(
		        problem, DELAY_FIELD_TABLE,
		        "a netem table gives the shape of the distribution, not its width: "
		        "add `jitter` and a time, like 5ms");
	if (!table->netem && delay->jitter_ns == 0) {
		for (uint32_t i = 0; i < table->n; i++)
			table->value[i] -= (int64_t)delay->delay_ns;
		return 0;
	}
	if (!table->netem) {
		moments(table, &middle, &unit);
		if (unit == 0)
			return problem_set(
			        problem, DELAY_FIELD_TABLE,
			        "all delays of the table are the same: they cannot be spread "
			        "to a jitter; leave it out");
	}
	for (uint32_t i = 0; i < table->n; i++)
		table->value[i] = llround(((double)table->value[i] - middle) / unit * jitter);
	return 0;
}

static int table_read(const struct delay_conf *delay, struct delay_table *table,
                      struct problem *problem)
{
	int error = delay_table_read(delay->table, DELAY_FIELD_TABLE, table, problem);

	if (!error) {
		error = table_scale(delay, table, problem);
		if (error)
			free(table->value);
	}
	return error;
}

/* ---- check ---- */

static int check_table(const struct delay_conf *delay, struct problem *problem)
{
	struct delay_table table;
	int error;

	if (delay->distribution != DELAY_TABLE)
		return problem_set(
		        problem, DELAY_FIELD_TABLE,
		        "a table is a distribution of its own: write `distribution table` "
		        "before the file's name");
	if (!delay->table)
		return problem_set(problem, DELAY_FIELD_DISTRIBUTION,
		                   "`distribution table` needs the name of a file after it");
	error = table_read(delay, &table, problem);
	if (!error)
		free(table.value);
	return error;
}

static int check_distribution(const struct delay_conf *delay, struct problem *problem)
{
	bool positive =
	        delay->distribution == DELAY_GAMMA || delay->distribution == DELAY_LOGNORMAL;

	if (delay->table || delay->distribution == DELAY_TABLE)
		return check_table(delay, problem);
	if (delay->jitter_ns == 0 && given(delay, DELAY_FIELD_DISTRIBUTION))
		return problem_set(
		        problem, DELAY_FIELD_DISTRIBUTION,
		        "a distribution needs a spread: add `jitter` and a time, like 5ms");
	if (positive && delay->delay_ns == 0)
		return problem_set(
		        problem, DELAY_FIELD_DISTRIBUTION,
		        "a gamma or lognormal delay must be more than 0; give it a mean, like "
		        "40ms");
	if (positive && delay->jitter_ns / DISTRIBUTION_SKEW_MAX > delay->delay_ns)
		return problem_set(
		        problem, DELAY_FIELD_JITTER,
		        "the jitter of a gamma or lognormal delay is at most 10 times the "
		        "delay; make it smaller");
	return 0;
}

/* Checks the restrictions of netem. */
static int check_as_netem(const struct delay_conf *delay, struct problem *problem)
{
	struct delay_table table;
	int error;

	if (!delay_has_jitter(delay) || delay->order != ORDER_ALLOW || delay->half_life_ns)
		return problem_set(
		        problem, DELAY_FIELD_AS_NETEM,
		        "`as-netem` needs a jitter with `order allow` and without a half-life");
	if (delay->distribution > DELAY_PARETONORMAL && delay->distribution != DELAY_TABLE)
		return problem_set(
		        problem, DELAY_FIELD_DISTRIBUTION,
		        "netem has the distributions uniform, normal, pareto, paretonormal "
		        "and its own tables");
	if (delay->distribution != DELAY_TABLE)
		return 0;
	error = table_read(delay, &table, problem);
	if (error)
		return error;
	free(table.value);
	if (!table.netem)
		return problem_set(problem, DELAY_FIELD_TABLE,
		                   "netem reads tables of its own kind only; leave `as-netem` out");
	return 0;
}

/* With `order keep` or a half-life, a delay follows from instants and from the packets ahead. */
static int check_keyed(const struct delay_conf *delay, const struct cloud_conf *cloud,
                       struct problem *problem)
{
	if (delay->keyed == KEYED_CLOUD)
		return 0;
	if (!delay_has_jitter(delay))
		return problem_set(
		        problem, DELAY_FIELD_KEYED,
		        "a delay that is always the same draws nothing: add `jitter` and a "
		        "time, like 5ms, or leave `keyed` out");
	if (delay->order != ORDER_ALLOW)
		return problem_set(
		        problem, DELAY_FIELD_KEYED,
		        "with `order keep` a delay depends on the packets ahead, of any flow, "
		        "and on when they came: add `order allow`, or leave `keyed` out");
	if (delay->half_life_ns)
		return problem_set(problem, DELAY_FIELD_HALF_LIFE,
		                   "with a half-life a delay depends on when packets came: use "
		                   "`correlation`, which counts packets, or leave `keyed` out");
	return keyed_check(&delay->conf, cloud, problem);
}

static int delay_check(const struct conf *conf, const struct cloud_conf *cloud,
                       struct problem *problem)
{
	const struct delay_conf *delay = (const struct delay_conf *)conf;
	int error = check_distribution(delay, problem);

	if (error)
		return error;
	if (delay->limit.unit != LIMIT_NONE && delay->limit.unit != LIMIT_PACKETS)
		return problem_set(
		        problem, DELAY_FIELD_LIMIT,
		        "the limit of a delay is a number of packets; write it like 1000pkt");
	if (given(delay, DELAY_FIELD_WEIGHT) && delay->distribution != DELAY_BIMODAL)
		return problem_set(problem, DELAY_FIELD_WEIGHT,
		                   "a weight is for `distribution bimodal` only; leave it out");
	if (delay->half_life_ns && delay->correlation)
		return problem_set(
		        problem, DELAY_FIELD_HALF_LIFE,
		        "a correlation from packet to packet and a half-life in time exclude "
		        "each other; give only one of them");
	if ((delay->half_life_ns || delay->correlation) && !delay_has_jitter(delay))
		return problem_set(
		        problem,
		        delay->correlation ? DELAY_FIELD_CORRELATION : DELAY_FIELD_HALF_LIFE,
		        "a delay that is always the same has no correlation: add `jitter` "
		        "and a time, like 5ms");
	error = delay->limit.unit == LIMIT_NONE
	                ? 0
	                : selection_check_copies(cloud, sizeof(struct in_flight), problem);
	if (!error)
		error = check_keyed(delay, cloud, problem);
	if (error)
		return error;
	return delay->as_netem ? check_as_netem(delay, problem) : 0;
}

/* ---- the distribution ---- */

static int table_distribution(const struct delay_conf *delay, struct distribution *distribution)
{
	struct delay_table table;
	struct problem problem;
	int error = table_read(delay, &table, &problem);

	if (error)
		return error;
	distribution->form = table.netem ? DISTRIBUTION_GRID : DISTRIBUTION_VALUES;
	distribution->n = table.n;
	distribution->value = table.value;
	return 0;
}

int delay_distribution_make(const struct delay_conf *delay, struct distribution *distribution)
{
	uint64_t jitter_ns = delay->jitter_ns;

	switch ((enum delay_distribution)delay->distribution) {
	case DELAY_UNIFORM:
		distribution_uniform(distribution, jitter_ns);
		break;
	case DELAY_NORMAL:
		distribution_normal(distribution, jitter_ns);
		break;
	case DELAY_PARETO:
		distribution_pareto(distribution, jitter_ns);
		break;
	case DELAY_PARETONORMAL:
		distribution_paretonormal(distribution, jitter_ns);
		break;
	case DELAY_EXPONENTIAL:
		distribution_exponential(distribution, jitter_ns);
		break;
	case DELAY_GAMMA:
		distribution_gamma(distribution, delay->delay_ns, jitter_ns);
		break;
	case DELAY_LOGNORMAL:
		distribution_lognormal(distribution, delay->delay_ns, jitter_ns);
		break;
	case DELAY_BIMODAL:
		return distribution_bimodal(distribution, jitter_ns, delay->weight);
	case DELAY_TABLE:
		return table_distribution(delay, distribution);
	}
	return 0;
}

/* ---- properties as configured ---- */

/* One packet in 10,000 takes longer. */
#define RARE 1e-4

static int asked_table(const struct delay_conf *delay, struct delay_asked *asked)
{
	struct delay_table table;
	struct problem problem;
	int error = table_read(delay, &table, &problem);
	double mean;
	int64_t longest;

	if (error)
		return error;
	moments(&table, &mean, &asked->deviation_ns);
	asked->mean_ns += mean;
	longest = (int64_t)delay->delay_ns + table.value[table.n - 1];
	asked->longest_ns = longest > 0 ? (uint64_t)longest : 0;
	free(table.value);
	return 0;
}

static double lognormal_rare(double ratio)
{
	double variance = log1p(ratio * ratio);

	return exp(sqrt(variance) * distribution_normal_quantile(RARE) - variance / 2);
}

/* Keeping order stretches a distribution with gaps, so delays may be longer than configured. */
static int asked_in_order(const struct delay_conf *delay, struct delay_asked *asked)
{
	struct jitter_keep *keep = malloc(sizeof(*keep));
	struct distribution distribution;
	int error = keep ? delay_distribution_make(delay, &distribution) : -ENOMEM;

	if (error)
		goto out;
	if (jitter_keep_make(keep, &distribution)) {
		int64_t longest = (int64_t)delay->delay_ns + keep->x[keep->n - 1];

		if (longest > (int64_t)asked->longest_ns)
			asked->longest_ns = (uint64_t)longest;
	}
	distribution_release(&distribution);
out:
	free(keep);
	return error;
}

static int asked_as_drawn(const struct delay_conf *delay, struct delay_asked *asked)
{
	double mean = (double)delay->delay_ns, jitter = (double)delay->jitter_ns;
	double late = ldexp((double)delay->weight, -63), longest = mean + jitter;
	double pareto = 4.0 / 3 * (cbrt(1 / RARE) - 1.5);

	*asked = (struct delay_asked){.mean_ns = mean, .deviation_ns = jitter};
	switch ((enum delay_distribution)delay->distribution) {
	case DELAY_UNIFORM:
		asked->deviation_ns = jitter / sqrt(3);
		break;
	case DELAY_NORMAL: /* beyond the end of the table */
		longest = mean + jitter * 6.5;
		break;
	case DELAY_PARETO:
		asked->deviation_ns = jitter * 2 / sqrt(3);
		longest = mean + jitter * pareto;
		break;
	case DELAY_PARETONORMAL:
		asked->deviation_ns = jitter * DISTRIBUTION_PARETONORMAL_DEVIATION;
		longest = mean + jitter * (pareto * 3 + distribution_normal_quantile(RARE)) / 4;
		break;
	case DELAY_EXPONENTIAL:
		longest = mean + jitter * (-log(RARE) - 1);
		break;
	case DELAY_GAMMA:
		if (jitter > 0)
			longest = mean * distribution_gamma_quantile(mean / jitter * mean / jitter,
			                                             RARE, 1);
		break;
	case DELAY_LOGNORMAL:
		if (jitter > 0)
			longest = mean * lognormal_rare(jitter / mean);
		break;
	case DELAY_BIMODAL:
		asked->mean_ns = mean + jitter * (2 * late - 1);
		asked->deviation_ns = 2 * jitter * sqrt(late * (1 - late));
		break;
	case DELAY_TABLE:
		return asked_table(delay, asked);
	}
	asked->longest_ns = (uint64_t)fmin(longest, (double)DISTRIBUTION_MAX);
	return 0;
}

#define CUT_STEPS 16384

/* Corrects mean and deviation for delays below 0, which become 0. They are in the lower tail, which
 * is read at CUT_STEPS points of equal probability. */
static int cut_at_zero(const struct delay_conf *delay, struct delay_asked *asked)
{
	struct distribution distribution;
	double square = asked->deviation_ns * asked->deviation_ns + asked->mean_ns * asked->mean_ns;
	double below = 0, below_square = 0;
	int error;

	asked->drawn_mean_ns = asked->mean_ns;
	if (!delay_has_jitter(delay))
		return 0;
	error = delay_distribution_make(delay, &distribution);
	if (error)
		return error;
	for (uint64_t i = 0; i < CUT_STEPS; i++) {
		uint64_t uniform = i * (UINT64_MAX / CUT_STEPS) + UINT64_MAX / CUT_STEPS / 2;
		double d =
		        (double)delay->delay_ns + (double)distribution_draw(&distribution, uniform);

		below += fmin(d, 0) / CUT_STEPS;
		below_square += d < 0 ? d * d / CUT_STEPS : 0;
	}
	distribution_release(&distribution);
	if (below == 0)
		return 0;
	asked->mean_ns -= below;
	square -= below_square + asked->mean_ns * asked->mean_ns;
	asked->deviation_ns = square > 0 ? sqrt(square) : 0;
	return 0;
}

int delay_asked(const struct delay_conf *delay, struct delay_asked *asked)
{
	int error = asked_as_drawn(delay, asked);

	if (!error)
		error = cut_at_zero(delay, asked);
	if (error || delay->order == ORDER_ALLOW)
		return error;
	if (delay->distribution == DELAY_BIMODAL || delay->distribution == DELAY_TABLE)
		return asked_in_order(delay, asked);
	return 0;
}

const struct statement delay_statement = {
        .name = "delay",
        .help = "the propagation delay of the path, and its jitter",
        .example = "10ms jitter 1ms",
        .role = ROLE_LINE,
        .fields = delay_fields,
        .conf_bytes = sizeof(struct delay_conf),
        .check = delay_check,
};
