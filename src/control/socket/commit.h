/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts a change in force, in the thread that wants it: waits for the turn, edits a copy of the
 * scenario, checks and prepares it, posts it to the workers, and waits until each has taken it.
 *
 * Everything that can fail is done before the change is posted. If a worker has not taken it within
 * CONTROL_LATE_NS, that is no error: `late` says which worker stands still, and the change comes
 * into force there when that worker polls again.
 *
 * Ownership: commit_release frees what a commit owns; what it points at is the caller's.
 * Thread: any; a commit belongs to one.
 */
#ifndef WEIR_COMMIT_H
#define WEIR_COMMIT_H

#include "service/difference.h"
#include "socket/batch.h"
#include "socket/client_files.h"
#include "socket/lease.h"

struct commit {
	struct control *control;
	const struct asker *asker;  /* who waits for the result; or NULL */
	const struct peer *who;     /* named by the event of the change */
	struct client_files *files; /* that the lines name; NULL: this process opens them */
	const char *line;           /* of commit_line */
	const struct command *command;
	struct batch batch; /* of commit_batch */
	uint64_t lease_ns;  /* of commit_batch: the duration of the change; 0: it is permanent */
	/* Of commit_revert: the lease that is undone, and the leases' own. Of commit_batch with
	 * `lease_ns`: the lease that then begins. */
	struct lease *lease;
	/* What came of it. */
	struct batch_error error;     /* if it failed */
	uint64_t number;              /* of the transaction; 0: nothing was posted */
	uint64_t lease_number;        /* of the lease that has begun */
	struct difference difference; /* what the change has made different */
	char *was;                    /* of commit_line: what it has replaced (difference_text.h) */
	char late[240];               /* names a worker that stands still; or "" */
};

/* Each returns 0 if the change is in force, or there was nothing to change; -ECANCELED if the
 * waiting was ended; or another -errno, with error, and nothing is changed. */
int commit_line(struct commit *commit);
int commit_batch(struct commit *commit);
/* Undoes the change of a lease. */
int commit_revert(struct commit *commit);
/* Sets the counters to zero. */
int commit_clear(struct commit *commit);
/* Posts what `make` makes, in its turn. `make` returns 0 or -errno with error. */
int commit_other(struct commit *commit,
                 int (*make)(struct commit *commit, struct transaction **transaction));
void commit_release(struct commit *commit);

#endif
