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
 *   JSON (`json on`)  one object on one line. In case of an error:
 *                     {"ok":false,"error":{"name":..,"code":..,"column":..,"message":..}}; column
 *                     counts characters from 1, and 0 means the whole line; in a batch also
 *                     "line", from 1 after `begin`. Otherwise {"ok":true}, perhaps with more
 *                     members, or for `show cloud NAME` the cloud's object itself. `json off`
 *                     returns to text. The answer to a change of the mode is in the new mode.
 *
 * After `begin whole` the lines of the batch are a whole scenario, like those of a file: at
 * `commit` it replaces the scenario in force (change.h).
 *
 * Commands: those of the scenario language, each a change; show, probe, help, clear counters; json
 * on|off; begin, commit, abort; file; quit. A line that takes long is answered when it is done,
 * `probe` when routers have answered: meanwhile no other line of this conversation is taken. Each
 * conversation has a thread of its own (connection.c), so the others continue.
 *
 * Files. A client names only files that it may read itself. It opens them, and sends a line `file
 * NAME` with the descriptor (SCM_RIGHTS, one with each such line): statements of the next line, or
 * of the batch, that name NAME get its content. Root, and the user that weir runs as, may omit
 * this: weir opens the files that such a client names and did not hand over, a relative name from
 * its own working directory. change.h has the limits.
 *
 * If a worker has not taken a change within CONTROL_LATE_NS, the answer is `ok`, after a line that
 * names the worker that stands still (in JSON as "late"): the change is accepted, `show config`
 * contains it, and it comes into force there when that worker polls again. Until then another
 * change is refused.
 *
 * A batch. After `begin` changes are tried on a copy and answered at once, but take effect together
 * at `commit`, or not at all: if one of the lines was wrong, commit refuses. If another client has
 * changed the scenario since, the lines are first applied again to the scenario that is in force
 * then. The end of the conversation aborts the batch.
 *
 * A change edits a copy of the scenario, the copy is checked as a whole, every worker takes it, and
 * only then is the change answered.
 *
 * Thread: one, which executes each line to its end, and waits for whatever that takes. The clock is
 * that of control->ops.
 */
#ifndef WEIR_SESSION_H
#define WEIR_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/control.h"

#define SESSION_PROTOCOL   1                  /* docs/control.md: what is stable */
#define SESSION_LINE_MAX   65536              /* bytes, without the line's end */
#define SESSION_OUTPUT_MAX (4 * 1024 * 1024)  /* bytes of answers not sent yet */
#define SESSION_WAS        "was: "            /* begins a line about what a change has replaced */
#define SESSION_BATCH_MAX  (16 * 1024 * 1024) /* bytes of the lines of a batch */

struct asker;
struct output;
struct peer;
struct session;

/* Returns NULL if there is no memory. */
struct session *session_make(struct control *control);
void session_free(struct session *session);

/* Takes bytes, executes the commands that they complete, and appends the answers to the output.
 * Returns how many bytes it took: less than n if SESSION_OUTPUT_MAX bytes of answers wait (the
 * caller offers the rest again later), or if the conversation is over. */
size_t session_feed(struct session *session, const void *bytes, size_t n);
/* Takes ownership of a descriptor that came with the bytes that are fed next. */
void session_descriptor(struct session *session, int fd);
/* Sets the peer of the conversation; whether it may change nothing; and whether it may name files
 * of weir's own. */
void session_introduce(struct session *session, const struct peer *who, bool read_only,
                       bool trusted);
/* Sets who waits for a line that takes long (control.h), and an eventfd that becomes readable when
 * there is something to push; -1: none. */
void session_attend(struct session *session, const struct asker *asker, int wake);
/* Ends the input. A last line without an end is answered with an error, and is not executed. */
void session_end(struct session *session);

/* The answers that wait. After the first n bytes of them are sent, the caller calls
 * session_taken. */
const char *session_output(const struct session *session, size_t *n);
void session_taken(struct session *session, size_t n);
/* Returns true if the session may be fed. */
bool session_ready(const struct session *session);

/* What is pushed (session_push.c). session_streams returns true if the client has asked for that,
 * or for a capture. session_wants_push continues a sample, and returns true if something is to be
 * pushed, and no answer waits; session_next_ns returns when it must be called again at the latest,
 * on the clock of control->ops. session_push pushes it if the client's socket has room; it
 * dismisses a client that has not read for so long that the next event has gone from the log. */
bool session_streams(const struct session *session);
bool session_wants_push(struct session *session);
uint64_t session_next_ns(const struct session *session);
void session_push(struct session *session, bool room);

/* Returns true after `quit`, session_end, a dismissal, or a lack of memory. The caller sends what
 * waits, then frees the session. */
bool session_over(const struct session *session);

/* Ends the conversation from this side, and answers the reason, in the mode of the conversation. */
void session_dismiss(struct session *session, const char *name, const char *message);
/* Does the same for a client that does not read what is pushed to it. */
void session_dismiss_slow(struct session *session, const char *why);

/* ---- for another thread, while the session's executes a line ---- */

/* Returns a number that grows with each line, and while a line waits for others. */
uint64_t session_progress(const struct session *session);
/* Formats the error by which the line under way is given up: why the client is dismissed, or, if
 * `name` is NULL, that the line takes too long. */
void session_give_up(const struct session *session, const char *name, const char *why,
                     struct output *output);

#endif
