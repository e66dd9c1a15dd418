/* SPDX-License-Identifier: BSD-3-Clause */
#include "figures/figures.h"

#include "engine/engine_report.h"

#define PATH_BYTES 160 /* of `queue.fq-codel.new flows` */

/* What the lines of a figure have in common. */
struct lines {
	FILE *out;
	const char *scope, *name;
	const struct figure *figure;
};

static void put_value(FILE *out, const json_t *value)
{
	if (json_is_real(value))
		fprintf(out, "%.12g", json_real_value(value));
	else if (json_is_integer(value))
		fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (json_is_boolean(value))
		fputc(json_is_true(value) ? '1' : '0', out);
	if (!json_is_string(value))
		return;
	fputc('"', out);
	for (const char *c = json_string_value(value); *c != '\0'; c++)
		fprintf(out, "%s%c", *c == '"' ? "\"" : "", *c);
	fputc('"', out);
}

/* Prints a line for the value, or for each member inside it. */
static void put_lines(const struct lines *lines, const char *path, json_t *value)
{
	char inner[PATH_BYTES];
	const char *key;
	json_t *member;

	json_object_foreach(value, key, member)
	{
		snprintf(inner, sizeof(inner), "%s%s%s", path, path[0] != '\0' ? "." : "", key);
		put_lines(lines, inner, member);
	}
	if (json_is_object(value) || json_is_null(value))
		return;
	fprintf(lines->out, "%s,%s,%s,", lines->scope, lines->name, path);
	put_value(lines->out, value);
	fprintf(lines->out, ",%s,%s\n", figure_unit_names[lines->figure->unit],
	        figure_kind_names[lines->figure->kind]);
}

static void put_classes(FILE *out, const char *name, const struct cloud_report *report)
{
	char full[2 * SCENARIO_NAME_BYTES];

	for (uint32_t i = 0; i < report->n_classes; i++) {
		snprintf(full, sizeof(full), "%s/%s", name, report->classes[i].name);
		figures_csv(out, FIGURE_CLASS, full, &report->classes[i]);
	}
}

void figures_csv(FILE *out, enum figure_scope scope, const char *name, const void *record)
{
	for (const struct figure *f = NULL; (f = figure_next(scope, FIGURE_JSON, record, f));) {
		const struct lines lines = {out, figure_scope_names[scope], name, f};
		json_t *object = json_object();

		if (f->type == FIGURE_CLASSES) {
			put_classes(out, name, record);
		} else {
			figures_put(&object, f, figure_read(f, record));
			put_lines(&lines, "", object);
		}
		json_decref(object);
	}
}
