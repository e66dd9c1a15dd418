/* SPDX-License-Identifier: BSD-3-Clause */
#include "socket/pending.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "socket/dialogue.h"
#include "stream/flight_dumps.h"
#include "socket/request.h"
#include "socket/lease.h"
#include "socket/session.h"
#include "stream/event.h"

#define TOLD_CLOUDS 32 /* the most clouds of a change that an event names */

/* Returns NULL if there is no memory; that is answered. */
static struct request *pending_request(struct dialogue *dialogue, enum request_kind kind,
                                       const char *line, const struct command *command)
{
	struct request *request =
	        request_make(dialogue->control, kind, line, command, &dialogue->client_files);

	if (request == NULL)
		dialogue_error(dialogue, "line", ERROR_NO_MEMORY,
		               "no memory for this request; nothing is changed");
	else
		request->batch.lines = dialogue->batch.lines;
	return request;
}

/* ---- steps ---- */

bool pending_is_on(const struct pending *pending)
{
	return pending->step != PENDING_NONE;
}

void pending_forget(struct dialogue *dialogue)
{
	struct pending *pending = &dialogue->pending;

	if (pending->turn.waiting)
		control_leave(dialogue->control, &pending->turn);
	if (pending->request != NULL)
		job_forget(&pending->request->job);
	*pending = (struct pending){.step = PENDING_NONE};
}

static void pending_go(struct dialogue *dialogue, enum pending_step step)
{
	dialogue->pending.step = step;
	dialogue->pending.patience = (struct patience){.last_ns = dialogue->now_ns};
}

static void pending_start(struct dialogue *dialogue, struct request *request,
                          enum pending_step step)
{
	dialogue->pending.request = request;
	pending_go(dialogue, step);
}

/* Starts the work in a thread. If no thread can be had, answers an error, ends the pending line,
 * and returns false. */
static bool pending_give(struct dialogue *dialogue, enum pending_step step,
                         void (*work)(struct job *job))
{
	struct request *request = dialogue->pending.request;

	request->job.work = work;
	if (job_submit(dialogue->control->executor, &request->job) == 0) {
		pending_go(dialogue, step);
		return true;
	}
	if (work == work_show || work == work_begin)
		control_look_end(dialogue->control);
	dialogue_error(dialogue, "server", "refused",
	               "too many jobs are under way and do not finish; nothing is changed; try "
	               "again later");
	pending_forget(dialogue);
	return false;
}

static bool pending_overdue(struct dialogue *dialogue, uint64_t most_ns)
{
	return patience_look(&dialogue->pending.patience, dialogue->now_ns) >= most_ns;
}

static void overdue_work(struct dialogue *dialogue)
{
	const struct request *request = dialogue->pending.request;

	if (request->kind == KIND_FLIGHT) {
		dialogue_error(dialogue, "flight", ERROR_CONFLICT,
		               "the dump takes longer than 20 s and continues; the folder is "
		               "complete when it contains recording.json");
		pending_forget(dialogue);
		return;
	}
	dialogue_batch_error(dialogue,
	                     &(struct batch_error){
	                             .name = "line",
	                             .code = "refused",
	                             .message = "this takes longer than 20 s and was given up; "
	                                        "nothing is changed; split it into smaller steps"});
	pending_forget(dialogue);
}

/* Handles a line that a thread has parsed. Returns true if the change goes on to its turn. */
static bool parsed(struct dialogue *dialogue, struct request *request)
{
	struct batch_error error;

	if (request->result != 0) {
		dialogue_language_error(dialogue, request->line, &request->wrong);
		return false;
	}
	if (!dialogue->in_batch)
		return true;
	if (batch_edit(&dialogue->batch, request->line, &request->command, SESSION_BATCH_MAX,
	               &error) != 0)
		dialogue_batch_error(dialogue, &error);
	else
		dialogue_done(dialogue, &(struct dialogue_done){.command = &request->command});
	return false;
}

