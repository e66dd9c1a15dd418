/* SPDX-License-Identifier: BSD-3-Clause */
/* A live run that serves its control socket: the server, the leases, the housekeeping, what is
 * watched for events, the scenario file at SIGHUP, and the file that keeps the scenario. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "machine/clock.h"
#include "machine/supervisor.h"
#include "record/recording_run.h"
#include "service/control.h"
#include "socket/keep.h"
#include "socket/lease.h"
#include "socket/server.h"
#include "stream/event.h"
#include "stream/watch.h"
#include "text/alloc_failure.h"

/* At the end, the time allowed for a change that is being prepared, and for files that do not
 * arrive. */
#define CONTROL_PATIENCE_NS (20 * SIMTIME_S)
#define THREADS_PATIENCE_NS SIMTIME_S

struct serving {
	struct server *server;
	struct runtime *runtime;
	struct control control;
	struct reload reload;
	struct keep keep;
	/* What is watched besides the clients. */
	struct loss_watch losses;
	struct schedule_watch schedules;
	/* How often a service manager is told that all is well: control runs, and every worker has
	 * polled since the last time. 0: no manager watches. */
	uint64_t vouch_every_ns, vouch_ns;
	uint64_t tick_ns;
};

/* ---- the runtime behind control ---- */

static int change(struct runtime *runtime, const struct scenario *next,
                  struct transaction **transaction, struct problem *problem)
{
	int rc = transaction_change(runtime, next, transaction, problem);

	if (rc == 0 && runtime_recording(runtime))
		transaction_describe(*transaction,
		                     recording_run_change(runtime_recording(runtime),
		                                          runtime_scenario(runtime), next));
	return rc;
}

static const struct control_ops runtime_ops = {
        .change = change,
        .clear = transaction_clear,
        .insert = transaction_insertion,
        .post = transaction_post,
        .taken = transaction_taken,
        .missing = transaction_missing,
        .finish = transaction_finish,
        .tap_begin = runtime_tap_begin,
        .tap_is_on = runtime_tap_is_on,
        .tap_end = runtime_tap_end,
        .cloud = runtime_cloud_report,
        .briefs = runtime_briefs,
        .brief_name = runtime_brief_name,
        .delays = runtime_delays,
        .port = runtime_port_report,
        .worker = runtime_worker_report,
        .ports = runtime_ports,
        .workers = runtime_workers,
        .now_ns = runtime_now_ns,
};

/* ---- beginning ---- */

static void tell_reload(void *argument, enum run_log_level level, const char *line)
{
	(void)argument;
	run_log(level, "%s", line);
}

/* A thread may not end in time, because a disk does not answer or the machine is busy. What it uses
 * stays until the process ends. Nothing reads this reference: it shows that this is no leak. */
static struct serving *volatile left_behind;

/* Waits for the threads, and frees everything. */
static void end_threads(struct serving *serving)
{
	if (control_join(&serving->control, THREADS_PATIENCE_NS)) {
		if (serving->control.wake >= 0)
			close(serving->control.wake);
		leases_free(&serving->control);
		flight_dumps_free(&serving->control);
		control_close(&serving->control);
		free(serving);
		return;
	}
	left_behind = serving;
	control_cut_off(&serving->control);
	keep_complain(&serving->keep);
}

int server_begin(struct server *server, struct runtime *runtime, struct scenario **scenario,
                 const char *config, const struct keep_file *kept, struct serving **result)
{
	struct serving *serving = calloc(1, sizeof(*serving));
	bool noted = alloc_failure_taken();
	struct control *control;
	int error;

	if (serving == NULL)
		return -ENOMEM;
	control = &serving->control;
	server_handle_signals(server, false);
	serving->server = server;
	serving->runtime = runtime;
	control_init(control, &runtime_ops, runtime, scenario);
	control->main_looks = true;
	control->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	error = control->wake < 0 ? -errno : 0;
	control->recording = runtime_recording(runtime);
	if (control->recording != NULL && recording_is_flight(control->recording))
		control->flight = flight_dumps_make(control, server_flight_wish(server));
	serving->vouch_every_ns = supervisor_watchdog_ns();
	keep_init(&serving->keep, control, kept);
	reload_init(&serving->reload, control, config, tell_reload, NULL);
	serving->reload.keep = &serving->keep;
	if (error == 0)
		error = control_thread(control, leases_run, control);
	if (error == 0)
		error = keep_start(&serving->keep);
	if (error != 0) {
		control_end(control, CONTROL_PATIENCE_NS);
		end_threads(serving);
		return error;
	}
	event_started(control);
	alloc_failure_restore(noted);
	*result = serving;
	return 0;
}

