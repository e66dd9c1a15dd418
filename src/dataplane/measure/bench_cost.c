/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/bench_cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "live/runtime_state.h"

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
	double mpps, ceiling, taken, gbps, held, memory, dropped, recorded, unrecorded;
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

	*run = (struct run){
	        .mpps = forwarded * 1e3 / ns,
	        .gbps = sent > 0 ? (double)(to.bytes - from.bytes) * 8 / ns * forwarded / sent : 0,
	        .ceiling = ceiling / 1e6,
	        .taken = taken_away(noise ? noise : &none, &from, &to),
	        .dropped = (double)(to.emulated - from.emulated) * 1e3 / ns,
	        .held = (double)to.held_packets,
	        .memory = (double)to.memory_bytes,
	        .recorded = (double)(to.recorded - from.recorded) * 1e3 / ns,
	        .unrecorded = (double)(to.unrecorded - from.unrecorded) * 1e3 / ns,
	        .lost = to.lost - from.lost,
	        .mbufs_short = to.mbufs_free < MBUFS_SHORT,
	};
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

typedef double (*figure_fn)(const struct run *run);

static double figure_mpps(const struct run *run)
{
	return run->mpps;
}

static double figure_ceiling(const struct run *run)
{
	return run->ceiling;
}

static double figure_ratio(const struct run *run)
{
	return run->ceiling > 0 ? run->mpps / run->ceiling : 0;
}

static double figure_taken(const struct run *run)
{
	return run->taken;
}

static double figure_above(const struct run *run)
{
	return run->mpps > 0 && run->ceiling > 0 ? 1e3 / run->mpps - 1e3 / run->ceiling : 0;
}

static double figure_gbps(const struct run *run)
{
	return run->gbps;
}

static double figure_dropped(const struct run *run)
{
	return run->dropped;
}

static double figure_held(const struct run *run)
{
	return run->held;
}

static double figure_memory(const struct run *run)
{
	return run->memory;
}

static double figure_recorded(const struct run *run)
{
	return run->recorded;
}

static double figure_unrecorded(const struct run *run)
{
	const double all = run->recorded + run->unrecorded;

	return all > 0 ? run->unrecorded / all : 0;
}

static struct bench_spread spread(const struct run *runs, uint32_t n, figure_fn figure)
{
	double values[BENCH_RUNS_MAX];

	for (uint32_t i = 0; i < n; i++)
		values[i] = figure(&runs[i]);
	return bench_spread_of(values, n);
}

static void sum_up(const struct run *runs, uint32_t n, double tick_ns, struct bench_cost *cost)
{
	*cost = (struct bench_cost){
	        .mpps = spread(runs, n, figure_mpps),
	        .ceiling_mpps = spread(runs, n, figure_ceiling),
	        .ratio = spread(runs, n, figure_ratio),
	        .taken = spread(runs, n, figure_taken),
	        .above_ns = spread(runs, n, figure_above),
	        .gbps = spread(runs, n, figure_gbps).median,
	        .dropped_mpps = spread(runs, n, figure_dropped).median,
	        .held_packets = spread(runs, n, figure_held).median,
	        .memory_bytes = spread(runs, n, figure_memory).median,
	        .flight_mpps = spread(runs, n, figure_recorded).median,
	        .flight_missed = spread(runs, n, figure_unrecorded).median,
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
