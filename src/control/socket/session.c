/* SPDX-License-Identifier: BSD-3-Clause */
#include "socket/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "socket/session_state.h"
#include "text/alloc_failure.h"
#include "text/language_error.h"

/* ---- errors ---- */

void session_error(struct session *session, const char *name, const char *code, const char *message)
{
	answer_error(&session->output,
	             &(struct answer_error){.name = name, .code = code, .message = message});
}

void session_batch_error(struct session *session, const struct batch_error *error)
{
	uint32_t line = session->in_batch ? session->batch.lines : error->line;

	answer_error(&session->output, &(struct answer_error){.name = error->name,
	                                                      .code = error->code,
	                                                      .line = line,
	                                                      .column = error->column,
	                                                      .message = error->message});
	if (session->in_batch && session->batch.wrong_line == 0)
		session->batch.wrong_line = session->batch.lines;
}

void session_language_error(struct session *session, const char *line,
                            const struct language_error *wrong)
{
	struct batch_error error;

	batch_error_language(&error, line, wrong);
	session_batch_error(session, &error);
}

/* Answers an error to a line that could not be taken. The line counts in a batch. */
static void bad_line(struct session *session, const char *code, const char *message)
{
	struct batch_error error = {.name = "line", .code = code};

	snprintf(error.message, sizeof(error.message), "%s", message);
	session->batch.lines += session->in_batch;
	session_batch_error(session, &error);
}

/* ---- whoever waits for a line ---- */

static bool waits(void *argument)
{
	struct session *session = argument;
	bool lacks = alloc_failure_taken(), waits = true;

	__atomic_add_fetch(&session->progress, 1, __ATOMIC_RELAXED);
	if (session->outer.waits != NULL)
		waits = session->outer.waits(session->outer.argument);
	alloc_failure_restore(lacks); /* what is pushed meanwhile is no part of the answer */
	session->answer_at = session->output.n;
	return waits;
}

void session_line_note(struct session *session, bool flight)
{
	uint64_t now = (session->output.json ? SESSION_LINE_JSON : 0) |
	               (flight ? SESSION_LINE_FLIGHT : 0) |
	               (uint64_t)(session->in_batch ? session->batch.lines : 0)
	                       << SESSION_LINE_NUMBER;

	__atomic_store_n(&session->line_now, now, __ATOMIC_RELAXED);
}

uint64_t session_progress(const struct session *session)
{
	return __atomic_load_n(&session->progress, __ATOMIC_RELAXED);
}

void session_give_up(const struct session *session, const char *name, const char *why,
                     struct output *output)
{
	uint64_t line = __atomic_load_n(&session->line_now, __ATOMIC_RELAXED);
	struct answer_error error = {.name = name, .code = "dismissed", .message = why};

	if (name == NULL && line & SESSION_LINE_FLIGHT)
		error = (struct answer_error){
		        .name = "flight",
		        .code = ERROR_CONFLICT,
		        .message = "the dump takes longer than 20 s and continues; the folder is "
		                   "complete when it contains recording.json"};
	else if (name == NULL)
		error = (struct answer_error){
		        .name = "line",
		        .code = "refused",
		        .line = (uint32_t)(line >> SESSION_LINE_NUMBER),
		        .message = "this takes longer than 20 s and was given up; nothing is "
		                   "changed; split it into smaller steps"};
	output->json = line & SESSION_LINE_JSON;
	answer_error(output, &error);
}

/* ---- lines ---- */

/* Executes a line of the language. */
static void language_line(struct session *session, const char *line)
{
	struct language_error wrong = {.column = 0};
	struct command command;
	int result;

	session->batch.lines += session->in_batch;
	session_line_note(session, false);
	client_files_use(&session->client_files);
	result = language_parse(line, &command, &wrong);
	client_files_use(NULL);
	if (result != 0) {
		session_language_error(session, line, &wrong);
		return;
	}
	switch (command.kind) {
	case COMMAND_NOTHING:
		answer_ok(&session->output);
		break;
	case COMMAND_SHOW_CLOUD:
	case COMMAND_SHOW_PATH:
	case COMMAND_SHOW_CONFIG:
	case COMMAND_SHOW_PORTS:
	case COMMAND_SHOW_WORKERS:
	case COMMAND_SHOW_TOTALS:
		session_show(session, line, &command);
		break;
	case COMMAND_PROBE:
		session_probe(session, line, &command);
		break;
	case COMMAND_CLEAR_COUNTERS:
		session_clear(session, line, &command);
		break;
	case COMMAND_HELP:
		session_help(session, line, &command);
		break;
	default:
		session_edit(session, line, &command);
	}
	language_release(&command);
}

/* Executes a command to the session, not to the emulator. Returns false if the line is none. */
static bool own_line(struct session *session, const char *line, const struct words *words)
{
	if (session_change_words(session, words) || session_look_words(session, line, words) ||
	    session_push_words(session, words))
		return true;
	if (words->n == 2 && words_is(words, 0, "json") &&
	    (words_is(words, 1, "on") || words_is(words, 1, "off"))) {
		session->output.json = words_is(words, 1, "on");
		answer_ok(&session->output);
	} else if (words->n == 1 && (words_is(words, 0, "quit") || words_is(words, 0, "exit"))) {
		answer_ok(&session->output);
		session->over = true;
	} else {
		return false;
	}
	return true;
}

/* On a read-only socket, refuses all commands but those that change nothing, before they are
 * parsed. Returns true if the line is refused. */
static bool refuses(struct session *session, const struct words *words)
{
	static const char *const looks[] = {"show", "help", "hello", "events", "sample",
	                                    "json", "quit", "exit",  "capture"};

	if (!session->read_only || words->n == 0)
		return false;
	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++)
		if (words_is(words, 0, looks[i]))
			return false;
	session_error(session, word_is_name(words->word[0].text) ? words->word[0].text : "line",
	              "read-only",
	              "this socket is read-only: it takes show, help, hello, events, sample and "
	              "capture; send changes to the control socket of this weir");
	return true;
}

