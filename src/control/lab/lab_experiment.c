/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/lab_experiment.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
