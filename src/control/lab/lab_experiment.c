/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/lab_experiment.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab_experiment_read.h"
#include "text/file_read.h"
#include "text/nearest.h"
#include "text/word.h"

int experiment_fail(struct experiment_reader *reader, const char *format, ...)
{
	char text[700];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	snprintf(reader->message, reader->room, "%s:%u: %s", reader->name, reader->line, text);
	return -EINVAL;
}

int experiment_no_memory(struct experiment_reader *reader)
{
	experiment_fail(reader, "no memory for the experiment");
	return -ENOMEM;
}

int experiment_name_copy(struct experiment_reader *reader, char to[EXPERIMENT_NAME_BYTES],
                         const char *from)
{
	if (strlen(from) >= EXPERIMENT_NAME_BYTES)
		return experiment_fail(reader, "`%.60s` is too long: at most %d bytes", from,
		                       EXPERIMENT_NAME_BYTES - 1);
	strcpy(to, from);
	return 0;
}

/* Appends the words from `at` on, with blanks between, to the text. */
static int text_add(struct experiment_reader *reader, char **text, uint32_t at)
{
	size_t bytes = *text ? strlen(*text) + 2 : 1;
	char *longer;

	for (uint32_t i = at; i < reader->words.n; i++)
		bytes += strlen(experiment_word(reader, i)) + 1;
	longer = realloc(*text, bytes);
	if (!longer)
		return experiment_no_memory(reader);
	if (!*text)
		longer[0] = 0;
	*text = longer;
	for (uint32_t i = at; i < reader->words.n; i++) {
		if (longer[0])
			strcat(longer, " ");
		strcat(longer, experiment_word(reader, i));
	}
	return 0;
}

static int read_title(struct experiment_reader *reader)
{
	return text_add(reader, &reader->experiment->title, 1);
}

static int read_paper(struct experiment_reader *reader)
{
	return text_add(reader, &reader->experiment->paper, 1);
}

static int read_about(struct experiment_reader *reader)
{
	return text_add(reader, &reader->experiment->about, 1);
}

static int read_set(struct experiment_reader *reader)
{
	struct experiment *experiment = reader->experiment;
	struct experiment_set *set = &experiment->sets[experiment->n_sets];
	int error;

	if (reader->words.n != 3)
		return experiment_fail(reader, "write: set NAME VALUE");
	if (experiment->n_sets == EXPERIMENT_SETS_MAX)
		return experiment_fail(reader, "more than %d parameters", EXPERIMENT_SETS_MAX);
	if (reader->of != EXPERIMENT_NO_CASE &&
	    !experiment_has(experiment, experiment_word(reader, 1)))
		return experiment_fail(reader,
		                       "`%s` is not a parameter: a case can only change one that "
		                       "is set before all cases",
		                       experiment_word(reader, 1));
	error = experiment_name_copy(reader, set->name, experiment_word(reader, 1));
	if (!error)
		error = experiment_name_copy(reader, set->value, experiment_word(reader, 2));
	set->of = reader->of;
	experiment->n_sets += !error;
	return error;
}

static int read_case(struct experiment_reader *reader)
{
	struct experiment *experiment = reader->experiment;

	if (reader->words.n != 2 || !word_is_name(experiment_word(reader, 1)))
		return experiment_fail(reader, "write: case NAME");
	if (experiment->n_cases == EXPERIMENT_CASES_MAX)
		return experiment_fail(reader, "more than %d cases", EXPERIMENT_CASES_MAX);
	if (experiment_case(experiment, experiment_word(reader, 1)) >= 0)
		return experiment_fail(reader, "there is a case `%s` already",
		                       experiment_word(reader, 1));
	reader->of = experiment->n_cases;
	return experiment_name_copy(reader, experiment->cases[experiment->n_cases++],
	                            experiment_word(reader, 1));
}

