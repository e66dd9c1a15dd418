/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "service/control.h"
#include "socket/server.h"
#include "socket/socket.h"

#define SIGNALS 4 /* the signals that the server handles */

struct server {
	struct socket_listener listener, read_only;     /* read_only.fd is -1 if there is none */
	struct connection *clients[SERVER_CLIENTS_MAX]; /* in the order of their arrival */
	uint32_t n_clients;
	struct connection *waiting[SERVER_WAITING_MAX]; /* for a place, the first come first */
	uint32_t n_waiting;
	uint64_t now_ns; /* of the latest round */
	uint64_t no_accept_until_ns;
	bool from_terminal; /* it had a controlling terminal when it was started */
	struct sigaction before[SIGNALS];
	struct flight_wish flight;
};

/* A handler may do little: it writes the signal's number into a pipe that poll() watches. A
 * signalfd would need the signals blocked in all threads, and some of these are made by the EAL. */
static int signal_pipe[2] = {-1, -1};
static const int signals[SIGNALS] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
static volatile sig_atomic_t signals_waiting; /* those received and not read yet */
#define SIGNALS_PATIENCE 3
#define END_NS           (SIMTIME_S) /* for the clients at the end */
#define LOOK_NS          SIMTIME_MS

static void server_signal(int number)
{
	unsigned char byte = (unsigned char)number;
	int error = errno;
	ssize_t ignored;

	/* The user who keeps sending signals while weir ends, or hangs, gets the default action. */
	if (number != SIGHUP && number != SIGUSR1 && ++signals_waiting > SIGNALS_PATIENCE) {
		signal(number, SIG_DFL);
		raise(number);
	}
	ignored = write(signal_pipe[1], &byte, 1);
	(void)ignored;
	errno = error;
}

