/* SPDX-License-Identifier: BSD-3-Clause */
/* `weir run`: runs a live emulator from its command line, and restores the machine at its end. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "account/count.h"
#include "command.h"
#include "engine/engine_report.h"
#include "figures/figures.h"
#include "language/scenario_file.h"
#include "language/short_form.h"
#include "live/runtime.h"
#include "machine/cpu_list.h"
#include "machine/eal.h"
#include "machine/run_log.h"
#include "machine/supervisor.h"
#include "options/options.h"
#include "port/port.h"
#include "record/recording_run.h"
#include "run/run_prepare.h"
#include "scenario/scenario.h"
#include "show/times.h"
#include "socket/keep.h"
#include "socket/server.h"
#include "text/table.h"

/* Parses the command line of `weir run`, which docs/man/weir-run.1 describes. */

struct run_arguments {
	const char *config, *socket, *cores;
	const char *keep;
	struct recording_arguments record;
	struct rest_arguments rest;
	const char *socket_readonly, *readonly_group;
	uint64_t memory_bytes; /* 0: not given */
	uint32_t layout;       /* enum runtime_layout */
	uint32_t log_level;    /* enum run_log_level */
	bool quiet;
	struct short_words words; /* n 0: none; else they are the scenario, with `config` */
	int n_eal;
	char **eal; /* the words behind `--` */
};

static const struct option_row rows[] = {
        {OPTION_CONFIG(struct run_arguments, "the scenario")},
        {OPTION_SOCKET(struct run_arguments)},
        {OPTION("--socket-readonly", FIELD_TEXT, struct run_arguments, socket_readonly,
                .form = "PATH",
                .help = "a second socket, for users who may look but change nothing")},
        {OPTION("--readonly-group", FIELD_TEXT, struct run_arguments, readonly_group,
                .form = "GROUP", .help = "the group of that socket, by its name or number")},
        {OPTION_CORES(struct run_arguments)},
        {OPTION_LAYOUT(struct run_arguments)},
        {OPTION_MEMORY(struct run_arguments, OPTION_MEMORY_LEAST, 0,
                       "for packets in flight; if not given, what the scenario needs")},
        {REST_OPTION_SLEEP(struct run_arguments)},
        {REST_OPTION_PRIORITY(struct run_arguments)},
        {OPTION("--keep", FIELD_TEXT, struct run_arguments, keep, .form = "FILE",
                .help = "the scenario in force is saved there after each change; a weir that "
                        "starts after a crash continues with it, unless the scenario file was "
                        "written since")},
        RECORDING_OPTIONS(struct run_arguments),
        {OPTION_LOG_LEVEL(struct run_arguments)},
        {OPTION_QUIET(struct run_arguments, "no table at the end")},
        OPTIONS_END,
};

const struct options run_options = {
        .command = "run",
        .usage = "-c FILE [-s SOCKET] [--cores LIST] [options] [-- EAL ARGS]\n"
                 "INTERFACE INTERFACE [NAME] [STATEMENTS] [options] [-- EAL ARGS]",
        .does = "Runs a scenario live, between the ports it names, until SIGINT or SIGTERM.",
        .about = "\n"
                 "  weir run -c lab.weir\n"
                 "  weir run eth1 eth2 40ms 1%\n"
                 "  weir run eth1 eth2 geo-satellite\n"
                 "\n"
                 "With two interfaces, the scenario is the named one, or one with a cloud `down`\n"
                 "from the first to the second, and `up` back. STATEMENTS are those of a cloud,\n"
                 "for both directions.\n",
        .end = "Arguments after -- go to DPDK's environment abstraction layer.\n",
        .rows = rows,
};

/* Returns OPTIONS_RUN, or the exit status; then all output has been printed. Pointers go into
 * argv. */
