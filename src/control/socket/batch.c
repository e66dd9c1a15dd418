/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/budget.h"
#include "language/scenario_check.h"
#include "language/scenario_file.h"
#include "service/succession.h"
#include "socket/batch.h"
#include "text/file_read.h"
#include "text/statement_text.h"

#define BATCH_TEXT_ROOM 4096

static void batch_error_set(struct batch_error *error, const char *name, const char *code,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));

static void batch_error_set(struct batch_error *error, const char *name, const char *code,
                            const char *format, ...)
{
	va_list arguments;

	snprintf(error->name, sizeof(error->name), "%s", name);
	error->code = code;
	error->line = 0;
	error->column = 0;
	va_start(arguments, format);
	vsnprintf(error->message, sizeof(error->message), format, arguments);
	va_end(arguments);
}

/* Returns true for a word that can stand as NAME in `err NAME: ...` and be distinguished from the
 * rest. */
static bool word_is_plain(const char *text)
{
	return *text != '\0' && strlen(text) < 60 && strpbrk(text, " :\t\"") == NULL;
}

/* Returns the word of the line at a column, else the cloud or port that the line concerns, else its
 * first word. */
static const char *words_concerned(const struct words *words, uint32_t column)
{
	uint32_t at = words->n > 1 && strcmp(words->word[0].text, "no") == 0 ? 1 : 0;

	for (uint32_t i = 0; i < words->n; i++)
		if (words->word[i].column == column && word_is_plain(words->word[i].text))
			return words->word[i].text;
	if (words->n > at + 1 && word_is_name(words->word[at + 1].text))
		return words->word[at + 1].text;
	return words->n > 0 && word_is_plain(words->word[0].text) ? words->word[0].text : NULL;
}

void batch_error_language(struct batch_error *error, const char *line,
                          const struct language_error *from)
{
	struct language_error ignored;
	const char *concerned = NULL;
	struct words words;

	if (words_split(line, &words, &ignored) == 0)
		concerned = words_concerned(&words, from->column);
	batch_error_set(error, concerned != NULL ? concerned : "line", from->name, "%s",
	                from->text);
	error->column = from->column;
}

int batch_begin(struct batch *batch, const struct control *control)
{
	memset(batch, 0, sizeof(*batch));
	batch->draft = scenario_copy(*control->scenario);
	batch->changes = control->changes;
	return batch->draft != NULL ? 0 : -ENOMEM;
}

int batch_begin_whole(struct batch *batch)
{
	memset(batch, 0, sizeof(*batch));
	batch->draft = scenario_make();
	batch->whole = true;
	return batch->draft != NULL ? 0 : -ENOMEM;
}

void batch_abort(struct batch *batch)
{
	scenario_free(batch->draft);
	free(batch->text);
	memset(batch, 0, sizeof(*batch));
}

static int batch_no_memory(struct batch_error *error)
{
	batch_error_set(error, "scenario", ERROR_NO_MEMORY,
	                "no memory for a copy of the scenario; nothing is changed");
	return -ENOMEM;
}

/* Makes room for a line and keeps it, preceded by its number. */
static int batch_keep(struct batch *batch, const char *line, size_t bytes_max,
                      struct batch_error *error)
{
	char number[16];
	size_t n = (size_t)snprintf(number, sizeof(number), "%u", batch->lines) + 1;
	size_t length = strlen(line) + 1, room = batch->text_room;

	if (batch->text_n + n + length > bytes_max) {
		batch_error_set(error, "batch", ERROR_FULL,
		                "the lines of a batch may have at most %zu bytes in total; commit, "
		                "and begin another",
		                bytes_max);
		return -ENOSPC;
	}
	while (room < batch->text_n + n + length)
		room = room > 0 ? 2 * room : BATCH_TEXT_ROOM;
	if (room != batch->text_room) {
		char *text = realloc(batch->text, room);

		if (text == NULL)
			return batch_no_memory(error);
		batch->text = text;
		batch->text_room = room;
	}
	memcpy(batch->text + batch->text_n, number, n);
	memcpy(batch->text + batch->text_n + n, line, length);
	batch->text_n += n + length;
	return 0;
}

