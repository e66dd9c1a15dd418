/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dialogue.h"
#include "explain.h"
#include "language.h"
#include "scenario_file.h"
#include "session.h"
#include "show.h"

void dialogue_release(struct dialogue *dialogue)
{
	if (dialogue->in_batch)
		batch_abort(&dialogue->batch);
	dialogue->in_batch = false;
	probe_forget(dialogue->control, &dialogue->probe);
	output_release(&dialogue->output);
}

static void dialogue_error(struct dialogue *dialogue, const char *name, const char *code,
                           const char *message)
{
	answer_error(&dialogue->output,
	             &(struct answer_error){.name = name, .code = code, .message = message});
}

static void dialogue_batch_error(struct dialogue *dialogue, const struct batch_error *error)
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

static void dialogue_language_error(struct dialogue *dialogue, const char *line,
                                    const struct language_error *wrong)
{
	struct batch_error error;

	batch_error_language(&error, line, wrong);
	dialogue_batch_error(dialogue, &error);
}

/* ---- batches ---- */

static void dialogue_begin(struct dialogue *dialogue)
{
	if (dialogue->in_batch) {
		dialogue_error(dialogue, "begin", ERROR_CONFLICT,
		               "a batch has begun already; commit or abort it first");
		return;
	}
	if (batch_begin(&dialogue->batch, dialogue->control) != 0) {
		dialogue_error(dialogue, "begin", ERROR_NO_MEMORY,
		               "no memory for a copy of the scenario; try a smaller one");
		return;
	}
	dialogue->in_batch = true;
	answer_ok(&dialogue->output);
}

static void dialogue_commit(struct dialogue *dialogue)
{
	struct batch_error error;
	uint32_t wrong = dialogue->batch.wrong_line;

	if (!dialogue->in_batch) {
		dialogue_error(dialogue, "commit", ERROR_CONFLICT,
		               "no batch has begun; say begin first");
		return;
	}
	dialogue->in_batch = false;
	if (wrong != 0) {
		batch_abort(&dialogue->batch);
		answer_error(&dialogue->output,
		             &(struct answer_error){.name = "commit",
		                                    .code = ERROR_CONFLICT,
		                                    .line = wrong,
		                                    .message =
		                                            "was wrong, so nothing of the batch is "
		                                            "done; mend it and begin again"});
		return;
	}
	if (batch_commit(&dialogue->batch, dialogue->control, &error) != 0)
		dialogue_batch_error(dialogue, &error);
	else
		answer_ok(&dialogue->output);
}

static void dialogue_abort(struct dialogue *dialogue)
{
	if (!dialogue->in_batch) {
		dialogue_error(dialogue, "abort", ERROR_CONFLICT,
		               "no batch has begun; say begin first");
		return;
	}
	dialogue->in_batch = false;
	batch_abort(&dialogue->batch);
	answer_ok(&dialogue->output);
}

/* A line of netem's: the statements that it has become. */
static void dialogue_became(struct dialogue *dialogue, const struct command *command)
{
	const struct word *word = command->words.word;
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	if (out != NULL) {
		netem_print(out, command->netem, word[0].text, word[1].text);
		fclose(out);
	}
	answer_text(&dialogue->output, "became", text != NULL ? text : "", n);
	free(text);
}

static void dialogue_edit(struct dialogue *dialogue, const char *line,
                          const struct command *command)
{
	struct batch_error error;
	struct batch single;
	int result;

	if (dialogue->in_batch) {
		result = batch_edit(&dialogue->batch, line, command, SESSION_BATCH_MAX, &error);
	} else {
		result = batch_begin(&single, dialogue->control);
		if (result != 0) {
			dialogue_error(dialogue, "scenario", ERROR_NO_MEMORY,
			               "no memory for a copy of the scenario; nothing is changed");
			return;
		}
		result = batch_edit(&single, line, command, SESSION_BATCH_MAX, &error);
		if (result == 0)
			result = batch_commit(&single, dialogue->control, &error);
		else
			batch_abort(&single);
		error.line = 0; /* it is the only one */
	}
	if (result != 0)
		dialogue_batch_error(dialogue, &error);
	else if (command->kind == COMMAND_NETEM)
		dialogue_became(dialogue, command);
	else
		answer_ok(&dialogue->output);
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
		fclose(out);
	}
	if (out == NULL)
		dialogue_error(dialogue, "help", ERROR_NO_MEMORY, "no memory for the answer");
	else if (result != 0)
		dialogue_language_error(dialogue, line, &wrong);
	else
		answer_text(&dialogue->output, "help", text, n);
	free(text);
}

