/* SPDX-License-Identifier: BSD-3-Clause */
#include "socket/request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text/alloc_failure.h"
#include "service/difference_text.h"
#include "socket/session.h"

static void request_release(struct job *job)
{
	struct request *request = (struct request *)job;

	if (request->transaction != NULL)
		request->control->ops->finish(request->control->context, request->transaction);
	if (request->holds)
		control_give_back(request->control);
	if (request->parsed)
		language_release(&request->command);
	batch_abort(&request->batch);
	difference_release(&request->difference);
	free(request->was);
	if (request->kind == KIND_COMMIT)
		lease_free(request->lease);
	client_files_clear(&request->client_files);
	output_release(&request->output);
	file_release(request->file);
	tap_free(request->tap);
	free(request->plan.match);
	if (request->fd >= 0)
		close(request->fd);
	free(request->line);
	free(request);
}

struct request *request_make(struct control *control, enum request_kind kind, const char *line,
                             const struct command *command, const struct client_files *client_files)
{
	struct request *request = calloc(1, sizeof(*request));

	if (request == NULL)
		return NULL;
	request->line = strdup(line);
	if (request->line == NULL) {
		free(request);
		return NULL;
	}
	request->job.release = request_release;
	request->kind = kind;
	request->control = control;
	request->fd = -1;
	client_files_copy(&request->client_files, client_files);
	if (command != NULL) {
		request->command = *command;
		words_copy(&request->command.words, &command->words);
		request->parsed = true;
	}
	return request;
}

/* ---- the work of threads ---- */

void work_parse(struct job *job)
{
	struct request *request = (struct request *)job;

	client_files_use(&request->client_files);
	request->result = language_parse(request->line, &request->command, &request->wrong);
	client_files_use(NULL);
	request->parsed = request->result == 0;
}

void work_file(struct job *job)
{
	struct request *request = (struct request *)job;

	request->result = file_read_open(request->fd, request->line, FILE_CLIENT_BYTES_MAX,
	                                 &request->file, &request->wrong);
	if (request->result == 0)
		request->file->secret = true;
}

void work_capture(struct job *job)
{
	struct request *request = (struct request *)job;
	struct control *control = request->control;
	struct problem problem = {.text = ""};

	request->result = tap_make(&request->plan, control->ops->workers(control->context),
	                           request->fd, &request->tap, &problem);
	if (request->result != 0)
		language_error_set(&request->wrong,
		                   request->result == -ENOMEM ? ERROR_NO_MEMORY : ERROR_BAD_VALUE,
		                   "%s", problem.text);
}

void work_flight(struct job *job)
{
	struct request *request = (struct request *)job;
	struct problem problem = {.text = ""};

	request->result = recording_dump(request->control->recording, request->line, &request->dump,
	                                 &problem);
	if (request->result != 0)
		language_error_set(&request->wrong,
		                   request->result == -ENOMEM ? ERROR_NO_MEMORY : ERROR_CONFLICT,
		                   "%s", problem.text);
}

void work_load(struct job *job)
{
	struct request *request = (struct request *)job;

	request->result = batch_of_file(&request->batch, request->line, &request->error);
}

void work_begin(struct job *job)
{
	struct request *request = (struct request *)job;

	request->result = batch_begin(&request->batch, request->control);
	control_look_end(request->control);
}

void work_show(struct job *job)
{
	struct request *request = (struct request *)job;
	const struct words *words = &request->command.words;

	alloc_failure_taken();
	if (request->what == SHOW_CLOUD && words->n > 3) {
		request->found = show_answer_one(&request->output, request->control, request->cloud,
		                                 words->word[3].text);
	} else {
		request->found = true;
		show_answer(&request->output, request->control, request->what, request->cloud,
		            request->note);
	}
	request->lacks = alloc_failure_taken();
	control_look_end(request->control);
}

static int prepare_one(struct request *request)
{
	int result = batch_begin(&request->batch, request->control);

	if (result != 0) {
		request->error = (struct batch_error){
		        .name = "scenario",
		        .code = ERROR_NO_MEMORY,
		        .message = "no memory for a copy of the scenario; nothing is changed"};
		return result;
	}
	return batch_edit(&request->batch, request->line, &request->command, SESSION_BATCH_MAX,
	                  &request->error);
}

static void request_fails(struct request *request, const char *name, const char *code,
                          const char *message)
{
	request->error = (struct batch_error){.code = code};
	snprintf(request->error.name, sizeof(request->error.name), "%s", name);
	snprintf(request->error.message, sizeof(request->error.message), "%s", message);
}

static int prepare_revert(struct request *request)
{
	int result = batch_begin(&request->batch, request->control);

	if (result == 0)
		result = difference_undo(&request->lease->difference, request->batch.draft,
		                         request->lease->kept);
	request->batch.edited = true;
	if (result == -ENOSPC)
		request_fails(request, "lease", ERROR_FULL,
		              "a cloud has no room for what it had before");
	else if (result != 0)
		request_fails(request, "lease", ERROR_NO_MEMORY, "no memory to undo the change");
	return result;
}

/* Computes what the change makes different: a lease undoes that, the event of the change names it,
 * and the answer to a single line says what was there before. */
static int find_difference(struct request *request)
{
	int result = difference_make(&request->difference, *request->control->scenario,
	                             request->batch.draft);

	if (result == 0 && request->kind == KIND_EDIT) {
		request->was = difference_before(&request->difference);
		result = request->was != NULL ? 0 : -ENOMEM;
	}
	if (result != 0)
		request_fails(request, "scenario", ERROR_NO_MEMORY,
		              "no memory to record what it changes; nothing is changed");
	if (result == 0 && request->lease_ns > 0 && request->difference.n > LEASE_CLOUDS_MAX) {
		request_fails(request, "lease", ERROR_FULL,
		              "a lease can change at most 1,024 clouds, where a template counts as "
		              "one; nothing is changed; change fewer, or without a lease");
		result = -ENOSPC;
	}
	return result;
}

void work_prepare(struct job *job)
{
	struct request *request = (struct request *)job;

	client_files_use(&request->client_files);
	if (request->kind == KIND_EDIT)
		request->result = prepare_one(request);
	if (request->kind == KIND_REVERT)
		request->result = prepare_revert(request);
	if (request->result == 0)
		request->result = batch_prepare(&request->batch, request->control,
		                                &request->transaction, &request->error);
	if (request->result == 0 && request->transaction != NULL &&
	    (request->lease_ns > 0 || request->batch.whole || request->kind == KIND_EDIT))
		request->result = find_difference(request);
	if (request->result != 0 && request->transaction != NULL) {
		request->control->ops->finish(request->control->context, request->transaction);
		request->transaction = NULL;
	}
	if (request->kind == KIND_EDIT)
		request->error.line = 0; /* the batch has one line only */
	client_files_use(NULL);
}
