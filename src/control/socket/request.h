/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a thread works on for a pending line (pending.h), and what it does: each needs nothing but
 * its request, which is its own, and control where it has its leave.
 *
 * Ownership: a request owns what it names; request_release is its job's, and may be called by any
 * thread. Thread: the functions work_... are run by threads, one at a time on a request.
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

/* All that a thread works on. */
struct request {
	struct job job;
	enum request_kind kind;
	struct control *control;
	char *line;
	bool parsed; /* then `command` is there */
	struct command command;
	struct client_files client_files;
	struct batch batch;
	int result;
	struct language_error wrong; /* of parsing, of a file */
	struct batch_error error;    /* of all else */
	bool holds;                  /* the turn */
	struct transaction *transaction;
	/* KIND_COMMIT: 0, or the change is for so long, and from its turn to its posting what it
	 * then begins, its own. KIND_REVERT: what is undone, the leases' */
	uint64_t lease_ns;
	struct lease *lease;
	/* of a lease, and of a whole scenario */
	struct difference difference;
	/* KIND_SHOW */
	enum show_what what;
	uint32_t cloud;
	char note[160]; /* which worker is late */
	bool found;
	bool lacks; /* memory for the whole answer */
	struct output output;
	/* KIND_FILE */
	int fd;
	struct file *file;
	/* KIND_CAPTURE, and the fd */
	struct tap_plan plan;
	struct tap *tap;
	/* KIND_FLIGHT */
	struct recording_dump dump;
};

/* NULL: no memory. `command`, if there is one, is copied, and what it owns passes. */
struct request *request_make(struct control *control, enum request_kind kind, const char *line,
                             const struct command *command,
                             const struct client_files *client_files);

void work_parse(struct job *job);
/* The file that `line` names becomes a whole batch. */
void work_load(struct job *job);
void work_file(struct job *job);
void work_capture(struct job *job);
/* The flight into the folder that `line` names. */
void work_flight(struct job *job);
/* Both end a look (control_look_begin). */
void work_begin(struct job *job);
void work_show(struct job *job);
/* Holding the turn. */
void work_prepare(struct job *job);

#endif
