/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/atomic_file.h"
#include "lab/lab_campaign.h"
#include "text/alloc_failure.h"

#define FILES 3

static const char *const names[FILES] = {"results.csv", "results.json", "report.html"};

/* ---- writing ---- */

int lab_folder_check(const char *folder, char message[EXPERIMENT_MESSAGE])
{
	struct problem problem = {0};
	struct atomic_file *atomic_file;
	char path[4096];

	if (mkdir(folder, 0777) < 0 && errno != EEXIST)
		return lab_fail(message, -EINVAL, "--out %.200s: %s", folder, strerror(errno));
	snprintf(path, sizeof(path), "%s/%s", folder, names[0]);
	if (atomic_file_open(path, &atomic_file, &problem) < 0)
		return lab_fail(message, -EINVAL, "--out: %s", problem.text);
	atomic_file_discard(atomic_file);
	return 0;
}

static int content_write(int file, struct campaign *const *campaigns, uint32_t n, FILE *out)
{
	json_t *array = json_array();
	int error = 0;

	if (file == 0) {
		for (uint32_t i = 0; i < n; i++)
			lab_output_csv(campaigns[i], i == 0, out);
	} else if (file == 1) {
		for (uint32_t i = 0; !error && i < n; i++)
			error = json_array_append_new(array, lab_output_experiment(campaigns[i]));
		if (!error)
			error = json_dumpf(array, out, JSON_INDENT(1));
		error = error ? -EIO : 0;
	} else {
		error = lab_output_html(campaigns, n, out);
	}
	json_decref(array);
	return alloc_failure_taken() ? -ENOMEM : error;
}

int lab_folder_write(const char *folder, struct campaign *const *campaigns, uint32_t n,
                     char message[EXPERIMENT_MESSAGE])
{
	struct atomic_file *atomic_files[FILES] = {NULL};
	struct problem problem = {0};
	int error = 0, wrong = 0;

	for (int i = 0; !error && i < FILES; i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		error = atomic_file_open(path, &atomic_files[i], &problem);
		if (!error)
			wrong = content_write(i, campaigns, n, atomic_file_stream(atomic_files[i]));
		if (wrong)
			problem_set(&problem, -1, "%s could not be written: %s", path,
			            strerror(-wrong));
		if (!error)
			error = atomic_file_finish(atomic_files[i], &problem);
		if (!error && problem.text[0])
			error = -EIO;
	}
	for (int i = 0; i < FILES; i++) {
		if (!error)
			error = atomic_file_publish(atomic_files[i], &problem);
		else
			atomic_file_discard(atomic_files[i]);
	}
	return error ? lab_fail(message, error, "%s", problem.text) : 0;
}

/* ---- reading ---- */

/* Reads results.json. If it is not required, and not there, *parts is NULL. Returns 0, or -EINVAL
 * with message. */
static int lab_results_read(const char *folder, bool required, json_t **parts,
                            char message[EXPERIMENT_MESSAGE])
{
	json_error_t problem;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, names[1]);
	*parts = NULL;
	if (!required && access(path, F_OK) < 0)
		return 0;
	*parts = json_load_file(path, 0, &problem);
	if (json_is_array(*parts))
		return 0;
	lab_fail(message, 0, "%s%.300s: %s", required ? "" : "--continue: ", path,
	         *parts ? LAB_NOT_OURS : problem.text);
	json_decref(*parts);
	*parts = NULL;
	return -EINVAL;
}

/* Returns true if the run is of this point: of its case and with its parameters. */
static bool is_of(const json_t *run, const struct lab_point *point)
{
	const struct experiment *experiment = point->experiment;
	const json_t *parameters = json_object_get(run, "parameters");
	const char *of = json_string_value(json_object_get(run, "case"));

	if (!of || strcmp(of, experiment->cases[point->of]) != 0)
		return false;
	for (uint32_t i = 0; i < experiment->n_sets; i++) {
		const char *name = experiment->sets[i].name;
		const char *value = json_string_value(json_object_get(parameters, name));

		if (!value || strcmp(value, lab_point_value(point, name)) != 0)
			return false;
	}
	return true;
}

bool lab_runs_have(const json_t *runs, const struct lab_point *point)
{
	json_t *run;
	size_t i;

	json_array_foreach(runs, i, run)
	{
		if (is_of(run, point))
			return true;
	}
	return false;
}

