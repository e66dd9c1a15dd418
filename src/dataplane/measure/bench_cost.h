/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures what a packet costs. weir carries as many packets as it can, for a while, several times.
 * Each of these runs alternates with the ceiling (the same ports on the same core, received and
 * sent, with nothing between) and with the machine's noise.
 *
 *   weir warms up until packets leave
 *   repeat:  ceiling | noise | weir, settling | weir, counted | ceiling
 *
 * A run's ratio is its rate divided by the mean of the two ceilings beside it. A run is disturbed
 * if more than BENCH_DISTURBED of the processor was taken away. Of up to twice as many runs as
 * requested, the least disturbed ones count.
 *
 * All times are those of CLOCK_MONOTONIC_RAW. A packet counts when the device has taken it, so a
 * packet that the scenario drops adds to the cost of the others. The packets that leave now came a
 * delay ago, as fast as weir could take them then. So with a long delay the rates of arrivals and
 * departures swing against each other. To balance that, a packet that only came within a run, or
 * only left within it, counts one half.
 *
 * Thread: control.
 */
#ifndef WEIR_BENCH_COST_H
#define WEIR_BENCH_COST_H

#include <stdint.h>

#include "measure/bench_rig.h"

/*
 * A figure that was measured several times: its median, and how far the runs lie apart.
 *
 * The median is used because a disturbance (another process, another guest of the host) can only
 * make a run slower, and a mean would include it. With an even number of runs the median is the
 * mean of the middle two.
 *
 * Thread: pure functions, any.
 */

#define BENCH_RUNS_MAX 64

struct bench_spread {
	double median, min, max;
	uint32_t n;
};

/* Returns the spread of n values, BENCH_RUNS_MAX at most. If n is 0, all is zero. */
struct bench_spread bench_spread_of(const double *values, uint32_t n);

#define BENCH_DISTURBED 0.02

struct bench_cost {
	struct bench_spread mpps, ceiling_mpps, ratio;
	struct bench_spread taken;               /* share of the processor */
	struct bench_spread above_ns;            /* cost beyond the ceiling's, a packet */
	double ns_per_packet, cycles_per_packet; /* cycles of the TSC */
	double gbps;                             /* frames, without preamble and FCS */
	double dropped_mpps;                     /* by the scenario: its losses, its full queues */
	uint32_t disturbed;                      /* among the runs that count */
	double held_packets, memory_bytes;       /* medians */
	uint64_t lost;    /* packets that weir lost for lack of memory or room */
	bool mbufs_short; /* the pool ran dry: that, not the processor, was the limit */
	/* With a flight: the rate of packets that it gets, and the share of all packets that it
	 * misses. */
	double flight_mpps, flight_missed;
};

/* Measures. Returns 0, or -errno with problem. */
int bench_cost_measure(const struct bench_setup *setup, const struct bench_conditions *conditions,
                       struct bench_cost *cost, struct problem *problem);

#endif
