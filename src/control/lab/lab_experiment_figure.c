/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of an experiment that define figures: plot, bars, trace, point. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab_experiment_read.h"

/* If the last two words are the keyword and a value, copies the value and removes both words. */
static int take_option(struct experiment_reader *reader, const char *keyword,
                       char to[EXPERIMENT_NAME_BYTES])
{
	uint32_t n = reader->words.n;

	to[0] = 0;
	if (n < 4 || strcmp(experiment_word(reader, n - 2), keyword) != 0)
		return 0;
	reader->words.n -= 2;
	return experiment_name_copy(reader, to, reader->words.word[n - 1].text);
}

static struct experiment_plot *add_plot(struct experiment_reader *reader, enum plot_kind kind)
{
	struct experiment *experiment = reader->experiment;
	struct experiment_plot *plot = &experiment->plots[experiment->n_plots];

	if (experiment->n_plots == EXPERIMENT_PLOTS_MAX) {
		experiment_fail(reader, "more than %d figures", EXPERIMENT_PLOTS_MAX);
		return NULL;
	}
	experiment->n_plots++;
	plot->kind = kind;
	return take_option(reader, "figure", plot->figure) ? NULL : plot;
}

static int plot_texts(struct experiment_reader *reader, struct experiment_plot *plot,
                      uint32_t title, uint32_t expression, uint32_t label)
{
	plot->title = experiment_copy_word(reader, title, "");
	plot->expression = experiment_copy_word(reader, expression, "");
	plot->label = experiment_copy_word(reader, label, "");
	return plot->title && plot->expression && plot->label ? 0 : experiment_no_memory(reader);
}

int experiment_read_plot(struct experiment_reader *reader)
{
	struct experiment_plot *plot = add_plot(reader, PLOT_SWEEP);

	if (!plot)
		return -EINVAL;
	if (reader->words.n < 3 || reader->words.n > 4)
		return experiment_fail(reader, "write: plot TITLE EXPRESSION [LABEL] [figure ID]");
	return plot_texts(reader, plot, 1, 2, 3);
}

int experiment_read_bars(struct experiment_reader *reader)
{
	struct experiment_plot *plot = add_plot(reader, PLOT_BARS);
	if (!plot)
		return -EINVAL;
	if (reader->words.n < 4 || reader->words.n - 3 > EXPERIMENT_BARS_MAX)
		return experiment_fail(
		        reader, "write: bars TITLE LABEL NAME=EXPRESSION... [figure ID], up to %d",
		        EXPERIMENT_BARS_MAX);
	for (uint32_t i = 3; i < reader->words.n; i++) {
		const char *text = experiment_word(reader, i), *equals = strchr(text, '=');
		size_t bytes = equals ? (size_t)(equals - text) : 0;

		if (bytes == 0 || bytes >= EXPERIMENT_NAME_BYTES)
			return experiment_fail(reader, "`%.60s`: write NAME=EXPRESSION", text);
		memcpy(plot->names[plot->n_bars], text, bytes);
		plot->expressions[plot->n_bars] = strdup(equals + 1);
		if (!plot->expressions[plot->n_bars++])
			return experiment_no_memory(reader);
	}
	return plot_texts(reader, plot, 1, UINT32_MAX, 2);
}

int experiment_read_trace(struct experiment_reader *reader)
{
	struct experiment_plot *plot = add_plot(reader, PLOT_TRACE);
	char set[EXPERIMENT_NAME_BYTES], *equals;
	int of;

	if (!plot || take_option(reader, "set", set))
		return -EINVAL;
	if (reader->words.n < 4 || reader->words.n > 5)
		return experiment_fail(reader,
		                       "write: trace TITLE CASE WHAT [LABEL] [set NAME=VALUE] "
		                       "[figure ID]");
	of = experiment_case(reader->experiment, experiment_word(reader, 2));
	if (of < 0)
		return experiment_fail(reader, "there is no case `%.60s` above this line",
		                       experiment_word(reader, 2));
	plot->of = (uint32_t)of;
	if (set[0]) {
		equals = strchr(set, '=');
		if (!equals)
			return experiment_fail(reader, "`%.60s`: write set NAME=VALUE", set);
		*equals = 0;
		if (!experiment_has(reader->experiment, set))
			return experiment_fail(reader, "`%s` is not a parameter", set);
		strcpy(plot->set, set);
		strcpy(plot->value, equals + 1);
	}
	return plot_texts(reader, plot, 1, 3, 4);
}

int experiment_read_point(struct experiment_reader *reader)
{
	struct experiment *experiment = reader->experiment;
	struct experiment_point *point = &experiment->points[experiment->n_points];
	int of, error;
	char *end;

	if (reader->words.n != 4 || experiment->n_plots == 0)
		return experiment_fail(
		        reader, "write: point CASE X Y, below the figure that it belongs to");
	if (experiment->n_points == EXPERIMENT_POINTS_MAX)
		return experiment_fail(reader, "more than %d points", EXPERIMENT_POINTS_MAX);
	of = experiment_case(experiment, experiment_word(reader, 1));
	if (of < 0)
		return experiment_fail(reader, "there is no case `%.60s` above this line",
		                       experiment_word(reader, 1));
	error = experiment_name_copy(reader, point->x, experiment_word(reader, 2));
	point->y = strtod(experiment_word(reader, 3), &end);
	if (!error && (*end || !isfinite(point->y)))
		return experiment_fail(reader, "`%.60s` is not a number",
		                       experiment_word(reader, 3));
	point->plot = experiment->n_plots - 1;
	point->of = (uint32_t)of;
	experiment->n_points += !error;
	return error;
}
