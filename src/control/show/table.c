/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "text/alloc_failure.h"
#include "show/table.h"

#define TABLE_DIGITS 6 /* of a value with a unit: a delay of 100 ms is exact to 100 ns */

struct table {
	const char *columns;
	size_t n_columns;
	char **cells;
	size_t n_cells, room;
	size_t width[]; /* n_columns */
};

struct table *table_make(const char *columns)
{
	size_t n_columns = strlen(columns);
	struct table *table = calloc(1, sizeof(*table) + n_columns * sizeof(table->width[0]));

	if (table == NULL) {
		alloc_failure_note();
		return NULL;
	}
	table->columns = columns;
	table->n_columns = n_columns;
	return table;
}

void table_free(struct table *table)
{
	if (table == NULL)
		return;
	for (size_t i = 0; i < table->n_cells; i++)
		free(table->cells[i]);
	free(table->cells);
	free(table);
}

/* Returns the number of columns: of characters, not bytes, as a unit may have a µ. */
static size_t text_width(const char *text)
{
	size_t width = 0;

	for (; *text != '\0'; text++)
		width += ((unsigned char)*text & 0xC0) != 0x80;
	return width;
}

void table_text(struct table *table, const char *text)
{
	size_t column = table->n_cells % table->n_columns, width = text_width(text);

	if (table->n_cells == table->room) {
		size_t room = table->room > 0 ? 2 * table->room : 128;
		char **cells = realloc(table->cells, room * sizeof(*cells));

		if (cells == NULL) {
			alloc_failure_note();
			return;
		}
		table->cells = cells;
		table->room = room;
	}
	table->cells[table->n_cells] = strdup(text);
	if (table->cells[table->n_cells++] == NULL)
		alloc_failure_note();
	if (width > table->width[column])
		table->width[column] = width;
}

void table_format(struct table *table, const char *format, ...)
{
	va_list arguments;
	char *text = NULL;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0) {
		alloc_failure_note();
		text = NULL;
	}
	va_end(arguments);
	table_text(table, text != NULL ? text : "");
	free(text);
}

const char *count_text(char text[COUNT_SIZE], uint64_t count)
{
	char digits[24];
	size_t n = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count), at = 0;

	for (size_t i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	text[at] = '\0';
	return text;
}

void table_count(struct table *table, uint64_t count)
{
	char text[COUNT_SIZE];

	table_text(table, count_text(text, count));
}

void table_unit(struct table *table, enum chart_unit unit, double value)
{
	char text[CHART_UNIT_SIZE];

	chart_unit_format(text, sizeof(text), unit, value, TABLE_DIGITS);
	table_text(table, text);
}

void table_time(struct table *table, bool known, double ns)
{
	if (known)
		table_unit(table, CHART_NS, ns);
	else
		table_text(table, "-");
}

void table_percentile(struct table *table, const struct histogram *h, uint32_t per_million)
{
	char text[CHART_UNIT_SIZE] = "-";

	if (h->count > 0)
		chart_unit_format(text, sizeof(text), CHART_NS,
		                  (double)histogram_percentile(h, per_million),
		                  histogram_digits(h));
	table_text(table, text);
}

void table_share(struct table *table, uint64_t part, uint64_t whole)
{
	char text[CHART_UNIT_SIZE] = "";

	if (whole > 0)
		chart_unit_format(text, sizeof(text), CHART_PERCENT, (double)part / (double)whole,
		                  4);
	table_text(table, text);
}

void table_print(const struct table *table, FILE *out)
{
	for (size_t i = 0; i < table->n_cells; i++) {
		const char *text = table->cells[i] != NULL ? table->cells[i] : "";
		size_t column = i % table->n_columns;
		int space = (int)(table->width[column] - text_width(text));

		if (table->columns[column] == 'r')
			fprintf(out, "  %*s%s", space, "", text);
		else if (column + 1 == table->n_columns)
			fprintf(out, "  %s", text);
		else
			fprintf(out, "  %s%*s", text, space, "");
		if (column + 1 == table->n_columns)
			fputc('\n', out);
	}
}
