/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/lab_output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#define NOT_OURS "not what `weir lab run --out` writes"

struct merge {
	const struct experiment *experiment;
	struct campaign *campaign;
	json_t *runs; /* of the experiment, from all folders */
	char *message;
	size_t room;
};

static int fail(struct merge *merge, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int fail(struct merge *merge, const char *format, ...)
{
	int at = snprintf(merge->message, merge->room, "%s: ", merge->experiment->name);
	va_list list;

	va_start(list, format);
	vsnprintf(merge->message + at, merge->room - (size_t)at, format, list);
	va_end(list);
	return -EINVAL;
}

/* ---- reading ---- */

/* The results.json of the folders, as they are read. */
struct reader {
	struct experiment *const *all;
	uint32_t n_all;
	json_t *found; /* all runs, by experiment: {"NAME": [run, ...]} */
	char path[4096];
	char *message;
	size_t room;
};

static int refuse(const struct reader *reader, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

static int refuse(const struct reader *reader, const char *format, ...)
{
	int at = snprintf(reader->message, reader->room, "%.300s: ", reader->path);
	va_list list;

	va_start(list, format);
	vsnprintf(reader->message + at, reader->room - (size_t)at, format, list);
	va_end(list);
	return -EINVAL;
}

/* Reads the runs of an experiment. They must be of its text as it is now. */
static int read_part(const struct reader *reader, const json_t *part)
{
	const char *name = json_string_value(json_object_get(part, "experiment"));
	const char *digest = json_string_value(json_object_get(part, "digest"));
	char own[EXPERIMENT_DIGEST_BYTES];
	uint32_t i = 0;
	json_t *runs;

	if (!name)
		return refuse(reader, NOT_OURS);
	while (i < reader->n_all && strcmp(reader->all[i]->name, name) != 0)
		i++;
	if (i == reader->n_all)
		return refuse(reader,
		              "%.300s is not built in; merge takes the experiments that `weir lab "
		              "list` names",
		              name);
	experiment_digest(reader->all[i], own);
	if (!digest || strcmp(digest, own) != 0)
		return refuse(
		        reader,
		        "its runs are of another text of %s, that of another version of weir; "
		        "make them again",
		        name);
	runs = json_object_get(reader->found, name);
	if (!runs) {
		runs = json_array();
		json_object_set_new(reader->found, name, runs);
	}
	if (json_array_extend(runs, json_object_get(part, "runs")) < 0)
		return refuse(reader, NOT_OURS);
	return 0;
}

static int read_folder(struct reader *reader, const char *folder)
{
	json_error_t problem;
	json_t *document, *part;
	int error = 0;
	size_t k;

	snprintf(reader->path, sizeof(reader->path), "%s/results.json", folder);
	document = json_load_file(reader->path, 0, &problem);
	if (!json_is_array(document))
		error = refuse(reader, "%s", document ? NOT_OURS : problem.text);
	json_array_foreach(document, k, part)
	{
		if (!error)
			error = read_part(reader, part);
	}
	json_decref(document);
	return error;
}

static int case_of(const struct merge *merge, const json_t *run)
{
	const char *name = json_string_value(json_object_get(run, "case"));

	return name ? experiment_case(merge->experiment, name) : -1;
}

static uint64_t seed_of(const json_t *run)
{
	return (uint64_t)json_integer_value(json_object_get(run, "seed"));
}

static const char *value_of(const json_t *run, const char *parameter)
{
	return json_string_value(json_object_get(json_object_get(run, "parameters"), parameter));
}

/* Returns the value that --set gave to a parameter; NULL if it is the case's own. */
static const char *set_value(const struct merge *merge, const json_t *run, const char *name)
{
	const char *own = experiment_value(merge->experiment, (uint32_t)case_of(merge, run), name);
	const char *value = value_of(run, name);

	return value && own && strcmp(own, value) != 0 ? value : NULL;
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* ---- one experiment ---- */

/* Finds the parameters that --set gave to all runs alike, and the one that differs. The value of
 * --set may be a case's own, too. */
static int find_sets(struct merge *merge)
{
	const struct experiment *experiment = merge->experiment;
	struct campaign *campaign = merge->campaign;
	const json_t *first = json_array_get(merge->runs, 0);

	for (uint32_t i = 0; i < experiment->n_sets; i++) {
		const char *name = experiment->sets[i].name;
		const char *value = value_of(first, name);
		bool set = false, differs = false;
		json_t *run;
		size_t k;

		if (experiment->sets[i].of != EXPERIMENT_NO_CASE)
			continue;
		json_array_foreach(merge->runs, k, run)
		{
			set |= set_value(merge, run, name) != NULL;
			differs |= !is_same(value_of(run, name), value);
		}
		if (!set || strcmp(campaign->sweep, name) == 0)
			continue;
		if (!differs && campaign->n_fixed < LAB_SETS_MAX)
			campaign->fixed[campaign->n_fixed++] = (struct lab_override){name, value};
		if (differs && campaign->sweep[0])
			return fail(merge,
			            "runs differ in %s and in %s: only one sweep is possible",
			            campaign->sweep, name);
		if (differs)
			snprintf(campaign->sweep, sizeof(campaign->sweep), "%s", name);
	}
	return 0;
}

static int by_number(const void *a, const void *b)
{
	double x = strtod(a, NULL), y = strtod(b, NULL);

	return (x > y) - (x < y);
}

static int add_sweep_value(struct merge *merge, const json_t *run)
{
	struct campaign *campaign = merge->campaign;
	const char *value = value_of(run, campaign->sweep);

	for (uint32_t i = 0; i < campaign->n_sweep_values; i++)
		if (is_same(campaign->sweep_values[i], value))
			return 0;
	if (!value)
		return fail(merge, "a run has no value of %s", campaign->sweep);
	if (strlen(value) >= EXPERIMENT_NAME_BYTES)
		return fail(merge, "`%.60s` is too long a value of %s: at most %d bytes", value,
		            campaign->sweep, EXPERIMENT_NAME_BYTES - 1);
	if (campaign->n_sweep_values == EXPERIMENT_VALUES_MAX)
		return fail(merge, "more than %d values of %s", EXPERIMENT_VALUES_MAX,
		            campaign->sweep);
	strcpy(campaign->sweep_values[campaign->n_sweep_values++], value);
	return 0;
}

static bool says_the_same(const struct results *results, const json_t *figures)
{
	for (uint32_t i = 0; i < results->n; i++)
		if (json_number_value(json_object_get(figures, results->list[i].name)) !=
		    results->list[i].value)
			return false;
	return true;
}

static int add_run(struct merge *merge, const json_t *run)
{
	struct campaign *campaign = merge->campaign;
	json_t *figures = json_object_get(run, "figures"), *figure;
	const char *value = campaign->sweep[0] ? set_value(merge, run, campaign->sweep) : NULL;
	uint32_t of = (uint32_t)case_of(merge, run);
	const struct lab_job *there =
	        campaign_job(campaign, of, campaign->sweep, value, seed_of(run));
	struct lab_job *job;
	const char *name;

	if (there)
		return says_the_same(&there->results, figures)
		               ? 0
		               : fail(merge, "two runs of case %s with seed %llu differ",
		                      merge->experiment->cases[of],
		                      (unsigned long long)seed_of(run));
	job = campaign_add_job(campaign, of, seed_of(run));
	if (!job)
		return fail(merge, "no memory for its runs");
	if (value) {
		job->sweep = campaign->sweep;
		job->sweep_value = value;
		job->overrides[job->point.n_overrides++] =
		        (struct lab_override){campaign->sweep, value};
	}
	json_object_foreach(figures, name, figure)
	        results_add(&job->results, NULL, name, json_number_value(figure));
	job->done = true;
	return job->results.error ? fail(merge, "no memory for its figures") : 0;
}

/* Checks that every point has every seed; otherwise a mean would have no meaning. */
static int check_whole(struct merge *merge)
{
	const struct campaign *campaign = merge->campaign;
	const struct lab_arguments *arguments = campaign->arguments;

	for (uint32_t i = 0; i < campaign->n_jobs; i++) {
		const struct lab_job *job = &campaign->jobs[i];

		for (uint64_t seed = 0; seed < arguments->seeds; seed++) {
			if (campaign_job(campaign, job->point.of, job->sweep, job->sweep_value,
			                 arguments->first_seed + seed))
				continue;
			return fail(merge, "case %s%s%s%s%s: the run with seed %llu is missing",
			            merge->experiment->cases[job->point.of], job->sweep ? ", " : "",
			            job->sweep ? job->sweep : "", job->sweep ? " " : "",
			            job->sweep ? job->sweep_value : "",
			            (unsigned long long)(arguments->first_seed + seed));
		}
	}
	return 0;
}

/* Finds the case that all runs have, as with --case. */
static void find_only(struct merge *merge)
{
	struct campaign *campaign = merge->campaign;
	const int first = case_of(merge, json_array_get(merge->runs, 0));
	json_t *run;
	size_t k;

	campaign->only = campaign->arguments->only;
	if (campaign->only || campaign->experiment->n_cases == 1)
		return;
	json_array_foreach(merge->runs, k, run)
	{
		if (case_of(merge, run) != first)
			return;
	}
	campaign->only = campaign->experiment->cases[first];
}

static int merge_one(struct merge *merge)
{
	struct campaign *campaign = merge->campaign;
	const char *only = campaign->arguments->only;
	json_t *run;
	size_t k;
	int error = 0;

	if (only && experiment_case(merge->experiment, only) < 0)
		return fail(merge, "there is no case `%.60s`", only);
	json_array_foreach(merge->runs, k, run) if (case_of(merge, run) < 0) return fail(
	        merge,
	        "the runs have a case that the experiment lacks; they are from another version");
	find_only(merge);
	error = find_sets(merge);
	json_array_foreach(merge->runs, k, run)
	{
		if (!error && campaign->sweep[0])
			error = add_sweep_value(merge, run);
		if (!error)
			error = add_run(merge, run);
	}
	if (!campaign->sweep[0])
		strcpy(campaign->sweep, merge->experiment->sweep);
	qsort(campaign->sweep_values, campaign->n_sweep_values, sizeof(campaign->sweep_values[0]),
	      by_number);
	if (!error)
		error = check_whole(merge);
	if (!error && campaign_sort(campaign) < 0)
		error = fail(merge, "no memory for its runs");
	for (uint32_t i = 0; i < campaign->n_jobs; i++)
		campaign->jobs[i].point.overrides = campaign->jobs[i].overrides;
	return error;
}

/* Sets the seeds: from the first to the last that occurs. */
static void find_seeds(json_t *found, struct lab_arguments *arguments)
{
	uint64_t first = UINT64_MAX, last = 0;
	const char *name;
	json_t *runs, *run;
	size_t k;

	json_object_foreach(found, name, runs)
	{
		json_array_foreach(runs, k, run)
		{
			first = seed_of(run) < first ? seed_of(run) : first;
			last = seed_of(run) > last ? seed_of(run) : last;
		}
	}
	arguments->first_seed = first;
	arguments->seeds = last - first + 1;
}

int lab_merge(struct experiment *const *all, uint32_t n_all, struct lab_arguments *arguments,
              struct campaign **campaigns, uint32_t *n_campaigns, char *message, size_t room)
{
	json_t *found = json_object();
	struct reader reader = {
	        .all = all, .n_all = n_all, .found = found, .message = message, .room = room};
	int error = 0;

	for (uint32_t i = 0; !error && i < arguments->n_folders; i++)
		error = read_folder(&reader, arguments->folders[i]);
	if (!error)
		find_seeds(found, arguments);
	for (uint32_t i = 0; !error && i < n_all; i++) {
		struct merge merge = {
		        .experiment = all[i],
		        .runs = json_object_get(found, all[i]->name),
		        .message = message,
		        .room = room,
		};

		if (json_array_size(merge.runs) == 0)
			continue;
		merge.campaign = calloc(1, sizeof(*merge.campaign));
		if (!merge.campaign) {
			error = fail(&merge, "no memory");
			break;
		}
		merge.campaign->experiment = all[i];
		merge.campaign->arguments = arguments;
		merge.campaign->source = json_incref(merge.runs);
		campaigns[(*n_campaigns)++] = merge.campaign;
		error = merge_one(&merge);
	}
	if (!error && *n_campaigns == 0) {
		snprintf(message, room, "there are no runs in these folders");
		error = -EINVAL;
	}
	json_decref(found);
	return error;
}
