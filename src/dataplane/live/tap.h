/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taps: other processes look at the packets of a live run, each by a ring in memory of its own
 * (capture/fate_ring.h). A worker has one witness. Its clouds have this witness as long as a tap
 * looks at them. The witness hands each fate to the taps that ask for it.
 *
 * The taps in force are a set that is never modified. Control posts another set to the workers, and
 * frees the previous one when each worker has taken the new one. So a tap begins and ends between
 * two bursts, and nothing waits. Taps are posted beside the changes of a scenario, because they
 * change nothing in it.
 *
 * Thread: tap_make and tap_free: any. worker_tap_...: the worker's. The rest: control.
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

/* What a tap looks at. */
struct tap_plan {
	char target[SCENARIO_NAME_BYTES]; /* name of a cloud, template or port; "": everything */
	bool port;                        /* `target` is a port */
	uint32_t port_index;
	uint32_t kinds; /* of the fates, as bits 1 << kind */
	uint32_t snap;  /* the most bytes of a frame */
	uint32_t bare;  /* of these kinds, frames are left out: as bits 1 << kind */
	char *match;    /* condition on packets, as for clouds (match.h); or NULL */
};

struct tap {
	struct tap_plan plan;
	bool exact;
	struct match rows;
	struct classifier_filter *filter; /* or NULL */
	uint32_t n_rings;
	struct fate_ring *rings; /* one for each worker */
	void *memory;
	size_t bytes;
	bool ended; /* control's: is to be freed */
};

struct tap_set {
	uint32_t n;
	struct tap *taps[TAPS_MAX];
	uint32_t kinds; /* of all its taps */
};

/* ---- the worker's side ---- */

struct worker_tap {
	struct witness witness; /* first */
	uint32_t worker;
	const struct tap_set *set;
	struct witness *beside; /* witness of the run, which gets fates whether there are taps or
	                         * not; or NULL */
	const simtime *poll_ns; /* the instant of the worker's poll */
};

void worker_tap_init(struct worker_tap *worker_tap, uint32_t worker, const simtime *poll_ns,
                     struct witness *beside);
/* Puts another set in force. */
void worker_tap_take(struct worker_tap *worker_tap, struct engine *engine,
                     const struct tap_set *set);

/* ---- control's side ---- */

/* Returns 0, or -errno with problem. `match` is copied. Ownership: the descriptor stays the
 * caller's. */
int tap_make(const struct tap_plan *plan, uint32_t workers, int fd, struct tap **tap,
             struct problem *problem);
void tap_free(struct tap *tap); /* NULL is allowed */

#endif
