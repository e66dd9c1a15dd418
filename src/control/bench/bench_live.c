/* SPDX-License-Identifier: BSD-3-Clause */
/* A weir that runs, with a paced source, a control socket and its clients, in this process. */
#include "bench/bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "engine/engine_report.h"
#include "live/runtime_state.h"
#include "machine/run_log.h"
#include "socket/server.h"

#define FRAME_BYTES 64
#define STEP_MS     20
#define ROOM        2 /* times the rate: what a change may increase it to */

static struct {
	struct bench_rig rig;
	struct server *server;
	struct serving *serving;
	char socket[64];
	/* at the beginning of the window */
	struct bench_count from;
	struct histogram_part lateness, own_lateness;
	struct bench_sink sink;     /* counts weir's own share of the lateness */
	struct bench_window window; /* the latest */
} live;

/* Returns the port that the cloud leads to. */
static uint32_t port_of_cloud(void)
{
	uint32_t i = 0;

	while (live.rig.peer[i] == SCENARIO_PORTS_MAX)
		i++;
	return live.rig.peer[i];
}

/* ---- from its begin to its end ---- */

/* Opens the rig alone, at a standstill, with a cloud `down` of these statements. */
json_t *bench_answer_live_open(const json_t *question)
{
	double pps = bench_number(question, "pps");
	struct bench_setup setup = {.ports = BENCH_SILENT,
	                            .frame_bytes = FRAME_BYTES,
	                            .headers = true,
	                            .pps = pps,
	                            .most_pps = pps * ROOM};
	struct scenario *scenario;
	struct problem problem;
	int rc;

	bench_adopt(question);
	memset(&live, 0, sizeof(live));
	rc = bench_scenario_make(bench_text(question, "statements"), false, &scenario, &problem);
	if (rc < 0)
		return bench_failed(rc, &problem);
	setup.scenario = scenario;
	rc = bench_rig_open(&live.rig, &setup, &bench.conditions, &problem);
	scenario_free(scenario);
	if (rc < 0)
		return bench_failed(rc, &problem);
	live.sink.clock = &live.rig.runtime->clock;
	live.sink.own = true;
	rc = bench_sink_attach(&live.sink, live.rig.runtime->ports[port_of_cloud()].id);
	if (rc == 0)
		return json_object();
	problem_set(&problem, -1, "cannot watch the departures of the port: %s", strerror(-rc));
	bench_rig_close(&live.rig, &(struct problem){0});
	return bench_failed(rc, &problem);
}

/* Sets another rate, while the rig is at a standstill. */
static void pace(double pps)
{
	for (uint32_t i = 0; i < live.rig.n_sources; i++) {
		struct bench_source *source = &live.rig.sources[i];

		source->period_ps = (uint64_t)(1e12 / pps);
		source->started = false;
		source->made = source->missed = source->missed_preempted = source->excused = 0;
	}
}

/* Opens the socket, and starts the rig, at this rate. */
json_t *bench_answer_live_serve(const json_t *question)
{
	struct server_paths paths = {.control = live.socket};
	struct problem problem;
	int rc;

	pace(bench_number(question, "pps"));
	snprintf(live.socket, sizeof(live.socket), "/tmp/weir-bench-%ld.sock", (long)getpid());
	rc = server_open(&paths, &live.server, &problem);
	if (rc < 0)
		return bench_failed(rc, &problem);
	/* Events are counted here, and not logged line by line. */
	run_log_begin("bench", RUN_LOG_ERROR, JOURNAL_SOCKET);
	bench_rig_go(&live.rig);
	rc = server_begin(live.server, live.rig.runtime, &live.rig.scenario, NULL, NULL,
	                  &live.serving);
	if (rc == 0)
		return json_pack("{s:s}", "socket", live.socket);
	problem_set(&problem, -1, "control socket: %s", strerror(-rc));
	return bench_failed(rc, &problem);
}

