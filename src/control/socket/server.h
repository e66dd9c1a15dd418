/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control socket of a live emulator: a UNIX stream socket that takes lines of the scenario
 * language and answers each (session.h has the protocol).
 *
 * The main thread accepts clients, and serves none: each has a thread of its own (connection.c).
 * Everything is bounded: SERVER_CLIENTS_MAX clients, lines of SESSION_LINE_MAX bytes, the time
 * without input, answers that a client does not read.
 *
 * One more client waits for a place, unanswered: until a client leaves, or has been silent for
 * SERVER_SILENT_NS and gives way. A client whose line is under way keeps its place among its
 * like. Root and the user that runs weir come before others, which give way to them at once,
 * whatever they do, so nobody can lock them out; to others they need not give way, so after
 * SERVER_WAIT_NS others are sent away.
 *
 * Signals: from server_open to server_close SIGINT and SIGTERM end server_serve. SIGHUP reads the
 * scenario file again (keep.h), unless it was ignored, as by nohup; but it ends server_serve if
 * it was sent because the terminal from which weir was started has gone. SIGUSR1 dumps the flight,
 * if there is one. A signal that arrives while the runtime is being started is not lost; until
 * server_begin, SIGINT and SIGTERM also interrupt the opening of a pipe whose other end nobody has
 * opened. Up to three signals that end server_serve wait until it takes them; a fourth ends the
 * process by its default action.
 *
 * Thread: main.
 */
#ifndef WEIR_SERVER_H
#define WEIR_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "scenario/problem.h"
#include "scenario/scenario.h"
#include "stream/flight_dumps.h"

#define SERVER_CLIENTS_MAX 16
#define SERVER_WAITING_MAX 64 /* further ones wait in the queue of the listener */
#define SERVER_SILENT_NS   SIMTIME_S
#define SERVER_WAIT_NS     (10 * SIMTIME_S)
#define SERVER_TICK_NS     (100 * SIMTIME_MS)

struct control;
struct keep_file;
struct runtime;
struct server;

/* The paths at which the server listens. */
struct server_paths {
	const char *control;   /* NULL: socket_default_path; "": none */
	const char *read_only; /* for clients that may look but change nothing; NULL: none */
	const char *group; /* of the read-only socket, by its name or number; NULL: weir's own */
};
/* Makes the sockets. This happens before anything is started, so that a socket in use is found
 * before a port is touched. A stale socket is replaced. Returns 0, or -errno with problem:
 * -EADDRINUSE (another weir answers there: its pid; or both are one), -EEXIST (a file that is no
 * socket), -EACCES, -ENAMETOOLONG, ... */
int server_open(const struct server_paths *paths, struct server **server, struct problem *problem);
/* Return the path of a socket; NULL if there is no read-only one. */
const char *server_path(const struct server *server);
const char *server_path_read_only(const struct server *server);

/* ---- serving.c ---- */

/* Serves until a signal arrives. Returns its number, or -errno. `config`: the scenario file, for
 * SIGHUP. `kept`: the file that keeps the scenario in force (keep.h); NULL: none. `scenario` is the
 * one in force; every change replaces it by its successor, and the caller owns it again afterwards.
 * Events of the runtime (stalls, links down and up) go to the log (run_log.h). */
int server_serve(struct server *server, struct runtime *runtime, struct scenario **scenario,
                 const char *config, const struct keep_file *kept);

/* server_serve in parts, for a command that also waits for other things. Between two steps the
 * caller may read the scenario and the runtime: nothing is posted meanwhile (control.h). */
struct serving;

/* Sets when a flight is dumped, and where; to be called before server_begin. The strings in `wish`
 * remain the caller's. */
void server_flight(struct server *server, const struct flight_wish *wish);

/* Returns 0, -ENOMEM, or -errno if no thread can be started. */
int server_begin(struct server *server, struct runtime *runtime, struct scenario **scenario,
                 const char *config, const struct keep_file *kept, struct serving **serving);
/* From now on calls `taken`, in the thread of server_step, when all workers have taken a change;
 * nothing that the change has replaced is freed yet. */
