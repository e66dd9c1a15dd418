/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/bench_rig.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "engine/engine_report.h"
#include "line/delay.h"
#include "live/runtime_state.h"
#include "machine/pool.h"
#include "record/recording.h"

#define DEVICE_BYTES 64
/* The rate that a saturated source is assumed to give at most, over all ports. */
#define MOST_PPS       100e6
#define MOST_PPS_LARGE 80e6 /* of frames that stay in their mbufs */
#define MEMORY_BASE    (UINT64_C(64) << 20)
#define NORMAL_REACH   13 / 2 /* deviations of a normal jitter, see budget.h */

struct bench_launch {
	struct worker *worker;
	int priority;
};

uint64_t bench_held_ns(const struct scenario *scenario)
{
	uint64_t longest = 0;

	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		const struct delay_conf *delay =
		        (const struct delay_conf *)cloud_conf_get(scenario->clouds[i], "delay");
		uint64_t held;

		if (!delay || delay->conf.statement != &delay_statement)
			continue;
		held = delay->delay_ns + (delay->distribution != DELAY_UNIFORM
		                                  ? delay->jitter_ns * NORMAL_REACH
		                                  : delay->jitter_ns);
		longest = RTE_MAX(longest, held);
	}
	return longest;
}

/* ---- opening ---- */

static int name_devices(struct scenario *scenario, const struct bench_setup *setup)
{
	/* The source makes frames that a net_null mbuf cannot hold. */
	uint32_t bytes = bench_frames_need_source(setup->frame_bytes) ? 64 : setup->frame_bytes;

	for (uint32_t i = 0; i < scenario->n_ports && setup->ports != BENCH_GIVEN; i++) {
		char device[DEVICE_BYTES];

		if (setup->ports == BENCH_NET_RING)
			snprintf(device, sizeof(device), "net_ring%u", i);
		else
			snprintf(device, sizeof(device), "net_null%u,size=%u%s", i, bytes,
			         setup->ports == BENCH_SILENT ? ",no-rx=1" : "");
		free(scenario->ports[i].device);
		scenario->ports[i].device = strdup(device);
		if (!scenario->ports[i].device)
			return -ENOMEM;
	}
	return 0;
}

/* Sizes the memory and the number of mbufs for packets on the way. */
static void size_memory(const struct bench_setup *setup, const struct scenario *scenario,
                        const struct bench_conditions *conditions, struct runtime_options *options)
{
	bool large = setup->frame_bytes == 0 || setup->frame_bytes > 512;
	double most = setup->most_pps > 0 ? setup->most_pps : large ? MOST_PPS_LARGE : MOST_PPS;
	double packets = most * (double)bench_held_ns(scenario) / 1e9;
	double bytes = packets * (double)engine_packet_cost(large ? 64 : setup->frame_bytes);

	*options = (struct runtime_options){
	        .layout = conditions->layout,
	        .told_departures = setup->ports == BENCH_SILENT, /* for the sink */
	};
	options->memory_bytes = MEMORY_BASE + (uint64_t)(bytes * 1.1);
	if (large)
		packets *= setup->frame_bytes > RTE_MBUF_DEFAULT_DATAROOM
		                   ? 1 + setup->frame_bytes / RTE_MBUF_DEFAULT_DATAROOM
		                   : 1;
	else
		packets = 0;
	options->memory_bytes = RTE_MIN(options->memory_bytes, conditions->memory_max_bytes);
	options->mbufs = (uint32_t)RTE_MIN(packets, (double)conditions->mbufs_max);
}

static int add_sources(struct bench_rig *rig, const struct bench_setup *setup)
{
	struct runtime *runtime = rig->runtime;
	int rc = 0;

	if (setup->ports == BENCH_GIVEN ||
	    (setup->ports == BENCH_NET_NULL && !setup->headers && !setup->addresses &&
	     !bench_frames_need_source(setup->frame_bytes)))
		return 0;
	rig->sources = calloc(runtime->n_ports, sizeof(*rig->sources));
	if (!rig->sources)
		return -ENOMEM;
	for (uint32_t i = 0; rc == 0 && i < runtime->n_ports; i++) {
		struct bench_source *source = &rig->sources[rig->n_sources];

		if (setup->ports == BENCH_SILENT && rig->peer[i] == SCENARIO_PORTS_MAX)
			continue;
		source->pool = runtime->pool;
		source->clock = &runtime->clock;
		source->top_up = setup->ports == BENCH_NET_RING;
		source->addresses = setup->addresses;
		source->stamped = setup->ports == BENCH_SILENT;
		source->headers = setup->headers;
		source->period_ps =
		        setup->ports == BENCH_SILENT ? (uint64_t)(1e12 / setup->pps) : 0;
		bench_frames_fill(&source->frames, setup->frame_bytes);
		rc = bench_source_attach(source, runtime->ports[i].id);
		rig->n_sources++;
	}
	return rc;
}

static int learn_clock_id(void *rig)
{
	return pthread_getcpuclockid(pthread_self(), &((struct bench_rig *)rig)->worker_clock);
}