static void begun(struct dialogue *dialogue, struct request *request)
{
	dialogue->not_begun = request->result != 0;
	if (dialogue->not_begun) {
		dialogue_error(dialogue, "begin", ERROR_NO_MEMORY,
		               "no memory for a copy of the scenario; try a smaller one");
		return;
	}
	dialogue->batch = request->batch;
	memset(&request->batch, 0, sizeof(request->batch));
	dialogue->in_batch = true;
	answer_ok(&dialogue->output);
}

static void shown(struct dialogue *dialogue, struct request *request)
{
	const struct scenario *scenario = *dialogue->control->scenario;
	const struct words *words = &request->command.words;
	struct language_error wrong = {.column = 0};

	if (request->lacks) {
		dialogue_no_answer(dialogue);
		return;
	}
	if (request->found) {
		output_adopt(&dialogue->output, &request->output);
		return;
	}
	wrong.column = words->word[3].column;
	if (request->cloud < scenario->n_clouds && scenario->clouds[request->cloud]->many)
		language_error_set(&wrong, ERROR_UNKNOWN_WORD,
		                   "`%s` has no cloud `%.80s`: no packet of it has arrived yet, or "
		                   "the template does not cover this address",
		                   words->word[2].text, words->word[3].text);
	else
		language_error_set(&wrong, ERROR_UNKNOWN_WORD,
		                   "`%s` is a single cloud, not a template: leave `%.80s` out",
		                   words->word[2].text, words->word[3].text);
	dialogue_language_error(dialogue, request->line, &wrong);
}

static void handed_over(struct dialogue *dialogue, struct request *request)
{
	if (request->result != 0) {
		dialogue_error(dialogue, "file", request->wrong.name, request->wrong.text);
		return;
	}
	if (client_files_put(&dialogue->client_files, request->file) != 0)
		dialogue_error(dialogue, "file", ERROR_FULL,
		               "more than 64 files, or 16 MiB of them, were handed over; use fewer "
		               "or smaller ones");
	else
		answer_ok(&dialogue->output);
	request->file = NULL;
}

/* Answers a dump. Its thread needed no turn. */
static void flight_dumped(struct dialogue *dialogue, const struct request *request)
{
	char text[FLIGHT_TEXT_BYTES], line[PATH_MAX + FLIGHT_TEXT_BYTES];

	if (request->result != 0) {
		dialogue_error(dialogue, "flight", request->wrong.name, request->wrong.text);
		return;
	}
	flight_dump_text(&request->dump, text);
	if (dialogue->output.json) {
		answer_object(&dialogue->output, json_pack("{s:b,s:s,s:s}", "ok", 1, "folder",
		                                           request->line, "flight", text));
		return;
	}
	snprintf(line, sizeof(line), "%s: %s\n", request->line, text);
	answer_text(&dialogue->output, "flight", line, strlen(line));
}

static bool step_works(struct dialogue *dialogue)
{
	struct request *request = dialogue->pending.request;

	if (!job_done(&request->job)) {
		if (pending_overdue(dialogue, PENDING_WORK_NS))
			overdue_work(dialogue);
		return false;
	}
	if (request->kind == KIND_EDIT && parsed(dialogue, request)) {
		pending_go(dialogue, PENDING_TURN);
		return true;
	}
	if (request->kind == KIND_LOAD && request->result == 0) {
		pending_go(dialogue, PENDING_TURN);
		return true;
	}
	if (request->kind == KIND_LOAD)
		dialogue_batch_error(dialogue, &request->error);
	else if (request->kind == KIND_BEGIN)
		begun(dialogue, request);
	else if (request->kind == KIND_SHOW)
		shown(dialogue, request);
	else if (request->kind == KIND_FILE)
		handed_over(dialogue, request);
	else if (request->kind == KIND_CAPTURE)
		capture_made(dialogue, request);
	else if (request->kind == KIND_FLIGHT)
		flight_dumped(dialogue, request);
	pending_forget(dialogue);
	return false;
}

