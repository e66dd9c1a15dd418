/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Watches the counters of drops, and adds events (event.h):
 *
 *   loss       the first of each reason in each cloud, since counting began
 *   real-loss  what weir has lost since the last such event: in a cloud, or at a port; for each of
 *              them once a second at most
 *
 * A template is one cloud here. Cost: a step looks at LOSS_WATCH_AT_ONCE clouds and adds
 * LOSS_WATCH_EVENTS events at most; the next step goes on from there. So a loss in one of 65,536
 * clouds is reported within 7 s, in one of few clouds at the next step. Reading takes no lock, and
 * does not disturb the workers.
 *
 * Thread: control.
 */
#ifndef WEIR_LOSS_WATCH_H
#define WEIR_LOSS_WATCH_H

#include "account/reason.h"
#include "service/control.h"
#include "service/roll.h"

#define LOSS_WATCH_AT_ONCE 1024
#define LOSS_WATCH_EVENTS  16
/* The memory for a cloud, with its part of the roll and of the roll's hash table. */
#define LOSS_WATCH_CLOUD_BYTES (sizeof(struct loss_watched) + ROLL_CLOUD_BYTES + 16)

struct loss_watched {
	uint32_t told;   /* reasons that were reported, a bit each */
	uint32_t second; /* of the run, from 1, of the last report of real losses */
	uint64_t real;   /* real losses reported so far */
};

/* Initially all 0. */
struct loss_watch {
	struct roll roll;
	struct loss_watched *clouds;
	uint64_t changes, cleared_ns;
	bool begun;
	uint32_t cloud, from;         /* the next cloud; in a template, the next of its clouds */
	uint64_t drops[REASON_COUNT]; /* of the template so far */
	uint32_t port;
	struct loss_watched ports[SCENARIO_PORTS_MAX];
};

/* To be called about every 100 ms. */
void loss_watch_step(struct loss_watch *watch, struct control *control);
void loss_watch_release(struct loss_watch *watch);

#endif
