/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the control socket controls: the scenario in force and, behind a table of functions, the
 * emulator that runs it. A live server binds them to the runtime (serving.c); tests bind them to a
 * fake.
 *
 * Many threads use it: one for each client, one for leases, the main thread. A change goes through
 * four states:
 *
 *   FREE -> HELD        control_turn: the first in the queue holds the turn, and prepares its
 *                       transaction, which may take long
 *        -> POSTED      control_post: the workers have the transaction. From here on it cannot
 *                       fail; its scenario is in force, and `show config` prints it
 *        -> FINISHING   control_settle, when all workers have taken it: clouds that were changed
 *                       get a mark (marks.c), and what it has replaced is freed
 *        -> FREE
 *
 * If a worker stands still, the state stays POSTED until the worker goes on. Meanwhile nothing else
 * can be changed, but everything can be shown.
 *
 * A thread looks (control_look_begin) while it reads clouds or the scenario. Nothing is posted
 * while any thread looks, and no look begins while a thread waits to post, until a posted
 * transaction is settled, or while marks are made. If a worker has not taken a transaction within
 * CONTROL_SETTLES_NS, looks begin all the same. The holder of the turn may read the scenario, too.
 *
 * The main thread must wait for nobody. It counts as looking, except while it waits for something
 * to happen (control_main_looks), so it may read the scenario at any time.
 *
 * Locks. `lock` guards the members, the leases (lease.h), and the calls of ops for taps and for
 * posting; it is held for microseconds. After it may be taken, one at a time: events_lock, which
 * orders the events (stream/event.h), and marks_lock, for what was seen of clouds. Reading
 * `changes` and `*scenario` takes a look, the turn or `lock`.
 *
 * Ownership: `scenario` points at its owner's pointer; control_post replaces what that points at.
 * Thread: any, unless stated otherwise.
 */
#ifndef WEIR_CONTROL_H
#define WEIR_CONTROL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "live/runtime.h"
#include "scenario/scenario.h"

struct cloud_brief;
struct cloud_report;
struct event_log;
struct flight_dumps;
struct insertion;
struct lease;
struct mark;
struct recording;
struct tap;

struct control_ops {
	/* Transactions, as in runtime.h. Making and finishing may happen in any thread, one at a
	 * time. Return 0, or -errno with problem. */
	int (*change)(struct runtime *context, const struct scenario *next,
	              struct transaction **transaction, struct problem *problem);
	int (*clear)(struct runtime *context, struct transaction **transaction);
	int (*insert)(struct runtime *context, const struct insertion *insertion,
	              struct transaction **transaction, struct problem *problem);
	void (*post)(struct transaction *transaction);
	bool (*taken)(const struct transaction *transaction, uint64_t wait_ns);
	bool (*missing)(const struct transaction *transaction, uint32_t *worker, uint32_t *cpu);
	void (*finish)(struct transaction *transaction);
	/* As in runtime.h; called with `lock`. */
	int (*tap_begin)(struct runtime *context, struct tap *tap, int64_t wall_ns);
	bool (*tap_is_on)(struct runtime *context, const struct tap *tap);
	void (*tap_end)(struct runtime *context, struct tap *tap);
	/* As in runtime.h. Return false if there is no such cloud, port or worker. */
	bool (*cloud)(const struct runtime *context, const char *name, struct cloud_report *report);
	uint32_t (*briefs)(const struct runtime *context, const char *name, uint32_t from,
	                   uint32_t n, struct cloud_brief *briefs);
	bool (*brief_name)(const struct runtime *context, const char *name, uint32_t index,
	                   char *text, size_t room);
	bool (*delays)(const struct runtime *context, const char *name, struct histogram *delays);
	bool (*port)(const struct runtime *context, uint32_t port, struct port_report *report);
	bool (*worker)(const struct runtime *context, uint32_t worker,
	               struct worker_report *report);
	uint32_t (*ports)(const struct runtime *context);
	uint32_t (*workers)(const struct runtime *context);
	uint64_t (*now_ns)(const struct runtime *context); /* a monotonic clock */
	/* Replaces the waiting of threads, for tests that set the clock; NULL: they wait. */
	void (*wait)(struct runtime *context, uint64_t ns);
};

/*
 * The counters of clouds at their last change; what they have achieved since is the difference. A
 * cloud gets a mark if it is new or a change has changed its statements, when every worker has
 * taken the change. So the mark is a little later than the change, and nothing from before counts
 * as since. Packets that were on their way count when they leave. A change by a schedule makes no
 * mark. If there is no memory, there is none.
 *
 * Percentiles of a difference of histograms are accurate to 3 %, and exact if all values lie in one
 * bucket, as with a constant delay.
 */
