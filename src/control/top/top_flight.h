/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The key of `weir top` that dumps the flight (docs/record.md) into the default folder. It has a
 * connection of its own, because writing to a disk takes time, and the picture continues meanwhile.
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_TOP_FLIGHT_H
#define WEIR_TOP_FLIGHT_H

#include "ctl/ctl_link.h"

struct top_flight {
	struct ctl_link link; /* fd -1: no dump is under way */
	char said[300];       /* for the status line; "": nothing new */
};

void top_flight_begin(struct top_flight *flight);
/* Closes the connection. A dump that weir has begun continues. */
void top_flight_end(struct top_flight *flight);
/* `path`: the control socket; NULL: the default. */
void top_flight_dump(struct top_flight *flight, const char *path);
/* To be called when the descriptor of `link` is readable: reads the result. */
void top_flight_read(struct top_flight *flight);

#endif
