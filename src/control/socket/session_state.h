/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a conversation, for the files that execute its lines: session.c (bytes and lines),
 * session_change.c (changes, batches, leases, files), session_look.c and probe.c (what is shown),
 * and session_push.c (what is pushed).
 *
 * Thread: the session's.
 */
#ifndef WEIR_SESSION_STATE_H
#define WEIR_SESSION_STATE_H

#include "service/answer.h"
#include "socket/change.h"
#include "socket/session.h"

#define SESSION_DESCRIPTORS 16

struct sampler;
struct tap;

/* Bits of `line_now`; from SESSION_LINE_NUMBER on, the number of the line in its batch. */
#define SESSION_LINE_JSON   1u
#define SESSION_LINE_FLIGHT 2u
#define SESSION_LINE_NUMBER 2

struct session {
	struct control *control;
	struct asker asker; /* passed to whatever waits; calls `outer` */
	struct asker outer; /* who waits for the lines */
	int wake;
	struct output output; /* answers are appended */
	size_t answer_at;     /* in the output: where the answer to this line begins */
	bool over;
	bool read_only; /* it may change nothing */
	struct peer who;
	bool listens; /* to events */
	uint64_t next_event;
	struct sampler *sampler; /* NULL: no samples */
	uint64_t progress;       /* atomic, like the next */
	uint64_t line_now;       /* what another thread may have to know: SESSION_LINE_... */
	/* changes */
	bool in_batch;
	bool not_begun; /* `begin` was refused: its lines are no single changes */
	struct batch batch;
	uint64_t lease_ns; /* of the batch that has begun; 0: its change is permanent */
	uint64_t lease;    /* the number of this conversation's lease; 0: none */
	struct client_files client_files;
	bool hands_over; /* the line was `file`: the files handed over are kept for the next line */
	uint32_t n_descriptors;
	int descriptors[SESSION_DESCRIPTORS]; /* received, and not taken by a line yet */
	struct tap *tap;                      /* of the capture; NULL: there is none */
	/* bytes */
	const struct words *words; /* of the line under way */
	bool skipping;             /* skips the rest of a line that was too long */
	size_t line_n;
	char line[SESSION_LINE_MAX + 2]; /* that under way, or its beginning; with a CR, and a 0 */
};

void session_error(struct session *session, const char *name, const char *code,
                   const char *message);
void session_error_at(struct session *session, uint32_t column, const char *name, const char *code,
                      const char *message);
/* Answer an error. They make the batch wrong if one has begun. */
void session_batch_error(struct session *session, const struct answer_error *error);
void session_language_error(struct session *session, const struct language_error *wrong);
void session_wrong(struct session *session, uint32_t column, const char *code, const char *format,
                   ...) __attribute__((format(printf, 4, 5)));
/* Notes which line is under way. */
void session_line_note(struct session *session, bool flight);
/* Returns the oldest descriptor that was received, and its ownership; -1 if there is none. */
int session_descriptor_take(struct session *session);

/* ---- the lines; each answers the one under way ---- */

/* session_change.c */
void session_begin(struct session *session);
void session_begin_lease(struct session *session);
void session_renew(struct session *session);
void session_keep(struct session *session);
void session_revert(struct session *session);
void session_commit(struct session *session);
void session_abort(struct session *session);
void session_file(struct session *session);
/* An edit, or a line of the batch. */
void session_edit(struct session *session, const struct command *command);
void session_clear(struct session *session, const struct command *command);
/* Ends the batch and the lease of a conversation that is over. */
void session_change_end(struct session *session);

/* session_look.c, probe.c */
void session_hello(struct session *session);
void session_capture(struct session *session);
void session_flight(struct session *session);
void session_show(struct session *session, const struct command *command);
void session_probe(struct session *session, const struct command *command);
/* Ends the capture, if there is one. */
void session_capture_end(struct session *session);

/* session_push.c */
void session_events(struct session *session);
void session_sample(struct session *session);
void session_push_end(struct session *session);

#endif
