/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timeline of a cloud: what changes in it, and when, in virtual time.
 *
 * Model: two layers. The lower layer has the statements of the cloud; `at` changes it permanently.
 * On top of it, at most one of `every`, `flap`, `wave`, `trace` and `markov` per statement puts
 * something else in force for a while, and takes it away again: then the lower layer is in force,
 * as it is by then. Each of these schedules is a *track*: a sequence of points in time, prepared by
 * control or computed one from the other, in integers, without allocating.
 *
 * Instants are counted from the beginning of the run (cloud->origin_ns). At one instant, the order
 * is: departures from the link and releases by reordering; then the changes, `at` first and the
 * others in the order of the statement table; then arrivals. A change of rate is exact even inside
 * a packet (link.h).
 *
 * Changes are executed when they can have an effect: at the next arrival, and, while the cloud has
 * a queue or holds packets back, at their instants. So a cloud at rest costs nothing, and a run
 * ends although a schedule does not. A cloud at rest may skip a window of which there is a later
 * one: the later one leaves all that the first would. A setting that takes over from its like keeps
 * what that has, or limits it, or begins again, and a second time changes nothing more.
 *
 * Precedence: a statement that the user gives while a schedule runs is in force at once, until the
 * schedule's next point for it. A schedule that is given again continues where it is at that
 * instant. Points of `at` that have passed are not executed, neither again nor belatedly. If one of
 * them was removed, its statement becomes what it would be had that point never existed. What a
 * point has made of a statement counts until the user gives that statement again.
 *
 * Draws: a statement that returns continues its sequence of random draws; none is repeated
 * (setting.h).
 *
 * Thread: made and freed by control, run by the worker that owns the cloud.
 */
#ifndef WEIR_TIMELINE_H
#define WEIR_TIMELINE_H

#include "engine/setting.h"

/* A set of settings, one bit each: the link, its AQM, the line, or the stage of a statement.
 * Classes and their settings have no bit: they do not change with time. */
typedef uint64_t timeline_places;

struct track {
	simtime next;           /* instant of its next point; SIMTIME_NEVER: none */
	timeline_places places; /* the settings that it is put on top of */
	bool on;                /* it is on top at present */
	bool waits; /* the user has given a statement of it again: it is off until its next point */
	bool kept;  /* a change of other statements has made it again: it goes on waiting */
	/* Takes over from the track of its kind in the timeline that is replaced, which has
	 * executed everything up to the present and is off. NULL: there is only `waits`. */
	void (*inherit)(struct track *track, const struct track *old);
	/* Finds the track's place in time: sets the next point, and whether it is on from `now` on;
	 * if so, puts it on. */
	void (*enter)(struct track *track, struct cloud *cloud, simtime now);
	/* Executes the next point. If `until` is later, applies what all points up to and including
	 * `until` lead to, for a cloud at rest. */
	void (*run)(struct track *track, struct cloud *cloud, simtime until);
	/* Takes off what the track has on top at present. */
	void (*take_off)(struct track *track, struct cloud *cloud, simtime now);
	/* Exchanges a setting with what the track covers, which is of a place of the track. What is
	 * on top stays in force as it is. Returns false, and changes nothing, if the track covers
	 * nothing of that kind at present. NULL: the track changes the lower layer. */
	bool (*put_below)(struct track *track, struct cloud *cloud, struct setting *setting,
	                  simtime now);
	/* Recomputes the keys of the track's draws, because the cloud has got its name, from which
	 * they are derived. The track is off. NULL: it has no draws. */
	void (*key)(struct track *track, const struct cloud *cloud, uint64_t seed);
	/* Writes or reads the state of the track, and of its settings, whether in force or put
	 * aside (snapshot.h). Both engines have executed all points up to the instant of the
	 * snapshot. NULL: there is no state. */
	void (*snapshot)(struct track *track, struct snapshot *snapshot);
	/* Thread: control. */
	void (*free)(struct track *track);
};

#define TIMELINE_TRACKS_MAX CLOUD_CONFS_MAX

struct timeline {
	uint32_t n;
	struct track *track[TIMELINE_TRACKS_MAX];
};

/* Frees a timeline that is not in force, or whose cloud is being freed. Thread: control. */
void timeline_free(struct timeline *timeline);

/* ---- worker ---- */

/* Executes what is due at cloud->change; `until` as for `run` of struct track. */
void timeline_run(struct cloud *cloud, simtime until);
/* Executes everything up to and including `now`, also in a cloud at rest. */
void timeline_keep_up(struct cloud *cloud, simtime now);
/* Takes off everything that is on top, and stops the timeline. Thread: also control, when no worker
 * runs the cloud. */
void timeline_take_off(struct cloud *cloud, simtime now);
/* Executes what is due, then does the same. Called before the settings of a change are applied. */
void timeline_end(struct cloud *cloud, simtime now);
/* Starts the timeline that is in the cloud. Called after the settings of a change are applied. */
void timeline_begin(struct cloud *cloud, simtime now);
/* Exchanges the cloud's timeline, which has ended, for another one, which takes over from it but
 * does not start. */
void timeline_exchange(struct cloud *cloud, struct timeline **timeline);
/* Recomputes the keys of all draws of the tracks from the cloud's name, which did not exist when
 * the tracks were made. */
void timeline_key(struct cloud *cloud, uint64_t seed);
/* Applies a setting to the lower layer; what covers it stays as it is. */
void timeline_apply_below(struct cloud *cloud, struct setting *setting, timeline_places place,
                          simtime now);

#endif