static bool step_looks(struct dialogue *dialogue)
{
	struct request *request = dialogue->pending.request;

	if (!control_look_begin(dialogue->control))
		return false;
	/* The cloud may be gone by now, or its index may belong to another. */
	if (request->kind == KIND_SHOW && request->command.words.n > 2 &&
	    request->what != SHOW_CLOUDS && request->what != SHOW_TOTALS) {
		int index = scenario_find_cloud(*dialogue->control->scenario,
		                                request->command.words.word[2].text);

		if (index < 0) {
			struct language_error wrong = {.column = 0};

			control_look_end(dialogue->control);
			language_unknown_cloud(*dialogue->control->scenario,
			                       &request->command.words.word[2], &wrong);
			dialogue_language_error(dialogue, request->line, &wrong);
			pending_forget(dialogue);
			return false;
		}
		request->cloud = (uint32_t)index;
	}
	if (!control_is_late(dialogue->control, CONTROL_SETTLES_NS, request->note,
	                     sizeof(request->note)))
		request->note[0] = '\0';
	return pending_give(dialogue, PENDING_WORKS,
	                    request->kind == KIND_BEGIN ? work_begin : work_show);
}

static void turn_refused(struct dialogue *dialogue, const char *who)
{
	struct batch_error error = {.name = "scenario", .code = "refused"};

	snprintf(error.message, sizeof(error.message),
	         *who ? "%s stands still and has not taken the previous change; nothing is "
	                "changed; try again when it runs again"
	              : "others keep changing the scenario%s; nothing is changed; try again",
	         who);
	dialogue_batch_error(dialogue, &error);
	pending_forget(dialogue);
}

/* Makes what a lease needs besides its change. On failure answers an error, ends the pending line,
 * and returns false. */
static bool turn_of_lease(struct dialogue *dialogue, struct request *request)
{
	struct leases *leases = dialogue->control->leases;
	const char *refused = NULL;

	if (request->kind == KIND_REVERT) {
		int error = lease_hand_down(leases, request->lease);

		if (error != 0)
			refused = error == -ENOSPC ? "a cloud has no room for what it had before"
			                           : "no memory to undo the change";
	} else {
		refused = leases_refuse(leases);
		request->lease = lease_make(&dialogue->who, request->lease_ns);
		if (refused == NULL && request->lease == NULL)
			refused = "no memory for a lease; nothing is changed";
	}
	if (refused == NULL)
		return true;
	dialogue_error(dialogue, "lease",
	               leases_refuse(leases) == refused ? ERROR_FULL : ERROR_NO_MEMORY, refused);
	pending_forget(dialogue);
	return false;
}

/* Begins the turn: makes here what takes no time, and gives the rest to a thread. */
static bool turn_begins(struct dialogue *dialogue)
{
	struct request *request = dialogue->pending.request;
	struct control *control = dialogue->control;
	struct language_error wrong = {.column = 0};

	request->holds = true;
	if ((request->kind == KIND_REVERT || request->lease_ns > 0) &&
	    !turn_of_lease(dialogue, request))
		return false;
	if (request->kind == KIND_EDIT || request->kind == KIND_COMMIT ||
	    request->kind == KIND_LOAD || request->kind == KIND_REVERT)
		return pending_give(dialogue, PENDING_PREPARES, work_prepare);
	if (request->kind == KIND_PROBE &&
	    probe_begin(control, &request->command.words, &dialogue->probe, &request->transaction,
	                &wrong) != 0) {
		dialogue_language_error(dialogue, request->line, &wrong);
		pending_forget(dialogue);
		return false;
	}
	if (request->kind == KIND_CLEAR &&
	    control->ops->clear(control->context, &request->transaction) != 0) {
		dialogue_error(dialogue, "counters", ERROR_NO_MEMORY,
		               "no memory to clear the counters");
		pending_forget(dialogue);
		return false;
	}
	pending_go(dialogue, PENDING_POSTS);
	return true;
}

