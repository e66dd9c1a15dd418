/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of a conversation that change something: edits, batches, leases, files. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "figures/figures.h"
#include "netem/netem_become.h"
#include "socket/lease.h"
#include "socket/session_state.h"
#include "text/alloc_failure.h"
#include "text/value.h"

static struct commit commit_of(struct session *session)
{
	return (struct commit){.control = session->control,
	                       .asker = &session->asker,
	                       .who = &session->who,
	                       .files = &session->client_files};
}

/* ---- the answer to a change ---- */

/* Answers a change that is done; `commit` NULL: in a batch; `command`: NULL, or the line. */
static void answer_done(struct session *session, const struct commit *commit,
                        const struct command *command)
{
	const char *late = commit != NULL && commit->late[0] != '\0' ? commit->late : NULL;
	const char *was = commit != NULL && commit->was != NULL && commit->was[0] != '\0'
	                          ? commit->was
	                          : NULL;
	const struct word *word = command != NULL ? command->words.word : NULL;
	struct printed became, text;
	char *statements = NULL;
	FILE *out;

	/* The statements that a netem line has become; a change that is late is answered without
	 * them. */
	if (command != NULL && command->kind == COMMAND_NETEM && late == NULL) {
		netem_print(printed_begin(&became), command->netem, word[0].text, word[1].text);
		statements = printed_end(&became);
	}
	if (late == NULL && was == NULL && statements == NULL) {
		answer_ok(&session->output);
	} else if (session->output.json) {
		answer_object(&session->output,
		              json_pack("{s:b,s:s*,s:o*,s:o*}", "ok", 1, "late", late, "was",
		                        was != NULL ? figures_text(was, strlen(was) - 1) : NULL,
		                        "became",
		                        statements != NULL ? figures_string(statements) : NULL));
	} else {
		/* Each of these is lines before the `ok`. Beside the statements of a netem line,
		 * which may become a file, the rest is comments. */
		out = printed_begin(&text);
		if (late != NULL)
			fprintf(out, "%s\n", late);
		for (; was != NULL && *was != '\0'; was = strchr(was, '\n') + 1)
			fprintf(out, "%s" SESSION_WAS "%.*s\n", statements != NULL ? "# " : "",
			        (int)strcspn(was, "\n"), was);
		fputs(statements != NULL ? statements : "", out);
		answer_printed(&session->output, "", &text);
	}
	free(statements);
}

/* Answers a change, unless it has succeeded. Returns whether it has. */
static bool succeeded(struct session *session, int result, const struct commit *commit)
{
	/* What lacked memory until now says so itself: an error, an event. */
	alloc_failure_taken();
	if (result == -ECANCELED)
		session->over = true;
	else if (result != 0)
		session_batch_error(session, &commit->error);
	return result == 0;
}

/* ---- single lines ---- */

void session_edit(struct session *session, const struct command *command)
{
	struct commit commit = commit_of(session);
	struct answer_error error;

	if (session->in_batch) {
		if (batch_edit(&session->batch, session->line, command, SESSION_BATCH_MAX,
		               &error) != 0)
			session_batch_error(session, &error);
		else
			answer_done(session, NULL, command);
		return;
	}
	if (session->not_begun) {
		session_error(session, "begin", ERROR_CONFLICT,
		              "this batch was refused at its beginning; say abort, and begin "
		              "again");
		return;
	}
	commit.line = session->line;
	commit.command = command;
	if (succeeded(session, commit_line(&commit), &commit))
		answer_done(session, &commit, command);
	commit_release(&commit);
}

void session_clear(struct session *session, const struct command *command)
{
	struct commit commit = commit_of(session);

	if (session->in_batch) {
		session_wrong(session, command->words.word[0].column, ERROR_NOT_HERE,
		              "`clear counters` takes effect at once, so it cannot be part of "
		              "a batch; commit or abort it first");
		return;
	}
	if (succeeded(session, commit_clear(&commit), &commit))
		answer_done(session, &commit, NULL);
	commit_release(&commit);
}

/* ---- leases ---- */

/* Gets the time that is word `at`; else answers an error. */
static bool take_time(struct session *session, uint32_t at, uint64_t *ns)
{
	const struct field field = {
	        .name = "lease", .type = FIELD_TIME, .min = LEASE_LEAST_NS, .max = LEASE_MOST_NS};
	const struct word *word = &session->words->word[at];
	struct language_error error = {.column = 0};

	if (value_parse(&field, word->text, ns, &error) == 0)
		return true;
	session_error_at(session, word->column, "lease", error.name, error.text);
	return false;
}

static void answer_time(struct session *session, uint64_t lease_ns)
{
	char text[120];
	int n = snprintf(text, sizeof(text),
	                 "lease %" PRIu64 ": undone in %.3f s, unless renewed\n", session->lease,
	                 (double)lease_ns / 1e9);

	if (session->output.json)
		answer_object(&session->output, json_pack("{s:b,s:I,s:I}", "ok", 1, "lease",
		                                          (json_int_t)session->lease, "lease_ns",
		                                          (json_int_t)lease_ns));
	else
		answer_text(&session->output, "lease", text, (size_t)n);
}

/* Answers an error about the lease of this conversation: -ENOENT or -EALREADY. */
static void no_lease(struct session *session, const char *word, int error)
{
	const char *why = "the lease has ended, and its change is being undone";

	if (error == -ENOENT && session->lease != 0)
		why = "the lease of this conversation has ended, and its change is undone";
	else if (error == -ENOENT)
		why = "this conversation has no lease; say begin lease TIME first";
	session_error(session, word, ERROR_CONFLICT, why);
}

