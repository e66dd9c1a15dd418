/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool lines_insert(struct lines *lines, size_t at, const char *text, size_t bytes)
{
	char *line = strndup(text, bytes);

	if (lines->n == lines->room) {
		size_t room = 2 * lines->room + 64;
		char **more = realloc(lines->line, room * sizeof(*more));

		if (!more) {
			free(line);
			return false;
		}
		lines->line = more;
		lines->room = room;
	}
	memmove(&lines->line[at + 1], &lines->line[at], (lines->n - at) * sizeof(char *));
	lines->line[at] = line;
	lines->n++;
	return line != NULL;
}

void lines_free(struct lines *lines)
{
	for (size_t i = 0; i < lines->n; i++)
		free(lines->line[i]);
	free(lines->line);
	*lines = (struct lines){0};
}

bool lines_of(struct lines *lines, const char *text)
{
	for (const char *end; *text; text = *end ? end + 1 : end) {
		end = strchrnul(text, '\n');
		if (!lines_insert(lines, lines->n, text, (size_t)(end - text)))
			return false;
	}
	return true;
}

char *lines_text(const struct lines *lines)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	for (size_t i = 0; i < lines->n; i++)
		fprintf(out, "%s\n", lines->line[i]);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

bool lines_change(struct lines *lines, const json_t *row)
{
	const json_int_t from = json_integer_value(json_object_get(row, "from"));
	const json_int_t removed = json_integer_value(json_object_get(row, "removed"));
	const json_t *added = json_object_get(row, "lines"), *line;
	size_t i;

	if (from < 0 || removed < 0 || (size_t)from > lines->n ||
	    (size_t)removed > lines->n - (size_t)from || !json_is_array(added))
		return false;
	for (json_int_t k = 0; k < removed; k++)
		free(lines->line[from + k]);
	memmove(&lines->line[from], &lines->line[from + removed],
	        (lines->n - (size_t)(from + removed)) * sizeof(char *));
	lines->n -= (size_t)removed;
	json_array_foreach(added, i, line)
	{
		const char *text = json_string_value(line);

		if (!text || !lines_insert(lines, (size_t)from + i, text, strlen(text)))
			return false;
	}
	return true;
}
