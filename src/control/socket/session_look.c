/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of a conversation that change nothing: what weir is, what is in force and what it does,
 * packets as they pass, probes, and dumps of the flight. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "account/count.h"
#include "explain/explainer.h"
#include "fates/capture_words.h"
#include "live/tap.h"
#include "record/recording.h"
#include "units/human_unit.h"
#include "show/json.h"
#include "show/show.h"
#include "socket/session_state.h"
#include "stream/flight_dumps.h"
#include "stream/sampler.h"
#include "text/alloc_failure.h"

#define TAP_NS (5 * SIMTIME_MS) /* between looks whether workers have a tap */

/* ---- hello ---- */

/* In alphabetical order. */
static const char *const capabilities[] = {
        "batch", "capture", "events",           "files",  "flight", "json",
        "lease", "probe",   "read-only-socket", "sample", "totals", "whole"};
#define CAPABILITIES (sizeof(capabilities) / sizeof(capabilities[0]))

static void hello_json(struct session *session, const struct scenario *now, uint64_t up_ns)
{
	struct control *control = session->control;
	json_t *words = json_array(), *events = NULL;
	uint64_t first = 0, next = 0;

	for (size_t i = 0; i < CAPABILITIES; i++)
		json_array_append_new(words, json_string(capabilities[i]));
	if (control_events(control, &first, &next))
		events = json_pack("{s:I,s:I}", "first", (json_int_t)first, "next",
		                   (json_int_t)next);
	answer_object(&session->output,
	              json_pack("{s:s,s:i,s:b,s:s,s:I,s:o,s:I,s:b,s:i,s:i,s:i,s:o,s:o*,"
	                        "s:{s:i,s:I,s:I,s:i}}",
	                        "weir", WEIR_VERSION, "protocol", SESSION_PROTOCOL, "ok", 1, "run",
	                        control->run, "pid", (json_int_t)getpid(), "seed",
	                        json_seed(now->seed), "uptime_ns", (json_int_t)up_ns, "read_only",
	                        session->read_only, "ports", (int)now->n_ports, "clouds",
	                        (int)now->n_clouds, "workers",
	                        (int)control->ops->workers(control->context), "capabilities", words,
	                        "events", events, "limits", "line_bytes", SESSION_LINE_MAX,
	                        "sample_min_ns", (json_int_t)SAMPLER_LEAST_NS, "sample_max_ns",
	                        (json_int_t)SAMPLER_MOST_NS, "sample_clouds", SAMPLER_ROWS_MOST));
}

static void hello_text(struct session *session, const struct scenario *now, uint64_t up_ns)
{
	struct control *control = session->control;
	struct printed text;
	FILE *out = printed_begin(&text);

	fprintf(out,
	        "weir %s, protocol %d\npid %d, up for %s, seed %" PRIu64 ", run %s\n"
	        "%s, %s, %s\n%s\ncapabilities:",
	        WEIR_VERSION, SESSION_PROTOCOL, (int)getpid(),
	        human_of(HUMAN_NS, (double)up_ns, 3).text, now->seed, control->run,
	        count_of(now->n_ports, "port").text, count_of(now->n_clouds, "cloud").text,
	        count_of(control->ops->workers(control->context), "worker").text,
	        session->read_only ? "this socket is read-only"
	                           : "this conversation may change everything");
	for (size_t i = 0; i < CAPABILITIES; i++)
		fprintf(out, " %s", capabilities[i]);
	answer_printed(&session->output, "hello", &text);
}

/* Answers what a client must know first. It does not wait for looks: it needs three numbers. */
void session_hello(struct session *session)
{
	struct control *control = session->control;
	uint64_t up_ns = control_now_ns(control);

	control_lock(control);
	if (control->ends)
		session->over = true;
	else if (session->output.json)
		hello_json(session, *control->scenario, up_ns);
	else
		hello_text(session, *control->scenario, up_ns);
	control_unlock(control);
}

/* ---- show ---- */

static enum show_what what_of(const struct command *command)
{
	static const enum show_what whats[] = {[COMMAND_SHOW_CONFIG] = SHOW_CONFIG,
	                                       [COMMAND_SHOW_PORTS] = SHOW_PORTS,
	                                       [COMMAND_SHOW_WORKERS] = SHOW_WORKERS,
	                                       [COMMAND_SHOW_TOTALS] = SHOW_TOTALS,
	                                       [COMMAND_SHOW_PATH] = SHOW_PATH};
	const struct words *words = &command->words;

