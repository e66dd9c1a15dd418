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

/* Finds the run that a row names, `CASE.NAME` or `CASE@VALUE.NAME`. */
static const struct lab_job *job_named(const struct lookup *lookup, const char **name)
{
	const struct experiment *experiment = lookup->campaign->experiment;
	int of = experiment_case_named(experiment, *name);
	char value[EXPERIMENT_NAME_BYTES];
	const char *rest;
	size_t bytes;

	if (of < 0)
		return NULL;
	rest = *name + strlen(experiment->cases[of]);
	bytes = strcspn(rest, ".");
	if (rest[bytes] == 0 || bytes > sizeof(value))
		return NULL;
	*name = rest + bytes + 1;
	if (*rest == '.')
		return campaign_job(lookup->campaign, (uint32_t)of, NULL, NULL, lookup->seed);
	memcpy(value, rest + 1, bytes - 1);
	value[bytes - 1] = 0;
	return campaign_job(lookup->campaign, (uint32_t)of, experiment->sweep, value, lookup->seed);
}

static bool find(void *argument, const char *name, double *value)
{
	const struct lookup *lookup = argument;
	const struct lab_job *job =
	        lookup->of == EXPERIMENT_NO_CASE
	                ? job_named(lookup, &name)
	                : campaign_job(lookup->campaign, lookup->of, lookup->sweep,
	                               lookup->sweep_value, lookup->seed);
	const struct result *result = job ? results_find(&job->results, name) : NULL;

	if (result)
		*value = result->value;
	return result != NULL;
}

/* Computes Welford's mean and variance over the seeds. Returns 0; or with message, -EINVAL if a
 * name or the expression is wrong, or -EDOM if it has no value. */
static int over_seeds(struct lookup *lookup, const char *expression, struct campaign_value *value,
                      char *message, size_t room)
{
	const struct lab_arguments *arguments = lookup->campaign->arguments;
	const struct figures figures = {find, lookup};
	double square = 0, error;

	*value = (struct campaign_value){0};
	for (uint32_t i = 0; i < arguments->seeds; i++) {
		double x, away;

		lookup->seed = arguments->first_seed + i;
		if (expression_value(expression, &figures, &x, message, room) < 0)
			return -EINVAL;
		if (!isfinite(x)) {
			snprintf(message, room, "the expression has no value: it divides by 0");
			return -EDOM;
		}
		value->n++;
		away = x - value->mean;
		value->mean += away / value->n;
		square += away * (x - value->mean);
	}
	value->sigma = value->n > 1 ? sqrt(square / (value->n - 1)) : 0;
	error = value->sigma / sqrt(value->n);
	value->low = value->mean - error;
	value->high = value->mean + error;
	return 0;
}

/* Computes a row's value, when the jobs have run. Returns what over_seeds returns. */
static int campaign_row(const struct campaign *campaign, const struct experiment_row *row,
                        struct campaign_value *value, char *message, size_t room)
{
	struct lookup lookup = {.campaign = campaign, .of = EXPERIMENT_NO_CASE};

	return over_seeds(&lookup, row->expression, value, message, room);
}

int campaign_expression(const struct campaign *campaign, uint32_t of, const char *sweep_value,
                        const char *expression, struct campaign_value *value, char *message,
                        size_t room)
{
	struct lookup lookup = {.campaign = campaign,
	                        .of = of,
	                        .sweep = campaign->sweep,
	                        .sweep_value = sweep_value};

	return over_seeds(&lookup, expression, value, message, room);
}

uint32_t campaign_done(const struct campaign *campaign)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < campaign->n_jobs; i++)
		n += campaign->jobs[i].done;
	return n;
}

/* Writes why a figure is missing: the error of a run explains more than the figure's name. */
static void unknown_because(const struct campaign *campaign, char *reason, size_t room)
{
	uint32_t done = campaign_done(campaign);

	for (uint32_t i = 0; i < campaign->n_jobs; i++) {
		if (!campaign->jobs[i].error)
			continue;
		snprintf(reason, room, "%s", campaign->jobs[i].message);
		return;
	}
	if (done < campaign->n_jobs)
		snprintf(reason, room, "only %u of the experiment's %u runs were made", done,
		         campaign->n_jobs);
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
static void differs_because(const struct campaign *campaign, char *reason, size_t room)
{
	uint32_t n = 0;
	size_t at = 0;

	reason[0] = 0;
	for (uint32_t i = 0; i < campaign->n_fixed && at < room; i++) {
		if (!is_changed(campaign, &campaign->fixed[i]))
			continue;
		at += (size_t)snprintf(
		        reason + at, room - at, "%s%s",
		        n++ > 0 ? ", " : "not comparable: ", campaign->fixed[i].name);
	}
	if (n > 0 && at < room)
		snprintf(reason + at, room - at, " %s", n == 1 ? "differs" : "differ");
}

enum verdict campaign_verdict(const struct campaign *campaign, const struct experiment_row *row,
                              struct campaign_value *value, char *reason, size_t room)
{
	int error;

	reason[0] = 0;
	error = campaign_row(campaign, row, value, reason, room);
	if (error == -EDOM)
		return VERDICT_UNKNOWN;
	if (error) {
		unknown_because(campaign, reason, room);
		return campaign->only ? VERDICT_LEFT_OUT : VERDICT_UNKNOWN;
	}
	differs_because(campaign, reason, room);
	if (reason[0])
		return VERDICT_NOT_COMPARABLE;
	if (value->mean < row->low)
		snprintf(reason, room, "%.4g is below %.4g", value->mean, row->low);
	else if (value->mean > row->high)
		snprintf(reason, room, "%.4g is above %.4g", value->mean, row->high);
	return reason[0] ? VERDICT_OUTSIDE : VERDICT_INSIDE;
}