int batch_edit(struct batch *batch, const char *line, const struct command *command,
               size_t bytes_max, struct batch_error *error)
{
	size_t text_n = batch->text_n;
	struct language_error wrong;
	int result = batch_keep(batch, line, bytes_max, error);

	if (result != 0)
		return result;
	result = language_edit(batch->draft, command, &wrong);
	if (result != 0) {
		batch->text_n = text_n;
		batch_error_language(error, line, &wrong);
	}
	return result;
}

/* Calls `visit` for each line kept; stops when that returns non-zero. */
static int batch_each(const struct batch *batch,
                      int (*visit)(void *argument, uint32_t number, const char *line),
                      void *argument)
{
	for (size_t at = 0; at < batch->text_n;) {
		const char *number = batch->text + at, *line = number + strlen(number) + 1;
		int result = visit(argument, (uint32_t)strtoul(number, NULL, 10), line);

		if (result != 0)
			return result;
		at = (size_t)(line - batch->text) + strlen(line) + 1;
	}
	return 0;
}

struct batch_again {
	struct scenario *draft;
	struct batch_error *error;
};

static int batch_edit_again(void *argument, uint32_t number, const char *line)
{
	struct batch_again *again = argument;
	struct language_error wrong;
	struct command command;
	int result = language_parse(line, &command, &wrong);

	if (result == 0) {
		result = language_edit(again->draft, &command, &wrong);
		language_release(&command);
	}
	if (result != 0) {
		batch_error_language(again->error, line, &wrong);
		again->error->line = number;
	}
	return result;
}

/* Executes the lines again on a new copy, because the scenario has changed since the copy was
 * made. */
static int batch_renew(struct batch *batch, struct control *control, struct batch_error *error)
{
	struct batch_again again = {.draft = scenario_copy(*control->scenario), .error = error};

	if (again.draft == NULL)
		return batch_no_memory(error);
	scenario_free(batch->draft);
	batch->draft = again.draft;
	batch->changes = control->changes;
	return batch_each(batch, batch_edit_again, &again);
}

/* ---- whole batches ---- */

struct batch_refusals {
	const struct scenario *now;
	struct succession_refusal refusal[SUCCESSION_REFUSALS_MAX];
	int n;
	char *text;
	size_t room, used;
	int listed;
};

#define REFUSALS_LISTED 8