struct marks {
	struct mark **mark; /* by the index in the scenario; NULL: unchanged since counting began */
	uint32_t n;
};

/* The counters of a cloud at the last look, from which the rate since then is computed. */
#define CONTROL_LOOKS 64
struct control_look {
	char cloud[160]; /* the longest name is that of a flow of a template */
	uint64_t now_ns, rx_bytes, tx_bytes;
};

#define CONTROL_RUN_BYTES 17

#define CONTROL_SETTLES_NS (50 * SIMTIME_MS)
/* Deadlines, by a clock that stands still while the machine does (patience.h): for the turn, while
 * others change; for a worker that stands still. */
#define CONTROL_TURN_NS (30 * SIMTIME_S)
#define CONTROL_LATE_NS (3 * SIMTIME_S)

enum control_state { CONTROL_FREE, CONTROL_HELD, CONTROL_POSTED, CONTROL_FINISHING };

#define CONTROL_WORKER_BYTES 64 /* of the text that names a worker: `worker 1 on processor 3` */

/* On whose behalf a thread waits. `waits` is called some 50 times a second, without a lock; when it
 * returns false, nobody waits for the result any more, and the waiting ends. NULL: it goes on. */
struct asker {
	bool (*waits)(void *argument);
	void *argument;
};

/* Temporary changes (lease.h), in the order in which they came into force. */
#define LEASES_MAX 64
struct leases {
	struct lease *lease[LEASES_MAX];
	uint32_t n;
	uint64_t latest; /* number of the latest one */
};

/* A place in the queue of those that want to make a change. */
struct turn {
	struct turn *next;
};

struct control {
	const struct control_ops *ops;
	struct runtime *context; /* a fake casts it */
	struct scenario **scenario;
	struct event_log *events;    /* of the run, with events_lock; NULL: there was no memory */
	char run[CONTROL_RUN_BYTES]; /* name of this run: another weir at this socket has another */
	struct recording *recording; /* also gets the events; or NULL */
	struct flight_dumps *flight; /* if the recording is a flight (flight_dumps.h); or NULL */
	uint64_t changes;    /* made so far; tells whether a copy of the scenario is outdated */
	bool probing;        /* routers are being probed: probe.h */
	uint64_t cleared_ns; /* start of counting, on the clock of ops->now_ns */

	pthread_mutex_t lock;
	pthread_cond_t changed; /* any of the following */
	bool ends;              /* nothing is waited for any more */
	uint32_t threads;       /* started by control_thread */
	uint32_t given_up;      /* atomic; of these, that nobody waits for (connection.c) */
	enum control_state state;
	struct leases leases;
	struct turn *turns; /* those that wait, the first is the next one */
	uint32_t looking;   /* number of looks, without the main thread's */
	bool main_looks;
	uint32_t posting;                /* threads that wait until nobody looks */
	bool marking;                    /* marks are being made */
	uint64_t posted, taken;          /* transactions so far */
	struct transaction *transaction; /* POSTED */
	struct scenario *replaced;       /* by the transaction; NULL: no scenario was replaced */
	struct patience patience;        /* with the workers that have not taken it */
	/* Called by the main thread when all workers have taken a transaction, before anything that
	 * it replaces is freed; or NULL. */
	void (*when_taken)(void *argument);
	void *when_taken_argument;
	bool untold;       /* when_taken is to be called */
	int wake;          /* an eventfd that ends the main thread's wait; -1: none */
	uint64_t round_ns; /* atomic; the instant of the server's latest round */

	pthread_mutex_t events_lock;
	pthread_mutex_t marks_lock;
	bool cleared; /* cleared_ns is not the start */
	struct marks marks;
	struct control_look looks[CONTROL_LOOKS];
	uint32_t next_look;
};

/* Returns the time on the clock of the run. */
static inline uint64_t control_now_ns(const struct control *control)
{
	return control->ops->now_ns(control->context);
}

void control_init(struct control *control, const struct control_ops *ops, struct runtime *context,
                  struct scenario **scenario);
/* Ends all waiting, refuses further turns and looks, and waits up to `patience_ns` until nobody
 * holds the turn or looks. Returns false if somebody still does: then nothing that they use may be
 * freed. Thread: main. */
bool control_end(struct control *control, uint64_t patience_ns);
/* Waits up to `patience_ns` for the threads. Returns false if some have not ended: then control
 * must stay, and control_cut_off is to be called. Thread: main. */
