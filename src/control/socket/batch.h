/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes of the scenario that come as lines, and become one transaction: all or nothing.
 *
 * A batch of one is what a single command is. The lines are executed on a copy as they come, so
 * that each is answered at once; batch_prepare checks the whole, and makes a transaction of it.
 * When the scenario in force is no longer the one that the copy was made of, the lines are executed
 * again on a new copy first.
 *
 * A whole batch is a scenario from its first line to its last: its lines are executed on an empty
 * one, which takes the place of what is in force (succession.h).
 *
 * Thread: any, one at a time; where `control` is read, with its leave (control_turn,
 * control_look_begin).
 */
#ifndef WEIR_BATCH_H
#define WEIR_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "language/language.h"
#include "service/control.h"

/* Of the files that a scenario names, those that came with it at the start aside: what clients may
 * make of it. */
#define BATCH_FILES_BYTES_MAX (UINT64_C(64) << 20)

struct batch {
	struct scenario *draft;
	bool whole;
	bool edited;    /* the draft was changed otherwise than by lines */
	bool own_files; /* of a whole one: its files are weir's own, and not bounded as clients' */
	uint64_t changes; /* control->changes when the draft was copied */
	char *text;       /* the lines so far, each ended by a 0 */
	size_t text_n, text_room;
	uint32_t lines;      /* seen since `begin` */
	uint32_t wrong_line; /* the first that was wrong; 0: none */
};

/* What went wrong with a batch: as answer_error, with room for its texts. */
struct batch_error {
	char name[64];
	const char *code;
	uint32_t line, column;
	char message[760];
};

/* 0, or -ENOMEM. */
int batch_begin(struct batch *batch, const struct control *control);
int batch_begin_whole(struct batch *batch);
/* A whole batch of all lines of a file, which this process opens. 0, or -errno with error, and then
 * there is no batch. */
int batch_of_file(struct batch *batch, const char *path, struct batch_error *error);
/* Gives everything back; the batch is as if it had never begun. */
void batch_abort(struct batch *batch);

/* Executes a line, an edit that has been parsed, on the copy, and keeps it. `bytes_max`: of the
 * lines kept. 0, or -errno with error: the copy is as it was. */
int batch_edit(struct batch *batch, const char *line, const struct command *command,
               size_t bytes_max, struct batch_error *error);
/* Makes what puts the copy in force: batch->draft goes with it. NULL: the batch changes nothing. 0,
 * or -errno with error. */
int batch_prepare(struct batch *batch, struct control *control, struct transaction **transaction,
                  struct batch_error *error);

/* An error of the language as one of a batch: which word it is about. */
void batch_error_language(struct batch_error *error, const char *line,
                          const struct language_error *from);

#endif