static bool step_turn(struct dialogue *dialogue)
{
	struct pending *pending = &dialogue->pending;
	char who[64] = "";

	if (control_turn(dialogue->control, &pending->turn))
		return turn_begins(dialogue);
	if (pending_overdue(dialogue, PENDING_TURN_NS))
		turn_refused(dialogue, "");
	else if (pending->patience.waited_ns >= PENDING_LATE_NS &&
	         control_is_late(dialogue->control, PENDING_LATE_NS, who, sizeof(who)))
		turn_refused(dialogue, who);
	return false;
}

static bool step_prepares(struct dialogue *dialogue)
{
	struct request *request = dialogue->pending.request;

	if (!job_done(&request->job)) {
		if (pending_overdue(dialogue, PENDING_WORK_NS))
			overdue_work(dialogue);
		return false;
	}
	if (request->result != 0)
		dialogue_batch_error(dialogue, &request->error);
	else if (request->transaction == NULL)
		answer_ok(&dialogue->output); /* an empty batch */
	if (request->transaction == NULL) {
		pending_forget(dialogue);
		return false;
	}
	pending_go(dialogue, PENDING_POSTS);
	return true;
}

static void tell_reverted(struct dialogue *dialogue, const struct lease *lease)
{
	json_t *clouds = json_array(), *kept = json_array();
	char whom[PEER_TEXT_BYTES];
	uint32_t n_kept = 0;

	for (uint32_t i = 0; i < lease->difference.n; i++) {
		const struct difference_cloud *cloud = &lease->difference.clouds[i];

		n_kept += lease->kept[i];
		if (i < TOLD_CLOUDS)
			json_array_append_new(clouds, json_string(cloud->name));
		if (lease->kept[i] && n_kept <= TOLD_CLOUDS)
			json_array_append_new(kept, json_string(cloud->name));
	}
	peer_text(&lease->who, whom);
	event_tell(dialogue->control, RUN_LOG_NOTICE, "change",
	           json_pack("{s:o,s:s,s:I,s:s,s:o,s:i,s:o}", "who", peer_json(&lease->who), "how",
	                     "revert", "lease", (json_int_t)lease->number, "why", lease_why(lease),
	                     "clouds", clouds, "clouds_in_all", (int)lease->difference.n, "kept",
	                     kept),
	           "lease %" PRIu64 " of %s is undone: %s%s", lease->number, whom,
	           lease->end == LEASE_ASKED              ? "its owner asked for it"
	           : lease->end == LEASE_CONNECTION_ENDED ? "its connection ended"
	                                                  : "it was not renewed",
	           n_kept > 0 ? "; later changes by others stay" : "");
}

static void tell_changed(struct dialogue *dialogue, const struct request *request, uint64_t lease)
{
	const char *clouds[TOLD_CLOUDS];
	struct event_change change = {.who = &dialogue->who,
	                              .how = request->lease_ns > 0        ? "lease"
	                                     : request->kind == KIND_EDIT ? "line"
	                                     : request->batch.whole       ? "load"
	                                                                  : "batch",
	                              .lines = request->batch.text,
	                              .lines_n = request->batch.text_n,
	                              .clouds = clouds,
	                              .n_clouds = request->difference.n,
	                              .lease = lease,
	                              .lease_ns = request->lease_ns};

	for (uint32_t i = 0; i < request->difference.n && i < TOLD_CLOUDS; i++)
		clouds[i] = request->difference.clouds[i].name;
	event_change(dialogue->control, &change);
}

/* Does what follows once the transaction is with the workers. */
static void posted(struct dialogue *dialogue, struct request *request)
{
	if (request->kind == KIND_CLEAR) {
		control_cleared(dialogue->control);
		event_cleared(dialogue->control, &dialogue->who);
	} else if (request->kind == KIND_REVERT) {
		tell_reverted(dialogue, request->lease);
	} else if (request->kind != KIND_PROBE) {
		uint64_t lease = 0;

		if (request->lease_ns > 0) {
			lease = lease_begin(dialogue->control->leases, request->lease,
			                    &request->difference);
			request->lease = NULL;
			dialogue->lease = lease;
		}
		tell_changed(dialogue, request, lease);
	}
}

