/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a conversation waits for. A line that takes long goes through its steps here; the control
 * thread waits in none of them.
 *
 *   a change   [parse, in a thread] -> its turn (control.h) -> copy, edit, check, prepare, in a
 *              thread -> posted -> taken by every worker -> answered
 *   a commit   the same, without parsing
 *   a load     the same; it reads a scenario file of weir's own, in a thread, and parses it
 *   a look     when nothing is about to change -> in a thread -> answered
 *
 * A line is parsed without a thread if it names no file and has no filter (blocking.h). A thread
 * works on data of its own: a request owns all that it needs. A request that is overdue, or whose
 * client has gone, is forgotten, and released when it is done.
 *
 * Deadlines, by a clock that stands still while the machine does (struct patience):
 *   PENDING_WORK_NS   for the work of a thread: then nothing is changed, and the client hears so
 *   PENDING_TURN_NS   for the turn, while others change; PENDING_LATE_NS, while a worker stands
 *                     still
 *   PENDING_LATE_NS   for the workers: then the client hears that the change is accepted, and which
 *                     worker stands still. The change comes into force there when that worker
 *                     comes round.
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
	PENDING_LOOKS, /* waits until it may look */
	PENDING_TURN,
	PENDING_PREPARES, /* in a thread, holding the turn */
	PENDING_POSTS,
	PENDING_POSTED,
};

/* All 0: none. */
struct pending {
	enum pending_step step;
	struct request *request;
	struct turn turn;
	struct patience patience;
	uint64_t number; /* of the transaction */
};

/* Each begins a pending line that answers the line, perhaps before it returns. */

/* `command`: parsed, and passes, unless it is NULL: then parsing it may block. */
void pending_edit(struct dialogue *dialogue, const char *line, struct command *command);
void pending_begin(struct dialogue *dialogue);
void pending_commit(struct dialogue *dialogue);
void pending_clear(struct dialogue *dialogue);
void pending_probe(struct dialogue *dialogue, const char *line, const struct command *command);
/* `cloud`, `address`: of what is shown, or 0 and NULL. */
void pending_show(struct dialogue *dialogue, const char *line, const struct command *command,
                  enum show_what what, uint32_t cloud);
/* The scenario file of that name takes the place of what is in force. */
void pending_load(struct dialogue *dialogue, const char *path);
/* Undoes a change; the lease is the leases', which keep it meanwhile. */
void pending_revert(struct dialogue *dialogue, struct lease *lease);
/* The flight into a folder, which is the server's to make; NULL: where one goes that nobody
 * names. */
void pending_flight(struct dialogue *dialogue, const char *folder);
/* Reads what a descriptor, which passes, holds; -1: none came. */
void pending_file(struct dialogue *dialogue, const char *name, int fd);

/* Makes a tap with a memory at a descriptor, which passes. */
void pending_capture(struct dialogue *dialogue, const char *line, const struct tap_plan *plan,
                     int fd);

/* Goes on as far as it can. */
void pending_poll(struct dialogue *dialogue);
bool pending_is_on(const struct pending *pending);
/* The client has gone. */
void pending_forget(struct dialogue *dialogue);

#endif
