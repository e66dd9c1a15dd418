/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "python/python.h"
#include "text/alloc_failure.h"
#include "text/language_error.h"
#include "text/table.h"

#define COLUMNS_MAX 32 /* of a table (text/table.h) */
#define NO_MEMORY   "{\"error\":\"no memory\"}\n"

const char *python_path(const json_t *question, const char *name, char path[PATH_MAX])
{
	const unsigned char *text =
	        (const unsigned char *)json_string_value(json_object_get(question, name));
	size_t n = 0;

	if (!text)
		return NULL;
	for (; *text && n < PATH_MAX - 1; text++) {
		if (*text >= 0x80 && text[1])
			path[n++] = (char)((*text & 0x03) << 6 | (text[1] & 0x3f)), text++;
		else
			path[n++] = (char)*text;
	}
	path[n] = '\0';
	return path;
}

static json_t *answer_nearest(const json_t *question)
{
	const char *word = json_string_value(json_object_get(question, "word"));
	struct nearest nearest;
	json_t *other;
	size_t i;

	nearest_start(&nearest, word ? word : "");
	json_array_foreach(json_object_get(question, "words"), i, other)
	        nearest_try(&nearest, json_string_value(other));
	return json_pack("{s:s?}", "nearest", nearest.best);
}

static json_t *answer_table(const json_t *question)
{
	const char *columns = json_string_value(json_object_get(question, "columns"));
	struct table *table;
	struct printed text;
	json_t *cell, *answer;
	size_t i;

	if (!columns || !columns[0] || strlen(columns) > COLUMNS_MAX)
		return json_pack("{s:s}", "error", "a table has 1 to 32 columns");
	table = table_make(columns);
	json_array_foreach(json_object_get(question, "cells"), i, cell)
	        table_text(table, json_is_string(cell) ? json_string_value(cell) : "");
	table_end(table, printed_begin(&text));
	answer = printed_end(&text) ? json_pack("{s:s}", "text", text.bytes) : NULL;
	free(text.bytes);
	return answer;
}

static const struct python_ask common[] = {
        {"nearest", answer_nearest},
        {"table", answer_table},
        {NULL, NULL},
};

static const struct python_ask *ask_find(const struct python_ask *asks, const char *name)
{
	while (asks->name && strcmp(asks->name, name) != 0)
		asks++;
	return asks->name ? asks : NULL;
}

static json_t *answer(const struct python_ask *asks, const char *line, size_t bytes)
{
	json_error_t problem;
	json_t *question = json_loadb(line, bytes, 0, &problem), *given;
	const char *name = json_string_value(json_object_get(question, "ask"));
	const struct python_ask *ask = ask_find(asks, name ? name : "");

	if (ask == NULL)
		ask = ask_find(common, name ? name : "");
	if (ask != NULL)
		given = ask->answer(question);
	else
		given = json_pack("{s:s}", "error",
		                  question ? "this weir does not know what it is asked"
		                           : problem.text);
	json_decref(question);
	return given;
}

int python_answer(const struct python_ask *asks, FILE *in, FILE *out)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t bytes;

	while ((bytes = getline(&line, &room, in)) > 0) {
		json_t *given = answer(asks, line, (size_t)bytes);
		char *text = given ? json_dumps(given, JSON_COMPACT) : NULL;
		bool lacks = alloc_failure_taken() || text == NULL;

		if (lacks)
			fputs(NO_MEMORY, out);
		else
			fprintf(out, "%s\n", text);
		free(text);
		json_decref(given);
		if (fflush(out) != 0)
			break;
	}
	free(line);
	return ferror(out) ? 1 : 0;
}
