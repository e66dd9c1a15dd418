/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is watched while weir runs, and becomes events (event.h). Each step is to be called about
 * every 100 ms.
 *
 * Thread: main.
 */
#ifndef WEIR_WATCH_H
#define WEIR_WATCH_H

#include "account/counters.h"
#include "service/control.h"
#include "service/roll.h"

/*
 * The counters of drops:
 *
 *   loss       the first of each reason in each cloud, since counting began
 *   real-loss  what weir has lost since the last such event: in a cloud, or at a port; for each of
 *              them once a second at most
 *
 * A template is one cloud here. Cost: a step looks at LOSS_WATCH_AT_ONCE clouds and adds
 * LOSS_WATCH_EVENTS events at most; the next step goes on from there. So a loss in one of 65,536
 * clouds is reported within 7 s, in one of few clouds at the next step. Reading takes no lock, and
 * does not disturb the workers.
 */
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
	uint32_t cloud, from;     /* the next cloud; in a template, the next of its clouds */
	struct counters counters; /* only drops: of the template so far */
	uint32_t port;
	struct loss_watched ports[SCENARIO_PORTS_MAX];
};

void loss_watch_step(struct loss_watch *watch, struct control *control);
void loss_watch_release(struct loss_watch *watch);

/*
 * The points of schedules: of `at`, and the beginnings and ends of the windows of `every` and
 * `flap`. They follow from the scenario and virtual time alone, so their instants are exact; an
 * idle cloud may act on one later, when it makes a difference (timeline.h). A schedule has one
 * event a second at most: it gives the latest point, and how many there were since the last one
 * reported. A change of the scenario loses none of them. A step reports at most
 * SCHEDULE_WATCH_EVENTS, and the next one goes on from there, so each of many schedules has its
 * turn.
 *
 * `wave`, `trace` and `markov` change at too many points, and are not reported.
 */
#define SCHEDULE_WATCH_EVENTS 16 /* in a step; the rest follows in the next */

/* Initially all 0. */
struct schedule_watch {
	struct schedule_row *rows;
	uint32_t n, at;   /* rows; the one to check next */
	struct roll roll; /* of the clouds that `rows` refer to; empty without rows */
	bool begun;
	uint64_t changes;
	simtime seen_ns; /* of a new schedule, points after this are reported */
	simtime next_ns; /* nothing is to be reported before */
};

void schedule_watch_step(struct schedule_watch *watch, struct control *control);
void schedule_watch_release(struct schedule_watch *watch);

#endif
