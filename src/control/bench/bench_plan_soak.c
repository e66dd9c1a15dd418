/* SPDX-License-Identifier: BSD-3-Clause */
/* Hours: finds the critical load at a bound of loss, then offers half of it for long, with all the
 * activity around a weir that a lab leaves running. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "bench/bench.h"
#include "capture/atomic_file.h"

/*
 * ---- the audience of a weir that runs ----
 *
 * `weir top` at a terminal of its own, `weir serve`, and a capture of its drops. Each is a process
 * of this program, connected to a control socket.
 */

#define AUDIENCE 3
#define ENDS_MS  2000

struct audience {
	pid_t pid[AUDIENCE]; /* 0: it does not run; top is the first */
	int terminal;        /* of top; -1: none */
};

static void become(const char *const words[], bool quiet)
{
	sigset_t none;
	int fd = quiet ? open("/dev/null", O_RDWR) : -1;

	for (int to = 0; fd >= 0 && to < 3; to++)
		dup2(fd, to);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setenv("TERM", "xterm", 1);
	/* The launcher has run already: this is the program that it has chosen. */
	execv("/proc/self/exe", (char *const *)(uintptr_t)words);
	_exit(127);
}

/* Starts the processes; leaves out those that cannot be started. */
static void audience_begin(struct audience *audience, const char *socket)
{
	const struct winsize size = {.ws_row = 24, .ws_col = 80};
	char unix_path[96];
	const char *const words[AUDIENCE][10] = {
	        {"weir", "top", "-s", socket, NULL},
	        {"weir", "serve", "-s", socket, "--listen", unix_path, NULL},
	        {"weir", "ctl", "-s", socket, "capture", "down", "drops", "-o", "/dev/null", NULL}};

	snprintf(unix_path, sizeof(unix_path), "unix:%s-http", socket);
	audience->terminal = -1;
	for (int i = 0; i < AUDIENCE; i++) {
		audience->pid[i] =
		        i == 0 ? forkpty(&audience->terminal, NULL, NULL, &size) : fork();
		if (audience->pid[i] == 0)
			become(words[i], i > 0);
		if (audience->pid[i] < 0)
			audience->pid[i] = 0;
	}
	if (audience->pid[0] == 0)
		audience->terminal = -1;
	else
		fcntl(audience->terminal, F_SETFL, O_NONBLOCK);
}

/* Returns how many processes run, those that have ended by themselves not included; reads and
 * discards what top has drawn. */
static uint32_t audience_n(struct audience *audience)
{
	char drawn[4096];
	uint32_t n = 0;

	while (audience->terminal >= 0 && read(audience->terminal, drawn, sizeof(drawn)) > 0)
		;
	for (int i = 0; i < AUDIENCE; i++) {
		if (audience->pid[i] && waitpid(audience->pid[i], NULL, WNOHANG) != 0)
			audience->pid[i] = 0;
		n += audience->pid[i] != 0;
	}
	return n;
}

static void audience_end(struct audience *audience)
{
	const struct timespec pause = {.tv_nsec = 10000000};

	for (int ms = 0; ms == 0 || audience_n(audience) > 0; ms += 10) {
		for (int i = 0; i < AUDIENCE && (ms == 0 || ms == ENDS_MS); i++) {
			if (audience->pid[i])
				kill(audience->pid[i], ms == 0 ? SIGTERM : SIGKILL);
		}
		nanosleep(&pause, NULL);
	}
	if (audience->terminal >= 0)
		close(audience->terminal);
}

#define MOST_PPS  30e6 /* offered in the search at most */
#define TRIAL_S   0.5
#define HOUR_S    3600.0
#define PARTS     6 /* number of parts of a run shorter than as many hours */
#define CHANGE_NS SIMTIME_S
#define LEVEL_S   60.0 /* by then weir has taken all memory that it needs */

/* Resident memory, and how much of it is not pages of mapped files. */
struct soak_memory {
	uint64_t rss_kib, written_kib;
};

struct soak {
	struct bench_plan *plan;
	struct bench_live live;
	struct rfc2544_tester tester; /* of the search */
	struct bench_repeats critical;
	double pps;
	json_t *row; /* borrowed from the plan's rows */
	double done_s, most_s;
	struct soak_memory first;
	struct bench_window window; /* here because it is large */
};

/* ---- the critical load ---- */

/* Runs a trial of the search. Received is what the paced source offers, without what weir loses and
 * what it does not take. */
static int trial(struct rfc2544_tester *tester, const struct rfc2544_trial *ask,
                 struct rfc2544_outcome *outcome)
{
	struct soak *soak = (struct soak *)((char *)tester - offsetof(struct soak, tester));
	struct bench_live *live = &soak->live;
	uint64_t lost;

