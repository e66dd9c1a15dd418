/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weir ctl events` and `weir ctl sample 1s`: what weir pushes is printed as it comes, until it
 * ends or the user does.
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_CTL_STREAM_H
#define WEIR_CTL_STREAM_H

#include "ctl/ctl_link.h"

/* Whether the answer to this line is followed by others without a question. */
bool ctl_stream_line(const char *line);
/* Prints until the other end closes. 0: it told that weir ends (`stopped`); -EPIPE: nobody reads
 * what is printed; -ECONNRESET: it hung up, and why is on stderr, or in JSON on stdout. */
int ctl_stream_print(struct ctl_link *link);

#endif
