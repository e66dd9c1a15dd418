/* SPDX-License-Identifier: BSD-3-Clause */
#include "socket/errand.h"

#include <string.h>
#include <unistd.h>

#include "socket/dialogue.h"
#include "socket/request.h"
#include "socket/session.h"

/* NULL: no memory, and that is answered. */
static struct request *errand_request(struct dialogue *dialogue, enum request_kind kind,
                                      const char *line, const struct command *command)
{
	struct request *request =
	        request_make(dialogue->control, kind, line, command, &dialogue->handed);

	if (request == NULL)
		dialogue_error(dialogue, "line", ERROR_NO_MEMORY,
		               "no memory for what it asks; nothing is changed");
	else
		request->batch.lines = dialogue->batch.lines;
	return request;
}

/* ---- steps ---- */

bool errand_pending(const struct errand *errand)
{
	return errand->step != ERRAND_NONE;
}

void errand_forget(struct dialogue *dialogue)
{
	struct errand *errand = &dialogue->errand;

	if (errand->turn.waiting)
		control_leave(dialogue->control, &errand->turn);
	if (errand->request != NULL)
		job_forget(&errand->request->job);
	*errand = (struct errand){.step = ERRAND_NONE};
}

static void errand_go(struct dialogue *dialogue, enum errand_step step)
{
	dialogue->errand.step = step;
	dialogue->errand.patience = (struct patience){.last_ns = dialogue->now_ns};
}

static void errand_start(struct dialogue *dialogue, struct request *request, enum errand_step step)
{
	dialogue->errand.request = request;
	errand_go(dialogue, step);
}

/* Has the work done. False: no thread can be had; answered, and over. */
static bool errand_give(struct dialogue *dialogue, enum errand_step step,
                        void (*work)(struct job *job))
{
	struct request *request = dialogue->errand.request;

	request->job.work = work;
	if (job_give(dialogue->control->desk, &request->job) == 0) {
		errand_go(dialogue, step);
		return true;
	}
	if (work == work_show || work == work_begin)
		control_look_end(dialogue->control);
	dialogue_error(
	        dialogue, "server", "refused",
	        "too much is under way, and does not come to its end; nothing is changed, try "
	        "again later");
	errand_forget(dialogue);
	return false;
}

static bool errand_overdue(struct dialogue *dialogue, uint64_t most_ns)
{
	return patience_look(&dialogue->errand.patience, dialogue->now_ns) >= most_ns;
}

static void overdue_work(struct dialogue *dialogue)
{
	dialogue_batch_error(
	        dialogue,
	        &(struct batch_error){.name = "line",
	                              .code = "refused",
	                              .message = "this takes longer than 20 s, and is given up; "
	                                         "nothing is changed; let it name less at once"});
	errand_forget(dialogue);
}

/* The line has been parsed. True: it goes on. */
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
		dialogue_done(dialogue, &request->command, NULL);
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
		                   "`%s` has no cloud `%.80s`: no packet of it came yet, or it is "
		                   "none of those that the template is for",
		                   words->word[2].text, words->word[3].text);
	else
		language_error_set(&wrong, ERROR_UNKNOWN_WORD,
		                   "`%s` is one cloud, and not one an address: leave `%.80s` out",
		                   words->word[2].text, words->word[3].text);
	dialogue_language_error(dialogue, request->line, &wrong);
}

static void handed_over(struct dialogue *dialogue, struct request *request)
{
	if (request->result != 0) {
		dialogue_error(dialogue, "file", request->wrong.name, request->wrong.text);
		return;
	}
	if (handed_put(&dialogue->handed, request->file) != 0)
		dialogue_error(
		        dialogue, "file", ERROR_FULL,
		        "more than 64 files, or 16 MiB of them, are handed over; take fewer, "
		        "or smaller ones");
	else
		answer_ok(&dialogue->output);
	request->file = NULL;
}

/* The thread that needs no turn has done its work. */
static bool step_works(struct dialogue *dialogue)
{
	struct request *request = dialogue->errand.request;

	if (!job_done(&request->job)) {
		if (errand_overdue(dialogue, ERRAND_WORK_NS))
			overdue_work(dialogue);
		return false;
	}
	if (request->kind == KIND_EDIT && parsed(dialogue, request)) {
		errand_go(dialogue, ERRAND_TURN);
		return true;
	}
	if (request->kind == KIND_BEGIN)
		begun(dialogue, request);
	else if (request->kind == KIND_SHOW)
		shown(dialogue, request);
	else if (request->kind == KIND_FILE)
		handed_over(dialogue, request);
	errand_forget(dialogue);
	return false;
}

