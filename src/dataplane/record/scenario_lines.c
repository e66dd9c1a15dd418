/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/scenario_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static size_t line_bytes(const char *text)
{
	const char *end = strchr(text, '\n');

	return end ? (size_t)(end - text) + 1 : strlen(text);
}

static uint64_t count_lines(const char *text, const char *end)
{
	uint64_t n = 0;

	for (; text < end; text += line_bytes(text))
		n++;
	return n;
}

/* Writes a text in JSON's quotes. Other characters than ASCII are not escaped. */
static void put_text(FILE *out, const char *text, size_t bytes)
{
	fputc('"', out);
	for (size_t i = 0; i < bytes; i++) {
		const unsigned char c = (unsigned char)text[i];

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < ' ')
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

void scenario_lines_write(FILE *out, uint64_t change, const char *before, const char *after)
{
	const char *before_end = before + strlen(before), *after_end = after + strlen(after);
	const char *b = before, *a = after;
	uint64_t from = 0;

	while (*b && *a && line_bytes(b) == line_bytes(a) && memcmp(b, a, line_bytes(b)) == 0) {
		b += line_bytes(b);
		a += line_bytes(a);
		from++;
	}
	/* Finds the common lines at the end; a line counts only if it is whole. */
	for (const char *be = before_end, *ae = after_end; be > b && ae > a && be[-1] == ae[-1];) {
		be--;
		ae--;
		if ((be == b || be[-1] == '\n') && (ae == a || ae[-1] == '\n')) {
			before_end = be;
			after_end = ae;
		}
	}
	fprintf(out,
	        "{\"change\":%" PRIu64 ",\"from\":%" PRIu64 ",\"removed\":%" PRIu64 ",\"lines\":[",
	        change, from, count_lines(b, before_end));
	for (const char *line = a; line < after_end; line += line_bytes(line)) {
		const size_t bytes = line_bytes(line);

		if (line != a)
			fputc(',', out);
		put_text(out, line, bytes - (line[bytes - 1] == '\n'));
	}
	fputs("]}\n", out);
}

char *scenario_file_line(const char *name, const char *at)
{
	char *line = NULL;
	size_t bytes;
	FILE *out = open_memstream(&line, &bytes);

	if (!out)
		return NULL;
	fputs("{\"file\":", out);
	put_text(out, name, strlen(name));
	fprintf(out, ",\"at\":\"%s\"}", at);
	if (fclose(out) == 0)
		return line;
	free(line);
	return NULL;
}
