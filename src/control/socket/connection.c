/* SPDX-License-Identifier: BSD-3-Clause */
#include "socket/server.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "service/answer.h"
#include "service/control.h"
#include "service/peer.h"
#include "socket/session.h"

#define READ_BYTES          16384
#define DESCRIPTORS_AT_ONCE 16
#define SLEEP_MS            1000 /* the longest sleep of a thread that has samples to send */
#define NEVER               UINT64_MAX

struct connection {
	int fd, wake; /* wake: an eventfd that ends the wait for the client */
	struct control *control;
	struct session *session;
	int rank;         /* connection_rank */
	bool started;     /* the main thread's */
	bool quits, over; /* atomic */
	/* The thread holds it, but while it waits for its client, or executes a line. */
	pthread_mutex_t lock;
	bool at_work;       /* a line is being executed: nobody else may use the session */
	bool taken;         /* by the main thread; the thread frees the connection */
	bool was_at_work;   /* when it was taken */
	bool served;        /* the thread needs nothing of it any more but to free it */
	bool gone;          /* the client is not there any more */
	uint64_t active_ns; /* when the last input came, or the last bytes went */
	uint64_t unsent_ns; /* since when answers wait, and nothing is read */
	uint64_t late_ns;   /* since when something is to be pushed, and the socket has no room */
	size_t held;        /* bytes read that the session has not taken yet */
	char bytes[READ_BYTES];
	/* the main thread's */
	uint64_t progress; /* of the session, at the last look */
	struct patience patience;
};

static uint64_t now_of(const struct connection *connection)
{
	return __atomic_load_n(&connection->control->round_ns, __ATOMIC_RELAXED);
}

/* ---- the thread: the socket ---- */

/* Reads what has arrived, and the descriptors with it, one for each line `file`. */
static void take_input(struct connection *connection)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int) * DESCRIPTORS_AT_ONCE)];
	} room;
	struct iovec bytes = {connection->bytes, sizeof(connection->bytes)};
	struct msghdr message = {.msg_iov = &bytes,
	                         .msg_iovlen = 1,
	                         .msg_control = &room,
	                         .msg_controllen = sizeof(room)};
	ssize_t n = recvmsg(connection->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n < 0) {
		connection->gone = errno != EAGAIN && errno != EINTR;
		return;
	}
	for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL;
	     header = CMSG_NXTHDR(&message, header)) {
		size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof(fd));
			session_descriptor(connection->session, fd);
		}
	}
	connection->held = (size_t)n;
	if (n == 0)
		session_end(connection->session);
	else
		connection->active_ns = now_of(connection);
}

/* Sends what the socket takes at once. The time is read before the client can see its answer, so
 * that whatever anybody sends in response is later. */
static void send_output(struct connection *connection)
{
	const uint64_t now_ns = now_of(connection);
	size_t waiting;
	const char *bytes = session_output(connection->session, &waiting);
	ssize_t n = 0;

	if (waiting > 0 && !connection->gone) {
		n = send(connection->fd, bytes, waiting, MSG_NOSIGNAL | MSG_DONTWAIT);
		connection->gone = n < 0 && errno != EAGAIN && errno != EINTR;
	}
	if (n > 0) {
		session_taken(connection->session, (size_t)n);
		connection->active_ns = now_ns;
	}
	if (n >= (ssize_t)waiting)
		connection->unsent_ns = NEVER;
	else if (n > 0 || connection->unsent_ns == NEVER)
		connection->unsent_ns = now_ns;
}

/* Pushes what there is to push, if the socket has room. The kernel reports POLLOUT while most of
 * the socket is empty, so what is pushed fits, and a last message behind it. */
static void push(struct connection *connection)
{
	struct pollfd polled = {.fd = connection->fd, .events = POLLOUT};
	bool wants = session_wants_push(connection->session);
	bool room = wants && poll(&polled, 1, 0) == 1 && polled.revents & POLLOUT;

	if (wants)
		session_push(connection->session, room);
	if (!wants || room)
		connection->late_ns = NEVER;
	else if (connection->late_ns == NEVER)
		connection->late_ns = now_of(connection);
}

/* ---- the thread: its rounds ---- */

/* While a line waits: sends what can be sent. Returns false if nobody waits for the answer. */
static bool waits(void *argument)
{
	struct connection *connection = argument;
	bool waits;

	pthread_mutex_lock(&connection->lock);
	if (!connection->taken) {
		send_output(connection);
		push(connection);
		send_output(connection);
	}
	waits = !connection->taken && !connection->gone;
	pthread_mutex_unlock(&connection->lock);
	return waits;
}

/* Executes the lines that were read. */
static void execute(struct connection *connection)
{
	size_t taken;

	connection->at_work = true;
	pthread_mutex_unlock(&connection->lock);
	taken = session_feed(connection->session, connection->bytes, connection->held);
	pthread_mutex_lock(&connection->lock);
	connection->at_work = false;
	connection->held -= taken;
	memmove(connection->bytes, connection->bytes + taken, connection->held);
}

