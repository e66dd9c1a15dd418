/* SPDX-License-Identifier: BSD-3-Clause */
#include "drop_list.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reason.h"
#include "stage.h"

#define HEADER "packet,port,t_in_ns,cloud,fate,reason,t_out_ns,detail"

enum column { PACKET, PORT, T_IN, CLOUD, FATE, REASON, T_OUT, DETAIL, COLUMNS };

struct span {
	const char *text;
	size_t bytes;
};

struct reader {
	const struct file *file;
	struct drop_list *list;
	struct problem *problem;
	struct file_line line;
};

/* A part of the file in a message: printable, and not long. */
#define SHOWN_BYTES 40
struct shown {
	char text[SHOWN_BYTES + 1];
};

static struct shown shown(struct span span)
{
	struct shown shown;
	size_t n = span.bytes < SHOWN_BYTES ? span.bytes : SHOWN_BYTES;

	for (size_t i = 0; i < n; i++)
		shown.text[i] = isprint((unsigned char)span.text[i]) ? span.text[i] : '?';
	shown.text[n] = 0;
	return shown;
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

static int add(struct reader *reader, uint64_t number, bool copy)
{
	struct drop_list *list = reader->list;

	if (list->n == list->room) {
		size_t room = list->room ? 2 * list->room : 1024;
		uint64_t *key = realloc(list->key, room * sizeof(*key));

		if (!key)
			return -ENOMEM;
		list->key = key;
		list->room = room;
	}
	list->key[list->n++] = number << 1 | copy;
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
		return add(reader, number, false);
	problem_set(reader->problem, 0,
	            "%s:%" PRIu64
	            ": `%s` is not the number of a packet; write a whole number from 1 "
	            "on in each line, or take the log of a `weir replay --log`",
	            reader->file->name, reader->line.number, shown(word).text);
	return -EINVAL;
}

static int read_numbers(struct reader *reader)
{
	int error = 0;

	while (!error && file_next_line(reader->file, &reader->line))
		error = read_number(reader);
	if (!error && reader->list->n == 0) {
		problem_set(reader->problem, 0,
		            "%s: there is no packet number in it; write one in each line",
		            reader->file->name);
		error = -EINVAL;
	}
	return error;
}

/* ---- a log ---- */

/* False: the line does not have the columns of a log. The last column may have commas. */
static bool split(const struct file_line *line, struct span columns[COLUMNS])
{
	const char *at = line->text, *end = line->text + line->bytes;

	for (int i = 0; i < COLUMNS; i++) {
		const char *comma = i < DETAIL ? memchr(at, ',', (size_t)(end - at)) : end;

		if (!comma)
			return false;
		columns[i] = (struct span){at, (size_t)(comma - at)};
		at = comma + 1;
	}
	return true;
}

static int bad_row(struct reader *reader, const char *what)
{
	problem_set(reader->problem, 0, "%s:%" PRIu64 ": %s; the lines of a log are " HEADER,
	            reader->file->name, reader->line.number, what);
	return -EINVAL;
}

static int read_row(struct reader *reader, const char *cloud, bool *seen, struct shown *other)
{
	struct span columns[COLUMNS];
	uint64_t number;

	if (reader->line.bytes == 0)
		return 0;
	if (!split(&reader->line, columns))
		return bad_row(reader, "this is not a line of a log");
	if (!is(columns[CLOUD], cloud)) {
		*other = shown(columns[CLOUD]);
		return 0;
	}
	*seen = true;
	if (!is(columns[FATE], "dropped") || !is(columns[REASON], reason_name(REASON_LOSS)) ||
	    is(columns[DETAIL], "generated"))
		return 0;
	if (!number_of(columns[PACKET], &number))
		return bad_row(reader, "the packet has no number");
	return add(reader, number, is(columns[DETAIL], "copy"));
}

static int read_log(struct reader *reader, const char *cloud)
{
	struct shown other = {""};
	bool seen = false;
	int error = 0;

	if (!is((struct span){reader->line.text, reader->line.bytes}, HEADER))
		return bad_row(reader, "this is not the first line of a log");
	while (!error && file_next_line(reader->file, &reader->line))
		error = read_row(reader, cloud, &seen, &other);
	if (error || seen)
		return error;
	if (other.text[0])
		problem_set(reader->problem, 0,
		            "%s: the log has no packet in a cloud `%s`; it has `%s`",
		            reader->file->name, cloud, other.text);
	else
		problem_set(reader->problem, 0, "%s: the log has no packets", reader->file->name);
	return -EINVAL;
}

/* ---- */

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool is_log(struct reader *reader)
{
	return file_next_line(reader->file, &reader->line) && reader->line.bytes >= 7 &&
	       memcmp(reader->line.text, "packet,", 7) == 0;
}

int drop_list_read(const struct file *file, const char *cloud, struct drop_list *list,
                   struct problem *problem)
{
	struct reader reader = {.file = file, .list = list, .problem = problem};
	int error;

	memset(list, 0, sizeof(*list));
	if (is_log(&reader)) {
		error = read_log(&reader, cloud);
	} else {
		reader.line = (struct file_line){0};
		error = read_numbers(&reader);
	}
	if (error) {
		drop_list_free(list);
		return error;
	}
	if (list->n > 0)
		qsort(list->key, list->n, sizeof(*list->key), compare);
	return 0;
}

void drop_list_free(struct drop_list *list)
{
	free(list->key);
	memset(list, 0, sizeof(*list));
}

/* The first that is not below the key. */
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

bool drop_list_has(struct drop_list *list, const struct packet *packet)
{
	uint64_t key = packet->number << 1 | ((packet->flags & PACKET_COPY) != 0);
	size_t i = list->next;

	if (packet->flags & PACKET_GENERATED)
		return false;
	if ((i > 0 && list->key[i - 1] >= key) || (i < list->n && list->key[i] < key))
		i = list->next = find(list, key);
	return i < list->n && list->key[i] == key;
}
