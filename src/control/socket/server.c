/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "machine/supervisor.h"
#include "record/recording.h"
#include "service/control.h"
#include "service/executor.h"
#include "socket/keep.h"
#include "socket/lease.h"
#include "socket/reload.h"
#include "socket/server.h"
#include "socket/server_client.h"
#include "socket/socket.h"
#include "stream/event.h"
#include "stream/loss_watch.h"
#include "stream/schedule_watch.h"

#define SIGNALS 4 /* the signals that the server handles */

struct server {
	struct socket_listener listener, read_only; /* read_only.fd is -1 if there is none */
	struct client *clients[SERVER_CLIENTS_MAX];
	uint32_t n_clients;
	struct client *waiting[SERVER_WAITING_MAX]; /* for a place, the first come first */
	uint32_t n_waiting;
	uint64_t no_accept_until_ns;
	int also;           /* the caller's descriptor that ends the wait; -1: none */
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
#define RELOAD_MS        2 /* how often a reload or undoing is polled */

/* At the end, the time allowed for a change that is being prepared, and for files that do not
 * arrive. */
#define CONTROL_PATIENCE_NS  (20 * SIMTIME_S)
#define EXECUTOR_PATIENCE_NS SIMTIME_S

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

/* Installs the handler. If `starting`, SIGINT and SIGTERM interrupt system calls: opening a pipe
 * may wait for its other end. */
static void server_signals_handle(const struct server *server, bool starting)
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

static int server_signals_take(struct server *server)
{
	if (pipe2(signal_pipe, O_NONBLOCK | O_CLOEXEC) != 0)
		return -errno;
	signals_waiting = 0;
	for (size_t i = 0; i < SIGNALS; i++)
		sigaction(signals[i], NULL, &server->before[i]);
	server_signals_handle(server, true);
	return 0;
}

static void server_signals_give_back(const struct server *server)
{
	for (size_t i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &server->before[i], NULL);
	close(signal_pipe[0]);
	close(signal_pipe[1]);
	signal_pipe[0] = signal_pipe[1] = -1;
}

void server_flight(struct server *server, const struct flight_wish *wish)
{
	server->flight = *wish;
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
	return socket_listen_as(paths->read_only, paths->group, &server->read_only, problem);
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
	made->also = -1;
	result = 0;
	if (paths->control == NULL || paths->control[0] != '\0')
		result = socket_listen(paths->control != NULL ? paths->control : usual,
		                       &made->listener, problem);
	if (result != 0)
		goto err_free;
	result = read_only_open(made, paths, problem);
	if (result != 0)
		goto err_unlisten;
	result = server_signals_take(made);
	if (result != 0) {
		problem_set(problem, -1, "no pipe for signals: %s", strerror(-result));
		goto err_unlisten;
	}
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

static void server_drop(struct server *server, uint32_t index)
{
	client_free(server->clients[index]);
	server->clients[index] = server->clients[--server->n_clients];
}

static void server_empty(struct server *server)
{
	while (server->n_clients > 0)
		server_drop(server, 0);
	while (server->n_waiting > 0)
		client_free(server->waiting[--server->n_waiting]);
}

void server_close(struct server *server)
{
	if (server == NULL)
		return;
	server_empty(server);
	socket_unlisten(&server->read_only);
	socket_unlisten(&server->listener);
	server_signals_give_back(server);
	free(server);
}

#define RANK_MAX 2

/* Returns the rank of a client: 2 for root and the user that runs weir, 1 for others, 0 for
 * read-only clients. */
static int client_rank(const struct client *client)
{
	return client->trusted ? RANK_MAX : !client->read_only;
}

/* Returns true if `one` gives way before `other`. */
static bool client_goes_before(const struct client *one, const struct client *other)
{
	if (client_rank(one) != client_rank(other))
		return client_rank(one) < client_rank(other);
	return client_active_ns(one) < client_active_ns(other);
}

/* Returns the index of the client that gives way to a new one of this rank: among the clients of
 * the lowest rank, and of no rank above the new one's, the one that was silent for longest, and
 * one that waits for its answer last. To its like none gives way while it waits, nor before
 * SERVER_SILENT_NS. Returns n_clients if there is none. */
static uint32_t server_silent(const struct server *server, int rank, uint64_t now_ns)
{
	uint32_t found = server->n_clients;

	for (uint32_t i = 0; i < server->n_clients; i++) {
		const struct client *client = server->clients[i];
		uint64_t active_ns = client_active_ns(client);

		if (client_rank(client) > rank ||
		    (client_rank(client) == rank &&
		     (active_ns == UINT64_MAX || now_ns < active_ns + SERVER_SILENT_NS)))
			continue;
		if (found == server->n_clients ||
		    client_goes_before(client, server->clients[found]))
			found = i;
	}
	return found;
}

/* Gives a client a place. Returns false if there is none yet. The client that goes is told why, as
 * far as its socket takes that at once. */
static bool server_admit(struct server *server, struct client *client, uint64_t now_ns)
{
	if (server->n_clients == SERVER_CLIENTS_MAX) {
		uint32_t index = server_silent(server, client_rank(client), now_ns);

		if (index == server->n_clients)
			return false;
		client_dismiss(server->clients[index],
		               "this client was silent for longest, and another client needs its "
		               "place; connect again");
		server_drop(server, index);
	}
	server->clients[server->n_clients++] = client;
	return true;
}

/* Tells a client that waits why it gets no place. */
static void server_send_away(struct server *server, uint32_t waiting)
{
	struct client *client = server->waiting[waiting];

	client_dismiss(
	        client,
	        client->read_only
	                ? "16 clients are connected, which is the maximum; try again when one has "
	                  "left"
	                : "16 clients of root or of the user that runs weir are connected, which "
	                  "is the maximum; try again when one has left");
	client_free(client);
	server->n_waiting--;
	memmove(&server->waiting[waiting], &server->waiting[waiting + 1],
	        (server->n_waiting - waiting) * sizeof(server->waiting[0]));
}

/* Gives places to those that wait. Those to which clients of a higher rank may never give way do
 * not wait for ever. */
static void server_seat(struct server *server, uint64_t now_ns)
{
	for (int rank = RANK_MAX; rank >= 0; rank--) {
		for (uint32_t i = 0; i < server->n_waiting;) {
			struct client *client = server->waiting[i];

			if (client_rank(client) != rank) {
				i++;
			} else if (server_admit(server, client, now_ns)) {
				server->n_waiting--;
				memmove(&server->waiting[i], &server->waiting[i + 1],
				        (server->n_waiting - i) * sizeof(server->waiting[0]));
			} else if (rank < RANK_MAX &&
			           now_ns >= client_active_ns(client) + SERVER_WAIT_NS) {
				server_send_away(server, i);
			} else {
				i++;
			}
		}
	}
}

/* Returns the index of the client that gives way if too many wait: the last one of the lowest
 * rank. */
static uint32_t server_last(const struct server *server)
{
	uint32_t last = 0;

	for (uint32_t i = 1; i < server->n_waiting; i++) {
		if (client_rank(server->waiting[i]) <= client_rank(server->waiting[last]))
			last = i;
	}
	return last;
}

/* Returns true if one more may wait. If not, it waits in the queue of the listener. */
static bool server_takes(const struct server *server)
{
	return server->n_waiting < SERVER_WAITING_MAX ||
	       client_rank(server->waiting[server_last(server)]) < RANK_MAX;
}

static void server_accept(struct server *server, const struct socket_listener *listener,
                          struct control *control, uint64_t now_ns)
{
	struct client *client;
	int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0) {
		/* Out of descriptors or memory. The listener stays readable, so it is not polled
		 * for a while. */
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			server->no_accept_until_ns = now_ns + SIMTIME_S;
		return;
	}
	client = client_make(fd, control, listener == &server->read_only, now_ns);
	if (client == NULL) {
		close(fd);
		return;
	}
	if (server->n_waiting == SERVER_WAITING_MAX)
		server_send_away(server, server_last(server));
	server->waiting[server->n_waiting++] = client;
}

/* ---- rounds ---- */

static int server_signalled(void)
{
	unsigned char number;

	signals_waiting = 0;
	if (read(signal_pipe[0], &number, 1) == 1)
		return number;
	/* The pipe may be empty. An error in reading it must not keep weir from ending. */
	return errno == EAGAIN || errno == EINTR ? 0 : SIGTERM;
}

/* The order of the polled descriptors: these, and then the clients. */
enum {
	POLLED_SIGNALS,
	POLLED_LISTENER,
	POLLED_READ_ONLY,
	POLLED_EXECUTOR,
	POLLED_ALSO,
	POLLED_CLIENTS
};

static bool server_poll(struct server *server, const struct control *control, struct pollfd *polled,
                        uint64_t now_ns, int timeout_ms)
{
	const bool takes = now_ns >= server->no_accept_until_ns && server_takes(server);

	polled[POLLED_SIGNALS] = (struct pollfd){.fd = signal_pipe[0], .events = POLLIN};
	polled[POLLED_LISTENER] =
	        (struct pollfd){.fd = takes ? server->listener.fd : -1, .events = POLLIN};
	polled[POLLED_READ_ONLY] =
	        (struct pollfd){.fd = takes ? server->read_only.fd : -1, .events = POLLIN};
	polled[POLLED_EXECUTOR] =
	        (struct pollfd){.fd = executor_fd(control->executor), .events = POLLIN};
	polled[POLLED_ALSO] = (struct pollfd){.fd = server->also, .events = POLLIN};
	for (uint32_t i = 0; i < server->n_clients; i++) {
		const struct client *client = server->clients[i];

		/* A descriptor without events is not polled: poll() would report its hang-up again
		 * and again. */
		polled[POLLED_CLIENTS + i].events = client_events(client, now_ns, &timeout_ms);
		polled[POLLED_CLIENTS + i].fd = polled[POLLED_CLIENTS + i].events ? client->fd : -1;
		polled[POLLED_CLIENTS + i].revents = 0;
	}
	return poll(polled, POLLED_CLIENTS + server->n_clients, timeout_ms) >= 0;
}

int server_round(struct server *server, struct control *control, uint64_t now_ns, int timeout_ms)
{
	struct pollfd polled[POLLED_CLIENTS + SERVER_CLIENTS_MAX];

	if (!server_poll(server, control, polled, now_ns, timeout_ms)) {
		if (errno != EINTR)
			return -errno;
		return server_signalled();
	}
	if (polled[POLLED_EXECUTOR].revents & POLLIN)
		executor_drain(control->executor);
	control_tick(control, now_ns);
	/* from the last to the first: dropping one moves the last into its place */
	for (uint32_t i = server->n_clients; i-- > 0;)
		if (!client_serve(server->clients[i], polled[POLLED_CLIENTS + i].revents, now_ns))
			server_drop(server, i);
	if (polled[POLLED_LISTENER].revents & POLLIN)
		server_accept(server, &server->listener, control, now_ns);
	if (polled[POLLED_READ_ONLY].revents & POLLIN && server_takes(server))
		server_accept(server, &server->read_only, control, now_ns);
	server_seat(server, now_ns);
	return polled[POLLED_SIGNALS].revents & POLLIN ? server_signalled() : 0;
}

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SIMTIME_S + (uint64_t)now.tv_nsec;
}

