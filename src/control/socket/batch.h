/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes of the scenario that arrive as lines, and become one transaction: all or nothing.
 *
 * A single command is a batch of one line. The lines are executed on a copy of the scenario as they
 * arrive, so that each is answered at once. batch_prepare checks the copy as a whole, and makes a
 * transaction of it. If the scenario in force has changed since the copy was made, batch_prepare
 * first executes the lines again on a new copy.
 *
 * A whole batch is a complete scenario, such as the content of a file: its lines are executed on an
 * empty one, which replaces the scenario in force. Clouds and all that belongs to them may differ.
 * Ports and the seed cannot change while packets flow. What the lines leave open stays as it is:
 * without `seed` the seed of the run; for a port without a device (as in the files of configs/) its
 * device and its settings. Ports keep the order in which weir was started with them.
 *
 * Thread: any, one at a time; a function that reads `control` needs the turn or a look
 * (control_turn, control_look_begin).
 */
#ifndef WEIR_BATCH_H
#define WEIR_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "language/language.h"
#include "service/control.h"

/* The most bytes of files that a scenario may name after a change by a client. A scenario that
 * already names more may keep them, but clients may not add to them. */
#define BATCH_FILES_BYTES_MAX (UINT64_C(64) << 20)

struct batch {
	struct scenario *draft;
	bool whole;
	bool edited;      /* the draft was also changed by other means than lines */
	bool own_files;   /* of a whole batch: its files are weir's own, and not bounded */
	uint64_t changes; /* control->changes when the draft was copied */
	char *text;       /* the lines so far, each terminated by a 0 */
	size_t text_n, text_room;
	uint32_t lines;      /* seen since `begin` */
	uint32_t wrong_line; /* the first line in error; 0: none */
};

/* An error of a batch: as answer_error, with room for its texts. */
struct batch_error {
	char name[64];
	const char *code;
	uint32_t line, column;
	char message[760];
};

/* Returns 0 or -ENOMEM. */
int batch_begin(struct batch *batch, const struct control *control);
int batch_begin_whole(struct batch *batch);
/* Makes a whole batch of all lines of a file, which this process opens. Returns 0, or -errno with
 * error; then there is no batch. */
int batch_of_file(struct batch *batch, const char *path, struct batch_error *error);
/* Frees all memory and zeroes the batch. */
void batch_abort(struct batch *batch);

/* Executes a line, an edit that has been parsed, on the copy, and keeps the line. `bytes_max`
 * bounds the bytes of all lines kept. Returns 0, or -errno with error; then the copy is as it
 * was. */
int batch_edit(struct batch *batch, const char *line, const struct command *command,
               size_t bytes_max, struct batch_error *error);
/* Makes the transaction that puts the copy in force; batch->draft is posted with it. The
 * transaction is NULL if the batch changes nothing. Returns 0, or -errno with error. */
int batch_prepare(struct batch *batch, struct control *control, struct transaction **transaction,
                  struct batch_error *error);

/* Makes the draft of a whole batch the successor of `now`. Returns 0, or -errno with error, which
 * names the lines that prevent it; then the draft is as it was. */
int batch_succeed(struct batch *batch, const struct scenario *now, struct batch_error *error);

/* Turns an error of the language into one of a batch: adds the word that it concerns. */
void batch_error_language(struct batch_error *error, const char *line,
                          const struct language_error *from);

#endif
