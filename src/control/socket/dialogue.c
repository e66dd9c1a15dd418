/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "language/explain.h"
#include "text/blocking.h"
#include "language/language.h"
#include "language/scenario_file.h"
#include "text/alloc_failure.h"
#include "show/show.h"
#include "show/totals.h"
#include "socket/hello.h"
#include "socket/lease.h"
#include "socket/lease_words.h"
#include "socket/dialogue.h"
#include "socket/session.h"

void dialogue_release(struct dialogue *dialogue)
{
	pending_forget(dialogue);
	if (dialogue->in_batch)
		batch_abort(&dialogue->batch);
	dialogue->in_batch = false;
	subscription_end(&dialogue->subscription);
	if (dialogue->lease != 0)
		lease_let_go(dialogue->control->leases, dialogue->lease);
	client_files_clear(&dialogue->client_files);
	while (dialogue->n_descriptors > 0)
		close(dialogue->descriptors[--dialogue->n_descriptors]);
	probe_forget(dialogue->control, &dialogue->probe);
	capture_end(dialogue);
	output_release(&dialogue->output);
}

void dialogue_error(struct dialogue *dialogue, const char *name, const char *code,
                    const char *message)
{
	answer_error(&dialogue->output,
	             &(struct answer_error){.name = name, .code = code, .message = message});
}

void dialogue_batch_error(struct dialogue *dialogue, const struct batch_error *error)
{
	uint32_t line = dialogue->in_batch ? dialogue->batch.lines : error->line;

	answer_error(&dialogue->output, &(struct answer_error){.name = error->name,
	                                                       .code = error->code,
	                                                       .line = line,
	                                                       .column = error->column,
	                                                       .message = error->message});
	if (dialogue->in_batch && dialogue->batch.wrong_line == 0)
		dialogue->batch.wrong_line = dialogue->batch.lines;
}

void dialogue_language_error(struct dialogue *dialogue, const char *line,
                             const struct language_error *wrong)
{
	struct batch_error error;

	batch_error_language(&error, line, wrong);
	dialogue_batch_error(dialogue, &error);
}

/* ---- batches ---- */

static void dialogue_begin(struct dialogue *dialogue, bool whole)
{
	if (dialogue->in_batch) {
		dialogue_error(dialogue, "begin", ERROR_CONFLICT,
		               "a batch has begun already; commit or abort it first");
		return;
	}
	dialogue->lease_ns = 0;
	if (!whole) {
		pending_begin(dialogue);
		return;
	}
	dialogue->not_begun = batch_begin_whole(&dialogue->batch) != 0;
	dialogue->in_batch = !dialogue->not_begun;
	if (dialogue->in_batch)
		answer_ok(&dialogue->output);
	else
		dialogue_error(dialogue, "begin", ERROR_NO_MEMORY,
		               "no memory for another scenario; try later");
}

void dialogue_load(struct dialogue *dialogue, const char *path)
{
	pending_load(dialogue, path);
}

static void dialogue_commit(struct dialogue *dialogue)
{
	uint32_t wrong = dialogue->batch.wrong_line;

	dialogue->not_begun = false;
	if (!dialogue->in_batch) {
		dialogue_error(dialogue, "commit", ERROR_CONFLICT,
		               "no batch has begun; say begin first");
		return;
	}
	if (wrong != 0) {
		dialogue->in_batch = false;
		batch_abort(&dialogue->batch);
		answer_error(&dialogue->output,
		             &(struct answer_error){
		                     .name = "commit",
		                     .code = ERROR_CONFLICT,
		                     .line = wrong,
		                     .message = "this line was wrong, so the batch was not "
		                                "applied; correct it and begin again"});
		return;
	}
	pending_commit(dialogue);
}

static void dialogue_abort(struct dialogue *dialogue)
{
	dialogue->not_begun = false;
	if (!dialogue->in_batch) {
		dialogue_error(dialogue, "abort", ERROR_CONFLICT,
		               "no batch has begun; say begin first");
		return;
	}
	dialogue->in_batch = false;
	batch_abort(&dialogue->batch);
	answer_ok(&dialogue->output);
}

/* Returns the statements that a netem line has become, to be freed; NULL: no memory. */
static char *became(const struct command *command)
{
	const struct word *word = command->words.word;
	char *text = NULL;
	size_t n = 0;
	FILE *out = alloc_failure_stream(&text, &n);

	if (out == NULL)
		return NULL;
	netem_print(out, command->netem, word[0].text, word[1].text);
	alloc_failure_close(out);
	return text;
}

