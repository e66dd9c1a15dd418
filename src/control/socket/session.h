/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One conversation on the control socket: bytes in, commands executed, answers out.
 *
 * Protocol. A command is one line of text (UTF-8), ended by LF or CRLF, of SESSION_LINE_MAX bytes
 * at most. Each line gets one answer, empty lines and comments too:
 *
 *   text (at first)   lines of text, then a line `ok`; or one line
 *                     `err NAME: what is wrong, and what would be right`, NAME being the word,
 *                     cloud or port concerned. A line of text that would read as one of these is
 *                     set off by a blank before it.
 *   JSON (`json on`)  one object on one line: {"ok":false,"error":{"name":..,"code":..,"column":..,
 *                     "message":..}} when it went wrong, column counting characters from 1 and 0
 *                     meaning the whole line, in a batch also "line", from 1 after `begin`;
 *                     anything else when it went right: {"ok":true}, perhaps with more, or for
 *                     `show cloud NAME` the cloud's object itself. `json off` ends it. The answer
 *                     to a change of the mode is in the new mode.
 *
 * After `begin whole` the lines of the batch are a whole scenario, as a file has it: at `commit` it
 * takes the place of what is in force (succession.h).
 *
 * Commands: those of the scenario language, each a change; show, probe, help, clear counters; json
 * on|off; begin, commit, abort; file; quit. A line that takes long is answered when it is done,
 * `probe` when routers have answered: meanwhile no other line of this conversation is taken, and
 * other conversations go on (pending.h).
 *
 * Files. A client names only files that he may read himself. He opens them, and sends a line `file
 * NAME` with the descriptor (SCM_RIGHTS, one with each such line): statements of the next line, or
 * of the batch, that name NAME get its content. Root, and the user that weir runs as, may do
 * without: what they name and did not hand over, weir opens, a relative name from its own working
 * directory. client_files.h has the limits.
 *
 * A change that a worker has not taken within PENDING_LATE_NS is answered `ok`, after a line that
 * says who stands still (in JSON as "late"): it is accepted, `show config` says it, and it is in
 * force there when that worker comes round. Until then another change is refused.
 *
 * A batch. After `begin` changes are tried on a copy and answered at once, but take effect together
 * at `commit`, or not at all: when one of its lines was wrong, commit refuses. When another client
 * has changed the scenario since, the lines are first applied anew to what is in force now. Ending
 * the conversation aborts.
 *
 * A change edits a copy of the scenario, the copy is checked as a whole, every worker takes it, and
 * only then comes the answer.
 *
 * Time is an argument. Thread: control's.
 */
#ifndef WEIR_SESSION_H
#define WEIR_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/control.h"

#define SESSION_LINE_MAX   65536              /* bytes, without the line's end */
#define SESSION_OUTPUT_MAX (4 * 1024 * 1024)  /* bytes of answers not taken yet */
#define SESSION_BATCH_MAX  (16 * 1024 * 1024) /* bytes of the lines of a batch */

struct peer;
struct session;

/* NULL: no memory. */
struct session *session_make(struct control *control, uint64_t now_ns);
void session_free(struct session *session);

/* Takes bytes, executes the commands that they complete, appends the answers to the output. Returns
 * how many it took: less than n when SESSION_OUTPUT_MAX of answers wait (offer the rest again when
 * some are taken), or when the conversation is over. */
size_t session_feed(struct session *session, const void *bytes, size_t n, uint64_t now_ns);
/* A descriptor came with the bytes that are fed next; it passes. */
void session_descriptor(struct session *session, int fd);
/* The client may name files of weir's own. */
void session_trust(struct session *session);
/* Who it is held with; whether he may change nothing. */
void session_introduce(struct session *session, const struct peer *who, bool read_only);
/* Time passes: answers what was waited for. */
void session_poll(struct session *session, uint64_t now_ns);
/* Whether something is waited for: then it is not ready, and wants to be polled again soon. */
bool session_pending(const struct session *session);
/* No more bytes will come: a last line without an end is executed as if it had one. */
void session_end(struct session *session, uint64_t now_ns);

/* The answers that wait; `session_taken` says that the first n bytes of them were sent. */
const char *session_output(const struct session *session, size_t *n);
void session_taken(struct session *session, size_t n, uint64_t now_ns);
/* Whether it may be fed. */
bool session_ready(const struct session *session);

/* Subscriptions (subscription.h): whether it has any; whether something is to be pushed, which may
 * be done when no answer waits, and the client's socket has room; when it wants to be polled. */
bool session_streams(const struct session *session);
bool session_wants_push(const struct session *session);
void session_push(struct session *session, uint64_t now_ns);
/* It wants to, and the socket has no room: says so, and when this takes too long, dismisses. */
void session_push_late(struct session *session, uint64_t now_ns, uint64_t most_ns);
uint64_t session_next_ns(const struct session *session);

/* Over: after `quit`, session_end, or a lack of memory. Send what waits, then free it. */
bool session_over(const struct session *session);
/* For timeouts: the instant of the last input, and the instant at which the oldest waiting answer
 * began to wait (UINT64_MAX: none waits). */
uint64_t session_active_ns(const struct session *session);
uint64_t session_waiting_ns(const struct session *session);

/* Says why the conversation is ended by this side, in its mode, and ends it. */
void session_dismiss(struct session *session, const char *name, const char *message);

#endif
