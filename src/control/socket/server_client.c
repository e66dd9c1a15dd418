/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "service/peer.h"
#include "socket/server.h"
#include "socket/server_client.h"

#define PENDING_MS          5 /* between two looks at a pending line */
#define DESCRIPTORS_AT_ONCE 16

/* Returns true if the client may read anything that weir may: root may read everything, the user
 * that runs weir the same as weir. Weir reveals nothing to such a client that it could not read
 * itself. */
static bool client_has_our_rights(const struct peer *peer)
{
	return peer->known && (peer->uid == 0 || peer->uid == geteuid());
}

struct client *client_make(int fd, struct control *control, bool read_only, uint64_t now_ns)
{
	struct peer peer;
	struct client *client = calloc(1, sizeof(*client));

	if (client == NULL)
		return NULL;
	client->fd = fd;
	client->session = session_make(control, now_ns);
	if (client->session == NULL) {
		free(client);
		return NULL;
	}
	peer_of(fd, &peer);
	session_introduce(client->session, &peer, read_only);
	client->read_only = read_only;
	client->trusted = !read_only && client_has_our_rights(&peer);
	if (client->trusted)
		session_trust(client->session);
	return client;
}

void client_free(struct client *client)
{
	close(client->fd);
	session_free(client->session);
	free(client);
}

/* Reads what has arrived, and the descriptors with it, one for each line `file`. */
static ssize_t client_receive(struct client *client)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int) * DESCRIPTORS_AT_ONCE)];
	} room;
	struct iovec bytes = {client->bytes, sizeof(client->bytes)};
	struct msghdr message = {.msg_iov = &bytes,
	                         .msg_iovlen = 1,
	                         .msg_control = &room,
	                         .msg_controllen = sizeof(room)};
	ssize_t n = recvmsg(client->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	for (struct cmsghdr *header = n >= 0 ? CMSG_FIRSTHDR(&message) : NULL; header != NULL;
	     header = CMSG_NXTHDR(&message, header)) {
		size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof(fd));
			session_descriptor(client->session, fd);
		}
	}
	return n;
}

/* Returns false if the client is gone. */
static bool client_read(struct client *client, uint64_t now_ns)
{
	size_t taken;
	ssize_t n;

	if (client->held == 0) {
		n = client_receive(client);
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

uint64_t client_active_ns(const struct client *client)
{
	return session_pending(client->session) ? UINT64_MAX : session_active_ns(client->session);
}

void client_dismiss(struct client *client, const char *why)
{
	const char *bytes;
	size_t waiting;
	ssize_t ignored;

	session_dismiss(client->session, "server", why);
	bytes = session_output(client->session, &waiting);
	ignored = send(client->fd, bytes, waiting, MSG_NOSIGNAL | MSG_DONTWAIT);
	(void)ignored;
}

/* Dismisses a client that is idle. Returns false if a client does not read its answers: it must be
 * freed at once. */
static bool client_in_time(struct client *client, uint64_t now_ns)
{
	uint64_t waiting_ns = session_waiting_ns(client->session);

	if (waiting_ns != UINT64_MAX)
		return now_ns < waiting_ns || now_ns - waiting_ns < SERVER_STALL_NS;
	if (!session_streams(client->session) && now_ns > session_active_ns(client->session) &&
	    now_ns - session_active_ns(client->session) >= SERVER_IDLE_NS)
		session_dismiss(client->session, "session",
		                "idle for 10 minutes, so it is closed; connect again");
	return true;
}

bool client_serve(struct client *client, short events, uint64_t now_ns)
{
	bool may_read;

	session_poll(client->session, now_ns);
	may_read = session_ready(client->session) && !client->ended &&
	           (client->held > 0 || events & (POLLIN | POLLHUP | POLLERR));

	if (may_read && !client_read(client, now_ns))
		return false;
	/* The kernel reports POLLOUT while most of the socket is empty, so what is pushed fits, and
	 * a last message behind it. */
	if (session_wants_push(client->session)) {
		if (events & POLLOUT)
			session_push(client->session, now_ns);
		else
			session_push_late(client->session, now_ns, SERVER_STALL_NS);
	}
	if (!client_in_time(client, now_ns) || !client_write(client, now_ns))
		return false;
	return !session_over(client->session) || client_waits(client);
}

short client_events(const struct client *client, uint64_t now_ns, int *timeout_ms)
{
	bool ready = session_ready(client->session) && !client->ended;
	uint64_t next_ns = session_next_ns(client->session);
	uint64_t left_ms = next_ns > now_ns ? (next_ns - now_ns + SIMTIME_MS - 1) / SIMTIME_MS : 0;

	if (left_ms < (uint64_t)*timeout_ms)
		*timeout_ms = (int)left_ms;
	if (ready && client->held > 0)
		*timeout_ms = 0;
	else if (session_pending(client->session) && *timeout_ms > PENDING_MS)
		*timeout_ms = PENDING_MS;
	return (short)((ready && client->held == 0 ? POLLIN : 0) |
	               (client_waits(client) || session_wants_push(client->session) ? POLLOUT : 0));
}
