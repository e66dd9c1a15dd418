/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weir ctl events` and `weir ctl sample 1s`: print what weir pushes as it arrives, until weir ends
 * or the user ends it.
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_CTL_STREAM_H
#define WEIR_CTL_STREAM_H

#include "ctl/ctl_link.h"

/* Returns true if lines are pushed after the answer to this line. */
bool ctl_stream_line(const char *line);
/* Prints until the other end closes. Returns 0 if it announced its end (`stopped`); -EPIPE if
 * nobody reads the output; -ECONNRESET if it hung up, with the reason on stderr, or in JSON on
 * stdout. */
int ctl_stream_print(struct ctl_link *link);

#endif
