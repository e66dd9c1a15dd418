/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Instants of the wall clock (CLOCK_REALTIME), with which the kernel stamps frames, as instants of
 * weir's clock.
 *
 * The wall clock may step, and its rate may be bent. So the difference between the two clocks is
 * read again whenever frames have been received: the tightest of a few readings, some tens of ns
 * wide. A difference that has changed by more than the rates explain is a step. Frames that were
 * stamped before the step may still wait; for these the former difference holds. Of an instant by
 * the former difference and one by the present difference, the later one that is not in the future
 * counts: so a step makes a frame too young rather than too old, and no packet leaves early.
 * wall_clock_settle() ends that.
 *
 * Determinism: wall_clock_note() and wall_clock_instant() depend on their arguments alone.
 * Thread: the worker that receives the frames.
 */
#ifndef WEIR_WALL_CLOCK_H
#define WEIR_WALL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/clock.h"

/* The difference may change by this much between two readings, and by one part in
 * WALL_CLOCK_BEND of the time between them. Otherwise the wall clock has stepped. */
#define WALL_CLOCK_STEP_NS (20 * SIMTIME_US)
#define WALL_CLOCK_BEND    256

struct wall_clock {
	int64_t ahead_ns;  /* the wall clock minus weir's */
	int64_t former_ns; /* before the step, if there was one that is not settled */
	simtime read;      /* when the difference was read last */
	bool begun;
	uint8_t unsettled; /* calls of wall_clock_settle until `former_ns` is out of use */
};

/* Notes that the wall clock read `wall_ns` when weir's clock read `now`. */
void wall_clock_note(struct wall_clock *wall, uint64_t wall_ns, simtime now);
/* Reads both clocks, and notes that. Returns weir's, which is not before either reading. */
simtime wall_clock_read(struct wall_clock *wall, const struct clock *clock);

/* Returns weir's instant of a stamp that was taken before the latest reading: never after that
 * reading. */
static inline simtime wall_clock_instant(const struct wall_clock *wall, uint64_t wall_ns)
{
	const int64_t now = (int64_t)wall->read;
	const int64_t former = (int64_t)wall_ns - wall->former_ns;
	int64_t at = (int64_t)wall_ns - wall->ahead_ns;

	/* The readings of a pair are not quite at one instant. */
	if (at > now && at <= now + (int64_t)WALL_CLOCK_STEP_NS)
		at = now;
	if (__builtin_expect(former <= now && (former > at || at > now), 0))
		at = former;
	return at > now ? wall->read : at > 0 ? (simtime)at : 0;
}

/* Called when no frame is left of those that waited at the latest call of wall_clock_read. Frames
 * that came between that and the reading itself may still wait, so a step is settled by the second
 * call. */
static inline void wall_clock_settle(struct wall_clock *wall)
{
	if (wall->unsettled > 0 && --wall->unsettled == 0)
		wall->former_ns = wall->ahead_ns;
}

#endif