static bool step_looks(struct dialogue *dialogue)
{
	struct request *request = dialogue->errand.request;

	if (!control_look_begin(dialogue->control))
		return false;
	/* What it named is perhaps there no more, or another is there now. */
	if (request->kind == KIND_SHOW && request->command.words.n > 2 &&
	    request->what != SHOW_CLOUDS) {
		int index = scenario_find_cloud(*dialogue->control->scenario,
		                                request->command.words.word[2].text);

		if (index < 0) {
			struct language_error wrong = {.column = 0};

			control_look_end(dialogue->control);
			language_unknown_cloud(*dialogue->control->scenario,
			                       &request->command.words.word[2], &wrong);
			dialogue_language_error(dialogue, request->line, &wrong);
			errand_forget(dialogue);
			return false;
		}
		request->cloud = (uint32_t)index;
	}
	if (!control_is_late(dialogue->control, CONTROL_SETTLES_NS, request->note,
	                     sizeof(request->note)))
		request->note[0] = '\0';
	return errand_give(dialogue, ERRAND_WORKS,
	                   request->kind == KIND_BEGIN ? work_begin : work_show);
}

static void turn_refused(struct dialogue *dialogue, const char *who)
{
	struct batch_error error = {.name = "scenario", .code = "refused"};

	snprintf(error.message, sizeof(error.message),
	         *who ? "%s stands still, and has not taken the change before; nothing is changed; "
	                "try "
	                "again when it goes on"
	              : "others change the scenario all the while%s; nothing is changed; try again",
	         who);
	dialogue_batch_error(dialogue, &error);
	errand_forget(dialogue);
}

/* It is its turn: what takes no time is made here. */
static bool turn_begins(struct dialogue *dialogue)
{
	struct request *request = dialogue->errand.request;
	struct control *control = dialogue->control;
	struct language_error wrong = {.column = 0};

	request->holds = true;
	if (request->kind == KIND_EDIT || request->kind == KIND_COMMIT)
		return errand_give(dialogue, ERRAND_PREPARES, work_prepare);
	if (request->kind == KIND_PROBE &&
	    probe_begin(control, &request->command.words, &dialogue->probe, &request->transaction,
	                &wrong) != 0) {
		dialogue_language_error(dialogue, request->line, &wrong);
		errand_forget(dialogue);
		return false;
	}
	if (request->kind == KIND_CLEAR &&
	    control->ops->clear(control->context, &request->transaction) != 0) {
		dialogue_error(dialogue, "counters", ERROR_NO_MEMORY, "no memory to clear them");
		errand_forget(dialogue);
		return false;
	}
	errand_go(dialogue, ERRAND_POSTS);
	return true;
}

static bool step_turn(struct dialogue *dialogue)
{
	struct errand *errand = &dialogue->errand;
	char who[64] = "";

	if (control_turn(dialogue->control, &errand->turn))
		return turn_begins(dialogue);
	if (errand_overdue(dialogue, ERRAND_TURN_NS))
		turn_refused(dialogue, "");
	else if (errand->patience.waited_ns >= ERRAND_LATE_NS &&
	         control_is_late(dialogue->control, ERRAND_LATE_NS, who, sizeof(who)))
		turn_refused(dialogue, who);
	return false;
}

static bool step_prepares(struct dialogue *dialogue)
{
	struct request *request = dialogue->errand.request;

	if (!job_done(&request->job)) {
		if (errand_overdue(dialogue, ERRAND_WORK_NS))
			overdue_work(dialogue);
		return false;
	}
	if (request->result != 0)
		dialogue_batch_error(dialogue, &request->error);
	else if (request->transaction == NULL)
		answer_ok(&dialogue->output); /* an empty batch */
	if (request->transaction == NULL) {
		errand_forget(dialogue);
		return false;
	}
	errand_go(dialogue, ERRAND_POSTS);
	return true;
}

static bool step_posts(struct dialogue *dialogue)
{
	struct errand *errand = &dialogue->errand;
	struct request *request = errand->request;

	errand->number = control_post(dialogue->control, request->transaction, request->batch.draft,
	                              dialogue->now_ns);
	if (errand->number == 0)
		return false;
	request->transaction = NULL;
	request->batch.draft = NULL;
	request->holds = false;
	if (request->kind == KIND_CLEAR)
		control_cleared(dialogue->control);
	if (request->kind == KIND_PROBE) {
		dialogue->probe.number = errand->number;
		errand_forget(dialogue);
		return false;
	}
	errand_go(dialogue, ERRAND_POSTED);
	return true;
}

