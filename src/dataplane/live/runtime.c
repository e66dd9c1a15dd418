/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts and stops a live emulator, and checks that its counters add up at the end. */
#include "live/runtime.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "engine/engine_report.h"
#include "live/runtime_state.h"
#include "live/worker.h"
#include "machine/bell.h"
#include "machine/eal.h"
#include "machine/pool.h"
#include "record/recording.h"

/* mbufs in the queues of one port and on the way through a worker, without the held ones. */
#define MBUFS_PER_PORT (2 * 1024 + 2 * OUTLET_ROOM + PACED_FILE_MBUFS)
#define MBUFS_EACH     512 /* an lcore's cache of the mempool, and a burst */
#define MBUFS_LEAST    8191
#define MBUFS_KEPT     1024 /* large frames that an engine may hold in any case */
#define KEPT_TX_MBUFS  2048 /* in the transmit ring of net_af_xdp */

static uint32_t mbufs_needed(uint32_t ports, uint32_t workers, uint32_t held)
{
	uint32_t least = ports * MBUFS_PER_PORT + (workers + 1) * MBUFS_EACH + MBUFS_KEPT * workers;

	return RTE_MAX(least, (uint32_t)MBUFS_LEAST) + held;
}

uint32_t runtime_mbufs_to_hold(const struct runtime *runtime)
{
	uint32_t used = runtime->n_ports * MBUFS_PER_PORT + (runtime->n_workers + 1) * MBUFS_EACH;

	return pool_size(runtime->pool) - used;
}

unsigned runtime_eal_mib(const struct scenario *scenario, const struct runtime_options *options,
                         uint32_t workers)
{
	uint64_t ports = scenario->n_ports;
	uint64_t bytes = (uint64_t)mbufs_needed((uint32_t)ports, workers, options->mbufs) *
	                 (pool_mbuf_bytes() + sizeof(void *));

	/* A ring and a transmit queue for each worker and port, an outlet for each port. */
	bytes += ports * workers * (TX_QUEUE_RING * sizeof(void *) + sizeof(struct tx_queue));
	bytes += ports * workers * sizeof(struct drain) + workers * PIPELINE_RING * sizeof(void *);
	return (unsigned)(bytes >> 20) + 1;
}

void runtime_memory_ahead(const struct scenario *scenario, const struct runtime_options *options,
                          uint32_t workers)
{
	if (workers != 1 || port_any_pci(scenario) ||
	    eal_takes_huge_pages(runtime_eal_mib(scenario, options, workers)))
		return;
	memory_ahead(pool_outside_bytes(mbufs_needed(scenario->n_ports, 1, options->mbufs)));
	memory_ahead(layout_engine_bytes(options, 1));
}

static int make_pool(struct runtime *runtime, struct problem *problem)
{
	static unsigned serial;
	uint32_t mbufs = mbufs_needed(runtime->n_ports, runtime->n_workers, runtime->options.mbufs);
	char name[32];

	snprintf(name, sizeof(name), "weir-pool-%u", serial++);
	if (rte_eal_has_hugepages() || runtime->options.mempool_ops ||
	    port_any_pci(runtime->scenario))
		runtime->pool = pool_make(name, mbufs, runtime->options.mempool_ops);
	else
		runtime->pool = pool_make_outside(name, mbufs);
	if (runtime->pool)
		return 0;
	problem_set(problem, -1,
	            "no memory for %u packet buffers of 2.5 KiB (%s): %u MiB are needed", mbufs,
	            rte_strerror(rte_errno), mbufs / 400);
	return -ENOMEM;
}

static int open_ports(struct runtime *runtime, struct problem *problem)
{
	for (uint32_t i = 0; i < runtime->scenario->n_ports; i++) {
		uint32_t before = pool_available(runtime->pool);
		int rc = port_open(&runtime->ports[i], &runtime->scenario->ports[i],
		                   layout_senders(runtime), runtime->pool, problem);

		/* A port that failed half way through opening is closed with the others. */
		runtime->n_open = i + 1;
		if (rc == 0 && runtime->options.frames)
			port_watch(&runtime->ports[i], runtime->options.frames, (uint16_t)i);
		if (rc == 0)
			rc = port_check_opened(runtime->ports, runtime->n_open, problem);
		if (rc < 0) {
			struct problem why = *problem;

			problem_set(problem, -1, "port %s: %s", runtime->ports[i].name, why.text);
			problem->port = i + 1;
			return rc;
		}
		if (port_keeps_mbufs(&runtime->ports[i]))
			runtime->kept_mbufs +=
			        before - pool_available(runtime->pool) + KEPT_TX_MBUFS;
	}
	return 0;
}