static int read_end(struct experiment_reader *reader)
{
	if (reader->of == EXPERIMENT_NO_CASE)
		return experiment_fail(reader, "there is no case to end");
	reader->of = EXPERIMENT_NO_CASE;
	return 0;
}

static int read_sweep(struct experiment_reader *reader)
{
	struct experiment *experiment = reader->experiment;
	int error;

	if (reader->words.n < 3 || reader->words.n - 2 > EXPERIMENT_VALUES_MAX)
		return experiment_fail(reader, "write: sweep NAME VALUES, up to %d",
		                       EXPERIMENT_VALUES_MAX);
	if (experiment->n_sweep_values)
		return experiment_fail(reader, "there is a sweep already");
	if (!experiment_has(experiment, experiment_word(reader, 1)))
		return experiment_fail(reader,
		                       "`%s` is not a parameter; `set %s VALUE` makes it one",
		                       experiment_word(reader, 1), experiment_word(reader, 1));
	error = experiment_name_copy(reader, experiment->sweep, experiment_word(reader, 1));
	for (uint32_t i = 2; !error && i < reader->words.n; i++)
		error = experiment_name_copy(reader,
		                             experiment->sweep_values[experiment->n_sweep_values++],
		                             experiment_word(reader, i));
	return error;
}

char *experiment_copy_word(const struct experiment_reader *reader, uint32_t at,
                           const char *otherwise)
{
	const char *text = experiment_word(reader, at);

	return strdup(text ? text : otherwise);
}

/* Reads a number, or `inf`. */
static bool read_bound(const char *text, double *bound)
{
	char *end;

	*bound = strtod(text, &end);
	return end != text && *end == 0 && !isnan(*bound);
}

static int read_row(struct experiment_reader *reader)
{
	struct experiment *experiment = reader->experiment;
	struct experiment_row *row = &experiment->rows[experiment->n_rows];

	if (reader->words.n != 9 || strcmp(experiment_word(reader, 4), "paper") != 0 ||
	    strcmp(experiment_word(reader, 6), "accept") != 0)
		return experiment_fail(reader,
		                       "write: row ID WHAT EXPRESSION paper TEXT accept LOW HIGH");
	if (experiment->n_rows == EXPERIMENT_ROWS_MAX)
		return experiment_fail(reader, "more than %d rows", EXPERIMENT_ROWS_MAX);
	if (strlen(experiment_word(reader, 1)) >= sizeof(row->id))
		return experiment_fail(reader, "`%s` is too long for a row's name",
		                       experiment_word(reader, 1));
	if (!read_bound(experiment_word(reader, 7), &row->low) ||
	    !read_bound(experiment_word(reader, 8), &row->high) || row->low > row->high)
		return experiment_fail(
		        reader, "`%s %s` is not a band; write two numbers, the smaller one first",
		        experiment_word(reader, 7), experiment_word(reader, 8));
	experiment->n_rows++;
	row->line = reader->line;
	strcpy(row->id, experiment_word(reader, 1));
	row->what = experiment_copy_word(reader, 2, "");
	row->expression = experiment_copy_word(reader, 3, "");
	row->paper = experiment_copy_word(reader, 5, "");
	return row->what && row->expression && row->paper ? 0 : experiment_no_memory(reader);
}

/* Keeps a line from which points are built: it is read when parameters have values. */
static int keep_line(struct experiment_reader *reader, const char *text)
{
	struct experiment *experiment = reader->experiment;
	struct experiment_line *lines =
	        realloc(experiment->lines, (experiment->n_lines + 1) * sizeof(*lines));

	if (!lines)
		return experiment_no_memory(reader);
	experiment->lines = lines;
	lines[experiment->n_lines] = (struct experiment_line){
	        .text = strdup(text), .number = reader->line, .of = reader->of};
	if (!lines[experiment->n_lines].text)
		return experiment_no_memory(reader);
	experiment->n_lines++;
	return 0;
}

