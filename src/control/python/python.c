/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/python.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "options/options.h"
#include "text/alloc_failure.h"

/* What python3 gets besides the words of the command line. */
#define WORDS_MAX (12 + OPTIONS_MAX)
#define GET       "apt install python3-weir, or pip install ./python in weir's sources"

/* Writes the folder of the package if it is beside this program: where it is installed, or was
 * built, src/ or tests/faults/ of the build folder. Otherwise it is "". */
static void find_package(const char *program, char folder[2 * PATH_MAX])
{
	static const char *const ways[] = {WEIR_PYTHON_FROM, "../weir-python", "../../weir-python"};
	const char *slash = strrchr(program, '/');
	char package[3 * PATH_MAX];

	for (size_t i = 0; slash && i < sizeof(ways) / sizeof(ways[0]); i++) {
		snprintf(folder, 2 * PATH_MAX, "%.*s/%s", (int)(slash - program), program, ways[i]);
		snprintf(package, sizeof(package), "%s/weir/__init__.py", folder);
		if (access(package, R_OK) == 0)
			return;
	}
	folder[0] = '\0';
}

/* Adds the word NAME=VALUE. */
static void put(FILE *words, const struct field *field, const union option_value *value)
{
	fprintf(words, "%s=", field->name + 2);
	if (field->type == FIELD_TEXT)
		fputs(value->text, words);
	else if (field->type == FIELD_WORD)
		fputs(field->words[value->word], words);
	else if (field->type != FIELD_FLAG)
		fprintf(words, "%" PRIu64, value->number);
	fputc('\0', words);
}

static int put_given(const struct option_row *row, char *text, void *to,
                     struct language_error *error)
{
	struct option_row alone = *row;
	union option_value value = {.number = 0};
	int rc;

	alone.field.offset = 0;
	rc = options_take(&alone, text, &value, error);
	if (rc == 0)
		put(to, &alone.field, &value);
	return rc;
}

static void put_initial(const struct options *options, FILE *words)
{
	for (const struct option_row *row = options->rows; row->field.name; row++) {
		union option_value value = {.number = row->field.initial};

		if (row->field.initial && row->field.type == FIELD_WORD)
			value.word = (uint32_t)row->field.initial;
		if (row->field.initial)
			put(words, &row->field, &value);
	}
}

/* Becomes Python, with words that end with a 0 each, made of `argc`. Returns only if it cannot. */
static int become(const struct python_command *command, int argc, const struct printed *words)
{
	const char *name = command->options->command;
	const char *named = getenv("WEIR_PYTHON");
	const char *python = named && named[0] ? named : "python3";
	char program[PATH_MAX] = "", folder[2 * PATH_MAX], unable[12];
	const char **line = calloc((size_t)argc + WORDS_MAX, sizeof(*line)), **at = line;

	if (line == NULL) {
		fprintf(stderr, "weir %s: no memory\n", name);
		return command->unable;
	}
	if (readlink("/proc/self/exe", program, sizeof(program) - 1) > 0)
		setenv("WEIR", program, 1);
	/* Otherwise Python takes the locale C for one with UTF-8, which its terminal has not. */
	setenv("PYTHONCOERCECLOCALE", "0", 0);
	find_package(program, folder);
	*at++ = python;
	/* Without the folders of other packages, Python starts in half the time. */
	if (folder[0] && !command->others)
		*at++ = "-S";
	*at++ = "-c";
	*at++ = python_texts[0].text;
	*at++ = name;
	*at++ = command->module;
	*at++ = folder;
	*at++ = command->get ? command->get : GET;
	*at++ = WEIR_VERSION;
	snprintf(unable, sizeof(unable), "%d", command->unable);
	*at++ = unable;
	for (const char *word = words->bytes; word < words->bytes + words->n;
	     word += strlen(word) + 1)
		*at++ = word;
	execvp(python, (char *const *)line);
	fprintf(stderr, "weir %s: it is Python, and %s cannot be started: %s; %s\n", name, python,
	        strerror(errno), python == named ? "$WEIR_PYTHON names it" : "apt install python3");
	free(line);
	return command->unable;
}

int python_command(const struct python_command *command, int argc, char **argv)
{
	struct options_words given;
	struct printed words;
	bool complete;
	FILE *out;
	int status;

	if (argc == 2 && command->asks && strcmp(argv[1], "--answer") == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		return python_answer(command->asks, stdin, stdout);
	}
	out = printed_begin(&words);
	put_initial(command->options, out);
	fprintf(out, "--%c", '\0');
	status = options_each(command->options, argc, argv, put_given, out, &given);
	fprintf(out, "--%c", '\0');
	for (int i = 0; status == OPTIONS_RUN && i < given.n; i++)
		fprintf(out, "%s%c", given.word[i], '\0');
	complete = printed_end(&words) != NULL;
	if (status == OPTIONS_RUN)
		status = complete ? become(command, argc, &words) : command->unable;
	free(words.bytes);
	return status;
}
