/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taps: who looks at packets of a live run from outside, by way of a ring in memory of his own
 * (capture/fate_ring.h). A worker has one witness, which its clouds have as long as a tap looks at
 * them; it hands each fate to the taps that ask for it.
 *
 * Which taps there are is a set that does not change. Control posts another set to the workers, and
 * frees what was there before when each has taken it: a tap begins and ends between two bursts, and
 * nobody waits. Beside a scenario's changes: it changes nothing.
 *
 * Thread: tap_make and tap_free any; worker_tap_... the worker's; the rest control's.
 */
#ifndef WEIR_TAP_H
#define WEIR_TAP_H

#include "account/witness.h"
#include "capture/fate_ring.h"
#include "engine/engine.h"
#include "live/mailbox.h"
#include "match/filter.h"
#include "match/match.h"

#define TAPS_MAX 8 /* at a time */

struct runtime;

/* What is looked at. */
struct tap_plan {
	char target[SCENARIO_NAME_BYTES]; /* a cloud or a template, a port, or "": all */
	bool port;                        /* it is a port */
	uint32_t port_index;
	uint32_t kinds; /* of fates, as bits 1 << kind */
	uint32_t snap;  /* bytes of a frame, at most */
	char *match;    /* which packets, as clouds choose them (match.h); or NULL */
};

struct tap {
	struct tap_plan plan;
	bool exact;
	struct match rows;
	struct classifier_filter *filter; /* or NULL */
	uint32_t n_rings;
	struct fate_ring *rings; /* of each worker */
	void *memory;
	size_t bytes;
	bool ended; /* control's: it is to go */
};

struct tap_set {
	uint32_t n;
	struct tap *taps[TAPS_MAX];
	uint32_t kinds; /* of all */
};

/* ---- the worker's end ---- */

struct worker_tap {
	struct witness witness; /* first */
	uint32_t worker;
	const struct tap_set *set;
	struct witness *beside; /* of the run, told of fates whoever taps; or NULL */
	const simtime *poll_ns; /* of the worker */
};

void worker_tap_init(struct worker_tap *worker_tap, uint32_t worker, const simtime *poll_ns,
                     struct witness *beside);
/* Another set is in force. */
void worker_tap_take(struct worker_tap *worker_tap, struct engine *engine,
                     const struct tap_set *set);

/* ---- control's end ---- */

/* 0, or -errno with problem. `match` is copied; the descriptor stays the caller's. */
int tap_make(const struct tap_plan *plan, uint32_t workers, int fd, struct tap **tap,
             struct problem *problem);
void tap_free(struct tap *tap); /* NULL is allowed */

#endif
