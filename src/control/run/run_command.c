/* SPDX-License-Identifier: BSD-3-Clause */
/* `weir run`: runs a live emulator from its command line, and restores the machine at its end. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "account/count.h"
#include "machine/cpu_list.h"
#include "machine/eal.h"
#include "port/port.h"
#include "port/privileges.h"
#include "machine/run_log.h"
#include "machine/supervisor.h"
#include "record/recording_run.h"
#include "run/run_options.h"
#include "run/run_prepare.h"
#include "run/run_summary.h"
#include "live/runtime.h"
#include "language/scenario_file.h"
#include "socket/keep.h"
#include "socket/server.h"
#include "stream/flight_dumps.h"

static int start_eal(const struct run_arguments *arguments, const struct scenario *scenario,
                     const struct runtime_options *options, uint32_t workers,
                     struct problem *problem)
{
	int rc = eal_start_live(arguments->cores, arguments->n_eal, arguments->eal,
	                        port_any_pci(scenario), runtime_eal_mib(scenario, options, workers),
	                        problem);

	if (rc == 0 && problem->text[0])
		run_log(RUN_LOG_NOTICE, "%s", problem->text);
	return rc;
}

static void tell_ready(const struct scenario *scenario)
{
	char state[320];

	snprintf(state, sizeof(state), "READY=1\nSTATUS=%s, %s, seed %" PRIu64,
	         count_of(scenario->n_ports, "port").text,
	         count_of(scenario->n_clouds, "cloud").text, scenario->seed);
	supervisor_tell(state);
}

/* Reports the packets in flight, which end with weir. */
static void say_held(const struct runtime *runtime)
{
	struct worker_report worker;
	uint64_t held = 0;

	for (uint32_t i = 0; i < runtime_workers(runtime); i++)
		if (runtime_worker_report(runtime, i, &worker))
			held += worker.held_packets;
	if (held > 0)
		run_log(RUN_LOG_NOTICE, "%s still in flight, and discarded",
		        count_of_these(held, "packet was", "packets were").text);
}

static void path_join(char path[PATH_MAX], const char *from, const char *end)
{
	snprintf(path, PATH_MAX, "%s%s", from, end);
}

/* Gives up what is not needed any more: neither for the ports nor for the files that are made or
 * removed from now on. */
static void give_up_privileges(const struct run_arguments *arguments, const struct server *server,
                               const struct runtime *runtime)
{
	const struct recording_arguments *record = &arguments->record;
	struct worker_report worker;
	uint64_t others = 0;
	char recording[PATH_MAX], dump[PATH_MAX];
	const char *files[6];
	struct problem problem;
	uint32_t n = 0;

	files[n++] = server_path(server);
	if (server_path_read_only(server))
		files[n++] = server_path_read_only(server);
	if (arguments->keep)
		files[n++] = arguments->keep;
	if (record->folder) {
		path_join(recording, record->folder, "/recording.json");
		files[n++] = recording;
	}
	if (record->flight.unit != LIMIT_NONE) {
		path_join(dump, record->flight_to ? record->flight_to : FLIGHT_DUMPS_TO, "-DATE");
		files[n++] = dump;
	}
	files[n] = NULL;
	for (uint32_t i = 0; i < runtime_workers(runtime); i++) {
		if (runtime_worker_report(runtime, i, &worker))
			others |= priority_capabilities(&worker.priority);
	}
	if (privileges_give_up(runtime_scenario(runtime), others, files, &problem) < 0)
		run_log(RUN_LOG_WARNING, "%s", problem.text);
}

/* Serves until a signal comes, then restores everything. `allowed`: the processors of this process,
 * before it has bound its threads. Returns 0, or 1 if something failed. */
static int serve(const struct run_arguments *arguments, struct server *server,
                 const struct keep_file *kept, const cpu_set_t *allowed, struct runtime *runtime,
                 struct scenario **scenario)
{
	const bool moves = !arguments->cores && rest_is_possible(runtime);
	struct problem problem;
	int rc, status = 0;

	if (moves)
		rest_let_move(allowed);
	server_flight(server, &(struct flight_wish){.on = arguments->record.flight_on,
	                                            .to = arguments->record.flight_to});
	give_up_privileges(arguments, server, runtime);
	rest_say(&arguments->rest, runtime, moves, RUN_LOG_NOTICE);
	if (server_path_read_only(server))
		run_log(RUN_LOG_NOTICE, "read-only socket %s", server_path_read_only(server));
	run_log(RUN_LOG_NOTICE, "running, seed %" PRIu64 ", control socket %s; ^C stops",
	        (*scenario)->seed, server_path(server));
	tell_ready(*scenario);
	rc = server_serve(server, runtime, scenario, arguments->config, kept);
	if (rc < 0) {
		run_log(RUN_LOG_ERROR, "control socket: %s", strerror(-rc));
		status = 1;
	}
	supervisor_tell("STOPPING=1");
	runtime_halt(runtime);
	say_held(runtime);
	if (!arguments->quiet)
		run_summary_print(stdout, runtime, *scenario);
	if (recording_run_end(runtime, *scenario, &problem) < 0) {
		run_log(RUN_LOG_ERROR, "%s", problem.text);
		status = 1;
	}
	if (runtime_stop(runtime, &problem) < 0) {
		run_log(RUN_LOG_ERROR, "%s", problem.text);
		status = 1;
	} else if (!arguments->quiet) {
		puts("every packet is accounted for, every buffer was returned");
	}
	fflush(stdout);
	return status;
}