static void done_json(struct dialogue *dialogue, const struct dialogue_done *done,
                      const char *statements)
{
	json_t *object = json_pack("{s:b}", "ok", 1);

	if (object != NULL && done->late != NULL)
		json_object_set_new(object, "late", json_string(done->late));
	if (object != NULL && done->was != NULL)
		json_object_set_new(object, "was", answer_string(done->was, strlen(done->was) - 1));
	if (object != NULL && statements != NULL)
		json_object_set_new(object, "became",
		                    answer_string(statements, strlen(statements)));
	answer_object(&dialogue->output, object);
}

/* In text, each of these is lines before the `ok`. Beside the statements of a netem line, which may
 * become a file, the rest is comments. */
static void done_text(struct dialogue *dialogue, const struct dialogue_done *done,
                      const char *statements)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = alloc_failure_stream(&text, &n);

	if (out != NULL) {
		if (done->late != NULL)
			fprintf(out, "%s\n", done->late);
		for (const char *line = done->was; line != NULL && *line != '\0';
		     line = strchr(line, '\n') + 1)
			fprintf(out, "%s" SESSION_WAS "%.*s\n", statements != NULL ? "# " : "",
			        (int)strcspn(line, "\n"), line);
		fputs(statements != NULL ? statements : "", out);
		alloc_failure_close(out);
	}
	answer_text(&dialogue->output, "", text != NULL ? text : "", n);
	free(text);
}

void dialogue_done(struct dialogue *dialogue, const struct dialogue_done *done)
{
	bool netem = done->command != NULL && done->command->kind == COMMAND_NETEM;
	char *statements = netem ? became(done->command) : NULL;
	struct dialogue_done said = *done;

	if (said.was != NULL && said.was[0] == '\0')
		said.was = NULL;
	if (said.late == NULL && said.was == NULL && statements == NULL)
		answer_ok(&dialogue->output);
	else if (dialogue->output.json)
		done_json(dialogue, &said, statements);
	else
		done_text(dialogue, &said, statements);
	free(statements);
}

/* ---- questions ---- */

static void dialogue_help(struct dialogue *dialogue, const char *line,
                          const struct command *command)
{
	struct language_error wrong;
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	int result = -ENOMEM;

	if (out != NULL) {
		result = explain(out, &command->words, 1, &wrong);
		if (result == 0 && command->words.n == 1)
			show_session_help(out);
		alloc_failure_close(out);
	}
	if (out == NULL)
		dialogue_error(dialogue, "help", ERROR_NO_MEMORY, "no memory for the answer");
	else if (result != 0)
		dialogue_language_error(dialogue, line, &wrong);
	else
		answer_text(&dialogue->output, "help", text, n);
	free(text);
}

static void dialogue_show_cloud(struct dialogue *dialogue, const char *line,
                                const struct command *command)
{
	const struct scenario *scenario = *dialogue->control->scenario;
	struct language_error wrong = {.column = 0};
	enum show_what what = SHOW_CLOUD;
	int index;

	if (command->words.n < 3) {
		pending_show(dialogue, line, command, SHOW_CLOUDS, 0);
		return;
	}
	index = scenario_find_cloud(scenario, command->words.word[2].text);
	if (index < 0) {
		language_unknown_cloud(scenario, &command->words.word[2], &wrong);
		dialogue_language_error(dialogue, line, &wrong);
		return;
	}
	if (command->kind == COMMAND_SHOW_PATH)
		what = SHOW_PATH;
	else if (command->words.n > 3 && strcmp(command->words.word[3].text, "all") == 0)
		what = SHOW_CLOUD_ALL;
	pending_show(dialogue, line, command, what, (uint32_t)index);
}

static void dialogue_clear(struct dialogue *dialogue, const char *line,
                           const struct command *command)
{
	struct language_error wrong = {.column = command->words.word[0].column};

	if (!dialogue->in_batch) {
		pending_clear(dialogue);
		return;
	}
	language_error_set(&wrong, ERROR_NOT_HERE,
	                   "`clear counters` takes effect at once, so it cannot be part of a "
	                   "batch; commit or abort it first");
	dialogue_language_error(dialogue, line, &wrong);
}

static void dialogue_show_totals(struct dialogue *dialogue, const char *line,
                                 const struct command *command)
{
	struct language_error wrong = {.column = command->words.word[2].column};

	if (command->number <= TOTALS_CLOUDS_MOST) {
		pending_show(dialogue, line, command, SHOW_TOTALS, (uint32_t)command->number);
		return;
	}
	language_error_set(&wrong, ERROR_BAD_VALUE,
	                   "at most %d clouds; `rest` has the others' sums", TOTALS_CLOUDS_MOST);
	dialogue_language_error(dialogue, line, &wrong);
}

