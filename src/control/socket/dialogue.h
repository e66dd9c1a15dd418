/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The commands of one conversation, line by line: what each does, and what is answered. session.h
 * has the protocol; the bytes are its business. What takes long is a pending line (pending.h).
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
	bool over;            /* by `quit` */
	bool read_only;       /* it changes nothing */
	struct peer who;
	struct subscription subscription;
	uint64_t lease_ns; /* of the batch that has begun; 0: it stays */
	uint64_t lease;    /* the number of that which it has; 0: none */
	bool reverting;    /* it waits until that is undone */
	bool in_batch;
	bool not_begun; /* a batch that found no memory: its lines are not changes by themselves */
	struct batch batch;     /* all zero without one */
	struct pending pending; /* under way: no line is taken before it is answered */
	struct probe probe;     /* likewise */
	struct capture capture;
	struct client_files client_files;
	bool hands_over; /* the line was `file`: what was handed over waits for the next one */
	uint32_t n_descriptors;
	int descriptors[DIALOGUE_DESCRIPTORS]; /* came, and no `file` has taken them yet */
};

void dialogue_release(struct dialogue *dialogue);
/* Executes a line, without its end, and answers it, once, now or at a later poll. */
void dialogue_line(struct dialogue *dialogue, const char *line);
/* Puts a scenario file of weir's own in force, as a line would: one answer. */
void dialogue_load(struct dialogue *dialogue, const char *path);
/* Time passes: goes on with what is under way. */
void dialogue_poll(struct dialogue *dialogue);
bool dialogue_pending(const struct dialogue *dialogue);
/* A line that could not even be taken: counts as one, and answers an error. */
void dialogue_bad_line(struct dialogue *dialogue, const char *code, const char *message);
/* Takes a descriptor that came with the bytes. */
void dialogue_descriptor(struct dialogue *dialogue, int fd);

/* ---- for pending.c and capture.c ---- */

/* The first of those that came, which passes; -1: there is none. */
int dialogue_descriptor_take(struct dialogue *dialogue);

void dialogue_error(struct dialogue *dialogue, const char *name, const char *code,
                    const char *message);
/* One that makes the batch wrong, if there is one. */
void dialogue_batch_error(struct dialogue *dialogue, const struct batch_error *error);
void dialogue_language_error(struct dialogue *dialogue, const char *line,
                             const struct language_error *wrong);
/* There was no memory for the whole answer. */
void dialogue_no_answer(struct dialogue *dialogue);
/* A change is done: `ok`, for a line of netem's with what it has become. `late`: or NULL, what is
 * to be said. */
void dialogue_done(struct dialogue *dialogue, const struct command *command, const char *late);
/* A change for a time is done. */
void dialogue_leased(struct dialogue *dialogue, uint64_t lease_ns);

#endif
