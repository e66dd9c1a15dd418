/* SPDX-License-Identifier: BSD-3-Clause */
/* `weir on`: lets the packets of an interface cross weir, from its command line to its end. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "engine/engine_report.h"
#include "machine/clock.h"
#include "machine/run_log.h"
#include "on/on.h"
#include "socket/server.h"
#include "text/alloc_failure.h"

#define TICK_MS 100
/* At the end. */
#define EMPTY_TICK_MS 10
#define EMPTY_NS      (2 * SIMTIME_S)
#define BRIEFS        64

/* Both name the same ends. */
_Static_assert((int)AROUND_OUTSIDE == (int)PATH_FAR && (int)AROUND_INSIDE == (int)PATH_NEAR,
               "the interface's sides are the path's ends");

struct session {
	const struct on_arguments *arguments;
	struct path_run run;
	struct on_place place;
	struct around around;
	bool is_gone; /* the place, or the interface; or it was never there */
};

/* From now on neither an interface nor a program is touched but by closing it. */
static void give_up_privileges(const struct session *session)
{
	const struct path_arguments *path = &session->arguments->path;
	const char *files[] = {server_path(session->run.server),
	                       path->report,
	                       path->log,
	                       path->picture,
	                       path->pcap,
	                       path->explain_json};

	run_give_up_privileges(session->run.runtime, &path->record, files,
	                       sizeof(files) / sizeof(files[0]));
}

/* Packets still go their usual way. */
static int open_interface(struct session *session, const char *container, struct problem *problem)
{
	const struct on_place *place = &session->place;
	int rc = on_place_open(session->arguments, container, &session->place, problem);

	session->is_gone = rc == -ENOENT;
	if (rc < 0)
		return rc;
	return around_open(&(struct around_plan){.net = place->net,
	                                         .interface = place->interface,
	                                         .match = place->match[0] ? place->match : NULL},
	                   &session->around, problem);
}

/* Nothing is on its detour before all is ready for it. */
static int start(struct session *session, const char *container, struct problem *problem)
{
	const struct path_arguments *path = &session->arguments->path;
	struct around *around = &session->around;
	cpu_set_t allowed;
	int rc;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	rc = path_run_open(&session->run, problem);
	if (rc == 0)
		rc = open_interface(session, container, problem);
	if (rc == 0)
		rc = path_run_listen(&session->run, path->socket, path->socket != NULL, problem);
	if (rc == 0)
		rc = path_run_start(&session->run, around->ends, problem);
	if (rc == 0 && !path->cores)
		rest_let_move(&allowed);
	if (rc == 0)
		rc = around_begin(around, problem);
	if (rc < 0)
		return rc;
	/* Before there are threads that block signals (privileges.h). */
	give_up_privileges(session);
	return path_run_serve(&session->run, problem);
}

static void greet(const struct session *session)
{
	const char *socket = server_path(session->run.server);
	const struct on_place *place = &session->place;

	run_log(RUN_LOG_NOTICE,
	        "running, seed %" PRIu64
	        ": %s of %s%s%s cross weir, and its connections live on%s%s; %s gives it back",
	        session->run.scenario->seed,
	        place->match[0] ? "the packets that match" : "all packets",
	        session->around.look.name, place->container ? " in container " : "",
	        place->container ? place->container : "", socket[0] ? ", control socket " : "",
	        socket, session->arguments->for_ns > 0 ? "its end, or ^C," : "^C");
}

/* Adds what had no room in the taps to the losses of their ports. */
static void count_lost(struct session *session)
{
	uint64_t lost;

	for (unsigned side = 0; side < AROUND_SIDES; side++) {
		if (around_lost(&session->around, side, &lost))
			runtime_lost_beyond(session->run.runtime, session->run.ports[side], lost,
			                    0);
	}
}

/* Returns true, with problem, if there is nothing left to be on. */
static bool is_gone(const struct session *session, struct problem *problem)
{
	const struct on_place *place = &session->place;
	const char *name = session->around.look.name;

	if (on_place_is_gone(place) && place->container)
		problem_set(problem, -1, "container %s has stopped", place->container);
	else if (on_place_is_gone(place))
		problem_set(problem, -1, "the process whose %s it was has ended", name);
	else if (around_is_gone(&session->around))
		problem_set(problem, -1, "interface %s is not there any more", name);
	else
		return false;
	return true;
}

/* Serves until a signal comes, the time is over, or the interface is gone. Returns 0, or -errno
 * with problem. */
static int serve(struct session *session, struct problem *problem)
{
	const uint64_t begun_ns = clock_machine_ns(), for_ns = session->arguments->for_ns;
	int rc = 0;

	while (rc == 0 && (for_ns == 0 || clock_machine_ns() - begun_ns < for_ns)) {
		rc = server_step(session->run.serving, session->place.process,
		                 path_record_pace_ms(session->run.record, TICK_MS));
		path_run_take(&session->run);
		count_lost(session);
		session->is_gone = is_gone(session, problem);
		if (rc == 0 && session->is_gone)
			return -ENODEV;
	}
	if (rc < 0)
		problem_set(problem, -1, "control socket: %s", strerror(-rc));
	return rc < 0 ? rc : 0;
}