/* Opens the flight. It is never dumped, so it needs no text of the scenario. */
static int open_flight(struct bench_rig *rig, const struct bench_conditions *conditions,
                       struct problem *problem)
{
	const struct recording_plan plan = {.weir = "bench",
	                                    .snap = conditions->flight_snap,
	                                    .flight_ns = conditions->flight_ns,
	                                    .flight_bytes = RECORDING_FLIGHT_BYTES,
	                                    .held_max = RECORDING_FLIGHT_HELD};

	if (conditions->flight_ns == 0)
		return 0;
	return recording_open(&plan, rig->scenario, "", &rig->recording, problem);
}

int bench_rig_open(struct bench_rig *rig, const struct bench_setup *setup,
                   const struct bench_conditions *conditions, struct problem *problem)
{
	struct runtime_options options;
	int rc = -ENOMEM;

	memset(rig, 0, sizeof(*rig));
	rig->conditions = conditions;
	rig->scenario = scenario_copy(setup->scenario);
	if (!rig->scenario || name_devices(rig->scenario, setup) < 0) {
		problem_set(problem, -1, "no memory for the scenario");
		goto err_scenario;
	}
	/* The peer of a port is the port to which its first cloud leads. */
	for (uint32_t i = 0; i < rig->scenario->n_ports; i++)
		rig->peer[i] = SCENARIO_PORTS_MAX;
	for (uint32_t i = 0; i < rig->scenario->n_clouds; i++) {
		int from = scenario_find_port(rig->scenario, rig->scenario->clouds[i]->from);
		int to = scenario_find_port(rig->scenario, rig->scenario->clouds[i]->to);

		if (from >= 0 && to >= 0 && rig->peer[from] == SCENARIO_PORTS_MAX)
			rig->peer[from] = (uint32_t)to;
	}
	size_memory(setup, rig->scenario, conditions, &options);
	rc = open_flight(rig, conditions, problem);
	if (rc < 0)
		goto err_scenario;
	options.recording = rig->recording;
	rc = runtime_start(rig->scenario, &options, &rig->runtime, problem);
	if (rc < 0)
		goto err_recording;
	rig->going = true;
	bench_rig_stop(rig);
	rig->tick_ns = rig->runtime->clock.rate_ns;
	rte_eal_remote_launch(learn_clock_id, rig, rig->runtime->workers[0].lcore);
	rte_eal_wait_lcore(rig->runtime->workers[0].lcore);
	rig->launches = calloc(rig->runtime->n_workers, sizeof(*rig->launches));
	rc = rig->launches ? add_sources(rig, setup) : -ENOMEM;
	if (rc == 0)
		return 0;
	problem_set(problem, -1, "cannot make the sources of packets: %s", strerror(-rc));
	struct problem other;

	bench_rig_close(rig, &other);
	return rc;

err_recording:
	recording_free(rig->recording);
err_scenario:
	scenario_free(rig->scenario);
	return rc;
}

int bench_rig_close(struct bench_rig *rig, struct problem *problem)
{
	int rc;

	bench_rig_stop(rig);
	for (uint32_t i = 0; i < rig->n_sources; i++)
		bench_source_detach(&rig->sources[i]);
	/* Packets in rings of ports would be lost when the ring is closed. */
	struct rte_mbuf *mbufs[BURST_MAX];

	for (uint32_t i = 0; i < rig->runtime->n_ports; i++) {
		struct port *port = &rig->runtime->ports[i];
		uint16_t n;

		if (port->file || !strstr(port->driver, "ring"))
			continue;
		while ((n = rte_eth_rx_burst(port->id, 0, mbufs, BURST_MAX)) > 0)
			rte_pktmbuf_free_bulk(mbufs, n);
	}
	rc = runtime_stop(rig->runtime, problem);
	free(rig->sources);
	recording_free(rig->recording);
	free(rig->launches);
	scenario_free(rig->scenario);
	return rc;
}

int bench_rig_interrupted(struct bench_rig *rig, struct problem *problem)
{
	struct problem other;

	bench_rig_close(rig, &other);
	problem_set(problem, -1, "interrupted");
	return -EINTR;
}

/* ---- running ---- */

void bench_priority_set(int priority)
{
	struct sched_param param = {.sched_priority = priority};

	/* Fails without the right; bench_command has tested that before. */
	if (priority > 0)
		pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
}

void bench_priority_clear(int priority)
{
	struct sched_param param = {.sched_priority = 0};

	if (priority > 0)
		pthread_setschedparam(pthread_self(), SCHED_OTHER, &param);
}

static int run_worker(void *argument)
{
	const struct bench_launch *launch = argument;
	int rc;

	bench_priority_set(launch->priority);
	rc = worker_main(launch->worker);
	bench_priority_clear(launch->priority);
	return rc;
}