/* Answers clients for so long; a signal interrupts. */
json_t *bench_answer_live_step(const json_t *question)
{
	uint64_t ticks = (uint64_t)(bench_number(question, "for") / live.rig.tick_ns * 1e9);
	uint64_t end = rte_rdtsc() + ticks;
	struct problem problem;

	do {
		int rc = server_step(live.serving, -1, STEP_MS);

		if (rc != 0)
			return bench_failed(bench_problem(&problem, rc > 0 ? -EINTR : rc),
			                    &problem);
	} while (rte_rdtsc() < end);
	return json_object();
}

/* Closes the socket and the rig. It fails if a packet is not accounted for. */
json_t *bench_answer_live_close(const json_t *question)
{
	struct problem problem;
	int rc;

	(void)question;
	if (live.serving)
		server_end(live.serving, 0);
	server_close(live.server);
	if (live.server)
		run_log_end();
	/* The server has changed how signals are handled. */
	bench_stop_on_signals();
	histogram_part_free(&live.lateness);
	histogram_part_free(&live.own_lateness);
	bench_rig_stop(&live.rig);
	bench_sink_detach(&live.sink);
	rc = bench_rig_close(&live.rig, &problem);
	return rc < 0 ? bench_failed(-EIO, &problem) : json_object();
}

/* ---- windows ---- */

static bool report_of(struct port_report *report)
{
	return runtime_port_report(live.rig.runtime, port_of_cloud(), report);
}

static void window_begin(void)
{
	struct port_report report;

	for (uint32_t i = 0; i < live.rig.runtime->n_workers; i++)
		__atomic_store_n(&live.rig.runtime->workers[i].longest_poll_ns, 0,
		                 __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < live.rig.n_sources; i++)
		__atomic_store_n(&live.rig.sources[i].preempted.longest_own_ns, 0,
		                 __ATOMIC_RELAXED);
	bench_rig_count(&live.rig, &live.from);
	histogram_part_free(&live.lateness);
	if (!report_of(&report) || !histogram_part_make(&live.lateness, &report.lateness_ns))
		memset(&live.lateness, 0, sizeof(live.lateness));
	histogram_part_free(&live.own_lateness);
	if (!histogram_part_make(&live.own_lateness, &live.sink.lateness_ns))
		memset(&live.own_lateness, 0, sizeof(live.own_lateness));
}

static uint64_t count_above(const struct histogram *h, uint64_t value)
{
	uint64_t n = 0;

	for (struct histogram_walk w = histogram_walk(h); histogram_walk_next(&w);)
		n += w.low > value ? w.count : 0;
	return n;
}

static bool window_end(struct bench_window *window)
{
	struct port_report *report = malloc(sizeof(*report));
	const struct bench_count *from = &live.from;
	struct bench_count to;

	memset(window, 0, sizeof(*window));
	if (!report || !report_of(report)) {
		free(report);
		return false;
	}
	bench_rig_count(&live.rig, &to);
	window->seconds = (double)(to.raw_ns - from->raw_ns) / 1e9;
	window->offered = to.made - from->made;
	window->missed = to.missed - from->missed;
	window->missed_preempted = to.missed_preempted - from->missed_preempted;
	window->lost = to.lost - from->lost + to.starved - from->starved;
	window->emulated = to.emulated - from->emulated;
	window->sent = to.packets - from->packets;
	window->taken =
	        1 - (double)(to.worker_cpu_ns - from->worker_cpu_ns) / 1e9 / window->seconds;
	window->taken = RTE_MAX(window->taken, 0.0); /* the two clocks differ */
	window->lateness_ns = report->lateness_ns;
	histogram_less(&window->lateness_ns, &live.lateness);
	window->own_lateness_ns = live.sink.lateness_ns;
	histogram_less(&window->own_lateness_ns, &live.own_lateness);
	/* The longest poll of all workers, with and without the time in which others had the
	 * processor. */
	for (uint32_t i = 0; i < live.rig.runtime->n_workers; i++) {
		uint64_t ns = __atomic_load_n(&live.rig.runtime->workers[i].longest_poll_ns,
		                              __ATOMIC_RELAXED);

		window->longest_poll_ns = RTE_MAX(window->longest_poll_ns, ns);
	}
	for (uint32_t i = 0; i < live.rig.n_sources; i++) {
		uint64_t ns = __atomic_load_n(&live.rig.sources[i].preempted.longest_own_ns,
		                              __ATOMIC_RELAXED);

		window->own_longest_poll_ns = RTE_MAX(window->own_longest_poll_ns, ns);
	}
	window->late = count_above(&window->own_lateness_ns, 2 * window->own_longest_poll_ns);
	free(report);
	return true;
}

