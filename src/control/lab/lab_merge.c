/* SPDX-License-Identifier: BSD-3-Clause */
/* What --set and --case were, seen from the runs that were made with them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab_campaign.h"

static int case_of(const struct experiment *experiment, const json_t *run)
{
	const char *name = json_string_value(json_object_get(run, "case"));

	return name ? experiment_case(experiment, name) : -1;
}

static const char *value_of(const json_t *run, const char *parameter)
{
	return json_string_value(json_object_get(json_object_get(run, "parameters"), parameter));
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
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
			differs |= !is_same(its, value);
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
		if (is_same(campaign->sweep_values[i], value))
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