void server_when_taken(struct serving *serving, void (*taken)(void *argument), void *argument);
/* Does one round: waits for clients, or until the descriptor `also` (-1: none) is readable, for at
 * most `wait_ms` (-1: no limit of the caller's). Returns 0, the number of a signal that arrived, or
 * -errno. */
int server_step(struct serving *serving, int also, int wait_ms);
/* Dumps the flight, as SIGUSR1 does, for a command that blocks this signal. */
void server_dump_flight(struct serving *serving);
/* Halts the runtime, and frees everything. `why`: the result of the last step. */
void server_end(struct serving *serving, int why);

/* ---- server.c: what server_serve consists of; tests call it with a clock of their own ---- */

/* Does one round: waits up to `timeout_ms` for something to happen, or until `also` is readable;
 * then accepts clients, gives them places, and times them out. `now_ns` is the instant of the round
 * on any monotone clock. Returns the number of a signal that arrived, 0, or -errno. */
int server_round(struct server *server, struct control *control, uint64_t now_ns, int also,
                 int timeout_ms);
uint32_t server_clients(const struct server *server);
/* Lets all clients end when their lines are answered, and the last events are sent. */
void server_quit(struct server *server);
/* Ends what is left of them. */
void server_empty(struct server *server);

/* Installs the handlers. If `starting`, SIGINT and SIGTERM interrupt system calls: opening a pipe
 * may wait for its other end. */
void server_handle_signals(const struct server *server, bool starting);
/* Returns true if weir had a controlling terminal when it was started, and has it no more. */
bool server_lost_terminal(const struct server *server);
const struct flight_wish *server_flight_wish(const struct server *server);

/* Closes the clients, removes the sockets, restores the signal handlers. NULL is allowed. */
void server_close(struct server *server);

/* ---- connection.c: a client, its session, and the thread that serves it ---- */

/* The thread reads, executes and answers the client's lines. It waits in two situations: for its
 * client, and within a line, for whatever the line takes. Meanwhile the main thread may take the
 * connection away (connection_take): it sends a last message, and the thread frees the connection
 * when it notices. It does so at once, unless a file that it reads is on a disk that does not
 * answer. So no client keeps its place by a line that does not end.
 *
 * Times are those of the server's rounds (control->round_ns). Ownership: connection_make and
 * connection_free; a connection that was taken away belongs to its thread. */
#define CONNECTION_WORK_NS  (20 * SIMTIME_S)  /* for a line, without what it waits for */
#define CONNECTION_STALL_NS (30 * SIMTIME_S)  /* an answer waits, and nothing of it is read */
#define CONNECTION_IDLE_NS  (600 * SIMTIME_S) /* without a line */
/* The most lines that were given up and do not end. */
#define CONNECTION_GIVEN_UP_MAX 8

struct connection;

/* Takes the socket, which is non-blocking. Returns NULL if there is no memory or no descriptor;
 * then the socket remains the caller's. */
struct connection *connection_make(int fd, struct control *control, bool read_only);
/* Starts the thread. Returns 0 or -EAGAIN. */
int connection_start(struct connection *connection);
/* Frees a connection that has no thread: it was not started, or it is over. */
void connection_free(struct connection *connection);

/* Returns the rank of the client: CONNECTION_RANK_MAX for root and the user that runs weir, 1 for
 * others, 0 for read-only clients. */
#define CONNECTION_RANK_MAX 2
int connection_rank(const struct connection *connection);
/* Returns the instant since which the client has been silent, or has waited for a thread;
 * UINT64_MAX while it waits for an answer. */
uint64_t connection_silent_ns(struct connection *connection);
/* Returns true when the thread has ended. */
bool connection_is_over(const struct connection *connection);

/* Sends the reason why the client is closed to a client that has no thread yet. */
void connection_send_away(struct connection *connection, const char *why);
/* Takes the connection away from a client that has a thread, and tells the client why, as far as
 * its socket takes that at once. Returns false if that is not possible at this moment. */
bool connection_take(struct connection *connection, const char *why);
/* Takes it away if it is idle, does not read, or is busy with one line for too long. Returns
 * whether that was done. */
bool connection_time_out(struct connection *connection, uint64_t now_ns);
/* Lets the thread end when its line is answered, and what was to be pushed is sent. */
void connection_quit(struct connection *connection);

#endif
