/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the control socket controls: the scenario in force and, behind a table of functions, the
 * emulator that runs it. A live server binds them to the runtime (control_ops_runtime); tests bind
 * them to a fake.
 *
 * A change goes through four states, and control's thread never waits in any of them:
 *
 *   FREE -> HELD        the first in the queue (control_turn) holds the turn, and prepares the
 *                       transaction in a thread of its own (executor.h)
 *        -> POSTED      the workers have the transaction (control_post): from here on it cannot
 *                       fail; its scenario is in force, and `show config` prints it
 *        -> FINISHING   all workers have taken it; what it has replaced is freed, in a thread
 *        -> FREE
 *
 * If a worker stands still, the state stays POSTED until the worker goes on. Meanwhile nothing else
 * can be changed, but everything can be shown.
 *
 * In FINISHING, clouds that were changed get a mark (marks.h); no look begins until that is done.
 *
 * A look at clouds (control_look_begin) may also run in a thread of its own. While there is one,
 * nothing is posted or freed, and while something is about to be, no look begins. If a worker has
 * not taken a transaction within CONTROL_SETTLES_NS, looks begin all the same.
 *
 * Ownership: `scenario` points at its owner's pointer; control_post replaces what that points at.
 * Thread: control, unless stated otherwise.
 */
#ifndef WEIR_CONTROL_H
#define WEIR_CONTROL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "live/runtime.h"
#include "scenario/scenario.h"
#include "service/marks.h"

struct cloud_brief;
struct cloud_report;
struct event_log;
struct flight_dumps;
struct insertion;
struct leases;
struct recording;
struct tap;

struct control_ops {
	/* Transactions, as in runtime.h. Making and finishing may happen in any thread, one at a
	 * time. Return 0, or -errno with problem. */
	int (*change)(void *context, const struct scenario *next, struct transaction **transaction,
	              struct problem *problem);
	int (*clear)(void *context, struct transaction **transaction);
	int (*insert)(void *context, const struct insertion *insertion,
	              struct transaction **transaction, struct problem *problem);
	void (*post)(void *context, struct transaction *transaction);
	bool (*taken)(void *context, const struct transaction *transaction);
	/* Names a worker that has not taken it: `worker 1 on processor 3`. */
	void (*missing)(void *context, const struct transaction *transaction, char *text,
	                size_t size);
	void (*finish)(void *context, struct transaction *transaction);
	/* As in runtime.h. Thread: control. */
	int (*tap_begin)(void *context, struct tap *tap, int64_t wall_ns);
	bool (*tap_is_on)(void *context, const struct tap *tap);
	void (*tap_end)(void *context, struct tap *tap);
	/* Return false if there is no such cloud, port or worker. */
	bool (*cloud)(void *context, const char *name, struct cloud_report *report);
	/* As in runtime.h. */
	uint32_t (*briefs)(void *context, const char *name, uint32_t from, uint32_t n,
	                   struct cloud_brief *briefs);
	bool (*brief_name)(void *context, const char *name, uint32_t index, char *text,
	                   size_t room);
	bool (*delays)(void *context, const char *name, struct histogram *delays);
	bool (*port)(void *context, uint32_t port, struct port_report *report);
	bool (*worker)(void *context, uint32_t worker, struct worker_report *report);
	uint32_t (*ports)(void *context);
	uint32_t (*workers)(void *context);
	uint64_t (*now_ns)(void *context); /* a monotonic clock */
};

extern const struct control_ops control_ops_runtime; /* context: struct runtime */

/* The counters of a cloud at the last look, from which the rate since then is computed. */
#define CONTROL_LOOKS 64
struct control_look {
	char cloud[160]; /* the longest name is that of a flow of a template */
	uint64_t now_ns, rx_bytes, tx_bytes;
};

#define CONTROL_RUN_BYTES 17

#define CONTROL_SETTLES_NS (50 * SIMTIME_MS)

enum control_state { CONTROL_FREE, CONTROL_HELD, CONTROL_POSTED, CONTROL_FINISHING };

/* A place in the queue of those that want to make a change. */
struct turn {
	struct turn *next;
	bool waiting;
};

