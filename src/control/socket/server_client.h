/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One client of the control socket: its connection, and the session that is held over it.
 *
 * Thread: control's.
 */
#ifndef WEIR_SERVER_CLIENT_H
#define WEIR_SERVER_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "socket/session.h"

#define CLIENT_READ_BYTES 16384

struct client {
	int fd;
	bool ended;   /* it will send no more */
	bool trusted; /* root's, or of the user that runs weir; and not read-only */
	bool read_only;
	struct session *session;
	size_t held; /* bytes read that the session has not taken yet */
	char bytes[CLIENT_READ_BYTES];
};

/* Takes the connection, a non-blocking socket. NULL: no memory, and it stays the caller's. */
struct client *client_make(int fd, struct control *control, bool read_only, uint64_t now_ns);
void client_free(struct client *client);

/* When it last said something, or was last waited for. */
uint64_t client_active_ns(const struct client *client);
/* Says why it is closed; it is to be freed then. */
void client_dismiss(struct client *client, const char *why);

/* What to poll() for; 0: nothing. Makes `timeout_ms` shorter where there is work that waits for
 * nothing, for a sample, or for what routers answer. */
short client_events(const struct client *client, uint64_t now_ns, int *timeout_ms);
/* Reads, executes, answers and times out, as `events` (of poll) say. False: it is to be freed. */
bool client_serve(struct client *client, short events, uint64_t now_ns);

#endif