static void server_tell(void *argument, enum run_log_level level, const char *line)
{
	(void)argument;
	run_log(level, "%s", line);
}

/* What is watched besides the clients. */
struct watches {
	struct loss_watch losses;
	struct schedule_watch schedules;
};

/* Tells a service manager that all is well: control runs, and every worker has polled since the
 * last time. */
struct vouching {
	uint64_t every_ns, next_ns; /* every_ns 0: no manager watches */
};

static void vouch(struct vouching *vouching, struct runtime *runtime, uint64_t now_ns)
{
	if (vouching->every_ns == 0 || now_ns < vouching->next_ns || !runtime_came_round(runtime))
		return;
	supervisor_tell("WATCHDOG=1");
	vouching->next_ns = now_ns + vouching->every_ns;
}

static void watches_step(struct watches *watches, struct control *control)
{
	loss_watch_step(&watches->losses, control);
	schedule_watch_step(&watches->schedules, control);
}

static void watches_release(struct watches *watches)
{
	loss_watch_release(&watches->losses);
	schedule_watch_release(&watches->schedules);
}

/* A server that serves, from server_begin to server_end. */
struct serving {
	struct server *server;
	struct runtime *runtime;
	struct executor *executor;
	struct control control;
	struct reload reload;
	struct keep keep;
	struct watches watches;
	struct vouching vouching;
	bool reloads, reverts;
	uint64_t tick_ns;
};

