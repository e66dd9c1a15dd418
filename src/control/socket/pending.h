/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The line that a conversation waits for. A line that takes long goes through its steps here; the
 * control thread blocks in none of them.
 *
 *   a change   [parse, in a thread] -> its turn (control.h) -> copy, edit, check, prepare, in a
 *              thread -> posted -> taken by every worker -> answered
 *   a commit   the same, without parsing
 *   a load     the same; it reads a scenario file of weir's own, in a thread, and parses it
 *   a look     when nothing is about to change -> in a thread -> answered
 *
 * A line is parsed without a thread if it names no file and has no filter (blocking.h). A thread
 * works on data of its own: a request owns all that it needs. A request that is overdue, or whose
 * client has gone, is abandoned, and released when its work is done.
 *
 * Deadlines, by a clock that stands still while the machine does (struct patience):
 *   PENDING_WORK_NS   for the work of a thread: then nothing is changed, and the client is told so
 *   PENDING_TURN_NS   for the turn, while others change; PENDING_LATE_NS, while a worker stands
 *                     still
 *   PENDING_LATE_NS   for the workers: then the client is told that the change is accepted, and
 *                     which worker stands still. The change comes into force there when that
 *                     worker polls again.
 *
 * Thread: control's.
 */
#ifndef WEIR_PENDING_H
#define WEIR_PENDING_H

#include <stdbool.h>

#include "language/language.h"
#include "show/show.h"
#include "service/control.h"

#define PENDING_WORK_NS (20 * SIMTIME_S)
#define PENDING_TURN_NS (30 * SIMTIME_S)
#define PENDING_LATE_NS (3 * SIMTIME_S)

struct dialogue;
struct lease;
struct request;
struct tap_plan;

enum pending_step {
	PENDING_NONE,
	PENDING_WORKS, /* in a thread, without holding the turn */
	PENDING_LOOKS, /* waits until a look may begin */
	PENDING_TURN,
	PENDING_PREPARES, /* in a thread, holding the turn */
	PENDING_POSTS,
	PENDING_POSTED,
};

/* All zero: nothing is pending. */
struct pending {
	enum pending_step step;
	struct request *request;
	struct turn turn;
	struct patience patience;
	uint64_t number; /* of the transaction */
};

/* Each of the functions pending_edit to pending_capture begins a pending line, and answers that
 * line, perhaps before it returns. */

/* Takes ownership of `command`, which has been parsed. NULL: a thread parses the line, because that
 * may block. */
void pending_edit(struct dialogue *dialogue, const char *line, struct command *command);
void pending_begin(struct dialogue *dialogue);
void pending_commit(struct dialogue *dialogue);
void pending_clear(struct dialogue *dialogue);
void pending_probe(struct dialogue *dialogue, const char *line, const struct command *command);
/* `cloud`: the index of the cloud that is shown; for SHOW_TOTALS, the number of clouds to list;
 * otherwise 0. */
void pending_show(struct dialogue *dialogue, const char *line, const struct command *command,
                  enum show_what what, uint32_t cloud);
/* Replaces the scenario in force by the scenario file `path`. */
void pending_load(struct dialogue *dialogue, const char *path);
/* Undoes the change of a lease. The leases own the lease, and keep it meanwhile. */
void pending_revert(struct dialogue *dialogue, struct lease *lease);
/* Dumps the flight into `folder`, which weir creates. NULL: flight_dumps_folder chooses the
 * folder. */
void pending_flight(struct dialogue *dialogue, const char *folder);
/* Reads the file at a descriptor, and takes ownership of that; -1: none came. */
void pending_file(struct dialogue *dialogue, const char *name, int fd);

/* Makes a tap with the memory at a descriptor, and takes ownership of that. */
void pending_capture(struct dialogue *dialogue, const char *line, const struct tap_plan *plan,
                     int fd);

/* Continues the pending line as far as possible. */
void pending_poll(struct dialogue *dialogue);
bool pending_is_on(const struct pending *pending);
/* Abandons the pending line; its client has gone. */
void pending_forget(struct dialogue *dialogue);

#endif
