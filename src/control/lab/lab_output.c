/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/lab_output.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/table.h"

static const char *const shown[] = {"loss",     "goodput", "utilisation", "queue",
                                    "fairness", "marking", "isq",         NULL};

static bool is_shown(const char *name)
{
	const char *last = strrchr(name, '.');

	for (int i = 0; shown[i]; i++)
		if (strcmp(last ? last + 1 : name, shown[i]) == 0)
			return true;
	return false;
}

/* Formats a value with its standard error, which one seed does not have. */
struct measured {
	char text[64];
};

static struct measured measured(const struct campaign_value *value)
{
	struct measured m;
	int n = snprintf(m.text, sizeof(m.text), "%.5g", value->mean);

	if (value->n > 1 && n > 0)
		snprintf(m.text + n, sizeof(m.text) - (size_t)n, " +- %.2g",
		         value->mean - value->low);
	return m;
}

/* Prints the figures of one case, at a value of the sweep; NULL: the case as it is. */
static void print_case(const struct campaign *campaign, uint32_t of, const char *value,
                       struct table *table)
{
	const struct experiment *experiment = campaign->experiment;
	const struct lab_job *job = campaign_job(campaign, of, value ? campaign->sweep : NULL,
	                                         value, campaign->arguments->first_seed);
	char message[EXPERIMENT_MESSAGE];

	for (uint32_t i = 0; job && i < job->results.n; i++) {
		const char *name = job->results.list[i].name;
		struct campaign_value figure;

		if (!is_shown(name) || campaign_expression(campaign, of, value, name, &figure,
		                                           message, sizeof(message)) < 0)
			continue;
		table_text(table, experiment->cases[of]);
		table_format(table, "%s%s%s", value ? campaign->sweep : "", value ? " " : "",
		             value ? value : "");
		table_text(table, name);
		table_text(table, measured(&figure).text);
	}
}

static void print_cases(const struct campaign *campaign, FILE *out)
{
	struct table *table = table_make("llll");

	if (!table)
		return;
	for (uint32_t of = 0; of < campaign->experiment->n_cases; of++) {
		if (!campaign->swept)
			print_case(campaign, of, NULL, table);
		for (uint32_t i = 0; campaign->swept && i < campaign->n_sweep_values; i++)
			print_case(campaign, of, campaign->sweep_values[i], table);
	}
	table_print(table, out);
	table_free(table);
}

/* Prints what a figure shows, as lines; figures over time are in the report only. Returns false if
 * there is nothing to print. */
static bool print_plot(const struct campaign *campaign, const struct experiment_plot *plot,
                       FILE *out)
{
	const struct experiment *experiment = campaign->experiment;
	uint32_t n = plot->kind == PLOT_BARS ? plot->n_bars : campaign->n_sweep_values;
	const bool bars = plot->kind == PLOT_BARS;
	char message[EXPERIMENT_MESSAGE];
	struct table *table;

	if (plot->kind == PLOT_TRACE || !campaign_has_plot(campaign, plot))
		return false;
	table = table_make("lll");
	if (!table)
		return true;
	fprintf(out, "  %s%s%s, %s\n", plot->figure, plot->figure[0] ? ": " : "", plot->title,
	        plot->label);
	for (uint32_t of = 0; of < experiment->n_cases; of++) {
		for (uint32_t i = 0; i < n; i++) {
			struct campaign_value value;

			if (campaign_expression(campaign, of,
			                        bars ? NULL : campaign->sweep_values[i],
			                        bars ? plot->expressions[i] : plot->expression,
			                        &value, message, sizeof(message)) < 0)
				continue;
			table_format(table, "  %s", experiment->cases[of]);
			table_format(table, "%s%s%s", bars ? "" : campaign->sweep, bars ? "" : " ",
			             bars ? plot->names[i] : campaign->sweep_values[i]);
			table_text(table, measured(&value).text);
		}
	}
	table_print(table, out);
	table_free(table);
	return true;
}

bool lab_output_pass(const struct campaign *campaign)
{
	char reason[EXPERIMENT_MESSAGE];
	bool all = true;

	for (uint32_t i = 0; i < campaign->experiment->n_rows; i++) {
		const struct experiment_row *row = &campaign->experiment->rows[i];
		struct campaign_value value;
		enum verdict verdict;

		if (!campaign_has_row(campaign, row))
			continue;
		verdict = campaign_verdict(campaign, row, &value, reason, sizeof(reason));
		all &= verdict == VERDICT_INSIDE || verdict == VERDICT_LEFT_OUT ||
		       verdict == VERDICT_NOT_COMPARABLE;
	}
	return all;
}

