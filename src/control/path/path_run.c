/* SPDX-License-Identifier: BSD-3-Clause */
#include "path/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/atomic_file.h"
#include "machine/cpu_list.h"
#include "machine/eal.h"
#include "machine/pool.h"
#include "machine/run_log.h"
#include "replay/replay_report.h"
#include "socket/server.h"

/* What memory is taken for, without --memory: enough for many connections. */
#define PORT_BPS UINT64_C(1000000000)

static int no_memory(const char *what, struct problem *problem)
{
	problem_set(problem, -1, "no memory%s", what);
	return -ENOMEM;
}

/* ---- starting ---- */

int path_run_open(struct path_run *run, struct problem *problem)
{
	const struct path_arguments *arguments = run->arguments;
	const struct path_record_files files = {
	        .log = arguments->log,
	        .picture = arguments->picture,
	        .pcap = arguments->pcap,
	        .explain = arguments->explain,
	        .explain_json = arguments->explain_json,
	        .line = run->line,
	        .words = run->words,
	};
	int rc = 0;

	run->as_begun = scenario_copy(run->scenario);
	if (!run->as_begun)
		return no_memory("", problem);
	if (arguments->report)
		rc = atomic_file_open(arguments->report, &run->report, problem);
	if (rc == 0)
		rc = path_record_open(&files, run->as_begun, run->ports[PATH_NEAR], &run->record,
		                      problem);
	return rc;
}

int path_run_listen(struct path_run *run, const char *path, bool must, struct problem *problem)
{
	int rc = server_open(&(struct server_paths){.control = path}, &run->server, problem);

	if (rc == 0 || must)
		return rc;
	/* What is said of a problem at the end must not be about this. */
	problem->text[0] = '\0';
	return server_open(&(struct server_paths){.control = ""}, &run->server, problem);
}

static int bind_ports(struct path_run *run, const struct tap_end ends[PATH_ENDS],
                      struct problem *problem)
{
	for (unsigned end = 0; end < PATH_ENDS; end++) {
		struct port_conf *port = &run->scenario->ports[run->ports[end]];

		free(port->device);
		port->device = strdup(ends[end].device);
		if (!port->device)
			return no_memory("", problem);
	}
	return 0;
}

/* Sets the memory of `options`. Returns 0, or -errno with problem. */
static int size_memory(const struct path_run *run, uint32_t workers,
                       struct runtime_options *options, struct problem *problem)
{
	const struct path_arguments *arguments = run->arguments;
	char message[SCENARIO_FILE_ERROR];
	int rc = run_memory_size(
	        run->scenario,
	        &(struct run_memory){.config = arguments->config ? arguments->config : "",
	                             .asked_bytes = arguments->memory_bytes,
	                             .port_bps = PORT_BPS,
	                             .workers = workers,
	                             .record = &arguments->record},
	        options, message, sizeof(message));

	if (rc < 0)
		problem_set(problem, -1, "%s", message);
	return rc;
}

static int start_runtime(struct path_run *run, struct problem *problem)
{
	const struct path_arguments *arguments = run->arguments;
	struct runtime_options options = {.witness = path_record_witness(run->record),
	                                  .frames = path_record_frames(run->record)};
	struct cpu_list workers;
	int rc = cpu_list_parse(arguments->cores, &workers, problem);

	if (rc < 0)
		return rc;
	rest_options_set(&arguments->rest, REST_WOKEN, &options);
	rc = size_memory(run, workers.n, &options, problem);
	if (rc < 0)
		return rc;
	runtime_memory_ahead(run->scenario, &options, workers.n);
	rc = eal_start_live(arguments->cores, 0, NULL, false,
	                    runtime_eal_mib(run->scenario, &options, workers.n), problem);
	if (rc == 0)
		rc = recording_run_begin(&arguments->record, run->scenario, &run->recording,
		                         problem);
	options.recording = run->recording;
	if (rc == 0)
		rc = runtime_start(run->scenario, &options, &run->runtime, problem);
	memory_ahead_end();
	return rc;
}

