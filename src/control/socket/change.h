/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes of the scenario by clients: the files and the lines that they consist of, and their way
 * into force.
 *
 * Thread: any, one at a time for each struct, unless stated otherwise.
 */
#ifndef WEIR_CHANGE_H
#define WEIR_CHANGE_H

#include "language/language.h"
#include "service/answer.h"
#include "service/control.h"
#include "service/difference.h"
#include "service/peer.h"
#include "text/file_read.h"

struct lease;

/* ---- files (commit.c) ---- */

#define CLIENT_FILES_MAX       64
#define CLIENT_FILES_BYTES_MAX (UINT64_C(16) << 20)

/*
 * The files that a client has handed over for the lines that name them. The client opens a file
 * itself, and sends the descriptor with a line `file NAME` (session.h). Files that weir opens
 * itself may be named only by a client that has weir's rights in any case: root, or the user that
 * weir runs as. They stay with the others, as long as there is room: the lines of a batch may be
 * executed again while others wait for their turn, and a disk may not answer then.
 *
 * Either way a file of a client has FILE_CLIENT_BYTES_MAX bytes at most, all files of a
 * conversation together have CLIENT_FILES_BYTES_MAX, and no answer contains anything of their
 * content.
 */
struct client_files {
	struct file_source source; /* must be first: client_files_use */
	bool may_open;             /* this process opens a file that is not in the array */
	const struct asker *asker; /* asked before that, which may take long; or NULL */
	uint32_t n;
	struct file *file[CLIENT_FILES_MAX]; /* with a reference */
};

/* Takes the reference, and replaces a file of the same name. Returns 0, or -ENOSPC if there are too
 * many files or they are too large; then the reference is released. */
int client_files_put(struct client_files *client_files, struct file *file);
void client_files_clear(struct client_files *client_files);
/* Makes `client_files` the source of this thread's files. NULL: this process opens them again. */
void client_files_use(struct client_files *client_files);

/* ---- lines (batch.c) ---- */

/* The most bytes of files that a scenario may name after a change by a client. A scenario that
 * already names more may keep them, but clients may not add to them. */
#define BATCH_FILES_BYTES_MAX (UINT64_C(64) << 20)

/*
 * Lines that become one transaction: all or nothing. A single line is a batch, too. The lines are
 * executed on a copy of the scenario as they arrive, so that each is answered at once.
 * batch_prepare checks the copy as a whole, and makes a transaction of it. If the scenario in force
 * has changed since the copy was made, batch_prepare first executes the lines again on a new copy.
 *
 * A whole batch is a complete scenario, such as the content of a file: its lines are executed on an
 * empty one, which replaces the scenario in force. Clouds and all that belongs to them may differ.
 * Ports and the seed cannot change while packets flow. What the lines leave open stays as it is:
 * without `seed` the seed of the run; for a port without a device (as in the files of configs/) its
 * device and its settings. Ports keep the order in which weir was started with them.
 *
 * A function that reads `control` needs the turn or a look (control_turn, control_look_begin).
 */
struct batch {
	struct scenario *draft;
	bool whole;
	bool edited;      /* the draft was also changed by other means than lines */
	bool own_files;   /* of a whole batch: its files are weir's own, and not bounded */
	uint64_t changes; /* control->changes when the draft was copied */
	char *text;       /* the lines so far, each with its number before it, terminated by a 0 */
	size_t text_n, text_room;
	uint32_t lines;      /* seen since `begin` */
	uint32_t wrong_line; /* the first line in error; 0: none */
};

/* Returns 0 or -ENOMEM. */
int batch_begin(struct batch *batch, const struct control *control);
int batch_begin_whole(struct batch *batch);
/* Makes a whole batch of all lines of a file, which this process opens. Returns 0, or -errno with
 * error; then there is no batch. */
int batch_of_file(struct batch *batch, const char *path, struct answer_error *error);
/* Frees all memory and zeroes the batch. */
void batch_abort(struct batch *batch);
/* Executes a line, an edit that has been parsed, on the copy, and keeps the line. `bytes_max`
 * bounds the bytes of all lines kept. Returns 0, or -errno with error; then the copy is as it
 * was. */
int batch_edit(struct batch *batch, const char *line, const struct command *command,
               size_t bytes_max, struct answer_error *error);
/* A line that was kept. All 0: before the first. */
struct batch_line {
	uint32_t number;
	const char *text;
};
/* Gets the next one. Returns false at the end. */
bool batch_line_next(const struct batch *batch, struct batch_line *line);
/* Makes the transaction that puts the copy in force; batch->draft is posted with it. The
 * transaction is NULL if the batch changes nothing. Returns 0, or -errno with error. */
int batch_prepare(struct batch *batch, struct control *control, struct transaction **transaction,
                  struct answer_error *error);
/* Makes the draft of a whole batch the successor of `now`. Returns 0, or -errno with error, which
 * names the lines that prevent it; then the draft is as it was. */
int batch_succeed(struct batch *batch, const struct scenario *now, struct answer_error *error);
/* Turns an error of the language into one of a batch: adds the word that it concerns. */
void batch_error_language(struct answer_error *error, const char *line,
                          const struct language_error *from);

/* ---- the way into force (commit.c) ---- */

/*
 * Puts a change in force, in the thread that wants it: waits for the turn, edits a copy of the
 * scenario, checks and prepares it, posts it to the workers, and waits until each has taken it.
 *
 * Everything that can fail is done before the change is posted. If a worker has not taken it within
 * CONTROL_LATE_NS, that is no error: `late` says which worker stands still, and the change comes
 * into force there when that worker polls again.
 *
 * commit_release frees what a commit owns; what it points at is the caller's.
 */
struct commit {
	struct control *control;
	const struct asker *asker;  /* who waits for the result; or NULL */
	const struct peer *who;     /* named by the event of the change */
	struct client_files *files; /* that the lines name; NULL: this process opens them */
	const char *line;           /* of commit_line */
	const struct command *command;
	struct batch batch;  /* of commit_batch */
	uint64_t lease_ns;   /* of commit_batch: the duration of the change; 0: it is permanent */
	struct lease *lease; /* that is to begin with the change; or that is undone (lease.c) */
	/* What came of it. */
	struct answer_error error;    /* if it failed */
	uint64_t number;              /* of the transaction; 0: nothing was posted */
	uint64_t lease_number;        /* of the lease that has begun */
	struct difference difference; /* what the change has made different */
	char *was;                    /* of commit_line: what it has replaced (difference_before) */
	char late[240];               /* names a worker that stands still; or "" */
};

/* Each returns 0 if the change is in force, or there was nothing to change; -ECANCELED if the
 * waiting was ended; or another -errno, with error, and nothing is changed. */
int commit_line(struct commit *commit);
int commit_batch(struct commit *commit);
/* Sets the counters to zero. */
int commit_clear(struct commit *commit);
/* Posts what `make` makes, in its turn. `make` returns 0, or -errno with error (answer_error_set).
 * `posted` is called as by control_post. */
typedef int commit_make(struct commit *commit, struct transaction **transaction);
typedef void commit_posted(void *commit);
int commit_run(struct commit *commit, commit_make *make, commit_posted *posted);
void commit_release(struct commit *commit);

#endif