/* Adds a row to the table. Returns false if it fails. */
static bool print_row(const struct campaign *campaign, const struct experiment_row *row,
                      struct table *table)
{
	char message[EXPERIMENT_MESSAGE];
	struct campaign_value value;
	enum verdict verdict = campaign_verdict(campaign, row, &value, message, sizeof(message));
	bool fails = verdict == VERDICT_OUTSIDE || verdict == VERDICT_UNKNOWN;

	if (verdict == VERDICT_LEFT_OUT)
		return true;
	table_text(table, fails ? "FAIL" : verdict == VERDICT_INSIDE ? "pass" : "-");
	table_text(table, row->id);
	table_text(table, row->what);
	table_text(table, verdict == VERDICT_UNKNOWN ? "" : measured(&value).text);
	if (verdict == VERDICT_INSIDE || verdict == VERDICT_OUTSIDE)
		table_format(table, "paper %s; accept %g to %g", row->paper, row->low, row->high);
	else
		table_text(table, message);
	return !fails;
}

bool lab_output_text(const struct campaign *campaign, FILE *out)
{
	const struct experiment *experiment = campaign->experiment;
	struct table *table = table_make("lllll");
	bool all = true, any = false;

	fprintf(out, "%s: %s\n", experiment->name, experiment->title);
	for (uint32_t i = 0; table && i < experiment->n_rows; i++) {
		if (!campaign_has_row(campaign, &experiment->rows[i]))
			continue;
		any = true;
		all &= print_row(campaign, &experiment->rows[i], table);
	}
	if (table)
		table_print(table, out);
	table_free(table);
	for (uint32_t i = 0; i < experiment->n_plots; i++)
		any |= print_plot(campaign, &experiment->plots[i], out);
	if (!any || campaign->swept)
		print_cases(campaign, out);
	return all;
}

/* ---- JSON ---- */

/* Returns the parameters that were in force for a point. */
static json_t *parameters(const struct campaign *campaign, const struct lab_point *point)
{
	const struct experiment *experiment = campaign->experiment;
	json_t *object = json_object();

	for (uint32_t i = 0; i < experiment->n_sets; i++) {
		const char *name = experiment->sets[i].name;

		json_object_set_new(object, name, json_string(lab_point_value(point, name)));
	}
	return object;
}

/* Returns true if the expression contains `NAME.`, a name that begins with the case. */
static bool mentions(const struct experiment *experiment, const char *expression, const char *name,
                     uint32_t of)
{
	size_t bytes = strlen(name);

	for (const char *at = expression; (at = strstr(at, name)); at++)
		if ((at == expression ||
		     (!isalnum((unsigned char)at[-1]) && !strchr("._-@", at[-1]))) &&
		    at[bytes] == '.' && experiment_case_named(experiment, at) == (int)of)
			return true;
	return false;
}

/* Adds the parameters of each run that the row needs, under `CASE` or `CASE@VALUE`. */
static void add_parameters(const struct campaign *campaign, const char *id, json_t *cases)
{
	const struct experiment *experiment = campaign->experiment;

	for (uint32_t i = 0; i < experiment->n_rows; i++) {
		for (uint32_t k = 0; k < campaign->n_jobs; k++) {
			const struct lab_job *job = &campaign->jobs[k];
			const char *name = experiment->cases[job->point.of];
			const char *expression = experiment->rows[i].expression;
			char full[2 * EXPERIMENT_NAME_BYTES + 2];

			if (job->trace || job->point.seed != campaign->arguments->first_seed ||
			    strcmp(experiment->rows[i].id, id) != 0)
				continue;
			snprintf(full, sizeof(full), "%s@%s", name,
			         experiment->sweep[0]
			                 ? lab_point_value(&job->point, experiment->sweep)
			                 : "");
			if (!job->sweep_value &&
			    mentions(experiment, expression, name, job->point.of))
				json_object_set_new(cases, name, parameters(campaign, &job->point));
			if (mentions(experiment, expression, full, job->point.of))
				json_object_set_new(cases, full, parameters(campaign, &job->point));
		}
	}
}

