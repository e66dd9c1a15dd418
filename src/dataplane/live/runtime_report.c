/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the figures of a running emulator. */
#include <string.h>

#include "account/counter_read.h"
#include "engine/engine_report.h"
#include "live/runtime_state.h"

uint32_t runtime_ports(const struct runtime *runtime)
{
	return runtime->n_ports;
}

static void add_tx_queue(struct port_report *report, const struct tx_queue *tx_queue)
{
	report->tx_packets += counter_read(&tx_queue->tx_packets);
	report->tx_bytes += counter_read(&tx_queue->tx_bytes);
	report->tx_full += counter_read(&tx_queue->tx_full);
	report->launch_missed += counter_read(&tx_queue->launch_missed);
	histogram_merge(&report->lateness_ns, &tx_queue->lateness_ns);
}

static void add_worker(struct port_report *report, const struct worker *worker,
                       const struct port *port, uint32_t index)
{
	for (uint32_t i = 0; i < worker->n_inlets; i++) {
		if (worker->inlets[i].port == port) {
			report->rx_packets += counter_read(&worker->inlets[i].rx_packets);
			report->rx_bytes += counter_read(&worker->inlets[i].rx_bytes);
			report->early += counter_read(&worker->inlets[i].early);
			report->aged += counter_read(&worker->inlets[i].aged);
			report->oldest_ns = counter_read(&worker->inlets[i].oldest_ns);
		}
	}
	/* A transmit queue that leads to another worker sends nothing itself, but may have to
	 * drop. */
	if (index < worker->n_tx_queues)
		add_tx_queue(report, &worker->tx_queues[index]);
	for (uint32_t i = 0; i < worker->n_drains; i++) {
		if (worker->drains[i].tx_queue.port == port)
			add_tx_queue(report, &worker->drains[i].tx_queue);
	}
}

bool runtime_port_report(const struct runtime *runtime, uint32_t index, struct port_report *report)
{
	const struct port_losses *before = &runtime->cleared[index];
	struct port_losses losses;
	struct port *port;

	if (index >= runtime->n_ports)
		return false;
	/* Reading the kernel's count of losses resets it, so the port adds up what is read. */
	port = (struct port *)(uintptr_t)&runtime->ports[index];
	memset(report, 0, sizeof(*report));
	report->name = port->name;
	report->device = port->device;
	report->driver = port->driver;
	report->link_up = port->link_up;
	report->gone = port->presence.gone;
	report->absences = port->presence.absences;
	report->absent_ns = port->presence.absent_ns;
	report->link_bps = port_link_bps(port);
	report->speed_bps = port->speed_bps;
	report->time = port->stamps ? "device" : port_stamps(port) ? "kernel" : "poll";
	report->launch_ns = port->launch_ns;
	report->stamped = counter_read(&port->time.stamped);
	report->unstamped = counter_read(&port->time.unstamped);
	report->stamps_odd = counter_read(&port->time.ahead) + counter_read(&port->time.backward) +
	                     counter_read(&port->time.stale);
	for (uint32_t i = 0; i < runtime->n_workers; i++)
		add_worker(report, &runtime->workers[i], port, index);
	port_losses(port, &losses);
	report->rx_missed = losses.missed - before->missed;
	report->rx_no_mbuf = losses.no_mbuf - before->no_mbuf;
	report->not_sent = losses.not_sent - before->not_sent;
	report->not_written = losses.not_written - before->not_written;
	report->unfinished = losses.unfinished - before->unfinished;
	report->too_large = losses.too_large - before->too_large;
	report->not_ip = losses.not_ip - before->not_ip;
	report->chained = losses.chained - before->chained;
	report->early += losses.early - before->early;
	/* Nobody but the kernel can have sent into a tap that weir has just made. */
	if (port->tap)
		report->early = 0;
	if (port_stamps(port)) {
		report->unstamped = losses.unstamped - before->unstamped;
		report->stamped =
		        report->rx_packets - RTE_MIN(report->unstamped, report->rx_packets);
	}
	report->no_cloud =
	        engine_no_cloud(runtime->workers[runtime->emulator[index]].engine, index);
	report->untouched = engine_untouched(runtime->workers[runtime->emulator[index]].engine,
	                                     runtime->scenario, index);
	return true;
}

