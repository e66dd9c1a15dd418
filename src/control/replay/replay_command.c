/* SPDX-License-Identifier: BSD-3-Clause */
/* `weir replay`: from its command line to the files and the table. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>

#include "account/count.h"
#include "capture/atomic_file.h"
#include "command.h"
#include "explain/explain_run.h"
#include "explain/explainer.h"
#include "fates/fate_capture.h"
#include "fates/trace.h"
#include "language/scenario_check.h"
#include "language/scenario_file.h"
#include "language/short_form.h"
#include "offline/replay.h"
#include "packet/packet.h"
#include "record/recording_folder.h"
#include "record/recording_run.h"
#include "replay/decision_log.h"
#include "replay/picture.h"
#include "replay/replay_command.h"
#include "replay/replay_report.h"
#include "run/run_prepare.h"
#include "text/alloc_failure.h"
#include "text/word.h"

/* `weir replay --recording DIR`: runs a recorded run again, and prints the outcome. */

static void print_worker(FILE *out, uint32_t index, const struct rerun_worker *worker, bool ideal)
{
	const simtime lacked_ns = worker->lacked_ns;

	if (ideal && lacked_ns != SIMTIME_NEVER)
		fprintf(out,
		        "worker %" PRIu32 ": from +%" PRIu64 ".%09" PRIu64
		        " s on, weir had no memory for some packets: they find some here, and "
		        "nothing is compared\n",
		        index, lacked_ns / SIMTIME_S, lacked_ns % SIMTIME_S);
	if (worker->unknown[0])
		fprintf(out, "worker %" PRIu32 ": known up to +%" PRIu64 ".%09" PRIu64 " s: %s\n",
		        index, worker->known_ns / SIMTIME_S, worker->known_ns % SIMTIME_S,
		        worker->unknown);
}

static void print_begin(FILE *out, const struct rerun_options *options,
                        const struct rerun_result *result)
{
	simtime from_ns = SIMTIME_NEVER;

	for (uint32_t i = 0; i < options->workers; i++) {
		if (result->workers[i].from_ns > 0)
			from_ns = simtime_min(from_ns, result->workers[i].from_ns);
	}
	if (from_ns != SIMTIME_NEVER)
		fprintf(out, "from +%" PRIu64 ".%09" PRIu64 " s on; ", from_ns / SIMTIME_S,
		        from_ns % SIMTIME_S);
}

static void print_outcome(FILE *out, const struct rerun_options *options,
                          const struct rerun_result *result)
{
	uint64_t packets = 0, changes = 0;
	char digits[COUNT_SIZE];

	for (uint32_t i = 0; i < options->workers; i++) {
		packets += result->workers[i].packets;
		changes = RTE_MAX(changes, result->workers[i].changes);
	}
	fprintf(out, "%s came in, %s, %s left; ", count_of(packets, "packet").text,
	        count_of(changes, "change").text, count_text(digits, result->departures));
	if (options->flight)
		print_begin(out, options, result);
	if (options->otherwise)
		fputs("not compared: this is a changed run, not the recorded one\n", out);
	else if (options->flight)
		fprintf(out, "%s of departures, their times and counters: all agree\n",
		        count_of(result->checks, "comparison").text);
	else
		fprintf(out,
		        "%s compared: all left at the same nanosecond with the same bytes; %s of "
		        "counters: all agree\n",
		        count_text(digits, result->compared),
		        count_of(result->checks, "comparison").text);
	if (result->swapped > 0)
		fprintf(out,
		        "%" PRIu64
		        " left in a different order within one nanosecond: a device was full\n",
		        result->swapped);
	if (result->unsent > 0)
		fprintf(out, "%" PRIu64 " were lost by weir itself, when no device took them%s\n",
		        result->unsent,
		        options->ideal ? ": they leave here" : "; they are left out (--ideal)");
	for (uint32_t i = 0; i < options->workers; i++)
		print_worker(out, i, &result->workers[i], options->ideal);
	if (result->damage[0])
		fprintf(out, "ingress.pcapng: %s\n", result->damage);
}

/* Prints what was compared to `out`, and returns 0; -EILSEQ with problem if the run differs from
 * the recorded one; or an error of rerun_run. */
