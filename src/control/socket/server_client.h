/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client of the control socket: its connection, and its session.
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
	bool ended;   /* it has closed its side: no more input will come */
	bool trusted; /* of root, or of the user that runs weir; and not read-only */
	bool read_only;
	struct session *session;
	size_t held; /* bytes read that the session has not taken yet */
	char bytes[CLIENT_READ_BYTES];
};

/* Takes the connection, a non-blocking socket. Returns NULL if there is no memory; then the socket
 * remains the caller's. */
struct client *client_make(int fd, struct control *control, bool read_only, uint64_t now_ns);
void client_free(struct client *client);

/* Returns the instant at which the client was last active; UINT64_MAX while it waits for an
 * answer. */
uint64_t client_active_ns(const struct client *client);
/* Sends the reason why the client is closed. The caller frees the client next. */
void client_dismiss(struct client *client, const char *why);

/* Returns the events to poll() for; 0: none. Shortens `timeout_ms` if there is work that can be
 * done at once, a sample that becomes due, or a pending line. */
short client_events(const struct client *client, uint64_t now_ns, int *timeout_ms);
/* Reads, executes, answers and times out, as `events` (of poll) permit. Returns false if the client
 * must be freed. */
bool client_serve(struct client *client, short events, uint64_t now_ns);

#endif