void bench_rig_go(struct bench_rig *rig)
{
	struct runtime *runtime = rig->runtime;

	if (rig->going)
		return;
	/* Time goes on from where it stopped. */
	struct clock *clock = &runtime->clock;

	clock->line[clock->turn & 1].base_tsc += rte_rdtsc() - rig->stopped_tsc;
	for (uint32_t i = 0; i < runtime->n_workers; i++) {
		struct worker *worker = &runtime->workers[i];

		worker->stop = 0;
		rig->launches[i] = (struct bench_launch){worker, rig->conditions->priority};
		rte_eal_remote_launch(run_worker, &rig->launches[i], worker->lcore);
	}
	runtime->running = true;
	rig->going = true;
}

void bench_rig_stop(struct bench_rig *rig)
{
	if (!rig->going)
		return;
	runtime_pause(rig->runtime);
	rig->stopped_tsc = rte_rdtsc();
	rig->going = false;
}

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	(void)number;
	stopped = 1;
}

void bench_stop_on_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

bool bench_stopped(void)
{
	return stopped;
}

void bench_pause(double seconds)
{
	struct timespec time = {.tv_sec = (time_t)seconds};

	time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
	while (!stopped && nanosleep(&time, &time) < 0 && errno == EINTR)
		;
}

/* Counts what the workers of a rig have done so far. */

static void count_clouds(const struct bench_rig *rig, struct bench_count *count)
{
	struct cloud_report *report = malloc(sizeof(*report));

	for (uint32_t i = 0; report && i < rig->scenario->n_clouds; i++) {
		if (!runtime_cloud_report(rig->runtime, rig->scenario->clouds[i]->name, report))
			continue;
		for (int reason = 0; reason < REASON_COUNT; reason++) {
			uint64_t drops = report->counters.drops[reason];

			if (reason_kind((enum reason)reason) == REASON_REAL)
				count->lost += drops;
			else
				count->emulated += drops;
		}
	}
	free(report);
}

static uint64_t clock_read(clockid_t id)
{
	struct timespec time;

	clock_gettime(id, &time);
	return (uint64_t)time.tv_sec * SIMTIME_S + (uint64_t)time.tv_nsec;
}

static void count_sent(const struct runtime *runtime, struct bench_count *count)
{
	count->packets = count->bytes = 0;
	for (uint32_t w = 0; w < runtime->n_workers; w++) {
		const struct worker *worker = &runtime->workers[w];

		for (uint32_t i = 0; i < worker->n_tx_queues; i++) {
			if (!worker->tx_queues[i].port)
				continue;
			count->packets +=
			        __atomic_load_n(&worker->tx_queues[i].tx_packets, __ATOMIC_RELAXED);
			count->bytes +=
			        __atomic_load_n(&worker->tx_queues[i].tx_bytes, __ATOMIC_RELAXED);
		}
		for (uint32_t i = 0; i < worker->n_drains; i++) {
			const struct tx_queue *tx_queue = &worker->drains[i].tx_queue;

			count->packets += __atomic_load_n(&tx_queue->tx_packets, __ATOMIC_RELAXED);
			count->bytes += __atomic_load_n(&tx_queue->tx_bytes, __ATOMIC_RELAXED);
		}
	}
}

void bench_rig_count(const struct bench_rig *rig, struct bench_count *count)
{
	const struct runtime *runtime = rig->runtime;
	uint64_t before;

	memset(count, 0, sizeof(*count));
	/* Reads again if this thread has lost the processor between clock and counters. */
	for (int tries = 0; tries < 10; tries++) {
		before = clock_read(CLOCK_MONOTONIC_RAW);
		count_sent(runtime, count);
		count->raw_ns = clock_read(CLOCK_MONOTONIC_RAW);
		if (count->raw_ns - before < 5 * SIMTIME_US)
			break;
	}
	count->worker_cpu_ns = clock_read(rig->worker_clock);
	for (uint32_t w = 0; w < runtime->n_workers; w++) {
		const struct worker *worker = &runtime->workers[w];

		for (uint32_t i = 0; i < worker->n_tx_queues; i++)
			count->lost += worker->tx_queues[i].tx_full;
		if (worker->engine) {
			count->held_packets += engine_held_packets(worker->engine);
			count->memory_bytes += engine_memory_used(worker->engine);
		}
	}
	for (uint32_t i = 0; i < rig->n_sources; i++) {
		const struct bench_source *source = &rig->sources[i];

		count->made += __atomic_load_n(&source->made, __ATOMIC_RELAXED);
		count->missed += __atomic_load_n(&source->missed, __ATOMIC_RELAXED);
		count->missed_preempted +=
		        __atomic_load_n(&source->missed_preempted, __ATOMIC_RELAXED);
		count->starved += __atomic_load_n(&source->starved, __ATOMIC_RELAXED);
	}
	count_clouds(rig, count);
	if (rig->recording) {
		struct recording_counts recorded;

		recording_counts(rig->recording, &recorded);
		count->recorded = recorded.packets;
		count->unrecorded = recorded.missed;
	}
	count->mbufs_free = pool_available(runtime->pool);
}
