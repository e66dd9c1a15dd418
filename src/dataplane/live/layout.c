/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes the workers, engines, rings and transmit queues from lcores, ports and the requested
 * layout.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#include "capture/filter.h"
#include "live/runtime_state.h"
#include "live/worker.h"
#include "machine/cpu_list.h"
#include "machine/pool.h"
#include "record/recording.h"
#include "statements.h"

#define MEMORY_DEFAULT (UINT64_C(256) << 20)

static bool has_engine(const struct worker *worker)
{
	return worker->role == WORKER_RUN_TO_COMPLETION || worker->role == WORKER_EMULATION;
}

static uint32_t engines(const struct runtime *runtime)
{
	return runtime->options.layout == LAYOUT_PIPELINE ? runtime->n_workers - 2
	                                                  : runtime->n_workers;
}

uint16_t layout_senders(const struct runtime *runtime)
{
	return runtime->options.layout == LAYOUT_PIPELINE ? 1 : (uint16_t)runtime->n_workers;
}

void layout_owned(const struct runtime *runtime, uint32_t worker, bool owned[SCENARIO_PORTS_MAX])
{
	for (uint32_t port = 0; port < runtime->n_ports; port++)
		owned[port] = runtime->emulator[port] == worker;
}

/* ---- planning ---- */

static bool cpus_meet(const rte_cpuset_t *a, const rte_cpuset_t *b)
{
	rte_cpuset_t both;

	CPU_AND(&both, a, b);
	return CPU_COUNT(&both) > 0;
}

/* Returns the processor on which an lcore runs; `--cores` binds each lcore to one.
 * rte_lcore_to_cpu_id does not serve here: it maps the number of the lcore, wherever the lcore is
 * bound. */
static uint32_t cpu_of(unsigned lcore)
{
	rte_cpuset_t cpus = rte_lcore_cpuset(lcore);
	uint32_t cpu = 0;

	while (cpu + 1 < CPU_SETSIZE && !CPU_ISSET(cpu, &cpus))
		cpu++;
	return cpu;
}

/* Decides which workers yield. A worker that never sleeps must yield if another thread of weir, a
 * second worker or control, has no other processor. */
static void plan_yields(struct runtime *runtime)
{
	rte_cpuset_t main_cpus = rte_lcore_cpuset(rte_get_main_lcore());
	rte_cpuset_t own;

	for (uint32_t i = 0; i < runtime->n_workers; i++) {
		own = rte_lcore_cpuset(runtime->workers[i].lcore);
		runtime->workers[i].yields =
		        runtime->options.rest == REST_WOKEN || cpus_meet(&own, &main_cpus);
		for (uint32_t k = 0; k < runtime->n_workers; k++) {
			rte_cpuset_t other = rte_lcore_cpuset(runtime->workers[k].lcore);

			if (k != i && cpus_meet(&own, &other))
				runtime->workers[i].yields = true;
		}
	}
}

static enum worker_role role_of(const struct runtime *runtime, uint32_t worker)
{
	if (runtime->options.layout != LAYOUT_PIPELINE)
		return WORKER_RUN_TO_COMPLETION;
	return worker == 0                        ? WORKER_RX
	       : worker == runtime->n_workers - 1 ? WORKER_TX
	                                          : WORKER_EMULATION;
}

int layout_plan(struct runtime *runtime, struct problem *problem)
{
	bool pipeline = runtime->options.layout == LAYOUT_PIPELINE;
	uint32_t lcores = rte_lcore_count() - 1, at = 0;
	unsigned lcore;

	if (lcores < (pipeline ? 3u : 1u))
		return problem_set(
		        problem, -1,
		        pipeline ? "a pipeline needs three workers or more (rx, emulation, "
		                   "tx), but there are %u: --cores 1,2,3 (a processor may be "
		                   "listed more than once)"
		                 : "no worker: %u lcores besides the main one; give one, like "
		                   "--cores 1",
		        lcores);
	/* Workers beyond the number of ports would have nothing to do. */
	runtime->n_workers = RTE_MIN(lcores, runtime->n_ports + (pipeline ? 2 : 0));
	runtime->workers = rte_zmalloc("workers", runtime->n_workers * sizeof(struct worker),
	                               RTE_CACHE_LINE_SIZE);
	runtime->memory = calloc(runtime->n_workers, sizeof(void *));
	if (!runtime->workers || !runtime->memory) {
		problem_set(problem, -1, "no memory for %u workers", runtime->n_workers);
		return -ENOMEM;
	}
	RTE_LCORE_FOREACH_WORKER(lcore)
	{
		if (at == runtime->n_workers)
			break;
		runtime->workers[at].lcore = lcore;
		runtime->workers[at].cpu = cpu_of(lcore);
		runtime->workers[at].clock = &runtime->clock;
		runtime->workers[at].role = role_of(runtime, at);
		at++;
	}
	for (uint32_t port = 0; port < runtime->n_ports; port++) {
		runtime->emulator[port] =
		        pipeline ? 1 + port % engines(runtime) : port % runtime->n_workers;
		runtime->sender[port] =
		        pipeline ? runtime->n_workers - 1 : port % runtime->n_workers;
	}
	plan_yields(runtime);
	return 0;
}