static int replay_recording_run(const struct replay_arguments *arguments,
                                struct recording_folder *folder, const struct scenario *scenario,
                                const struct replay_options *options, FILE *out,
                                struct replay_result *result, struct problem *problem)
{
	const struct recording_about *about = recording_folder_about(folder);
	struct replay_options replay = *options;
	struct rerun_options rerun = recording_folder_rerun(folder, &replay);
	struct rerun_result *outcome = calloc(1, sizeof(*outcome));
	char other[RECORDING_OTHER_BYTES];
	int rc;

	if (!outcome) {
		problem_set(problem, -1, "no memory");
		return -ENOMEM;
	}
	rc = rerun_run(scenario, &rerun, outcome, problem);
	if (rc == 0 && outcome->differs) {
		problem_set(problem, -1, "%s: differs from the recorded run: %s%s",
		            arguments->recording, outcome->difference,
		            recording_other_version(about, other));
		rc = -EILSEQ;
	}
	if (rc == 0)
		print_outcome(out, &rerun, outcome);
	*result = outcome->replay;
	free(outcome);
	return rc;
}

#define BAR 40

static volatile sig_atomic_t stopped;

/* The state of one run. */
struct session {
	struct replay_arguments arguments;
	char *command; /* the command line, for the picture */
	struct scenario *scenario;
	struct atomic_file *report;
	struct decision_log *log;
	struct picture *picture;
	struct fate_capture *capture;
	struct explain_run *explain;
	struct recording_folder *folder; /* --recording; or NULL */
	struct trace *trace;             /* --packet; or NULL */
	/* forwards fates to all of these that there are */
	struct witness tee;
	bool bar;
};

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

static void tell_all(struct witness *witness, const struct fate *fate)
{
	struct session *session =
	        (struct session *)((char *)witness - offsetof(struct session, tee));
	const bool decided = fate->kind <= FATE_DROPPED;

	if (session->log && decided)
		decision_log_witness(session->log)->tell(decision_log_witness(session->log), fate);
	if (session->picture && decided)
		picture_witness(session->picture)->tell(picture_witness(session->picture), fate);
	if (session->capture)
		fate_capture_put(session->capture, fate, 0);
	if (session->explain)
		explain_run_take(session->explain, &fate, 1);
	/* Not a delivery in advance: the departure is traced when it happens. */
	if (session->trace && fate->packet == session->arguments.packet &&
	    fate->kind != FATE_DELIVERED)
		trace_put(session->trace, fate, 0);
}

static struct witness *choose_witness(struct session *session)
{
	session->tee.tell = tell_all;
	if (session->trace) {
		session->tee.way = ~((1u << FATE_DELIVERED) | (1u << FATE_DROPPED));
		return &session->tee;
	}
	if (session->capture)
		session->tee.way |= points_kinds(POINTS_DEFAULT);
	if (session->explain)
		session->tee.way |= EXPLAINER_WAY;
	return session->tee.way || session->log || session->picture ? &session->tee : NULL;
}

/* Called when all events up to `now` have been reported. */
static int stepped(void *argument, simtime now, struct problem *problem)
{
	struct session *session = argument;

	if (session->trace)
		trace_settle(session->trace, now);
	if (session->explain)
		explain_run_step(session->explain, now);
	return session->capture ? fate_capture_settle(session->capture, now, problem) : 0;
}

static void show_progress(void *argument, uint64_t done_bytes, uint64_t all_bytes)
{
	struct session *session = argument;
	double share = all_bytes ? (double)done_bytes / (double)all_bytes : 0;
	int full;

	if (!session->bar)
		return;
	if (share > 1)
		share = 1;
	full = (int)(share * BAR);
	if (all_bytes == 0)
		fprintf(stderr, "\r%" PRIu64 " MB read ", done_bytes / 1000000);
	else
		fprintf(stderr, "\r[%.*s%*s] %3d%%  %" PRIu64 " of %" PRIu64 " MB ", full,
		        "########################################", BAR - full, "",
		        (int)(share * 100), done_bytes / 1000000, all_bytes / 1000000);
	fflush(stderr);
}

static void explain_in_picture(struct session *session)
{
	char *text = explain_run_text(session->explain);

	if (text)
		picture_say(session->picture, EXPLAIN_HEADING, text);
	free(text);
}

