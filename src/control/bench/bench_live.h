/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A weir with a paced source, a control socket and its clients, in this process: like one that a
 * lab leaves running. It is observed in windows of time.
 *
 * Thread: control.
 */
#ifndef WEIR_BENCH_LIVE_H
#define WEIR_BENCH_LIVE_H

#include "measure/bench_rig.h"

struct server;
struct serving;

struct bench_live {
	struct bench_rig rig;
	struct server *server;
	struct serving *serving;
	char socket[64];
	/* at the beginning of the window */
	struct bench_count from;
	struct bench_live_sources {
		uint64_t made, missed, missed_preempted, starved;
	} sources;
	struct histogram_part lateness, own_lateness;
	struct bench_sink sink; /* counts weir's own share of the lateness */
};

/* What happened in a window. */
struct bench_window {
	double seconds;
	uint64_t offered, sent, emulated;
	uint64_t lost;   /* by weir */
	uint64_t missed; /* due while the worker was away longer than a NIC's ring lasts */
	/* of `missed`: because others had the processor (bench_source.h) */
	uint64_t missed_preempted;
	struct histogram lateness_ns; /* from the due time to the hand-over to the device */
	uint64_t longest_poll_ns;
	/* The same without packets that others made late by having the processor. */
	struct histogram own_lateness_ns;
	uint64_t own_longest_poll_ns;
	/* Late by weir's own doing, by more than two polls: the one in which the packet came due,
	 * and the next. */
	uint64_t late;
	double taken; /* share of the worker's processor that others had */
};

/* Opens the rig alone, at a standstill. Returns 0, or -errno with `problem` set. */
int bench_live_open(struct bench_live *live, const char *statements, double pps,
                    const struct bench_conditions *conditions, struct problem *problem);
/* Sets another rate, while the rig is at a standstill. */
void bench_live_pace(struct bench_live *live, double pps);
/* Opens the socket, and starts the rig. Returns 0, or -errno with `problem` set. */
int bench_live_serve(struct bench_live *live, struct problem *problem);
/* Answers clients for a moment. Returns 0, or, if it is to end, the number of a signal or
 * -errno. */
int bench_live_step(struct bench_live *live);
void bench_live_window_begin(struct bench_live *live);
/* Returns false if there is no memory. */
bool bench_live_window_end(struct bench_live *live, struct bench_window *window);
/* Returns the number of packets that are not accounted for, summed over clouds. The rig is at a
 * standstill. */
uint64_t bench_live_unaccounted(struct bench_live *live);
/* Closes the socket and the rig. Returns 0, or -EIO with `problem` set if a packet is not accounted
 * for. */
int bench_live_close(struct bench_live *live, struct problem *problem);

#endif