static const struct {
	const char *name;
	int (*read)(struct experiment_reader *reader); /* NULL: keep_line */
} kinds[] = {
        {"title", read_title},
        {"paper", read_paper},
        {"about", read_about},
        {"set", read_set},
        {"case", read_case},
        {"end", read_end},
        {"sweep", read_sweep},
        {"plot", experiment_read_plot},
        {"bars", experiment_read_bars},
        {"trace", experiment_read_trace},
        {"point", experiment_read_point},
        {"row", read_row},
        {"link", NULL},
        {"cloud", NULL},
        {"ftp", NULL},
        {"surge", NULL},
        {"voice", NULL},
        {"web", NULL},
        {NULL, NULL},
};

static int read_line(struct experiment_reader *reader, const char *line)
{
	struct language_error error;

	if (words_split(line, &reader->words, &error) < 0)
		return experiment_fail(reader, "%s", error.text);
	if (reader->words.n == 0)
		return 0;
	for (int i = 0; kinds[i].name; i++)
		if (strcmp(kinds[i].name, experiment_word(reader, 0)) == 0)
			return kinds[i].read ? kinds[i].read(reader) : keep_line(reader, line);
	const char *word = experiment_word(reader, 0);
	struct nearest nearest;

	nearest_start(&nearest, word);
	for (int i = 0; kinds[i].name; i++)
		nearest_try(&nearest, kinds[i].name);
	if (nearest.best)
		return experiment_fail(reader, "unknown word `%.60s`; did you mean `%s`?", word,
		                       nearest.best);
	return experiment_fail(
	        reader,
	        "unknown word `%.60s`; a line begins with title, set, link, cloud, ftp "
	        "or another word that docs/lab.md lists",
	        word);
}

/* Adds the parameters that every experiment has. */
static int add_standard(struct experiment_reader *reader)
{
	static const char *const standard[] = {"set duration 500s", "set warmup 100s",
	                                       "set sample 10ms", "set ties departure-first"};
	int error = 0;

	for (size_t i = 0; !error && i < sizeof(standard) / sizeof(standard[0]); i++)
		error = read_line(reader, standard[i]);
	return error;
}

