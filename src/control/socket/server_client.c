/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server.h"
#include "server_client.h"

#define PENDING_MS 5 /* until it is asked again whether routers have answered */

struct client *client_make(int fd, struct control *control, uint64_t now_ns)
{
	struct client *client = calloc(1, sizeof(*client));

	if (client == NULL)
		return NULL;
	client->fd = fd;
	client->session = session_make(control, now_ns);
	if (client->session == NULL) {
		free(client);
		return NULL;
	}
	return client;
}

void client_free(struct client *client)
{
	close(client->fd);
	session_free(client->session);
	free(client);
}

/* False: the client is gone. */
static bool client_read(struct client *client, uint64_t now_ns)
{
	size_t taken;
	ssize_t n;

	if (client->held == 0) {
		n = recv(client->fd, client->bytes, sizeof(client->bytes), MSG_DONTWAIT);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		if (n == 0) {
			client->ended = true;
			session_end(client->session, now_ns);
			return true;
		}
		client->held = (size_t)n;
	}
	taken = session_feed(client->session, client->bytes, client->held, now_ns);
	client->held -= taken;
	memmove(client->bytes, client->bytes + taken, client->held);
	return true;
}

static bool client_write(struct client *client, uint64_t now_ns)
{
	const char *bytes;
	size_t waiting;
	ssize_t n;

	bytes = session_output(client->session, &waiting);
	if (waiting == 0)
		return true;
	n = send(client->fd, bytes, waiting, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	session_taken(client->session, (size_t)n, now_ns);
	return true;
}

static bool client_waits(const struct client *client)
{
	size_t waiting;

	session_output(client->session, &waiting);
	return waiting > 0;
}

/* Idle: told, and over. Not reading its answers: over at once. */
static bool client_in_time(struct client *client, uint64_t now_ns)
{
	uint64_t waiting_ns = session_waiting_ns(client->session);

	if (waiting_ns != UINT64_MAX)
		return now_ns < waiting_ns || now_ns - waiting_ns < SERVER_STALL_NS;
	if (now_ns > session_active_ns(client->session) &&
	    now_ns - session_active_ns(client->session) >= SERVER_IDLE_NS)
		session_dismiss(client->session, "session",
		                "idle for 10 minutes, so it is closed; connect again");
	return true;
}

/* False: it is to be dropped. */
bool client_serve(struct client *client, short events, uint64_t now_ns)
{
	bool may_read;

	session_poll(client->session, now_ns);
	may_read = session_ready(client->session) && !client->ended &&
	           (client->held > 0 || events & (POLLIN | POLLHUP | POLLERR));

	if (may_read && !client_read(client, now_ns))
		return false;
	if (!client_in_time(client, now_ns) || !client_write(client, now_ns))
		return false;
	return !session_over(client->session) || client_waits(client);
}

short client_events(const struct client *client, int *timeout_ms)
{
	bool ready = session_ready(client->session) && !client->ended;

	if (ready && client->held > 0)
		*timeout_ms = 0;
	else if (session_pending(client->session) && *timeout_ms > PENDING_MS)
		*timeout_ms = PENDING_MS;
	return (short)((ready && client->held == 0 ? POLLIN : 0) |
	               (client_waits(client) ? POLLOUT : 0));
}