struct control {
	const struct control_ops *ops;
	void *context;
	struct scenario **scenario;
	struct executor *executor;   /* NULL: all is done at once, by the caller */
	struct event_log *events;    /* of the run (stream/event.h); NULL: there was no memory */
	struct leases *leases;       /* temporary changes (lease.h), owned by the server; or NULL */
	char run[CONTROL_RUN_BYTES]; /* name of this run: another weir at this socket has another */
	struct recording *recording; /* also gets the events; or NULL */
	struct flight_dumps *flight; /* if the recording is a flight (flight_dumps.h); or NULL */
	uint64_t changes;    /* made so far; tells whether a copy of the scenario is outdated */
	bool probing;        /* routers are being probed: probe.h */
	uint64_t cleared_ns; /* start of counting, on the clock of ops->now_ns */

	int state;                       /* enum control_state; any thread changes HELD to FREE */
	struct turn *turns;              /* the first is the next one */
	uint32_t looking;                /* number of looks; any thread decrements */
	bool posting;                    /* the holder of the turn waits for the looks to end */
	uint64_t posted, taken;          /* transactions so far */
	struct transaction *transaction; /* POSTED */
	struct scenario *replaced;       /* by the transaction; NULL: no scenario was replaced */
	struct patience patience;        /* with the workers that have not taken it */
	/* Called when all workers have taken it, before anything that it replaces is freed; or
	 * NULL. */
	void (*when_taken)(void *argument);
	void *when_taken_argument;
	struct finish *finish; /* FINISHING */

	bool marking;       /* marks are being made; any thread ends it */
	bool cleared;       /* cleared_ns is not the start */
	struct marks marks; /* with looks_lock */
	pthread_mutex_t looks_lock;
	struct control_look looks[CONTROL_LOOKS];
	uint32_t next_look;
};

void control_init(struct control *control, const struct control_ops *ops, void *context,
                  struct scenario **scenario);
/* Waits up to `patience_ns` for work in other threads, then frees what control owns. What workers
 * have not taken belongs to the context. Returns false if some work has not ended; nothing is freed
 * then. */
bool control_close(struct control *control, uint64_t patience_ns);
/* To be called regularly: checks whether workers have taken what was posted, and goes on. */
void control_tick(struct control *control, uint64_t now_ns);

/* Returns true if `turn` gets its turn; it holds the turn until control_post or control_give_back.
 * Otherwise it stays in the queue, and has to try again; control_leave removes it. */
bool control_turn(struct control *control, struct turn *turn);
void control_leave(struct control *control, struct turn *turn);
/* Gives back the turn. Thread: any. */
void control_give_back(struct control *control);
/* Posts the transaction of the holder of the turn, and puts `next` in force (NULL: no other
 * scenario). Takes ownership of both. Returns the number of the transaction, for control_taken, or
 * 0 if a look is in progress: then nothing was posted. */
uint64_t control_post(struct control *control, struct transaction *transaction,
                      struct scenario *next, uint64_t now_ns);
bool control_taken(const struct control *control, uint64_t number);
/* Returns true if not all workers have taken what was posted, after `for_ns`; names one of them. */
bool control_is_late(struct control *control, uint64_t for_ns, char *text, size_t size);
/* Notes that the counters were cleared. */
void control_cleared(struct control *control);

/* Returns true if a look may begin; then control_look_end (any thread) ends it. */
bool control_look_begin(struct control *control);
void control_look_end(struct control *control);

/* Gets the report of a cloud from ops->cloud. The ages in a path last until now, however long ago
 * its last packet came. */
bool control_cloud(struct control *control, const char *cloud, struct cloud_report *report);
/* The event from which on a cloud's figures are shown. */
enum control_since { CONTROL_SINCE_START, CONTROL_SINCE_CLEAR, CONTROL_SINCE_CHANGE };
/* Reduces the report of a cloud, the one with this index in the scenario, to what it did since the
 * latest of these events, which was at `since_ns`. Returns that event. Thread: any. */
enum control_since control_since(struct control *control, uint32_t index,
                                 struct cloud_report *report, uint64_t *since_ns);
/* Stores what is seen now, and gets what was seen before. Returns false if there was nothing
 * before, or the counters were cleared in between. Thread: any. */
bool control_look(struct control *control, const char *cloud, const struct cloud_report *report,
                  uint64_t now_ns, struct control_look *before);

#endif