static bool step_posts(struct dialogue *dialogue)
{
	struct pending *pending = &dialogue->pending;
	struct request *request = pending->request;

	pending->number = control_post(dialogue->control, request->transaction,
	                               request->batch.draft, dialogue->now_ns);
	if (pending->number == 0)
		return false;
	request->transaction = NULL;
	request->batch.draft = NULL;
	request->holds = false;
	posted(dialogue, request);
	if (request->kind == KIND_PROBE) {
		dialogue->probe.number = pending->number;
		pending_forget(dialogue);
		return false;
	}
	pending_go(dialogue, PENDING_POSTED);
	return true;
}

static bool step_posted(struct dialogue *dialogue)
{
	struct pending *pending = &dialogue->pending;
	struct request *request = pending->request;
	const char *what = request->kind == KIND_CLEAR ? "counters are cleared there"
	                                               : "the change takes effect there";
	struct dialogue_done done = {.was = request->was,
	                             .command = request->parsed ? &request->command : NULL};
	char who[64], late[240];

	if (control_taken(dialogue->control, pending->number)) {
		if (request->lease_ns > 0)
			dialogue_leased(dialogue, request->lease_ns);
		else
			dialogue_done(dialogue, &done);
	} else {
		if (!pending_overdue(dialogue, PENDING_LATE_NS) ||
		    !control_is_late(dialogue->control, 0, who, sizeof(who)))
			return false;
		snprintf(late, sizeof(late),
		         "accepted, but %s stands still: %s when it polls again", who, what);
		done = (struct dialogue_done){.was = request->was, .late = late};
		dialogue_done(dialogue, &done);
	}
	pending_forget(dialogue);
	return false;
}

void pending_poll(struct dialogue *dialogue)
{
	bool goes_on = true;

	while (goes_on) {
		switch (dialogue->pending.step) {
		case PENDING_NONE:
			return;
		case PENDING_WORKS:
			goes_on = step_works(dialogue);
			break;
		case PENDING_LOOKS:
			goes_on = step_looks(dialogue);
			break;
		case PENDING_TURN:
			goes_on = step_turn(dialogue);
			break;
		case PENDING_PREPARES:
			goes_on = step_prepares(dialogue);
			break;
		case PENDING_POSTS:
			goes_on = step_posts(dialogue);
			break;
		case PENDING_POSTED:
			goes_on = step_posted(dialogue);
			break;
		}
	}
}

/* ---- beginning one ---- */

void pending_edit(struct dialogue *dialogue, const char *line, struct command *command)
{
	struct request *request = NULL;

	if (dialogue->not_begun)
		dialogue_error(
		        dialogue, "begin", ERROR_CONFLICT,
		        "this batch was refused at its beginning; say abort, and begin again");
	else
		request = pending_request(dialogue, KIND_EDIT, line, command);
	if (request == NULL && command != NULL)
		language_release(command);
	if (request == NULL)
		return;
	pending_start(dialogue, request, PENDING_TURN);
	if (command == NULL && !pending_give(dialogue, PENDING_WORKS, work_parse))
		return;
	pending_poll(dialogue);
}

void pending_begin(struct dialogue *dialogue)
{
	struct request *request = pending_request(dialogue, KIND_BEGIN, "begin", NULL);

	dialogue->not_begun = true; /* until it has begun; without memory it never does */
	if (request == NULL)
		return;
	pending_start(dialogue, request, PENDING_LOOKS);
	pending_poll(dialogue);
}

void pending_commit(struct dialogue *dialogue)
{
	struct request *request = pending_request(dialogue, KIND_COMMIT, "commit", NULL);

	dialogue->in_batch = false;
	if (request == NULL) {
		batch_abort(&dialogue->batch);
		return;
	}
	request->batch = dialogue->batch;
	request->lease_ns = dialogue->lease_ns;
	memset(&dialogue->batch, 0, sizeof(dialogue->batch));
	pending_start(dialogue, request, PENDING_TURN);
	pending_poll(dialogue);
}