/* Called when the captures are complete: finishes the other files, so that all appear or none. */
static int complete(void *argument, const struct replay_result *result, struct problem *problem)
{
	static const uint64_t none_missed[FATE_KINDS];
	struct session *session = argument;
	int error = 0;

	if (session->report)
		error = report_file_write(session->report, session->scenario, result, problem);
	if (!error && session->log)
		error = decision_log_finish(session->log, problem);
	if (!error && session->explain)
		error = explain_run_finish(session->explain, 0, problem);
	if (!error && session->explain && session->picture)
		explain_in_picture(session);
	if (!error && session->picture)
		error = picture_finish(session->picture, result, problem);
	if (!error && session->capture)
		error = fate_capture_finish(session->capture, none_missed, problem);
	if (alloc_failure_taken() && !error) {
		problem_set(problem, -1, "out of memory: the report or the picture is incomplete");
		error = -ENOMEM;
	}
	return error;
}

static int open_capture(struct session *session, struct problem *problem)
{
	char comment[96];

	snprintf(comment, sizeof(comment), "weir replay, seed %" PRIu64, session->scenario->seed);
	return fate_capture_open(session->arguments.capture,
	                         &(struct fate_capture_plan){.comment = comment,
	                                                     .points = POINTS_DEFAULT,
	                                                     .snap = PACKET_BYTES_MAX},
	                         &session->capture, problem);
}

static int open_files(struct session *session, struct problem *problem)
{
	const struct replay_arguments *a = &session->arguments;
	int error = 0;

	if (a->report)
		error = atomic_file_open(a->report, &session->report, problem);
	if (!error && a->log)
		error = decision_log_open(a->log, session->scenario, false, &session->log, problem);
	if (!error && a->picture)
		error = picture_open(
		        a->picture,
		        (struct picture_of){.command = session->command, .captured = true},
		        session->scenario, &session->picture, problem);
	if (!error && a->capture)
		error = open_capture(session, problem);
	if (!error && (a->explain || a->explain_json))
		error = explain_run_of(session->scenario, a->explain_json, !a->recording,
		                       &session->explain, problem);
	return error;
}

/* Prepares to print the way of a packet in words. */
static int open_trace(struct session *session, struct problem *problem)
{
	static char ports[SCENARIO_PORTS_MAX][SCENARIO_NAME_BYTES];
	const struct scenario *scenario = session->scenario;

	if (!session->arguments.packet)
		return 0;
	for (uint32_t i = 0; i < scenario->n_ports; i++)
		memcpy(ports[i], scenario->ports[i].name, sizeof(ports[i]));
	session->trace =
	        trace_make(session->arguments.stdout_taken ? stderr : stdout, scenario->n_ports);
	if (session->trace)
		return trace_names(session->trace, scenario->n_ports,
		                   (const char(*)[SCENARIO_NAME_BYTES])ports);
	problem_set(problem, -1, "no memory for the path of a packet");
	return -ENOMEM;
}

/* Says that no cloud met the packet whose path was asked for, and which packets each port has. */
static void tell_not_met(const struct session *session, const struct replay_result *result)
{
	fprintf(stderr, "weir replay: --packet %" PRIu64 ": no such packet came to a cloud;",
	        session->arguments.packet);
	for (uint32_t i = 0; i < session->scenario->n_ports; i++) {
		const struct replay_port_report *port = &result->ports[i];

		fprintf(stderr, "%s port %s has ", i ? "," : "", session->scenario->ports[i].name);
		if (port->last > 0)
			fprintf(stderr, "%" PRIu64 " to %" PRIu64, port->first, port->last);
		else
			fputs("none", stderr);
	}
	fputc('\n', stderr);
}

static int run_again(struct session *session, const struct replay_options *options,
                     struct replay_result *result, struct problem *problem)
{
	const struct replay_arguments *a = &session->arguments;

	if (!session->folder)
		return replay_run(session->scenario, options, result, problem);
	return replay_recording_run(a, session->folder, session->scenario, options,
	                            a->stdout_taken ? stderr : stdout, result, problem);
}

static int publish_files(struct session *session, struct problem *problem)
{
	int error = 0;

	if (session->report)
		error = atomic_file_publish(session->report, problem);
	session->report = NULL;
	if (!error && session->log) {
		error = decision_log_publish(session->log, problem);
		session->log = NULL;
	}
	if (!error && session->picture) {
		error = picture_publish(session->picture, problem);
		session->picture = NULL;
	}
	if (!error && session->capture) {
		error = fate_capture_publish(session->capture, problem);
		session->capture = NULL;
	}
	if (!error && session->explain) {
		if (session->arguments.explain)
			explain_run_print(session->explain,
			                  session->arguments.stdout_taken ? stderr : stdout);
		error = explain_run_publish(session->explain, problem);
	}
	return error;
}