void server_when_taken(struct serving *serving, void (*taken)(void *argument), void *argument)
{
	control_lock(&serving->control);
	serving->control.when_taken = taken;
	serving->control.when_taken_argument = argument;
	control_unlock(&serving->control);
}

void server_dump_flight(struct serving *serving)
{
	flight_dumps_signal(&serving->control);
}

static void tick(struct serving *serving, uint64_t now_ns)
{
	struct control *control = &serving->control;
	bool noted = alloc_failure_taken();
	char trouble[1200];

	/* The lock, because taps are begun and ended meanwhile. */
	control_lock(control);
	runtime_tick(serving->runtime, event_of_runtime, control);
	control_unlock(control);
	loss_watch_step(&serving->losses, control);
	schedule_watch_step(&serving->schedules, control);
	reload_watch(&serving->reload, now_ns);
	if (serving->vouch_every_ns > 0 && now_ns >= serving->vouch_ns &&
	    runtime_came_round(serving->runtime)) {
		supervisor_tell("WATCHDOG=1");
		serving->vouch_ns = now_ns + serving->vouch_every_ns;
	}
	if (control->recording != NULL &&
	    recording_trouble(control->recording, trouble, sizeof(trouble)))
		event_tell(control, RUN_LOG_WARNING, "recording-ended", json_object(), "%s",
		           trouble);
	alloc_failure_restore(noted); /* an event says itself that it is incomplete */
	serving->tick_ns = now_ns + SERVER_TICK_NS;
}

int server_step(struct serving *serving, int also, int wait_ms)
{
	struct control *control = &serving->control;
	uint64_t now_ns = clock_machine_ns();
	int own_ms, result;

	if (now_ns >= serving->tick_ns)
		tick(serving, now_ns);
	own_ms = (int)((serving->tick_ns - now_ns) / SIMTIME_MS) + 1;
	if (control->flight != NULL)
		flight_dumps_poll(control->flight);
	result = server_round(serving->server, control, now_ns, also,
	                      wait_ms >= 0 && wait_ms < own_ms ? wait_ms : own_ms);
	/* The kernel sends SIGHUP, too, when a terminal is closed. */
	if (result == SIGHUP && !server_lost_terminal(serving->server))
		reload_ask(&serving->reload);
	else if (result == SIGUSR1)
		server_dump_flight(serving);
	else
		return result;
	return 0;
}

void server_end(struct serving *serving, int why)
{
	struct server *server = serving->server;
	struct control *control = &serving->control;
	bool noted = alloc_failure_taken();

	/* That its command has ended, a user sees without the log. */
	event_stopped(control, why == 0 ? RUN_LOG_INFO : RUN_LOG_NOTICE,
	              why < 0    ? "poll() failed"
	              : why == 0 ? "the command has ended"
	                         : strsignal(why));
	alloc_failure_restore(noted);
	server_quit(server);
	keep_end(&serving->keep, why > 0);
	/* The threads have a low priority; now they have the workers' processors to themselves. */
	control_lock(control);
	runtime_halt(serving->runtime);
	control_unlock(control);
	if (!control_end(control, CONTROL_PATIENCE_NS)) {
		/* A thread waits for a file on a disk that does not answer. Nothing that it uses
		 * may be freed. */
		run_log(RUN_LOG_ERROR, "a change under way does not finish: weir ends without it, "
		                       "and without the final accounts");
		server_close(server);
		_exit(1);
	}
	server_empty(server); /* the sessions refer to `control`, which ends here */
	loss_watch_release(&serving->losses);
	schedule_watch_release(&serving->schedules);
	end_threads(serving);
}

int server_serve(struct server *server, struct runtime *runtime, struct scenario **scenario,
                 const char *config, const struct keep_file *kept)
{
	struct serving *serving;
	int result = server_begin(server, runtime, scenario, config, kept, &serving);

	if (result != 0)
		return result;
	while (result == 0)
		result = server_step(serving, -1, -1);
	server_end(serving, result);
	return result;
}