bool dialogue_pending(const struct dialogue *dialogue)
{
	return pending_is_on(&dialogue->pending) || dialogue->probe.active || dialogue->reverting ||
	       dialogue->capture.waits;
}

/* Releases the files that were handed over, unless a later line may use them: a file serves one
 * line, or all lines of a batch. */
static void dialogue_answered(struct dialogue *dialogue)
{
	if (!dialogue_pending(dialogue) && !dialogue->in_batch && !dialogue->hands_over)
		client_files_clear(&dialogue->client_files);
}

void dialogue_no_answer(struct dialogue *dialogue)
{
	dialogue_error(dialogue, "answer", ERROR_NO_MEMORY,
	               "no memory for the answer; `show config` says what is in force");
}

/* Retracts an answer that is incomplete for lack of memory. If the answer is still to come, nothing
 * is retracted: whatever lacked memory until then (an event) reports that itself. */
static void dialogue_whole(struct dialogue *dialogue, size_t before)
{
	if (!alloc_failure_taken() || (dialogue_pending(dialogue) && dialogue->output.n == before))
		return;
	output_shorten(&dialogue->output, before);
	dialogue_no_answer(dialogue);
}

void dialogue_poll(struct dialogue *dialogue)
{
	size_t before = dialogue->output.n;

	control_tick(dialogue->control, dialogue->now_ns);
	subscription_poll(&dialogue->subscription, dialogue->control, dialogue->now_ns);
	if (!dialogue_pending(dialogue))
		return;
	alloc_failure_taken();
	pending_poll(dialogue);
	if (dialogue->reverting)
		lease_words_poll(dialogue);
	capture_poll(dialogue);
	if (dialogue->probe.active)
		probe_answer(dialogue->control, &dialogue->probe, &dialogue->output);
	dialogue_whole(dialogue, before);
	dialogue_answered(dialogue);
}

/* Takes ownership of `command`. */
static void dialogue_edit(struct dialogue *dialogue, const char *line, struct command *command)
{
	struct batch_error error;

	if (!dialogue->in_batch) {
		pending_edit(dialogue, line, command);
		return;
	}
	if (batch_edit(&dialogue->batch, line, command, SESSION_BATCH_MAX, &error) != 0)
		dialogue_batch_error(dialogue, &error);
	else
		dialogue_done(dialogue, &(struct dialogue_done){.command = command});
	language_release(command);
}

/* Takes ownership of `command`. */
static void dialogue_command(struct dialogue *dialogue, const char *line, struct command *command)
{
	switch (command->kind) {
	case COMMAND_NOTHING:
		answer_ok(&dialogue->output);
		break;
	case COMMAND_SHOW_CLOUD:
	case COMMAND_SHOW_PATH:
		dialogue_show_cloud(dialogue, line, command);
		break;
	case COMMAND_PROBE:
		pending_probe(dialogue, line, command);
		break;
	case COMMAND_SHOW_CONFIG:
		pending_show(dialogue, line, command, SHOW_CONFIG, 0);
		break;
	case COMMAND_SHOW_PORTS:
		pending_show(dialogue, line, command, SHOW_PORTS, 0);
		break;
	case COMMAND_SHOW_WORKERS:
		pending_show(dialogue, line, command, SHOW_WORKERS, 0);
		break;
	case COMMAND_SHOW_TOTALS:
		dialogue_show_totals(dialogue, line, command);
		break;
	case COMMAND_CLEAR_COUNTERS:
		dialogue_clear(dialogue, line, command);
		break;
	case COMMAND_HELP:
		dialogue_help(dialogue, line, command);
		break;
	default:
		dialogue_edit(dialogue, line, command);
		return;
	}
	language_release(command);
}

/* ---- commands to the session, not to the emulator ---- */

static bool words_are(const struct words *words, const char *first, const char *second)
{
	return words->n == (second != NULL ? 2u : 1u) && !words->word[0].quoted &&
	       strcmp(words->word[0].text, first) == 0 &&
	       (second == NULL || strcmp(words->word[1].text, second) == 0);
}

int dialogue_descriptor_take(struct dialogue *dialogue)
{
	int fd = dialogue->n_descriptors > 0 ? dialogue->descriptors[0] : -1;

	if (fd >= 0) {
		dialogue->n_descriptors--;
		memmove(dialogue->descriptors, dialogue->descriptors + 1,
		        dialogue->n_descriptors * sizeof(int));
	}
	return fd;
}

void dialogue_descriptor(struct dialogue *dialogue, int fd)
{
	if (dialogue->n_descriptors == DIALOGUE_DESCRIPTORS)
		close(fd);
	else
		dialogue->descriptors[dialogue->n_descriptors++] = fd;
}