static int run(struct session *session, struct problem *problem)
{
	const struct replay_arguments *a = &session->arguments;
	struct replay_result result = {.last_ns = 0};
	struct replay_options options = {
	        .in = a->in,
	        .out = a->out,
	        .n_in = a->n_in,
	        .n_out = a->n_out,
	        .split = a->split,
	        .link_type = a->link_type,
	        .burst = (uint32_t)a->burst,
	        .memory_bytes = a->memory_bytes,
	        .stop = &stopped,
	        .progress = show_progress,
	        .complete = complete,
	        .stepped = stepped,
	        .argument = session,
	};
	int error = open_files(session, problem);

	if (!error)
		error = open_trace(session, problem);
	options.witness = choose_witness(session);
	if (!error)
		error = run_again(session, &options, &result, problem);
	if (session->bar)
		fprintf(stderr, "\r%*s\r", BAR + 40, "");
	if (!error && session->trace)
		trace_rest(session->trace);
	if (!error && session->trace && trace_is_empty(session->trace))
		tell_not_met(session, &result);
	trace_free(session->trace);
	if (!error)
		error = publish_files(session, problem);
	atomic_file_discard(session->report);
	decision_log_discard(session->log);
	picture_discard(session->picture);
	fate_capture_discard(session->capture);
	explain_run_free(session->explain);
	if (!error) {
		replay_warnings_print(stderr, session->scenario, &result);
		if (!a->quiet)
			replay_table_print(a->stdout_taken ? stderr : stdout, session->scenario,
			                   &result);
	}
	replay_result_free(&result);
	return error;
}

static void warn(void *argument, const char *line)
{
	(void)argument;
	fprintf(stderr, "weir replay: %s\n", line);
}

/* Loads the scenario of a file, or that at the beginning of a recording. Returns 0, or -errno with
 * message. */
static int load(struct session *session, char *message, size_t room)
{
	struct replay_arguments *a = &session->arguments;
	const struct short_form form = {.command = "replay",
	                                .plain = short_form_plain,
	                                .config = &a->config,
	                                .both = a->statements,
	                                .down = "",
	                                .up = ""};
	struct problem problem;
	int rc;

	if (!a->recording)
		return short_form_make(&form, &session->scenario, message, room);
	rc = recording_folder_open(a->recording, &a->asked, &session->folder, &problem);
	if (rc < 0) {
		snprintf(message, room, "%s", problem.text);
		return rc;
	}
	recording_reach(session->folder, !a->config, warn, NULL);
	session->scenario = scenario_copy(recording_folder_first(session->folder));
	if (session->scenario)
		return 0;
	snprintf(message, room, "no memory");
	return -ENOMEM;
}

int command_replay(int argc, char **argv)
{
	struct session session = {.report = NULL};
	struct problem problem = {.text = ""};
	char message[SCENARIO_FILE_ERROR];
	/* What a replay writes does not say where: the same replay writes the same bytes. */
	static const char *const outputs[] = {"--out",     "--report",       "--log", "--capture",
	                                      "--picture", "--explain-json", NULL};
	int status;
	static const int stopping[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = stop};

	session.command = command_line_text("replay", argc, argv, outputs);
	status = replay_arguments_parse(argc, argv, &session.arguments);
	if (status != OPTIONS_RUN) {
		free(session.command);
		return status;
	}
	if (load(&session, message, sizeof(message))) {
		fprintf(stderr, "weir replay: %s\n", message);
		free(session.command);
		return 2;
	}
	scenario_warn(session.scenario, stderr);
	if (session.arguments.asked.seed_given) {
		session.scenario->seed = session.arguments.asked.seed;
		session.scenario->seed_given = true;
	}
	run_seed_choose(session.scenario);
	session.bar = !session.arguments.quiet && isatty(STDERR_FILENO);
	/* A stop signal makes the run end and remove what it began. A broken pipe and a limit of
	 * file size become errors of writing, instead of killing the process. */
	for (size_t i = 0; i < sizeof(stopping) / sizeof(stopping[0]); i++)
		sigaction(stopping[i], &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	status = replay_arguments_bind(&session.arguments, session.scenario, &problem);
	if (!status)
		status = run(&session, &problem);
	if (status)
		fprintf(stderr, "weir replay: %s\n", problem.text);
	scenario_free(session.scenario);
	recording_folder_close(session.folder);
	free(session.command);
	return status == 0 ? 0 : status == -EINVAL || status == -ENOSPC ? 2 : 1;
}
