/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who looks at a weir that runs: `weir top` at a terminal of its own, `weir serve`, and a capture
 * of its drops; processes of this program, connected to a control socket.
 *
 * Thread: control. Processes that end by themselves are missing in bench_audience_n.
 */
#ifndef WEIR_BENCH_AUDIENCE_H
#define WEIR_BENCH_AUDIENCE_H

#include <stdint.h>
#include <sys/types.h>

#define BENCH_AUDIENCE 3

struct bench_audience {
	pid_t pid[BENCH_AUDIENCE]; /* 0: it is not there */
	int terminal;              /* of top; -1: none */
};

/* Those that cannot be started are left out. */
void bench_audience_begin(struct bench_audience *audience, const char *socket);
/* How many are there; takes what top has drawn. */
uint32_t bench_audience_n(struct bench_audience *audience);
void bench_audience_end(struct bench_audience *audience);

#endif