static int run_arguments_parse(int argc, char **argv, struct run_arguments *arguments)
{
	struct options_words words;
	char why[RECORDING_WHY_BYTES], message[SCENARIO_FILE_ERROR];
	int status, own = 1;

	memset(arguments, 0, sizeof(*arguments));
	while (own < argc && strcmp(argv[own], "--") != 0)
		own++;
	status = options_read(&run_options, own, argv, arguments, &words);
	if (status != OPTIONS_RUN)
		return status;
	if (short_words_take(&arguments->words, words.n, words.word, message, sizeof(message)))
		return options_wrong(&run_options, "%s", message);
	arguments->eal = argv + (own < argc ? own + 1 : own);
	arguments->n_eal = own < argc ? argc - own - 1 : 0;
	if (arguments->readonly_group && !arguments->socket_readonly)
		return options_wrong(&run_options, "--readonly-group needs --socket-readonly PATH");
	if (arguments->rest.sleep_ns > 0 && arguments->layout == LAYOUT_PIPELINE)
		return options_wrong(&run_options,
		                     "--sleep is for --layout run-to-completion; the workers of a "
		                     "pipeline wait for each other, and poll");
	if (recording_arguments_wrong(&arguments->record, why))
		return options_wrong(&run_options, "%s", why);
	if (!arguments->config && words.n == 0)
		return options_wrong(&run_options, "no scenario: weir run -c FILE, or weir run "
		                                   "eth1 eth2 40ms");
	if (words.n > 0 && arguments->keep)
		return options_wrong(&run_options, "--keep needs the scenario in a file: -c FILE");
	return OPTIONS_RUN;
}

/*
 * Prints the result of a live run: ports, clouds, and where packets were lost, with emulated losses
 * and real ones apart.
 */

#define CLOUDS_SHOWN 32
#define LOSSES_MAX   16
#define REMEDY                                                                                     \
	"`weir bench machine` says what takes the processor away, `weir setup` what isolates it"

struct losses {
	uint64_t of_clouds[REASON_COUNT];
	uint64_t of_ports[LOSSES_MAX]; /* in the order of the figures */
};

static void print_ports(FILE *out, const struct runtime *runtime, struct port_report *port,
                        struct losses *losses)
{
	struct table *table = table_make("lrrrrrrrrrrrr");
	uint64_t early = 0;

	table_text(table, "port");
	figures_headings(table, FIGURE_PORT, FIGURE_SUMMARY);
	table_texts(table, "late by p50", "p99", "max", NULL);
	for (uint32_t i = 0; runtime_port_report(runtime, i, port); i++) {
		/* What ports lose is weir's own loss, too. */
		uint64_t *sum = losses->of_ports;

		for (const struct figure *f = NULL;
		     (f = figure_next(FIGURE_PORT, FIGURE_LOST, port, f));)
			*sum++ += figure_read(f, port).count;
		assert(sum <= losses->of_ports + LOSSES_MAX);
		early += port->early;
		table_text(table, port->name);
		figures_cells(table, FIGURE_PORT, FIGURE_SUMMARY, port);
		late_cells(table, &port->lateness_ns);
	}
	table_end(table, out);
	if (early > 0)
		fprintf(out, "%s before weir had started, and %s dropped\n",
		        count_of(early, "packet came").text, early == 1 ? "was" : "were");
	for (uint32_t i = 0; runtime_port_report(runtime, i, port); i++)
		late_warn(out, "", port->name, &port->lateness_ns, LATE_WARN_NS, REMEDY);
}

static void print_clouds(FILE *out, const struct runtime *runtime, const struct scenario *scenario,
                         struct cloud_report *cloud, struct losses *losses)
{
	struct table *table = table_make("lrrrrrrrr");

	table_text(table, "cloud");
	figures_headings(table, FIGURE_CLOUD, FIGURE_SUMMARY);
	table_texts(table, "delay p50", "p99", NULL);
	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		const struct histogram *delay = &cloud->delay_ns;

