/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weir ctl capture ... -o FILE|-` and `weir ctl trace next N`: packets of a running weir, as a
 * pcapng (fates/fate_capture.h) or in words (fates/trace.h).
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_CTL_CAPTURE_H
#define WEIR_CTL_CAPTURE_H

#include <stdbool.h>

#include "ctl/ctl_link.h"

/* Returns true if the line is one of these commands. Then it has been executed, all messages are
 * printed, and *result is 0 or -errno. */
bool ctl_capture_line(struct ctl_link *link, const char *line, int *result);

#endif
