/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab_campaign.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expression.h"
#include "nearest.h"

/* ---- what --set asks for ---- */

static int unknown_parameter(const struct campaign *campaign, const char *name, char *message,
                             size_t room)
{
	const struct experiment *experiment = campaign->experiment;
	struct nearest nearest;

	nearest_start(&nearest, name);
	for (uint32_t i = 0; i < experiment->n_sets; i++)
		nearest_try(&nearest, experiment->sets[i].name);
	if (nearest.best) {
		snprintf(message, room, "%s has no parameter `%.60s`; did you mean `%s`?",
		         experiment->name, name, nearest.best);
	} else {
		int at = snprintf(message, room, "%s has no parameter `%.60s`; there are",
		                  experiment->name, name);

		for (uint32_t i = 0; i < experiment->n_sets && at > 0 && (size_t)at < room; i++)
			if (experiment->sets[i].of == EXPERIMENT_NO_CASE)
				at += snprintf(message + at, room - (size_t)at, " %s",
				               experiment->sets[i].name);
	}
	return -EINVAL;
}

static bool add_value(struct campaign *campaign, const char *text, size_t bytes)
{
	if (campaign->n_sweep_values == EXPERIMENT_VALUES_MAX || bytes == 0 ||
	    bytes >= EXPERIMENT_NAME_BYTES)
		return false;
	memcpy(campaign->sweep_values[campaign->n_sweep_values], text, bytes);
	campaign->sweep_values[campaign->n_sweep_values++][bytes] = 0;
	return true;
}

/* `10..45` or `10..45:5`: whole numbers. */
static bool add_range(struct campaign *campaign, const char *text)
{
	unsigned long long from, to, step = 1;
	char rest;
	int n = sscanf(text, "%llu..%llu%c", &from, &to, &rest);

	if (n == 3 && (rest != ':' || sscanf(strchr(text, ':') + 1, "%llu%c", &step, &rest) != 1))
		return false;
	if (n < 2 || step == 0 || from > to)
		return false;
	for (; from <= to; from += step) {
		char number[24];

		if (!add_value(campaign, number,
		               (size_t)snprintf(number, sizeof(number), "%llu", from)))
			return false;
	}
	return true;
}

static bool add_list(struct campaign *campaign, const char *text)
{
	for (;;) {
		size_t bytes = strcspn(text, ",");

		if (!add_value(campaign, text, bytes))
			return false;
		if (text[bytes] == 0)
			return true;
		text += bytes + 1;
	}
}

static int take_sets(struct campaign *campaign, char *message, size_t room)
{
	const struct lab_arguments *arguments = campaign->arguments;
	const struct experiment *experiment = campaign->experiment;
	bool swept = false;

	strcpy(campaign->sweep, experiment->sweep);
	memcpy(campaign->sweep_values, experiment->sweep_values, sizeof(campaign->sweep_values));
	campaign->n_sweep_values = arguments->figures ? experiment->n_sweep_values : 0;
	for (uint32_t i = 0; i < arguments->n_sets; i++) {
		const struct lab_override *set = &arguments->sets[i];
		bool range = strstr(set->value, "..") != NULL;

		if (!experiment_has(experiment, set->name))
			return unknown_parameter(campaign, set->name, message, room);
		if (!range && !strchr(set->value, ',')) {
			campaign->fixed[campaign->n_fixed++] = *set;
			continue;
		}
		campaign->n_sweep_values = 0;
		snprintf(campaign->sweep, sizeof(campaign->sweep), "%s", set->name);
		if (swept ||
		    !(range ? add_range(campaign, set->value) : add_list(campaign, set->value))) {
			snprintf(message, room,
			         "--set %s=%.60s: one sweep, of at most %d values, like 10..45, "
			         "10..45:5 or 10,20,45",
			         set->name, set->value, EXPERIMENT_VALUES_MAX);
			return -EINVAL;
		}
		swept = true;
	}
	return 0;
}

/* ---- jobs ---- */

/* Whether a name of this case stands in the expression. */
static bool mentions(const char *expression, const char *name)
{
	size_t bytes = strlen(name);

	for (const char *at = expression; (at = strstr(at, name)); at++) {
		bool begins = at == expression ||
		              (!isalnum((unsigned char)at[-1]) && !strchr("._-", at[-1]));

		if (begins && at[bytes] == '.')
			return true;
	}
	return false;
}

bool campaign_has_row(const struct campaign *campaign, const struct experiment_row *row)
{
	return !campaign->row || strcmp(campaign->row, row->id) == 0;
}

static bool needs_case(const struct campaign *campaign, uint32_t of)
{
	const struct experiment *experiment = campaign->experiment;
	const char *only = campaign->arguments->only;

	if (only)
		return strcmp(experiment->cases[of], only) == 0;
	if (!campaign->row)
		return true;
	for (uint32_t i = 0; i < experiment->n_rows; i++)
		if (campaign_has_row(campaign, &experiment->rows[i]) &&
		    mentions(experiment->rows[i].expression, experiment->cases[of]))
			return true;
	return false;
}

static void add_jobs(struct campaign *campaign, uint32_t of, const char *sweep_value)
{
	const struct lab_arguments *arguments = campaign->arguments;

	for (uint32_t seed = 0; seed < arguments->seeds; seed++) {
		uint32_t index = campaign->n_jobs++;
		struct lab_job *job = &campaign->jobs[index];
		struct lab_override *overrides = &campaign->overrides[index * LAB_SETS_MAX];

		memcpy(overrides, campaign->fixed, sizeof(campaign->fixed));
		job->sweep_value = sweep_value;
		job->point = (struct lab_point){
		        .experiment = campaign->experiment,
		        .of = of,
		        .overrides = overrides,
		        .n_overrides = campaign->n_fixed,
		        .seed = arguments->first_seed + seed,
		        .trace = arguments->trace,
		        .pcap = arguments->pcap,
		};
		if (sweep_value)
			overrides[job->point.n_overrides++] =
			        (struct lab_override){campaign->sweep, sweep_value};
	}
}