static void execute(struct session *session, const char *line)
{
	struct language_error wrong = {.column = 0};
	struct words words;

	__atomic_add_fetch(&session->progress, 1, __ATOMIC_RELAXED);
	session_line_note(session, false);
	session->answer_at = session->output.n;
	session->hands_over = false;
	alloc_failure_taken();
	if (words_split(line, &words, &wrong) != 0 ||
	    (!refuses(session, &words) && !own_line(session, line, &words)))
		language_line(session, line);
	/* An answer that is incomplete for lack of memory is retracted. */
	if (alloc_failure_taken()) {
		session->output.n = session->answer_at;
		session_error(session, "answer", ERROR_NO_MEMORY,
		              "no memory for the answer; `show config` says what is in force");
	}
	/* A file that was handed over serves one line, or all lines of a batch. */
	if (!session->in_batch && !session->hands_over)
		client_files_clear(&session->client_files);
	session->over |= session->output.failed;
	if (session->in_batch)
		return;
	/* The answer first; what a change has replaced may take long to free. */
	session->over |= !waits(session);
	control_lock(session->control);
	session->over |= session->control->ends;
	if (!session->control->ends)
		control_settle(session->control);
	control_unlock(session->control);
}

/* ---- bytes ---- */

#define TOO_LONG "longer than 65536 bytes, skipped up to its end; send one command per line"
_Static_assert(SESSION_LINE_MAX == 65536, "TOO_LONG says so");

/* Executes the line, which is complete. */
static void line_end(struct session *session)
{
	size_t n = session->line_n;

	session->line_n = 0;
	if (n > 0 && session->line[n - 1] == '\r')
		n--;
	session->line[n] = '\0';
	if (n > SESSION_LINE_MAX)
		bad_line(session, ERROR_TOO_LONG, TOO_LONG);
	else if (memchr(session->line, '\0', n) != NULL)
		bad_line(session, ERROR_BAD_CHARACTER,
		         "not a line of text: it contains a zero byte; send UTF-8 text");
	else
		execute(session, session->line);
}

/* Takes bytes up to and including the first line end. Returns how many. */
static size_t take(struct session *session, const char *bytes, size_t n)
{
	const char *end = memchr(bytes, '\n', n);
	size_t length = end != NULL ? (size_t)(end - bytes) : n;
	size_t room = SESSION_LINE_MAX + 1 - session->line_n;

	if (!session->skipping && length > room) {
		session->skipping = true;
		session->line_n = 0;
		bad_line(session, ERROR_TOO_LONG, TOO_LONG);
	}
	if (!session->skipping) {
		memcpy(session->line + session->line_n, bytes, length);
		session->line_n += length;
	}
	if (end == NULL)
		return n;
	if (!session->skipping)
		line_end(session);
	session->skipping = false;
	return length + 1;
}

size_t session_feed(struct session *session, const void *bytes, size_t n)
{
	size_t taken = 0;

	while (taken < n && session_ready(session)) {
		taken += take(session, (const char *)bytes + taken, n - taken);
		session->over |= session->output.failed;
	}
	return taken;
}

bool session_ready(const struct session *session)
{
	return !session->over && session->output.n < SESSION_OUTPUT_MAX;
}

void session_end(struct session *session)
{
	if (!session->over && session->line_n > 0)
		bad_line(session, "unfinished",
		         "not ended by a newline, so not executed: it may be cut off; end it with "
		         "one");
	session->over = true;
}

void session_descriptor(struct session *session, int fd)
{
	if (session->n_descriptors == SESSION_DESCRIPTORS)
		close(fd);
	else
		session->descriptors[session->n_descriptors++] = fd;
}

int session_descriptor_take(struct session *session)
{
	int fd = session->n_descriptors > 0 ? session->descriptors[0] : -1;

	if (fd >= 0) {
		session->n_descriptors--;
		memmove(session->descriptors, session->descriptors + 1,
		        session->n_descriptors * sizeof(int));
	}
	return fd;
}

const char *session_output(const struct session *session, size_t *n)
{
	*n = session->output.n;
	return *n > 0 ? session->output.bytes + session->output.head : "";
}

void session_taken(struct session *session, size_t n)
{
	output_taken(&session->output, n);
}

/* ---- beginning and end ---- */

struct session *session_make(struct control *control)
{
	struct session *session = calloc(1, sizeof(*session));

	if (session == NULL)
		return NULL;
	session->control = control;
	session->asker = (struct asker){waits, session};
	session->client_files.asker = &session->asker;
	session->wake = -1;
	return session;
}

void session_free(struct session *session)
{
	if (session == NULL)
		return;
	session_change_end(session);
	session_capture_end(session);
	session_push_end(session);
	client_files_clear(&session->client_files);
	while (session->n_descriptors > 0)
		close(session->descriptors[--session->n_descriptors]);
	output_release(&session->output);
	free(session);
}

void session_introduce(struct session *session, const struct peer *who, bool read_only,
                       bool trusted)
{
	session->who = *who;
	session->read_only = read_only;
	session->client_files.may_open = trusted;
}

void session_attend(struct session *session, const struct asker *asker, int wake)
{
	session->outer = *asker;
	session->wake = wake;
}

void session_dismiss(struct session *session, const char *name, const char *message)
{
	if (session->over)
		return;
	answer_error(&session->output,
	             &(struct answer_error){.name = name, .code = "dismissed", .message = message});
	session->over = true;
}

bool session_over(const struct session *session)
{
	return session->over;
}