static int close_ports(struct runtime *runtime, struct problem *problem)
{
	int rc = 0;

	for (uint32_t i = 0; i < runtime->n_open; i++) {
		struct problem one;

		if (port_close(&runtime->ports[i], &one) < 0 && rc == 0) {
			problem_set(problem, -1, "port %s: %s", runtime->ports[i].name, one.text);
			rc = -EIO;
		}
	}
	runtime->n_open = 0;
	return rc;
}

static int start_clock(struct runtime *runtime, struct problem *problem)
{
	if (clock_calibrate(&runtime->clock) == 0)
		return 0;
	problem_set(problem, -1,
	            "the time stamp counter of this processor is not invariant: weir needs "
	            "`constant_tsc nonstop_tsc` in /proc/cpuinfo");
	return -ENOTSUP;
}

static int start_ports(struct runtime *runtime, struct problem *problem)
{
	for (uint32_t i = 0; i < runtime->n_ports; i++) {
		int rc = port_start(&runtime->ports[i], &runtime->clock, problem);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static void launch(struct runtime *runtime)
{
	struct clock_sample sample;

	clock_sample(&sample);
	clock_discipline(&runtime->clock, &sample);
	for (uint32_t i = 0; i < runtime->n_workers; i++) {
		runtime->watches[i].patience = (struct patience){.last_ns = sample.raw_ns};
		if (runtime->workers[i].began_ns == 0)
			runtime->workers[i].began_ns = clock_now(&runtime->clock);
		__atomic_store_n(&runtime->workers[i].over, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&runtime->workers[i].stop, 0, __ATOMIC_RELEASE);
		/* Now, and not when the worker gets to run: soon weir gives up the right to it. */
		rte_eal_remote_launch(worker_take_priority, &runtime->workers[i],
		                      runtime->workers[i].lcore);
		rte_eal_wait_lcore(runtime->workers[i].lcore);
		rte_eal_remote_launch(worker_main, &runtime->workers[i], runtime->workers[i].lcore);
	}
	runtime->running = true;
}

/* Releases everything, in the reverse order of runtime_start. Returns 0, or -EIO with problem. */
static int release(struct runtime *runtime, struct problem *problem)
{
	int rc;

	layout_free(runtime);
	runtime_taps_free(runtime);
	rc = close_ports(runtime, problem);
	if (runtime->pool) {
		uint32_t whole = pool_size(runtime->pool), there = pool_available(runtime->pool);

		if (whole - there > runtime->kept_mbufs) {
			problem_set(problem, -1,
			            "%u of %u packet buffers did not come back to the mempool",
			            whole - there, whole);
			rc = -EIO;
		}
	}
	pool_free(runtime->pool);
	scenario_free(runtime->scenario);
	free(runtime);
	return rc;
}

int runtime_start(const struct scenario *scenario, const struct runtime_options *options,
                  struct runtime **result, struct problem *problem)
{
	struct runtime *runtime = calloc(1, sizeof(*runtime));
	struct problem other;
	int rc = -ENOMEM;

	if (!runtime) {
		problem_set(problem, -1, "no memory");
		return rc;
	}
	runtime->options = *options;
	runtime->scenario = scenario_copy(scenario);
	if (!runtime->scenario) {
		problem_set(problem, -1, "no memory for the scenario");
		goto err_release;
	}
	if (scenario->n_ports == 0) {
		problem_set(problem, -1,
		            "the scenario has no port; add one, like: port a device "
		            "net_af_packet0,iface=eth1");
		rc = -EINVAL;
		goto err_release;
	}
	runtime->n_ports = scenario->n_ports;
	rc = port_check_pci(scenario, problem);
	if (rc == 0)
		rc = port_check_room(scenario, problem);
	if (rc == 0)
		rc = port_check_distinct(scenario, problem);
	if (rc == 0)
		rc = layout_plan(runtime, problem);
	if (rc == 0)
		rc = make_pool(runtime, problem);
	if (rc == 0)
		rc = open_ports(runtime, problem);
	if (rc == 0)
		rc = layout_build(runtime, problem);
	if (rc == 0)
		rc = start_clock(runtime, problem);
	if (rc == 0)
		rc = transaction_first(runtime, problem);
	if (rc == 0)
		rc = start_ports(runtime, problem);
	if (rc < 0)
		goto err_release;
	launch(runtime);
	*result = runtime;
	return 0;

err_release:
	release(runtime, &other);
	return rc;
}

const struct scenario *runtime_scenario(const struct runtime *runtime)
{
	return runtime->scenario;
}

struct recording *runtime_recording(const struct runtime *runtime)
{
	return runtime->options.recording;
}

void runtime_pause(struct runtime *runtime)
{
	if (!runtime->running)
		return;
	for (uint32_t i = 0; i < runtime->n_workers; i++) {
		__atomic_store_n(&runtime->workers[i].stop, 1, __ATOMIC_RELEASE);
		bell_ring(&runtime->workers[i].bell);
	}
	for (uint32_t i = 0; i < runtime->n_workers; i++) {
		rte_eal_wait_lcore(runtime->workers[i].lcore);
		/* Orders what the worker has written before what control reads. rte_eal_wait_lcore
		 * does so, too, but ThreadSanitizer does not see it. */
		(void)__atomic_load_n(&runtime->workers[i].over, __ATOMIC_ACQUIRE);
	}
	for (uint32_t i = 0; i < runtime->n_workers; i++)
		worker_obey_rest(&runtime->workers[i]);
	runtime->running = false;
}

void runtime_halt(struct runtime *runtime)
{
	for (uint32_t i = 0; i < runtime->n_open; i++)
		port_give_back(&runtime->ports[i]);
	runtime_pause(runtime);
	if (runtime->halted)
		return;
	for (uint32_t i = 0; i < runtime->n_workers; i++)
		worker_record_end(&runtime->workers[i]);
	if (runtime->options.recording)
		recording_finish(runtime->options.recording);
	for (uint32_t i = 0; i < runtime->n_open; i++)
		port_halt(&runtime->ports[i]);
	runtime->halted = true;
}

/* ---- does it add up? ---- */

struct sums {
	uint64_t received; /* by clouds, from ports */
	uint64_t sent;     /* by clouds, but not into other clouds */
};

static int check_cloud(const struct runtime *runtime, uint32_t index, struct cloud_report *report,
                       struct sums *sums, struct problem *problem)
{
	const struct cloud_conf *conf = runtime->scenario->clouds[index];
	const struct counters *c = &report->counters;
	uint64_t in, out;

	if (!runtime_cloud_report(runtime, conf->name, report)) {
		problem_set(problem, -1, "cloud %s is in the scenario, but not in the engine",
		            conf->name);
		return -EIO;
	}
	in = c->rx_packets + c->duplicated + c->generated;
	out = c->tx_packets + counters_drops(c) + report->held_packets;
	/* Packets that other clouds generated and sent through this one came in at no port. */
	if (scenario_find_port(runtime->scenario, conf->from) >= 0)
		sums->received += c->rx_packets - c->answers;
	sums->sent += c->tx_packets - c->onward;
	if (in == out)
		return 0;
	problem_set(problem, -1,
	            "cloud %s does not add up: %" PRIu64 " came in or were made, %" PRIu64
	            " were sent (%" PRIu64 "), dropped (%" PRIu64 ") or are held (%" PRIu64 ")",
	            conf->name, in, out, c->tx_packets, counters_drops(c), report->held_packets);
	return -EIO;
}

/* Returns the number of packets that have left their cloud but not weir: in outlets, waiting for a
 * device, and in rings. */
static uint64_t between(const struct runtime *runtime, const struct port *port, uint32_t index)
{
	uint64_t n = 0;

	for (uint32_t w = 0; w < runtime->n_workers; w++) {
		const struct worker *worker = &runtime->workers[w];

		if (worker->n_tx_queues)
			n += worker->tx_queues[index].outlet->n +
			     tx_queue_waiting(&worker->tx_queues[index]);
		for (uint32_t i = 0; i < worker->n_drains; i++) {
			const struct drain *drain = &worker->drains[i];

			if (drain->tx_queue.port != port)
				continue;
			n += drain->outlet.n + tx_queue_waiting(&drain->tx_queue);
			for (uint32_t k = 0; k < drain->n_from; k++)
				n += ring_waiting(drain->from[k]);
		}
	}
	return n;
}

/* Returns the number of packets between rx and emulation. */
static uint64_t ahead(const struct runtime *runtime)
{
	uint64_t n = 0;

	for (uint32_t w = 0; w < runtime->n_workers; w++) {
		if (runtime->workers[w].feed)
			n += ring_waiting(runtime->workers[w].feed);
	}
	return n;
}

static int check_ports(const struct runtime *runtime, const struct sums *sums,
                       struct port_report *report, struct problem *problem)
{
	uint64_t received = 0, taken = ahead(runtime) + sums->received, sent = 0, untouched = 0;

	for (uint32_t i = 0; i < runtime->n_ports; i++) {
		uint64_t gone, here = 0;

		runtime_port_report(runtime, i, report);
		received += report->rx_packets;
		taken += report->no_cloud + report->untouched;
		for (uint32_t w = 0; w < runtime->n_workers; w++) {
			if (runtime->workers[w].engine)
				here += engine_sent(runtime->workers[w].engine, i);
		}
		/* Untouched packets leave at the instant of their arrival, so all of them are
		 * sent. */
		sent += here;
		untouched += report->untouched;
		gone = report->tx_packets + report->tx_full +
		       between(runtime, &runtime->ports[i], i);
		if (here == gone)
			continue;
		problem_set(problem, -1,
		            "port %s does not add up: clouds sent %" PRIu64
		            " packets to it, %" PRIu64 " were handed over, dropped or wait",
		            report->name, here, gone);
		return -EIO;
	}
	if (sent != sums->sent + untouched) {
		problem_set(problem, -1,
		            "clouds and ports do not add up: %" PRIu64
		            " packets left clouds, %" PRIu64 " came to ports",
		            sums->sent + untouched, sent);
		return -EIO;
	}
	if (received == taken)
		return 0;
	problem_set(problem, -1,
	            "ports and clouds do not add up: %" PRIu64
	            " packets were received, clouds took "
	            "%" PRIu64,
	            received, taken);
	return -EIO;
}

/* Checks that the counters add up. Workers have stopped. Returns 0, or -errno with problem: -EIO
 * and what does not add up, or -ENOMEM. */
static int check_sums(const struct runtime *runtime, struct problem *problem)
{
	struct sums *sums = calloc(1, sizeof(*sums));
	struct cloud_report *cloud = malloc(sizeof(*cloud));
	struct port_report *port = malloc(sizeof(*port));
	int rc = sums && cloud && port ? 0 : -ENOMEM;

	if (rc < 0)
		problem_set(problem, -1, "no memory to add up the counters");
	for (uint32_t i = 0; rc == 0 && i < runtime->scenario->n_clouds; i++)
		rc = check_cloud(runtime, i, cloud, sums, problem);
	/* The sums over ports include packets that no counter has any more: those of removed
	 * clouds, and those in flight when counters were cleared. So the ports are checked only if
	 * neither happened. */
	if (rc == 0 && !runtime->changed_clouds && !runtime->cleared_ever)
		rc = check_ports(runtime, sums, port, problem);
	free(sums);
	free(cloud);
	free(port);
	return rc;
}

int runtime_stop(struct runtime *runtime, struct problem *problem)
{
	struct problem other;
	int sums, rc;

	runtime_halt(runtime);
	transaction_finish(runtime->posted); /* unfinished if a worker stood still until now */
	sums = check_sums(runtime, problem);
	rc = release(runtime, sums < 0 ? &other : problem);
	return sums < 0 ? sums : rc;
}
