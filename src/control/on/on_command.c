/* SPDX-License-Identifier: BSD-3-Clause */
/* `weir on`: lets the packets of an interface cross weir, from its command line to its end. */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "machine/clock.h"
#include "machine/run_log.h"
#include "on/on.h"
#include "socket/server.h"
#include "text/alloc_failure.h"

#define TICK_MS 100

struct session {
	struct on_arguments arguments;
	struct path_run run;
	struct on_interface interface;
};

/* From now on neither an interface nor a program is touched but by closing it. */
static void give_up_privileges(const struct session *session)
{
	const struct path_arguments *path = &session->arguments.path;
	const char *files[] = {server_path(session->run.server), path->report, path->log,
	                       path->picture, path->pcap};

	run_give_up_privileges(session->run.runtime, &path->record, files,
	                       sizeof(files) / sizeof(files[0]));
}

/* Nothing is on its detour before all is ready for it. */
static int start(struct session *session, struct problem *problem)
{
	const struct path_arguments *path = &session->arguments.path;
	struct on_interface *interface = &session->interface;
	cpu_set_t allowed;
	int rc;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	rc = path_run_open(&session->run, problem);
	if (rc == 0)
		rc = on_interface_open(&session->arguments, interface, problem);
	if (rc == 0)
		rc = path_run_listen(&session->run, path->socket, path->socket != NULL, problem);
	if (rc == 0)
		rc = path_run_start(&session->run, interface->ends, problem);
	if (rc == 0 && !path->cores)
		rest_let_move(&allowed);
	if (rc == 0)
		rc = on_interface_begin(interface, problem);
	if (rc < 0)
		return rc;
	/* Before there are threads that block signals (privileges.h). */
	give_up_privileges(session);
	return path_run_serve(&session->run, problem);
}

static void greet(const struct session *session)
{
	const char *socket = server_path(session->run.server);

	run_log(RUN_LOG_NOTICE,
	        "running, seed %" PRIu64
	        ": all packets of %s cross weir, and its connections live on%s%s; %s gives it back",
	        session->run.scenario->seed, session->interface.look.name,
	        socket[0] ? ", control socket " : "", socket,
	        session->arguments.for_ns > 0 ? "its end, or ^C," : "^C");
}

/* Adds what had no room in the taps to the losses of their ports. */
static void count_lost(struct session *session)
{
	uint64_t lost[PATH_ENDS];

	if (!on_interface_lost(&session->interface, lost))
		return;
	for (unsigned end = 0; end < PATH_ENDS; end++)
		runtime_lost_beyond(session->run.runtime, session->run.ports[end], lost[end], 0);
}

/* Serves until a signal comes, the time is over, or the interface is gone. Returns 0, or -errno
 * with problem. */
static int serve(struct session *session, struct problem *problem)
{
	const struct on_interface *interface = &session->interface;
	const uint64_t begun_ns = clock_machine_ns(), for_ns = session->arguments.for_ns;
	int rc = 0;

	while (rc == 0 && (for_ns == 0 || clock_machine_ns() - begun_ns < for_ns)) {
		rc = server_step(session->run.serving, interface->process,
		                 path_record_pace_ms(session->run.record, TICK_MS));
		path_run_take(&session->run);
		count_lost(session);
		if (rc == 0 && on_interface_is_gone(interface, problem))
			return -ENODEV;
	}
	if (rc < 0)
		problem_set(problem, -1, "control socket: %s", strerror(-rc));
	return rc < 0 ? rc : 0;
}

/* The interface is given back before anything else is done. */
static int run(struct session *session)
{
	struct problem problem = {.text = ""}, later = {.text = ""};
	bool begun;
	int rc;

	session->interface = on_interface_none;
	rc = start(session, &problem);
	begun = rc == 0;
	if (begun) {
		greet(session);
		rc = serve(session, &problem);
	}
	on_interface_end(&session->interface);
	if (rc < 0)
		run_log(RUN_LOG_ERROR, "%s", problem.text);
	if (path_run_end(&session->run, begun, &later) < 0) {
		run_log(RUN_LOG_ERROR, "%s", later.text);
		rc = -EIO;
	}
	on_interface_close(&session->interface);
	if (rc == 0)
		return 0;
	return begun ? 1 : 2;
}

int command_on(int argc, char **argv)
{
	static const char *const all[] = {NULL}; /* nothing is left out */
	struct session *session = calloc(1, sizeof(*session));
	char message[SCENARIO_FILE_ERROR], *line;
	int status;

	if (!session) {
		run_log(RUN_LOG_ERROR, "no memory");
		return 2;
	}
	line = command_line_text("on", argc, argv, all);
	status = on_arguments_parse(argc, argv, &session->arguments);
	if (status != OPTIONS_RUN) {
		free(line);
		free(session);
		return status;
	}
	session->run.words = &on_words;
	session->run.arguments = &session->arguments.path;
	session->run.line = line;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	run_log_begin("on", session->arguments.path.log_level, JOURNAL_SOCKET);
	if (path_scenario_make(&on_words, &session->arguments.path, &session->run.scenario,
	                       session->run.ports, message, sizeof(message)) < 0) {
		run_log(RUN_LOG_ERROR, "%s", message);
		status = 2;
	} else if (on_cuts_off(&session->arguments, session->run.scenario, message,
	                       sizeof(message))) {
		run_log(RUN_LOG_ERROR, "%s", message);
		status = 2;
	} else {
		run_seed_choose(session->run.scenario);
		status = run(session);
	}
	if (alloc_failure_taken()) {
		run_log(RUN_LOG_ERROR, "out of memory: the output is incomplete");
		status = 1;
	}
	run_log_end();
	scenario_free(session->run.scenario);
	free(line);
	free(session);
	return status;
}
