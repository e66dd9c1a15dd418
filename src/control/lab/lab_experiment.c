/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/lab_experiment.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link/rate.h"
#include "schedule/at.h"
#include "schedule/every.h"
#include "schedule/markov.h"
#include "schedule/path_trace.h"
#include "text/file_read.h"
#include "text/word.h"

int lab_fail(char message[EXPERIMENT_MESSAGE], int error, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(message, EXPERIMENT_MESSAGE, format, list);
	va_end(list);
	return error;
}

void experiment_free(struct experiment *experiment)
{
	if (!experiment)
		return;
	free(experiment->name);
	free(experiment->title);
	free(experiment->paper);
	free(experiment->about);
	for (uint32_t i = 0; i < experiment->n_lines; i++)
		free(experiment->lines[i].text);
	free(experiment->lines);
	for (uint32_t i = 0; i < experiment->n_rows; i++) {
		free(experiment->rows[i].what);
		free(experiment->rows[i].expression);
		free(experiment->rows[i].paper);
	}
	for (uint32_t i = 0; i < experiment->n_plots; i++) {
		free(experiment->plots[i].title);
		free(experiment->plots[i].expression);
		free(experiment->plots[i].label);
		for (uint32_t k = 0; k < experiment->plots[i].n_bars; k++)
			free(experiment->plots[i].expressions[k]);
	}
	free(experiment);
}

bool experiment_has(const struct experiment *experiment, const char *parameter)
{
	return experiment_value(experiment, EXPERIMENT_NO_CASE, parameter) != NULL;
}

int experiment_case(const struct experiment *experiment, const char *name)
{
	for (uint32_t i = 0; i < experiment->n_cases; i++)
		if (strcmp(experiment->cases[i], name) == 0)
			return (int)i;
	return -1;
}

int experiment_case_named(const struct experiment *experiment, const char *name)
{
	size_t longest = 0;
	int of = -1;

	for (uint32_t i = 0; i < experiment->n_cases; i++) {
		size_t bytes = strlen(experiment->cases[i]);

		if (bytes <= longest || strncmp(name, experiment->cases[i], bytes) != 0 ||
		    (name[bytes] != '.' && name[bytes] != '@'))
			continue;
		longest = bytes;
		of = (int)i;
	}
	return of;
}

/* The last value counts; one of the case overrides the general ones. */
const char *experiment_value(const struct experiment *experiment, uint32_t of,
                             const char *parameter)
{
	const char *general = NULL, *special = NULL;

	for (uint32_t i = 0; i < experiment->n_sets; i++) {
		const struct experiment_set *set = &experiment->sets[i];

		if (strcmp(set->name, parameter) != 0)
			continue;
		if (set->of == EXPERIMENT_NO_CASE)
			general = set->value;
		else if (set->of == of)
			special = set->value;
	}
	return special ? special : general;
}

int lab_store_all(struct experiment ***result, uint32_t *count, char message[EXPERIMENT_MESSAGE])
{
	struct experiment **all;
	uint32_t n = 0;
	int error = 0;

	while (lab_texts[n].name)
		n++;
	all = calloc(n + 1, sizeof(struct experiment *));
	if (!all)
		return lab_fail(message, -ENOMEM, "no memory for the experiments");
	for (uint32_t i = 0; !error && i < n; i++)
		error = experiment_read(lab_texts[i].text, lab_texts[i].bytes, lab_texts[i].name,
		                        &all[i], message);
	if (error) {
		lab_store_free(all, n);
		return error;
	}
	*result = all;
	*count = n;
	return 0;
}

void lab_store_free(struct experiment **all, uint32_t n)
{
	for (uint32_t i = 0; all && i < n; i++)
		experiment_free(all[i]);
	free(all);
}

int lab_store_file(const char *path, struct experiment **experiment,
                   char message[EXPERIMENT_MESSAGE])
{
	struct language_error error;
	struct file *file;
	int result;

	if (!word_is_text(path))
		return lab_fail(message, -EINVAL,
		                "the name of this file is not UTF-8 text, as JSON needs it; rename "
		                "the file");
	result = file_read(path, &file, &error);
	if (result)
		return lab_fail(message, result, "%s", error.text);
	result = experiment_read(file->text, file->bytes, path, experiment, message);
	file_release(file);
	return result;
}

/* The words of `overhead`, and what to write in the lab. */
static const struct {
	const char *word, *instead;
} overheads[] = {
        {"layer3", "leave it out"},
        {"layer1", "write `overhead 38`"},
        {"atm", "write `overhead N cell 48B cell-overhead 5B`, with N 8 more than `encap`"},
};

static int refuse(const struct cloud_conf *cloud, const char *word, const char *instead,
                  struct problem *problem)
{
	return problem_set(
	        problem, -1,
	        "cloud %s: %s expects frames with Ethernet, but links of the lab count IPv4 "
	        "datagrams: %s",
	        cloud->name, word, instead);
}

static int check(const struct cloud_conf *cloud, const struct conf *conf, struct problem *problem);

static int check_orders(const struct cloud_conf *cloud, const struct orders *orders,
                        struct problem *problem)
{
	int error = 0;

	for (uint32_t i = 0; !error && i < orders->n; i++)
		if (orders->order[i].conf)
			error = check(cloud, orders->order[i].conf, problem);
	return error;
}

static int check(const struct cloud_conf *cloud, const struct conf *conf, struct problem *problem)
{
	int error = 0;

	if (conf->statement == &rate_statement) {
		const char *overhead = ((const struct rate_conf *)conf)->overhead;
		char word[32];

		for (size_t i = 0; overhead && i < sizeof(overheads) / sizeof(overheads[0]); i++) {
			if (strcmp(overhead, overheads[i].word) != 0)
				continue;
			snprintf(word, sizeof(word), "`overhead %s`", overhead);
			return refuse(cloud, word, overheads[i].instead, problem);
		}
	} else if (conf->statement == &trace_statement) {
		const struct rate_conf *rate =
		        (const struct rate_conf *)cloud_conf_get(cloud, "rate");

		if (trace_format((const struct trace_conf *)conf) == TRACE_MAHIMAHI &&
		    (!rate || !rate_overhead(rate).given))
			return refuse(cloud, "a trace of mahimahi",
			              "write a `rate` with `overhead 4`, as mahimahi counts them",
			              problem);
	} else if (conf->statement == &at_statement) {
		error = check_orders(cloud, &((const struct at_conf *)conf)->orders, problem);
	} else if (conf->statement == &every_statement) {
		error = check_orders(cloud, &((const struct every_conf *)conf)->orders, problem);
	} else if (conf->statement == &markov_statement) {
		const struct states *states = &((const struct markov_conf *)conf)->states;

		for (uint32_t i = 0; !error && i < states->n; i++)
			error = check_orders(cloud, &states->state[i].orders, problem);
	}
	return error;
}

int lab_lengths_check(const struct scenario *scenario, struct problem *problem)
{
	int error = 0;

	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		const struct cloud_conf *cloud = scenario->clouds[i];

		for (uint32_t k = 0; !error && k < cloud->n_confs; k++)
			error = check(cloud, cloud->confs[k], problem);
	}
	return error;
}
