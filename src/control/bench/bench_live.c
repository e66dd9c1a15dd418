/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/engine_report.h"
#include "live/runtime_state.h"
#include "machine/run_log.h"
#include "socket/server.h"

#define FRAME_BYTES 64
#define STEP_MS     20
#define ROOM        2 /* times the rate: what a change may increase it to */

/* Returns the port that the cloud leads to. */
static uint32_t port_of(const struct bench_live *live)
{
	uint32_t i = 0;

	while (live->rig.peer[i] == SCENARIO_PORTS_MAX)
		i++;
	return live->rig.peer[i];
}

int bench_live_open(struct bench_live *live, double pps, const struct bench_conditions *conditions,
                    struct problem *problem)
{
	struct bench_setup setup = {.ports = BENCH_SILENT,
	                            .frame_bytes = FRAME_BYTES,
	                            .headers = true,
	                            .pps = pps,
	                            .most_pps = pps * ROOM};
	struct scenario *scenario;
	int rc = bench_scenario_make(BENCH_CHANGES_BASE, false, &scenario, problem);

	memset(live, 0, sizeof(*live));
	if (rc < 0)
		return rc;
	setup.scenario = scenario;
	rc = bench_rig_open(&live->rig, &setup, conditions, problem);
	scenario_free(scenario);
	if (rc < 0)
		return rc;
	live->sink.clock = &live->rig.runtime->clock;
	live->sink.own = true;
	rc = bench_sink_attach(&live->sink, live->rig.runtime->ports[port_of(live)].id);
	if (rc < 0) {
		problem_set(problem, -1, "cannot watch the departures of the port: %s",
		            strerror(-rc));
		bench_rig_close(&live->rig, &(struct problem){0});
	}
	return rc;
}

void bench_live_pace(struct bench_live *live, double pps)
{
	for (uint32_t i = 0; i < live->rig.n_sources; i++) {
		struct bench_source *source = &live->rig.sources[i];

		source->period_ps = (uint64_t)(1e12 / pps);
		source->started = false;
		source->made = source->missed = source->missed_preempted = source->excused = 0;
	}
}

int bench_live_serve(struct bench_live *live, struct problem *problem)
{
	struct server_paths paths = {.control = live->socket};
	int rc;

	snprintf(live->socket, sizeof(live->socket), "/tmp/weir-bench-%ld.sock", (long)getpid());
	rc = server_open(&paths, &live->server, problem);
	if (rc < 0)
		return rc;
	/* Events are counted here, and not logged line by line. */
	run_log_begin("bench", RUN_LOG_ERROR, JOURNAL_SOCKET);
	bench_rig_go(&live->rig);
	rc = server_begin(live->server, live->rig.runtime, &live->rig.scenario, NULL, NULL,
	                  &live->serving);
	if (rc < 0)
		problem_set(problem, -1, "control socket: %s", strerror(-rc));
	return rc;
}

int bench_live_step(struct bench_live *live)
{
	return server_step(live->serving, -1, STEP_MS);
}

/* ---- windows ---- */

static bool report_of(const struct bench_live *live, struct port_report *report)
{
	return runtime_port_report(live->rig.runtime, port_of(live), report);
}

void bench_live_window_begin(struct bench_live *live)
{
	struct port_report report;

	for (uint32_t i = 0; i < live->rig.runtime->n_workers; i++)
		__atomic_store_n(&live->rig.runtime->workers[i].longest_poll_ns, 0,
		                 __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < live->rig.n_sources; i++)
		__atomic_store_n(&live->rig.sources[i].preempted.longest_own_ns, 0,
		                 __ATOMIC_RELAXED);
	bench_rig_count(&live->rig, &live->from);
	histogram_part_free(&live->lateness);
	if (!report_of(live, &report) || !histogram_part_make(&live->lateness, &report.lateness_ns))
		memset(&live->lateness, 0, sizeof(live->lateness));
	histogram_part_free(&live->own_lateness);
	if (!histogram_part_make(&live->own_lateness, &live->sink.lateness_ns))
		memset(&live->own_lateness, 0, sizeof(live->own_lateness));
}

static uint64_t count_above(const struct histogram *h, uint64_t value)
{
	uint64_t n = 0;

	for (struct histogram_walk w = histogram_walk(h); histogram_walk_next(&w);)
		n += w.low > value ? w.count : 0;
	return n;
}

bool bench_live_window_end(struct bench_live *live, struct bench_window *window)
{
	struct port_report *report = malloc(sizeof(*report));
	const struct bench_count *from = &live->from;
	struct bench_count to;

	memset(window, 0, sizeof(*window));
	if (!report || !report_of(live, report)) {
		free(report);
		return false;
	}
	bench_rig_count(&live->rig, &to);
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
	histogram_less(&window->lateness_ns, &live->lateness);
	window->own_lateness_ns = live->sink.lateness_ns;
	histogram_less(&window->own_lateness_ns, &live->own_lateness);
	/* The longest poll of all workers, with and without the time in which others had the
	 * processor. */
	for (uint32_t i = 0; i < live->rig.runtime->n_workers; i++) {
		uint64_t ns = __atomic_load_n(&live->rig.runtime->workers[i].longest_poll_ns,
		                              __ATOMIC_RELAXED);

		window->longest_poll_ns = RTE_MAX(window->longest_poll_ns, ns);
	}
	for (uint32_t i = 0; i < live->rig.n_sources; i++) {
		uint64_t ns = __atomic_load_n(&live->rig.sources[i].preempted.longest_own_ns,
		                              __ATOMIC_RELAXED);

		window->own_longest_poll_ns = RTE_MAX(window->own_longest_poll_ns, ns);
	}
	window->late = count_above(&window->own_lateness_ns, 2 * window->own_longest_poll_ns);
	free(report);
	return true;
}

uint64_t bench_live_unaccounted(struct bench_live *live)
{
	struct cloud_report *report = malloc(sizeof(*report));
	uint64_t sum = 0;

	for (uint32_t i = 0; report && i < live->rig.scenario->n_clouds; i++) {
		const struct counters *c = &report->counters;
		uint64_t in, out;

		if (!runtime_cloud_report(live->rig.runtime, live->rig.scenario->clouds[i]->name,
		                          report))
			continue;
		in = counters_in(c);
		out = counters_out(c) + report->held_packets;
		sum += in > out ? in - out : out - in;
	}
	free(report);
	return sum;
}

int bench_live_close(struct bench_live *live, struct problem *problem)
{
	if (live->serving)
		server_end(live->serving, 0);
	server_close(live->server);
	if (live->server)
		run_log_end();
	/* The server has changed how signals are handled. */
	bench_stop_on_signals();
	histogram_part_free(&live->lateness);
	histogram_part_free(&live->own_lateness);
	bench_rig_stop(&live->rig);
	bench_sink_detach(&live->sink);
	return bench_rig_close(&live->rig, problem);
}
