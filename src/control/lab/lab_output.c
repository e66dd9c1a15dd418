/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/lab_campaign.h"

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

	for (uint32_t i = 0; job && i < job->results.n; i++) {
		const char *name = job->results.list[i].name;
		struct campaign_value figure;

		if (!is_shown(name) || campaign_expression(campaign, of, value, name, &figure) < 0)
			continue;
		table_text(table, experiment->cases[of]);
		table_format(table, "%s%s%s", value ? campaign->sweep : "", value ? " " : "",
		             value ? value : "");
		table_text(table, name);
		table_text(table, measured(&figure).text);
	}
}

/* Prints what a figure shows, as lines; figures over time are in the report only. Returns false if
 * there is nothing to print. */
static bool print_plot(const struct campaign *campaign, const struct experiment_plot *plot,
                       FILE *out)
{
	const struct experiment *experiment = campaign->experiment;
	const bool bars = plot->kind == PLOT_BARS;
	struct table *table;

	if (plot->kind == PLOT_TRACE || !campaign_has_plot(campaign, plot))
		return false;
	table = table_make("lll");
	fprintf(out, "  %s%s%s, %s\n", plot->figure, plot->figure[0] ? ": " : "", plot->title,
	        plot->label);
	for (uint32_t of = 0; of < experiment->n_cases; of++) {
		for (uint32_t i = 0; i < campaign_plot_values(campaign, plot); i++) {
			struct campaign_value value;
			const char *name;

			if (!campaign_plot_value(campaign, plot, of, i, &name, &value))
				continue;
			table_format(table, "  %s", experiment->cases[of]);
			table_format(table, "%s%s%s", bars ? "" : campaign->sweep, bars ? "" : " ",
			             name);
			table_text(table, measured(&value).text);
		}
	}
	table_end(table, out);
	return true;
}

/* Adds a row to the table. Returns false if it fails. */
static bool print_row(const struct campaign *campaign, const struct experiment_row *row,
                      struct table *table)
{
	char message[EXPERIMENT_MESSAGE];
	struct campaign_value value;
	enum verdict verdict = campaign_verdict(campaign, row, &value, message);
	bool fails = verdict == VERDICT_OUTSIDE || verdict == VERDICT_UNKNOWN;

	if (verdict == VERDICT_LEFT_OUT)
		return !fails;
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
	struct table *table = out ? table_make("lllll") : NULL;
	bool all = true, any = false;

	for (uint32_t i = 0; i < experiment->n_rows; i++) {
		if (!campaign_has_row(campaign, &experiment->rows[i]))
			continue;
		any = true;
		all &= print_row(campaign, &experiment->rows[i], table);
	}
	if (!out)
		return all;
	fprintf(out, "%s: %s\n", experiment->name, experiment->title);
	table_end(table, out);
	for (uint32_t i = 0; i < experiment->n_plots; i++)
		any |= print_plot(campaign, &experiment->plots[i], out);
	if (any && !campaign->swept)
		return all;
	table = table_make("llll");
	for (uint32_t of = 0; of < experiment->n_cases; of++) {
		if (!campaign->swept)
			print_case(campaign, of, NULL, table);
		for (uint32_t i = 0; campaign->swept && i < campaign->n_sweep_values; i++)
			print_case(campaign, of, campaign->sweep_values[i], table);
	}
	table_end(table, out);
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

/* Adds the parameters of each run that an expression names, under `CASE` or `CASE@VALUE`. */
static void add_parameters(const struct campaign *campaign, const char *expression, json_t *cases)
{
	const struct experiment *experiment = campaign->experiment;

	for (uint32_t k = 0; k < campaign->n_jobs; k++) {
		const struct lab_job *job = &campaign->jobs[k];
		const char *at = expression, *sweep = "";
		char full[2 * EXPERIMENT_NAME_BYTES + 2], value[EXPERIMENT_NAME_BYTES];
		uint32_t of;

		if (job->trace || job->point.seed != campaign->arguments->first_seed)
			continue;
		if (experiment->sweep[0])
			sweep = lab_point_value(&job->point, experiment->sweep);
		while (campaign_name_next(experiment, expression, &at, &of, value)) {
			if (of != job->point.of ||
			    (value[0] ? strcmp(value, sweep) != 0 : job->sweep_value != NULL))
				continue;
			snprintf(full, sizeof(full), "%s%s%s", experiment->cases[of],
			         value[0] ? "@" : "", value);
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
	json_t *values = json_object(), *paper = json_object(), *errors = json_object();
	json_t *bands = json_object(), *cases = json_object(), *reasons = json_object();
	char reason[EXPERIMENT_MESSAGE];
	bool pass = true, comparable = true;

	for (uint32_t i = 0; i < experiment->n_rows; i++) {
		const struct experiment_row *row = &experiment->rows[i];
		struct campaign_value value;
		enum verdict verdict;

		if (strcmp(row->id, id) != 0)
			continue;
		add_parameters(campaign, row->expression, cases);
		verdict = campaign_verdict(campaign, row, &value, reason);
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
	/* What cannot be compared has neither passed nor failed. */
	return json_pack(
	        "{s:s,s:s,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "id", id, "experiment",
	        experiment->name, "seeds", (json_int_t)campaign->arguments->seeds, "parameters",
	        cases, "values", values, "errors", errors, "paper", paper, "band", bands, "pass",
	        pass && !comparable ? json_null() : json_boolean(pass), "reasons", reasons);
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
	uint32_t all, done = campaigns_done((struct campaign *const *)&campaign, 1, &all);

	for (uint32_t i = 0; i < experiment->n_rows; i++) {
		const char *id = experiment->rows[i].id;
		bool first = true;

		for (uint32_t k = 0; k < i; k++)
			first &= strcmp(experiment->rows[k].id, id) != 0;
		if (first && campaign_has_row(campaign, &experiment->rows[i]))
			json_array_append_new(rows, lab_output_row(campaign, id));
	}
	return json_pack("{s:s,s:s,s:s,s:s,s:b,s:o,s:o}", "experiment", experiment->name, "title",
	                 experiment->title, "paper", experiment->paper, "digest",
	                 experiment->digest, "complete", (int)(done == all), "rows", rows, "runs",
	                 runs(campaign));
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
