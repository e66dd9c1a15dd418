/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/lab_campaign.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "text/nearest.h"

/* ---- --set ---- */

/* Returns true if this is the first line that sets the parameter: a parameter that every experiment
 * has may be set again. */
static bool is_first(const struct experiment *experiment, uint32_t at)
{
	for (uint32_t i = 0; i < at; i++) {
		if (strcmp(experiment->sets[i].name, experiment->sets[at].name) == 0)
			return false;
	}
	return true;
}

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
			if (is_first(experiment, i))
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

/* Adds the values of `10..45` or `10..45:5`: whole numbers. */
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

	strcpy(campaign->sweep, experiment->sweep);
	memcpy(campaign->sweep_values, experiment->sweep_values, sizeof(campaign->sweep_values));
	campaign->n_sweep_values = arguments->no_figures ? 0 : experiment->n_sweep_values;
	for (uint32_t i = 0; i < arguments->n_sets; i++) {
		const struct lab_override *set = &arguments->sets[i];
		bool range = strstr(set->value, "..") != NULL;

		if (!experiment_has(experiment, set->name))
			return unknown_parameter(campaign, set->name, message, room);
		if (!range && !strchr(set->value, ',')) {
			campaign->fixed[campaign->n_fixed++] = *set;
			continue;
		}
		if (campaign->row) {
			snprintf(message, room,
			         "--set %s=%.60s: row %s has no sweep; give one value, or run %s",
			         set->name, set->value, campaign->row, experiment->name);
			return -EINVAL;
		}
		campaign->n_sweep_values = 0;
		snprintf(campaign->sweep, sizeof(campaign->sweep), "%s", set->name);
		if (campaign->swept ||
		    !(range ? add_range(campaign, set->value) : add_list(campaign, set->value))) {
			snprintf(message, room,
			         "--set %s=%.60s: only one sweep is possible, of at most %d "
			         "values, like 10..45, 10..45:5 or 10,20,45",
			         set->name, set->value, EXPERIMENT_VALUES_MAX);
			return -EINVAL;
		}
		campaign->swept = true;
	}
	return 0;
}

/* ---- jobs ---- */

bool campaign_has_row(const struct campaign *campaign, const struct experiment_row *row)
{
	return !campaign->figure && (!campaign->row || strcmp(campaign->row, row->id) == 0);
}

bool campaign_has_plot(const struct campaign *campaign, const struct experiment_plot *plot)
{
	return !campaign->row && !campaign->arguments->no_figures &&
	       (!campaign->figure || strcmp(campaign->figure, plot->figure) == 0);
}

static bool has_case(const struct campaign *campaign, uint32_t of)
{
	const char *only = campaign->only;

	return !only || strcmp(campaign->experiment->cases[of], only) == 0;
}

static const char *fixed_value(const struct campaign *campaign, uint32_t of, const char *name)
{
	const struct lab_point point = {
	        .experiment = campaign->experiment,
	        .of = of,
	        .overrides = campaign->fixed,
	        .n_overrides = campaign->n_fixed,
	};

	return lab_point_value(&point, name);
}

