/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "account/count.h"
#include "socket/change.h"
#include "socket/lease.h"
#include "socket/session.h"
#include "stream/event.h"
#include "text/alloc_failure.h"

#define LINES_MAX   32 /* of a change, in one event */
#define LINES_BYTES 2048

/* ---- files ---- */

int client_files_put(struct client_files *client_files, struct file *file)
{
	uint64_t bytes = file->bytes;
	uint32_t at = client_files->n;

	for (uint32_t i = 0; i < client_files->n; i++) {
		if (strcmp(client_files->file[i]->name, file->name) == 0)
			at = i;
		else
			bytes += client_files->file[i]->bytes;
	}
	if (at == CLIENT_FILES_MAX || bytes > CLIENT_FILES_BYTES_MAX) {
		file_release(file);
		return -ENOSPC;
	}
	if (at < client_files->n)
		file_release(client_files->file[at]);
	else
		client_files->n++;
	client_files->file[at] = file;
	return 0;
}

void client_files_clear(struct client_files *client_files)
{
	while (client_files->n > 0)
		file_release(client_files->file[--client_files->n]);
}

static int client_files_read(const struct file_source *source, const char *name, struct file **file,
                             struct language_error *error)
{
	struct client_files *client_files = (struct client_files *)(uintptr_t)source;
	const struct asker *asker = client_files->asker;
	int result;

	for (uint32_t i = 0; i < client_files->n; i++) {
		if (strcmp(client_files->file[i]->name, name) == 0) {
			*file = file_hold(client_files->file[i]);
			return 0;
		}
	}
	if (!client_files->may_open)
		return language_error_set(
		        error, ERROR_BAD_FILE,
		        "the file `%.*s` did not come with the line: weir opens none for you; "
		        "`weir ctl` hands over what you may read, other clients by `file NAME`",
		        language_error_shown(name), name);
	if (asker != NULL && !asker->waits(asker->argument))
		return language_error_set(error, ERROR_BAD_FILE, "nobody waits for it");
	result = file_read_own(name, FILE_CLIENT_BYTES_MAX, file, error);
	if (result != 0)
		return result;
	(*file)->secret = true;
	client_files_put(client_files, file_hold(*file)); /* if there is room */
	return 0;
}

void client_files_use(struct client_files *client_files)
{
	if (client_files != NULL)
		client_files->source.read = client_files_read;
	file_source_use(client_files != NULL ? &client_files->source : NULL);
}

/* ---- what is put in force ---- */

/* Sets the error of a commit. Returns `result`. */
static int fail(struct commit *commit, int result, const char *name, const char *code,
                const char *message)
{
	answer_error_set(&commit->error, name, code, "%s", message);
	return result;
}

/* Computes what the change makes different: a lease undoes that, the event of the change names it,
 * and the answer to a single line says what was there before. */
static int find_difference(struct commit *commit)
{
	int result = difference_make(&commit->difference, *commit->control->scenario,
	                             commit->batch.draft);

	if (result == 0 && commit->line != NULL) {
		commit->was = difference_before(&commit->difference);
		result = commit->was != NULL ? 0 : -ENOMEM;
	}
	if (result != 0)
		return fail(commit, result, "scenario", ERROR_NO_MEMORY,
		            "no memory to record what it changes; nothing is changed");
	if (commit->lease_ns > 0 && commit->difference.n > LEASE_CLOUDS_MAX)
		return fail(commit, -ENOSPC, "lease", ERROR_FULL,
		            "a lease can change at most 1,024 clouds, where a template counts as "
		            "one; nothing is changed; change fewer, or without a lease");
	return 0;
}

static int prepare(struct commit *commit, struct transaction **transaction)
{
	int result = batch_prepare(&commit->batch, commit->control, transaction, &commit->error);

	if (result == 0 && *transaction != NULL &&
	    (commit->lease_ns > 0 || commit->batch.whole || commit->line != NULL))
		result = find_difference(commit);
	return result;
}

static int make_line(struct commit *commit, struct transaction **transaction)
{
	int result = batch_begin(&commit->batch, commit->control);

	if (result != 0)
		return fail(commit, result, "scenario", ERROR_NO_MEMORY,
		            "no memory for a copy of the scenario; nothing is changed");
	result = batch_edit(&commit->batch, commit->line, commit->command, SESSION_BATCH_MAX,
	                    &commit->error);
	if (result == 0)
		result = prepare(commit, transaction);
	commit->error.line = 0; /* the batch has one line only */
	return result;
}

static int make_batch(struct commit *commit, struct transaction **transaction)
{
	const char *full = commit->lease_ns > 0 ? leases_refuse(commit->control) : NULL;

	if (full != NULL)
		return fail(commit, -ENOSPC, "lease", ERROR_FULL, full);
	if (commit->lease_ns > 0) {
		commit->lease = calloc(1, sizeof(*commit->lease));
		if (commit->lease == NULL)
			return fail(commit, -ENOMEM, "lease", ERROR_NO_MEMORY,
			            "no memory for a lease; nothing is changed");
		commit->lease->who = *commit->who;
		commit->lease->for_ns = commit->lease_ns;
	}
	return prepare(commit, transaction);
}