int path_run_start(struct path_run *run, const struct tap_end ends[PATH_ENDS],
                   struct problem *problem)
{
	const struct path_arguments *arguments = run->arguments;
	int rc = bind_ports(run, ends, problem);

	if (rc < 0)
		return rc;
	run_warn(run->scenario);
	rc = start_runtime(run, problem);
	if (rc < 0)
		return rc;
	rest_say(&arguments->rest, run->runtime, !arguments->cores, RUN_LOG_INFO);
	run->start_ns = runtime_now_ns(run->runtime);
	return path_record_begin(run->record, run->runtime, run->start_ns, problem);
}

/* ---- while it runs ---- */

static void take(void *argument)
{
	path_run_take(argument);
}

/* Before a change frees anything, decisions that may name it are written (take). */
int path_run_serve(struct path_run *run, struct problem *problem)
{
	const struct recording_arguments *record = &run->arguments->record;
	int rc;

	server_flight(run->server,
	              &(struct flight_wish){.on = record->flight_on, .to = record->flight_to});
	rc = server_begin(run->server, run->runtime, &run->scenario, run->arguments->config, NULL,
	                  &run->serving);
	if (rc < 0)
		problem_set(problem, -1, "control socket: %s", strerror(-rc));
	else
		server_when_taken(run->serving, take, run);
	return rc;
}

void path_run_take(struct path_run *run)
{
	path_record_take(run->record, runtime_done_ns(run->runtime));
}

/* ---- the end ---- */

static int write_report(struct path_run *run, const struct replay_result *result,
                        struct problem *problem)
{
	int rc = report_file_write(run->report, run->scenario, result, problem);

	if (rc == 0) {
		rc = atomic_file_publish(run->report, problem);
		run->report = NULL;
	}
	return rc;
}

static int tell_result(struct path_run *run, struct problem *problem)
{
	struct replay_result result = {.last_ns = 0};
	int rc = path_result_read(run->runtime, run->scenario, run->start_ns, &result);

	if (rc == 0 && !run->arguments->quiet)
		path_result_print(stderr, run->words->command, run->scenario, &result);
	if (rc < 0)
		no_memory(" for the table", problem);
	if (rc == 0 && run->report)
		rc = write_report(run, &result, problem);
	replay_result_free(&result);
	/* The log and the picture have the clouds that existed at the beginning. */
	if (rc == 0 && run->record) {
		result = (struct replay_result){.last_ns = 0};
		rc = path_result_read(run->runtime, run->as_begun, run->start_ns, &result);
		if (rc < 0)
			no_memory(" for the log or the picture", problem);
		else
			rc = path_record_publish(run->record, &result, problem);
		replay_result_free(&result);
		if (rc == 0)
			path_record_print(run->record, stderr);
	}
	return rc;
}

/* Returns the first failure, with its problem; a later one is only logged. */
static int also_failed(int rc, const struct problem *later, struct problem *problem)
{
	if (rc < 0) {
		run_log(RUN_LOG_ERROR, "%s", later->text);
		return rc;
	}
	*problem = *later;
	return -EIO;
}

int path_run_end(struct path_run *run, bool result, struct problem *problem)
{
	struct problem later = {.text = ""};
	int rc = 0;

	if (run->serving)
		server_end(run->serving, 0);
	if (run->runtime) {
		runtime_halt(run->runtime);
		path_record_take(run->record, SIMTIME_NEVER);
		if (result)
			rc = tell_result(run, problem);
		if (recording_run_end(run->runtime, run->scenario, &later) < 0)
			rc = also_failed(rc, &later, problem);
		if (runtime_stop(run->runtime, &later) < 0)
			rc = also_failed(rc, &later, problem);
		recording_free(run->recording);
	} else {
		recording_discard(run->recording);
	}
	eal_stop_live();
	server_close(run->server);
	atomic_file_discard(run->report);
	path_record_close(run->record);
	scenario_free(run->as_begun);
	return rc;
}
