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

/* A listening socket, and the file that stands for it. */
struct socket_listener {
	int fd;
	char path[SOCKET_PATH_BYTES];
	dev_t device; /* which file it is: another one of that name is not removed */
	ino_t inode;
};

/* /run/weir.sock for root, else $XDG_RUNTIME_DIR/weir.sock, else /tmp/weir-UID.sock. */
void socket_default_path(char path[SOCKET_PATH_BYTES]);

/* Listens at `path`. Replaces a socket that no process answers at. If a process answers:
 * -EADDRINUSE, and `problem` has its pid. The file never has a wider mode, and does not exist
 * before it can be connected to. 0, or -errno with problem. */
int socket_listen(const char *path, struct socket_listener *listener, struct problem *problem);
/* Stops listening and removes the file, if it is still the one that socket_listen made. */
/* The same, and the file is the group's; it has a name or a number. NULL: weir's own. */
int socket_listen_as(const char *path, const char *group, struct socket_listener *listener,
                     struct problem *problem);
void socket_unlisten(struct socket_listener *listener);

/* Connects; a file descriptor, or -errno with a problem that says how to go on. */
int socket_connect(const char *path, struct problem *problem);
/* The same without waiting for a weir that stands still; the descriptor does not block. */
int socket_connect_at_once(const char *path, struct problem *problem);

#endif
