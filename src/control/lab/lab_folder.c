/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/lab_campaign.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/atomic_file.h"
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

int lab_results_read(const char *folder, bool required, json_t **parts,
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
