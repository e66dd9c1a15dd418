/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A conversation with weir that never blocks: lines out, lines in, as they arrive.
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_SERVE_LINK_H
#define WEIR_SERVE_LINK_H

#include <stdbool.h>
#include <stddef.h>

#include "scenario/problem.h"

#define SERVE_LINK_BYTES_MAX ((size_t)64 << 20) /* of an incoming line */

struct serve_link {
	int fd; /* -1: not open */
	char *in, *out;
	size_t in_n, in_room, out_n, out_room;
};

/* `path` NULL: the default. Returns 0, or -errno with problem. */
int serve_link_open(struct serve_link *link, const char *path, struct problem *problem);
void serve_link_close(struct serve_link *link);
/* Sends n bytes, which end with a newline, as soon as possible. Returns 0 or -errno. */
int serve_link_send(struct serve_link *link, const char *bytes, size_t n);
bool serve_link_wants_to_write(const struct serve_link *link);
int serve_link_write(struct serve_link *link);
/* Reads what has arrived, and calls `take` with each complete line, in which a 0 replaces the
 * newline. Returns 0; -ECONNRESET if weir has hung up; or another -errno. `take` must not close the
 * link. */
int serve_link_read(struct serve_link *link, void (*take)(void *argument, char *line, size_t n),
                    void *argument);

#endif
