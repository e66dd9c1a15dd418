/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes of a weir that runs, made as a client makes them: one line of the scenario language each,
 * over the control socket, from a thread of its own. The lines make the example of every statement
 * in turn (statement.h), of a cloud `down` that has a delay and a rate (BENCH_CHANGES_BASE), and
 * remove it again. Schedules count from the beginning of the run: no instant of these is ever
 * reached.
 *
 * Thread: begin and end are control's.
 */
#ifndef WEIR_BENCH_CHANGES_H
#define WEIR_BENCH_CHANGES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "scenario/problem.h"

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

#endif
