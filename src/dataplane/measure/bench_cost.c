/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/bench_cost.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "live/runtime_state.h"

/* Runs the ceiling and the noise loop on the worker's core while the rig stands still. */

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

/* Receives and transmits at the same ports with nothing between. Returns packets a second. */
static double bench_rig_ceiling(struct bench_rig *rig, double seconds)
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

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct bench_spread bench_spread_of(const double *values, uint32_t n)
{
	double sorted[BENCH_RUNS_MAX];

	if (n == 0)
		return (struct bench_spread){0};
	if (n > BENCH_RUNS_MAX)
		n = BENCH_RUNS_MAX;
	memcpy(sorted, values, n * sizeof(sorted[0]));
	qsort(sorted, n, sizeof(sorted[0]), by_value);
	return (struct bench_spread){
	        .median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2,
	        .min = sorted[0],
	        .max = sorted[n - 1],
	        .n = n,
	};
}

#define CEILING_S     0.05
#define NOISE_S       0.02
#define SETTLE_S      0.02 /* the ceiling's turn has filled caches and branch predictors */
#define WARM_UP_S     0.05
#define MBUFS_SHORT   64
#define WINDOW_MOST_S 1.0

struct run {
	double mpps, ceiling, ratio, above, taken, gbps, held, memory, dropped, recorded;
	double missed; /* by the flight, of what was to be recorded */
	uint64_t lost;
	bool mbufs_short;
};

/* Returns the share of a processor that was taken away: what the noise loop missed or what the
 * scheduler gave to others, whichever is more. */
static double taken_away(const struct bench_noise *noise, const struct bench_count *from,
                         const struct bench_count *to)
{
	double wall = (double)(to->raw_ns - from->raw_ns);
	double own = (double)(to->worker_cpu_ns - from->worker_cpu_ns);
	double share = own < wall ? 1 - own / wall : 0;

	return share > bench_noise_share(noise) ? share : bench_noise_share(noise);
}

static void run_once(struct bench_rig *rig, double window, struct run *run)
{
	struct bench_noise *noise = calloc(1, sizeof(*noise));
	struct bench_noise none = {0};
	struct bench_count from, to;
	double ceiling = bench_rig_ceiling(rig, CEILING_S);

	if (noise)
		bench_rig_noise(rig, NOISE_S, 0, noise);
	bench_rig_go(rig);
	bench_pause(SETTLE_S);
	bench_rig_count(rig, &from);
	bench_pause(window);
	bench_rig_count(rig, &to);
	bench_rig_stop(rig);
	ceiling = (ceiling + bench_rig_ceiling(rig, CEILING_S)) / 2;
	double ns = (double)(to.raw_ns - from.raw_ns);

	double sent = (double)(to.packets - from.packets);
	double forwarded = sent + ((double)to.held_packets - (double)from.held_packets) / 2;
	double recorded = (double)(to.recorded - from.recorded);
	double unrecorded = (double)(to.unrecorded - from.unrecorded);

	*run = (struct run){
	        .mpps = forwarded * 1e3 / ns,
	        .gbps = sent > 0 ? (double)(to.bytes - from.bytes) * 8 / ns * forwarded / sent : 0,
	        .ceiling = ceiling / 1e6,
	        .taken = taken_away(noise ? noise : &none, &from, &to),
	        .dropped = (double)(to.emulated - from.emulated) * 1e3 / ns,
	        .held = (double)to.held_packets,
	        .memory = (double)to.memory_bytes,
	        .recorded = recorded * 1e3 / ns,
	        .lost = to.lost - from.lost,
	        .mbufs_short = to.mbufs_free < MBUFS_SHORT,
	};
	if (unrecorded > 0)
		run->missed = unrecorded / (recorded + unrecorded);
	if (run->ceiling > 0)
		run->ratio = run->mpps / run->ceiling;
	if (run->mpps > 0 && run->ceiling > 0)
		run->above = 1e3 / run->mpps - 1e3 / run->ceiling;
	/* One worker cannot be faster than its ports alone. If it seems to be, the ceiling lost the
	 * processor. */
	if (rig->runtime->n_workers == 1 && run->ceiling < run->mpps)
		run->taken = 1;
	free(noise);
}

static int by_taken(const void *a, const void *b)
{
	double x = ((const struct run *)a)->taken, y = ((const struct run *)b)->taken;

	return (x > y) - (x < y);
}

/* The spread of one member over the runs. */
static struct bench_spread spread(const struct run *runs, uint32_t n, size_t member)
{
	double values[BENCH_RUNS_MAX];

	for (uint32_t i = 0; i < n; i++)
		values[i] = *(const double *)((const char *)&runs[i] + member);
	return bench_spread_of(values, n);
}

static void sum_up(const struct run *runs, uint32_t n, double tick_ns, struct bench_cost *cost)
{
	*cost = (struct bench_cost){
	        .mpps = spread(runs, n, offsetof(struct run, mpps)),
	        .ceiling_mpps = spread(runs, n, offsetof(struct run, ceiling)),
	        .ratio = spread(runs, n, offsetof(struct run, ratio)),
	        .taken = spread(runs, n, offsetof(struct run, taken)),
	        .above_ns = spread(runs, n, offsetof(struct run, above)),
	        .gbps = spread(runs, n, offsetof(struct run, gbps)).median,
	        .dropped_mpps = spread(runs, n, offsetof(struct run, dropped)).median,
	        .held_packets = spread(runs, n, offsetof(struct run, held)).median,
	        .memory_bytes = spread(runs, n, offsetof(struct run, memory)).median,
	        .flight_mpps = spread(runs, n, offsetof(struct run, recorded)).median,
	        .flight_missed = spread(runs, n, offsetof(struct run, missed)).median,
	};
	cost->ns_per_packet = cost->mpps.median > 0 ? 1e3 / cost->mpps.median : 0;
	cost->cycles_per_packet = cost->ns_per_packet / tick_ns;
	for (uint32_t i = 0; i < n; i++) {
		cost->disturbed += runs[i].taken > BENCH_DISTURBED;
		cost->lost += runs[i].lost;
		cost->mbufs_short |= runs[i].mbufs_short;
	}
}

int bench_cost_measure(const struct bench_setup *setup, const struct bench_conditions *conditions,
                       struct bench_cost *cost, struct problem *problem)
{
	struct run runs[BENCH_RUNS_MAX];
	uint32_t n = 0, good = 0;
	double held_s = (double)bench_held_ns(setup->scenario) / 1e9;
	/* Departures repeat the pattern of arrivals a delay later: a run covers the whole
	 * pattern. */
	double window = fmax(conditions->seconds, fmin(held_s, WINDOW_MOST_S));
	struct bench_rig rig;
	int rc = bench_rig_open(&rig, setup, conditions, problem);

	if (rc < 0)
		return rc;
	bench_rig_go(&rig);
	bench_pause(WARM_UP_S + held_s * 1.1);
	bench_rig_stop(&rig);
	while (!bench_stopped() && good < conditions->runs && n < 2 * conditions->runs &&
	       n < BENCH_RUNS_MAX) {
		run_once(&rig, window, &runs[n]);
		good += runs[n].taken <= BENCH_DISTURBED;
		n++;
	}
	if (bench_stopped())
		return bench_rig_interrupted(&rig, problem);
	qsort(runs, n, sizeof(runs[0]), by_taken);
	sum_up(runs, RTE_MIN(n, conditions->runs), rig.tick_ns, cost);
	return bench_rig_close(&rig, problem);
}