/* Returns NULL for the value that the case has anyway, so that no point is run twice. */
static const char *other_value(const struct campaign *campaign, uint32_t of, const char *sweep,
                               const char *value)
{
	return value && strcmp(fixed_value(campaign, of, sweep), value) != 0 ? value : NULL;
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

struct lab_job *campaign_add_job(struct campaign *campaign, uint32_t of, uint64_t seed)
{
	struct lab_job *job;

	if (campaign->n_jobs == campaign->room) {
		uint32_t room = campaign->room ? 2 * campaign->room : 16;
		struct lab_job *jobs = realloc(campaign->jobs, room * sizeof(*jobs));

		if (!jobs)
			return NULL;
		campaign->jobs = jobs;
		campaign->room = room;
	}
	job = &campaign->jobs[campaign->n_jobs++];
	*job = (struct lab_job){
	        .point = {.experiment = campaign->experiment,
	                  .of = of,
	                  .n_overrides = campaign->n_fixed,
	                  .seed = seed,
	                  .trace = campaign->arguments->trace,
	                  .pcap = campaign->arguments->pcap},
	};
	memcpy(job->overrides, campaign->fixed, sizeof(campaign->fixed));
	return job;
}

static void override(struct lab_job *job, const char *name, const char *value)
{
	job->overrides[job->point.n_overrides++] = (struct lab_override){name, value};
}

/* Adds a case at a value of a parameter (NULL: its own), with every seed, unless it is there
 * already. */
static int add_point(struct campaign *campaign, uint32_t of, const char *sweep, const char *value)
{
	const struct lab_arguments *arguments = campaign->arguments;

	value = other_value(campaign, of, sweep, value);
	sweep = value ? sweep : NULL;
	if (!has_case(campaign, of))
		return 0;
	for (uint32_t i = 0; i < campaign->n_jobs; i++) {
		const struct lab_job *job = &campaign->jobs[i];

		if (job->point.of == of && !job->trace && is_same(job->sweep, sweep) &&
		    is_same(job->sweep_value, value))
			return 0;
	}
	for (uint32_t seed = 0; seed < arguments->seeds; seed++) {
		struct lab_job *job = campaign_add_job(campaign, of, arguments->first_seed + seed);

		if (!job)
			return -ENOMEM;
		job->sweep = sweep;
		job->sweep_value = value;
		if (value)
			override(job, sweep, value);
	}
	return 0;
}

/* Adds a single run, with the first seed, that records values over its time. */
static int add_trace(struct campaign *campaign, const struct experiment_plot *plot)
{
	static const char coarse[] = "100ms";
	const char *folder = getenv("TMPDIR");
	char path[4096];
	struct lab_job *job;
	int file;

	if (!has_case(campaign, plot->of))
		return 0;
	snprintf(path, sizeof(path), "%s/weir-lab-XXXXXX", folder ? folder : "/tmp");
	job = campaign_add_job(campaign, plot->of, campaign->arguments->first_seed);
	file = job ? mkstemp(path) : -1;
	if (file < 0)
		return -ENOMEM;
	close(file);
	job->trace = plot;
	job->trace_path = strdup(path);
	job->point.trace = job->trace_path;
	job->point.pcap = NULL;
	override(job, "sample", coarse);
	if (plot->set[0])
		override(job, plot->set, plot->value);
	return job->trace_path ? 0 : -ENOMEM;
}

/* Adds the cases that an expression names, as CASE.NAME or, at a value of the sweep,
 * CASE@VALUE.NAME. */
static int add_named(struct campaign *campaign, const char *expression,
                     char values[EXPERIMENT_VALUES_MAX][EXPERIMENT_NAME_BYTES], uint32_t *n_values)
{
	const struct experiment *experiment = campaign->experiment;
	int error = 0;

	for (uint32_t of = 0; !error && of < experiment->n_cases; of++) {
		const char *name = experiment->cases[of], *at = expression;

		for (; !error && (at = strstr(at, name)); at++) {
			const char *end = at + strlen(name);
			size_t bytes = strcspn(end, ".");

			if (at != expression &&
			    (isalnum((unsigned char)at[-1]) || strchr("._-@", at[-1])))
				continue;
			if (experiment_case_named(experiment, at) != (int)of)
				continue;
			if (*end == '.')
				error = add_point(campaign, of, NULL, NULL);
			if (*end != '@' || bytes > EXPERIMENT_NAME_BYTES ||
			    *n_values == EXPERIMENT_VALUES_MAX)
				continue;
			memcpy(values[*n_values], end + 1, bytes - 1);
			values[*n_values][bytes - 1] = 0;
			error = add_point(campaign, of, experiment->sweep, values[(*n_values)++]);
		}
	}
	return error;
}

static int add_plot(struct campaign *campaign, const struct experiment_plot *plot)
{
	int error = 0;

	if (plot->kind == PLOT_TRACE)
		return campaign->arguments->merge ? 0 : add_trace(campaign, plot);
	for (uint32_t of = 0; !error && of < campaign->experiment->n_cases; of++) {
		if (plot->kind == PLOT_BARS)
			error = add_point(campaign, of, NULL, NULL);
		for (uint32_t i = 0;
		     !error && plot->kind == PLOT_SWEEP && i < campaign->n_sweep_values; i++)
			error = add_point(campaign, of, campaign->sweep, campaign->sweep_values[i]);
	}
	return error;
}

static int add_all(struct campaign *campaign)
{
	const struct experiment *experiment = campaign->experiment;
	bool single = campaign->arguments->trace || campaign->arguments->pcap ||
	              campaign->arguments->alone;
	/* Without rows or figures that select cases, each case runs as it is. */
	bool all = !campaign->row && !campaign->figure &&
	           (single || campaign->only ||
	            (!experiment->n_rows &&
	             (!experiment->n_plots || campaign->arguments->no_figures)));
	int error = 0;

	for (uint32_t of = 0; !error && all && of < experiment->n_cases; of++)
		error = add_point(campaign, of, NULL, NULL);
	for (uint32_t i = 0; !error && !single && i < experiment->n_rows; i++)
		if (campaign_has_row(campaign, &experiment->rows[i]))
			error = add_named(campaign, experiment->rows[i].expression,
			                  campaign->row_values, &campaign->n_row_values);
	/* A sweep that was requested runs even if no figure shows it. */
	for (uint32_t of = 0; !error && !campaign->row && of < experiment->n_cases; of++)
		for (uint32_t i = 0; !error && campaign->swept && i < campaign->n_sweep_values; i++)
			error = add_point(campaign, of, campaign->sweep, campaign->sweep_values[i]);
	for (uint32_t i = 0; !error && !single && i < experiment->n_plots; i++)
		if (campaign_has_plot(campaign, &experiment->plots[i]))
			error = add_plot(campaign, &experiment->plots[i]);
	return error;
}

static int make_jobs(struct campaign *campaign, char *message, size_t room)
{
	const struct experiment *experiment = campaign->experiment;
	const struct lab_arguments *arguments = campaign->arguments;

	if (arguments->only && experiment_case(experiment, arguments->only) < 0) {
		snprintf(message, room, "%s has no case `%.60s`", experiment->name,
		         arguments->only);
		return -EINVAL;
	}
	if (add_all(campaign) < 0) {
		snprintf(message, room, "no memory, or no room for files, for %u runs",
		         campaign->n_jobs);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < campaign->n_jobs; i++)
		campaign->jobs[i].point.overrides = campaign->jobs[i].overrides;
	if ((arguments->trace || arguments->pcap) && campaign->n_jobs != 1) {
		snprintf(message, room,
		         "--trace and --pcap are for a single run, but there are %u; add --seeds 1 "
		         "--no-figures --case NAME",
		         campaign->n_jobs);
		return -EINVAL;
	}
	return 0;
}

int campaign_make(const struct experiment *experiment, const struct lab_arguments *arguments,
                  const char *row, const char *figure, struct campaign **result, char *message,
                  size_t room)
{
	struct campaign *campaign = calloc(1, sizeof(*campaign));
	int error = -ENOMEM;

	snprintf(message, room, "no memory for the runs");
	if (!campaign)
		return error;
	campaign->experiment = experiment;
	campaign->arguments = arguments;
	campaign->row = row;
	campaign->figure = figure;
	campaign->only = arguments->only;
	error = take_sets(campaign, message, room);
	if (!error)
		error = make_jobs(campaign, message, room);
	for (uint32_t i = 0; !error && i < campaign->n_jobs; i++)
		if (campaign->jobs[i].trace ||
		    campaign->jobs[i].point.seed == arguments->first_seed)
			error = lab_point_check(&campaign->jobs[i].point, message, room);
	if (error) {
		campaign_free(campaign);
		return error;
	}
	*result = campaign;
	return 0;
}

/* Makes the points of this campaign, with one seed. Those of rows and figures are first, in their
 * order; then come all others that may be. Returns NULL if there is no memory. */
static struct campaign *points_in_order(const struct campaign *campaign,
                                        const struct lab_arguments *one_seed)
{
	struct campaign *order = calloc(1, sizeof(*order));
	int error;

	if (!order)
		return NULL;
	*order = *campaign;
	order->arguments = one_seed;
	order->swept = true;
	order->n_row_values = 0;
	order->jobs = NULL;
	order->n_jobs = order->room = 0;
	order->source = NULL;
	error = add_all(order);
	order->only = NULL;
	for (uint32_t of = 0; !error && of < order->experiment->n_cases; of++) {
		error = add_point(order, of, NULL, NULL);
		for (uint32_t i = 0; !error && i < order->n_sweep_values; i++)
			error = add_point(order, of, order->sweep, order->sweep_values[i]);
	}
	if (!error)
		return order;
	campaign_free(order);
	return NULL;
}

int campaign_sort(struct campaign *campaign)
{
	struct lab_arguments one_seed = *campaign->arguments;
	struct lab_job *sorted = calloc(campaign->n_jobs + 1, sizeof(*sorted));
	struct campaign *order = NULL;
	uint32_t n = 0;

	one_seed.seeds = 1;
	if (sorted)
		order = points_in_order(campaign, &one_seed);
	if (!order) {
		free(sorted);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < order->n_jobs; i++) {
		const struct lab_job *job = &order->jobs[i];

		for (uint64_t seed = 0; seed < campaign->arguments->seeds; seed++) {
			const struct lab_job *found =
			        campaign_job(campaign, job->point.of, job->sweep, job->sweep_value,
			                     campaign->arguments->first_seed + seed);

			if (!found)
				break;
			sorted[n++] = *found;
		}
	}
	campaign_free(order);
	assert(n == campaign->n_jobs);
	free(campaign->jobs);
	campaign->jobs = sorted;
	campaign->room = campaign->n_jobs;
	return 0;
}

void campaign_free(struct campaign *campaign)
{
	if (!campaign)
		return;
	for (uint32_t i = 0; i < campaign->n_jobs; i++) {
		results_release(&campaign->jobs[i].results);
		if (campaign->jobs[i].trace_path)
			unlink(campaign->jobs[i].trace_path);
		free(campaign->jobs[i].trace_path);
	}
	free(campaign->jobs);
	json_decref(campaign->source);
	free(campaign);
}

const struct lab_job *campaign_job(const struct campaign *campaign, uint32_t of, const char *sweep,
                                   const char *value, uint64_t seed)
{
	value = other_value(campaign, of, sweep, value);
	for (uint32_t i = 0; i < campaign->n_jobs; i++) {
		const struct lab_job *job = &campaign->jobs[i];

		if (job->point.of == of && job->point.seed == seed && !job->trace &&
		    is_same(job->sweep, value ? sweep : NULL) && is_same(job->sweep_value, value))
			return job;
	}
	return NULL;
}
