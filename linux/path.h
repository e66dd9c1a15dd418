/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a running weir knows about the routers of a path: `show path CLOUD` on its control socket
 * (docs/control.md), reduced to what a sender needs: the least available bandwidth and the shortest
 * queue.
 *
 * The queue's size is what the routers report: with `feedback header queue limit`, how many packets
 * the queue can hold. Thread: one.
 */
#ifndef WEIR_LINUX_PATH_H
#define WEIR_LINUX_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "tables.h"

#define PATH_ERROR_BYTES 256

struct path {
	int fd; /* -1: not connected */
	char error[PATH_ERROR_BYTES];
};

/* Returns 0, or -errno with `error` set. */
int path_open(struct path *path, const char *socket);
void path_close(struct path *path);

/*
 * Queries the figures. Returns 0, or -errno with `error` set if weir has gone or there is no such
 * cloud. A figure is known only if it is known of the whole path: it is 0 if a router has not
 * reported it, or if any answer is older than fresh_ms.
 */
int path_ask(struct path *path, const char *cloud, uint32_t fresh_ms, struct path_figures *figures);

/* Reads the figures from an answer, a line of JSON. A part of path_ask, for its tests. Returns 0,
 * or -EPROTO with `error` set if the answer has no path. */
int path_read(struct path *path, const char *answer, uint32_t fresh_ms,
              struct path_figures *figures);

#endif
