/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How exact the clock of a live run (clock.h) is: whether 100 ms of it are 100 ms of
 * CLOCK_MONOTONIC_RAW.
 *
 * The clock is kept in step ten times a second, as runtime_tick does it, and a hundred times a
 * second, so mostly between two corrections, compared with CLOCK_MONOTONIC_RAW by samples of its
 * own. Of each 100 ms between two samples the difference of both clocks' lengths counts, and of
 * each sample their distance since the start. A sample that does not agree with one right behind it
 * to BENCH_CLOCK_AGREE_NS says nothing, and is counted apart: the processor was taken away in it.
 *
 * Thread: the caller's; depends on the source's answers alone.
 */
#ifndef WEIR_BENCH_CLOCK_H
#define WEIR_BENCH_CLOCK_H

#include <stdbool.h>

#include "account/histogram.h"
#include "machine/clock.h"

#define BENCH_CLOCK_STEP_NS  (10 * SIMTIME_MS)
#define BENCH_CLOCK_STEPS    10 /* of an interval, and from one correction to the next */
#define BENCH_CLOCK_AGREE_NS 100

/* What is read: this machine's clocks, or a test's. */
struct bench_clock_source {
	void (*sample)(struct bench_clock_source *source, struct clock_sample *sample);
	/* Returns false when there is to be an end. */
	bool (*wait)(struct bench_clock_source *source, uint64_t ns);
};

struct bench_clock {
	struct histogram interval_ns; /* how much 100 ms are too long or too short */
	struct histogram distance_ns; /* from CLOCK_MONOTONIC_RAW, since the start */
	uint64_t samples, disturbed;
};

/* Begins with a calibration, as a run does, and watches for `seconds`; at least for two intervals.
 * 0; -ERANGE: the counter does not run evenly; -EINTR: the source ended it, and what was seen
 * before is there. */
int bench_clock_watch(struct bench_clock_source *source, double seconds,
                      struct bench_clock *result);
/* This machine's clocks; ended by bench_stopped(). */
void bench_clock_machine(struct bench_clock_source *source);

#endif
