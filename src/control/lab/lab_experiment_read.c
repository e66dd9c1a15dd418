/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads an experiment, line by line. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab_experiment.h"
#include "text/language_error.h"
#include "text/word.h"

struct reader {
	struct experiment *experiment;
	const char *name;
	uint32_t line;
	uint32_t of; /* the case that the line is in */
	char *message;
	struct words words; /* of the line */
};

static int fail(struct reader *reader, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

/* Writes the message, `NAME:LINE: ...`. Returns -EINVAL. */
static int fail(struct reader *reader, const char *format, ...)
{
	char text[700];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	return lab_fail(reader->message, -EINVAL, "%s:%u: %s", reader->name, reader->line, text);
}

static int no_memory(struct reader *reader)
{
	fail(reader, "no memory for the experiment");
	return -ENOMEM;
}

/* Returns NULL if the line has fewer words. */
static const char *word(const struct reader *reader, uint32_t at)
{
	return at < reader->words.n ? reader->words.word[at].text : NULL;
}

/* Returns a copy, the caller's; "" if the line has fewer words; NULL if there is no memory. */
static char *copy_word(const struct reader *reader, uint32_t at)
{
	const char *text = word(reader, at);

	return strdup(text ? text : "");
}

static int copy_name(struct reader *reader, char to[EXPERIMENT_NAME_BYTES], const char *from)
{
	if (strlen(from) >= EXPERIMENT_NAME_BYTES)
		return fail(reader, "`%.60s` is too long: at most %d bytes", from,
		            EXPERIMENT_NAME_BYTES - 1);
	strcpy(to, from);
	return 0;
}

/* Reads a line of title, paper or about: appends its words, with blanks between, to the text. */
static int read_text(struct reader *reader)
{
	struct experiment *experiment = reader->experiment;
	const char *of = word(reader, 0);
	char **text = strcmp(of, "title") == 0   ? &experiment->title
	              : strcmp(of, "paper") == 0 ? &experiment->paper
	                                         : &experiment->about;

	for (uint32_t i = 1; i < reader->words.n; i++) {
		char *longer;

		if (asprintf(&longer, "%s%s%s", *text ? *text : "", *text && **text ? " " : "",
		             word(reader, i)) < 0)
			return no_memory(reader);
		free(*text);
		*text = longer;
	}
	return 0;
}

static int read_set(struct reader *reader)
{
	struct experiment *experiment = reader->experiment;
	struct experiment_set *set = &experiment->sets[experiment->n_sets];

	if (reader->words.n != 3)
		return fail(reader, "write: set NAME VALUE");
	if (experiment->n_sets == EXPERIMENT_SETS_MAX)
		return fail(reader, "more than %d parameters", EXPERIMENT_SETS_MAX);
	if (reader->of != EXPERIMENT_NO_CASE && !experiment_has(experiment, word(reader, 1)))
		return fail(reader,
		            "`%s` is not a parameter: a case can only change one that is set "
		            "before all cases",
		            word(reader, 1));
	if (copy_name(reader, set->name, word(reader, 1)) ||
	    copy_name(reader, set->value, word(reader, 2)))
		return -EINVAL;
	set->of = reader->of;
	experiment->n_sets++;
	return 0;
}

static int read_case(struct reader *reader)
{
	struct experiment *experiment = reader->experiment;

	if (reader->words.n != 2 || !word_is_name(word(reader, 1)))
		return fail(reader, "write: case NAME");
	if (experiment->n_cases == EXPERIMENT_CASES_MAX)
		return fail(reader, "more than %d cases", EXPERIMENT_CASES_MAX);
	if (experiment_case(experiment, word(reader, 1)) >= 0)
		return fail(reader, "there is a case `%s` already", word(reader, 1));
	reader->of = experiment->n_cases;
	return copy_name(reader, experiment->cases[experiment->n_cases++], word(reader, 1));
}

static int read_end(struct reader *reader)
{
	if (reader->of == EXPERIMENT_NO_CASE)
		return fail(reader, "there is no case to end");
	reader->of = EXPERIMENT_NO_CASE;
	return 0;
}

static int read_sweep(struct reader *reader)
{
	struct experiment *experiment = reader->experiment;
	int error;

	if (reader->words.n < 3 || reader->words.n - 2 > EXPERIMENT_VALUES_MAX)
		return fail(reader, "write: sweep NAME VALUES, up to %d", EXPERIMENT_VALUES_MAX);
	if (experiment->n_sweep_values)
		return fail(reader, "there is a sweep already");
	if (!experiment_has(experiment, word(reader, 1)))
		return fail(reader, "`%s` is not a parameter; `set %s VALUE` makes it one",
		            word(reader, 1), word(reader, 1));
	error = copy_name(reader, experiment->sweep, word(reader, 1));
	for (uint32_t i = 2; !error && i < reader->words.n; i++)
		error = copy_name(reader, experiment->sweep_values[experiment->n_sweep_values++],
		                  word(reader, i));
	return error;
}

/* Reads a number, or `inf`. */
static bool read_bound(const char *text, double *bound)
{
	char *end;

	*bound = strtod(text, &end);
	return end != text && *end == 0 && !isnan(*bound);
}

static int read_row(struct reader *reader)
{
	struct experiment *experiment = reader->experiment;
	struct experiment_row *row = &experiment->rows[experiment->n_rows];

	if (reader->words.n != 9 || strcmp(word(reader, 4), "paper") != 0 ||
	    strcmp(word(reader, 6), "accept") != 0)
		return fail(reader, "write: row ID WHAT EXPRESSION paper TEXT accept LOW HIGH");
	if (experiment->n_rows == EXPERIMENT_ROWS_MAX)
		return fail(reader, "more than %d rows", EXPERIMENT_ROWS_MAX);
	if (strlen(word(reader, 1)) >= sizeof(row->id))
		return fail(reader, "`%s` is too long for a row's name", word(reader, 1));
	if (!read_bound(word(reader, 7), &row->low) || !read_bound(word(reader, 8), &row->high) ||
	    row->low > row->high)
		return fail(reader,
		            "`%s %s` is not a band; write two numbers, the smaller one first",
		            word(reader, 7), word(reader, 8));
	experiment->n_rows++;
	row->line = reader->line;
	strcpy(row->id, word(reader, 1));
	row->what = copy_word(reader, 2);
	row->expression = copy_word(reader, 3);
	row->paper = copy_word(reader, 5);
	return row->what && row->expression && row->paper ? 0 : no_memory(reader);
}

/* Keeps a line from which points are built: it is read when parameters have values. */
static int keep_line(struct reader *reader, const char *text)
{
	struct experiment *experiment = reader->experiment;
	struct experiment_line *lines =
	        realloc(experiment->lines, (experiment->n_lines + 1) * sizeof(*lines));

	if (!lines)
		return no_memory(reader);
	experiment->lines = lines;
	lines[experiment->n_lines] = (struct experiment_line){
	        .text = strdup(text), .number = reader->line, .of = reader->of};
	if (!lines[experiment->n_lines].text)
		return no_memory(reader);
	experiment->n_lines++;
	return 0;
}

/* ---- figures ---- */

/* If the last two words are the keyword and a value, copies the value and removes both words. */
static int take_option(struct reader *reader, const char *keyword, char to[EXPERIMENT_NAME_BYTES])
{
	uint32_t n = reader->words.n;

	to[0] = 0;
	if (n < 4 || strcmp(word(reader, n - 2), keyword) != 0)
		return 0;
	reader->words.n -= 2;
	return copy_name(reader, to, reader->words.word[n - 1].text);
}

static struct experiment_plot *add_plot(struct reader *reader, enum plot_kind kind)
{
	struct experiment *experiment = reader->experiment;
	struct experiment_plot *plot = &experiment->plots[experiment->n_plots];

	if (experiment->n_plots == EXPERIMENT_PLOTS_MAX) {
		fail(reader, "more than %d figures", EXPERIMENT_PLOTS_MAX);
		return NULL;
	}
	experiment->n_plots++;
	plot->kind = kind;
	return take_option(reader, "figure", plot->figure) ? NULL : plot;
}

static int plot_texts(struct reader *reader, struct experiment_plot *plot, uint32_t expression,
                      uint32_t label)
{
	plot->title = copy_word(reader, 1);
	plot->expression = copy_word(reader, expression);
	plot->label = copy_word(reader, label);
	return plot->title && plot->expression && plot->label ? 0 : no_memory(reader);
}

static int read_plot(struct reader *reader)
{
	struct experiment_plot *plot = add_plot(reader, PLOT_SWEEP);

	if (!plot)
		return -EINVAL;
	if (reader->words.n < 3 || reader->words.n > 4)
		return fail(reader, "write: plot TITLE EXPRESSION [LABEL] [figure ID]");
	return plot_texts(reader, plot, 2, 3);
}

static int read_bars(struct reader *reader)
{
	struct experiment_plot *plot = add_plot(reader, PLOT_BARS);

	if (!plot)
		return -EINVAL;
	if (reader->words.n < 4 || reader->words.n - 3 > EXPERIMENT_BARS_MAX)
		return fail(reader,
		            "write: bars TITLE LABEL NAME=EXPRESSION... [figure ID], up to %d",
		            EXPERIMENT_BARS_MAX);
	for (uint32_t i = 3; i < reader->words.n; i++) {
		const char *text = word(reader, i), *equals = strchr(text, '=');
		size_t bytes = equals ? (size_t)(equals - text) : 0;

		if (bytes == 0 || bytes >= EXPERIMENT_NAME_BYTES)
			return fail(reader, "`%.60s`: write NAME=EXPRESSION", text);
		memcpy(plot->names[plot->n_bars], text, bytes);
		plot->expressions[plot->n_bars] = strdup(equals + 1);
		if (!plot->expressions[plot->n_bars++])
			return no_memory(reader);
	}
	return plot_texts(reader, plot, UINT32_MAX, 2);
}

/* Returns the case that the word names; or -1 with message. */
static int named_case(struct reader *reader, uint32_t at)
{
	int of = experiment_case(reader->experiment, word(reader, at));

	if (of < 0)
		fail(reader, "there is no case `%.60s` above this line", word(reader, at));
	return of;
}

static int read_trace(struct reader *reader)
{
	struct experiment_plot *plot = add_plot(reader, PLOT_TRACE);
	char set[EXPERIMENT_NAME_BYTES], *equals;
	int of;

	if (!plot || take_option(reader, "set", set))
		return -EINVAL;
	if (reader->words.n < 4 || reader->words.n > 5)
		return fail(reader, "write: trace TITLE CASE WHAT [LABEL] [set NAME=VALUE] "
		                    "[figure ID]");
	of = named_case(reader, 2);
	if (of < 0)
		return -EINVAL;
	plot->of = (uint32_t)of;
	if (set[0]) {
		equals = strchr(set, '=');
		if (!equals)
			return fail(reader, "`%.60s`: write set NAME=VALUE", set);
		*equals = 0;
		if (!experiment_has(reader->experiment, set))
			return fail(reader, "`%s` is not a parameter", set);
		strcpy(plot->set, set);
		strcpy(plot->value, equals + 1);
	}
	return plot_texts(reader, plot, 3, 4);
}

static int read_point(struct reader *reader)
{
	struct experiment *experiment = reader->experiment;
	struct experiment_point *point = &experiment->points[experiment->n_points];
	char *end;
	int of;

	if (reader->words.n != 4 || experiment->n_plots == 0)
		return fail(reader, "write: point CASE X Y, below the figure that it belongs to");
	if (experiment->n_points == EXPERIMENT_POINTS_MAX)
		return fail(reader, "more than %d points", EXPERIMENT_POINTS_MAX);
	of = named_case(reader, 1);
	if (of < 0 || copy_name(reader, point->x, word(reader, 2)))
		return -EINVAL;
	point->y = strtod(word(reader, 3), &end);
	if (*end || !isfinite(point->y))
		return fail(reader, "`%.60s` is not a number", word(reader, 3));
	point->plot = experiment->n_plots - 1;
	point->of = (uint32_t)of;
	experiment->n_points++;
	return 0;
}

/* ---- the whole ---- */

static const struct {
	const char *name;
	int (*read)(struct reader *reader); /* NULL: keep_line */
} kinds[] = {
        {"title", read_text}, {"paper", read_text},  {"about", read_text},  {"set", read_set},
        {"case", read_case},  {"end", read_end},     {"sweep", read_sweep}, {"plot", read_plot},
        {"bars", read_bars},  {"trace", read_trace}, {"point", read_point}, {"row", read_row},
        {"link", NULL},       {"cloud", NULL},       {"ftp", NULL},         {"surge", NULL},
        {"voice", NULL},      {"web", NULL},         {NULL, NULL},
};

static int read_line(struct reader *reader, const char *line)
{
	struct language_error error;
	struct nearest nearest;

	if (words_split(line, &reader->words, &error) < 0)
		return fail(reader, "%s", error.text);
	if (reader->words.n == 0)
		return 0;
	nearest_start(&nearest, word(reader, 0));
	for (int i = 0; kinds[i].name; i++) {
		if (strcmp(kinds[i].name, word(reader, 0)) == 0)
			return kinds[i].read ? kinds[i].read(reader) : keep_line(reader, line);
		nearest_try(&nearest, kinds[i].name);
	}
	if (nearest.best)
		return fail(reader, "unknown word `%.60s`; did you mean `%s`?", word(reader, 0),
		            nearest.best);
	return fail(reader,
	            "unknown word `%.60s`; a line begins with title, set, link, cloud, ftp or "
	            "another word that docs/lab.md lists",
	            word(reader, 0));
}

static int finish(struct reader *reader)
{
	struct experiment *experiment = reader->experiment;

	if (reader->of != EXPERIMENT_NO_CASE)
		return fail(reader, "case %s is not ended: write `end` after its lines",
		            experiment->cases[reader->of]);
	for (uint32_t i = 0; i < experiment->n_rows && !experiment->sweep[0]; i++) {
		if (!strchr(experiment->rows[i].expression, '@'))
			continue;
		reader->line = experiment->rows[i].line;
		return fail(reader,
		            "row %s names a value of the sweep, but there is no `sweep NAME "
		            "VALUES`",
		            experiment->rows[i].id);
	}
	if (experiment->n_cases == 0)
		strcpy(experiment->cases[experiment->n_cases++], "only");
	if (!experiment->title)
		experiment->title = strdup(experiment->name);
	if (!experiment->paper)
		experiment->paper = strdup("");
	if (!experiment->about)
		experiment->about = strdup("");
	return experiment->title && experiment->paper && experiment->about ? 0 : no_memory(reader);
}

int experiment_read(const char *text, size_t bytes, const char *name, struct experiment **result,
                    char message[EXPERIMENT_MESSAGE])
{
	/* The parameters that every experiment has. */
	static const char *const standard[] = {"set duration 500s", "set warmup 100s",
	                                       "set sample 10ms", "set ties departure-first", NULL};
	struct reader *reader = calloc(1, sizeof(*reader));
	struct experiment *experiment = calloc(1, sizeof(*experiment));
	char *copy = strndup(text, bytes), *rest = copy, *line;
	uint64_t digest = UINT64_C(0xcbf29ce484222325);
	int error = lab_fail(message, -ENOMEM, "%s: no memory for the experiment", name);

	if (experiment)
		experiment->name = strdup(name);
	if (!reader || !experiment || !experiment->name || !copy)
		goto out;
	*reader = (struct reader){.experiment = experiment,
	                          .name = name,
	                          .of = EXPERIMENT_NO_CASE,
	                          .message = message};
	for (size_t i = 0; i < bytes; i++)
		digest = (digest ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	snprintf(experiment->digest, sizeof(experiment->digest), "%016" PRIx64, digest);
	error = 0;
	for (int i = 0; !error && standard[i]; i++)
		error = read_line(reader, standard[i]);
	while (!error && (line = strsep(&rest, "\n"))) {
		reader->line++;
		error = read_line(reader, line);
	}
	if (!error)
		error = finish(reader);
	if (!error) {
		*result = experiment;
		experiment = NULL;
	}
out:
	experiment_free(experiment);
	free(copy);
	free(reader);
	return error;
}
