/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The key of `weir top` that dumps the flight (docs/record.md), where weir puts one that nobody
 * names. It has a connection of its own, for a disk takes its time, and the picture goes on
 * meanwhile.
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_TOP_FLIGHT_H
#define WEIR_TOP_FLIGHT_H

#include "ctl/ctl_link.h"

struct top_flight {
	struct ctl_link link; /* fd -1: none is being dumped */
	char said[300];       /* for the status line; "": nothing new */
};

void top_flight_begin(struct top_flight *flight);
/* One that weir writes goes on. */
void top_flight_end(struct top_flight *flight);
/* `path` of the control socket; NULL: the default. */
void top_flight_dump(struct top_flight *flight, const char *path);
/* When the descriptor of `link` is readable: what became of it. */
void top_flight_read(struct top_flight *flight);

#endif