bool control_join(struct control *control, uint64_t patience_ns);
/* For threads that have not ended: from now on they find no emulator, which may be freed. Thread:
 * main. */
void control_cut_off(struct control *control);
/* Frees what control owns. What workers have not taken belongs to the context. */
void control_close(struct control *control);

/* Starts a thread that runs `run` at a low priority, with all signals blocked. Returns 0 or
 * -EAGAIN. */
int control_thread(struct control *control, void (*run)(void *argument), void *argument);
void control_lock(struct control *control);
void control_unlock(struct control *control);
/* Releases `lock`, waits up to `ns` for a change of control, and takes `lock` again. Returns false
 * if the waiting is to end. `asker` may be NULL, here and below. */
bool control_wait(struct control *control, const struct asker *asker, uint64_t ns);
/* Wakes the threads that wait, and the main thread. */
void control_wake(struct control *control);

/* ---- changes ---- */

/* Waits for the turn; the caller then holds it until control_post or control_give_back. Returns 0;
 * -EBUSY if a worker stands still, and `who` names it; -ETIMEDOUT if others keep changing the
 * scenario; or -ECANCELED. */
int control_turn(struct control *control, const struct asker *asker,
                 char who[CONTROL_WORKER_BYTES]);
void control_give_back(struct control *control);
/* Posts the transaction of the holder of the turn, as soon as nobody looks, and puts `next` in
 * force (NULL: no other scenario). Takes ownership of both. `posted`, unless NULL, is called with
 * `lock`, before anybody can look at what is in force then. Returns the number of the transaction;
 * or 0 if the waiting was ended: then nothing was posted, and the caller owns both, and holds the
 * turn. */
uint64_t control_post(struct control *control, const struct asker *asker,
                      struct transaction *transaction, struct scenario *next,
                      void (*posted)(void *argument), void *argument);
/* Waits until all workers have taken a transaction. Returns 0; -EBUSY if one of them, which `who`
 * names, stands still for CONTROL_LATE_NS; or -ECANCELED. */
int control_taken(struct control *control, const struct asker *asker, uint64_t number,
                  char who[CONTROL_WORKER_BYTES]);
/* Frees what the posted transaction has replaced, if all workers have taken it and nobody looks.
 * May take long. With `lock`, which it releases meanwhile. */
void control_settle(struct control *control);
/* Returns true if not all workers have taken what was posted after CONTROL_SETTLES_NS; names one of
 * them. */
bool control_is_late(struct control *control, char *text, size_t size);
/* Gets the numbers of the oldest event that is kept, and of the next one to come. Returns false,
 * and zeros, if no events are kept. */
bool control_events(struct control *control, uint64_t *first, uint64_t *next);
/* Notes that the counters were cleared. */
void control_cleared(struct control *control);

/* ---- the main thread ---- */

/* The main thread looks, or ceases to; to be called regularly. When it looks again, it checks
 * whether workers have taken what was posted. */
void control_main_looks(struct control *control, bool looks);

/* ---- looks ---- */

/* Begins a look, if it may begin now; control_look_end ends it. */
bool control_look_begin(struct control *control);
/* Waits until it may begin. Returns false if the waiting was ended. */
bool control_look_wait(struct control *control, const struct asker *asker);
void control_look_end(struct control *control);

/* ---- what was seen of clouds (marks.c) ---- */

/* Updates the marks for a change of `before` to the scenario in force, which all workers have
 * taken, and which does not change meanwhile. */
void control_mark(struct control *control, const struct scenario *before);
void control_unmark(struct control *control);
/* Gets the report of a cloud from ops->cloud. The ages in a path last until now, however long ago
 * its last packet came. */
bool control_cloud(struct control *control, const char *cloud, struct cloud_report *report);
/* The event from which on a cloud's figures are shown. */
enum control_since { CONTROL_SINCE_START, CONTROL_SINCE_CLEAR, CONTROL_SINCE_CHANGE };
/* Reduces the report of a cloud, the one with this index in the scenario, to what it did since the
 * latest of these events, which was at `since_ns`. Returns that event. */
enum control_since control_since(struct control *control, uint32_t index,
                                 struct cloud_report *report, uint64_t *since_ns);
/* Stores what is seen now, and gets what was seen before. Returns false if there was nothing
 * before, or the counters were cleared in between. */
bool control_look(struct control *control, const char *cloud, const struct cloud_report *report,
                  uint64_t now_ns, struct control_look *before);

#endif
