/* SPDX-License-Identifier: BSD-3-Clause */
#include "socket/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "language/describe.h"
#include "socket/session_state.h"
#include "text/alloc_failure.h"
#include "text/language_error.h"

/* ---- errors ---- */

void session_error_at(struct session *session, uint32_t column, const char *name, const char *code,
                      const char *message)
{
	struct answer_error error;

	answer_error_set(&error, name, code, "%s", message);
	error.column = column;
	answer_error(&session->output, &error);
}

void session_error(struct session *session, const char *name, const char *code, const char *message)
{
	session_error_at(session, 0, name, code, message);
}

void session_batch_error(struct session *session, const struct answer_error *from)
{
	struct answer_error error = *from;

	if (session->in_batch)
		error.line = session->batch.lines;
	answer_error(&session->output, &error);
	if (session->in_batch && session->batch.wrong_line == 0)
		session->batch.wrong_line = session->batch.lines;
}

void session_language_error(struct session *session, const struct language_error *wrong)
{
	struct answer_error error;

	batch_error_language(&error, session->line, wrong);
	session_batch_error(session, &error);
}

void session_wrong(struct session *session, uint32_t column, const char *code, const char *format,
                   ...)
{
	struct language_error wrong = {.column = column};
	char text[sizeof(wrong.text)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	language_error_set(&wrong, code, "%s", text);
	session_language_error(session, &wrong);
}

/* Answers an error to a line that could not be taken. The line counts in a batch. */
static void bad_line(struct session *session, const char *code, const char *message)
{
	struct answer_error error;

	answer_error_set(&error, "line", code, "%s", message);
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
	struct answer_error error;

	if (name != NULL) {
		answer_error_set(&error, name, "dismissed", "%s", why);
	} else if (line & SESSION_LINE_FLIGHT) {
		answer_error_set(&error, "flight", ERROR_CONFLICT,
		                 "the dump takes longer than 20 s and continues; the folder is "
		                 "complete when it contains recording.json");
	} else {
		answer_error_set(&error, "line", "refused",
		                 "this takes longer than 20 s and was given up; nothing is "
		                 "changed; split it into smaller steps");
		error.line = (uint32_t)(line >> SESSION_LINE_NUMBER);
	}
	output->json = line & SESSION_LINE_JSON;
	answer_error(output, &error);
}

/* ---- lines ---- */

static void json(struct session *session)
{
	session->output.json = words_is(session->words, 1, "on");
	answer_ok(&session->output);
}

static void quit(struct session *session)
{
	answer_ok(&session->output);
	session->over = true;
}

#define ANY UINT32_MAX

/* The commands to the conversation, not to the emulator, and what it is asked for. Of rows with the
 * same beginning the first that matches counts; a line that none matches is one of the language. */
static const struct {
	const char *first, *second; /* second: NULL: any, or none */
	uint32_t least, most;       /* words */
	bool changes;               /* a read-only socket refuses it */
	void (*does)(struct session *session);
	const char *usage, *help; /* NULL: not in the help */
} rows[] = {
        {"begin", NULL, 1, 1, true, session_begin, "begin",
         "changes from here on form one transaction"},
        {"begin", "lease", 2, ANY, true, session_begin_lease, "begin lease TIME",
         "... which is undone when TIME passes without renew"},
        {"renew", NULL, 1, 2, true, session_renew, "renew [TIME]",
         "restarts the time of the lease"},
        {"keep", NULL, 1, 1, true, session_keep, "keep", "keeps the change of the lease"},
        {"revert", NULL, 1, 1, true, session_revert, "revert", "... or undoes it now"},
        {"begin", "whole", 2, 2, true, session_begin, "begin whole",
         "a whole scenario follows; it replaces the one in force"},
        {"commit", NULL, 1, 1, true, session_commit, "commit",
         "puts the transaction in force, all of it or nothing"},
        {"abort", NULL, 1, 1, true, session_abort, "abort", "... or discards it"},
        {"file", NULL, 2, 2, true, session_file, "file NAME",
         "a file that the next line names; it comes as a descriptor"},
        {"json", "on", 2, 2, false, json, "json on | off", "answers as JSON objects, one per line"},
        {"json", "off", 2, 2, false, json, NULL, NULL},
        {"hello", NULL, 1, 1, false, session_hello, "hello",
         "which weir this is, and what it can do"},
        {"events", NULL, 1, ANY, false, session_events, "events [from SEQ|oldest]",
         "pushes events as they come; events off"},
        {"sample", NULL, 2, ANY, false, session_sample, "sample TIME [clouds N]",
         "pushes differences of the counters; sample off"},
        {"quit", NULL, 1, 1, false, quit, "quit", "ends the conversation; weir continues"},
        {"exit", NULL, 1, 1, false, quit, NULL, NULL},
        {"capture", NULL, 1, ANY, false, session_capture, NULL, NULL},
        {"flight", "dump", 2, 3, true, session_flight, NULL, NULL},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void help(struct session *session, const struct command *command)
{
	struct language_error wrong;
	struct printed text;
	FILE *out = printed_begin(&text);
	int result = describe(out, &command->words, 1, &wrong);

	if (result != 0) {
		session_language_error(session, &wrong);
		free(printed_end(&text));
		return;
	}
	if (command->words.n == 1) {
		fputs("\nOn the control socket also:\n", out);
		for (size_t i = 0; i < ROWS; i++)
			if (rows[i].usage != NULL)
				fprintf(out, "  %-26s  %s\n", rows[i].usage, rows[i].help);
	}
	answer_printed(&session->output, "help", &text);
}

/* Executes a command to the conversation. Returns false if the line is none. */
static bool own_line(struct session *session)
{
	const struct words *words = session->words;

	for (size_t i = 0; i < ROWS; i++) {
		if (!words_is(words, 0, rows[i].first) || words->n < rows[i].least ||
		    words->n > rows[i].most ||
		    (rows[i].second != NULL && !words_is(words, 1, rows[i].second)))
			continue;
		rows[i].does(session);
		return true;
	}
	return false;
}

/* On a read-only socket, refuses all commands but those that change nothing, before they are
 * parsed. Returns true if the line is refused. */
static bool refuses(struct session *session)
{
	const struct words *words = session->words;

	if (!session->read_only || words->n == 0 || words_is(words, 0, "show") ||
	    words_is(words, 0, "help"))
		return false;
	for (size_t i = 0; i < ROWS; i++)
		if (!rows[i].changes && words_is(words, 0, rows[i].first))
			return false;
	session_error(session, word_is_name(words->word[0].text) ? words->word[0].text : "line",
	              "read-only",
	              "this socket is read-only: it takes show, help, hello, events, sample and "
	              "capture; send changes to the control socket of this weir");
	return true;
}

/* Executes a line of the language. */
static void language_line(struct session *session)
{
	struct language_error wrong = {.column = 0};
	struct command command;
	int result;

	session->batch.lines += session->in_batch;
	session_line_note(session, false);
	client_files_use(&session->client_files);
	result = language_parse(session->line, &command, &wrong);
	client_files_use(NULL);
	if (result != 0) {
		session_language_error(session, &wrong);
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
		session_show(session, &command);
		break;
	case COMMAND_PROBE:
		session_probe(session, &command);
		break;
	case COMMAND_CLEAR_COUNTERS:
		session_clear(session, &command);
		break;
	case COMMAND_HELP:
		help(session, &command);
		break;
	default:
		session_edit(session, &command);
	}
	language_release(&command);
}

/* Executes the line under way. */
static void execute(struct session *session)
{
	struct language_error wrong = {.column = 0};
	struct words words;

	__atomic_add_fetch(&session->progress, 1, __ATOMIC_RELAXED);
	session_line_note(session, false);
	session->answer_at = session->output.n;
	session->hands_over = false;
	session->words = &words;
	alloc_failure_taken();
	if (words_split(session->line, &words, &wrong) != 0 ||
	    (!refuses(session) && !own_line(session)))
		language_line(session);
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
		execute(session);
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
	session_error(session, name, "dismissed", message);
	session->over = true;
}

bool session_over(const struct session *session)
{
	return session->over;
}
