/* SPDX-License-Identifier: BSD-3-Clause */
#include "socket/capture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fates/capture_words.h"
#include "live/tap.h"
#include "socket/dialogue.h"
#include "socket/request.h"

/* Determines the target: a cloud, else a port of this name, else `all`. Returns false if it is none
 * of these. */
static bool find_target(const struct scenario *scenario, const char *name, struct tap_plan *plan)
{
	int port = scenario_find_port(scenario, name);

	if (scenario_find_cloud(scenario, name) >= 0) {
		strcpy(plan->target, name);
	} else if (port >= 0) {
		strcpy(plan->target, name);
		plan->port = true;
		plan->port_index = (uint32_t)port;
	} else if (strcmp(name, CAPTURE_ALL) != 0) {
		return false;
	}
	return true;
}

static void complain(struct dialogue *dialogue, const char *line, const char *name, uint32_t column,
                     const char *text)
{
	struct language_error wrong = {.column = column};

	language_error_set(&wrong, name, "%s", text);
	dialogue_language_error(dialogue, line, &wrong);
}

static void begin(struct dialogue *dialogue, const char *line, const struct capture_words *words)
{
	struct tap_plan plan = {.kinds = points_kinds(words->points), .snap = words->snap};
	char text[200];

	if (!find_target(*dialogue->control->scenario, words->target, &plan)) {
		snprintf(text, sizeof(text),
		         "there is no cloud or port `%s`; `show cloud` and `show ports` list them, "
		         "and `all` means all of them",
		         words->target);
		complain(dialogue, line, ERROR_UNKNOWN_CLOUD, words->target_column, text);
		return;
	}
	if (words->points & (1u << POINT_SENT) && plan.target[0] && !plan.port) {
		snprintf(text, sizeof(text),
		         "`sent` is a point of ports, and `%s` is a cloud; `capture PORT sent` "
		         "shows when its device took the packets",
		         words->target);
		complain(dialogue, line, ERROR_BAD_VALUE, words->target_column, text);
		return;
	}
	if (dialogue->n_descriptors == 0) {
		complain(dialogue, line, ERROR_BAD_FILE, 0,
		         "no descriptor came with the line: it must carry the memory for the "
		         "packets, as `weir ctl capture` sends it");
		return;
	}
	plan.match = words->matches ? (char *)(uintptr_t)words->match : NULL;
	pending_capture(dialogue, line, &plan, dialogue_descriptor_take(dialogue));
}

void capture_line(struct dialogue *dialogue, const char *line, const struct words *words)
{
	struct language_error wrong = {.column = 0};
	struct capture_words capture;

	if (words->n == 2 && !words->word[1].quoted && strcmp(words->word[1].text, "off") == 0) {
		capture_end(dialogue);
		answer_ok(&dialogue->output);
	} else if (dialogue->capture.tap != NULL) {
		complain(dialogue, line, ERROR_CONFLICT, 0,
		         "this conversation has a capture already; say `capture off` first");
	} else if (capture_words_parse(words, false, &capture, &wrong) != 0) {
		dialogue_language_error(dialogue, line, &wrong);
	} else {
		begin(dialogue, line, &capture);
	}
}

/* Returns the offset from the clock of the run to the wall clock. */
static int64_t wall_of(struct control *control)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)((uint64_t)now.tv_sec * SIMTIME_S + (uint64_t)now.tv_nsec -
	                 control->ops->now_ns(control->context));
}

void capture_made(struct dialogue *dialogue, struct request *request)
{
	struct control *control = dialogue->control;
	char text[100];

	if (request->result != 0) {
		dialogue_error(dialogue, "capture", request->wrong.name, request->wrong.text);
		return;
	}
	if (control->ops->tap_begin(control->context, request->tap, wall_of(control)) != 0) {
		snprintf(text, sizeof(text),
		         "%d captures are under way, which is the maximum; end one first",
		         TAPS_MAX);
		dialogue_error(dialogue, "capture", ERROR_FULL, text);
		return;
	}
	dialogue->capture.tap = request->tap;
	dialogue->capture.waits = true;
	request->tap = NULL;
	capture_poll(dialogue);
}

void capture_poll(struct dialogue *dialogue)
{
	struct control *control = dialogue->control;

	if (!dialogue->capture.waits ||
	    !control->ops->tap_is_on(control->context, dialogue->capture.tap))
		return;
	dialogue->capture.waits = false;
	answer_ok(&dialogue->output);
}

void capture_end(struct dialogue *dialogue)
{
	struct control *control = dialogue->control;

	if (dialogue->capture.tap != NULL)
		control->ops->tap_end(control->context, dialogue->capture.tap);
	dialogue->capture = (struct capture){.tap = NULL};
}
