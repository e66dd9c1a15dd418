/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/lab_output.h"

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

int lab_folder_check(const char *folder, char *message, size_t room)
{
	struct problem problem = {0};
	struct atomic_file *atomic_file;
	char path[4096];

	if (mkdir(folder, 0777) < 0 && errno != EEXIST) {
		snprintf(message, room, "--out %.200s: %s", folder, strerror(errno));
		return -EINVAL;
	}
	snprintf(path, sizeof(path), "%s/%s", folder, names[0]);
	if (atomic_file_open(path, &atomic_file, &problem) < 0) {
		snprintf(message, room, "--out: %s", problem.text);
		return -EINVAL;
	}
	atomic_file_discard(atomic_file);
	return 0;
}

static int content_write(int file, struct campaign *const *campaigns, uint32_t n, FILE *out)
{
	json_t *array;
	int error = 0;

	if (file == 2)
		return lab_output_html(campaigns, n, out);
	if (file == 0) {
		for (uint32_t i = 0; i < n; i++)
			lab_output_csv(campaigns[i], i == 0, out);
		return 0;
	}
	array = json_array();
	for (uint32_t i = 0; !error && i < n; i++)
		error = json_array_append_new(array, lab_output_experiment(campaigns[i]));
	if (!error)
		error = json_dumpf(array, out, JSON_INDENT(1));
	json_decref(array);
	if (alloc_failure_taken())
		return -ENOMEM;
	return error ? -EIO : 0;
}

int lab_folder_write(const char *folder, struct campaign *const *campaigns, uint32_t n,
                     char *message, size_t room)
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
	if (error)
		snprintf(message, room, "%s", problem.text);
	return error;
}

/* ---- continuing ---- */

/* Returns true if the run is the job's: case, seed, every parameter. */
static bool is_of(const json_t *run, const struct lab_job *job)
{
	const struct experiment *experiment = job->point.experiment;
	const json_t *parameters = json_object_get(run, "parameters");
	const char *of = json_string_value(json_object_get(run, "case"));

	if (!of || strcmp(of, experiment->cases[job->point.of]) != 0 ||
	    (uint64_t)json_integer_value(json_object_get(run, "seed")) != job->point.seed)
		return false;
	for (uint32_t i = 0; i < experiment->n_sets; i++) {
		const char *name = experiment->sets[i].name;
		const char *value = json_string_value(json_object_get(parameters, name));

		if (!value || strcmp(value, lab_point_value(&job->point, name)) != 0)
			return false;
	}
	return true;
}

static bool take_run(struct lab_job *job, const json_t *run)
{
	json_t *figures = json_object_get(run, "figures"), *figure;
	const char *name;

	json_object_foreach(figures, name, figure)
	        results_add(&job->results, NULL, name, json_number_value(figure));
	job->done = job->results.n > 0 && job->results.error == 0;
	return job->done;
}

static uint32_t take_runs(struct campaign *campaign, const json_t *runs)
{
	uint32_t taken = 0;

	for (uint32_t i = 0; i < campaign->n_jobs; i++) {
		struct lab_job *job = &campaign->jobs[i];
		json_t *run;
		size_t k;

		json_array_foreach(runs, k, run)
		{
			if (job->point.trace || job->point.pcap || job->done || !is_of(run, job))
				continue;
			taken += take_run(job, run);
		}
	}
	return taken;
}

static uint32_t take_part(struct campaign *const *campaigns, uint32_t n, const json_t *part)
{
	const char *name = json_string_value(json_object_get(part, "experiment"));
	const char *digest = json_string_value(json_object_get(part, "digest"));

	for (uint32_t i = 0; name && digest && i < n; i++) {
		const struct experiment *experiment = campaigns[i]->experiment;
		char own[EXPERIMENT_DIGEST_BYTES];

		experiment_digest(experiment, own);
		if (strcmp(experiment->name, name) == 0 && strcmp(digest, own) == 0)
			return take_runs(campaigns[i], json_object_get(part, "runs"));
	}
	return 0;
}

int lab_folder_read(const char *folder, struct campaign *const *campaigns, uint32_t n,
                    uint32_t *taken, char *message, size_t room)
{
	json_error_t problem;
	char path[4096];
	json_t *document, *part;
	size_t k;

	*taken = 0;
	snprintf(path, sizeof(path), "%s/%s", folder, names[1]);
	if (access(path, F_OK) < 0)
		return 0;
	document = json_load_file(path, 0, &problem);
	if (!json_is_array(document)) {
		snprintf(message, room, "--continue: %.300s: %s", path,
		         document ? "not what `weir lab run --out` writes" : problem.text);
		json_decref(document);
		return -EINVAL;
	}
	json_array_foreach(document, k, part)
	{
		*taken += take_part(campaigns, n, part);
	}
	json_decref(document);
	return 0;
}
