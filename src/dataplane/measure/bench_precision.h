/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures how exactly packets leave on time. A paced source makes one frame each period, weir
 * delays it, and a transmit callback compares the moment of hand-over with the due time
 * (bench_source.h). Alternating with that, a loop that only reads the TSC waits for instants at the
 * same distance on the same core: its lateness is the machine's.
 *
 * A turn is calm if the scheduler and the hypervisor took less than BENCH_CALM of the processor,
 * computed from the processor time of the worker's thread. Lateness in a calm turn is weir's own,
 * or an interrupt's. The result has the figures of all turns and of the calm ones.
 *
 * Thread: control.
 */
#ifndef WEIR_BENCH_PRECISION_H
#define WEIR_BENCH_PRECISION_H

#include "measure/bench_rig.h"

#define BENCH_CALM 0.001

struct bench_precision {
	struct histogram lateness_ns, through_ns; /* see bench_source.h */
	struct histogram calm_ns;                 /* the lateness in calm turns */
	uint32_t turns, calm_turns;
	uint64_t early, most_early_ns;
	struct bench_noise noise;
	uint64_t offered; /* frames made while the measurement counted */
	uint64_t missed;  /* came due while the worker was away, beyond a NIC's receive ring */
	uint64_t lost;    /* by weir, for lack of memory or room */
	double taken;     /* share of the processor while weir ran, by the scheduler's figures */
	double held_packets, memory_bytes; /* at the end */
	uint64_t longest_poll_ns;
	double pps; /* that left */
};

/* Measures: conditions->seconds for weir, and as long for the noise. Returns 0, or -errno with
 * problem. */
int bench_precision_measure(const struct bench_setup *setup,
                            const struct bench_conditions *conditions,
                            struct bench_precision *precision, struct problem *problem);

#endif
