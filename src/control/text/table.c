/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "text/alloc_failure.h"
#include "text/array.h"
#include "text/table.h"

#define TABLE_COLUMNS_MAX 32
/* Columns of text are not narrower; in the first one, a name stays in one line. */
#define TABLE_TEXT_LEAST  22
#define TABLE_NAME_LEAST  31
#define TABLE_TIME_DIGITS 5 /* six times of this width fit a line */
#define TABLE_DIGITS      6 /* of a value with a unit: a delay of 100 ms is exact to 100 ns */

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
	size_t column, width = text_width(text);

	if (table == NULL)
		return;
	column = table->n_cells % table->n_columns;
	if (!array_fits(&table->cells, &table->room, table->n_cells + 1, sizeof(char *))) {
		alloc_failure_note();
		return;
	}
	table->cells[table->n_cells] = strdup(text);
	if (table->cells[table->n_cells++] == NULL)
		alloc_failure_note();
	if (width > table->width[column])
		table->width[column] = width;
}

static void table_list(struct table *table, va_list texts)
{
	const char *text;

	while ((text = va_arg(texts, const char *)) != NULL)
		table_text(table, text);
}

void table_texts(struct table *table, ...)
{
	va_list texts;

	va_start(texts, table);
	table_list(table, texts);
	va_end(texts);
}

struct table *table_headed(const char *columns, ...)
{
	struct table *table = table_make(columns);
	va_list texts;

	va_start(texts, columns);
	table_list(table, texts);
	va_end(texts);
	return table;
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

void table_count(struct table *table, uint64_t count)
{
	char text[COUNT_SIZE];

	table_text(table, count_text(text, count));
}

void table_unit(struct table *table, enum human_unit unit, double value)
{
	char text[HUMAN_UNIT_SIZE];

	human_unit_format(text, sizeof(text), unit, value, TABLE_DIGITS);
	table_text(table, text);
}

void table_time(struct table *table, bool known, double ns)
{
	char text[HUMAN_UNIT_SIZE] = "-";

	if (known)
		human_unit_format(text, sizeof(text), HUMAN_NS, ns, TABLE_TIME_DIGITS);
	table_text(table, text);
}

void table_percentile(struct table *table, const struct histogram *h, uint32_t per_million)
{
	char text[HUMAN_UNIT_SIZE] = "-";

	if (h->count > 0)
		human_unit_format(text, sizeof(text), HUMAN_NS,
		                  (double)histogram_percentile(h, per_million),
		                  histogram_digits(h));
	table_text(table, text);
}

void table_share(struct table *table, uint64_t part, uint64_t whole)
{
	char text[HUMAN_UNIT_SIZE] = "";

	if (whole > 0)
		human_unit_format(text, sizeof(text), HUMAN_PERCENT, (double)part / (double)whole,
		                  4);
	table_text(table, text);
}

/* ---- printing ---- */

/* A part of a text that stands in one line of a cell. */
struct part {
	const char *from;
	size_t bytes, width;
};

/* Returns the next part of at most `room` columns, up to a blank if there is one; `*text` becomes
 * what follows. */
static struct part part_next(const char **text, size_t room)
{
	struct part part = {.from = *text}, blank = {0};
	const char *at = *text;

	while (*at != '\0' && part.width < room) {
		for (at++; ((unsigned char)*at & 0xC0) == 0x80; at++)
			;
		part.width++;
		part.bytes = (size_t)(at - *text);
		if (*at == ' ')
			blank = part;
	}
	if (*at != '\0' && blank.bytes > 0)
		part = blank;
	*text += part.bytes;
	*text += strspn(*text, " ");
	return part;
}

/* The columns of a block: `first`, which stands in each block, and those from `from` to before
 * `to`. */
struct block {
	size_t from, to;
	const size_t *width;
};

static size_t block_width(const struct block *block)
{
	size_t width = 2 + block->width[0];

	for (size_t column = block->from; column < block->to; column++)
		width += 2 + block->width[column];
	return width;
}

/* Returns true if the cells of a block from the i-th on are used up. */
static bool is_blank_from(const char *const *rest, const struct block *block, size_t i)
{
	while (i <= block->to - block->from && *rest[block->from + i - 1] == '\0')
		i++;
	return i > block->to - block->from;
}

/* Prints a row in as many lines as its tallest cell takes. */
static void row_print(const struct table *table, size_t row, const struct block *block, FILE *out)
{
	const char *rest[TABLE_COLUMNS_MAX];
	bool more = true, first = true;

	for (size_t c = 0; c < table->n_columns; c++) {
		size_t cell = row * table->n_columns + c;

		rest[c] = cell < table->n_cells && table->cells[cell] ? table->cells[cell] : "";
	}
	while (more) {
		more = false;
		for (size_t i = 0; i <= block->to - block->from; i++) {
			size_t column = i == 0 ? 0 : block->from + i - 1;
			struct part part = part_next(&rest[column], block->width[column]);
			int space = (int)(block->width[column] - part.width);
			bool last = i == block->to - block->from ||
			            (!first && is_blank_from(rest, block, i + 1));

			if (table->columns[column] == 'r')
				fprintf(out, "  %*s%.*s", space, "", (int)part.bytes, part.from);
			else
				fprintf(out, "  %.*s%*s", (int)part.bytes, part.from,
				        last ? 0 : space, "");
			more |= *rest[column] != '\0';
			if (last)
				i = block->to - block->from;
		}
		first = false;
		fputc('\n', out);
	}
}

/* Narrows the widest columns of text until the row fits, or none is left that may be. */
static void widths_fit(const struct table *table, size_t *width)
{
	const struct block all = {1, table->n_columns, width};
	size_t widest;

	while (block_width(&all) > TABLE_WIDTH) {
		widest = table->n_columns;
		for (size_t c = 0; c < table->n_columns; c++) {
			size_t least = c == 0 ? TABLE_NAME_LEAST : TABLE_TEXT_LEAST;

			if (table->columns[c] == 'l' && width[c] > least &&
			    (widest == table->n_columns || width[c] >= width[widest]))
				widest = c;
		}
		if (widest == table->n_columns)
			return;
		width[widest]--;
	}
}

static void table_print(const struct table *table, FILE *out)
{
	size_t width[TABLE_COLUMNS_MAX], rows = table->n_cells / table->n_columns;
	struct block block = {.from = 1, .to = 1, .width = width};

	memcpy(width, table->width, table->n_columns * sizeof(*width));
	widths_fit(table, width);
	do {
		while (block.to < table->n_columns) {
			block.to++;
			if (block.to > block.from + 1 && block_width(&block) > TABLE_WIDTH) {
				block.to--;
				break;
			}
		}
		for (size_t row = 0; row < rows; row++)
			row_print(table, row, &block, out);
		block.from = block.to;
		if (block.to < table->n_columns)
			fputc('\n', out);
	} while (block.to < table->n_columns);
}

void table_end(struct table *table, FILE *out)
{
	if (table != NULL)
		table_print(table, out);
	table_free(table);
}

const char *const *table_cells(const struct table *table, size_t *n_columns, size_t *n_cells)
{
	*n_columns = table != NULL ? table->n_columns : 1;
	*n_cells = table != NULL ? table->n_cells : 0;
	return table != NULL ? (const char *const *)table->cells : NULL;
}