/* show clouds NAME ADDRESS */
static void dialogue_show_one(struct dialogue *dialogue, const char *line,
                              const struct command *command, uint32_t index)
{
	const struct cloud_conf *cloud = (*dialogue->control->scenario)->clouds[index];
	const struct word *address = &command->words.word[3];
	struct language_error wrong = {.column = address->column};

	if (cloud->many &&
	    show_answer_one(&dialogue->output, dialogue->control, index, address->text))
		return;
	if (cloud->many)
		language_error_set(&wrong, ERROR_UNKNOWN_WORD,
		                   "`%s` has no cloud `%.80s`: no packet of it came yet, or it is "
		                   "none of those that the template is for",
		                   cloud->name, address->text);
	else
		language_error_set(&wrong, ERROR_UNKNOWN_WORD,
		                   "`%s` is one cloud, and not one an address: leave `%.80s` out",
		                   cloud->name, address->text);
	dialogue_language_error(dialogue, line, &wrong);
}

static void dialogue_show_cloud(struct dialogue *dialogue, const char *line,
                                const struct command *command)
{
	const struct scenario *scenario = *dialogue->control->scenario;
	struct language_error wrong = {.column = 0};
	int index;

	if (command->words.n < 3) {
		show_answer(&dialogue->output, dialogue->control, SHOW_CLOUDS, 0);
		return;
	}
	index = scenario_find_cloud(scenario, command->words.word[2].text);
	if (index < 0) {
		language_unknown_cloud(scenario, &command->words.word[2], &wrong);
		dialogue_language_error(dialogue, line, &wrong);
		return;
	}
	if (command->words.n > 3) {
		dialogue_show_one(dialogue, line, command, (uint32_t)index);
		return;
	}
	show_answer(&dialogue->output, dialogue->control,
	            command->kind == COMMAND_SHOW_PATH ? SHOW_PATH : SHOW_CLOUD, (uint32_t)index);
}

void dialogue_poll(struct dialogue *dialogue)
{
	if (dialogue->probe.active)
		probe_answer(dialogue->control, &dialogue->probe, &dialogue->output);
}

static void dialogue_probe(struct dialogue *dialogue, const char *line,
                           const struct command *command)
{
	struct language_error wrong = {.column = 0};

	if (probe_begin(dialogue->control, &command->words, &dialogue->probe, &wrong) != 0)
		dialogue_language_error(dialogue, line, &wrong);
	dialogue_poll(dialogue);
}

static void dialogue_clear(struct dialogue *dialogue)
{
	if (control_clear(dialogue->control) != 0)
		dialogue_error(
		        dialogue, "counters", "refused",
		        "the workers did not clear them; they may be stalled: see show workers");
	else
		answer_ok(&dialogue->output);
}

static void dialogue_command(struct dialogue *dialogue, const char *line,
                             const struct command *command)
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
		dialogue_probe(dialogue, line, command);
		break;
	case COMMAND_SHOW_CONFIG:
		show_answer(&dialogue->output, dialogue->control, SHOW_CONFIG, 0);
		break;
	case COMMAND_SHOW_PORTS:
		show_answer(&dialogue->output, dialogue->control, SHOW_PORTS, 0);
		break;
	case COMMAND_SHOW_WORKERS:
		show_answer(&dialogue->output, dialogue->control, SHOW_WORKERS, 0);
		break;
	case COMMAND_CLEAR_COUNTERS:
		dialogue_clear(dialogue);
		break;
	case COMMAND_HELP:
		dialogue_help(dialogue, line, command);
		break;
	default:
		dialogue_edit(dialogue, line, command);
	}
}

/* ---- what is said to the session itself, not to the emulator ---- */

static bool words_are(const struct words *words, const char *first, const char *second)
{
	return words->n == (second != NULL ? 2u : 1u) && !words->word[0].quoted &&
	       strcmp(words->word[0].text, first) == 0 &&
	       (second == NULL || strcmp(words->word[1].text, second) == 0);
}

/* Whether it was such a word, and is done. */
static bool dialogue_own(struct dialogue *dialogue, const struct words *words)
{
	if (words_are(words, "begin", NULL)) {
		dialogue_begin(dialogue);
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
	} else {
		return false;
	}
	return true;
}

void dialogue_line(struct dialogue *dialogue, const char *line)
{
	struct language_error wrong = {.column = 0};
	struct command command;
	struct words words;

	if (words_split(line, &words, &wrong) == 0 && dialogue_own(dialogue, &words))
		return;
	dialogue->batch.lines += dialogue->in_batch;
	if (language_parse(line, &command, &wrong) != 0) {
		dialogue_language_error(dialogue, line, &wrong);
		return;
	}
	dialogue_command(dialogue, line, &command);
	language_release(&command);
}

void dialogue_bad_line(struct dialogue *dialogue, const char *code, const char *message)
{
	struct batch_error error = {.name = "line", .code = code};

	snprintf(error.message, sizeof(error.message), "%s", message);
	dialogue->batch.lines += dialogue->in_batch;
	dialogue_batch_error(dialogue, &error);
}
