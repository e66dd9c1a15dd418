/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timeline of a cloud: what changes in it, and when, in virtual time.
 *
 * Model: two layers. The lower one has the statements of the cloud; `at` changes that for good. On
 * top of it, for each statement at most one of `every`, `flap`, `wave`, `trace` and `markov` puts
 * something else in force for a while, and takes it away again: then the lower layer is in force,
 * as it is by then. Each of them is a *track*: a sequence of points in time, prepared by control or
 * computed from one to the next, of integers, without allocating.
 *
 * Instants are counted from the beginning of the run (cloud->origin_ns). At one instant the order
 * is: what leaves the link, or what reordering gives up, then the changes, `at` first and the
 * others in the order of the statement table, then what arrives. A change of rate is exact inside a
 * packet (link.h).
 *
 * Changes are executed when they can have an effect: at the next arrival, and at their instants
 * while the cloud has a queue or holds something back. So a cloud at rest costs nothing, and a run
 * ends although a schedule does not. A cloud at rest may skip points whose effect the next ones
 * revert.
 *
 * Precedence: a statement that the user gives while a schedule runs is in force at once, until the
 * schedule's next point for it. A schedule that is given again continues where it is at that
 * instant. Points of `at` that have gone by are not made up for, unless one of them was taken away:
 * then its statement is as if the point had never existed.
 *
 * Draws: a statement that comes back continues its sequence of random draws; none is repeated
 * (setting.h).
 *
 * Thread: made and freed by control, run by the worker that owns the cloud.
 */
#ifndef WEIR_TIMELINE_H
#define WEIR_TIMELINE_H

#include "engine/setting.h"

/* Which settings: the link, its AQM, the line, or the stage of a statement. One bit each; classes,
 * and what is theirs, have none: they do not change with time. */
typedef uint64_t timeline_places;

struct track {
	simtime next;           /* its next point; SIMTIME_NEVER: none */
	timeline_places places; /* that it is on top of */
	bool on;                /* it is, at present */
	bool waits; /* the user has given a statement of it again: not before its next point */
	/* Finds its place in time: the next point, and whether it is on from `now` on; puts itself
	 * on. */
	void (*enter)(struct track *track, struct cloud *cloud, simtime now);
	/* Executes its next point; if `until` is later, what all points up to and at `until` lead
	 * to, for a cloud at rest. */
	void (*run)(struct track *track, struct cloud *cloud, simtime until);
	/* Puts what it has at present on top, and takes it away. NULL: it changes what lies
	 * below. */
	void (*put_on)(struct track *track, struct cloud *cloud, simtime now);
	void (*take_off)(struct track *track, struct cloud *cloud, simtime now);
	/* Its cloud has got its name, from which its draws follow; it is not on. NULL: it has
	 * none. */
	void (*key)(struct track *track, const struct cloud *cloud, uint64_t seed);
	/* What the statements remember that it has, in force or put aside, and it itself
	 * (snapshot.h). All of its points up to the instant of the snapshot have been executed, in
	 * both engines. NULL: nothing. */
	void (*snapshot)(struct track *track, struct snapshot *snapshot);
	/* Control. */
	void (*free)(struct track *track);
};

#define TIMELINE_TRACKS_MAX CLOUD_CONFS_MAX

struct timeline {
	uint32_t n;
	struct track *track[TIMELINE_TRACKS_MAX];
};

/* Control: when it is not in force, or its cloud goes. */
void timeline_free(struct timeline *timeline);

/* ---- worker ---- */

/* Executes what is due at cloud->change; see run of struct track. */
void timeline_run(struct cloud *cloud, simtime until);
/* Everything up to and at `now`, also of a cloud at rest. */
void timeline_keep_up(struct cloud *cloud, simtime now);
/* Takes everything off that is on top; nothing is executed any more. Control too, when no worker
 * runs the cloud. */
void timeline_take_off(struct cloud *cloud, simtime now);
/* Before the settings of a change: the same, after what is due. */
void timeline_end(struct cloud *cloud, simtime now);
/* After them: the timeline in the cloud is taken up. */
void timeline_begin(struct cloud *cloud, simtime now);
/* The timeline in the place of the cloud's, which is taken up at `now`. */
void timeline_exchange(struct timeline_change *item, simtime now);
/* All its tracks' draws follow from the cloud's name, which it did not have when they were made. */
void timeline_key(struct cloud *cloud, uint64_t seed);
/* A setting below: applied as if nothing were on top of it. */
void timeline_apply_below(struct cloud *cloud, struct setting *setting, timeline_places place,
                          simtime now);

#endif
