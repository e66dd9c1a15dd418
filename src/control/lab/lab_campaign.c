/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/lab_campaign.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text/array.h"
#include "text/language_error.h"

/* ---- --set ---- */

static int unknown_parameter(const struct campaign *campaign, const char *name)
{
	const struct experiment *experiment = campaign->experiment;
	char *message = campaign->message;
	struct nearest nearest;
	int at;

	nearest_start(&nearest, name);
	for (uint32_t i = 0; i < experiment->n_sets; i++)
		nearest_try(&nearest, experiment->sets[i].name);
	if (nearest.best)
		return lab_fail(message, -EINVAL, "%s has no parameter `%.60s`; did you mean `%s`?",
		                experiment->name, name, nearest.best);
	at = snprintf(message, EXPERIMENT_MESSAGE, "%s has no parameter `%.60s`; there are",
	              experiment->name, name);
	for (uint32_t i = 0; i < experiment->n_sets && at > 0 && at < EXPERIMENT_MESSAGE; i++) {
		bool first = true;

		/* A parameter that every experiment has may be set again. */
		for (uint32_t k = 0; k < i; k++)
			first &= strcmp(experiment->sets[k].name, experiment->sets[i].name) != 0;
		if (first)
			at += snprintf(message + at, EXPERIMENT_MESSAGE - (size_t)at, " %s",
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

static int take_sets(struct campaign *campaign)
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
			return unknown_parameter(campaign, set->name);
		if (!range && !strchr(set->value, ',')) {
			campaign->fixed[campaign->n_fixed++] = *set;
			continue;
		}
		if (campaign->row)
			return lab_fail(campaign->message, -EINVAL,
			                "--set %s=%.60s: row %s has no sweep; give one value, or "
			                "run %s",
			                set->name, set->value, campaign->row, experiment->name);
		campaign->n_sweep_values = 0;
		snprintf(campaign->sweep, sizeof(campaign->sweep), "%s", set->name);
		if (campaign->swept ||
		    !(range ? add_range(campaign, set->value) : add_list(campaign, set->value)))
			return lab_fail(campaign->message, -EINVAL,
			                "--set %s=%.60s: only one sweep is possible, of at most %d "
			                "values, like 10..45, 10..45:5 or 10,20,45",
			                set->name, set->value, EXPERIMENT_VALUES_MAX);
		campaign->swept = true;
	}
	return 0;
}

/* ---- points ---- */

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

/* Returns NULL for the value that the case has anyway, so that no point is run twice. */
static const char *other_value(const struct campaign *campaign, uint32_t of, const char *sweep,
                               const char *value)
{
	const struct lab_point point = {
	        .experiment = campaign->experiment,
	        .of = of,
	        .overrides = campaign->fixed,
	        .n_overrides = campaign->n_fixed,
	};

	return value && strcmp(lab_point_value(&point, sweep), value) != 0 ? value : NULL;
}

bool lab_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static struct lab_job *add_job(struct campaign *campaign, uint32_t of, uint64_t seed)
{
	struct lab_job *job;

	if (!array_fits(&campaign->jobs, &campaign->room, campaign->n_jobs + 1, sizeof(*job)))
		return NULL;
	for (uint32_t i = 0; i < campaign->n_jobs; i++) /* they may have moved */
		campaign->jobs[i].point.overrides = campaign->jobs[i].overrides;
	job = &campaign->jobs[campaign->n_jobs++];
	*job = (struct lab_job){
	        .point = {.experiment = campaign->experiment,
	                  .of = of,
	                  .overrides = job->overrides,
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

/* Takes the run of a merge. Without it, a mean over the seeds would have no meaning. */
static int take_run(const struct campaign *campaign, struct lab_job *job)
{
	int taken = lab_runs_take(campaign->runs, job);
	const char *name = campaign->experiment->name;
	const char *of = campaign->experiment->cases[job->point.of];
	unsigned long long seed = job->point.seed;

	if (taken == -EEXIST)
		return lab_fail(campaign->message, -EINVAL,
		                "%s: two runs of case %s with seed %llu differ", name, of, seed);
	if (taken == 0)
		return lab_fail(campaign->message, -EINVAL,
		                "%s: case %s%s%s%s%s: the run with seed %llu is missing", name, of,
		                job->sweep ? ", " : "", job->sweep ? job->sweep : "",
		                job->sweep ? " " : "", job->sweep ? job->sweep_value : "", seed);
	return taken < 0 ? taken : 0;
}

/* Adds a case at a value of a parameter (NULL: its own), with every seed, unless it is there
 * already. */
static int add_point(struct campaign *campaign, uint32_t of, const char *sweep, const char *value)
{
	const struct lab_arguments *arguments = campaign->arguments;
	int error = 0;

	value = other_value(campaign, of, sweep, value);
	sweep = value ? sweep : NULL;
	if (!has_case(campaign, of) ||
	    campaign_job(campaign, of, sweep, value, arguments->first_seed))
		return 0;
	for (uint64_t seed = 0; !error && seed < arguments->seeds; seed++) {
		struct lab_job *job = add_job(campaign, of, arguments->first_seed + seed);

		if (!job)
			return -ENOMEM;
		job->sweep = sweep;
		job->sweep_value = value;
		if (value)
			override(job, sweep, value);
		if (seed == 0 && campaign->runs && !lab_runs_have(campaign->runs, &job->point)) {
			campaign->n_jobs--;
			return 0;
		}
		if (campaign->runs)
			error = take_run(campaign, job);
	}
	return error;
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
	job = add_job(campaign, plot->of, campaign->arguments->first_seed);
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

bool campaign_name_read(const struct experiment *experiment, const char **name, uint32_t *of,
                        char value[EXPERIMENT_NAME_BYTES])
{
	int named = experiment_case_named(experiment, *name);
	const char *rest;
	size_t bytes;

	if (named < 0)
		return false;
	*of = (uint32_t)named;
	rest = *name + strlen(experiment->cases[named]);
	bytes = strcspn(rest, ".");
	if (rest[bytes] == 0 || bytes > EXPERIMENT_NAME_BYTES)
		return false;
	snprintf(value, EXPERIMENT_NAME_BYTES, "%.*s", bytes ? (int)bytes - 1 : 0, rest + 1);
	*name = rest + bytes + 1;
	return true;
}

bool campaign_name_next(const struct experiment *experiment, const char *expression,
                        const char **at, uint32_t *of, char value[EXPERIMENT_NAME_BYTES])
{
	for (; **at; (*at)++) {
		bool begins = *at == expression ||
		              (!isalnum((unsigned char)(*at)[-1]) && !strchr("._-@", (*at)[-1]));

		if (begins && campaign_name_read(experiment, at, of, value))
			return true;
	}
	return false;
}

/* Adds the runs that a row names, case by case. */
static int add_named(struct campaign *campaign, const struct experiment_row *row)
{
	const struct experiment *experiment = campaign->experiment;
	int error = 0;

	for (uint32_t of = 0; !error && of < experiment->n_cases; of++) {
		const char *at = row->expression;
		char value[EXPERIMENT_NAME_BYTES];
		uint32_t named;

		while (!error &&
		       campaign_name_next(experiment, row->expression, &at, &named, value)) {
			char *kept = campaign->row_values[campaign->n_row_values];

			if (named == of && !value[0])
				error = add_point(campaign, of, NULL, NULL);
			if (named != of || !value[0] ||
			    campaign->n_row_values == EXPERIMENT_VALUES_MAX)
				continue;
			strcpy(kept, value);
			campaign->n_row_values++;
			error = add_point(campaign, of, experiment->sweep, kept);
		}
	}
	return error;
}

/* Adds all cases, as they are or at each value of the sweep. */
static int add_cases(struct campaign *campaign, bool as_they_are, bool swept)
{
	int error = 0;

	for (uint32_t of = 0; !error && of < campaign->experiment->n_cases; of++) {
		if (as_they_are)
			error = add_point(campaign, of, NULL, NULL);
		for (uint32_t i = 0; !error && swept && i < campaign->n_sweep_values; i++)
			error = add_point(campaign, of, campaign->sweep, campaign->sweep_values[i]);
	}
	return error;
}

static int add_all(struct campaign *campaign)
{
	const struct experiment *experiment = campaign->experiment;
	const struct lab_arguments *arguments = campaign->arguments;
	bool single = arguments->trace || arguments->pcap || arguments->alone;
	/* Without rows or figures that select cases, each case runs as it is. */
	bool all = !campaign->row && !campaign->figure &&
	           (single || campaign->only ||
	            (!experiment->n_rows && (!experiment->n_plots || arguments->no_figures)));
	int error = add_cases(campaign, all, false);

	for (uint32_t i = 0; !error && !single && i < experiment->n_rows; i++)
		if (campaign_has_row(campaign, &experiment->rows[i]))
			error = add_named(campaign, &experiment->rows[i]);
	/* A sweep that was requested runs even if no figure shows it. */
	if (!error && !campaign->row && (campaign->swept || campaign->runs))
		error = add_cases(campaign, false, true);
	for (uint32_t i = 0; !error && !single && i < experiment->n_plots; i++) {
		const struct experiment_plot *plot = &experiment->plots[i];

		if (!campaign_has_plot(campaign, plot))
			continue;
		if (plot->kind != PLOT_TRACE)
			error = add_cases(campaign, plot->kind == PLOT_BARS,
			                  plot->kind == PLOT_SWEEP);
		else if (!campaign->runs)
			error = add_trace(campaign, plot);
	}
	if (!error && campaign->runs) {
		/* Runs that no row or figure needs come last. */
		const char *only = campaign->only;

		campaign->only = NULL;
		error = add_cases(campaign, true, true);
		campaign->only = only;
	}
	return error;
}

static int make_jobs(struct campaign *campaign)
{
	const struct experiment *experiment = campaign->experiment;
	const struct lab_arguments *arguments = campaign->arguments;
	int error;

	if (campaign->only && experiment_case(experiment, campaign->only) < 0)
		return lab_fail(campaign->message, -EINVAL,
		                campaign->runs ? "%s: there is no case `%.60s`"
		                               : "%s has no case `%.60s`",
		                experiment->name, campaign->only);
	error = add_all(campaign);
	if (error == -ENOMEM)
		return lab_fail(campaign->message, error,
		                "no memory, or no room for files, for %u runs", campaign->n_jobs);
	if (!error && (arguments->trace || arguments->pcap) && campaign->n_jobs != 1)
		return lab_fail(campaign->message, -EINVAL,
		                "--trace and --pcap are for a single run, but there are %u; add "
		                "--seeds 1 --no-figures --case NAME",
		                campaign->n_jobs);
	for (uint32_t i = 0; !error && !campaign->runs && i < campaign->n_jobs; i++)
		if (campaign->jobs[i].trace ||
		    campaign->jobs[i].point.seed == arguments->first_seed)
			error = lab_point_check(&campaign->jobs[i].point, campaign->message);
	return error;
}

int campaign_make(const struct experiment *experiment, const struct lab_arguments *arguments,
                  const char *row, const char *figure, json_t *runs, struct campaign **result,
                  char message[EXPERIMENT_MESSAGE])
{
	struct campaign *campaign = calloc(1, sizeof(*campaign));
	int error;

	if (!campaign)
		return lab_fail(message, -ENOMEM, "no memory for the runs");
	campaign->experiment = experiment;
	campaign->arguments = arguments;
	campaign->row = row;
	campaign->figure = figure;
	campaign->only = arguments->only;
	campaign->runs = json_incref(runs);
	campaign->message = message;
	error = runs ? lab_merge_sets(campaign) : take_sets(campaign);
	if (!error)
		error = make_jobs(campaign);
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
	for (uint32_t i = 0; i < campaign->n_jobs; i++) {
		results_release(&campaign->jobs[i].results);
		if (campaign->jobs[i].trace_path)
			unlink(campaign->jobs[i].trace_path);
		free(campaign->jobs[i].trace_path);
	}
	free(campaign->jobs);
	json_decref(campaign->runs);
	free(campaign);
}

const struct lab_job *campaign_job(const struct campaign *campaign, uint32_t of, const char *sweep,
                                   const char *value, uint64_t seed)
{
	value = other_value(campaign, of, sweep, value);
	for (uint32_t i = 0; i < campaign->n_jobs; i++) {
		const struct lab_job *job = &campaign->jobs[i];

		if (job->point.of == of && job->point.seed == seed && !job->trace &&
		    lab_same(job->sweep, value ? sweep : NULL) && lab_same(job->sweep_value, value))
			return job;
	}
	return NULL;
}