static int finish(struct experiment_reader *reader)
{
	struct experiment *experiment = reader->experiment;

	if (reader->of != EXPERIMENT_NO_CASE)
		return experiment_fail(reader, "case %s is not ended: write `end` after its lines",
		                       experiment->cases[reader->of]);
	for (uint32_t i = 0; i < experiment->n_rows && !experiment->sweep[0]; i++) {
		if (!strchr(experiment->rows[i].expression, '@'))
			continue;
		reader->line = experiment->rows[i].line;
		return experiment_fail(reader,
		                       "row %s names a value of the sweep, but there is no "
		                       "`sweep NAME VALUES`",
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
	return experiment->title && experiment->paper && experiment->about
	               ? 0
	               : experiment_no_memory(reader);
}

static uint64_t digest(const char *text, size_t bytes)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	return hash;
}

int experiment_read(const char *text, size_t bytes, const char *name, struct experiment **result,
                    char *message, size_t room)
{
	struct experiment_reader *reader = calloc(1, sizeof(*reader));
	struct experiment *experiment = calloc(1, sizeof(*experiment));
	char *copy = strndup(text, bytes), *rest = copy, *line;
	int error = -ENOMEM;

	snprintf(message, room, "%s: no memory for the experiment", name);
	if (experiment)
		experiment->name = strdup(name);
	if (!reader || !experiment || !experiment->name || !copy)
		goto out;
	reader->experiment = experiment;
	reader->name = name;
	reader->of = EXPERIMENT_NO_CASE;
	reader->message = message;
	reader->room = room;
	experiment->digest = digest(text, bytes);
	error = add_standard(reader);
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

void experiment_free(struct experiment *experiment)
{
	if (!experiment)
		return;
	free(experiment->name);
	free(experiment->title);
	free(experiment->paper);
	free(experiment->about);
	for (uint32_t i = 0; i < experiment->n_lines; i++)
		free(experiment->lines[i].text);
	free(experiment->lines);
	for (uint32_t i = 0; i < experiment->n_rows; i++) {
		free(experiment->rows[i].what);
		free(experiment->rows[i].expression);
		free(experiment->rows[i].paper);
	}
	for (uint32_t i = 0; i < experiment->n_plots; i++) {
		free(experiment->plots[i].title);
		free(experiment->plots[i].expression);
		free(experiment->plots[i].label);
		for (uint32_t k = 0; k < experiment->plots[i].n_bars; k++)
			free(experiment->plots[i].expressions[k]);
	}
	free(experiment);
}

void experiment_digest(const struct experiment *experiment, char text[EXPERIMENT_DIGEST_BYTES])
{
	snprintf(text, EXPERIMENT_DIGEST_BYTES, "%016" PRIx64, experiment->digest);
}

bool experiment_has(const struct experiment *experiment, const char *parameter)
{
	return experiment_value(experiment, EXPERIMENT_NO_CASE, parameter) != NULL;
}

int experiment_case(const struct experiment *experiment, const char *name)
{
	for (uint32_t i = 0; i < experiment->n_cases; i++)
		if (strcmp(experiment->cases[i], name) == 0)
			return (int)i;
	return -1;
}

int experiment_case_named(const struct experiment *experiment, const char *name)
{
	size_t longest = 0;
	int of = -1;

	for (uint32_t i = 0; i < experiment->n_cases; i++) {
		size_t bytes = strlen(experiment->cases[i]);

		if (bytes <= longest || strncmp(name, experiment->cases[i], bytes) != 0 ||
		    (name[bytes] != '.' && name[bytes] != '@'))
			continue;
		longest = bytes;
		of = (int)i;
	}
	return of;
}

/* The last value counts; one of the case overrides the general ones. */
const char *experiment_value(const struct experiment *experiment, uint32_t of,
                             const char *parameter)
{
	const char *general = NULL, *special = NULL;

	for (uint32_t i = 0; i < experiment->n_sets; i++) {
		const struct experiment_set *set = &experiment->sets[i];

		if (strcmp(set->name, parameter) != 0)
			continue;
		if (set->of == EXPERIMENT_NO_CASE)
			general = set->value;
		else if (set->of == of)
			special = set->value;
	}
	return special ? special : general;
}

int lab_store_all(struct experiment ***result, uint32_t *count, char *message, size_t room)
{
	struct experiment **all;
	uint32_t n = 0;
	int error = 0;

	while (lab_texts[n].name)
		n++;
	all = calloc(n + 1, sizeof(struct experiment *));
	if (!all) {
		snprintf(message, room, "no memory for the experiments");
		return -ENOMEM;
	}
	for (uint32_t i = 0; !error && i < n; i++)
		error = experiment_read(lab_texts[i].text, lab_texts[i].bytes, lab_texts[i].name,
		                        &all[i], message, room);
	if (error) {
		lab_store_free(all, n);
		return error;
	}
	*result = all;
	*count = n;
	return 0;
}

void lab_store_free(struct experiment **all, uint32_t n)
{
	for (uint32_t i = 0; all && i < n; i++)
		experiment_free(all[i]);
	free(all);
}

int lab_store_file(const char *path, struct experiment **experiment, char *message, size_t room)
{
	struct language_error error;
	struct file *file;
	int result;

	if (!word_is_text(path)) {
		snprintf(message, room,
		         "the name of this file is not UTF-8 text, as JSON needs it; rename the "
		         "file");
		return -EINVAL;
	}
	result = file_read(path, &file, &error);
	if (result) {
		snprintf(message, room, "%s", error.text);
		return result;
	}
	result = experiment_read(file->text, file->bytes, path, experiment, message, room);
	file_release(file);
	return result;
}