	bench_live_pace(live, ask->pps);
	bench_rig_go(&live->rig);
	bench_live_window_begin(live);
	bench_pause((double)ask->frames / ask->pps);
	if (!bench_live_window_end(live, &soak->window))
		return -ENOMEM;
	bench_rig_stop(&live->rig);
	lost = soak->window.lost + soak->window.missed;
	outcome->sent = soak->window.offered + soak->window.missed;
	outcome->received = outcome->sent > lost ? outcome->sent - lost : 0;
	outcome->pps = ask->pps;
	outcome->disturbed = soak->window.taken > 0.01;
	return bench_stopped() ? -EINTR : 0;
}

static int find_critical(struct soak *soak, struct problem *problem)
{
	const struct bench_arguments *arguments = soak->plan->arguments;
	const struct rfc2544_conditions conditions = {.trial_s = bench_seconds(arguments, TRIAL_S)};
	struct rfc2544_result *result = calloc(1, sizeof(*result));
	double bound = (double)arguments->loss_q63 / (double)(UINT64_C(1) << 63);
	int rc = result ? 0 : -ENOMEM;

	soak->tester.trial = trial;
	for (uint32_t i = 0; rc == 0 && i < soak->plan->conditions.runs; i++) {
		struct rfc2544_rate rate;

		rc = rfc2544_search(&soak->tester, &conditions, MOST_PPS, bound, result, &rate);
		if (rc == 0)
			bench_repeats_add(&soak->critical, rate.pps);
	}
	free(result);
	soak->pps = bench_repeats_at(&soak->critical, 0.5) / 2;
	if (rc == 0 && soak->pps == 0) {
		problem_set(
		        problem, -1,
		        "soak: even at %.3g packets a second, the share of lost packets exceeds "
		        "%g; a machine that is busy with other work has no critical load",
		        MOST_PPS * RFC2544_RESOLUTION, bound);
		return -ERANGE;
	}
	return rc < 0 ? bench_plan_failed(problem, rc) : 0;
}

/* ---- hours ---- */

/* Reads the memory that is in use. The kernel maps and unmaps pages of files as it likes, so what
 * weir has written is counted separately. */
static struct soak_memory memory_now(void)
{
	struct soak_memory memory = {0};
	FILE *file = fopen("/proc/self/status", "r");
	unsigned long long kib;
	char line[128];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "VmRSS: %llu", &kib) == 1)
			memory.rss_kib = kib;
		else if (sscanf(line, "RssAnon: %llu", &kib) == 1 ||
		         sscanf(line, "RssShmem: %llu", &kib) == 1)
			memory.written_kib += kib;
	}
	if (file)
		fclose(file);
	return memory;
}

/* Saves the results so far, for a run that continues this one. */
static int keep(const struct soak *soak, struct problem *problem)
{
	const char *path = soak->plan->arguments->resume;
	struct atomic_file *file;
	int rc;

	if (!path)
		return 0;
	rc = atomic_file_open(path, &file, problem);
	if (rc < 0)
		return rc;
	json_dumpf(soak->row, atomic_file_stream(file), JSON_INDENT(1) | JSON_PRESERVE_ORDER);
	fputc('\n', atomic_file_stream(file));
	return atomic_file_publish(file, problem);
}

static json_t *part_row(struct soak *soak, uint64_t changes, uint32_t audience)
{
	const struct soak_memory now = memory_now();
	json_t *part = bench_json_window(&soak->window), *more;

	bench_rig_stop(&soak->live.rig);
	more = json_pack("{s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "until_s", soak->done_s,
	                 "changes", (json_int_t)changes, "attached", (json_int_t)audience,
	                 "rss_kib", (json_int_t)now.rss_kib, "rss_first_kib",
	                 (json_int_t)soak->first.rss_kib, "written_kib",
	                 (json_int_t)now.written_kib, "written_first_kib",
	                 (json_int_t)soak->first.written_kib, "unaccounted_packets",
	                 (json_int_t)bench_live_unaccounted(&soak->live));
	bench_rig_go(&soak->live.rig);
	json_object_update(part, more);
	json_decref(more);
	return part;
}

/* Serves clients for `seconds`. Returns 0, -EINTR or -errno. */
static int serve_until(struct soak *soak, struct audience *audience, double seconds)
{
	uint64_t start = rte_rdtsc();
	double past;

	do {
		int rc = bench_live_step(&soak->live);

		if (rc != 0)
			return rc > 0 ? -EINTR : rc;
		audience_n(audience);
		past = (double)(rte_rdtsc() - start) * soak->live.rig.tick_ns / 1e9;
		if (soak->first.rss_kib == 0 && (past > LEVEL_S || past > seconds / 2))
			soak->first = memory_now();
	} while (past < seconds);
	return 0;
}

