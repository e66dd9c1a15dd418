/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client of the control socket: its connection, its session, and the thread that reads, executes
 * and answers its lines.
 *
 * The thread waits in two situations: for its client, and within a line, for whatever the line
 * takes. Meanwhile the main thread may take the connection away (connection_take): it sends a last
 * message, and the thread frees the connection when it notices. It does so at once, unless a file
 * that it reads is on a disk that does not answer. So no client keeps its place by a line that does
 * not end.
 *
 * Times are those of the server's rounds (control->round_ns).
 *
 * Ownership: connection_make and connection_free; a connection that was taken away belongs to its
 * thread.
 * Thread: main.
 */
#ifndef WEIR_CONNECTION_H
#define WEIR_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "live/runtime.h"

#define CONNECTION_WORK_NS  (20 * SIMTIME_S)  /* for a line, without what it waits for */
#define CONNECTION_STALL_NS (30 * SIMTIME_S)  /* an answer waits, and nothing of it is read */
#define CONNECTION_IDLE_NS  (600 * SIMTIME_S) /* without a line */
/* The most lines that were given up and do not end. */
#define CONNECTION_GIVEN_UP_MAX 8

struct connection;
struct control;

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
