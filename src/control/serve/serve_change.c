/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve/serve_change.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "serve/serve_ask.h"

/* Returns the end of a line: its newline, or the end of the text. */
static const char *line_end(const char *line)
{
	const char *end = strchr(line, '\n');

	return end != NULL ? end : line + strlen(line);
}

static bool ends_answer(const char *line, size_t n)
{
	return (n == 2 && memcmp(line, "ok", 2) == 0) || (n > 4 && memcmp(line, "err ", 4) == 0);
}

bool serve_change_text(const char *answer, char **text, size_t *n)
{
	const char *line = answer, *end = line_end(line);

	while (*line != '\0' && !ends_answer(line, (size_t)(end - line))) {
		line = *end != '\0' ? end + 1 : end;
		end = line_end(line);
	}
	if (strncmp(line, "err ", 4) == 0) {
		*n = (size_t)(end - line) - 4;
		*text = strndup(line + 4, *n);
		return false;
	}
	*n = (size_t)(line - answer);
	*text = strndup(answer, *n);
	return true;
}

/* Finds the answer to the n-th line sent, from 0. `body` has `body_n` bytes; behind those of an
 * error follows its newline. Returns false if there is no such answer. */
static bool answer_at(const char *answer, uint32_t n, bool *ok, const char **body, size_t *body_n)
{
	const char *line = answer, *from = answer;

	while (line != NULL && *line != '\0') {
		const char *end = line_end(line);
		size_t length = (size_t)(end - line);

		if (ends_answer(line, length)) {
			*ok = line[0] == 'o';
			*body = *ok ? from : line + 4;
			*body_n = *ok ? (size_t)(line - from) : length - 4;
			if (n-- == 0)
				return true;
			from = *end != '\0' ? end + 1 : end;
		}
		line = *end != '\0' ? end + 1 : NULL;
	}
	return false;
}

static json_t *sent_lines(const char *lines)
{
	json_t *array = json_array();

	while (*lines != '\0') {
		const char *end = line_end(lines);

		json_array_append_new(array, json_stringn(lines, (size_t)(end - lines)));
		lines = *end != '\0' ? end + 1 : end;
	}
	return array;
}

static char *object_text(json_t *object)
{
	char *text = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;

	json_decref(object);
	return text;
}

/* Returns the line that weir names in the error of `commit`, as in `down: line 2: ...`; 0: none. */
static uint32_t line_named(const char *error, size_t n)
{
	const char *colon = memmem(error, n, ": ", 2);

	return colon != NULL && strncmp(colon, ": line ", 7) == 0
	               ? (uint32_t)strtoul(colon + 7, NULL, 10)
	               : 0;
}

char *serve_change_answer(const struct serve_ask *ask, uint32_t n_lines, bool *ok)
{
	json_t *object = json_pack("{s:o}", "sent", sent_lines(ask->lines));
	const char *body = "", *error = ask->why[0] != '\0' ? ask->why : NULL;
	size_t body_n = 0, error_n = error != NULL ? strlen(error) : 0;
	uint32_t line = 0, n = n_lines + 2;
	bool right = true;

	/* The first answer in error says why. */
	for (uint32_t i = 0; i < n && error == NULL && ask->answer != NULL; i++) {
		if (!answer_at(ask->answer, i, &right, &body, &body_n)) {
			error = "weir hung up before it answered; its events show what is in force";
			error_n = strlen(error);
		} else if (!right) {
			error = body;
			error_n = body_n;
			line = i <= n_lines ? i : line_named(body, body_n);
		}
	}
	if (error == NULL && !ask->done) {
		error = "weir serve is shutting down; weir's events show what is in force";
		error_n = strlen(error);
	}
	*ok = error == NULL;
	json_object_set_new(object, "ok", json_boolean(*ok));
	if (*ok) {
		json_object_set_new(object, "said", json_stringn(body, body_n));
	} else {
		json_object_set_new(object, "error", json_stringn(error, error_n));
		json_object_set_new(object, "line", json_integer(line));
	}
	return object_text(object);
}

char *serve_change_refused(const char *why, uint32_t line)
{
	return object_text(json_pack("{s:b,s:[],s:s,s:I}", "ok", 0, "sent", "error", why, "line",
	                             (json_int_t)line));
}