/* Runs one part, and adds its row. If a part is interrupted, it counts for its actual duration,
 * provided that memory has settled. Returns 0, -EINTR or -errno. */
static int run_part(struct soak *soak, struct bench_changes *changes, struct audience *audience,
                    double seconds, struct problem *problem)
{
	uint64_t before = __atomic_load_n(&changes->made, __ATOMIC_RELAXED);
	int rc, kept;

	bench_live_window_begin(&soak->live);
	rc = serve_until(soak, audience, seconds);
	if (rc < 0)
		bench_plan_failed(problem, rc);
	if (rc < 0 && (rc != -EINTR || soak->first.rss_kib == 0))
		return rc;
	if (!bench_live_window_end(&soak->live, &soak->window))
		return bench_plan_failed(problem, -ENOMEM);
	soak->done_s += soak->window.seconds;
	json_array_append_new(json_object_get(soak->row, "parts"),
	                      part_row(soak,
	                               __atomic_load_n(&changes->made, __ATOMIC_RELAXED) - before,
	                               audience_n(audience)));
	kept = keep(soak, problem);
	return kept < 0 ? kept : rc;
}

static int run_parts(struct soak *soak, struct problem *problem)
{
	struct bench_changes changes = {.socket = soak->live.socket, .pause_ns = CHANGE_NS};
	struct audience audience;
	double part_s = soak->most_s < PARTS * HOUR_S ? soak->most_s / PARTS : HOUR_S;
	int rc = bench_changes_begin(&changes, problem);

	if (rc < 0)
		return rc;
	audience_begin(&audience, soak->live.socket);
	while (rc == 0 && soak->done_s < soak->most_s && !bench_changes_ended(&changes))
		rc = run_part(soak, &changes, &audience,
		              RTE_MIN(part_s, soak->most_s - soak->done_s), problem);
	audience_end(&audience);
	return bench_changes_end_live(&changes, &soak->live, rc, problem);
}

/* ---- the row ---- */

/* Reads the results of earlier parts. Returns 1 if there are any, 0 if there is no file, or
 * -errno. */
static int resume(struct soak *soak, struct problem *problem)
{
	const char *path = soak->plan->arguments->resume;
	json_error_t error;
	json_t *row, *part;
	size_t i;

	if (!path)
		return 0;
	if (access(path, F_OK) < 0) {
		/* Whether the file can be written is found out before the hours begin, not after
		 * the first of them. */
		struct atomic_file *file;

		if (atomic_file_open(path, &file, problem) < 0)
			return -EINVAL;
		atomic_file_discard(file);
		return 0;
	}
	row = json_load_file(path, 0, &error);
	if (!row || !bench_is(row, "soak") || bench_number(row, "load_mpps") <= 0 ||
	    !json_is_array(json_object_get(row, "parts"))) {
		problem_set(problem, -1,
		            "%s: was not written by `weir bench soak --continue`%s%.100s", path,
		            row ? "" : ": ", row ? "" : error.text);
		json_decref(row);
		return -EINVAL;
	}
	bench_plan_add(soak->plan, row);
	soak->row = row;
	soak->pps = bench_number(row, "load_mpps") * 1e6;
	json_array_foreach(json_object_get(row, "parts"), i, part) soak->done_s =
	        bench_number(part, "until_s");
	return 1;
}

static int soak_run(struct soak *soak, struct problem *problem)
{
	struct problem other;
	int rc = resume(soak, problem), known = rc;

	if (rc < 0)
		return rc;
	rc = bench_live_open(&soak->live, known ? soak->pps : MOST_PPS, &soak->plan->conditions,
	                     problem);
	if (rc < 0)
		return rc;
	if (!known)
		rc = find_critical(soak, problem);
	if (rc == 0 && !known) {
		const struct bench_repeats *critical = &soak->critical;

		soak->row = json_pack(
		        "{s:s,s:f,s:f,s:f,s:f,s:i,s:f,s:[]}", "part", "soak", "critical_mpps",
		        bench_repeats_at(critical, 0.5) / 1e6, "critical_mpps_min",
		        bench_repeats_at(critical, 0) / 1e6, "critical_mpps_max",
		        bench_repeats_at(critical, 1) / 1e6, "loss_bound",
		        (double)soak->plan->arguments->loss_q63 / (double)(UINT64_C(1) << 63),
		        "searches", (int)critical->n, "load_mpps", soak->pps / 1e6, "parts");
		bench_plan_add(soak->plan, soak->row);
	}
	if (rc == 0) {
		bench_live_pace(&soak->live, soak->pps);
		rc = bench_live_serve(&soak->live, problem);
	}
	if (rc == 0)
		rc = run_parts(soak, problem);
	if (bench_live_close(&soak->live, rc < 0 ? &other : problem) < 0 && rc == 0)
		rc = -EIO;
	return rc;
}

