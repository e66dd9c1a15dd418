/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/budget.h"
#include "language/scenario_check.h"
#include "language/scenario_file.h"
#include "socket/change.h"
#include "text/array.h"
#include "text/file_read.h"
#include "text/statement_text.h"
#include "units/human_unit.h"

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

void batch_error_language(struct answer_error *error, const char *line,
                          const struct language_error *from)
{
	struct language_error ignored;
	const char *concerned = NULL;
	struct words words;

	if (words_split(line, &words, &ignored) == 0)
		concerned = words_concerned(&words, from->column);
	answer_error_set(error, concerned != NULL ? concerned : "line", from->name, "%s",
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

static int batch_no_memory(struct answer_error *error)
{
	answer_error_set(error, "scenario", ERROR_NO_MEMORY,
	                 "no memory for a copy of the scenario; nothing is changed");
	return -ENOMEM;
}

/* Makes room for a line and keeps it, preceded by its number. */
static int batch_keep(struct batch *batch, const char *line, size_t bytes_max,
                      struct answer_error *error)
{
	char number[16];
	size_t n = (size_t)snprintf(number, sizeof(number), "%u", batch->lines) + 1;
	size_t length = strlen(line) + 1;

	if (batch->text_n + n + length > bytes_max) {
		answer_error_set(
		        error, "batch", ERROR_FULL,
		        "the lines of a batch may have at most %zu bytes in total; commit, "
		        "and begin another",
		        bytes_max);
		return -ENOSPC;
	}
	if (!array_fits(&batch->text, &batch->text_room, batch->text_n + n + length, 1))
		return batch_no_memory(error);
	memcpy(batch->text + batch->text_n, number, n);
	memcpy(batch->text + batch->text_n + n, line, length);
	batch->text_n += n + length;
	return 0;
}

int batch_edit(struct batch *batch, const char *line, const struct command *command,
               size_t bytes_max, struct answer_error *error)
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

bool batch_line_next(const struct batch *batch, struct batch_line *line)
{
	const char *at = line->text != NULL ? line->text + strlen(line->text) + 1 : batch->text;

	if (batch->text_n == 0 || at == batch->text + batch->text_n)
		return false;
	line->number = (uint32_t)strtoul(at, NULL, 10);
	line->text = at + strlen(at) + 1;
	return true;
}

/* Executes the lines again on a new copy, because the scenario has changed since the copy was
 * made. */
static int batch_renew(struct batch *batch, struct control *control, struct answer_error *error)
{
	struct scenario *draft = scenario_copy(*control->scenario);
	int result = 0;

	if (draft == NULL)
		return batch_no_memory(error);
	scenario_free(batch->draft);
	batch->draft = draft;
	batch->changes = control->changes;
	for (struct batch_line line = {0}; result == 0 && batch_line_next(batch, &line);) {
		struct language_error wrong;
		struct command command;

		result = language_parse(line.text, &command, &wrong);
		if (result == 0) {
			result = language_edit(draft, &command, &wrong);
			language_release(&command);
		}
		if (result != 0) {
			batch_error_language(error, line.text, &wrong);
			error->line = line.number;
		}
	}
	return result;
}

/* ---- whole batches ---- */

#define REFUSAL_BYTES   100
#define REFUSALS_LISTED 8

static bool port_is(const struct port_conf *next, const struct port_conf *now)
{
	const struct conf *a = next->setting, *b = now->setting;

	if (next->device == NULL && a == NULL)
		return true;
	if (next->device == NULL || now->device == NULL ? next->device != now->device
	                                                : strcmp(next->device, now->device) != 0)
		return false;
	return conf_equal(a, b);
}

/* Formats what the line wants, if that cannot change while packets flow; or "". */
static void refusal_of(const struct scenario *next, const struct scenario *now, const char *line,
                       char text[REFUSAL_BYTES])
{
	struct language_error ignored;
	struct words words;
	const char *name;
	int there, here;

	text[0] = '\0';
	if (words_split(line, &words, &ignored) != 0 || words.n < 2)
		return;
	name = words.word[1].text;
	if (strcmp(words.word[0].text, "seed") == 0 && next->seed != now->seed)
		snprintf(text, REFUSAL_BYTES, "seed %.20s (it runs with %" PRIu64 ")", name,
		         now->seed);
	if (strcmp(words.word[0].text, "port") != 0)
		return;
	there = scenario_find_port(next, name);
	here = scenario_find_port(now, name);
	if (here < 0)
		snprintf(text, REFUSAL_BYTES, "port %s (a new one)", name);
	else if (there >= 0 && !port_is(&next->ports[there], &now->ports[here]))
		snprintf(text, REFUSAL_BYTES, "port %s (differs from the running one)", name);
}

#define MESSAGE_ADD(error, ...) text_add((error)->message, sizeof((error)->message), __VA_ARGS__)

/* Lists what prevents the batch from being the successor; of much, the first. Returns how much that
 * is. */
static int list_refusals(const struct batch *batch, const struct scenario *now,
                         struct answer_error *error)
{
	const struct scenario *next = batch->draft;
	char text[REFUSAL_BYTES];
	int n = 0;

	answer_error_set(error, "scenario", "refused", "while packets flow this cannot change: ");
	for (struct batch_line line = {0}; batch_line_next(batch, &line);) {
		refusal_of(next, now, line.text, text);
		if (text[0] != '\0' && n++ < REFUSALS_LISTED)
			MESSAGE_ADD(error, "line %u, %s; ", line.number, text);
	}
	for (uint32_t i = 0; i < now->n_ports; i++)
		if (scenario_find_port(next, now->ports[i].name) < 0 && n++ < REFUSALS_LISTED)
			MESSAGE_ADD(error, "port %s, which is in use, has no line; ",
			            now->ports[i].name);
	if (n > REFUSALS_LISTED)
		MESSAGE_ADD(error, "and %d more; ", n - REFUSALS_LISTED);
	MESSAGE_ADD(error, "nothing is changed: leave these as they run, or restart weir with the "
	                   "file");
	return n;
}

int batch_succeed(struct batch *batch, const struct scenario *now, struct answer_error *error)
{
	struct scenario *next = batch->draft, *running;
	struct port_conf ports[SCENARIO_PORTS_MAX];
	int result = 0;

	if (list_refusals(batch, now, error) > 0)
		return -EINVAL;
	running = scenario_make();
	for (uint32_t i = 0; running != NULL && result == 0 && i < now->n_ports; i++)
		result = scenario_add_port(running, now->ports[i].name, now->ports[i].device,
		                           now->ports[i].setting);
	if (running == NULL || result != 0) {
		scenario_free(running);
		return batch_no_memory(error);
	}
	/* The ports agree but for their order, and what the lines leave open. */
	memcpy(ports, next->ports, sizeof(ports));
	memcpy(next->ports, running->ports, sizeof(ports));
	memcpy(running->ports, ports, sizeof(ports));
	scenario_free(running);
	next->seed = now->seed;
	next->seed_given = now->seed_given;
	return 0;
}

/* Executes the next line of the file, which it copies into `line`. Returns 0, or -errno with
 * error. */
static int batch_take_line(struct batch *batch, const struct file_line *at,
                           char line[LINE_BYTES_MAX + 2], struct answer_error *error)
{
	struct language_error wrong = {.column = 0};
	struct command command;
	int result;

	batch->lines = (uint32_t)at->number;
	if (at->bytes > LINE_BYTES_MAX || memchr(at->text, 0, at->bytes) != NULL) {
		answer_error_set(error, "line", ERROR_TOO_LONG,
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

int batch_of_file(struct batch *batch, const char *path, struct answer_error *error)
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
		answer_error_set(error, "file", wrong.name, "%s", wrong.text);
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

/* Finds the last line that made what is at the place; if there is none, that made its cloud. */
static void find_place(const struct batch *batch, const struct scenario_place *place,
                       struct answer_error *error)
{
	struct scenario_place cloud = *place;

	cloud.statement = NULL;
	for (struct batch_line line = {0}; batch_line_next(batch, &line);) {
		struct language_error ignored;
		struct command command;
		uint32_t column;

		if (language_parse(line.text, &command, &ignored) != 0)
			continue;
		column = scenario_place_column(place, &command);
		if (column == 0 && error->line == 0)
			column = scenario_place_column(&cloud, &command);
		if (column != 0) {
			error->column = column;
			error->line = line.number;
		}
		language_release(&command);
	}
}

static int batch_check(struct batch *batch, const struct scenario *before,
                       struct answer_error *error)
{
	struct scenario_place place = {.field = -1};
	struct problem problem;
	int result = scenario_check_at(batch->draft, before, &place, &problem), cloud;
	bool nowhere; /* the cloud leads from there */

	if (result == 0)
		return 0;
	cloud = place.cloud != NULL ? scenario_find_cloud(batch->draft, place.cloud) : -1;
	nowhere = cloud >= 0 && scenario_root(batch->draft, batch->draft->clouds[cloud]) == -ENOENT;
	answer_error_set(error, place.cloud != NULL ? place.cloud : "scenario",
	                 nowhere ? ERROR_UNKNOWN_PORT : ERROR_CONFLICT, "%s", problem.text);
	if (place.cloud != NULL)
		find_place(batch, &place, error);
	return result;
}

/* Bounds the files that clients may add: files stay in memory as long as a statement names them. */
static int batch_check_files(const struct batch *batch, const struct scenario *before,
                             struct answer_error *error)
{
	uint64_t bytes = budget_files(batch->draft);

	if (bytes <= BATCH_FILES_BYTES_MAX || bytes <= budget_files(before))
		return 0;
	answer_error_set(
	        error, "scenario", ERROR_FULL,
	        "the files that the statements name would have %" PRIu64
	        " MiB in total; at most %" PRIu64
	        " MiB are allowed; remove those not needed any more, or load them with the "
	        "scenario at the start",
	        bytes >> 20, BATCH_FILES_BYTES_MAX >> 20);
	return -ENOSPC;
}

int batch_prepare(struct batch *batch, struct control *control, struct transaction **transaction,
                  struct answer_error *error)
{
	struct problem problem = {.field = -1};
	char name[64];
	int result = 0;
	struct language_error ignored;
	struct words words;

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
	/* The emulator refuses what all lines concern, if that is one cloud or port; else the
	 * scenario. */
	name[0] = '\0';
	for (struct batch_line line = {0}; batch_line_next(batch, &line);) {
		const char *concerned;

		if (words_split(line.text, &words, &ignored) != 0)
			continue;
		concerned = words_concerned(&words, UINT32_MAX);
		if (concerned == NULL || (name[0] != '\0' && strcmp(name, concerned) != 0)) {
			name[0] = '\0';
			break;
		}
		snprintf(name, 64, "%s", concerned);
	}
	if (name[0] == '\0')
		strcpy(name, "scenario");
	answer_error_set(error, name, result == -ENOMEM ? ERROR_NO_MEMORY : "refused",
	                 "%s; nothing is changed",
	                 problem.text[0] != '\0' ? problem.text : strerror(-result));
	return result;
}