void pending_clear(struct dialogue *dialogue)
{
	struct request *request = pending_request(dialogue, KIND_CLEAR, "clear counters", NULL);

	if (request == NULL)
		return;
	pending_start(dialogue, request, PENDING_TURN);
	pending_poll(dialogue);
}

void pending_probe(struct dialogue *dialogue, const char *line, const struct command *command)
{
	struct request *request = pending_request(dialogue, KIND_PROBE, line, command);

	if (request == NULL)
		return;
	pending_start(dialogue, request, PENDING_TURN);
	pending_poll(dialogue);
}

void pending_show(struct dialogue *dialogue, const char *line, const struct command *command,
                  enum show_what what, uint32_t cloud)
{
	struct request *request = pending_request(dialogue, KIND_SHOW, line, command);

	if (request == NULL)
		return;
	request->what = what;
	request->cloud = cloud;
	request->output.json = dialogue->output.json;
	pending_start(dialogue, request, PENDING_LOOKS);
	pending_poll(dialogue);
}

void pending_revert(struct dialogue *dialogue, struct lease *lease)
{
	struct request *request = pending_request(dialogue, KIND_REVERT, "revert", NULL);

	if (request == NULL)
		return;
	request->lease = lease;
	pending_start(dialogue, request, PENDING_TURN);
	pending_poll(dialogue);
}

void pending_load(struct dialogue *dialogue, const char *path)
{
	struct request *request = pending_request(dialogue, KIND_LOAD, path, NULL);

	if (request == NULL)
		return;
	pending_start(dialogue, request, PENDING_TURN);
	if (pending_give(dialogue, PENDING_WORKS, work_load))
		pending_poll(dialogue);
}

void pending_flight(struct dialogue *dialogue, const char *folder)
{
	struct request *request;
	char whole[PATH_MAX];

	if (dialogue->control->flight == NULL) {
		dialogue_error(dialogue, "flight", ERROR_CONFLICT,
		               "there is no flight: start weir with --flight 10s");
		return;
	}
	flight_dumps_folder(dialogue->control->flight, folder, whole);
	request = pending_request(dialogue, KIND_FLIGHT, whole, NULL);
	if (request == NULL)
		return;
	pending_start(dialogue, request, PENDING_WORKS);
	if (pending_give(dialogue, PENDING_WORKS, work_flight))
		pending_poll(dialogue);
}

void pending_file(struct dialogue *dialogue, const char *name, int fd)
{
	struct request *request;

	if (fd < 0) {
		dialogue_error(dialogue, "file", ERROR_BAD_FILE,
		               "no descriptor came with the line; send one with it, by SCM_RIGHTS");
		return;
	}
	request = pending_request(dialogue, KIND_FILE, name, NULL);
	if (request == NULL) {
		close(fd);
		return;
	}
	request->fd = fd;
	pending_start(dialogue, request, PENDING_TURN);
	if (pending_give(dialogue, PENDING_WORKS, work_file))
		pending_poll(dialogue);
}

void pending_capture(struct dialogue *dialogue, const char *line, const struct tap_plan *plan,
                     int fd)
{
	struct request *request = pending_request(dialogue, KIND_CAPTURE, line, NULL);

	if (request == NULL) {
		close(fd);
		return;
	}
	request->fd = fd;
	request->plan = *plan;
	request->plan.match = plan->match != NULL ? strdup(plan->match) : NULL;
	if (plan->match != NULL && request->plan.match == NULL) {
		job_forget(&request->job);
		dialogue_error(dialogue, "capture", ERROR_NO_MEMORY, "no memory for the capture");
		return;
	}
	pending_start(dialogue, request, PENDING_TURN);
	if (pending_give(dialogue, PENDING_WORKS, work_capture))
		pending_poll(dialogue);
}
