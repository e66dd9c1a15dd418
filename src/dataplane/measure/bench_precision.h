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

#include <stdbool.h>

#include "account/histogram.h"
#include "machine/clock.h"
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

/*
 * Measures how exact the clock of a live run (clock.h) is: whether 100 ms of it are 100 ms of
 * CLOCK_MONOTONIC_RAW.
 *
 * The clock is kept in step ten times a second, as by runtime_tick. A hundred times a second, so
 * mostly between two corrections, it is compared with CLOCK_MONOTONIC_RAW by samples of its own.
 * Each interval of 100 ms between two samples counts with the difference of its lengths by both
 * clocks, each sample with the distance of both clocks since the start. A sample that does not
 * agree with another right behind it to BENCH_CLOCK_AGREE_NS is not used, and is counted apart: the
 * processor was taken away during it.
 *
 * Thread: the caller's; depends on the source's answers alone.
 */

#define BENCH_CLOCK_STEP_NS  (10 * SIMTIME_MS)
#define BENCH_CLOCK_STEPS    10 /* in an interval, and between two corrections */
#define BENCH_CLOCK_AGREE_NS 100

/* The clocks that are read: this machine's, or a test's. */
struct bench_clock_source {
	void (*sample)(struct bench_clock_source *source, struct clock_sample *sample);
	/* Waits. Returns false to end the measurement. */
	bool (*wait)(struct bench_clock_source *source, uint64_t ns);
};

struct bench_clock {
	struct histogram interval_ns; /* error of the length of 100 ms */
	struct histogram distance_ns; /* from CLOCK_MONOTONIC_RAW, since the start */
	uint64_t samples, disturbed;
};

/* Begins with a calibration, as a run does, and watches for `seconds`, at least for two intervals.
 * Returns 0; -ERANGE if the counter does not run evenly; -EINTR if the source has ended it: the
 * result then has what was measured before. */
int bench_clock_watch(struct bench_clock_source *source, double seconds,
                      struct bench_clock *result);
/* Makes a source of this machine's clocks. It ends when bench_stopped() returns true. */
void bench_clock_machine(struct bench_clock_source *source);

#endif