int bench_plan_soak(struct bench_plan *plan, struct problem *problem)
{
	struct soak *soak = calloc(1, sizeof(*soak));
	int rc;

	if (!soak)
		return bench_plan_failed(problem, -ENOMEM);
	soak->plan = plan;
	soak->most_s = (double)plan->arguments->hours_um / 1e6 * HOUR_S;
	bench_plan_progress("soak");
	rc = soak_run(soak, problem);
	free(soak);
	return rc;
}

/* What changes of a scenario cost the packets that flow meanwhile. */

#define RECONF_PPS     1e6
#define RECONF_NS      ((uint64_t)(1e9 / RECONF_PPS)) /* from one packet to the next */
#define RECONF_CHANGES 1000
#define QUIET_S        2.0

/* Answers clients until the changes are made, or for `seconds`. Returns 0, -EINTR or -errno. */
static int serve_for(struct bench_live *live, const struct bench_changes *changes, double seconds)
{
	uint64_t end = rte_rdtsc() + (uint64_t)(seconds / live->rig.tick_ns * 1e9);

	while (changes ? !bench_changes_ended(changes) : rte_rdtsc() < end) {
		int rc = bench_live_step(live);

		if (rc != 0)
			return rc > 0 ? -EINTR : rc;
	}
	return 0;
}

static int window(struct bench_live *live, struct bench_changes *changes,
                  struct bench_window *window, struct problem *problem)
{
	int rc = 0;

	bench_live_window_begin(live);
	if (changes)
		rc = bench_changes_begin(changes, problem);
	if (rc < 0)
		return rc;
	rc = serve_for(live, changes, QUIET_S);
	if (rc < 0)
		bench_plan_failed(problem, rc);
	if (changes)
		rc = bench_changes_end_live(changes, live, rc, problem);
	if (rc == 0 && !bench_live_window_end(live, window))
		return bench_plan_failed(problem, -ENOMEM);
	return rc;
}

static json_t *row_of(const struct bench_window *with, const struct bench_window *without,
                      uint64_t changes)
{
	double blocked_ns =
	        (double)((with->lost + with->missed - with->missed_preempted) * RECONF_NS);

	/* Time in which others had the worker's processor blocks packets, too, but is not
	 * weir's. */
	return json_pack("{s:s, s:I, s:f, s:f, s:f, s:f, s:o, s:o}", "part", "reconf", "changes",
	                 (json_int_t)changes, "blocked_ns", blocked_ns, "blocked_ns_per_change",
	                 changes ? blocked_ns / (double)changes : 0, "blocked_away_ns",
	                 (double)(with->missed_preempted * RECONF_NS), "taken_ns",
	                 with->taken * with->seconds * 1e9, "with", bench_json_window(with),
	                 "without", bench_json_window(without));
}

int bench_plan_reconf(struct bench_plan *plan, struct problem *problem)
{
	struct bench_live *live = calloc(1, sizeof(*live));
	struct bench_window *windows = calloc(2, sizeof(*windows));
	struct bench_changes changes = {.most = RECONF_CHANGES};
	struct problem other;
	int rc = bench_plan_failed(problem, -ENOMEM);

	if (!live || !windows)
		goto err_free;
	bench_plan_progress("reconf: 1000 changes at 1 Mpps");
	rc = bench_live_open(live, RECONF_PPS, &plan->conditions, problem);
	if (rc < 0)
		goto err_free;
	changes.socket = live->socket;
	rc = bench_live_serve(live, problem);
	/* The line must fill first. */
	if (rc == 0)
		rc = serve_for(live, NULL, 0.2);
	if (rc == 0)
		rc = window(live, NULL, &windows[0], problem);
	if (rc == 0)
		rc = window(live, &changes, &windows[1], problem);
	if (rc == 0)
		bench_plan_add(plan, row_of(&windows[1], &windows[0], changes.made));
	if (bench_live_close(live, rc < 0 ? &other : problem) < 0 && rc == 0)
		rc = -EIO;
err_free:
	free(windows);
	free(live);
	return rc;
}