/* ---- building ---- */

static struct rte_ring *ring_add(struct runtime *runtime, uint32_t room)
{
	static unsigned serial;
	char name[RTE_RING_NAMESIZE];
	struct rte_ring *ring;

	if (runtime->n_rings == RINGS_MAX)
		return NULL;
	snprintf(name, sizeof(name), "weir-%u", serial++);
	ring = rte_ring_create(name, room, (int)rte_socket_id(), RING_F_SP_ENQ | RING_F_SC_DEQ);
	if (ring)
		runtime->rings[runtime->n_rings++] = ring;
	return ring;
}

static int build_engine(struct runtime *runtime, uint32_t index, struct problem *problem)
{
	struct worker *worker = &runtime->workers[index];
	struct engine_setup setup = {
	        .statements = statements,
	        .pool = runtime->pool,
	        .memory_bytes = runtime->memory_bytes,
	        .seed = runtime->scenario->seed,
	        .witness = runtime->options.witness,
	        .lacked_ns = worker->tape ? &worker->tape->lacked_ns : NULL,
	        .filters = &filters,
	        .spread = pool_spread,
	        .kept_mbufs_max = runtime_mbufs_to_hold(runtime) / engines(runtime),
	        .live = true,
	        .make_room = worker_make_room,
	        .room_argument = worker,
	};

	setup.memory = runtime->memory[index] = memory_make(runtime->memory_bytes);
	if (setup.memory)
		worker->engine = engine_make(&setup);
	if (worker->engine)
		return 0;
	problem_set(problem, -1,
	            "no memory to hold packets: %zu MiB for each of %u workers; a smaller --memory "
	            "needs less; packets that find no room are then dropped as no-buffer",
	            runtime->memory_bytes >> 20, engines(runtime));
	return -ENOMEM;
}

static int no_rings(struct problem *problem)
{
	problem_set(problem, -1, "no memory for the rings between workers: %s",
	            rte_strerror(rte_errno));
	return -ENOMEM;
}

static struct wire *wire_of(struct worker *worker, const struct runtime *runtime, uint32_t port)
{
	return runtime->ports[port].speed_bps ? &worker->wires[port] : NULL;
}

/* Connects the transmit queue of this worker to a port. */
static void tx_queue_lead(struct tx_queue *tx_queue, struct runtime *runtime, struct worker *worker,
                          uint32_t index)
{
	struct port *port = &runtime->ports[index];

	tx_queue->told = runtime->options.told_departures;
	tx_queue->port = port;
	tx_queue->index = index;
	tx_queue->witness = &worker->tap.witness;
	tx_queue->tape = worker->tape;
	tx_queue->wire = wire_of(worker, runtime, index);
	tx_queue->launch = port->launch_ns > 0 ? &port->time : NULL;
	tx_queue->launch_ns = port->launch_ns;
}

/* Adds a ring to those from which the drain of a port is fed, at the worker that sends to the port.
 * Creates the drain if there is none. Returns -ENOMEM if there is no memory. */
static int drain_feed(struct runtime *runtime, uint32_t index, struct rte_ring *ring)
{
	struct worker *sender = &runtime->workers[runtime->sender[index]];
	struct drain *drain = NULL;

	for (uint32_t i = 0; i < sender->n_drains; i++) {
		if (sender->drains[i].tx_queue.index == index)
			drain = &sender->drains[i];
	}
	if (!drain) {
		drain = &sender->drains[sender->n_drains++];
		tx_queue_lead(&drain->tx_queue, runtime, sender, index);
		drain->tx_queue.outlet = &drain->outlet;
		drain->from = calloc(WORKERS_MAX, sizeof(struct rte_ring *));
		if (!drain->from)
			return -ENOMEM;
	}
	drain->from[drain->n_from++] = ring;
	return 0;
}

