/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The address for browsers: `127.0.0.1:9470`, `[::1]:9470`, `localhost:9470`, or `unix:PATH`, a
 * socket of mode 0660. Port 0: any free port.
 *
 * Thread: the main thread.
 */
#ifndef WEIR_SERVE_LISTEN_H
#define WEIR_SERVE_LISTEN_H

#include <stdbool.h>

#include "scenario/problem.h"
#include "socket/socket.h"

struct serve_listen {
	int fd;
	bool is_unix, loopback;
	struct socket_listener listener; /* if is_unix */
	char url[160];                   /* for a browser */
};

/* Returns 0, or -errno with problem; -EINVAL: `where` is no address. */
int serve_listen_open(struct serve_listen *listen, const char *where, struct problem *problem);
void serve_listen_close(struct serve_listen *listen);

#endif
