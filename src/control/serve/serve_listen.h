/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where browsers come in: `127.0.0.1:9470`, `[::1]:9470`, `localhost:9470`, or `unix:PATH`, which
 * has the mode 0660. A port 0 is one that is free.
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
	struct socket_listener listener; /* is_unix */
	char url[160];                   /* as a browser has it */
};

/* 0, or -errno with problem; -EINVAL: `where` is none. */
int serve_listen_open(struct serve_listen *listen, const char *where, struct problem *problem);
void serve_listen_close(struct serve_listen *listen);

#endif