/* Returns the number of packets that are inside weir. */
static uint64_t held(const struct session *session)
{
	struct cloud_brief briefs[BRIEFS];
	uint64_t packets = 0;

	for (uint32_t i = 0; i < session->run.scenario->n_clouds; i++) {
		const char *cloud = session->run.scenario->clouds[i]->name;
		uint32_t from = 0, n;

		do {
			n = runtime_briefs(session->run.runtime, cloud, from, BRIEFS, briefs);
			for (uint32_t k = 0; k < n; k++)
				packets += briefs[k].held_packets;
			from += n;
		} while (n == BRIEFS);
	}
	return packets;
}

/* Gives the interface back, and lets out what is inside weir, until a further signal comes. */
static void empty(struct session *session)
{
	const uint64_t begun_ns = clock_machine_ns();
	uint64_t packets;

	around_empty(&session->around);
	/* What is in a tap, or in the hands of a worker, is not held yet. */
	server_step(session->run.serving, -1, EMPTY_TICK_MS);
	while ((packets = held(session)) > 0 && clock_machine_ns() - begun_ns < EMPTY_NS) {
		if (server_step(session->run.serving, -1, EMPTY_TICK_MS) != 0)
			break;
		path_run_take(&session->run);
	}
	if (packets > 0 && !session->arguments->path.quiet)
		run_log(RUN_LOG_NOTICE, "%" PRIu64 " packets were still inside weir, and are lost",
		        packets);
}

/* Returns the exit status. The interface is given back before anything else is done. */
static int run(struct session *session, const char *container)
{
	struct problem problem = {.text = ""}, later = {.text = ""};
	bool begun;
	int rc;

	session->place = (struct on_place){.net = -1, .process = -1};
	session->around = around_none;
	rc = start(session, container, &problem);
	begun = rc == 0;
	if (begun) {
		greet(session);
		rc = serve(session, &problem);
		if (!session->is_gone)
			empty(session);
	} else if (container && session->around.look.there) {
		/* It may have stopped meanwhile. */
		session->is_gone |= is_gone(session, &problem);
	}
	around_end(&session->around);
	if (rc < 0)
		run_log(RUN_LOG_ERROR, "%s", problem.text);
	if (path_run_end(&session->run, begun, &later) < 0) {
		run_log(RUN_LOG_ERROR, "%s", later.text);
		rc = -EIO;
	}
	around_close(&session->around);
	on_place_close(&session->place);
	if (rc == 0)
		return 0;
	if (session->is_gone && container && (begun || session->arguments->wait))
		return ON_IS_GONE;
	return begun ? 1 : 2;
}

/* ---- the command ---- */

static const char *line; /* the command line */

/* Of several containers each has a socket of its own: PATH.NAME. Without a path, the first has the
 * usual one. */
static void place_socket(struct on_arguments *arguments, const char *container, char *socket,
                         size_t room)
{
	if (arguments->path.socket) {
		snprintf(socket, room, "%s.%s", arguments->path.socket, container);
		arguments->path.socket = socket;
	} else if (container != arguments->container[0]) {
		arguments->path.socket = "";
	}
}

/* Makes the scenario, and runs it. Returns the exit status. */
static int run_on(const struct on_arguments *given, const char *container)
{
	struct session *session = calloc(1, sizeof(*session));
	struct on_arguments *arguments = malloc(sizeof(*arguments));
	char message[SCENARIO_FILE_ERROR], socket[PATH_MAX];
	int status = 2;

	if (!session || !arguments) {
		run_log(RUN_LOG_ERROR, "no memory");
		goto out;
	}
	*arguments = *given;
	if (arguments->n_containers > 1 && !arguments->between)
		place_socket(arguments, container, socket, sizeof(socket));
	session->arguments = arguments;
	session->run.words = &on_words;
	session->run.arguments = &arguments->path;
	session->run.line = line;
	if (path_scenario_make(&on_words, &arguments->path, &session->run.scenario,
	                       session->run.ports, message, sizeof(message)) < 0 ||
	    on_cuts_off(arguments, session->run.scenario, message, sizeof(message))) {
		run_log(RUN_LOG_ERROR, "%s", message);
		goto out;
	}
	run_seed_choose(session->run.scenario);
	status = run(session, container);
	if (alloc_failure_taken()) {
		run_log(RUN_LOG_ERROR, "out of memory: the output is incomplete");
		status = 1;
	}
out:
	if (session)
		scenario_free(session->run.scenario);
	free(arguments);
	free(session);
	return status;
}

int command_on(int argc, char **argv)
{
	static const char *const all[] = {NULL}; /* nothing is left out */
	static struct on_arguments arguments;
	char *text = command_line_text("on", argc, argv, all);
	int status = on_arguments_parse(argc, argv, &arguments);

	if (status != OPTIONS_RUN) {
		free(text);
		return status;
	}
	line = text;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	run_log_begin("on", arguments.path.log_level, JOURNAL_SOCKET);
	if (arguments.wait || (arguments.n_containers > 1 && !arguments.between))
		status = on_containers_keep(&arguments, run_on);
	else
		status = run_on(&arguments, arguments.container[0]);
	run_log_end();
	free(text);
	return status == ON_IS_GONE ? 1 : status;
}