json_t *bench_answer_live_begin(const json_t *question)
{
	(void)question;
	window_begin();
	return json_object();
}

/* Returns what has happened since, and the exact length of the window. */
json_t *bench_answer_live_window(const json_t *question)
{
	(void)question;
	if (!window_end(&live.window))
		return NULL;
	return json_pack("{s:o,s:f}", "window", bench_json_window(&live.window), "seconds",
	                 live.window.seconds);
}

/* Returns the number of packets that are not accounted for, summed over clouds. The rig stands
 * still meanwhile. */
json_t *bench_answer_live_unaccounted(const json_t *question)
{
	struct cloud_report *report = malloc(sizeof(*report));
	uint64_t sum = 0;

	(void)question;
	bench_rig_stop(&live.rig);
	for (uint32_t i = 0; report && i < live.rig.scenario->n_clouds; i++) {
		const struct counters *c = &report->counters;
		uint64_t in, out;

		if (!runtime_cloud_report(live.rig.runtime, live.rig.scenario->clouds[i]->name,
		                          report))
			continue;
		in = counters_in(c);
		out = counters_out(c) + report->held_packets;
		sum += in > out ? in - out : out - in;
	}
	free(report);
	bench_rig_go(&live.rig);
	return json_pack("{s:I}", "packets", (json_int_t)sum);
}

/* ---- the critical load ---- */

/* Runs a trial of the search. Received is what the paced source offers, without what weir loses and
 * what it does not take. */
static int trial(struct rfc2544_tester *tester, const struct rfc2544_trial *ask,
                 struct rfc2544_outcome *outcome)
{
	uint64_t lost;

	(void)tester;
	pace(ask->pps);
	bench_rig_go(&live.rig);
	window_begin();
	bench_pause((double)ask->frames / ask->pps);
	if (!window_end(&live.window))
		return -ENOMEM;
	bench_rig_stop(&live.rig);
	lost = live.window.lost + live.window.missed;
	outcome->sent = live.window.offered + live.window.missed;
	outcome->received = outcome->sent > lost ? outcome->sent - lost : 0;
	outcome->pps = ask->pps;
	outcome->disturbed = live.window.taken > 0.01;
	return bench_stopped() ? -EINTR : 0;
}

/* Searches the highest load of which at most the share `bound` is lost, once a run. */
json_t *bench_answer_live_critical(const json_t *question)
{
	const struct rfc2544_conditions conditions = {.trial_s = bench_number(question, "trial_s")};
	struct rfc2544_tester tester = {.trial = trial};
	struct rfc2544_result *result = calloc(1, sizeof(*result));
	struct bench_repeats critical = {.n = 0};
	struct problem problem;
	int rc = result ? 0 : -ENOMEM;

	for (uint32_t i = 0; rc == 0 && i < bench.conditions.runs; i++) {
		struct rfc2544_rate rate;

		rc = rfc2544_search(&tester, &conditions, bench_number(question, "most_pps"),
		                    bench_number(question, "bound"), result, &rate);
		if (rc == 0)
			bench_repeats_add(&critical, rate.pps);
	}
	free(result);
	if (rc < 0)
		return bench_failed(bench_problem(&problem, rc), &problem);
	return json_pack("{s:f,s:f,s:f,s:i}", "median", bench_repeats_at(&critical, 0.5), "min",
	                 bench_repeats_at(&critical, 0), "max", bench_repeats_at(&critical, 1), "n",
	                 (int)critical.n);
}
