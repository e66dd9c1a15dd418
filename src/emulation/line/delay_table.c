/* SPDX-License-Identifier: BSD-3-Clause */
#include "line/delay_table.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simtime.h"

struct reader {
	const struct file *file;
	int field;
	struct delay_table *table;
	struct problem *problem;
	struct file_line line;
	uint32_t room;
};

/* A word of a line, truncated to WORD_BYTES, which suffices for a number. */
#define WORD_BYTES 40
struct word_read {
	char text[WORD_BYTES + 1];
};

/* Reads the next word of the line, and advances `at`. Returns false if there is none. */
static bool word_next(const struct file_line *line, size_t *at, struct word_read *word)
{
	size_t n = 0;

	while (*at < line->bytes && isblank((unsigned char)line->text[*at]))
		++*at;
	if (*at == line->bytes || line->text[*at] == '#')
		return false;
	for (; *at < line->bytes && !isblank((unsigned char)line->text[*at]) &&
	       line->text[*at] != '#';
	     ++*at) {
		if (n < WORD_BYTES)
			word->text[n++] =
			        isprint((unsigned char)line->text[*at]) ? line->text[*at] : '?';
	}
	word->text[n] = 0;
	return true;
}

static bool begins_number(const char *text)
{
	text += *text == '-' || *text == '+';
	text += *text == '.';
	return isdigit((unsigned char)*text);
}

/* Returns true if the file is of netem's kind. */
static bool is_netem(const struct file *file)
{
	struct file_line line = {0};

	while (file_next_line(file, &line)) {
		struct word_read word;
		size_t at = 0;

		if (!word_next(&line, &at, &word))
			continue;
		if (word.text[0] == '-' ||
		    (word_next(&line, &at, &word) && begins_number(word.text)))
			return true;
	}
	return false;
}

static int add(struct reader *reader, int64_t value, uint32_t most)
{
	struct delay_table *table = reader->table;

	if (table->n == most)
		return problem_set(reader->problem, reader->field,
		                   "%s:%" PRIu64 ": the table has more than %" PRIu32
		                   " numbers; use fewer",
		                   reader->file->name, reader->line.number, most);
	if (table->n == reader->room) {
		uint32_t room = reader->room ? 2 * reader->room : 4096;
		int64_t *larger = realloc(table->value, room * sizeof(*larger));

		if (!larger) {
			problem_set(reader->problem, reader->field, "no memory for the table");
			return -ENOMEM;
		}
		table->value = larger;
		reader->room = room;
	}
	table->value[table->n++] = value;
	return 0;
}

static int refuse(const struct reader *reader, const char *word, const char *right)
{
	return problem_set(reader->problem, reader->field, "%s:%" PRIu64 ": `%s` is not %s",
	                   reader->file->name, reader->line.number,
	                   file_shown(reader->file, word, strlen(word)).text, right);
}

static int read_netem(struct reader *reader)
{
	struct word_read word;
	size_t at = 0;
	int error = 0;

	while (!error && word_next(&reader->line, &at, &word)) {
		char *end;
		long value = strtol(word.text, &end, 10);

		if (*end || end == word.text || value < INT16_MIN || value > INT16_MAX)
			return refuse(reader, word.text,
			              "an entry of a netem table; those are whole numbers from "
			              "-32768 to 32767");
		error = add(reader, value, DELAY_TABLE_NETEM_MAX);
	}
	return error;
}

/* Returns the unit in ns, or 0 if there is no such unit. */
static double unit_of(const char *text)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"", 1e6}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(text, units[i].name) == 0)
			return units[i].ns;
	}
	return 0;
}

static int read_delay(struct reader *reader)
{
	static const char right[] = "a delay; write one in each line, 0 to a day, in ms or with "
	                            "its unit, like 40.2ms";
	struct word_read word, unit;
	size_t at = 0;
	double value;
	char *end;

	if (!word_next(&reader->line, &at, &word))
		return 0;
	value = strtod(word.text, &end);
	if (!begins_number(word.text) || end == word.text)
		return refuse(reader, word.text, right);
	if (word_next(&reader->line, &at, &unit)) {
		if (*end || unit_of(unit.text) == 0)
			return refuse(reader, unit.text, right);
		end = unit.text;
	}
	value *= unit_of(end);
	if (unit_of(end) == 0 || !(value >= 0 && value <= (double)DELAY_MAX_NS))
		return refuse(reader, word.text, right);
	return add(reader, llround(value), DELAY_TABLE_LINES_MAX);
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void thin(struct delay_table *table)
{
	const uint64_t kept = DELAY_TABLE_KEPT_MAX;

	if (table->n <= kept)
		return;
	for (uint64_t i = 0; i < kept; i++)
		table->value[i] = table->value[(2 * i + 1) * table->n / (2 * kept)];
	table->n = (uint32_t)kept;
}

int delay_table_read(const struct file *file, int field, struct delay_table *table,
                     struct problem *problem)
{
	struct reader reader = {.file = file, .field = field, .table = table, .problem = problem};
	int error = 0;

	*table = (struct delay_table){.netem = is_netem(file)};
	while (!error && file_next_line(file, &reader.line))
		error = table->netem ? read_netem(&reader) : read_delay(&reader);
	if (!error && table->n == 0) {
		problem_set(problem, field,
		            "%s: the table is empty; it needs at least one delay, like 40.2ms",
		            file->name);
		error = -EINVAL;
	}
	if (error) {
		free(table->value);
		table->value = NULL;
		return error;
	}
	qsort(table->value, table->n, sizeof(*table->value), compare);
	thin(table);
	return 0;
}