static void server_tell_event(void *argument, const struct runtime_event *event)
{
	event_of_runtime(argument, event);
}

/* Sends the last events to the clients, as far as their sockets take them at once. */
static void server_part(struct server *server, struct control *control, int number, uint64_t now_ns)
{
	/* That its command has ended, a user sees without the log. */
	event_stopped(control, number == 0 ? RUN_LOG_INFO : RUN_LOG_NOTICE,
	              number < 0    ? "poll() failed"
	              : number == 0 ? "the command has ended"
	                            : strsignal(number));
	for (uint32_t i = server->n_clients; i-- > 0;)
		if (session_wants_push(server->clients[i]->session))
			client_serve(server->clients[i], POLLOUT, now_ns);
}

/* Returns true if the signal is a request to read the file again. The kernel sends SIGHUP, too,
 * when a terminal is closed. */
static bool asks_to_reload(const struct server *server, int number)
{
	return number == SIGHUP && (!server->from_terminal || has_terminal());
}

int server_begin(struct server *server, struct runtime *runtime, struct scenario **scenario,
                 const char *config, const struct keep_file *kept, struct serving **result)
{
	struct serving *serving = calloc(1, sizeof(*serving));
	struct executor *executor = serving != NULL ? executor_make() : NULL;

	if (executor == NULL) {
		int error = serving != NULL ? -errno : -ENOMEM;

		free(serving);
		return error;
	}
	server_signals_handle(server, false);
	serving->server = server;
	serving->runtime = runtime;
	serving->executor = executor;
	control_init(&serving->control, &control_ops_runtime, runtime, scenario);
	serving->control.executor = executor;
	serving->control.recording = runtime_recording(runtime);
	if (runtime_recording(runtime) != NULL && recording_is_flight(runtime_recording(runtime)))
		serving->control.flight = flight_dumps_make(&serving->control, &server->flight);
	serving->control.leases = leases_make(&serving->control);
	serving->vouching.every_ns = supervisor_watchdog_ns();
	event_started(&serving->control);
	keep_init(&serving->keep, &serving->control, kept);
	reload_init(&serving->reload, &serving->control, config, server_tell, NULL);
	*result = serving;
	return 0;
}

