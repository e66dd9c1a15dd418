/* SPDX-License-Identifier: BSD-3-Clause */
#include "holding/hold_snapshot.h"
#include "line/line.h"
#include "random/chance.h"

/* More than any delay, or deviation of one (delay.h). */
#define FAR_NS (INT64_C(1) << 56)

static bool is_near(int64_t ns)
{
	return ns > -FAR_NS && ns < FAR_NS;
}

static void jitter_snapshot(struct jitter_state *jitter, struct snapshot *snapshot)
{
	struct jitter_keep_state *keep = &jitter->keep;

	jitter->begun = snapshot_flag(snapshot, jitter->begun);
	jitter->has_z = snapshot_flag(snapshot, jitter->has_z);
	snapshot_value(snapshot, jitter->t_ns);
	snapshot_value(snapshot, jitter->z);
	snapshot_value(snapshot, keep->level);
	snapshot_value(snapshot, keep->stop);
	snapshot_value(snapshot, keep->stop_log);
	snapshot_value(snapshot, keep->rest_q32);
	snapshot_value(snapshot, jitter->netem.last);
	jitter->netem.begun = snapshot_flag(snapshot, jitter->netem.begun);
	snapshot_holds(snapshot, is_near(keep->level) && is_near(keep->stop) &&
	                                 keep->stop_log > -(INT64_C(1) << 62) &&
	                                 keep->stop_log < INT64_C(1) << 62 &&
	                                 jitter->z > -(INT64_C(1) << 62) &&
	                                 jitter->z < INT64_C(1) << 62);
}

static void choice_snapshot(struct reorder_choice *choice, struct snapshot *snapshot)
{
	snapshot_value(snapshot, choice->drawn);
	snapshot_value(snapshot, choice->since);
	chance_snapshot(&choice->chance, snapshot);
}

/* Packets that are held back, and their notes. */
static void back_snapshot(struct line *line, struct holder *holder, struct snapshot *snapshot)
{
	struct reorder_back *back = &line->back;

	snapshot_value(snapshot, back->entered);
	snapshot_value(snapshot, back->latest);
	snapshot_value(snapshot, back->passed);
	snapshot_value(snapshot, back->released);
	choice_snapshot(&back->choice, snapshot);
	log_snapshot(&back->packets, holder, false, snapshot);
	notes_snapshot(&back->notes, holder, snapshot);
	snapshot_value(snapshot, line->back_deadline);
	snapshot_holds(snapshot, back->packets.records == back->notes.records &&
	                                 (line->back_deadline == SIMTIME_NEVER) ==
	                                         (back->packets.records == 0));
}

static void moments_snapshot(struct line_moments *moments, struct snapshot *snapshot)
{
	snapshot_value(snapshot, moments->packets);
	snapshot_value(snapshot, moments->sum);
	snapshot_value(snapshot, moments->square);
}

/* Makes sure that a restored line has a wheel. A past change of a schedule may have brought the
 * wheel; the line that is restored has not got it yet, and makes its own. */
static bool has_wheel(struct line *line, struct holder *holder, struct snapshot *snapshot)
{
	if (!line->wheel)
		line->wheel = wheel_make(&holder->arena);
	return snapshot_holds(snapshot, line->wheel != NULL);
}

static bool has_in_flight(struct line *line, struct snapshot *snapshot)
{
	if (!line->in_flight)
		line->in_flight = in_flight_make();
	return snapshot_holds(snapshot, line->in_flight != NULL);
}

void line_snapshot(struct line *line, struct holder *holder, simtime now, struct snapshot *snapshot)
{
	snapshot_value(snapshot, line->last_due);
	snapshot_value(snapshot, line->held);
	snapshot_value(snapshot, line->drawn);
	snapshot_value(snapshot, line->waits);
	snapshot_value(snapshot, line->waited_ns);
	moments_snapshot(&line->moments, snapshot);
	jitter_snapshot(&line->jitter, snapshot);
	back_snapshot(line, holder, snapshot);
	if (snapshot_flag(snapshot, line->in_flight != NULL) && has_in_flight(line, snapshot))
		in_flight_snapshot(line->in_flight, &holder->arena, snapshot);
	log_snapshot(&line->log, holder, true, snapshot);
	if (snapshot_flag(snapshot, line->wheel != NULL) && has_wheel(line, holder, snapshot))
		wheel_snapshot(line->wheel, holder, line->cloud, now, NULL, snapshot);
	line->drains = line->shared && !line_is_empty(line);
	snapshot_holds(snapshot, line->last_due < SIMTIME_NEVER / 2);
}
