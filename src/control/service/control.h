/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the control socket controls: the scenario in force and, behind a table of functions, the
 * emulator that runs it. A live server binds them to the runtime (control_ops_runtime); tests to a
 * fake.
 *
 * A change goes through four hands, and control's thread waits in none of them:
 *
 *   FREE -> HELD        whoever is the first of those who wait (control_turn) holds the turn, and
 *                       prepares the transaction in a thread of its own (executor.h)
 *        -> POSTED      it lies with the workers (control_post): from here on it cannot fail, the
 *                       scenario that it makes is the one in force, and `show config` says it
 *        -> FINISHING   all have taken it: what it has replaced is freed, in a thread
 *        -> FREE
 *
 * A worker that stands still keeps it POSTED until it comes round; then all goes on by itself.
 * Meanwhile nothing else can be changed, and everything can be looked at.
 *
 * With the freeing, clouds that were changed get a mark (marks.h); until then nobody looks.
 *
 * Who looks (control_look_begin) may do so in a thread of his own, too. Nothing is posted or freed
 * while somebody looks, and nobody begins to while something is about to be; of a worker that does
 * not come round within CONTROL_SETTLES_NS, it is not waited for.
 *
 * Ownership: `scenario` points at its owner's pointer; control_post replaces what it points at.
 * Thread: control's, but where it says otherwise.
 */
#ifndef WEIR_CONTROL_H
#define WEIR_CONTROL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "live/patience.h"
#include "live/runtime.h"
#include "service/marks.h"
#include "scenario/scenario.h"

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
	 * time. 0, or -errno with problem. */
	int (*change)(void *context, const struct scenario *next, struct transaction **transaction,
	              struct problem *problem);
	int (*clear)(void *context, struct transaction **transaction);
	int (*insert)(void *context, const struct insertion *insertion,
	              struct transaction **transaction, struct problem *problem);
	void (*post)(void *context, struct transaction *transaction);
	bool (*taken)(void *context, const struct transaction *transaction);
	/* Who has not taken it: `worker 1 on processor 3`. */
	void (*missing)(void *context, const struct transaction *transaction, char *text,
	                size_t size);
	void (*finish)(void *context, struct transaction *transaction);
	/* Those of runtime.h. Control's thread. */
	int (*tap_begin)(void *context, struct tap *tap, int64_t wall_ns);
	bool (*tap_is_on)(void *context, const struct tap *tap);
	void (*tap_end)(void *context, struct tap *tap);
	/* false: there is no such cloud, port or worker */
	bool (*cloud)(void *context, const char *name, struct cloud_report *report);
	/* Those of runtime.h. */
	uint32_t (*briefs)(void *context, const char *name, uint32_t from, uint32_t n,
	                   struct cloud_brief *briefs);
	bool (*brief_name)(void *context, const char *name, uint32_t index, char *text,
	                   size_t room);
	bool (*delays)(void *context, const char *name, struct histogram *delays);
	bool (*port)(void *context, uint32_t port, struct port_report *report);
	bool (*worker)(void *context, uint32_t worker, struct worker_report *report);
	uint32_t (*ports)(void *context);
	uint32_t (*workers)(void *context);
	uint64_t (*now_ns)(void *context); /* a monotone clock */
};

extern const struct control_ops control_ops_runtime; /* context: struct runtime */

/* What was seen of a cloud when somebody last looked, to tell the rate since then. */
#define CONTROL_LOOKS 64
struct control_look {
	char cloud[160]; /* the longest is that of a flow of a template */
	uint64_t now_ns, rx_bytes, tx_bytes;
};

#define CONTROL_RUN_BYTES 17

#define CONTROL_SETTLES_NS (50 * SIMTIME_MS)

enum control_state { CONTROL_FREE, CONTROL_HELD, CONTROL_POSTED, CONTROL_FINISHING };

/* A place in the queue of those who want to change something. */
struct turn {
	struct turn *next;
	bool waiting;
};

