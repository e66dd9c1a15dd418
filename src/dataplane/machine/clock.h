/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock of a live run: the processor's time stamp counter (TSC), converted to nanoseconds since
 * the start of the run, and kept in step with CLOCK_MONOTONIC_RAW.
 *
 * Model. Between two corrections the clock is a straight line,
 *
 *   ns = base_ns + (tsc - base_tsc) * rate        rate in ns a tick, as mult / 2^CLOCK_SHIFT
 *
 * clock_start() takes the rate from two samples at least CLOCK_START_NS apart. Then
 * clock_discipline(), called about every 100 ms, replaces the line by a new one. The new line
 * begins exactly where the old line is at that tick, so the clock never jumps. The rate of the new
 * line is the measured rate, bent so that the present error would be gone after CLOCK_SLEW_NS, or
 * after eight intervals between corrections if they are long. The rate is measured over the last 8
 * to 16 s. An error above CLOCK_LOST_NS means that the rate itself has changed: earlier
 * measurements are dropped, and the rate is measured from the last two samples alone.
 *
 * A sample is a pair of readings (TSC, CLOCK_MONOTONIC_RAW). Its error is that of reading two
 * clocks one after the other, some tens of ns; clock_sample() takes the tightest of several. A rare
 * sample is wrong all the same, because the thread lost the processor between the two readings. So
 * the correction uses the median of the last CLOCK_MEMORY errors, and a sample whose error is
 * further than CLOCK_STRAY_NS from the median does not affect the measured rate.
 *
 * Range: a line holds for a day without correction. Slewing is limited to CLOCK_SLEW_PPM.
 *
 * Thread: one writer (control); any number of readers, which never wait for the writer: there are
 * two lines, and the writer changes only the line that is not in force.
 *
 * Determinism: the result of every function but clock_sample() and clock_now() depends on its
 * arguments alone.
 */
#ifndef WEIR_CLOCK_H
#define WEIR_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_cycles.h>

#include "simtime.h"

#define CLOCK_SHIFT    58 /* rates up to 64 ns a tick, in steps of 3.5e-18 */
#define CLOCK_START_NS (20 * SIMTIME_MS)
#define CLOCK_SLEW_NS  SIMTIME_S
#define CLOCK_SLEW_PPM 2000
#define CLOCK_LOST_NS  (20 * SIMTIME_US)
#define CLOCK_SPAN_NS  (8 * SIMTIME_S)
#define CLOCK_STRAY_NS 150
#define CLOCK_MEMORY   5

/* Returns CLOCK_MONOTONIC, for what has nothing to do with the instants of packets: pauses,
 * timeouts, progress. Thread: any. */
uint64_t clock_machine_ns(void);

struct clock_sample {
	uint64_t tsc;
	uint64_t raw_ns; /* CLOCK_MONOTONIC_RAW */
};

struct clock_line {
	uint64_t base_tsc;
	uint64_t mult;
	uint64_t base_ns;
};

struct clock {
	uint64_t turn; /* line[turn & 1] is in force */
	struct clock_line line[2];
	/* control only */
	uint64_t origin_raw_ns;
	struct clock_sample older, newer, last; /* the rate is measured from `older` */
	uint64_t slew_ns;
	double rate_ns;                  /* ns a tick, as measured */
	int64_t errors_ns[CLOCK_MEMORY]; /* the latest first; positive: the clock is ahead */
};

/* Starts the clock, which reads 0 at `second`. Returns 0, or -ERANGE if the second sample does not
 * follow the first, or the counter runs slower than 16 MHz. */
int clock_start(struct clock *clock, const struct clock_sample *first,
                const struct clock_sample *second);
/* Corrects the clock. Ignores a sample that does not follow the last one. */
void clock_discipline(struct clock *clock, const struct clock_sample *sample);
/* Takes the tightest of several readings of both clocks. */
void clock_sample(struct clock_sample *sample);
/* Samples, waits CLOCK_START_NS, samples again, and starts the clock. */
int clock_calibrate(struct clock *clock);

static inline simtime clock_line_ns(const struct clock_line *line, uint64_t tsc)
{
	if (tsc >= line->base_tsc)
		return line->base_ns +
		       (uint64_t)(((unsigned __int128)(tsc - line->base_tsc) * line->mult) >>
		                  CLOCK_SHIFT);
	/* `tsc` was read before the line came into force */
	uint64_t back =
	        (uint64_t)(((unsigned __int128)(line->base_tsc - tsc) * line->mult) >> CLOCK_SHIFT);

	return back < line->base_ns ? line->base_ns - back : 0;
}

/* Returns a copy of the line in force. The copy is repeated if a correction came in between. */
static inline struct clock_line clock_line_now(const struct clock *clock)
{
	struct clock_line line;
	uint64_t turn, again;

	do {
		turn = __atomic_load_n(&clock->turn, __ATOMIC_ACQUIRE);
		const struct clock_line *from = &clock->line[turn & 1];

		line.base_tsc = __atomic_load_n(&from->base_tsc, __ATOMIC_RELAXED);
		line.mult = __atomic_load_n(&from->mult, __ATOMIC_RELAXED);
		line.base_ns = __atomic_load_n(&from->base_ns, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		again = __atomic_load_n(&clock->turn, __ATOMIC_RELAXED);
	} while (turn != again);
	return line;
}

/* Returns the instant of a reading of the TSC. It may step back by a nanosecond where two lines
 * meet: a reader that must not see that keeps the greatest instant that it has seen. */
static inline simtime clock_ns(const struct clock *clock, uint64_t tsc)
{
	struct clock_line line = clock_line_now(clock);

	return clock_line_ns(&line, tsc);
}

/* Returns the tick at which the clock reads `ns`, by the line in force. Exact to a tick within
 * seconds of now. */
static inline uint64_t clock_tick(const struct clock *clock, simtime ns)
{
	struct clock_line line = clock_line_now(clock);
	double ticks_a_ns = (double)(UINT64_C(1) << CLOCK_SHIFT) / (double)line.mult;
	double ticks = (double)(int64_t)(ns - line.base_ns) * ticks_a_ns;

	return line.base_tsc + (uint64_t)(int64_t)ticks;
}

static inline simtime clock_now(const struct clock *clock)
{
	return clock_ns(clock, rte_rdtsc());
}

/*
 * Instants of the wall clock (CLOCK_REALTIME), with which the kernel stamps frames, as instants of
 * weir's clock.
 *
 * The wall clock may step, and its rate may be bent. So the difference between the two clocks is
 * read again whenever frames have been received: the tightest of a few readings, some tens of ns
 * wide. A difference that has changed by more than the rates explain is a step. Frames that were
 * stamped before the step may still wait; for these the former difference holds. A stamp is
 * converted with both differences, and the later instant that is not in the future counts. So a
 * step makes a frame too young rather than too old, and no packet leaves early.
 * wall_clock_settle() ends that.
 *
 * Determinism: wall_clock_note() and wall_clock_instant() depend on their arguments alone.
 * Thread: the worker that receives the frames.
 */

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