/* Executes a command to the session. Returns false if the line is none. */
static bool dialogue_own(struct dialogue *dialogue, const char *line, const struct words *words)
{
	if (lease_words(dialogue, words)) {
		/* lease_words has answered, or will */
	} else if (words_are(words, "hello", NULL)) {
		hello_answer(&dialogue->output, dialogue->control, dialogue->read_only);
	} else if (words->n > 0 && !words->word[0].quoted &&
	           strcmp(words->word[0].text, "events") == 0) {
		subscription_events(&dialogue->subscription, dialogue->control, words,
		                    &dialogue->output);
	} else if (words->n > 1 && !words->word[0].quoted &&
	           strcmp(words->word[0].text, "sample") == 0) {
		subscription_sample(&dialogue->subscription, words, &dialogue->output,
		                    dialogue->now_ns);
	} else if (words->n > 0 && !words->word[0].quoted &&
	           strcmp(words->word[0].text, "capture") == 0) {
		capture_line(dialogue, line, words);
	} else if ((words->n == 2 || words->n == 3) && !words->word[0].quoted &&
	           strcmp(words->word[0].text, "flight") == 0 &&
	           strcmp(words->word[1].text, "dump") == 0) {
		pending_flight(dialogue, words->n == 3 ? words->word[2].text : NULL);
	} else if (words_are(words, "begin", NULL) || words_are(words, "begin", "whole")) {
		dialogue_begin(dialogue, words->n > 1);
	} else if (words_are(words, "commit", NULL)) {
		dialogue_commit(dialogue);
	} else if (words_are(words, "abort", NULL)) {
		dialogue_abort(dialogue);
	} else if (words_are(words, "json", "on") || words_are(words, "json", "off")) {
		dialogue->output.json = words_are(words, "json", "on");
		answer_ok(&dialogue->output);
	} else if (words_are(words, "quit", NULL) || words_are(words, "exit", NULL)) {
		answer_ok(&dialogue->output);
		dialogue->over = true;
	} else if (words->n == 2 && !words->word[0].quoted &&
	           strcmp(words->word[0].text, "file") == 0) {
		dialogue->hands_over = true;
		pending_file(dialogue, words->word[1].text, dialogue_descriptor_take(dialogue));
	} else {
		return false;
	}
	return true;
}

/* Parses the line here if that does not block, and otherwise as a pending line. */
static void dialogue_foreign(struct dialogue *dialogue, const char *line)
{
	struct language_error wrong = {.column = 0};
	struct command command;
	int result;

	dialogue->batch.lines += dialogue->in_batch;
	blocking_allow(false);
	result = language_parse(line, &command, &wrong);
	blocking_allow(true);
	if (result == 0)
		dialogue_command(dialogue, line, &command);
	else if (strcmp(wrong.name, ERROR_WOULD_BLOCK) == 0)
		pending_edit(dialogue, line, NULL);
	else
		dialogue_language_error(dialogue, line, &wrong);
}

/* On a read-only socket, refuses all commands but those that change nothing, before they are
 * parsed. Returns true if the line is refused. */
static bool dialogue_refuses(struct dialogue *dialogue, const struct words *words)
{
	static const char *const looks[] = {"show", "help", "hello", "events", "sample",
	                                    "json", "quit", "exit",  "capture"};

	if (!dialogue->read_only || words->n == 0)
		return false;
	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++)
		if (!words->word[0].quoted && strcmp(words->word[0].text, looks[i]) == 0)
			return false;
	dialogue_error(dialogue, word_is_name(words->word[0].text) ? words->word[0].text : "line",
	               "read-only",
	               "this socket is read-only: it takes show, help, hello, events, sample and "
	               "capture; send changes to the control socket of this weir");
	return true;
}

void dialogue_line(struct dialogue *dialogue, const char *line)
{
	size_t before = dialogue->output.n;
	struct language_error wrong = {.column = 0};
	struct words words;

	dialogue->hands_over = false;
	alloc_failure_taken();
	if (words_split(line, &words, &wrong) != 0 ||
	    (!dialogue_refuses(dialogue, &words) && !dialogue_own(dialogue, line, &words)))
		dialogue_foreign(dialogue, line);
	dialogue_whole(dialogue, before);
	dialogue_answered(dialogue);
}

void dialogue_bad_line(struct dialogue *dialogue, const char *code, const char *message)
{
	struct batch_error error = {.name = "line", .code = code};

	snprintf(error.message, sizeof(error.message), "%s", message);
	dialogue->batch.lines += dialogue->in_batch;
	dialogue_batch_error(dialogue, &error);
}
