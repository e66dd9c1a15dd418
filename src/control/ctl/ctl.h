/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What `weir ctl` does with files, and with captures.
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_CTL_H
#define WEIR_CTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "ctl/ctl_link.h"

/*
 * `weir ctl -f FILE`: the changes in a file as one transaction, all or nothing. `weir ctl load
 * FILE`: the same for a whole scenario.
 */

#define CTL_BATCH_BYTES_MAX (16u << 20)

/* A text as lines, each terminated by a 0. */
struct ctl_batch {
	const char *name; /* the file's, for messages */
	const char *path; /* NULL: standard input */
	char *text;
	char **lines;
	size_t n;
	bool whole; /* a scenario, which replaces the one in force */
};

/* Reads a file (`-`: stdin), a scenario if `whole`, and checks without a server that its lines are
 * changes. Returns 0, or -errno after messages FILE:LINE:COLUMN on stderr. */
int ctl_batch_load(struct ctl_batch *batch, const char *path, bool whole);
void ctl_batch_free(struct ctl_batch *batch);

/* Sends the batch. With `json` the answer goes to stdout as an object; if there are errors, it is
 * that of the first, with the file's name in it. Otherwise errors go to stderr as FILE:LINE:COLUMN.
 * The mode of the link is restored. Returns 0 or -errno. */
int ctl_batch_send(const struct ctl_batch *batch, struct ctl_link *link, bool json);

/*
 * `load FILE` and `save [FILE]` of weir ctl: load the scenario in force from a file, and save it
 * into one. The client opens the files, with the rights of its user.
 */

/* Returns true if the line is one of these commands. Then it has been executed, and *result is as
 * above. */
bool ctl_scenario_line(struct ctl_link *link, const char *line, int *result);

/*
 * `weir ctl capture ... -o FILE|-` and `weir ctl trace next N`: packets of a running weir, as a
 * pcapng (fates/fate_capture.h) or in words (fates/trace.h).
 */

/* Returns true if the line is one of these commands. Then it has been executed, all messages are
 * printed, and *result is 0 or -errno. */
bool ctl_capture_line(struct ctl_link *link, const char *line, int *result);

#endif
