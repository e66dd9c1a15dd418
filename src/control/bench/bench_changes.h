/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes of a weir that runs, made as a client makes them: one line of the scenario language each,
 * over the control socket, from a thread of its own. The lines change, add and remove every
 * statement in turn, of a cloud `down` that has a delay and a rate (BENCH_CHANGES_BASE), and
 * restore these.
 *
 * Thread: begin and end are control's.
 */
#ifndef WEIR_BENCH_CHANGES_H
#define WEIR_BENCH_CHANGES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "scenario/problem.h"

#define BENCH_CHANGES_BASE "delay 10ms\nrate 100gbit queue 10MB"

/* The lines, in order, terminated by NULL. FILE stands for the path of a file of numbers. */
extern const char *const bench_change_lines[];

struct bench_changes {
	const char *socket;
	uint64_t pause_ns; /* between two changes, after a first round of all; 0: none */
	uint64_t most;     /* maximum number of changes; 0: until the end */
	/* the thread's, until it has ended */
	pthread_t thread;
	bool stop, ended; /* atomic */
	uint64_t made;    /* atomic */
	char file[64];
	struct problem problem; /* of the first line that was refused; "": none */
};

/* Starts the thread. Returns 0, or -errno with `problem` set. */
int bench_changes_begin(struct bench_changes *changes, struct problem *problem);
/* Returns true if all of `most` are made, or one was refused. */
bool bench_changes_ended(const struct bench_changes *changes);
/* Ends the thread; the server must still answer meanwhile. Returns 0, or -EIO with `problem` set if
 * a line was refused. */
int bench_changes_end(struct bench_changes *changes, struct problem *problem);

#endif
