/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weir top` at work: keys, the connection and the picture. It is a client of the protocol
 * (docs/control.md) and of nothing else.
 *
 * Thread: the main thread.
 */
#ifndef WEIR_TOP_H
#define WEIR_TOP_H

/* `path`: of the control socket; NULL: the default. `interval`: as in `sample`. Returns the exit
 * status; a refusal is said on stderr. */
int top_run(const char *path, const char *interval);

#endif