static int build_tx_queues(struct runtime *runtime, uint32_t index, struct problem *problem)
{
	struct worker *worker = &runtime->workers[index];

	worker->tx_queues = rte_zmalloc(
	        "transmit queues", runtime->n_ports * sizeof(struct tx_queue), RTE_CACHE_LINE_SIZE);
	if (!worker->tx_queues)
		return no_rings(problem);
	worker->n_tx_queues = runtime->n_ports;
	for (uint32_t p = 0; p < runtime->n_ports; p++) {
		struct tx_queue *tx_queue = &worker->tx_queues[p];
		struct port *port = &runtime->ports[p];

		tx_queue->outlet = engine_outlet(worker->engine, p);
		tx_queue->holder = engine_holder(worker->engine);
		tx_queue->tape = worker->tape;
		tx_queue->index = p;
		if (worker->role == WORKER_RUN_TO_COMPLETION &&
		    (port->tx_queues >= runtime->n_workers || runtime->sender[p] == index)) {
			tx_queue_lead(tx_queue, runtime, worker, p);
			tx_queue->queue =
			        port->tx_queues >= runtime->n_workers ? (uint16_t)index : 0;
			continue;
		}
		tx_queue->ring = ring_add(runtime, TX_QUEUE_RING);
		tx_queue->bell = &runtime->workers[runtime->sender[p]].bell;
		if (!tx_queue->ring || drain_feed(runtime, p, tx_queue->ring) < 0)
			return no_rings(problem);
	}
	return 0;
}

/* Gives the inlets of a worker room for what they receive, if one of them has stamps. */
static int build_arrivals(struct worker *worker, struct problem *problem)
{
	for (uint32_t i = 0; worker->stamped && i < worker->n_inlets; i++) {
		worker->inlets[i].arrivals = calloc(1, sizeof(struct arrivals));
		if (!worker->inlets[i].arrivals) {
			problem_set(problem, -1, "no memory for %u ports", worker->n_inlets);
			return -ENOMEM;
		}
	}
	return 0;
}

static int build_worker(struct runtime *runtime, uint32_t index, struct problem *problem)
{
	struct worker *worker = &runtime->workers[index];
	char name[RTE_RING_NAMESIZE];
	int rc;

	snprintf(name, sizeof(name), "weir-mail-%u", index);
	rc = mailbox_make(&worker->mailbox, name);
	worker->mailbox.bell = &worker->bell;
	worker->inlets =
	        rte_zmalloc("inlets", runtime->n_ports * sizeof(struct inlet), RTE_CACHE_LINE_SIZE);
	worker->drains =
	        rte_zmalloc("drains", runtime->n_ports * sizeof(struct drain), RTE_CACHE_LINE_SIZE);
	worker->wires =
	        rte_zmalloc("wires", runtime->n_ports * sizeof(struct wire), RTE_CACHE_LINE_SIZE);
	if (rc < 0 || !worker->inlets || !worker->drains || !worker->wires)
		return no_rings(problem);
	worker_tap_init(&worker->tap, index, &worker->now, runtime->options.witness);
	for (uint32_t p = 0; p < runtime->n_ports; p++)
		wire_init(&worker->wires[p], runtime->ports[p].speed_bps);
	if (worker->role == WORKER_EMULATION) {
		worker->feed = ring_add(runtime, PIPELINE_RING);
		worker->stamped_ns = &runtime->workers[0].done_ns;
		if (!worker->feed)
			return no_rings(problem);
	}
	return has_engine(worker) ? build_engine(runtime, index, problem) : 0;
}

simtime layout_rest(const struct runtime_options *options, bool isolated, bool woken)
{
	bool may = options->rest == REST_WOKEN || (options->rest == REST_SHARED && !isolated);

	if (options->layout == LAYOUT_PIPELINE)
		return 0;
	return options->rest == REST_TIMED ? options->sleep_ns : may && woken ? WORKER_REST_NS : 0;
}

/* Finds a port of the worker that does not wake it, or NULL. */
static const char *deaf_port(const struct worker *worker)
{
	for (uint32_t i = 0; i < worker->n_inlets; i++) {
		if (!port_wakes(worker->inlets[i].port))
			return worker->inlets[i].port->name;
	}
	return NULL;
}

