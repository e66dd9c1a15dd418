/* SPDX-License-Identifier: BSD-3-Clause */
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
#ifndef WEIR_BENCH_CLOCK_H
#define WEIR_BENCH_CLOCK_H

#include <stdbool.h>

#include "account/histogram.h"
#include "machine/clock.h"

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
