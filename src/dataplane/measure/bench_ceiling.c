/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the ceiling and the noise loop on the worker's core while the rig stands still. */
#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "live/runtime_state.h"
#include "measure/bench_rig.h"

#define GRID_BITS 16 /* of a fraction of a tick */

static uint64_t ns_of(uint64_t ticks, double tick_ns)
{
	return (uint64_t)((double)ticks * tick_ns);
}

/* Adds the lateness of the instants that have passed between two readings, and were noticed at the
 * second. Returns the next instant. */
static uint64_t notice(struct bench_noise *noise, uint64_t next_q, uint64_t step_q, uint64_t start,
                       uint64_t now, double tick_ns)
{
	while (start + (next_q >> GRID_BITS) <= now) {
		uint64_t late = now - start - (next_q >> GRID_BITS);

		histogram_add(&noise->lateness_ns, ns_of(late, tick_ns), 1);
		next_q += step_q;
	}
	return next_q;
}

void bench_noise_watch(struct bench_noise *noise, double tick_ns, uint64_t duration_ns,
                       double grid_ns)
{
	uint64_t gap = (uint64_t)(BENCH_GAP_NS / tick_ns);
	uint64_t step_q = (uint64_t)(grid_ns / tick_ns * (1 << GRID_BITS)), next_q = step_q;
	uint64_t start = rte_rdtsc(), before = start, now;
	uint64_t end = start + (uint64_t)((double)duration_ns / tick_ns);

	do {
		now = rte_rdtsc();
		if (now - before > gap) {
			uint64_t taken_ns = ns_of(now - before, tick_ns);

			noise->gaps++;
			noise->taken_ns += taken_ns;
			if (taken_ns > noise->longest_ns)
				noise->longest_ns = taken_ns;
		}
		before = now;
		if (step_q && start + (next_q >> GRID_BITS) <= now)
			next_q = notice(noise, next_q, step_q, start, now, tick_ns);
	} while (now < end);
	noise->duration_ns += ns_of(now - start, tick_ns);
}

struct turn {
	struct bench_rig *rig;
	double seconds, pps, grid_ns;
	struct bench_noise *noise;
};

static uint64_t forward_bare(struct bench_rig *rig)
{
	struct runtime *runtime = rig->runtime;
	struct rte_mbuf *mbufs[BURST_MAX];
	uint64_t packets = 0;

	for (uint32_t i = 0; i < runtime->n_ports; i++) {
		uint16_t n, sent;

		if (rig->peer[i] == SCENARIO_PORTS_MAX)
			continue;
		n = port_receive(&runtime->ports[i], mbufs, BURST_MAX, 0);
		if (n == 0)
			continue;
		sent = port_transmit(&runtime->ports[rig->peer[i]], 0, mbufs, NULL, n);
		if (unlikely(sent < n))
			rte_pktmbuf_free_bulk(mbufs + sent, n - sent);
		packets += sent;
	}
	return packets;
}

static int run_ceiling(void *argument)
{
	struct turn *turn = argument;
	uint64_t packets = 0, start, now, end;

	bench_priority_set(turn->rig->conditions->priority);
	start = now = rte_rdtsc();
	end = start + (uint64_t)(turn->seconds * 1e9 / turn->rig->tick_ns);
	while (now < end) {
		packets += forward_bare(turn->rig);
		now = rte_rdtsc();
	}
	turn->pps = (double)packets / ((double)(now - start) * turn->rig->tick_ns) * 1e9;
	bench_priority_clear(turn->rig->conditions->priority);
	return 0;
}

static int run_noise(void *argument)
{
	struct turn *turn = argument;

	bench_priority_set(turn->rig->conditions->priority);
	bench_noise_watch(turn->noise, turn->rig->tick_ns, (uint64_t)(turn->seconds * 1e9),
	                  turn->grid_ns);
	bench_priority_clear(turn->rig->conditions->priority);
	return 0;
}

static void take_turn(struct bench_rig *rig, int (*what)(void *), struct turn *turn)
{
	unsigned lcore = rig->runtime->workers[0].lcore;

	rte_eal_remote_launch(what, turn, lcore);
	/* rte_eal_wait_lcore spins, and would take a processor from others meanwhile. */
	bench_pause(turn->seconds);
	rte_eal_wait_lcore(lcore);
}

double bench_rig_ceiling(struct bench_rig *rig, double seconds)
{
	struct turn turn = {.rig = rig, .seconds = seconds};

	take_turn(rig, run_ceiling, &turn);
	return turn.pps;
}

void bench_rig_noise(struct bench_rig *rig, double seconds, double grid_ns,
                     struct bench_noise *noise)
{
	struct turn turn = {.rig = rig, .seconds = seconds, .grid_ns = grid_ns, .noise = noise};

	take_turn(rig, run_noise, &turn);
}