void runtime_lost_beyond(struct runtime *runtime, uint32_t index, uint64_t missed,
                         uint64_t not_sent)
{
	runtime->ports[index].beyond_missed = missed;
	runtime->ports[index].beyond_not_sent = not_sent;
}

uint32_t runtime_workers(const struct runtime *runtime)
{
	return runtime->n_workers;
}

bool runtime_worker_report(const struct runtime *runtime, uint32_t index,
                           struct worker_report *report)
{
	const struct worker *worker = &runtime->workers[index];

	if (index >= runtime->n_workers)
		return false;
	*report = (struct worker_report){
	        .lcore = worker->lcore,
	        .cpu = worker->cpu,
	        .role = worker_role_name(worker->role),
	        .sleeps = worker->rest_ns > 0,
	        .deaf = worker->deaf,
	        .priority = {.kind = worker->priority.kind, .level = worker->priority.level},
	        .polls = counter_read(&worker->polls),
	        .busy_polls = counter_read(&worker->busy_polls),
	        .longest_poll_ns = counter_read(&worker->longest_poll_ns),
	        .stalls = runtime->watches[index].stalls,
	        .in_hand = __atomic_load_n(&worker->in_hand, __ATOMIC_RELAXED),
	};
	if (worker->engine) {
		report->held_packets = engine_held_packets(worker->engine);
		report->memory_used_bytes = engine_memory_used(worker->engine);
		report->memory_bytes = runtime->memory_bytes;
	}
	return true;
}

bool runtime_cloud_report(const struct runtime *runtime, const char *cloud,
                          struct cloud_report *report)
{
	for (uint32_t i = 0; i < runtime->n_workers; i++) {
		const struct engine *engine = runtime->workers[i].engine;

		if (engine && engine_report(engine, cloud, report))
			return true;
	}
	return false;
}

uint32_t runtime_briefs(const struct runtime *runtime, const char *cloud, uint32_t from, uint32_t n,
                        struct cloud_brief *briefs)
{
	for (uint32_t i = 0; i < runtime->n_workers; i++) {
		const struct engine *engine = runtime->workers[i].engine;
		uint32_t filled = engine ? engine_briefs(engine, cloud, from, n, briefs) : 0;

		if (filled > 0)
			return filled;
	}
	return 0;
}

bool runtime_brief_name(const struct runtime *runtime, const char *cloud, uint32_t index,
                        char *name, size_t room)
{
	for (uint32_t i = 0; i < runtime->n_workers; i++) {
		const struct engine *engine = runtime->workers[i].engine;

		if (engine && engine_brief_name(engine, cloud, index, name, room))
			return true;
	}
	return false;
}

bool runtime_delays(const struct runtime *runtime, const char *cloud, struct histogram *delays)
{
	for (uint32_t i = 0; i < runtime->n_workers; i++) {
		const struct engine *engine = runtime->workers[i].engine;

		if (engine && engine_delays(engine, cloud, delays))
			return true;
	}
	return false;
}

simtime runtime_done_ns(const struct runtime *runtime)
{
	simtime done = SIMTIME_NEVER;

	for (uint32_t i = 0; i < runtime->n_workers; i++)
		done = simtime_min(done,
		                   __atomic_load_n(&runtime->workers[i].done_ns, __ATOMIC_ACQUIRE));
	return done > SIMTIME_MS ? done - SIMTIME_MS : 0;
}

uint64_t runtime_now_ns(const struct runtime *runtime)
{
	return clock_now(&runtime->clock);
}
