/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the control socket controls: the scenario in force and, behind a table of functions, the
 * emulator that runs it. A live server binds the table to the runtime (control_ops_runtime), tests
 * bind it to a fake.
 *
 * A change passes four states. The control thread waits in none of them:
 *
 *   FREE -> HELD        the first client in the queue (control_turn) holds the turn; a thread of
 *                       its own prepares the transaction (desk.h)
 *        -> POSTED      the workers have it (control_post): it cannot fail any more, its scenario
 *                       is in force, and `show config` prints it
 *        -> FINISHING   all workers have taken it: a thread frees what it has replaced
 *        -> FREE
 *
 * If a worker stands still, the change stays POSTED until the worker comes round. Meanwhile no
 * other change is possible, but every look is.
 *
 * A client that looks (control_look_begin) may do so in a thread of its own. During a look nothing
 * is posted or freed, and no look begins while something is about to be posted or freed. A look
 * does not wait for a worker that does not come round within CONTROL_SETTLES_NS.
 *
 * Ownership: `scenario` points at its owner's pointer; control_post replaces its target.
 * Thread: control's, except where it says otherwise.
 */
#ifndef WEIR_CONTROL_H
#define WEIR_CONTROL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "live/patience.h"
#include "live/runtime.h"
#include "scenario/scenario.h"

struct cloud_report;
struct insertion;

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
	/* false: there is no such cloud, port or worker */
	bool (*cloud)(void *context, const char *name, struct cloud_report *report);
	bool (*port)(void *context, uint32_t port, struct port_report *report);
	bool (*worker)(void *context, uint32_t worker, struct worker_report *report);
	uint32_t (*ports)(void *context);
	uint32_t (*workers)(void *context);
	uint64_t (*now_ns)(void *context); /* a monotone clock */
};

extern const struct control_ops control_ops_runtime; /* context: struct runtime */

/* The counters of a cloud at the last look, to compute the rate since then. */
#define CONTROL_LOOKS 64
struct control_look {
	char cloud[160]; /* the longest is that of a flow of a template */
	uint64_t now_ns, rx_bytes, tx_bytes;
};

/* How long a wait has lasted, by a clock that stops while nothing runs: while the whole machine
 * stands still, or this process. */
struct patience {
	uint64_t last_ns, waited_ns;
};
#define PATIENCE_STEP_NS (100 * SIMTIME_MS) /* the most that counts between two looks */

static inline uint64_t patience_look(struct patience *patience, uint64_t now_ns)
{
	uint64_t step = now_ns > patience->last_ns ? now_ns - patience->last_ns : 0;

	patience->last_ns = now_ns;
	patience->waited_ns += step < PATIENCE_STEP_NS ? step : PATIENCE_STEP_NS;
	return patience->waited_ns;
}

#define CONTROL_SETTLES_NS (50 * SIMTIME_MS)

enum control_state { CONTROL_FREE, CONTROL_HELD, CONTROL_POSTED, CONTROL_FINISHING };

/* A place in the queue for the turn to change something. */
struct turn {
	struct turn *next;
	bool waiting;
};

struct control {
	const struct control_ops *ops;
	void *context;
	struct scenario **scenario;
	struct desk *desk;   /* NULL: all is done at once */
	uint64_t changes;    /* made so far: tells that a copy of the scenario is old */
	bool probing;        /* a probe is under way: probe.h */
	uint64_t cleared_ns; /* when counting began, on the clock of ops->now_ns */

	int state;                       /* enum control_state; HELD becomes FREE in any thread */
	struct turn *turns;              /* the first is the next */
	uint32_t looking;                /* ends in any thread */
	bool posting;                    /* the holder of the turn waits for them */
	uint64_t posted, taken;          /* transactions so far */
	struct transaction *transaction; /* POSTED */
	struct scenario *replaced;       /* by it; NULL: it changed none */
	struct patience patience;        /* with it */
	struct finish *finish;           /* FINISHING */

	pthread_mutex_t looks_lock;
	struct control_look looks[CONTROL_LOOKS];
	uint32_t next_look;
};

void control_init(struct control *control, const struct control_ops *ops, void *context,
                  struct scenario **scenario);
/* Waits for what is under way in other threads, up to `patience_ns`, and ends. What workers have not
 * taken is the context's. False: something does not come to its end, and may not be taken away under
 * it. */
bool control_close(struct control *control, uint64_t patience_ns);
/* Time passes: looks whether workers have taken what was posted, and goes on. */
void control_tick(struct control *control, uint64_t now_ns);

/* Whether this place has the turn. If so, it holds the turn until control_post or
 * control_give_back. Else it waits in the queue: call again, or control_leave takes it out. */
bool control_turn(struct control *control, struct turn *turn);
void control_leave(struct control *control, struct turn *turn);
/* Any thread. */
void control_give_back(struct control *control);
/* Posts the transaction of the holder of the turn and puts `next` in force (NULL: the scenario does
 * not change). 0: not yet, since a look is under way; the caller keeps both. Else it has taken
 * both, and returns the number of the transaction, for control_taken. */
uint64_t control_post(struct control *control, struct transaction *transaction,
                      struct scenario *next, uint64_t now_ns);
bool control_taken(const struct control *control, uint64_t number);
/* Whether some worker has not taken the posted transaction for long; which one. */
bool control_is_late(struct control *control, uint64_t for_ns, char *text, size_t size);
/* The counters have been cleared. */
void control_cleared(struct control *control);

/* Whether one may look now; then control_look_end (any thread) ends it. */
bool control_look_begin(struct control *control);
void control_look_end(struct control *control);

/* What is known of a cloud, by ops->cloud. The ages of a path count up to now, however long ago its
 * last packet came. */
bool control_cloud(struct control *control, const char *cloud, struct cloud_report *report);
/* Any thread. Remembers what is seen now, and gives back what was seen before: false if nothing
 * was, or if the counters were cleared in between. */
bool control_look(struct control *control, const char *cloud, const struct cloud_report *report,
                  uint64_t now_ns, struct control_look *before);

#endif