int lab_runs_take(const json_t *runs, struct lab_job *job)
{
	json_t *run, *figure;
	const char *name;
	size_t i;

	json_array_foreach(runs, i, run)
	{
		json_t *figures = json_object_get(run, "figures");

		if ((uint64_t)json_integer_value(json_object_get(run, "seed")) != job->point.seed ||
		    !is_of(run, &job->point))
			continue;
		for (uint32_t k = 0; job->done && k < job->results.n; k++)
			if (json_number_value(
			            json_object_get(figures, job->results.list[k].name)) !=
			    job->results.list[k].value)
				return -EEXIST;
		if (job->done)
			continue;
		json_object_foreach(figures, name, figure)
		        results_add(&job->results, NULL, name, json_number_value(figure));
		if (job->results.error)
			return job->results.error;
		job->done = job->results.n > 0;
	}
	return job->done;
}

int lab_folder_read(const char *folder, struct campaign *const *campaigns, uint32_t n,
                    uint32_t *taken, char message[EXPERIMENT_MESSAGE])
{
	json_t *parts, *part;
	size_t i;
	int error = lab_results_read(folder, false, &parts, message);

	*taken = 0;
	if (error)
		return error;
	for (uint32_t c = 0; c < n; c++) {
		const char *own = campaigns[c]->experiment->digest;

		json_array_foreach(parts, i, part)
		{
			const char *digest = json_string_value(json_object_get(part, "digest"));

			for (uint32_t k = 0;
			     digest && strcmp(digest, own) == 0 && k < campaigns[c]->n_jobs; k++) {
				struct lab_job *job = &campaigns[c]->jobs[k];

				if (!job->done && !job->point.trace && !job->point.pcap)
					*taken += lab_runs_take(json_object_get(part, "runs"),
					                        job) == 1;
			}
		}
	}
	json_decref(parts);
	return 0;
}

/* What --set and --case were, seen from the runs that were made with them. */

static int case_of(const struct experiment *experiment, const json_t *run)
{
	const char *name = json_string_value(json_object_get(run, "case"));

	return name ? experiment_case(experiment, name) : -1;
}

static const char *value_of(const json_t *run, const char *parameter)
{
	return json_string_value(json_object_get(json_object_get(run, "parameters"), parameter));
}

/* Finds the parameters that --set gave to all runs alike, and the one that differs. The value of
 * --set may be a case's own, too. */
static int find_sets(struct campaign *campaign)
{
	const struct experiment *experiment = campaign->experiment;
	const json_t *first = json_array_get(campaign->runs, 0);

	for (uint32_t i = 0; i < experiment->n_sets; i++) {
		const char *name = experiment->sets[i].name;
		const char *value = value_of(first, name);
		bool set = false, differs = false;
		json_t *run;
		size_t k;

		if (experiment->sets[i].of != EXPERIMENT_NO_CASE)
			continue;
		json_array_foreach(campaign->runs, k, run)
		{
			const char *its = value_of(run, name);
			uint32_t of = (uint32_t)case_of(experiment, run);

			set |= its && strcmp(its, experiment_value(experiment, of, name)) != 0;
			differs |= !lab_same(its, value);
		}
		if (!set || strcmp(campaign->sweep, name) == 0)
			continue;
		if (!differs && campaign->n_fixed < LAB_SETS_MAX)
			campaign->fixed[campaign->n_fixed++] = (struct lab_override){name, value};
		if (differs && campaign->sweep[0])
			return lab_fail(campaign->message, -EINVAL,
			                "%s: runs differ in %s and in %s: only one sweep is "
			                "possible",
			                experiment->name, campaign->sweep, name);
		if (differs)
			strcpy(campaign->sweep, name);
	}
	return 0;
}

static int no_value(const struct campaign *campaign, const char *parameter)
{
	return lab_fail(campaign->message, -EINVAL, "%s: a run has no value of %s",
	                campaign->experiment->name, parameter);
}

static int add_sweep_value(struct campaign *campaign, const json_t *run)
{
	const char *value = value_of(run, campaign->sweep), *name = campaign->experiment->name;

	for (uint32_t i = 0; i < campaign->n_sweep_values; i++)
		if (lab_same(campaign->sweep_values[i], value))
			return 0;
	if (!value)
		return no_value(campaign, campaign->sweep);
	if (strlen(value) >= EXPERIMENT_NAME_BYTES)
		return lab_fail(campaign->message, -EINVAL,
		                "%s: `%.60s` is too long a value of %s: at most %d bytes", name,
		                value, campaign->sweep, EXPERIMENT_NAME_BYTES - 1);
	if (campaign->n_sweep_values == EXPERIMENT_VALUES_MAX)
		return lab_fail(campaign->message, -EINVAL, "%s: more than %d values of %s", name,
		                EXPERIMENT_VALUES_MAX, campaign->sweep);
	strcpy(campaign->sweep_values[campaign->n_sweep_values++], value);
	return 0;
}