static bool has_terminal(void)
{
	int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void server_handle_signals(const struct server *server, bool starting)
{
	struct sigaction action = {.sa_handler = server_signal};

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < SIGNALS; i++) {
		bool ends = signals[i] == SIGINT || signals[i] == SIGTERM;

		action.sa_flags = starting && ends ? 0 : SA_RESTART;
		if (signals[i] != SIGHUP || server->before[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

bool server_lost_terminal(const struct server *server)
{
	return server->from_terminal && !has_terminal();
}

void server_flight(struct server *server, const struct flight_wish *wish)
{
	server->flight = *wish;
}

const struct flight_wish *server_flight_wish(const struct server *server)
{
	return &server->flight;
}

/* Opens the read-only socket, if there is to be one. */
static int read_only_open(struct server *server, const struct server_paths *paths,
                          struct problem *problem)
{
	struct stat control, read_only;

	if (paths->read_only == NULL)
		return 0;
	if (stat(server->listener.path, &control) == 0 && stat(paths->read_only, &read_only) == 0 &&
	    control.st_dev == read_only.st_dev && control.st_ino == read_only.st_ino) {
		problem_set(
		        problem, -1,
		        "socket %s: it is the control socket and the read-only one at once; give "
		        "another path with --socket-readonly",
		        paths->read_only);
		return -EADDRINUSE;
	}
	return socket_listen(paths->read_only, paths->group, &server->read_only, problem);
}

int server_open(const struct server_paths *paths, struct server **server, struct problem *problem)
{
	char usual[SOCKET_PATH_BYTES];
	struct server *made = calloc(1, sizeof(*made));
	int result = -ENOMEM;

	problem_set(problem, -1, "no memory for the control socket");
	if (made == NULL)
		return result;
	socket_default_path(usual);
	made->listener.fd = made->read_only.fd = -1;
	result = 0;
	if (paths->control == NULL || paths->control[0] != '\0')
		result = socket_listen(paths->control != NULL ? paths->control : usual, NULL,
		                       &made->listener, problem);
	if (result != 0)
		goto err_free;
	result = read_only_open(made, paths, problem);
	if (result != 0)
		goto err_unlisten;
	if (pipe2(signal_pipe, O_NONBLOCK | O_CLOEXEC) != 0) {
		result = -errno;
		problem_set(problem, -1, "no pipe for signals: %s", strerror(-result));
		goto err_unlisten;
	}
	signals_waiting = 0;
	for (size_t i = 0; i < SIGNALS; i++)
		sigaction(signals[i], NULL, &made->before[i]);
	server_handle_signals(made, true);
	made->from_terminal = has_terminal();
	*server = made;
	return 0;

err_unlisten:
	socket_unlisten(&made->read_only);
	socket_unlisten(&made->listener);
err_free:
	free(made);
	return result;
}

const char *server_path(const struct server *server)
{
	return server->listener.path;
}

const char *server_path_read_only(const struct server *server)
{
	return server->read_only.fd >= 0 ? server->read_only.path : NULL;
}

uint32_t server_clients(const struct server *server)
{
	return server->n_clients;
}

/* ---- clients ---- */

/* Removes a client from the array, which keeps its order. Its connection is freed, or belongs to
 * its thread. */
static void forget(struct server *server, uint32_t index)
{
	server->n_clients--;
	memmove(&server->clients[index], &server->clients[index + 1],
	        (server->n_clients - index) * sizeof(server->clients[0]));
}

static void free_those_that_are_over(struct server *server)
{
	for (uint32_t i = server->n_clients; i-- > 0;) {
		if (connection_is_over(server->clients[i])) {
			connection_free(server->clients[i]);
			forget(server, i);
		}
	}
}

void server_quit(struct server *server)
{
	for (uint32_t i = 0; i < server->n_clients; i++)
		connection_quit(server->clients[i]);
}

/* A thread that does not end is left alone with its connection: the file that it reads is on a disk
 * that does not answer. */
void server_empty(struct server *server)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};

	server_quit(server);
	for (uint64_t waited_ns = 0; waited_ns < END_NS; waited_ns += LOOK_NS) {
		free_those_that_are_over(server);
		if (server->n_clients == 0)
			break;
		nanosleep(&pause, NULL);
	}
	while (server->n_clients > 0)
		connection_take(server->clients[--server->n_clients],
		                "weir ends, and this line does not");
	while (server->n_waiting > 0)
		connection_free(server->waiting[--server->n_waiting]);
}

void server_close(struct server *server)
{
	if (server == NULL)
		return;
	server_empty(server);
	socket_unlisten(&server->read_only);
	socket_unlisten(&server->listener);
	for (size_t i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &server->before[i], NULL);
	close(signal_pipe[0]);
	close(signal_pipe[1]);
	signal_pipe[0] = signal_pipe[1] = -1;
	free(server);
}

/* Returns the index of the client that gives way to a new one of this rank: among the clients of
 * the lowest rank, and of no rank above the new one's, the one that was silent for longest, of
 * several the first to arrive, and one that waits for its answer last. To its like none gives way
 * while it waits, nor before SERVER_SILENT_NS. Returns n_clients if there is none. */
static uint32_t silent_one(const struct server *server, int rank)
{
	uint32_t found = server->n_clients;
	uint64_t found_ns = 0;
	int found_rank = rank + 1;

	for (uint32_t i = 0; i < server->n_clients; i++) {
		uint64_t silent_ns = connection_silent_ns(server->clients[i]);
		int its = connection_rank(server->clients[i]);

		if (its == rank &&
		    (silent_ns == UINT64_MAX || server->now_ns < silent_ns + SERVER_SILENT_NS))
			continue;
		if (its < found_rank || (its == found_rank && silent_ns < found_ns)) {
			found = i;
			found_ns = silent_ns;
			found_rank = its;
		}
	}
	return found;
}

/* Gives a client a place. Returns false if there is none yet. The client that goes is told why. */
static bool admit(struct server *server, struct connection *client)
{
	if (server->n_clients == SERVER_CLIENTS_MAX) {
		uint32_t index = silent_one(server, connection_rank(client));

		if (index == server->n_clients ||
		    !connection_take(server->clients[index],
		                     "this client was silent for longest, and another client "
		                     "needs its place; connect again"))
			return false;
		forget(server, index);
	}
	if (connection_start(client) != 0) {
		connection_send_away(client, "no thread can be started for this client; try again "
		                             "later");
		connection_free(client);
		return true;
	}
	server->clients[server->n_clients++] = client;
	return true;
}

static void stop_waiting(struct server *server, uint32_t waiting)
{
	server->n_waiting--;
	memmove(&server->waiting[waiting], &server->waiting[waiting + 1],
	        (server->n_waiting - waiting) * sizeof(server->waiting[0]));
}

/* Tells a client that waits why it gets no place. */
static void send_away(struct server *server, uint32_t waiting)
{
	struct connection *client = server->waiting[waiting];

	connection_send_away(
	        client,
	        connection_rank(client) == 0
	                ? "16 clients are connected, which is the maximum; try again when one has "
	                  "left"
	                : "16 clients of root or of the user that runs weir are connected, which "
	                  "is the maximum; try again when one has left");
	connection_free(client);
	stop_waiting(server, waiting);
}

/* Gives places to those that wait. Those to which clients of a higher rank may never give way do
 * not wait for ever. */
static void seat(struct server *server)
{
	for (int rank = CONNECTION_RANK_MAX; rank >= 0; rank--) {
		for (uint32_t i = 0; i < server->n_waiting;) {
			struct connection *client = server->waiting[i];

			if (connection_rank(client) != rank)
				i++;
			else if (admit(server, client))
				stop_waiting(server, i);
			else if (rank < CONNECTION_RANK_MAX &&
			         server->now_ns >= connection_silent_ns(client) + SERVER_WAIT_NS)
				send_away(server, i);
			else
				i++;
		}
	}
}

/* Returns the index of the client that gives way if too many wait: the last one of the lowest
 * rank. */
static uint32_t last_one(const struct server *server)
{
	uint32_t last = 0;

	for (uint32_t i = 1; i < server->n_waiting; i++) {
		if (connection_rank(server->waiting[i]) <= connection_rank(server->waiting[last]))
			last = i;
	}
	return last;
}

/* Returns true if one more may wait. If not, it waits in the queue of the listener. */
static bool takes_more(const struct server *server)
{
	return server->n_waiting < SERVER_WAITING_MAX ||
	       connection_rank(server->waiting[last_one(server)]) < CONNECTION_RANK_MAX;
}

/* Accepts those that wait in the queue of the listener, which is shorter than a crowd. */
static void accept_all(struct server *server, const struct socket_listener *listener,
                       struct control *control)
{
	for (int n = 0; n < SERVER_WAITING_MAX && takes_more(server); n++) {
		int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		struct connection *client;

		if (fd < 0) {
			/* Out of descriptors or memory. The listener stays readable, so it is not
			 * polled for a while. */
			if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
			    errno == ENOMEM)
				server->no_accept_until_ns = server->now_ns + SIMTIME_S;
			return;
		}
		client = connection_make(fd, control, listener == &server->read_only);
		if (client == NULL) {
			close(fd);
			continue;
		}
		if (server->n_waiting == SERVER_WAITING_MAX)
			send_away(server, last_one(server));
		server->waiting[server->n_waiting++] = client;
	}
}

/* ---- rounds ---- */

static int signalled(void)
{
	unsigned char number;

	signals_waiting = 0;
	if (read(signal_pipe[0], &number, 1) == 1)
		return number;
	/* The pipe may be empty. An error in reading it must not keep weir from ending. */
	return errno == EAGAIN || errno == EINTR ? 0 : SIGTERM;
}

int server_round(struct server *server, struct control *control, uint64_t now_ns, int also,
                 int timeout_ms)
{
	enum { SIGNAL, LISTENER, READ_ONLY, WAKE, ALSO, POLLED };
	const bool takes = now_ns >= server->no_accept_until_ns && takes_more(server);
	struct pollfd polled[POLLED] = {
	        [SIGNAL] = {.fd = signal_pipe[0], .events = POLLIN},
	        [LISTENER] = {.fd = takes ? server->listener.fd : -1, .events = POLLIN},
	        [READ_ONLY] = {.fd = takes ? server->read_only.fd : -1, .events = POLLIN},
	        [WAKE] = {.fd = control->wake, .events = POLLIN},
	        [ALSO] = {.fd = also, .events = POLLIN}};
	eventfd_t count;
	int error;

	server->now_ns = now_ns;
	__atomic_store_n(&control->round_ns, now_ns, __ATOMIC_RELAXED);
	control_main_looks(control, false);
	error = poll(polled, POLLED, timeout_ms) < 0 ? errno : 0;
	control_main_looks(control, true);
	if (error != 0)
		return error == EINTR ? signalled() : -error;
	if (polled[WAKE].revents & POLLIN)
		eventfd_read(control->wake, &count);
	free_those_that_are_over(server);
	for (uint32_t i = server->n_clients; i-- > 0;) {
		if (connection_time_out(server->clients[i], server->now_ns))
			forget(server, i);
	}
	if (polled[LISTENER].revents & POLLIN)
		accept_all(server, &server->listener, control);
	if (polled[READ_ONLY].revents & POLLIN)
		accept_all(server, &server->read_only, control);
	seat(server);
	return polled[SIGNAL].revents & POLLIN ? signalled() : 0;
}
