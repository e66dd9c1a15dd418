/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells the points of schedules (event.h): of `at`, and the beginnings and ends of the windows of
 * `every` and `flap`. They follow from the scenario and virtual time alone, so their instants are
 * exact; a cloud at rest may act on one later, when it makes a difference (timeline.h). Of each
 * schedule at most one event a second: it has the latest point, and how many there were since the
 * one that was told before. A change of the scenario loses none of them. A step tells at most
 * SCHEDULE_WATCH_EVENTS, and the next one goes on from there: of many schedules each has its turn.
 *
 * `wave`, `trace` and `markov` change at points without number, and are not told.
 *
 * Thread: control's.
 */
#ifndef WEIR_SCHEDULE_WATCH_H
#define WEIR_SCHEDULE_WATCH_H

#include "service/control.h"
#include "service/roll.h"

#define SCHEDULE_WATCH_EVENTS 16 /* in a step; what is left comes with the next */

/* All 0 at first. */
struct schedule_watch {
	struct schedule_row *rows;
	uint32_t n, at;   /* rows; the one that is looked at next */
	struct roll roll; /* of the clouds that `rows` count; empty without rows */
	bool begun;
	uint64_t changes;
	simtime seen_ns; /* of a schedule that is new, points after this are told */
	simtime next_ns; /* nothing is to be told before */
};

/* About every 100 ms. */
void schedule_watch_step(struct schedule_watch *watch, struct control *control);
void schedule_watch_release(struct schedule_watch *watch);

#endif