		if (!runtime_cloud_report(runtime, scenario->clouds[i]->name, cloud))
			continue;
		for (int reason = 0; reason < REASON_COUNT; reason++)
			losses->of_clouds[reason] += cloud->counters.drops[reason];
		if (i >= CLOUDS_SHOWN)
			continue;
		table_text(table, scenario->clouds[i]->name);
		figures_cells(table, FIGURE_CLOUD, FIGURE_SUMMARY, cloud);
		table_percentile(table, delay, 500000);
		table_percentile(table, delay, 990000);
	}
	table_end(table, out);
	if (scenario->n_clouds > CLOUDS_SHOWN)
		fprintf(out, "  and %" PRIu32 " more clouds\n", scenario->n_clouds - CLOUDS_SHOWN);
}

/* Adds to a line of losses, which `gap` has begun. */
static void print_loss(FILE *out, const char *name, uint64_t packets, const char **gap)
{
	char count[COUNT_SIZE];

	if (packets == 0)
		return;
	fprintf(out, "%s%s %s", *gap, name, count_text(count, packets));
	*gap = ", ";
}

static void print_losses(FILE *out, const struct losses *losses)
{
	static const struct {
		enum reason_kind kind;
		const char *title;
	} kinds[] = {
	        {REASON_EMULATED, "emulated losses"},
	        {REASON_CONGESTION, "dropped by emulated queues"},
	        {REASON_REAL, "real losses, weir's own"},
	};

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		const bool real = kinds[k].kind == REASON_REAL;
		const uint64_t *lost = losses->of_ports;
		const char *gap = ": ";

		fprintf(out, "%s", kinds[k].title);
		for (int reason = 0; reason < REASON_COUNT; reason++) {
			if (reason_kind((enum reason)reason) == kinds[k].kind)
				print_loss(out, reason_name((enum reason)reason),
				           losses->of_clouds[reason], &gap);
		}
		for (const struct figure *f = NULL;
		     real && (f = figure_next(FIGURE_PORT, FIGURE_LOST, NULL, f));)
			print_loss(out, f->loss, *lost++, &gap);
		fprintf(out, "%s\n", gap[0] == ':' ? ": none" : "");
	}
}

static void run_summary_print(FILE *out, const struct runtime *runtime,
                              const struct scenario *scenario)
{
	struct cloud_report *cloud = malloc(sizeof(*cloud));
	struct port_report *port = malloc(sizeof(*port));
	struct losses losses = {0};

	if (cloud && port) {
		print_ports(out, runtime, port, &losses);
		fputc('\n', out);
		print_clouds(out, runtime, scenario, cloud, &losses);
		fputc('\n', out);
		print_losses(out, &losses);
	}
	free(cloud);
	free(port);
}

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

static void give_up_privileges(const struct run_arguments *arguments, const struct server *server,
                               const struct runtime *runtime)
{
	const char *files[] = {server_path(server), server_path_read_only(server), arguments->keep};

	run_give_up_privileges(runtime, &arguments->record, files,
	                       sizeof(files) / sizeof(files[0]));
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
	char state[320];
	struct worker_report worker;
	uint64_t held = 0;

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
	snprintf(state, sizeof(state), "READY=1\nSTATUS=%s, %s, seed %" PRIu64,
	         count_of((*scenario)->n_ports, "port").text,
	         count_of((*scenario)->n_clouds, "cloud").text, (*scenario)->seed);
	supervisor_tell(state);
	rc = server_serve(server, runtime, scenario, arguments->config, kept);
	if (rc < 0) {
		run_log(RUN_LOG_ERROR, "control socket: %s", strerror(-rc));
		status = 1;
	}
	supervisor_tell("STOPPING=1");
	runtime_halt(runtime);
	/* Reports the packets in flight, which end with weir. */
	for (uint32_t i = 0; i < runtime_workers(runtime); i++)
		if (runtime_worker_report(runtime, i, &worker))
			held += worker.held_packets;
	if (held > 0)
		run_log(RUN_LOG_NOTICE, "%s still in flight, and discarded",
		        count_of_these(held, "packet was", "packets were").text);
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
