/* SPDX-License-Identifier: BSD-3-Clause */
#include "service/difference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "language/scenario_file.h"
#include "text/statement_text.h"

/* Returns true if setting one of the two replaces the other. */
static bool same_place(const struct conf *a, const struct conf *b)
{
	return strcmp(a->scope, b->scope) == 0 &&
	       strcmp(a->statement->name, b->statement->name) == 0 &&
	       (a->statement->number_max == 0 || a->number == b->number);
}

static bool stays(const struct cloud_conf *cloud, const struct conf *conf)
{
	for (uint32_t i = 0; i < cloud->n_confs; i++)
		if (difference_same_value(cloud->confs[i], conf))
			return true;
	return false;
}

static bool has_place(const struct cloud_conf *cloud, const struct conf *conf)
{
	for (uint32_t i = 0; i < cloud->n_confs; i++)
		if (same_place(cloud->confs[i], conf))
			return true;
	return false;
}

static void print_absent(FILE *out, const struct conf *conf)
{
	fputs("no ", out);
	if (conf->scope[0])
		fprintf(out, "class %s", conf->scope);
	if (!conf->statement->scoped)
		fprintf(out, "%s%s", conf->scope[0] ? " " : "", conf->statement->name);
	if (conf->statement->number_max != 0)
		fprintf(out, " %u", conf->number);
	fputc('\n', out);
}

static void print_cloud(FILE *out, const struct difference_cloud *of)
{
	const struct cloud_conf *before = of->before, *after = of->after;

	if (before == NULL) {
		fprintf(out, "no cloud %s\n", of->name);
		return;
	}
	if (after == NULL) {
		scenario_file_print_cloud(out, before);
		return;
	}
	for (uint32_t i = 0; i < before->n_confs; i++) {
		if (!stays(after, before->confs[i])) {
			statement_print(out, before->confs[i]);
			fputc('\n', out);
		}
	}
	for (uint32_t i = 0; i < after->n_confs; i++)
		if (!has_place(before, after->confs[i]))
			print_absent(out, after->confs[i]);
}

char *difference_before(const struct difference *difference)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	if (out == NULL)
		return NULL;
	for (uint32_t i = 0; i < difference->n; i++)
		print_cloud(out, &difference->clouds[i]);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}
