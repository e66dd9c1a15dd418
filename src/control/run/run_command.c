/* SPDX-License-Identifier: BSD-3-Clause */
/* `weir run`: from the command line to a running emulator, and back to a quiet machine. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "budget.h"
#include "command.h"
#include "cpu_list.h"
#include "eal.h"
#include "machine_memory.h"
#include "pool.h"
#include "port.h"
#include "path_check.h"
#include "privileges.h"
#include "run_options.h"
#include "run_summary.h"
#include "runtime.h"
#include "scenario_file.h"
#include "server.h"

/* Room for changes while it runs, where the scenario needs less: a second at 100 Mbit/s. */
#define ROOM_BYTES (UINT64_C(64) << 20)
#define ROOM_MBUFS UINT64_C(16384)

static void say(const char *text)
{
	fprintf(stderr, "weir run: %s\n", text);
}

/* A seed that nobody gave is short, because somebody may have to type it again. */
static void choose_seed(struct scenario *scenario)
{
	uint32_t drawn;

	if (scenario->seed_given)
		return;
	if (getrandom(&drawn, sizeof(drawn), 0) != sizeof(drawn))
		drawn = (uint32_t)getpid();
	scenario->seed = drawn;
	scenario->seed_given = true;
}

/* What the scenario needs, and some room for changes; or, with --memory, as much as that, divided as
 * the scenario would. 0, or -errno with message: the machine does not have it. */
static int size_memory(const struct run_arguments *arguments, const struct scenario *scenario,
                       struct runtime_options *options, char *message, size_t room)
{
	struct problem problem;
	struct machine_memory machine;
	struct budget budget;
	uint64_t held;
	int rc;

	if (budget_of(scenario, NULL, &budget) < 0) {
		snprintf(message, room, "no memory");
		return -ENOMEM;
	}
	options->memory_bytes = RTE_MAX(budget.memory_bytes, ROOM_BYTES);
	options->mbufs =
	        (uint32_t)RTE_MIN(RTE_MAX(budget.mbufs, ROOM_MBUFS), (uint64_t)UINT32_MAX / 2);
	held = options->memory_bytes + options->mbufs * (uint64_t)pool_mbuf_bytes();
	if (arguments->memory_bytes) {
		double share = (double)arguments->memory_bytes / (double)held;

		options->memory_bytes = (uint64_t)((double)options->memory_bytes * share);
		options->mbufs = (uint32_t)((double)options->mbufs * share);
		rc = 0;
	} else {
		rc = machine_memory_read("/proc/meminfo", &machine);
		rc = rc < 0 ? 0 : budget_check(&budget, machine.bytes, &problem);
		if (rc < 0)
			budget_complain(&budget, scenario, arguments->config, &problem, message,
			                room);
	}
	budget_release(&budget);
	return rc;
}

static int start_eal(const struct run_arguments *arguments, const struct scenario *scenario,
                     const struct runtime_options *options, struct problem *problem)
{
	struct cpu_list workers;
	int rc = cpu_list_parse(arguments->cores, &workers, problem);

	if (rc < 0)
		return rc;
	rc = eal_start_live(arguments->cores, arguments->n_eal, arguments->eal,
	                    port_any_pci(scenario), runtime_eal_mib(scenario, options, workers.n),
	                    problem);
	if (rc == 0 && problem->text[0])
		say(problem->text);
	return rc;
}

/* Serves until a signal comes, and puts everything back. 0, 1: it went wrong on the way. */
static int serve(const struct run_arguments *arguments, struct server *server,
                 struct runtime *runtime, struct scenario **scenario)
{
	struct problem problem;
	int rc, status = 0;

	if (privileges_give_up(*scenario, server_path(server), &problem) < 0)
		say(problem.text);
	fprintf(stderr, "weir run: running, seed %" PRIu64 ", control socket %s; ^C stops\n",
	        (*scenario)->seed, server_path(server));
	rc = server_serve(server, runtime, scenario);
	if (rc < 0) {
		fprintf(stderr, "weir run: control socket: %s\n", strerror(-rc));
		status = 1;
	}
	runtime_halt(runtime);
	if (!arguments->quiet)
		run_summary_print(stdout, runtime, *scenario);
	if (runtime_stop(runtime, &problem) < 0) {
		say(problem.text);
		status = 1;
	} else if (!arguments->quiet) {
		puts("every packet is accounted for, every buffer came back");
	}
	fflush(stdout);
	return status;
}

static int run(const struct run_arguments *arguments, struct scenario **scenario, char *message,
               size_t room)
{
	struct problem problem = {.text = ""};
	struct runtime_options options = {.layout = arguments->layout};
	struct runtime *runtime;
	struct server *server;
	int status = 2;

	if (size_memory(arguments, *scenario, &options, message, room) < 0)
		return status;
	if (server_open(arguments->socket, &server, &problem) == 0) {
		if (start_eal(arguments, *scenario, &options, &problem) == 0) {
			if (runtime_start(*scenario, &options, &runtime, &problem) == 0)
				status = serve(arguments, server, runtime, scenario);
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

int command_run(int argc, char **argv)
{
	struct run_arguments arguments;
	char message[SCENARIO_FILE_ERROR];
	struct scenario *scenario;
	int status = run_arguments_parse(argc, argv, &arguments);

	if (status != RUN_ARGUMENTS_RUN)
		return status == RUN_ARGUMENTS_HELP ? 0 : 2;
	if (scenario_file_load(arguments.config, &scenario, message, sizeof(message))) {
		say(message);
		return 2;
	}
	/* A reader of a port's output that went away, and a limit of file size, are errors of writing. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	path_warn(scenario, stderr);
	choose_seed(scenario);
	status = run(&arguments, &scenario, message, sizeof(message));
	if (status == 2)
		say(message);
	scenario_free(scenario);
	return status;
}