struct control {
	const struct control_ops *ops;
	void *context;
	struct scenario **scenario;
	struct executor *executor;   /* NULL: all is done at once */
	struct event_log *events;    /* what happens (stream/event.h); NULL: there was no memory */
	struct leases *leases;       /* changes for a time (lease.h); the server's; NULL: none */
	char run[CONTROL_RUN_BYTES]; /* names this run: another weir at this socket has another */
	struct recording *recording; /* where events stand, too; or NULL */
	struct flight_dumps *flight; /* if that is a flight (flight_dumps.h); or NULL */
	uint64_t changes;    /* made so far: who keeps a copy of the scenario sees that it is old */
	bool probing;        /* routers are being asked: probe.h */
	uint64_t cleared_ns; /* when counting began, on the clock of ops->now_ns */

	int state;                       /* enum control_state; HELD becomes FREE in any thread */
	struct turn *turns;              /* the first is the next */
	uint32_t looking;                /* ends in any thread */
	bool posting;                    /* who holds the turn waits for them */
	uint64_t posted, taken;          /* transactions so far */
	struct transaction *transaction; /* POSTED */
	struct scenario *replaced;       /* by it; NULL: it changed none */
	struct patience patience;        /* with it */
	/* Called when all have taken it, before anything that it replaces is freed; or NULL. */
	void (*when_taken)(void *argument);
	void *when_taken_argument;
	struct finish *finish; /* FINISHING */

	bool marking;       /* marks are being made; ends in any thread */
	bool cleared;       /* cleared_ns is not the start */
	struct marks marks; /* with looks_lock */
	pthread_mutex_t looks_lock;
	struct control_look looks[CONTROL_LOOKS];
	uint32_t next_look;
};

void control_init(struct control *control, const struct control_ops *ops, void *context,
                  struct scenario **scenario);
/* Waits for what is under way in other threads, up to `patience_ns`, and ends. What workers have
 * not taken is the context's. False: something does not come to its end, and may not be taken away
 * under it. */
bool control_close(struct control *control, uint64_t patience_ns);
/* Time passes: looks whether workers have taken what was posted, and goes on. */
void control_tick(struct control *control, uint64_t now_ns);

/* Whether it is this one's turn: then it holds it, until control_post or control_give_back. Else it
 * waits in the queue, and asks again; control_leave takes it out. */
bool control_turn(struct control *control, struct turn *turn);
void control_leave(struct control *control, struct turn *turn);
/* Any thread. */
void control_give_back(struct control *control);
/* Posts what the holder of the turn has made, and puts `next` (NULL: it changes no scenario) in
 * force, both of which pass. 0: not yet, somebody looks; else the number of the transaction, for
 * control_taken. */
uint64_t control_post(struct control *control, struct transaction *transaction,
                      struct scenario *next, uint64_t now_ns);
bool control_taken(const struct control *control, uint64_t number);
/* Whether something has been posted for so long, and not been taken by all; who has not. */
bool control_is_late(struct control *control, uint64_t for_ns, char *text, size_t size);
/* The counters have been cleared. */
void control_cleared(struct control *control);

/* Whether one may look now; then control_look_end (any thread) ends it. */
bool control_look_begin(struct control *control);
void control_look_end(struct control *control);

/* What is known of a cloud, by ops->cloud. The ages of a path count up to now, however long ago its
 * last packet came. */
bool control_cloud(struct control *control, const char *cloud, struct cloud_report *report);
/* When what is told of a cloud began. */
enum control_since { CONTROL_SINCE_START, CONTROL_SINCE_CLEAR, CONTROL_SINCE_CHANGE };
/* Any thread. Makes of the report of a cloud, whose index in the scenario is given, what it did
 * since the last of these, `since_ns`. */
enum control_since control_since(struct control *control, uint32_t index,
                                 struct cloud_report *report, uint64_t *since_ns);
/* Any thread. Remembers what is seen now, and gives back what was seen before: false if nothing
 * was, or if the counters were cleared in between. */
bool control_look(struct control *control, const char *cloud, const struct cloud_report *report,
                  uint64_t now_ns, struct control_look *before);

#endif