static bool step_posted(struct dialogue *dialogue)
{
	struct errand *errand = &dialogue->errand;
	struct request *request = errand->request;
	const char *what = request->kind == KIND_CLEAR ? "counters are cleared there"
	                                               : "the change is in force there";
	char who[64], late[240];

	if (control_taken(dialogue->control, errand->number)) {
		dialogue_done(dialogue, request->parsed ? &request->command : NULL, NULL);
	} else {
		if (!errand_overdue(dialogue, ERRAND_LATE_NS) ||
		    !control_is_late(dialogue->control, 0, who, sizeof(who)))
			return false;
		snprintf(late, sizeof(late),
		         "accepted, but %s stands still: %s when it comes round", who, what);
		dialogue_done(dialogue, NULL, late);
	}
	errand_forget(dialogue);
	return false;
}

void errand_poll(struct dialogue *dialogue)
{
	bool goes_on = true;

	while (goes_on) {
		switch (dialogue->errand.step) {
		case ERRAND_NONE:
			return;
		case ERRAND_WORKS:
			goes_on = step_works(dialogue);
			break;
		case ERRAND_LOOKS:
			goes_on = step_looks(dialogue);
			break;
		case ERRAND_TURN:
			goes_on = step_turn(dialogue);
			break;
		case ERRAND_PREPARES:
			goes_on = step_prepares(dialogue);
			break;
		case ERRAND_POSTS:
			goes_on = step_posts(dialogue);
			break;
		case ERRAND_POSTED:
			goes_on = step_posted(dialogue);
			break;
		}
	}
}

/* ---- beginning one ---- */

void errand_edit(struct dialogue *dialogue, const char *line, struct command *command)
{
	struct request *request = NULL;

	if (dialogue->not_begun)
		dialogue_error(
		        dialogue, "begin", ERROR_CONFLICT,
		        "there was no memory to begin the batch of this line; say abort, and "
		        "begin it again");
	else
		request = errand_request(dialogue, KIND_EDIT, line, command);
	if (request == NULL && command != NULL)
		language_release(command);
	if (request == NULL)
		return;
	errand_start(dialogue, request, ERRAND_TURN);
	if (command == NULL && !errand_give(dialogue, ERRAND_WORKS, work_parse))
		return;
	errand_poll(dialogue);
}

void errand_begin(struct dialogue *dialogue)
{
	struct request *request = errand_request(dialogue, KIND_BEGIN, "begin", NULL);

	dialogue->not_begun = true; /* until it has: no memory, and no thread, end it before */
	if (request == NULL)
		return;
	errand_start(dialogue, request, ERRAND_LOOKS);
	errand_poll(dialogue);
}

void errand_commit(struct dialogue *dialogue)
{
	struct request *request = errand_request(dialogue, KIND_COMMIT, "commit", NULL);

	dialogue->in_batch = false;
	if (request == NULL) {
		batch_abort(&dialogue->batch);
		return;
	}
	request->batch = dialogue->batch;
	memset(&dialogue->batch, 0, sizeof(dialogue->batch));
	errand_start(dialogue, request, ERRAND_TURN);
	errand_poll(dialogue);
}

void errand_clear(struct dialogue *dialogue)
{
	struct request *request = errand_request(dialogue, KIND_CLEAR, "clear counters", NULL);

	if (request == NULL)
		return;
	errand_start(dialogue, request, ERRAND_TURN);
	errand_poll(dialogue);
}

void errand_probe(struct dialogue *dialogue, const char *line, const struct command *command)
{
	struct request *request = errand_request(dialogue, KIND_PROBE, line, command);

	if (request == NULL)
		return;
	errand_start(dialogue, request, ERRAND_TURN);
	errand_poll(dialogue);
}

void errand_show(struct dialogue *dialogue, const char *line, const struct command *command,
                 enum show_what what, uint32_t cloud)
{
	struct request *request = errand_request(dialogue, KIND_SHOW, line, command);

	if (request == NULL)
		return;
	request->what = what;
	request->cloud = cloud;
	request->output.json = dialogue->output.json;
	errand_start(dialogue, request, ERRAND_LOOKS);
	errand_poll(dialogue);
}

void errand_file(struct dialogue *dialogue, const char *name, int fd)
{
	struct request *request;

	if (fd < 0) {
		dialogue_error(dialogue, "file", ERROR_BAD_FILE,
		               "no descriptor came with the line; send one with it, by SCM_RIGHTS");
		return;
	}
	request = errand_request(dialogue, KIND_FILE, name, NULL);
	if (request == NULL) {
		close(fd);
		return;
	}
	request->fd = fd;
	errand_start(dialogue, request, ERRAND_TURN);
	if (errand_give(dialogue, ERRAND_WORKS, work_file))
		errand_poll(dialogue);
}
