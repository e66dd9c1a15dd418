/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `capture CLOUD|PORT|all [POINTS] [match EXPRESSION] [snap N]`, with the descriptor of a memory.
 * Workers put the fates of packets into this memory (capture/fate_ring.h) from the answer on, until
 * the conversation ends or receives `capture off`. A conversation has one capture at a time.
 *
 * Making the tap (live/tap.h) may take long, so a thread does it; the answer comes when every
 * worker has the tap. Control reads nothing of the memory, and sends nothing: a slow client loses
 * packets of its own capture, which are counted in that memory.
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
	bool waits;      /* the answer waits until every worker has the tap */
};

/* Executes a line that begins with `capture`. Answers now, or when the capture is on. */
void capture_line(struct dialogue *dialogue, const char *line, const struct words *words);
/* Takes over the tap that the thread has made, or answers its error. */
void capture_made(struct dialogue *dialogue, struct request *request);
void capture_poll(struct dialogue *dialogue);
/* Ends the capture, if there is one. */
void capture_end(struct dialogue *dialogue);

#endif