void server_when_taken(struct serving *serving, void (*taken)(void *argument), void *argument)
{
	serving->control.when_taken = taken;
	serving->control.when_taken_argument = argument;
}

void server_dump_flight(struct serving *serving)
{
	flight_dumps_signal(&serving->control);
}

int server_step(struct serving *serving, int also, int wait_ms)
{
	struct server *server = serving->server;
	struct control *control = &serving->control;
	uint64_t now_ns = clock_ns();
	int own_ms, result;

	if (now_ns >= serving->tick_ns) {
		runtime_tick(serving->runtime, server_tell_event, control);
		watches_step(&serving->watches, control);
		vouch(&serving->vouching, serving->runtime, now_ns);
		if (control->recording)
			event_of_recording(control);
		serving->tick_ns = now_ns + SERVER_TICK_NS;
	}
	own_ms = serving->reloads || serving->reverts
	                 ? RELOAD_MS
	                 : (int)((serving->tick_ns - now_ns) / SIMTIME_MS) + 1;
	server->also = also;
	if (control->flight != NULL)
		flight_dumps_poll(control->flight);
	result = server_round(server, control, now_ns,
	                      wait_ms >= 0 && wait_ms < own_ms ? wait_ms : own_ms);
	now_ns = clock_ns();
	if (asks_to_reload(server, result)) {
		keep_read(&serving->keep);
		reload_ask(&serving->reload, now_ns);
		result = 0;
	}
	if (result == SIGUSR1) {
		server_dump_flight(serving);
		result = 0;
	}
	serving->reloads = reload_poll(&serving->reload, now_ns);
	keep_poll(&serving->keep, serving->reloads);
	serving->reverts = control->leases != NULL && leases_poll(control->leases, now_ns);
	return result;
}

void server_end(struct serving *serving, int why)
{
	struct server *server = serving->server;
	struct control *control = &serving->control;

	server_part(server, control, why, clock_ns());
	reload_release(&serving->reload);
	leases_stop(control->leases);
	flight_dumps_free(control->flight);
	control->flight = NULL;
	server_empty(server); /* the sessions refer to `control`, which ends here */
	/* The jobs under way have a low priority; now they have the workers' processors to
	 * themselves. */
	runtime_halt(serving->runtime);
	if (!control_close(control, CONTROL_PATIENCE_NS)) {
		/* A job waits for a file on a disk that does not answer. Nothing that it uses may
		 * be freed. */
		run_log(RUN_LOG_ERROR, "a change under way does not finish: weir ends without it, "
		                       "and without the final accounts");
		server_close(server);
		_exit(1);
	}
	keep_end(&serving->keep, why > 0);
	leases_free(control->leases);
	watches_release(&serving->watches);
	executor_close(serving->executor, EXECUTOR_PATIENCE_NS);
	free(serving);
}

int server_serve(struct server *server, struct runtime *runtime, struct scenario **scenario,
                 const char *config, const struct keep_file *kept)
{
	struct serving *serving;
	int result = server_begin(server, runtime, scenario, config, kept, &serving);

	if (result != 0)
		return result;
	while (result == 0)
		result = server_step(serving, -1, -1);
	server_end(serving, result);
	return result;
}
