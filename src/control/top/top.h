/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The main loop of `weir top`: keys, the connection and the picture. It is a client of the protocol
 * (docs/control.md) and uses nothing else of weir.
 *
 * Thread: the main thread.
 */
#ifndef WEIR_TOP_H
#define WEIR_TOP_H

/* `path`: the control socket; NULL: the default. `interval`: as in `sample`. Returns the exit
 * status; errors go to stderr. */
int top_run(const char *path, const char *interval);

#endif
