/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control socket of a live emulator: a UNIX stream socket that takes lines of the scenario
 * language and answers each (session.h has the protocol).
 *
 * One thread, one poll(): control's, which waits for nothing else. Work that takes long runs in
 * other threads (pending.h). Everything is bounded: SERVER_CLIENTS_MAX clients (a new one replaces
 * the one that was silent for longest, so no client can lock others out), lines of SESSION_LINE_MAX
 * bytes, SERVER_IDLE_NS without a word, answers that a client does not read. Between polls it does
 * the housekeeping of the runtime, about every SERVER_TICK_NS.
 *
 * Signals: from server_open to server_close SIGINT and SIGTERM end server_serve. SIGHUP reads the
 * scenario file again (reload.h), unless it was ignored, as by nohup; but it ends server_serve when
 * it says that the terminal from which weir was started has gone. SIGUSR1 dumps the flight, if
 * there is one. A signal that comes while the runtime is being started is not lost. Three signals
 * that end it wait until server_serve takes them; the fourth ends the process as if it were not
 * handled.
 */
#ifndef WEIR_SERVER_H
#define WEIR_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "stream/flight_dumps.h"
#include "scenario/scenario.h"
#include "scenario/problem.h"

#define SERVER_CLIENTS_MAX 16
#define SERVER_IDLE_NS     (600 * SIMTIME_S)
#define SERVER_STALL_NS    (30 * SIMTIME_S) /* an answer waits, and nothing of it is taken */
#define SERVER_TICK_NS     (100 * SIMTIME_MS)

struct control;
struct keep_file;
struct runtime;
struct server;

/* Where it listens. */
struct server_paths {
	const char *control;   /* NULL: socket_default_path */
	const char *read_only; /* for those who may look and change nothing; NULL: none */
	const char *group; /* of the read-only socket, by its name or number; NULL: weir's own */
};
/* Makes the sockets, before anything is started, so that a socket in use is found before a port is
 * touched. A stale one is replaced. 0, or -errno with
 * problem: -EADDRINUSE (another weir answers there: its pid), -EEXIST (a file that is no socket),
 * -EACCES, -ENAMETOOLONG, ... */
int server_open(const struct server_paths *paths, struct server **server, struct problem *problem);
/* Where it listens; the read-only one may be NULL. */
const char *server_path(const struct server *server);
const char *server_path_read_only(const struct server *server);
/* Serves until a signal comes: returns its number, or -errno. `config`: the scenario file, for
 * SIGHUP. `kept`: where the scenario in force is kept (keep.h); NULL: nowhere. `scenario` is the
 * one in force; it is replaced by its successor with every change, and is the caller's again
 * afterwards. Events of the runtime (stalls, links down and up) go to the log (run_log.h). */
int server_serve(struct server *server, struct runtime *runtime, struct scenario **scenario,
                 const char *config, const struct keep_file *kept);

/* server_serve in parts, for a command that waits for other things, too. */
struct serving;

/* When a flight is dumped, and to where; before it serves. What it names is the caller's. */
void server_flight(struct server *server, const struct flight_wish *wish);

/* 0; -ENOMEM, or -errno: there is no thread for what takes long. */
int server_begin(struct server *server, struct runtime *runtime, struct scenario **scenario,
                 const char *config, const struct keep_file *kept, struct serving **serving);
/* Calls `taken` from now on, in the thread of server_step, when all workers have taken a change and
 * nothing that it has replaced is freed yet. */
void server_when_taken(struct serving *serving, void (*taken)(void *argument), void *argument);
/* One round: waits for clients, and until the descriptor `also` (-1: none) is readable, but at most
 * `wait_ms` (-1: as long as it likes). 0, the number of a signal that came, or -errno. */
int server_step(struct serving *serving, int also, int wait_ms);
/* `why`: what the last step returned. Halts the runtime, and frees. */
void server_end(struct serving *serving, int why);

/* Closes the clients, removes the socket, gives the signals back. NULL is allowed. */
void server_close(struct server *server);

/* ---- what server_serve is made of; tests call it with a clock of their own ---- */

/* One round: waits up to timeout_ms for something to happen, then accepts, reads, executes, answers
 * and times out. `now_ns` is the instant of the round on any monotone clock. Returns the number of
 * a signal that came, 0, or -errno. */
int server_round(struct server *server, struct control *control, uint64_t now_ns, int timeout_ms);
uint32_t server_clients(const struct server *server);

#endif
