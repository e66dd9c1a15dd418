/* SPDX-License-Identifier: BSD-3-Clause */
#include "loss/loss_list.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "account/reason.h"
#include "scenario/problem.h"
#include "scenario/scenario.h"
#include "stage/stage.h"

/*
 * Reads the packets that a file names as lost, row by row: numbers of packets, or the log of a run.
 *
 * Ownership: the caller frees the rows; the names in them lie in the file.
 * Thread: control, any.
 */

/* A part of a file. */
struct span {
	const char *text;
	size_t bytes;
};

struct drop_row {
	struct span cloud; /* in a log; empty in a file of numbers */
	uint64_t key;      /* twice the packet's number, plus 1 for its copy */
};

struct drop_rows {
	bool log; /* false: a file of numbers */
	size_t n;
	struct drop_row *rows; /* sorted by cloud, then by key; malloc'd, NULL if n is 0 */
};

#define HEADER "packet,port,t_in_ns,cloud,fate,reason,t_out_ns,detail"

/* Of a live run. */
#define HEADER_LIVE HEADER ",late_ns"

enum column { PACKET, PORT, T_IN, CLOUD, FATE, REASON, T_OUT, DETAIL, COLUMNS };

struct reader {
	struct file *file;
	const char *name; /* of the cloud, or of the template */
	bool many;
	bool live; /* lines have one more column */
	struct problem *problem;
	struct file_line line;
	struct drop_rows *into;
	size_t room;
};

static struct file_shown shown(const struct reader *reader, struct span span)
{
	return file_shown(reader->file, span.text, span.bytes);
}

static bool is(struct span span, const char *word)
{
	return span.bytes == strlen(word) && memcmp(span.text, word, span.bytes) == 0;
}

static struct span trimmed(struct span span)
{
	while (span.bytes > 0 && (span.text[0] == ' ' || span.text[0] == '\t')) {
		span.text++;
		span.bytes--;
	}
	while (span.bytes > 0 &&
	       (span.text[span.bytes - 1] == ' ' || span.text[span.bytes - 1] == '\t'))
		span.bytes--;
	return span;
}