/* Puts as many lines into both as the event has room for. Returns the number of all lines. */
static uint32_t put_lines(const struct batch *batch, json_t *lines, FILE *out)
{
	uint32_t n = 0, put = 0;
	size_t bytes = 0;

	for (struct batch_line line = {0}; batch_line_next(batch, &line); n++) {
		size_t length = strlen(line.text);

		if (put < n || n == LINES_MAX || bytes + length > LINES_BYTES)
			continue;
		json_array_append_new(lines, json_string(line.text));
		fprintf(out, "%s%s", n > 0 ? "; " : "", line.text);
		bytes += length;
		put++;
	}
	if (put < n)
		fprintf(out, "%sand %s%s", put > 0 ? "; " : "", count_of(n - put, "line").text,
		        put > 0 ? " more" : "");
	return n;
}

/* The same with the clouds that a whole scenario has changed. */
static uint32_t put_clouds(const struct difference *difference, json_t *clouds, FILE *out)
{
	for (uint32_t i = 0; i < difference->n && i < EVENT_CLOUDS_MAX; i++) {
		json_array_append_new(clouds, json_string(difference->clouds[i].name));
		fprintf(out, "%s%s", i > 0 ? ", " : "clouds ", difference->clouds[i].name);
	}
	if (difference->n == 0)
		fputs("nothing changes", out);
	else if (difference->n > EVENT_CLOUDS_MAX)
		fprintf(out, " and %" PRIu32 " more", difference->n - EVENT_CLOUDS_MAX);
	return difference->n;
}

/* The change is posted: begins its lease, and adds its event. */
static void changed(void *argument)
{
	struct commit *commit = argument;
	struct control *control = commit->control;
	struct lease *lease = commit->lease;
	const bool whole = commit->batch.whole;
	const char *how = lease != NULL          ? "lease"
	                  : commit->line != NULL ? "line"
	                  : whole                ? "load"
	                                         : "batch";
	json_t *list = json_array();
	char whom[PEER_TEXT_BYTES];
	struct printed text;
	FILE *out = printed_begin(&text);
	uint32_t n = whole ? put_clouds(&commit->difference, list, out)
	                   : put_lines(&commit->batch, list, out);

	printed_end(&text);
	peer_text(commit->who, whom);
	if (lease != NULL) {
		lease_begin(control, lease, &commit->difference);
		commit->lease = NULL;
		commit->lease_number = lease->number;
	}
	event_tell(control, RUN_LOG_INFO, "change",
	           json_pack("{s:o,s:s,s:o,s:i,s:o*,s:o*}", "who", peer_json(commit->who), "how",
	                     how, whole ? "clouds" : "lines", list,
	                     whole ? "clouds_in_all" : "lines_in_all", (int)n, "lease",
	                     lease != NULL ? json_integer((json_int_t)lease->number) : NULL,
	                     "lease_ns",
	                     lease != NULL ? json_integer((json_int_t)lease->for_ns) : NULL),
	           "%s by %s: %s", how, whom, text.bytes != NULL ? text.bytes : "");
	free(text.bytes);
	if (lease != NULL)
		lease->until_ns = control_now_ns(control) + lease->for_ns;
}

static int make_clear(struct commit *commit, struct transaction **transaction)
{
	struct control *control = commit->control;

	if (control->ops->clear(control->context, transaction) == 0)
		return 0;
	return fail(commit, -ENOMEM, "counters", ERROR_NO_MEMORY,
	            "no memory to clear the counters");
}

static void cleared(void *argument)
{
	const struct commit *commit = argument;
	char whom[PEER_TEXT_BYTES];

	control_cleared(commit->control);
	peer_text(commit->who, whom);
	event_tell(commit->control, RUN_LOG_INFO, "cleared",
	           json_pack("{s:o}", "who", peer_json(commit->who)), "counters cleared by %s",
	           whom);
}

/* ---- the way into force ---- */

int commit_run(struct commit *commit, commit_make *make, commit_posted *posted)
{
	struct control *control = commit->control;
	struct transaction *transaction = NULL;
	char who[CONTROL_WORKER_BYTES];
	int result = control_turn(control, commit->asker, who);

	if (result != 0) {
		answer_error_set(
		        &commit->error, "scenario", "refused",
		        result == -EBUSY
		                ? "%s stands still and has not taken the previous change; "
		                  "nothing is changed; try again when it runs again"
		                : "others keep changing the scenario%s; nothing is changed; "
		                  "try again",
		        who);
		return result;
	}
	client_files_use(commit->files);
	result = make(commit, &transaction);
	client_files_use(NULL);
	if (result == 0 && transaction != NULL) {
		commit->number = control_post(control, commit->asker, transaction,
		                              commit->batch.draft, posted, commit);
		result = commit->number != 0 ? 0 : -ECANCELED;
	}
	if (commit->number == 0) {
		if (transaction != NULL)
			control->ops->finish(transaction);
		control_give_back(control);
		return result;
	}
	commit->batch.draft = NULL;
	result = control_taken(control, commit->asker, commit->number, who);
	if (result != -EBUSY)
		return result;
	snprintf(commit->late, sizeof(commit->late),
	         "accepted, but %s stands still: %s there when it polls again", who,
	         posted == cleared ? "counters are cleared" : "the change takes effect");
	return 0;
}

int commit_line(struct commit *commit)
{
	return commit_run(commit, make_line, changed);
}

int commit_batch(struct commit *commit)
{
	int result = commit_run(commit, make_batch, changed);

	lease_free(commit->lease);
	commit->lease = NULL;
	return result;
}

int commit_clear(struct commit *commit)
{
	return commit_run(commit, make_clear, cleared);
}

void commit_release(struct commit *commit)
{
	batch_abort(&commit->batch);
	difference_release(&commit->difference);
	free(commit->was);
}