/* Decides how workers sleep, and their priority. */
static int plan_rest(struct runtime *runtime, struct problem *problem)
{
	const struct priority *wish = &runtime->options.priority;
	struct priority_rights rights = {0};
	cpu_set_t isolated;
	int rc = 0;

	cpu_list_isolated("", &isolated);
	if (wish->kind != PRIORITY_NONE)
		priority_rights_read(wish->level, &rights);
	for (uint32_t i = 0; rc == 0 && i < runtime->n_workers; i++) {
		struct worker *worker = &runtime->workers[i];
		bool alone = CPU_ISSET(worker->cpu, &isolated);

		worker->deaf = deaf_port(worker);
		worker->rest_ns = layout_rest(&runtime->options, alone, !worker->deaf);
		if (worker->rest_ns == layout_rest(&runtime->options, alone, true))
			worker->deaf = NULL;
		worker->wake_ns = WORKER_WAKE_NS;
		if (worker->rest_ns > 0)
			rc = bell_make(&worker->bell);
		if (rc < 0)
			problem_set(problem, -1, "no descriptor to wake a worker with: %s",
			            strerror(-rc));
		else
			rc = priority_decide(wish, &rights, worker->rest_ns > 0, &worker->priority,
			                     problem);
	}
	return rc;
}

/* Begins the recording, and stores in it what the scenario does not say: which worker has the
 * clouds of which port. */
static int begin_recording(struct runtime *runtime, struct problem *problem)
{
	struct recording *recording = runtime->options.recording;
	int rc = recording_begin(recording, runtime->n_workers, runtime->emulator,
	                         runtime->memory_bytes, problem);

	for (uint32_t i = 0; rc == 0 && i < runtime->n_workers; i++)
		runtime->workers[i].tape = recording_tape(recording, i);
	return rc;
}

size_t layout_engine_bytes(const struct runtime_options *options, uint32_t n_engines)
{
	uint64_t memory = options->memory_bytes ? options->memory_bytes : MEMORY_DEFAULT;

	return RTE_ALIGN_CEIL(memory / n_engines, UINT64_C(4096));
}

int layout_build(struct runtime *runtime, struct problem *problem)
{
	int rc = 0;

	runtime->memory_bytes = layout_engine_bytes(&runtime->options, engines(runtime));
	if (runtime->options.recording)
		rc = begin_recording(runtime, problem);
	for (uint32_t i = 0; rc == 0 && i < runtime->n_workers; i++)
		rc = build_worker(runtime, i, problem);
	for (uint32_t i = 0; rc == 0 && i < runtime->n_workers; i++) {
		if (has_engine(&runtime->workers[i]))
			rc = build_tx_queues(runtime, i, problem);
	}
	for (uint32_t port = 0; rc == 0 && port < runtime->n_ports; port++) {
		uint32_t receiver =
		        runtime->options.layout == LAYOUT_PIPELINE ? 0 : runtime->emulator[port];

		struct worker *worker = &runtime->workers[receiver];
		struct inlet *inlet = &worker->inlets[worker->n_inlets++];

		inlet->port = &runtime->ports[port];
		inlet->index = port;
		inlet->time = runtime->ports[port].stamps ? &runtime->ports[port].time : NULL;
		inlet->stamped = port_stamps(inlet->port);
		worker->stamped |= inlet->stamped;
		if (worker->role == WORKER_RX)
			inlet->ring = runtime->workers[runtime->emulator[port]].feed;
	}
	for (uint32_t i = 0; rc == 0 && i < runtime->n_workers; i++)
		rc = build_arrivals(&runtime->workers[i], problem);
	return rc == 0 ? plan_rest(runtime, problem) : rc;
}

static void free_worker(struct worker *worker)
{
	for (uint32_t i = 0; i < worker->n_tx_queues; i++)
		tx_queue_drop(&worker->tx_queues[i]);
	for (uint32_t i = 0; i < worker->n_drains; i++) {
		tx_queue_drop(&worker->drains[i].tx_queue);
		free(worker->drains[i].from);
	}
	engine_free(worker->engine);
	for (uint32_t i = 0; worker->inlets && i < worker->n_inlets; i++)
		arrivals_free(worker->inlets[i].arrivals);
	mailbox_free(&worker->mailbox);
	bell_free(&worker->bell);
	rte_free(worker->inlets);
	rte_free(worker->drains);
	rte_free(worker->tx_queues);
	rte_free(worker->wires);
}

void layout_free(struct runtime *runtime)
{
	for (uint32_t i = 0; runtime->workers && i < runtime->n_workers; i++) {
		free_worker(&runtime->workers[i]);
		if (runtime->memory)
			memory_free(runtime->memory[i], runtime->memory_bytes);
	}
	for (uint32_t i = 0; i < runtime->n_rings; i++) {
		struct rte_mbuf *mbuf;

		while (rte_ring_sc_dequeue(runtime->rings[i], (void **)&mbuf) == 0)
			rte_pktmbuf_free(mbuf);
		rte_ring_free(runtime->rings[i]);
	}
	runtime->n_rings = 0;
	rte_free(runtime->workers);
	free(runtime->memory);
	runtime->workers = NULL;
	runtime->memory = NULL;
}