	if (command->kind != COMMAND_SHOW_CLOUD)
		return whats[command->kind];
	if (words->n < 3)
		return SHOW_CLOUDS;
	return words->n > 3 && strcmp(words->word[3].text, "all") == 0 ? SHOW_CLOUD_ALL
	                                                               : SHOW_CLOUD;
}

/* Within a look. */
static void show(struct session *session, const struct command *command, enum show_what what)
{
	struct control *control = session->control;
	const struct words *words = &command->words;
	struct language_error wrong = {.column = 0};
	char late[CONTROL_WORKER_BYTES];
	const char *address = NULL;
	int cloud = (int)command->number;

	if (what == SHOW_CLOUD || what == SHOW_CLOUD_ALL || what == SHOW_PATH) {
		cloud = scenario_find_cloud(*control->scenario, words->word[2].text);
		if (cloud < 0) {
			language_unknown_cloud(*control->scenario, &words->word[2], &wrong);
			session_language_error(session, &wrong);
			return;
		}
	}
	if (!control_is_late(control, late, sizeof(late)))
		late[0] = '\0';
	if (what == SHOW_CLOUD && words->n > 3) { /* one of a template */
		address = words->word[3].text;
		what = SHOW_CLOUD_ALL;
	}
	if (show_answer(&session->output, control, what, (uint32_t)cloud, address, late))
		return;
	session_wrong(
	        session, words->word[3].column, ERROR_UNKNOWN_WORD,
	        (*control->scenario)->clouds[cloud]->many
	                ? "`%s` has no cloud `%.80s`: no packet of it has arrived yet, or the "
	                  "template does not cover this address"
	                : "`%s` is a single cloud, not a template: leave `%.80s` out",
	        words->word[2].text, address);
}

void session_show(struct session *session, const struct command *command)
{
	if (command->kind == COMMAND_SHOW_TOTALS && command->number > TOTALS_CLOUDS_MOST) {
		session_wrong(session, command->words.word[2].column, ERROR_BAD_VALUE,
		              "at most %d clouds; `rest` has the others' sums", TOTALS_CLOUDS_MOST);
		return;
	}
	if (!control_look_wait(session->control, &session->asker)) {
		session->over = true;
		return;
	}
	show(session, command, what_of(command));
	control_look_end(session->control);
}

/* ---- capture ---- */

/* Determines the target: a cloud, else a port of this name, else `all`; and the number of workers.
 * Returns 0; -ENOENT if it is none of these; -ECANCELED if control has ended. */
static int find_target(struct control *control, const char *name, struct tap_plan *plan,
                       uint32_t *workers)
{
	int cloud, port;

	control_lock(control);
	if (control->ends) {
		control_unlock(control);
		return -ECANCELED;
	}
	cloud = scenario_find_cloud(*control->scenario, name);
	port = scenario_find_port(*control->scenario, name);
	*workers = control->ops->workers(control->context);
	control_unlock(control);
	if (cloud < 0 && port < 0)
		return strcmp(name, CAPTURE_ALL) == 0 ? 0 : -ENOENT;
	strcpy(plan->target, name);
	plan->port = cloud < 0;
	plan->port_index = plan->port ? (uint32_t)port : 0;
	return 0;
}

/* Begins the capture with the tap, and waits until every worker has it. */
static void capture_tap(struct session *session, struct tap *tap)
{
	struct control *control = session->control;
	struct timespec wall;
	bool waits;
	int result = 0;

	control_lock(control);
	waits = !control->ends;
	clock_gettime(CLOCK_REALTIME, &wall);
	if (waits)
		result = control->ops->tap_begin(control->context, tap,
		                                 (int64_t)((uint64_t)wall.tv_sec * SIMTIME_S +
		                                           (uint64_t)wall.tv_nsec -
		                                           control_now_ns(control)));
	if (waits && result == 0)
		session->tap = tap;
	while (session->tap != NULL && waits && !control->ops->tap_is_on(control->context, tap))
		waits = control_wait(control, &session->asker, TAP_NS);
	control_unlock(control);
	session->over |= !waits;
	if (session->tap == NULL)
		tap_free(tap);
	if (result != 0)
		session_error(session, "capture", ERROR_FULL,
		              "8 captures are under way, which is the maximum; end one first");
	else if (waits)
		answer_ok(&session->output);
}

_Static_assert(TAPS_MAX == 8, "the error says so");

