/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A weir with a paced source, a control socket and its clients, in this process: like one that a
 * lab leaves running. It is observed in windows of time.
 *
 * Thread: control.
 */
#ifndef WEIR_BENCH_LIVE_H
#define WEIR_BENCH_LIVE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "measure/bench_rig.h"
#include "scenario/problem.h"

struct server;
struct serving;

struct bench_live {
	struct bench_rig rig;
	struct server *server;
	struct serving *serving;
	char socket[64];
	/* at the beginning of the window */
	struct bench_count from;
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

/*
 * Changes of a weir that runs, made as a client makes them: one line of the scenario language each,
 * over the control socket, from a thread of its own. The lines make the example of every statement
 * in turn (statement.h), of a cloud `down` that has a delay and a rate (BENCH_CHANGES_BASE), and
 * remove it again. Schedules count from the beginning of the run: no instant of these is ever
 * reached.
 *
 * Thread: begin and end are control's.
 */

#define BENCH_CHANGES_DELAY "delay 10ms"
#define BENCH_CHANGES_RATE  "rate 100gbit queue 10MB"
#define BENCH_CHANGES_BASE  BENCH_CHANGES_DELAY "\n" BENCH_CHANGES_RATE
#define BENCH_CHANGES_MAX   256
#define BENCH_CHANGES_BYTES 200

struct bench_changes {
	const char *socket;
	uint64_t pause_ns; /* between two changes, after a first round of all; 0: none */
	uint64_t most;     /* maximum number of changes; 0: until the end */
	/* the thread's, until it has ended */
	pthread_t thread;
	bool stop, ended; /* atomic */
	uint64_t made;    /* atomic */
	char file[64];    /* of numbers, one a line: valid as a list of packets and as a trace */
	uint32_t n_lines;
	char lines[BENCH_CHANGES_MAX][BENCH_CHANGES_BYTES];
	struct problem problem; /* of the first line that was refused; "": none */
};

/* Fills in the lines, with `file` in the place of FILE. */
void bench_changes_prepare(struct bench_changes *changes);
/* Starts the thread. Returns 0, or -errno with `problem` set. */
int bench_changes_begin(struct bench_changes *changes, struct problem *problem);
/* Returns true if all of `most` are made, or one was refused. */
bool bench_changes_ended(const struct bench_changes *changes);
/* Ends the thread; the server must still answer meanwhile. Returns 0, or -EIO with `problem` set if
 * a line was refused. */
int bench_changes_end(struct bench_changes *changes, struct problem *problem);
/* Does so while it answers clients. Returns `rc`, or, if that is 0, what bench_changes_end
 * returns. */
int bench_changes_end_live(struct bench_changes *changes, struct bench_live *live, int rc,
                           struct problem *problem);

#endif
