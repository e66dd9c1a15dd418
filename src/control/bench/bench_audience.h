/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The audience of a weir that runs: `weir top` at a terminal of its own, `weir serve`, and a
 * capture of its drops. Each is a process of this program, connected to a control socket.
 *
 * Thread: control. bench_audience_n does not count processes that have ended by themselves.
 */
#ifndef WEIR_BENCH_AUDIENCE_H
#define WEIR_BENCH_AUDIENCE_H

#include <stdint.h>
#include <sys/types.h>

#define BENCH_AUDIENCE 3

struct bench_audience {
	pid_t pid[BENCH_AUDIENCE]; /* 0: it does not run */
	int terminal;              /* of top; -1: none */
};

/* Starts the processes; leaves out those that cannot be started. */
void bench_audience_begin(struct bench_audience *audience, const char *socket);
/* Returns how many processes run; reads and discards what top has drawn. */
uint32_t bench_audience_n(struct bench_audience *audience);
void bench_audience_end(struct bench_audience *audience);

#endif