/* Returns how long to wait for the client at most, in ms. */
static int sleep_ms(const struct connection *connection)
{
	const struct control *control = connection->control;
	uint64_t now_ns, next_ns = session_next_ns(connection->session);

	if (next_ns == NEVER)
		return -1;
	now_ns = control_now_ns(control);
	next_ns = next_ns > now_ns ? (next_ns - now_ns + SIMTIME_MS - 1) / SIMTIME_MS : 0;
	return next_ns < SLEEP_MS ? (int)next_ns : SLEEP_MS;
}

/* Waits for the client, and reads what it has sent. */
static void wait_for_client(struct connection *connection)
{
	struct session *session = connection->session;
	bool reads = session_ready(session), pushes = session_wants_push(session);
	struct pollfd polled[2] = {{.fd = connection->fd},
	                           {.fd = connection->wake, .events = POLLIN}};
	int timeout_ms = sleep_ms(connection);
	eventfd_t count;
	size_t waiting;

	session_output(session, &waiting);
	polled[0].events = (short)((reads ? POLLIN : 0) | (waiting > 0 || pushes ? POLLOUT : 0));
	/* After a push, nothing wakes the thread but room for the next one. */
	if (pushes && connection->late_ns == NEVER)
		connection->late_ns = now_of(connection);
	/* A descriptor without events is not polled: poll() would report its hang-up again and
	 * again. */
	if (polled[0].events == 0)
		polled[0].fd = -1;
	pthread_mutex_unlock(&connection->lock);
	poll(polled, 2, timeout_ms);
	pthread_mutex_lock(&connection->lock);
	if (polled[1].revents & POLLIN)
		eventfd_read(connection->wake, &count);
	if (reads && !connection->taken && polled[0].revents & (POLLIN | POLLHUP | POLLERR))
		take_input(connection);
}

static void serve(struct connection *connection)
{
	while (!connection->taken) {
		size_t waiting;

		push(connection);
		send_output(connection);
		session_output(connection->session, &waiting);
		if (connection->gone || (session_over(connection->session) && waiting == 0) ||
		    __atomic_load_n(&connection->quits, __ATOMIC_ACQUIRE))
			return;
		if (connection->held > 0 && session_ready(connection->session))
			execute(connection);
		else
			wait_for_client(connection);
	}
}

void connection_free(struct connection *connection)
{
	session_free(connection->session);
	pthread_mutex_destroy(&connection->lock);
	close(connection->fd);
	close(connection->wake);
	free(connection);
}

static void run(void *argument)
{
	struct connection *connection = argument;
	struct control *control = connection->control;
	bool taken;

	pthread_mutex_lock(&connection->lock);
	serve(connection);
	taken = connection->taken;
	connection->served = true;
	pthread_mutex_unlock(&connection->lock);
	if (taken) {
		bool was_at_work = connection->was_at_work;

		connection_free(connection);
		__atomic_sub_fetch(&control->given_up, was_at_work, __ATOMIC_RELAXED);
		return;
	}
	session_free(connection->session);
	connection->session = NULL;
	/* The main thread closes the descriptors: it may use them until then. */
	shutdown(connection->fd, SHUT_RDWR);
	__atomic_store_n(&connection->over, true, __ATOMIC_RELEASE);
	control_wake(control);
}

/* ---- the main thread ---- */

struct connection *connection_make(int fd, struct control *control, bool read_only)
{
	struct connection *connection = calloc(1, sizeof(*connection));
	const struct asker asker = {waits, connection};
	struct peer peer;
	bool trusted;

	if (connection == NULL)
		return NULL;
	connection->session = session_make(control);
	connection->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (connection->session == NULL || connection->wake < 0) {
		session_free(connection->session);
		if (connection->wake >= 0)
			close(connection->wake);
		free(connection);
		return NULL;
	}
	connection->fd = fd;
	connection->control = control;
	connection->active_ns = now_of(connection);
	pthread_mutex_init(&connection->lock, NULL);
	connection->unsent_ns = connection->late_ns = NEVER;
	peer_of(fd, &peer);
	session_attend(connection->session, &asker, connection->wake);
	/* Root may read everything, the user that runs weir the same as weir. Weir reveals nothing
	 * to such a client that it could not read itself. */
	trusted = !read_only && peer.known && (peer.uid == 0 || peer.uid == geteuid());
	connection->rank = trusted ? CONNECTION_RANK_MAX : !read_only;
	session_introduce(connection->session, &peer, read_only, trusted);
	return connection;
}

int connection_start(struct connection *connection)
{
	connection->started = true;
	connection->active_ns = now_of(connection);
	if (control_thread(connection->control, run, connection) == 0)
		return 0; /* it is the thread's from here on */
	connection->started = false;
	return -EAGAIN;
}

