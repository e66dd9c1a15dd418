/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of rows and figures of a campaign that has run: expressions over the seeds. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/expression.h"
#include "lab/lab_campaign.h"

struct lookup {
	const struct campaign *campaign;
	const char *sweep, *sweep_value; /* or NULL */
	uint64_t seed;
	uint32_t of; /* case of all names; EXPERIMENT_NO_CASE: each begins with one */
};

/* Finds a figure of the run that is looked up; or of the one that a row names, `CASE.NAME` or
 * `CASE@VALUE.NAME`. */
static bool find(void *argument, const char *name, double *value)
{
	const struct lookup *lookup = argument;
	const char *sweep = lookup->sweep, *at = lookup->sweep_value;
	char named[EXPERIMENT_NAME_BYTES];
	const struct result *result;
	const struct lab_job *job;
	uint32_t of = lookup->of;

	if (of == EXPERIMENT_NO_CASE) {
		if (!campaign_name_read(lookup->campaign->experiment, &name, &of, named))
			return false;
		sweep = lookup->campaign->experiment->sweep;
		at = named[0] ? named : NULL;
	}
	job = campaign_job(lookup->campaign, of, sweep, at, lookup->seed);
	result = job ? results_find(&job->results, name) : NULL;
	if (result)
		*value = result->value;
	return result != NULL;
}

/* Computes Welford's mean and variance over the seeds. Returns 0; or with message, -EINVAL if a
 * name or the expression is wrong, or -EDOM if it has no value. */
static int over_seeds(struct lookup *lookup, const char *expression, struct campaign_value *value,
                      char message[EXPERIMENT_MESSAGE])
{
	const struct lab_arguments *arguments = lookup->campaign->arguments;
	const struct figures figures = {find, lookup};
	double square = 0, error;

	*value = (struct campaign_value){0};
	for (uint32_t i = 0; i < arguments->seeds; i++) {
		double x, deviation;

		lookup->seed = arguments->first_seed + i;
		if (expression_value(expression, &figures, &x, message, EXPERIMENT_MESSAGE) < 0)
			return -EINVAL;
		if (!isfinite(x))
			return lab_fail(message, -EDOM,
			                "the expression has no value: it divides by 0");
		value->n++;
		deviation = x - value->mean;
		value->mean += deviation / value->n;
		square += deviation * (x - value->mean);
	}
	error = value->n > 1 ? sqrt(square / (value->n - 1)) / sqrt(value->n) : 0;
	value->low = value->mean - error;
	value->high = value->mean + error;
	return 0;
}

int campaign_expression(const struct campaign *campaign, uint32_t of, const char *sweep_value,
                        const char *expression, struct campaign_value *value)
{
	struct lookup lookup = {.campaign = campaign,
	                        .of = of,
	                        .sweep = campaign->sweep,
	                        .sweep_value = sweep_value};
	char message[EXPERIMENT_MESSAGE];

	return over_seeds(&lookup, expression, value, message);
}

uint32_t campaign_plot_values(const struct campaign *campaign, const struct experiment_plot *plot)
{
	return plot->kind == PLOT_BARS ? plot->n_bars : campaign->n_sweep_values;
}

bool campaign_plot_value(const struct campaign *campaign, const struct experiment_plot *plot,
                         uint32_t of, uint32_t i, const char **name, struct campaign_value *value)
{
	bool bars = plot->kind == PLOT_BARS;

	*name = bars ? plot->names[i] : campaign->sweep_values[i];
	return campaign_expression(campaign, of, bars ? NULL : *name,
	                           bars ? plot->expressions[i] : plot->expression, value) == 0;
}

uint32_t campaigns_done(struct campaign *const *campaigns, uint32_t n, uint32_t *all)
{
	uint32_t done = 0;

	*all = 0;
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < campaigns[i]->n_jobs; k++)
			done += campaigns[i]->jobs[k].done;
		*all += campaigns[i]->n_jobs;
	}
	return done;
}

/* Writes why a figure is missing: the error of a run explains more than the figure's name. */
static void unknown_because(const struct campaign *campaign, char reason[EXPERIMENT_MESSAGE])
{
	uint32_t all, done = campaigns_done((struct campaign *const *)&campaign, 1, &all);

	for (uint32_t i = 0; i < all; i++) {
		if (!campaign->jobs[i].error)
			continue;
		strcpy(reason, campaign->jobs[i].message);
		return;
	}
	if (done < all)
		lab_fail(reason, 0, "only %u of the experiment's %u runs were made", done, all);
}

/* Returns true if --set gives a parameter another value than the experiment has in some case. */
static bool is_changed(const struct campaign *campaign, const struct lab_override *set)
{
	if (strcmp(set->name, "duration") == 0 || strcmp(set->name, "warmup") == 0)
		return false;
	for (uint32_t of = 0; of < campaign->experiment->n_cases; of++) {
		const struct lab_point own = {.experiment = campaign->experiment, .of = of};
		const char *value = lab_point_value(&own, set->name);

		if (!value || strcmp(value, set->value) != 0)
			return true;
	}
	return false;
}

/* Writes which parameters differ from those of the paper; "" if none does. */
static void differs_because(const struct campaign *campaign, char reason[EXPERIMENT_MESSAGE])
{
	uint32_t n = 0;
	size_t at = 0;

	reason[0] = 0;
	for (uint32_t i = 0; i < campaign->n_fixed && at < EXPERIMENT_MESSAGE; i++) {
		if (!is_changed(campaign, &campaign->fixed[i]))
			continue;
		at += (size_t)snprintf(
		        reason + at, EXPERIMENT_MESSAGE - at, "%s%s",
		        n++ > 0 ? ", " : "not comparable: ", campaign->fixed[i].name);
	}
	if (n > 0 && at < EXPERIMENT_MESSAGE)
		snprintf(reason + at, EXPERIMENT_MESSAGE - at, n == 1 ? " differs" : " differ");
}

enum verdict campaign_verdict(const struct campaign *campaign, const struct experiment_row *row,
                              struct campaign_value *value, char reason[EXPERIMENT_MESSAGE])
{
	struct lookup lookup = {.campaign = campaign, .of = EXPERIMENT_NO_CASE};
	int error;

	reason[0] = 0;
	error = over_seeds(&lookup, row->expression, value, reason);
	if (error == -EDOM)
		return VERDICT_UNKNOWN;
	if (error) {
		unknown_because(campaign, reason);
		return campaign->only ? VERDICT_LEFT_OUT : VERDICT_UNKNOWN;
	}
	differs_because(campaign, reason);
	if (reason[0])
		return VERDICT_NOT_COMPARABLE;
	if (value->mean < row->low)
		lab_fail(reason, 0, "%.4g is below %.4g", value->mean, row->low);
	else if (value->mean > row->high)
		lab_fail(reason, 0, "%.4g is above %.4g", value->mean, row->high);
	return reason[0] ? VERDICT_OUTSIDE : VERDICT_INSIDE;
}