static json_t *bound(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *lab_output_row(const struct campaign *campaign, const char *id)
{
	const struct experiment *experiment = campaign->experiment;
	json_t *object = json_object(), *values = json_object(), *paper = json_object();
	json_t *errors = json_object(), *bands = json_object(), *cases = json_object();
	json_t *reasons = json_object();
	char reason[EXPERIMENT_MESSAGE];
	bool pass = true, comparable = true;

	for (uint32_t i = 0; i < experiment->n_rows; i++) {
		const struct experiment_row *row = &experiment->rows[i];
		struct campaign_value value;
		enum verdict verdict;

		if (strcmp(row->id, id) != 0)
			continue;
		verdict = campaign_verdict(campaign, row, &value, reason, sizeof(reason));
		pass &= verdict == VERDICT_INSIDE || verdict == VERDICT_NOT_COMPARABLE;
		comparable &= verdict != VERDICT_NOT_COMPARABLE;
		if (reason[0])
			json_object_set_new(reasons, row->what, json_string(reason));
		if (verdict == VERDICT_UNKNOWN || verdict == VERDICT_LEFT_OUT) {
			json_object_set_new(values, row->what, json_null());
		} else {
			json_object_set_new(values, row->what, json_real(value.mean));
			/* One seed has no error. */
			json_object_set_new(errors, row->what,
			                    value.n > 1 ? json_real(value.mean - value.low)
			                                : json_null());
		}
		json_object_set_new(paper, row->what, json_string(row->paper));
		json_object_set_new(bands, row->what,
		                    json_pack("[oo]", bound(row->low), bound(row->high)));
	}
	add_parameters(campaign, id, cases);
	json_object_set_new(object, "id", json_string(id));
	json_object_set_new(object, "experiment", json_string(experiment->name));
	json_object_set_new(object, "seeds", json_integer(campaign->arguments->seeds));
	json_object_set_new(object, "parameters", cases);
	json_object_set_new(object, "values", values);
	json_object_set_new(object, "errors", errors);
	json_object_set_new(object, "paper", paper);
	json_object_set_new(object, "band", bands);
	/* What cannot be compared has neither passed nor failed. */
	json_object_set_new(object, "pass", pass && !comparable ? json_null() : json_boolean(pass));
	json_object_set_new(object, "reasons", reasons);
	return object;
}

static json_t *runs(const struct campaign *campaign)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < campaign->n_jobs; i++) {
		const struct lab_job *job = &campaign->jobs[i];
		json_t *figures;

		if (job->trace || !job->done)
			continue;
		figures = json_object();
		for (uint32_t k = 0; k < job->results.n; k++)
			json_object_set_new(figures, job->results.list[k].name,
			                    json_real(job->results.list[k].value));
		json_array_append_new(
		        array, json_pack("{s:s,s:I,s:o,s:o}", "case",
		                         campaign->experiment->cases[job->point.of], "seed",
		                         (json_int_t)job->point.seed, "parameters",
		                         parameters(campaign, &job->point), "figures", figures));
	}
	return array;
}

json_t *lab_output_experiment(const struct campaign *campaign)
{
	const struct experiment *experiment = campaign->experiment;
	json_t *rows = json_array();
	char digest[EXPERIMENT_DIGEST_BYTES];

	for (uint32_t i = 0; i < experiment->n_rows; i++) {
		const char *id = experiment->rows[i].id;
		bool first = true;

		for (uint32_t k = 0; k < i; k++)
			first &= strcmp(experiment->rows[k].id, id) != 0;
		if (first && campaign_has_row(campaign, &experiment->rows[i]))
			json_array_append_new(rows, lab_output_row(campaign, id));
	}
	experiment_digest(experiment, digest);
	return json_pack("{s:s,s:s,s:s,s:s,s:b,s:o,s:o}", "experiment", experiment->name, "title",
	                 experiment->title, "paper", experiment->paper, "digest", digest,
	                 "complete", (int)(campaign_done(campaign) == campaign->n_jobs), "rows",
	                 rows, "runs", runs(campaign));
}

/* Prints a field of a line, as RFC 4180 writes it. */
static void field(FILE *out, const char *text, char end)
{
	bool quoted = strpbrk(text, ",\"\r\n") != NULL;

	if (quoted)
		putc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	if (quoted)
		putc('"', out);
	putc(end, out);
}

void lab_output_csv(const struct campaign *campaign, bool head, FILE *out)
{
	const struct experiment *experiment = campaign->experiment;

	if (head)
		fputs("experiment,case,sweep,value,seed,figure,mean\n", out);
	for (uint32_t i = 0; i < campaign->n_jobs; i++) {
		const struct lab_job *job = &campaign->jobs[i];
		/* Also if the value is the case's own, so that a sweep has all its points. */
		const char *sweep = job->sweep ? job->sweep : campaign->sweep;

		for (uint32_t k = 0; !job->trace && k < job->results.n; k++) {
			field(out, experiment->name, ',');
			field(out, experiment->cases[job->point.of], ',');
			field(out, sweep, ',');
			field(out, sweep[0] ? lab_point_value(&job->point, sweep) : "", ',');
			fprintf(out, "%llu,", (unsigned long long)job->point.seed);
			field(out, job->results.list[k].name, ',');
			fprintf(out, "%.17g\n", job->results.list[k].value);
		}
	}
}
