/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The UNIX stream socket between a running weir and its clients: its path, how it is made and
 * found. Mode 0660: its owner and its group may control.
 *
 * Thread: any; only these functions touch the file.
 */
#ifndef WEIR_SOCKET_H
#define WEIR_SOCKET_H

#include <stddef.h>
#include <sys/types.h>
#include <sys/un.h>

#include "scenario/problem.h"

#define SOCKET_PATH_BYTES sizeof(((struct sockaddr_un *)NULL)->sun_path)

/* A listening socket, and its file. */
struct socket_listener {
	int fd;
	char path[SOCKET_PATH_BYTES];
	dev_t device; /* identity of the file: another file of that name is not removed */
	ino_t inode;
};

/* /run/weir.sock for root, else $XDG_RUNTIME_DIR/weir.sock, else /tmp/weir-UID.sock. */
void socket_default_path(char path[SOCKET_PATH_BYTES]);
/* The socket of the weir that has started this process, as `weir exec` does. */
#define SOCKET_VARIABLE "WEIR_SOCKET"
/* Where clients look if no path is given: SOCKET_VARIABLE, else the default path. */
void socket_client_path(char path[SOCKET_PATH_BYTES]);

/* Listens at `path`. Replaces a socket at which no process answers. If a process answers:
 * -EADDRINUSE, and `problem` has its pid. The file never has a wider mode, and nobody can connect
 * before it has its mode and group: `group`, a name or a number; NULL: weir's own. Returns 0, or
 * -errno with problem. */
int socket_listen(const char *path, const char *group, struct socket_listener *listener,
                  struct problem *problem);
/* Stops listening and removes the file, if it is still the one that socket_listen made. */
void socket_unlisten(struct socket_listener *listener);

/* Connects. Returns a file descriptor, or -errno with a problem that says what to do next. */
int socket_connect(const char *path, struct problem *problem);

#endif
