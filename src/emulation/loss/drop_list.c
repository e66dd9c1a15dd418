/* SPDX-License-Identifier: BSD-3-Clause */
#include "loss/drop_list.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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
