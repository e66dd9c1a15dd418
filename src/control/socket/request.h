/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The work that a thread does for a pending line (pending.h), and the data for it. Each function
 * needs nothing but its request, which it has for itself, and control while a look or the turn
 * permits that.
 *
 * Ownership: a request owns what it names; request_release is its job's, and may be called by any
 * thread.
 * Thread: the functions work_... are run by threads, one at a time on a request.
 */
#ifndef WEIR_REQUEST_H
#define WEIR_REQUEST_H

#include "live/tap.h"
#include "record/recording.h"
#include "show/show.h"
#include "service/answer.h"
#include "socket/batch.h"
#include "service/difference.h"
#include "service/executor.h"
#include "socket/lease.h"
#include "socket/client_files.h"

enum request_kind {
	KIND_EDIT,
	KIND_BEGIN,
	KIND_COMMIT,
	KIND_CLEAR,
	KIND_PROBE,
	KIND_SHOW,
	KIND_FILE,
	KIND_LOAD,
	KIND_REVERT,
	KIND_CAPTURE,
	KIND_FLIGHT,
};

/* All data that a thread works on. */
struct request {
	struct job job;
	enum request_kind kind;
	struct control *control;
	char *line;
	bool parsed; /* `command` is valid */
	struct command command;
	struct client_files client_files;
	struct batch batch;
	int result;
	struct language_error wrong; /* error in parsing, in a file */
	struct batch_error error;    /* any other error */
	bool holds;                  /* it holds the turn */
	struct transaction *transaction;
	/* KIND_COMMIT: `lease_ns` is the duration of the change, or 0 if it is permanent; `lease`,
	 * from the turn to the posting, is the lease that then begins, and the request's own.
	 * KIND_REVERT: `lease` is undone, and the leases' own */
	uint64_t lease_ns;
	struct lease *lease;
	/* KIND_COMMIT with a lease, a whole scenario, and KIND_EDIT */
	struct difference difference;
	char *was; /* KIND_EDIT: what it replaces (difference_text.h) */
	/* KIND_SHOW */
	enum show_what what;
	uint32_t cloud;
	char note[160]; /* which worker is late */
	bool found;
	bool lacks; /* memory was short: the answer is incomplete */
	struct output output;
	/* KIND_FILE */
	int fd;
	struct file *file;
	/* KIND_CAPTURE, with `fd` */
	struct tap_plan plan;
	struct tap *tap;
	/* KIND_FLIGHT */
	struct recording_dump dump;
};

/* Returns NULL if there is no memory. If `command` is not NULL, it is copied, and the request takes
 * ownership of what it owns. */
struct request *request_make(struct control *control, enum request_kind kind, const char *line,
                             const struct command *command,
                             const struct client_files *client_files);

void work_parse(struct job *job);
/* Reads the file that `line` names into a whole batch. */
void work_load(struct job *job);
void work_file(struct job *job);
void work_capture(struct job *job);
/* Dumps the flight into the folder that `line` names. */
void work_flight(struct job *job);
/* Both end a look (control_look_begin). */
void work_begin(struct job *job);
void work_show(struct job *job);
/* Prepares the transaction. The request holds the turn. */
void work_prepare(struct job *job);

#endif