bool connection_is_over(const struct connection *connection)
{
	return __atomic_load_n(&connection->over, __ATOMIC_ACQUIRE);
}

int connection_rank(const struct connection *connection)
{
	return connection->rank;
}

/* Returns true if the client has sent something that its thread has not read yet: on a busy machine
 * that may take a while. */
static bool has_input(const struct connection *connection)
{
	struct pollfd polled = {.fd = connection->fd, .events = POLLIN};

	return poll(&polled, 1, 0) == 1;
}

/* Locks the connection, if its thread waits for the client or executes a line. The main thread
 * waits for no lock. */
static bool can_take(struct connection *connection)
{
	if (pthread_mutex_trylock(&connection->lock) != 0)
		return false;
	if (connection->started && !connection->served)
		return true;
	pthread_mutex_unlock(&connection->lock);
	return false;
}

uint64_t connection_silent_ns(struct connection *connection)
{
	uint64_t silent_ns = NEVER;

	if (!connection->started)
		return connection->active_ns;
	if (!can_take(connection))
		return NEVER;
	if (!connection->at_work && !has_input(connection))
		silent_ns = connection->active_ns;
	pthread_mutex_unlock(&connection->lock);
	return silent_ns;
}

/* ---- taking a connection away; with its lock, which is released ---- */

/* The thread notices that its socket is shut down. */
static void let_go(struct connection *connection)
{
	connection->taken = true;
	connection->was_at_work = connection->at_work;
	shutdown(connection->fd, SHUT_RDWR);
	__atomic_add_fetch(&connection->control->given_up, connection->at_work, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&connection->lock);
}

/* Sends what waits, as far as the socket takes that at once. */
static void say_last(struct connection *connection)
{
	size_t n;
	const char *bytes = session_output(connection->session, &n);

	send(connection->fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Tells the client why; `name` NULL: the line takes too long. Returns false if the line under way
 * cannot be given up, because too many were. */
static bool dismiss(struct connection *connection, const char *name, const char *why)
{
	struct output output = {.bytes = NULL};

	if (!connection->at_work) {
		session_dismiss(connection->session, name, why);
		say_last(connection);
	} else if (__atomic_load_n(&connection->control->given_up, __ATOMIC_RELAXED) >=
	           CONNECTION_GIVEN_UP_MAX) {
		pthread_mutex_unlock(&connection->lock);
		return false;
	} else if (connection->unsent_ns == NEVER) { /* no part of an answer waits */
		session_give_up(connection->session, name, why, &output);
		send(connection->fd, output.bytes + output.head, output.n,
		     MSG_NOSIGNAL | MSG_DONTWAIT);
		output_release(&output);
	}
	let_go(connection);
	return true;
}

void connection_send_away(struct connection *connection, const char *why)
{
	session_dismiss(connection->session, "server", why);
	say_last(connection);
}

bool connection_take(struct connection *connection, const char *why)
{
	return can_take(connection) && dismiss(connection, "server", why);
}

static bool has_passed(uint64_t since_ns, uint64_t now_ns, uint64_t time_ns)
{
	return since_ns != NEVER && now_ns > since_ns && now_ns - since_ns >= time_ns;
}

/* Returns true if the thread executes one line for too long. */
static bool is_overdue(struct connection *connection, uint64_t now_ns)
{
	uint64_t progress = session_progress(connection->session);

	if (!connection->at_work || progress != connection->progress) {
		connection->progress = progress;
		connection->patience = (struct patience){.last_ns = now_ns};
	}
	return patience_look(&connection->patience, now_ns) >= CONNECTION_WORK_NS;
}

bool connection_time_out(struct connection *connection, uint64_t now_ns)
{
	if (!can_take(connection))
		return false;
	if (is_overdue(connection, now_ns))
		return dismiss(connection, NULL, NULL);
	if (has_passed(connection->unsent_ns, now_ns, CONNECTION_STALL_NS)) {
		let_go(connection);
		return true;
	}
	if (connection->at_work) {
		pthread_mutex_unlock(&connection->lock);
		return false;
	}
	if (has_passed(connection->late_ns, now_ns, CONNECTION_STALL_NS)) {
		session_dismiss_slow(connection->session, "nothing was read for 30 s");
		say_last(connection);
		let_go(connection);
		return true;
	}
	if (has_passed(connection->active_ns, now_ns, CONNECTION_IDLE_NS) &&
	    connection->unsent_ns == NEVER && !session_streams(connection->session) &&
	    !has_input(connection))
		return dismiss(connection, "session",
		               "idle for 10 minutes, so it is closed; connect again");
	pthread_mutex_unlock(&connection->lock);
	return false;
}

void connection_quit(struct connection *connection)
{
	__atomic_store_n(&connection->quits, true, __ATOMIC_RELEASE);
	eventfd_write(connection->wake, 1);
}