static void refusal_add(struct batch_refusals *refusals, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

static void refusal_add(struct batch_refusals *refusals, const char *format, ...)
{
	va_list arguments;
	int n;

	if (refusals->listed++ >= REFUSALS_LISTED || refusals->used >= refusals->room)
		return;
	va_start(arguments, format);
	n = vsnprintf(refusals->text + refusals->used, refusals->room - refusals->used, format,
	              arguments);
	va_end(arguments);
	refusals->used += n > 0 ? (size_t)n : 0;
}

/* Adds the line to the refusals if it concerns something that cannot change. */
static int batch_refuse_line(void *argument, uint32_t number, const char *line)
{
	struct batch_refusals *refusals = argument;
	struct language_error ignored;
	struct words words;

	if (words_split(line, &words, &ignored) != 0 || words.n < 2)
		return 0;
	for (int i = 0; i < refusals->n; i++) {
		const struct succession_refusal *refusal = &refusals->refusal[i];
		const char *name = words.word[1].text;

		if (refusal->fault == SUCCESSION_SEED && strcmp(words.word[0].text, "seed") == 0)
			refusal_add(refusals, "line %u, seed %.20s (it runs with %" PRIu64 "); ",
			            number, name, refusals->now->seed);
		else if (refusal->port == NULL || strcmp(words.word[0].text, "port") != 0 ||
		         strcmp(name, refusal->port->name) != 0)
			continue;
		else if (refusal->fault == SUCCESSION_PORT_NEW)
			refusal_add(refusals, "line %u, port %s (a new one); ", number, name);
		else if (refusal->fault == SUCCESSION_PORT_DIFFERS)
			refusal_add(refusals, "line %u, port %s (differs from the running one); ",
			            number, name);
	}
	return 0;
}

static int batch_succeed(struct batch *batch, const struct scenario *now, struct batch_error *error)
{
	struct batch_refusals refusals = {
	        .now = now, .text = error->message, .room = sizeof(error->message)};

	refusals.n = succession_make(batch->draft, now, refusals.refusal);
	if (refusals.n == -ENOMEM)
		return batch_no_memory(error);
	if (refusals.n == 0)
		return 0;
	batch_error_set(error, "scenario", "refused", "while packets flow this cannot change: ");
	refusals.used = strlen(error->message);
	batch_each(batch, batch_refuse_line, &refusals);
	for (int i = 0; i < refusals.n; i++) {
		if (refusals.refusal[i].fault == SUCCESSION_PORT_GONE)
			refusal_add(&refusals, "port %s, which is in use, has no line; ",
			            refusals.refusal[i].port->name);
	}
	if (refusals.listed > REFUSALS_LISTED && refusals.used < refusals.room)
		refusals.used += (size_t)snprintf(refusals.text + refusals.used,
		                                  refusals.room - refusals.used, "and %d more; ",
		                                  refusals.listed - REFUSALS_LISTED);
	if (refusals.used < refusals.room)
		snprintf(refusals.text + refusals.used, refusals.room - refusals.used,
		         "nothing is changed: leave these as they run, or restart weir with the "
		         "file");
	return -EINVAL;
}

/* Executes the next line of the file, which it copies into `line`. Returns 0, or -errno with
 * error. */
static int batch_take_line(struct batch *batch, const struct file_line *at,
                           char line[LINE_BYTES_MAX + 2], struct batch_error *error)
{
	struct language_error wrong = {.column = 0};
	struct command command;
	int result;

	batch->lines = (uint32_t)at->number;
	if (at->bytes > LINE_BYTES_MAX || memchr(at->text, 0, at->bytes) != NULL) {
		batch_error_set(error, "line", ERROR_TOO_LONG,
		                at->bytes > LINE_BYTES_MAX
		                        ? "longer than %d bytes, which is the maximum"
		                        : "a zero byte in the line; a scenario is a text file, of "
		                          "lines of at most %d bytes",
		                LINE_BYTES_MAX);
		error->line = batch->lines;
		return -EINVAL;
	}
	memcpy(line, at->text, at->bytes);
	line[at->bytes] = '\0';
	result = language_parse(line, &command, &wrong);
	if (result != 0) {
		batch_error_language(error, line, &wrong);
	} else {
		result = batch_edit(batch, line, &command, SIZE_MAX, error);
		language_release(&command);
	}
	error->line = batch->lines;
	return result;
}

int batch_of_file(struct batch *batch, const char *path, struct batch_error *error)
{
	static const char mark[] = "\xef\xbb\xbf"; /* the byte-order mark: no part of a line */
	char line[LINE_BYTES_MAX + 2];
	struct file_beside beside;
	struct language_error wrong;
	struct file_line at = {0};
	struct file *file;
	int result = batch_begin_whole(batch);

	if (result != 0)
		return batch_no_memory(error);
	batch->own_files = true;
	result = file_read_own(path, SCENARIO_FILE_BYTES_MAX, &file, &wrong);
	if (result != 0) {
		batch_error_set(error, "file", wrong.name, "%s", wrong.text);
		goto err_abort;
	}
	file_beside_begin(&beside, path);
	while (result == 0 && file_next_line(file, &at)) {
		if (at.number == 1 && at.bytes >= 3 && memcmp(at.text, mark, 3) == 0) {
			at.text += 3;
			at.bytes -= 3;
		}
		result = batch_take_line(batch, &at, line, error);
	}
	file_beside_end(&beside);
	file_release(file);
	if (result == 0)
		return 0;
err_abort:
	batch_abort(batch);
	return result;
}

struct batch_search {
	const struct scenario_place *place;
	uint32_t line, column;
};

/* Finds the last line that concerns the cloud, or preferably its statement. */
static int batch_match(void *argument, uint32_t number, const char *line)
{
	struct batch_search *search = argument;
	const struct scenario_place *place = search->place;
	struct language_error ignored;
	struct command command;

	if (language_parse(line, &command, &ignored) != 0)
		return 0;
	if (command.kind == COMMAND_STATEMENT && place->statement != NULL &&
	    strcmp(command.words.word[1].text, place->cloud) == 0 &&
	    scenario_place_is(place, command.conf)) {
		search->line = number;
		search->column = statement_column(&command.words, 2, place->field, place->letter);
	} else if (command.kind == COMMAND_NETEM && place->statement != NULL &&
	           strcmp(command.words.word[1].text, place->cloud) == 0 &&
	           netem_column(command.netem, place->statement) != 0) {
		search->line = number;
		search->column = netem_column(command.netem, place->statement);
	} else if ((command.kind == COMMAND_CLOUD || command.kind == COMMAND_CLOUDS) &&
	           search->line == 0 && strcmp(command.words.word[1].text, place->cloud) == 0) {
		search->line = number;
		search->column = command.words.word[place->word].column;
	}
	language_release(&command);
	return 0;
}

static bool leads_from_nowhere(const struct scenario *scenario, const struct scenario_place *place)
{
	int cloud = place->cloud != NULL ? scenario_find_cloud(scenario, place->cloud) : -1;

	return cloud >= 0 && scenario_root(scenario, scenario->clouds[cloud]) == -ENOENT;
}

static int batch_check(struct batch *batch, const struct scenario *before,
                       struct batch_error *error)
{
	struct scenario_place place = {.field = -1};
	struct batch_search search = {.place = &place};
	struct problem problem;
	int result = scenario_check_since(batch->draft, before, &place, &problem);

	if (result == 0)
		return 0;
	batch_error_set(error, place.cloud != NULL ? place.cloud : "scenario",
	                leads_from_nowhere(batch->draft, &place) ? ERROR_UNKNOWN_PORT
	                                                         : ERROR_CONFLICT,
	                "%s", problem.text);
	if (place.cloud != NULL)
		batch_each(batch, batch_match, &search);
	error->line = search.line;
	error->column = search.column;
	return result;
}

/* Bounds the files that clients may add: files stay in memory as long as a statement names them. */
static int batch_check_files(const struct batch *batch, const struct scenario *before,
                             struct batch_error *error)
{
	uint64_t bytes = budget_files(batch->draft);

	if (bytes <= BATCH_FILES_BYTES_MAX || bytes <= budget_files(before))
		return 0;
	batch_error_set(error, "scenario", ERROR_FULL,
	                "the files that the statements name would have %" PRIu64
	                " MiB in total; at most %" PRIu64
	                " MiB are allowed; remove those not needed any more, or load them with the "
	                "scenario at the start",
	                bytes >> 20, BATCH_FILES_BYTES_MAX >> 20);
	return -ENOSPC;
}

/* Finds the subject of a refusal by the emulator: the cloud that all lines concern, if there is
 * exactly one. */
static int batch_subject(void *argument, uint32_t number, const char *line)
{
	struct language_error ignored;
	const char *concerned;
	struct words words;
	char *name = argument;

	(void)number;
	if (words_split(line, &words, &ignored) != 0)
		return 0;
	concerned = words_concerned(&words, UINT32_MAX);
	if (concerned == NULL || (name[0] != '\0' && strcmp(name, concerned) != 0)) {
		name[0] = '\0';
		return -ENOENT;
	}
	strcpy(name, concerned); /* word_is_plain and word_is_name bound it to 60 bytes */
	return 0;
}

int batch_prepare(struct batch *batch, struct control *control, struct transaction **transaction,
                  struct batch_error *error)
{
	struct problem problem = {.field = -1};
	char name[64] = "";
	int result = 0;

	*transaction = NULL;
	if (batch->text_n == 0 && !batch->whole && !batch->edited)
		return 0;
	if (batch->whole)
		result = batch_succeed(batch, *control->scenario, error);
	else if (batch->changes != control->changes)
		result = batch_renew(batch, control, error);
	if (result == 0 && !batch->own_files)
		result = batch_check_files(batch, *control->scenario, error);
	if (result == 0)
		result = batch_check(batch, *control->scenario, error);
	if (result != 0)
		return result;
	result = control->ops->change(control->context, batch->draft, transaction, &problem);
	if (result == 0)
		return 0;
	batch_each(batch, batch_subject, name);
	batch_error_set(error, name[0] != '\0' ? name : "scenario",
	                result == -ENOMEM ? ERROR_NO_MEMORY : "refused", "%s; nothing is changed",
	                problem.text[0] != '\0' ? problem.text : strerror(-result));
	return result;
}
