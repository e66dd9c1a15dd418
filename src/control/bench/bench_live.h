/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A weir with a paced source, a control socket, and whoever is connected to it: as one that a lab
 * leaves running, in this process. What it does is looked at in windows of time.
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
		uint64_t made, missed, missed_away, starved;
	} sources;
	struct histogram_part lateness, own_lateness;
	struct bench_sink sink; /* what is weir's own of the lateness */
};

/* What happened in a window. */
struct bench_window {
	double seconds;
	uint64_t offered, sent, emulated;
	uint64_t lost;   /* by weir */
	uint64_t missed; /* came due while the worker was away for longer than a NIC's ring lasts */
	uint64_t missed_away; /* of `missed`: because others had the processor (bench_away.h) */
	struct histogram lateness_ns; /* handed to the device, after the due time */
	uint64_t longest_poll_ns;
	/* Without what others had of the processor, and made late. */
	struct histogram own_lateness_ns;
	uint64_t own_longest_poll_ns;
	/* Of weir's own doing, by more than the poll in which a packet came due, and the next. */
	uint64_t late;
	double taken; /* of the worker's processor */
};

/* The rig alone; it stands still. 0 or -errno with problem. */
int bench_live_open(struct bench_live *live, const char *statements, double pps,
                    const struct bench_conditions *conditions, struct problem *problem);
/* Another rate; it stands still. */
void bench_live_pace(struct bench_live *live, double pps);
/* Opens the socket, and goes. 0 or -errno with problem. */
int bench_live_serve(struct bench_live *live, struct problem *problem);
/* Answers clients for a moment. 0; else it ends: a signal's number, or -errno. */
int bench_live_step(struct bench_live *live);
void bench_live_window_begin(struct bench_live *live);
/* False: no memory. */
bool bench_live_window_end(struct bench_live *live, struct bench_window *window);
/* The sum over clouds of what is not accounted for, while it stands still. */
uint64_t bench_live_unaccounted(struct bench_live *live);
/* 0; -EIO with problem: a packet is not accounted for. */
int bench_live_close(struct bench_live *live, struct problem *problem);

#endif
