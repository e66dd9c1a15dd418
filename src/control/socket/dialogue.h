/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The commands of one conversation, line by line: what each does, and what it answers. session.h
 * has the protocol, and handles the bytes. A line that takes long becomes a pending line
 * (pending.h).
 *
 * Thread: control's.
 */
#ifndef WEIR_DIALOGUE_H
#define WEIR_DIALOGUE_H

#include <stdbool.h>

#include "service/answer.h"
#include "socket/batch.h"
#include "service/control.h"
#include "socket/pending.h"
#include "socket/capture.h"
#include "socket/client_files.h"
#include "service/peer.h"
#include "socket/probe.h"
#include "socket/subscription.h"

#define DIALOGUE_DESCRIPTORS 16

struct dialogue {
	struct control *control;
	uint64_t now_ns;
	struct output output; /* answers are appended */
	bool over;            /* after `quit` */
	bool read_only;       /* it may change nothing */
	struct peer who;
	struct subscription subscription;
	uint64_t lease_ns; /* of the batch that has begun; 0: its change is permanent */
	uint64_t lease;    /* the number of this conversation's lease; 0: none */
	bool reverting;    /* waits until the lease is undone */
	bool in_batch;
	bool not_begun;         /* `begin` was refused: its lines are no single changes */
	struct batch batch;     /* all zero outside a batch */
	struct pending pending; /* if under way, no line is taken before it is answered */
	struct probe probe;     /* likewise */
	struct capture capture;
	struct client_files client_files;
	bool hands_over; /* the line was `file`: the files handed over are kept for the next line */
	uint32_t n_descriptors;
	int descriptors[DIALOGUE_DESCRIPTORS]; /* received, and not taken by a `file` line yet */
};

void dialogue_release(struct dialogue *dialogue);
/* Executes a line, without its end, and answers it exactly once, now or at a later poll. */
void dialogue_line(struct dialogue *dialogue, const char *line);
/* Puts a scenario file that weir opens itself in force, as a line would, with one answer. */
void dialogue_load(struct dialogue *dialogue, const char *path);
/* Continues what is under way, at the new `now_ns`. */
void dialogue_poll(struct dialogue *dialogue);
bool dialogue_pending(const struct dialogue *dialogue);
/* Answers an error to a line that could not be taken. The line counts in a batch. */
void dialogue_bad_line(struct dialogue *dialogue, const char *code, const char *message);
/* Takes a descriptor that came with the bytes. */
void dialogue_descriptor(struct dialogue *dialogue, int fd);

/* ---- for pending.c and capture.c ---- */

/* Returns the oldest descriptor that was received, and its ownership; -1 if there is none. */
int dialogue_descriptor_take(struct dialogue *dialogue);

void dialogue_error(struct dialogue *dialogue, const char *name, const char *code,
                    const char *message);
/* Answers an error. It makes the batch wrong if one has begun. */
void dialogue_batch_error(struct dialogue *dialogue, const struct batch_error *error);
void dialogue_language_error(struct dialogue *dialogue, const char *line,
                             const struct language_error *wrong);
/* Answers that there was no memory for the whole answer. */
void dialogue_no_answer(struct dialogue *dialogue);
/* What the answer to a change says besides `ok`. */
struct dialogue_done {
	const char *late; /* the message about workers that stand still, or NULL */
	const char *was;  /* the lines that it has replaced (difference_text.h), or NULL */
	const struct command
	        *command; /* a netem line: the statements that it has become; or NULL */
};
/* Answers a change that is done. */
void dialogue_done(struct dialogue *dialogue, const struct dialogue_done *done);
/* Answers a change with a lease that is done. */
void dialogue_leased(struct dialogue *dialogue, uint64_t lease_ns);

#endif