static int run(const struct run_arguments *arguments, const struct keep_file *kept,
               struct scenario **scenario, char *message, size_t room)
{
	struct problem problem = {.text = ""};
	struct runtime_options options = {.layout = arguments->layout};
	struct runtime *runtime;
	struct cpu_list workers;
	struct server *server;
	cpu_set_t allowed;
	int status = 2;

	CPU_ZERO(&allowed);
	sched_getaffinity(0, sizeof(allowed), &allowed);

	rest_options_set(&arguments->rest, REST_SHARED, &options);
	if (cpu_list_parse(arguments->cores, &workers, &problem) < 0) {
		snprintf(message, room, "%s", problem.text);
		return status;
	}
	if (run_memory_size(*scenario,
	                    &(struct run_memory){.config = arguments->config,
	                                         .asked_bytes = arguments->memory_bytes,
	                                         .workers = workers.n,
	                                         .record = &arguments->record},
	                    &options, message, room) < 0)
		return status;
	if (server_open(&(struct server_paths){.control = arguments->socket,
	                                       .read_only = arguments->socket_readonly,
	                                       .group = arguments->readonly_group},
	                &server, &problem) == 0) {
		if (start_eal(arguments, *scenario, &options, workers.n, &problem) == 0) {
			if (recording_run_begin(&arguments->record, *scenario, &options.recording,
			                        &problem) == 0 &&
			    runtime_start(*scenario, &options, &runtime, &problem) == 0)
				status =
				        serve(arguments, server, kept, &allowed, runtime, scenario);
			if (status == 2)
				recording_discard(options.recording);
			else
				recording_free(options.recording);
			eal_stop_live();
		}
		server_close(server);
	}
	if (problem.port > 0)
		scenario_file_complain_port(arguments->config,
		                            (*scenario)->ports[problem.port - 1].name, problem.text,
		                            message, room);
	else
		snprintf(message, room, "%s", problem.text);
	return status;
}

/* Loads the scenario that an earlier weir has kept, if that did not end properly. Returns true if
 * there is one. */
static bool load_kept(const struct keep_file *kept, struct scenario **scenario)
{
	char message[SCENARIO_FILE_ERROR];
	int result = keep_load(kept, scenario, message, sizeof(message));

	if (result < 0)
		run_log(RUN_LOG_WARNING, "the kept scenario is ignored: %s", message);
	if (result > 0)
		run_log(RUN_LOG_WARNING,
		        "%s: continues with the scenario in force when weir ended unexpectedly; "
		        "counters begin at 0, packets in flight are lost",
		        kept->path);
	return result > 0;
}

/* Loads the scenario of the command line. If that has words, there is no file to read again. */
static int load(struct run_arguments *arguments, struct scenario **scenario, char *message,
                size_t room)
{
	int rc;

	if (arguments->words.n == 0)
		return scenario_file_load(arguments->config, scenario, message, room);
	rc = short_words_make(&arguments->words, "run", &arguments->config, scenario, message,
	                      room);
	arguments->config = NULL;
	if (rc == 0 && !(*scenario)->ports[0].device) {
		snprintf(message, room, "between which interfaces? weir run eth1 eth2 %.200s",
		         arguments->words.both);
		rc = -EINVAL;
		scenario_free(*scenario);
	}
	return rc;
}

static int load_and_run(struct run_arguments *arguments)
{
	char message[SCENARIO_FILE_ERROR];
	struct scenario *scenario;
	struct keep_file kept;
	int status;

	keep_file_note(&kept, arguments->keep, arguments->config);
	if (!load_kept(&kept, &scenario) &&
	    load(arguments, &scenario, message, sizeof(message)) < 0) {
		run_log(RUN_LOG_ERROR, "%s", message);
		return 2;
	}
	/* If the reader of a port's output goes away, or a file reaches its size limit, the write
	 * returns an error. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	run_warn(scenario);
	run_seed_choose(scenario);
	status = run(arguments, &kept, &scenario, message, sizeof(message));
	if (status == 2)
		run_log(RUN_LOG_ERROR, "%s", message);
	scenario_free(scenario);
	return status;
}

int command_run(int argc, char **argv)
{
	struct run_arguments arguments;
	int status = run_arguments_parse(argc, argv, &arguments);

	if (status != OPTIONS_RUN)
		return status;
	run_log_begin("run", arguments.log_level, JOURNAL_SOCKET);
	status = load_and_run(&arguments);
	run_log_end();
	return status;
}
