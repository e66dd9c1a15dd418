/* SPDX-License-Identifier: BSD-3-Clause */
/* The lab's report: the rows of each experiment with the verdict, and its figures. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab_figure.h"
#include "account/count.h"
#include "lab/lab_output.h"

#define COLUMNS    8
#define CELL_BYTES 160

static void number(char *cell, double value)
{
	if (isinf(value))
		snprintf(cell, CELL_BYTES, "%s", "any");
	else
		snprintf(cell, CELL_BYTES, "%.4g", value);
}

/* Fills cells, and the texts at which they point, with the rows of one experiment. */
static size_t fill_rows(const struct campaign *campaign, const char **cells,
                        char (*texts)[CELL_BYTES], bool *alarms)
{
	const struct experiment *experiment = campaign->experiment;
	char message[EXPERIMENT_MESSAGE];
	size_t n = 0;

	for (uint32_t i = 0; i < experiment->n_rows; i++) {
		const struct experiment_row *row = &experiment->rows[i];
		const char **cell = &cells[n * COLUMNS];
		char(*text)[CELL_BYTES] = &texts[n * COLUMNS];
		static const char *const verdicts[] = {"inside", "OUTSIDE", "not measured",
		                                       "not measured", "not comparable"};
		struct campaign_value value;
		enum verdict verdict;
		bool known;

		if (!campaign_has_row(campaign, row))
			continue;
		verdict = campaign_verdict(campaign, row, &value, message, sizeof(message));
		known = verdict != VERDICT_UNKNOWN && verdict != VERDICT_LEFT_OUT;
		alarms[n] = verdict != VERDICT_INSIDE && verdict != VERDICT_NOT_COMPARABLE;
		cell[0] = row->id;
		cell[1] = row->what;
		cell[2] = row->paper;
		for (int k = 3; k < COLUMNS; k++)
			cell[k] = text[k];
		number(text[3], known ? value.mean : NAN);
		if (!known || value.n > 1) /* one seed has no error */
			number(text[4], known ? value.high - value.mean : NAN);
		snprintf(text[5], CELL_BYTES, "%.4g to %.4g", row->low, row->high);
		snprintf(text[6], CELL_BYTES, "%s", verdicts[verdict]);
		snprintf(text[7], CELL_BYTES, "%.150s", message);
		n++;
	}
	return n;
}

/* Writes the rows of so many campaigns, in one table. */
static int rows_write(struct page *page, struct campaign *const *campaigns, uint32_t n)
{
	static const char *const head[COLUMNS] = {"row", "what",      "paper",   "weir",
	                                          "+-",  "to accept", "verdict", "reason"};
	size_t room = (size_t)n * EXPERIMENT_ROWS_MAX * COLUMNS;
	const char **cells = calloc(room, sizeof(char *));
	char(*texts)[CELL_BYTES] = calloc(room, CELL_BYTES);
	bool *alarms = calloc(room, sizeof(*alarms));
	struct page_rows rows = {
	        .caption = "Comparison with the papers. +-: the standard error over the seeds.",
	        .head = head,
	        .cells = cells,
	        .n_columns = COLUMNS,
	        .alarms = alarms,
	};
	int error = cells && texts && alarms ? 0 : -ENOMEM;

	for (uint32_t i = 0; !error && i < n; i++)
		rows.n_rows += fill_rows(campaigns[i], &cells[rows.n_rows * COLUMNS],
		                         &texts[rows.n_rows * COLUMNS], &alarms[rows.n_rows]);
	if (!error && rows.n_rows)
		error = page_table(page, &rows);
	free(alarms);
	free(texts);
	free(cells);
	return error;
}

/* Writes a warning at the beginning, if not everything has run. */
static int partial_write(struct page *page, struct campaign *const *campaigns, uint32_t n)
{
	uint32_t done = 0, all = 0;
	char text[256];

	for (uint32_t i = 0; i < n; i++) {
		done += campaign_done(campaigns[i]);
		all += campaigns[i]->n_jobs;
	}
	if (done == all)
		return 0;
	snprintf(text, sizeof(text),
	         "Partial: %u of %u runs. The same command with --continue runs the rest.", done,
	         all);
	return page_alarm(page, text);
}

static int experiment_write(struct page *page, struct campaign *campaign)
{
	const struct experiment *experiment = campaign->experiment;
	int error = page_heading(page, experiment->title);
	char *text;

	if (asprintf(&text, "%s%s%s, %s from %llu", experiment->name,
	             experiment->paper[0] ? ": " : "", experiment->paper,
	             count_of(campaign->arguments->seeds, "seed").text,
	             (unsigned long long)campaign->arguments->first_seed) < 0)
		return -ENOMEM;
	if (!error)
		error = page_text(page, text);
	free(text);
	if (!error && experiment->about[0])
		error = page_text(page, experiment->about);
	if (!error)
		error = rows_write(page, &campaign, 1);
	for (uint32_t i = 0; !error && i < experiment->n_plots; i++)
		error = lab_figure_write(page, campaign, &experiment->plots[i]);
	return error;
}

/* Writes a table of contents, so that every row and its verdict is on the first page. */
static int contents_write(struct page *page, struct campaign *const *campaigns, uint32_t n)
{
	const char **cells = calloc((size_t)n * 3, sizeof(char *));
	static const char *const head[] = {"experiment", "title", "paper"};
	struct page_rows rows = {
	        .caption = "Contents", .head = head, .cells = cells, .n_columns = 3, .n_rows = n};
	int error;

	if (!cells)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		cells[3 * i] = campaigns[i]->experiment->name;
		cells[3 * i + 1] = campaigns[i]->experiment->title;
		cells[3 * i + 2] = campaigns[i]->experiment->paper;
	}
	error = page_table(page, &rows);
	free(cells);
	return error ? error : rows_write(page, campaigns, n);
}

int lab_output_html(struct campaign *const *campaigns, uint32_t n, FILE *out)
{
	struct page page;
	int error = page_open(&page, out, "weir lab",
	                      "The papers' experiments, through weir's own data path");

	if (!error)
		error = partial_write(&page, campaigns, n);
	if (!error && n > 1)
		error = contents_write(&page, campaigns, n);
	for (uint32_t i = 0; !error && i < n; i++)
		error = experiment_write(&page, campaigns[i]);
	return page_close(&page) < 0 ? page.error : error;
}