static void capture_begin(struct session *session, const struct capture_words *words)
{
	struct tap_plan plan = {.kinds = points_kinds(words->points),
	                        .snap = words->snap,
	                        .match = words->matches ? (char *)(uintptr_t)words->match : NULL};
	struct problem problem = {.text = ""};
	struct tap *tap = NULL;
	uint32_t workers;
	int fd, result = find_target(session->control, words->target, &plan, &workers);

	if (words->explains) {
		plan.kinds = EXPLAINER_KINDS;
		plan.bare = EXPLAINER_KINDS & ~EXPLAINER_FRAMES;
	}
	if (result == -ECANCELED) {
		session->over = true;
	} else if (result != 0) {
		session_wrong(session, words->target_column, ERROR_UNKNOWN_CLOUD,
		              "there is no cloud or port `%s`; `show cloud` and `show ports` list "
		              "them, and `all` means all of them",
		              words->target);
	} else if (!words->explains && words->points & (1u << POINT_SENT) && plan.target[0] &&
	           !plan.port) {
		session_wrong(session, words->target_column, ERROR_BAD_VALUE,
		              "`sent` is a point of ports, and `%s` is a cloud; `capture PORT "
		              "sent` shows when its device took the packets",
		              words->target);
	} else if ((fd = session_descriptor_take(session)) < 0) {
		session_wrong(session, 0, ERROR_BAD_FILE,
		              "no descriptor came with the line: it must carry the memory for the "
		              "packets, as `weir ctl capture` sends it");
	} else {
		result = tap_make(&plan, workers, fd, &tap, &problem);
		close(fd);
		if (result == 0)
			capture_tap(session, tap);
		else
			session_error(session, "capture",
			              result == -ENOMEM ? ERROR_NO_MEMORY : ERROR_BAD_VALUE,
			              problem.text);
	}
}

/* `capture CLOUD|PORT|all [POINTS] [match EXPRESSION] [snap N]`, with the descriptor of a memory.
 * Workers put the fates of packets into this memory (capture/fate_ring.h) from the answer on, until
 * the conversation ends or receives `capture off`. A conversation has one capture at a time. weir
 * reads nothing of the memory, and sends nothing: a slow client loses packets of its own capture,
 * which are counted in that memory. */
void session_capture(struct session *session)
{
	const struct words *words = session->words;
	struct language_error wrong = {.column = 0};
	struct capture_words capture;

	if (words->n == 2 && words_is(words, 1, "off")) {
		session_capture_end(session);
		answer_ok(&session->output);
	} else if (session->tap != NULL) {
		session_wrong(session, 0, ERROR_CONFLICT,
		              "this conversation has a capture already; say `capture off` first");
	} else if (capture_words_parse(words, false, &capture, &wrong) != 0) {
		session_language_error(session, &wrong);
	} else {
		capture_begin(session, &capture);
	}
}

void session_capture_end(struct session *session)
{
	struct control *control = session->control;

	if (session->tap == NULL)
		return;
	control_lock(control);
	if (!control->ends) /* else the runtime frees it with its own end */
		control->ops->tap_end(control->context, session->tap);
	control_unlock(control);
	session->tap = NULL;
}

/* ---- flight ---- */

/* Dumps the flight into a folder; if none is named, DIR-DATE. */
void session_flight(struct session *session)
{
	const char *asked = words_text(session->words, 2);
	struct control *control = session->control;
	char folder[PATH_MAX], text[FLIGHT_TEXT_BYTES];
	struct problem problem = {.text = ""};
	struct recording_dump dump;
	struct printed line;
	int result;

	if (control->flight == NULL) {
		session_error(session, "flight", ERROR_CONFLICT,
		              "there is no flight: start weir with --flight 10s");
		return;
	}
	session_line_note(session, true);
	result = flight_dumps_write(control, asked, NULL, folder, &dump, &problem);
	if (result != 0) {
		session_error(session, "flight",
		              result == -ENOMEM ? ERROR_NO_MEMORY : ERROR_CONFLICT, problem.text);
		return;
	}
	flight_dump_text(&dump, text);
	if (session->output.json) {
		answer_object(&session->output, json_pack("{s:b,s:s,s:s}", "ok", 1, "folder",
		                                          folder, "flight", text));
		return;
	}
	fprintf(printed_begin(&line), "%s: %s\n", folder, text);
	answer_printed(&session->output, "flight", &line);
}