static bool number_of(struct span span, uint64_t *number)
{
	uint64_t value = 0;

	for (size_t i = 0; i < span.bytes; i++) {
		uint64_t digit = (uint64_t)span.text[i] - '0';

		if (digit > 9 || value > (INT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*number = value;
	return span.bytes > 0 && value > 0;
}

static int add(struct reader *reader, struct span cloud, uint64_t number, bool copy)
{
	struct drop_rows *into = reader->into;

	if (into->n == reader->room) {
		size_t room = reader->room ? 2 * reader->room : 1024;
		struct drop_row *rows = realloc(into->rows, room * sizeof(*rows));

		if (!rows)
			return -ENOMEM;
		into->rows = rows;
		reader->room = room;
	}
	into->rows[into->n++] = (struct drop_row){cloud, number << 1 | copy};
	return 0;
}

/* ---- numbers ---- */

static int read_number(struct reader *reader)
{
	struct span word = trimmed((struct span){reader->line.text, reader->line.bytes});
	uint64_t number;

	if (word.bytes == 0 || word.text[0] == '#')
		return 0;
	if (number_of(word, &number))
		return add(reader, (struct span){"", 0}, number, false);
	return problem_set(reader->problem, 0,
	                   "%s:%" PRIu64
	                   ": `%s` is not the number of a packet; write a whole number from "
	                   "1 on in each line, or use the log of a `weir replay --log`",
	                   reader->file->name, reader->line.number, shown(reader, word).text);
}

static int read_numbers(struct reader *reader)
{
	int error = 0;

	while (!error && file_next_line(reader->file, &reader->line))
		error = read_number(reader);
	if (!error && reader->into->n == 0) {
		problem_set(reader->problem, 0,
		            "%s: there is no packet number in it; write one in each line",
		            reader->file->name);
		error = -EINVAL;
	}
	return error;
}

/* ---- a log ---- */

/* Returns false if the line lacks columns of a log. */
static bool split(const struct file_line *line, bool live, struct span columns[COLUMNS])
{
	const char *at = line->text, *end = line->text + line->bytes;

	for (int i = 0; i < COLUMNS; i++) {
		const char *comma = i < DETAIL || live ? memchr(at, ',', (size_t)(end - at)) : end;

		if (!comma)
			return false;
		columns[i] = (struct span){at, (size_t)(comma - at)};
		at = comma + 1;
	}
	return true;
}

static int bad_row(struct reader *reader, const char *what)
{
	return problem_set(reader->problem, 0, "%s:%" PRIu64 ": %s; the lines of a log are " HEADER,
	                   reader->file->name, reader->line.number, what);
}

/* Returns true if the row concerns the cloud, or a cloud of the template. */
static bool is_wanted(const struct reader *reader, struct span cloud)
{
	size_t bytes = strlen(reader->name);

	if (!reader->many)
		return is(cloud, reader->name);
	return cloud.bytes > bytes && cloud.text[bytes] == '/' &&
	       memcmp(cloud.text, reader->name, bytes) == 0;
}

static int read_row(struct reader *reader, bool *seen, struct file_shown *other)
{
	struct span columns[COLUMNS];
	uint64_t number;

	if (reader->line.bytes == 0)
		return 0;
	if (!split(&reader->line, reader->live, columns))
		return bad_row(reader, "this is not a line of a log");
	if (!is_wanted(reader, columns[CLOUD])) {
		*other = shown(reader, columns[CLOUD]);
		return 0;
	}
	*seen = true;
	if (!is(columns[FATE], "dropped") || !is(columns[REASON], reason_name(REASON_LOSS)) ||
	    is(columns[DETAIL], "generated"))
		return 0;
	if (!number_of(columns[PACKET], &number))
		return bad_row(reader, "the packet has no number");
	return add(reader, columns[CLOUD], number, is(columns[DETAIL], "copy"));
}

static int read_log(struct reader *reader)
{
	struct file_shown other = {""};
	bool seen = false;
	int error = 0;

	const struct span first = {reader->line.text, reader->line.bytes};

	reader->live = is(first, HEADER_LIVE);
	if (!reader->live && !is(first, HEADER))
		return bad_row(reader, "this is not the first line of a log");
	while (!error && file_next_line(reader->file, &reader->line))
		error = read_row(reader, &seen, &other);
	if (error || seen)
		return error;
	if (!other.text[0])
		problem_set(reader->problem, 0, "%s: the log has no packets", reader->file->name);
	else if (reader->many)
		problem_set(reader->problem, 0,
		            "%s: the log has no packet in a cloud of the template `%s`, whose "
		            "names begin with `%s/`; it has `%s`",
		            reader->file->name, reader->name, reader->name, other.text);
	else
		problem_set(reader->problem, 0,
		            "%s: the log has no packet in a cloud `%s`; it has `%s`",
		            reader->file->name, reader->name, other.text);
	return -EINVAL;
}

/* ---- both ---- */

/* Defines an order of names; returns 0 for equal ones. */
static int span_compare(struct span a, struct span b)
{
	if (a.bytes != b.bytes)
		return a.bytes < b.bytes ? -1 : 1;
	return memcmp(a.text, b.text, a.bytes);
}

static int compare(const void *a, const void *b)
{
	const struct drop_row *x = a, *y = b;
	int clouds = span_compare(x->cloud, y->cloud);

	return clouds ? clouds : (x->key > y->key) - (x->key < y->key);
}

/* Returns true for sorted rows, which most files have. They spare qsort(), which would take the
 * same memory again. */
static bool is_sorted(const struct drop_rows *rows)
{
	for (size_t i = 1; i < rows->n; i++) {
		if (compare(&rows->rows[i - 1], &rows->rows[i]) > 0)
			return false;
	}
	return true;
}

static bool is_log(struct reader *reader)
{
	return file_next_line(reader->file, &reader->line) && reader->line.bytes >= 7 &&
	       memcmp(reader->line.text, "packet,", 7) == 0;
}

/* Reads the rows of the cloud `name` or, if `many`, of the clouds of the template `name`. Returns
 * 0, -ENOMEM, or -EINVAL with `problem` about field 0. On failure there is nothing to free. */
static int drop_rows_read(struct file *file, const char *name, bool many, struct drop_rows *rows,
                          struct problem *problem)
{
	struct reader reader = {
	        .file = file, .name = name, .many = many, .problem = problem, .into = rows};
	int error;

	*rows = (struct drop_rows){.log = is_log(&reader)};
	if (rows->log) {
		error = read_log(&reader);
	} else {
		reader.line = (struct file_line){0};
		error = read_numbers(&reader);
	}
	if (error) {
		free(rows->rows);
		return error;
	}
	if (!is_sorted(rows))
		qsort(rows->rows, rows->n, sizeof(*rows->rows), compare);
	return 0;
}

/* The packets of one cloud: key[from ... to - 1]. */
struct part {
	struct span name; /* lies in the file */
	size_t from, to;
};

struct drop_table {
	struct file *file;
	char *name; /* of the cloud, or of the template */
	bool many;
	uint32_t references;
	struct drop_table *next;
	size_t n, n_parts;
	uint64_t *key;
	struct part *parts; /* sorted by name; NULL for a list of numbers, the same for all */
};

/* ---- a table ---- */

/* Makes the parts of sorted rows. */
static int parts_make(struct drop_table *table, const struct drop_row *rows, size_t n)
{
	size_t parts = 0;

	for (size_t i = 0; i < n; i++)
		parts += i == 0 || span_compare(rows[i].cloud, rows[i - 1].cloud) != 0;
	table->parts = calloc(parts + 1, sizeof(*table->parts));
	if (!table->parts)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || span_compare(rows[i].cloud, rows[i - 1].cloud) != 0)
			table->parts[table->n_parts++] = (struct part){rows[i].cloud, i, i};
		table->parts[table->n_parts - 1].to = i + 1;
	}
	return 0;
}

static int table_read(struct drop_table *table, struct problem *problem)
{
	struct drop_rows rows;
	int error = drop_rows_read(table->file, table->name, table->many, &rows, problem);

	if (error)
		return error;
	table->n = rows.n;
	table->key = malloc((rows.n + 1) * sizeof(*table->key));
	if (!table->key)
		error = -ENOMEM;
	for (size_t i = 0; !error && i < rows.n; i++)
		table->key[i] = rows.rows[i].key;
	if (!error && rows.log)
		error = parts_make(table, rows.rows, rows.n);
	free(rows.rows);
	return error;
}

/* The tables of the process. The clouds of a template share one. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct drop_table *made;

static void destroy(struct drop_table *table)
{
	file_release(table->file);
	free(table->name);
	free(table->key);
	free(table->parts);
	free(table);
}

static struct drop_table *table_make(struct file *file, const char *name, bool many, int *error,
                                     struct problem *problem)
{
	struct drop_table *table = calloc(1, sizeof(*table));

	*error = -ENOMEM;
	if (!table)
		return NULL;
	table->file = file_hold(file);
	table->name = strdup(name);
	table->many = many;
	table->references = 1;
	if (table->name)
		*error = table_read(table, problem);
	if (*error == 0)
		return table;
	destroy(table);
	return NULL;
}

int drop_table_get(struct file *file, const char *name, bool many, struct drop_table **result,
                   struct problem *problem)
{
	struct drop_table *table;
	int error = 0;

	pthread_mutex_lock(&lock);
	for (table = made; table && (table->file != file || table->many != many ||
	                             strcmp(table->name, name) != 0);)
		table = table->next;
	if (table) {
		table->references++;
	} else {
		table = table_make(file, name, many, &error, problem);
		if (table) {
			table->next = made;
			made = table;
		}
	}
	pthread_mutex_unlock(&lock);
	*result = table;
	return error;
}

void drop_table_release(struct drop_table *table)
{
	struct drop_table **place = &made;

	if (!table)
		return;
	pthread_mutex_lock(&lock);
	if (--table->references == 0) {
		while (*place != table)
			place = &(*place)->next;
		*place = table->next;
		destroy(table);
	}
	pthread_mutex_unlock(&lock);
}

struct drop_list drop_table_list(const struct drop_table *table, const char *cloud)
{
	struct span name = {cloud, strlen(cloud)};
	size_t low = 0, high = table->n_parts;

	if (!table->parts)
		return (struct drop_list){.key = table->key, .n = table->n};
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct part *part = &table->parts[middle];
		int names = span_compare(part->name, name);

		if (names == 0)
			return (struct drop_list){.key = &table->key[part->from],
			                          .n = part->to - part->from};
		if (names < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return (struct drop_list){.key = table->key};
}

/* ---- queries ---- */

/* Returns the index of the first key that is not below `key`. */
static size_t find(const struct drop_list *list, uint64_t key)
{
	size_t low = 0, high = list->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->key[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool drop_list_has(struct drop_list *list, uint64_t number, uint8_t flags)
{
	uint64_t key = number << 1 | ((flags & PACKET_COPY) != 0);
	size_t i = list->next;

	if (flags & PACKET_GENERATED)
		return false;
	if ((i > 0 && list->key[i - 1] >= key) || (i < list->n && list->key[i] < key))
		i = list->next = find(list, key);
	return i < list->n && list->key[i] == key;
}

struct loss_list {
	struct stage stage;
	struct drop_table *table;
	/* `list` is set; a cloud of a template has no name before its first packet */
	bool found;
	struct drop_list list;
};

static void loss_list_process(struct stage *stage, struct burst *burst)
{
	struct loss_list *loss = (struct loss_list *)stage;

	if (unlikely(!loss->found)) {
		loss->list = drop_table_list(loss->table, cloud_name(stage->cloud));
		loss->found = true;
	}
	stage->drawn += burst->n;
	for (uint16_t i = 0; i < burst->n; i++) {
		if (drop_list_has(&loss->list, burst_number(burst, i), burst_flags(burst, i)))
			cloud_drop(stage->cloud, burst, i, REASON_LOSS);
	}
}

static int loss_list_check(const struct conf *conf, const struct cloud_conf *cloud,
                           struct problem *problem)
{
	struct drop_table *table;
	int error;

	problem_set(problem, -1, "no memory for the list");
	error = drop_table_get(((const struct loss_list_conf *)conf)->file, cloud->name,
	                       cloud->many, &table, problem);
	drop_table_release(table);
	return error;
}

static int loss_list_make(const struct conf *conf, struct stage **stage)
{
	struct loss_list *loss = calloc(1, sizeof(*loss));

	(void)conf;
	if (!loss)
		return -ENOMEM;
	loss->stage.process = loss_list_process;
	*stage = &loss->stage;
	return 0;
}

static int loss_list_ready(struct stage *stage, const struct conf *conf)
{
	const char *of = cloud_template_name(stage->cloud);
	struct problem problem;

	return drop_table_get(((const struct loss_list_conf *)conf)->file,
	                      of ? of : cloud_name(stage->cloud), of != NULL,
	                      &((struct loss_list *)stage)->table, &problem);
}

static void loss_list_free(struct stage *stage)
{
	drop_table_release(((struct loss_list *)stage)->table);
	free(stage);
}

static const struct field loss_list_fields[] = {
        {FIELD("file", FIELD_FILE, struct loss_list_conf, file,
               .flags = FIELD_POSITIONAL | FIELD_REQUIRED,
               .help = "the numbers of packets, one per line, or the log of an earlier run")},
        FIELD_END,
};

const struct statement loss_list_statement = {
        .name = "loss",
        .variant = "list",
        .help = "the packets that a file lists are lost, or those that were lost in an earlier run",
        .example = "list FILE",
        .role = ROLE_STAGE,
        .fields = loss_list_fields,
        .conf_bytes = sizeof(struct loss_list_conf),
        .check = loss_list_check,
        .acts = {DROPS(LOSS), COUNTER(ecn_marked)},
        .make = loss_list_make,
        .ready = loss_list_ready,
        .free = loss_list_free,
};