static int by_number(const void *a, const void *b)
{
	double x = strtod(a, NULL), y = strtod(b, NULL);

	return (x > y) - (x < y);
}

int lab_merge_sets(struct campaign *campaign)
{
	const struct experiment *experiment = campaign->experiment;
	int first = case_of(experiment, json_array_get(campaign->runs, 0)), error;
	bool one_case = experiment->n_cases > 1;
	json_t *run;
	size_t i;

	json_array_foreach(campaign->runs, i, run)
	{
		int of = case_of(experiment, run);

		if (of < 0)
			return lab_fail(campaign->message, -EINVAL,
			                "%s: the runs have a case that the experiment lacks; they "
			                "are from another version",
			                experiment->name);
		one_case &= of == first;
	}
	if (!campaign->only && one_case)
		campaign->only = experiment->cases[first];
	error = find_sets(campaign);
	json_array_foreach(campaign->runs, i, run)
	{
		if (!error && campaign->sweep[0])
			error = add_sweep_value(campaign, run);
	}
	json_array_foreach(campaign->runs, i, run)
	{
		/* Without all parameters, a run would be of no point, and be lost. */
		for (uint32_t k = 0; !error && k < experiment->n_sets; k++)
			if (!value_of(run, experiment->sets[k].name))
				error = no_value(campaign, experiment->sets[k].name);
	}
	if (!campaign->sweep[0])
		strcpy(campaign->sweep, experiment->sweep);
	qsort(campaign->sweep_values, campaign->n_sweep_values, sizeof(campaign->sweep_values[0]),
	      by_number);
	return error;
}

/* ---- the folders ---- */

/* Adds the runs of a part of results.json to those of its experiment, which must have the text that
 * it has now. */
static int add_part(struct experiment *const *all, uint32_t n_all, const json_t *part,
                    json_t **runs, const char *folder, char message[EXPERIMENT_MESSAGE])
{
	const char *name = json_string_value(json_object_get(part, "experiment"));
	const char *digest = json_string_value(json_object_get(part, "digest"));
	uint32_t i = 0;

	while (name && i < n_all && strcmp(all[i]->name, name) != 0)
		i++;
	if (name && i == n_all)
		return lab_fail(message, -EINVAL,
		                "%.300s/results.json: %.300s is not built in; merge takes the "
		                "experiments that `weir lab list` names",
		                folder, name);
	if (name && (!digest || strcmp(digest, all[i]->digest) != 0))
		return lab_fail(message, -EINVAL,
		                "%.300s/results.json: its runs are of another text of %s, that of "
		                "another version of weir; make them again",
		                folder, name);
	if (!name || json_array_extend(runs[i], json_object_get(part, "runs")) < 0)
		return lab_fail(message, -EINVAL, "%.300s/results.json: " LAB_NOT_OURS, folder);
	return 0;
}

int lab_merge(struct experiment *const *all, uint32_t n_all, struct lab_arguments *arguments,
              struct campaign **campaigns, uint32_t *n_campaigns, char message[EXPERIMENT_MESSAGE])
{
	json_t **runs = calloc(n_all, sizeof(json_t *)), *parts, *part, *run;
	uint64_t first = UINT64_MAX, last = 0;
	int error = 0;
	size_t k;

	if (!runs)
		return lab_fail(message, -ENOMEM, "no memory for the runs");
	for (uint32_t i = 0; i < n_all; i++)
		runs[i] = json_array();
	for (uint32_t i = 0; !error && i < arguments->n_folders; i++) {
		const char *folder = arguments->folders[i];

		error = lab_results_read(folder, true, &parts, message);
		json_array_foreach(error ? NULL : parts, k, part)
		{
			if (!error)
				error = add_part(all, n_all, part, runs, folder, message);
		}
		json_decref(parts);
	}
	/* The seeds go from the first to the last that occurs. */
	for (uint32_t i = 0; i < n_all; i++) {
		json_array_foreach(runs[i], k, run)
		{
			uint64_t seed = (uint64_t)json_integer_value(json_object_get(run, "seed"));

			first = seed < first ? seed : first;
			last = seed > last ? seed : last;
		}
	}
	arguments->first_seed = first;
	arguments->seeds = last - first + 1;
	for (uint32_t i = 0; !error && i < n_all; i++) {
		if (json_array_size(runs[i]) == 0)
			continue;
		error = campaign_make(all[i], arguments, NULL, NULL, runs[i],
		                      &campaigns[*n_campaigns], message);
		*n_campaigns += !error;
	}
	if (!error && *n_campaigns == 0)
		error = lab_fail(message, -EINVAL, "there are no runs in these folders");
	for (uint32_t i = 0; i < n_all; i++)
		json_decref(runs[i]);
	free(runs);
	return error;
}
