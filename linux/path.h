/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a running weir knows of the routers of a path: `show path CLOUD` on its control socket
 * (docs/control.md), reduced to what a sender needs: the least available bandwidth and the shortest
 * queue.
 *
 * The queue is what the routers say of its size: `feedback header queue limit` makes that how many
 * packets it holds. Thread: one.
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

/* 0, or -errno with `error`. */
int path_open(struct path *path, const char *socket);
void path_close(struct path *path);

/*
 * Asks. 0: figures are those of the answer; what is not known, or older than fresh_ms, is 0, and
 * then that of no router is used: a path is known when all of it is. -errno with `error`: weir has
 * gone, or there is no such cloud.
 */
int path_ask(struct path *path, const char *cloud, uint32_t fresh_ms, struct path_figures *figures);

/* The figures of an answer, a line of JSON: a part of path_ask, for its tests. -EPROTO: no such
 * answer. */
int path_read(struct path *path, const char *answer, uint32_t fresh_ms,
              struct path_figures *figures);

#endif
