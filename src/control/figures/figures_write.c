/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "engine/engine_report.h"
#include "figures/figures.h"
#include "text/table.h"

static json_t *count(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

/* Adds a member to the object, or to one inside it. */
static void set(json_t **object, json_t *into, const char *key, json_t *value)
{
	if (json_object_set_new(into, key, value) == 0)
		return;
	json_decref(*object);
	*object = NULL;
}

void figures_set(json_t **object, const char *key, json_t *value)
{
	set(object, *object, key, value);
}

json_t *figures_string(const char *text)
{
	json_t *string = json_string(text);
	char *ascii = string == NULL ? strdup(text) : NULL;

	for (size_t n = 0; ascii != NULL && ascii[n] != '\0'; n++)
		ascii[n] = (unsigned char)ascii[n] < 0x80 ? ascii[n] : '?';
	if (ascii != NULL)
		string = json_string(ascii);
	free(ascii);
	return string;
}

json_t *figures_spread(const struct histogram *h)
{
	json_t *object = json_object();

	figures_set(&object, "min", count(h->min));
	figures_set(&object, "p50", count(histogram_percentile(h, 500000)));
	figures_set(&object, "p99", count(histogram_percentile(h, 990000)));
	figures_set(&object, "p99.9", count(histogram_percentile(h, 999000)));
	figures_set(&object, "max", count(h->max));
	return object;
}

json_t *figures_late(const struct histogram *late)
{
	return late != NULL && late->count > 0 ? figures_spread(late) : json_null();
}

/* Returns {"loss":0,"queue-full":0,...}. */
static json_t *drops_object(const uint64_t drops[REASON_COUNT])
{
	json_t *object = json_object();

	for (int reason = 0; reason < REASON_COUNT; reason++)
		figures_set(&object, reason_name((enum reason)reason), count(drops[reason]));
	return object;
}

static json_t *aqm_object(const struct aqm_report *aqm)
{
	json_t *object = json_object();

	for (uint32_t i = 0; i < aqm->n_figures; i++)
		figures_set(&object, aqm->figures[i].name, json_real(aqm->figures[i].value));
	return object;
}

static json_t *classes_array(const struct cloud_report *report)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < report->n_classes; i++) {
		json_t *object = json_object();

		figures_add(&object, FIGURE_CLASS, FIGURE_JSON, &report->classes[i]);
		/* Takes the object in any case, even if the array is NULL. */
		if (json_array_append_new(array, object) != 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static json_t *value_json(struct figure_value value)
{
	switch (value.type) {
	case FIGURE_FLAG:
		return json_boolean(value.count != 0);
	case FIGURE_REAL:
		return json_real(value.real);
	case FIGURE_WORD:
	case FIGURE_TEXT:
		return figures_string(value.word);
	case FIGURE_SPREAD:
		return figures_spread(value.spread);
	case FIGURE_LATE:
	case FIGURE_LATE_AT:
		return figures_late(value.spread);
	case FIGURE_DROPS:
		return drops_object(value.record);
	case FIGURE_AQM:
		return aqm_object(value.record);
	case FIGURE_CLASSES:
		return classes_array(value.record);
	case FIGURE_NULL:
		return json_null();
	default:
		return count(value.count);
	}
}

void figures_put(json_t **object, const struct figure *figure, struct figure_value value)
{
	const char *key = figure->name;
	json_t *into = *object;

	if (value.type == FIGURE_AQM) {
		key = ((const struct aqm_report *)value.record)->name;
		if (key == NULL)
			return;
	}
	if (figure->object != NULL) {
		into = json_object_get(*object, figure->object);
		if (into == NULL) {
			into = json_object();
			figures_set(object, figure->object, into);
		}
	}
	if (*object != NULL)
		set(object, into, key, value_json(value));
}

void figures_add(json_t **object, enum figure_scope scope, unsigned in, const void *record)
{
	for (const struct figure *f = NULL; (f = figure_next(scope, in, record, f));)
		figures_put(object, f, figure_read(f, record));
}

/* ---- the table itself ---- */

static json_t *row_object(const struct figure *figure)
{
	static const char *const types[] = {
	        [FIGURE_COUNT] = "count",     [FIGURE_COUNT32] = "count",
	        [FIGURE_FLAG] = "flag",       [FIGURE_REAL] = "real",
	        [FIGURE_WORD] = "text",       [FIGURE_TEXT] = "text",
	        [FIGURE_SPREAD] = "spread",   [FIGURE_LATE] = "spread",
	        [FIGURE_LATE_AT] = "spread",  [FIGURE_DROPS] = "drops",
	        [FIGURE_CLASSES] = "classes", [FIGURE_NULL] = "spread"};

	return json_pack("{s:s, s:s?, s:s, s:s, s:s, s:s?, s:b, s:s}", "name", figure->name,
	                 "object", figure->object, "type", types[figure->type], "unit",
	                 figure_unit_names[figure->unit], "kind", figure_kind_names[figure->kind],
	                 "metric", figure->metric, "since", (int)((figure->in & FIGURE_SINCE) != 0),
	                 "help", figure->help);
}

json_t *figures_table(void)
{
	json_t *object = json_object();

	for (int scope = 0; scope < FIGURE_RUN; scope++) {
		json_t *rows = json_array();

		for (const struct figure *f = NULL;
		     (f = figure_next((enum figure_scope)scope, FIGURE_JSON, NULL, f));)
			if (f->type != FIGURE_AQM)
				json_array_append_new(rows, row_object(f));
		figures_set(&object, figure_scope_names[scope], rows);
	}
	return object;
}

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

static const enum human_unit units[] = {[FIGURE_PLAIN] = HUMAN_COUNT,
                                        [FIGURE_PACKETS] = HUMAN_COUNT,
                                        [FIGURE_BYTES] = HUMAN_BYTES,
                                        [FIGURE_NS] = HUMAN_NS,
                                        [FIGURE_BPS] = HUMAN_BPS};

static void cell(struct table *table, const struct figure *figure, const void *record)
{
	struct figure_value value = figure_read(figure, record);

	if (value.type == FIGURE_PART)
		table_share(table, value.count, value.whole);
	else if (value.type == FIGURE_REAL)
		table_unit(table, units[figure->unit], value.real);
	else if (figure->unit == FIGURE_PLAIN || figure->unit == FIGURE_PACKETS)
		table_count(table, value.count);
	else
		table_unit(table, units[figure->unit], (double)value.count);
}

void figures_headings(struct table *table, enum figure_scope scope, unsigned in)
{
	for (const struct figure *f = NULL; (f = figure_next(scope, in, NULL, f));)
		table_text(table, f->label);
}

void figures_cells(struct table *table, enum figure_scope scope, unsigned in, const void *record)
{
	for (const struct figure *f = NULL; (f = figure_next(scope, in, record, f));)
		cell(table, f, record);
}

static bool is_zero(struct figure_value value)
{
	return value.type == FIGURE_REAL ? value.real <= 0 : value.count == 0;
}

void figures_lines(struct table *table, enum figure_scope scope, unsigned in, const void *record)
{
	bool open = false; /* a line lacks its last cell */

	for (const struct figure *f = NULL; (f = figure_next(scope, in, record, f));) {
		bool beside = (f->in & FIGURE_BESIDE) != 0, bytes = f->unit == FIGURE_BYTES;

		if ((f->in & FIGURE_IF_ANY) != 0 && is_zero(figure_read(f, record)))
			continue;
		if (open && !beside)
			table_text(table, "");
		if (!beside)
			table_text(table, f->label);
		if (bytes && !beside)
			table_text(table, "");
		cell(table, f, record);
		open = !bytes;
	}
	if (open)
		table_text(table, "");
}
