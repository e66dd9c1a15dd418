/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The commands of one conversation, line by line: what each does, and what is answered. session.h
 * has the protocol; the bytes are its business.
 *
 * Thread: control's.
 */
#ifndef WEIR_DIALOGUE_H
#define WEIR_DIALOGUE_H

#include <stdbool.h>

#include "answer.h"
#include "batch.h"
#include "control.h"
#include "probe.h"

struct dialogue {
	struct control *control;
	struct output output; /* answers are appended */
	bool over;            /* by `quit` */
	bool in_batch;
	struct batch batch; /* all zero without one */
	struct probe probe; /* under way: no line is taken before it is answered */
};

void dialogue_release(struct dialogue *dialogue);
/* Executes a line, without its end, and answers it, once. */
void dialogue_line(struct dialogue *dialogue, const char *line);
/* Answers a probe that is over. */
void dialogue_poll(struct dialogue *dialogue);
/* A line that could not even be taken: counts as one, and answers an error. */
void dialogue_bad_line(struct dialogue *dialogue, const char *code, const char *message);

#endif