void session_renew(struct session *session)
{
	uint64_t lease_ns = 0;
	int result;

	if (session->words->n > 1 && !take_time(session, 1, &lease_ns))
		return;
	result = lease_renew(session->control, session->lease, &lease_ns);
	if (result == 0)
		answer_time(session, lease_ns);
	else
		no_lease(session, "renew", result);
}

void session_keep(struct session *session)
{
	int result = lease_keep(session->control, session->lease);

	if (result != 0) {
		no_lease(session, "keep", result);
		return;
	}
	session->lease = 0;
	answer_ok(&session->output);
}

void session_revert(struct session *session)
{
	char why[LEASE_WHY_BYTES] = "";
	int result = lease_revert(session->control, session->lease, &session->asker, why);

	if (result == -ECANCELED) {
		session->over = true;
	} else if (result == -ENOENT) {
		no_lease(session, "revert", result);
	} else if (result != 0) {
		session_error(session, "revert", "refused", why);
	} else {
		session->lease = 0;
		alloc_failure_taken();
		answer_ok(&session->output);
	}
}

/* ---- batches ---- */

/* Begins a batch on a copy of the scenario, or of a whole one. */
static void begin(struct session *session, bool whole, uint64_t lease_ns)
{
	if (session->in_batch) {
		session_error(session, "begin", ERROR_CONFLICT,
		              "a batch has begun already; commit or abort it first");
		return;
	}
	/* Until it has begun. A client may have sent the lines of the change already; they are no
	 * single changes. */
	session->not_begun = true;
	session->lease_ns = lease_ns;
	if (whole) {
		session->not_begun = batch_begin_whole(&session->batch) != 0;
	} else if (control_look_wait(session->control, &session->asker)) {
		session->not_begun = batch_begin(&session->batch, session->control) != 0;
		control_look_end(session->control);
	} else {
		session->over = true;
		return;
	}
	session->in_batch = !session->not_begun;
	if (session->in_batch)
		answer_ok(&session->output);
	else
		session_error(session, "begin", ERROR_NO_MEMORY,
		              whole ? "no memory for another scenario; try later"
		                    : "no memory for a copy of the scenario; try a smaller one");
}

void session_begin(struct session *session)
{
	begin(session, session->words->n == 2, 0);
}

void session_begin_lease(struct session *session)
{
	struct control *control = session->control;
	const char *full = leases_refuse(control);
	uint64_t lease_ns;

	session->not_begun = !session->in_batch; /* as in begin */
	if (session->words->n != 3)
		session_error(session, "lease", ERROR_UNKNOWN_WORD,
		              "write begin lease TIME: `begin lease 5s`");
	else if (!take_time(session, 2, &lease_ns))
		return;
	else if (lease_is(control, session->lease))
		session_error(session, "lease", ERROR_CONFLICT,
		              "this conversation has a lease: say keep or revert first, or begin "
		              "another in a conversation of its own");
	else if (full != NULL)
		session_error(session, "lease", ERROR_FULL, full);
	else
		begin(session, false, lease_ns);
}

static void batch_end(struct session *session)
{
	batch_abort(&session->batch);
	session->in_batch = false;
}

/* Returns true if there is a batch; otherwise answers an error. */
static bool has_begun(struct session *session, const char *word)
{
	session->not_begun = false;
	if (!session->in_batch)
		session_error(session, word, ERROR_CONFLICT, "no batch has begun; say begin first");
	return session->in_batch;
}

void session_commit(struct session *session)
{
	struct commit commit = commit_of(session);
	uint32_t wrong = session->batch.wrong_line;
	struct answer_error error;
	int result;

	if (!has_begun(session, "commit"))
		return;
	if (wrong != 0) {
		batch_end(session);
		answer_error_set(&error, "commit", ERROR_CONFLICT,
		                 "this line was wrong, so the batch was not "
		                 "applied; correct it and begin again");
		error.line = wrong;
		answer_error(&session->output, &error);
		return;
	}
	commit.batch = session->batch;
	commit.lease_ns = session->lease_ns;
	memset(&session->batch, 0, sizeof(session->batch));
	session->in_batch = false;
	result = commit_batch(&commit);
	if (commit.lease_number != 0)
		session->lease = commit.lease_number; /* if it failed, to let it go */
	if (succeeded(session, result, &commit)) {
		if (commit.lease_number != 0 && commit.late[0] == '\0')
			answer_time(session, commit.lease_ns);
		else
			answer_done(session, &commit, NULL);
	}
	commit_release(&commit);
}

void session_abort(struct session *session)
{
	if (!has_begun(session, "abort"))
		return;
	batch_end(session);
	answer_ok(&session->output);
}

void session_change_end(struct session *session)
{
	if (session->in_batch)
		batch_end(session);
	lease_let_go(session->control, session->lease);
	session->lease = 0;
}

/* ---- files ---- */

/* Reads the file that was handed over. */
void session_file(struct session *session)
{
	const char *name = session->words->word[1].text;
	struct language_error wrong = {.column = 0};
	int fd = session_descriptor_take(session), result;
	struct file *file = NULL;

	session->hands_over = true;
	if (fd < 0) {
		session_error(session, "file", ERROR_BAD_FILE,
		              "no descriptor came with the line; send one with it, by SCM_RIGHTS");
		return;
	}
	result = file_read_open(fd, name, FILE_CLIENT_BYTES_MAX, &file, &wrong);
	close(fd);
	if (result != 0) {
		session_error(session, "file", wrong.name, wrong.text);
		return;
	}
	file->secret = true;
	if (client_files_put(&session->client_files, file) != 0)
		session_error(session, "file", ERROR_FULL,
		              "more than 64 files, or 16 MiB of them, were handed over; use fewer "
		              "or smaller ones");
	else
		answer_ok(&session->output);
}
