/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/lab_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/file_read.h"
#include "text/word.h"

int lab_store_all(struct experiment ***result, uint32_t *count, char *message, size_t room)
{
	struct experiment **all;
	uint32_t n = 0;
	int error = 0;

	while (lab_texts[n].name)
		n++;
	all = calloc(n + 1, sizeof(struct experiment *));
	if (!all) {
		snprintf(message, room, "no memory for the experiments");
		return -ENOMEM;
	}
	for (uint32_t i = 0; !error && i < n; i++)
		error = experiment_read(lab_texts[i].text, lab_texts[i].bytes, lab_texts[i].name,
		                        &all[i], message, room);
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

int lab_store_file(const char *path, struct experiment **experiment, char *message, size_t room)
{
	struct language_error error;
	struct file *file;
	int result;

	if (!word_is_text(path)) {
		snprintf(message, room,
		         "the name of this file is not UTF-8 text, as JSON needs it; rename the "
		         "file");
		return -EINVAL;
	}
	result = file_read(path, &file, &error);
	if (result) {
		snprintf(message, room, "%s", error.text);
		return result;
	}
	result = experiment_read(file->text, file->bytes, path, experiment, message, room);
	file_release(file);
	return result;
}
