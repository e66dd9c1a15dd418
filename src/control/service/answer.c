/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "figures/figures.h"
#include "service/answer.h"
#include "text/array.h"

#define OUTPUT_ROOM_MIN 4096

void output_release(struct output *output)
{
	free(output->bytes);
	memset(output, 0, sizeof(*output));
}

void output_append(struct output *output, const void *bytes, size_t n)
{
	if (output->failed || n == 0)
		return;
	if (output->head + output->n + n > output->room && output->head > 0) {
		memmove(output->bytes, output->bytes + output->head, output->n);
		output->head = 0;
	}
	if (!array_fits(&output->bytes, &output->room, output->n + n, 1)) {
		output->failed = true;
		return;
	}
	memcpy(output->bytes + output->head + output->n, bytes, n);
	output->n += n;
}

void output_taken(struct output *output, size_t n)
{
	output->head += n;
	output->n -= n;
	if (output->n > 0)
		return;
	output->head = 0;
	if (output->room > 16 * OUTPUT_ROOM_MIN) { /* large answers are rare: frees their room */
		free(output->bytes);
		output->bytes = NULL;
		output->room = 0;
	}
}

static void output_string(struct output *output, const char *text)
{
	output_append(output, text, strlen(text));
}

static int output_dump(const char *bytes, size_t n, void *output)
{
	output_append(output, bytes, n);
	return ((struct output *)output)->failed ? -1 : 0;
}

void answer_object(struct output *output, json_t *object)
{
	struct answer_error error;

	if (object == NULL) {
		answer_error_set(&error, "answer", "no-memory",
		                 "no memory for the answer; ask for less at once");
		answer_error(output, &error);
		return;
	}
	if (json_dump_callback(object, output_dump, output, JSON_COMPACT) != 0)
		output->failed = true;
	output_append(output, "\n", 1);
	json_decref(object);
}

void answer_ok(struct output *output)
{
	if (output->json)
		output_string(output, "{\"ok\":true}\n");
	else
		output_string(output, "ok\n");
}

bool answer_is_end(const char *line, size_t n)
{
	return (n == 2 && memcmp(line, "ok", 2) == 0) || (n >= 4 && memcmp(line, "err ", 4) == 0);
}

void answer_text(struct output *output, const char *key, const char *text, size_t n)
{
	if (output->json) {
		answer_object(output, json_pack("{s:b,s:o}", "ok", 1, key, figures_text(text, n)));
		return;
	}
	while (n > 0) {
		const char *end = memchr(text, '\n', n);
		size_t length = end != NULL ? (size_t)(end - text) : n;

		if (answer_is_end(text, length))
			output_append(output, " ", 1);
		output_append(output, text, length);
		output_append(output, "\n", 1);
		length += end != NULL;
		text += length;
		n -= length;
	}
	answer_ok(output);
}

void answer_printed(struct output *output, const char *key, struct printed *printed)
{
	if (printed_end(printed) != NULL)
		answer_text(output, key, printed->bytes, printed->n);
	free(printed->bytes);
}

void answer_error_set(struct answer_error *error, const char *name, const char *code,
                      const char *format, ...)
{
	va_list arguments;

	*error = (struct answer_error){.code = code};
	snprintf(error->name, sizeof(error->name), "%s", name);
	va_start(arguments, format);
	vsnprintf(error->message, sizeof(error->message), format, arguments);
	va_end(arguments);
}

static void answer_error_text(struct output *output, const struct answer_error *error)
{
	char line[24];

	output_string(output, "err ");
	output_string(output, error->name);
	output_string(output, ": ");
	if (error->line != 0) {
		snprintf(line, sizeof(line), "line %u: ", error->line);
		output_string(output, line);
	}
	for (const char *c = error->message; *c != '\0'; c++)
		output_append(output, (unsigned char)*c < ' ' || *c == 0x7F ? "?" : c, 1);
	output_append(output, "\n", 1);
}

void answer_error(struct output *output, const struct answer_error *error)
{
	json_t *object;

	if (!output->json) {
		answer_error_text(output, error);
		return;
	}
	object = json_pack("{s:b,s:{s:o,s:s,s:i,s:o,s:o*,s:o*}}", "ok", 0, "error", "name",
	                   figures_string(error->name), "code", error->code, "column",
	                   (int)error->column, "message", figures_string(error->message), "line",
	                   error->line != 0 ? json_integer(error->line) : NULL, "resume",
	                   error->resume != 0 ? json_integer((json_int_t)error->resume) : NULL);
	if (object == NULL)
		output_string(output, "{\"ok\":false,\"error\":{\"name\":\"answer\",\"column\":0,"
		                      "\"message\":\"no memory for the answer\"}}\n");
	else
		answer_object(output, object);
}
