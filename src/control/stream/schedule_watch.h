/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports the points of schedules as events (event.h): of `at`, and the beginnings and ends of the
 * windows of `every` and `flap`. The points follow from the scenario and virtual time alone, so
 * their instants are exact; an idle cloud may act on one later, when it makes a difference
 * (timeline.h). A schedule has one event a second at most: it gives the latest point, and how many
 * there were since the last one reported. A change of the scenario loses none of them. A step
 * reports at most SCHEDULE_WATCH_EVENTS, and the next one goes on from there, so each of many
 * schedules has its turn.
 *
 * `wave`, `trace` and `markov` change at too many points, and are not reported.
 *
 * Thread: control.
 */
#ifndef WEIR_SCHEDULE_WATCH_H
#define WEIR_SCHEDULE_WATCH_H

#include "service/control.h"
#include "service/roll.h"

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

/* To be called about every 100 ms. */
void schedule_watch_step(struct schedule_watch *watch, struct control *control);
void schedule_watch_release(struct schedule_watch *watch);

#endif