static int make_jobs(struct campaign *campaign, char *message, size_t room)
{
	const struct experiment *experiment = campaign->experiment;
	const struct lab_arguments *arguments = campaign->arguments;
	bool rows = experiment->n_rows > 0 || campaign->n_sweep_values == 0;
	size_t most =
	        (size_t)experiment->n_cases * (campaign->n_sweep_values + 1) * arguments->seeds;

	if (arguments->only && experiment_case(experiment, arguments->only) < 0) {
		snprintf(message, room, "%s has no case `%.60s`", experiment->name,
		         arguments->only);
		return -EINVAL;
	}
	campaign->jobs = calloc(most, sizeof(*campaign->jobs));
	campaign->overrides = calloc(most * LAB_SETS_MAX, sizeof(*campaign->overrides));
	if (!campaign->jobs || !campaign->overrides) {
		snprintf(message, room, "no memory for %zu runs", most);
		return -ENOMEM;
	}
	for (uint32_t of = 0; of < experiment->n_cases; of++) {
		if (!needs_case(campaign, of))
			continue;
		if (rows)
			add_jobs(campaign, of, NULL);
		for (uint32_t i = 0; !campaign->row && i < campaign->n_sweep_values; i++)
			add_jobs(campaign, of, campaign->sweep_values[i]);
	}
	if ((arguments->trace || arguments->pcap) && campaign->n_jobs != 1) {
		snprintf(message, room,
		         "--trace and --pcap are of a single run, and these are %u; add --seeds 1 "
		         "--no-figures --case NAME",
		         campaign->n_jobs);
		return -EINVAL;
	}
	return 0;
}

int campaign_make(const struct experiment *experiment, const struct lab_arguments *arguments,
                  const char *row, struct campaign **result, char *message, size_t room)
{
	struct campaign *campaign = calloc(1, sizeof(*campaign));
	int error = -ENOMEM;

	snprintf(message, room, "no memory for the runs");
	if (!campaign)
		return error;
	campaign->experiment = experiment;
	campaign->arguments = arguments;
	campaign->row = row;
	error = take_sets(campaign, message, room);
	if (!error)
		error = make_jobs(campaign, message, room);
	for (uint32_t i = 0; !error && i < campaign->n_jobs; i += arguments->seeds)
		error = lab_point_check(&campaign->jobs[i].point, message, room);
	if (error) {
		campaign_free(campaign);
		return error;
	}
	*result = campaign;
	return 0;
}

void campaign_free(struct campaign *campaign)
{
	if (!campaign)
		return;
	for (uint32_t i = 0; i < campaign->n_jobs; i++)
		results_release(&campaign->jobs[i].results);
	free(campaign->jobs);
	free(campaign->overrides);
	free(campaign);
}

/* ---- values ---- */

struct lookup {
	const struct campaign *campaign;
	const char *sweep_value; /* or NULL */
	uint64_t seed;
	uint32_t of; /* case of all names; EXPERIMENT_NO_CASE: each begins with its own */
};

static const struct lab_job *job_find(const struct lookup *lookup, uint32_t of)
{
	const struct campaign *campaign = lookup->campaign;

	for (uint32_t i = 0; i < campaign->n_jobs; i++) {
		const struct lab_job *job = &campaign->jobs[i];

		if (job->point.of == of && job->point.seed == lookup->seed &&
		    (job->sweep_value == lookup->sweep_value ||
		     (job->sweep_value && lookup->sweep_value &&
		      strcmp(job->sweep_value, lookup->sweep_value) == 0)))
			return job;
	}
	return NULL;
}

static bool find(void *argument, const char *name, double *value)
{
	const struct lookup *lookup = argument;
	const struct experiment *experiment = lookup->campaign->experiment;
	uint32_t of = lookup->of;
	const struct result *result;
	const struct lab_job *job;

	for (uint32_t i = 0; lookup->of == EXPERIMENT_NO_CASE && i < experiment->n_cases; i++) {
		size_t bytes = strlen(experiment->cases[i]);

		if (strncmp(name, experiment->cases[i], bytes) != 0 || name[bytes] != '.')
			continue;
		name += bytes + 1;
		of = i;
		break;
	}
	if (of == EXPERIMENT_NO_CASE)
		return false;
	job = job_find(lookup, of);
	result = job ? results_find(&job->results, name) : NULL;
	if (result)
		*value = result->value;
	return result != NULL;
}

/* Welford's mean and variance over the seeds. */
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

int campaign_row(const struct campaign *campaign, const struct experiment_row *row,
                 struct campaign_value *value, char *message, size_t room)
{
	struct lookup lookup = {.campaign = campaign, .of = EXPERIMENT_NO_CASE};

	return over_seeds(&lookup, row->expression, value, message, room);
}

int campaign_expression(const struct campaign *campaign, uint32_t of, const char *sweep_value,
                        const char *expression, struct campaign_value *value, char *message,
                        size_t room)
{
	struct lookup lookup = {.campaign = campaign, .of = of, .sweep_value = sweep_value};

	return over_seeds(&lookup, expression, value, message, room);
}

bool campaign_row_passes(const struct experiment_row *row, const struct campaign_value *value)
{
	return value->mean >= row->low && value->mean <= row->high;
}
