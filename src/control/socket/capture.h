/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `capture CLOUD|PORT|all [POINTS] [match EXPRESSION] [snap N]`, with the descriptor of the memory
 * into which workers put what happens (capture/fate_ring.h): from its answer on, until the
 * conversation ends, or says `capture off`. A conversation has one at a time.
 *
 * Making the tap (live/tap.h) may take long, and is a thread's; then it is waited for until every
 * worker has it. Control reads nothing of the memory, and sends nothing: a client that is slow
 * loses packets of its own capture, which are counted there.
 *
 * Thread: control's.
 */
#ifndef WEIR_SOCKET_CAPTURE_H
#define WEIR_SOCKET_CAPTURE_H

#include <stdbool.h>

#include "text/word.h"

struct dialogue;
struct request;
struct tap;

struct capture {
	struct tap *tap; /* NULL: there is none */
	bool waits;      /* until it is on */
};

/* The words begin with `capture`. Answers, now or when it is on. */
void capture_line(struct dialogue *dialogue, const char *line, const struct words *words);
/* The thread has made it, or has not. */
void capture_made(struct dialogue *dialogue, struct request *request);
void capture_poll(struct dialogue *dialogue);
/* It ends, if there is one. */
void capture_end(struct dialogue *dialogue);

#endif
