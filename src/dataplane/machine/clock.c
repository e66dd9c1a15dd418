/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/clock.h"

#include <errno.h>
#include <time.h>

#include <rte_common.h>

#define SAMPLE_TRIES 16

static uint64_t rate_to_mult(double rate_ns)
{
	return (uint64_t)(rate_ns * (double)(UINT64_C(1) << CLOCK_SHIFT));
}

static double rate_between(const struct clock_sample *from, const struct clock_sample *to)
{
	return (double)(to->raw_ns - from->raw_ns) / (double)(to->tsc - from->tsc);
}

static void line_publish(struct clock *clock, uint64_t base_tsc, simtime base_ns, uint64_t mult)
{
	uint64_t turn = clock->turn + 1;
	struct clock_line *line = &clock->line[turn & 1];

	/* A reader may still copy this line, which was in force two turns ago. It must see that the
	 * turn has changed before it can see a word that is written here. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&line->base_tsc, base_tsc, __ATOMIC_RELAXED);
	__atomic_store_n(&line->base_ns, base_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&line->mult, mult, __ATOMIC_RELAXED);
	__atomic_store_n(&clock->turn, turn, __ATOMIC_RELEASE);
}

int clock_start(struct clock *clock, const struct clock_sample *first,
                const struct clock_sample *second)
{
	if (second->tsc <= first->tsc || second->raw_ns <= first->raw_ns)
		return -ERANGE;
	double rate = rate_between(first, second);

	if (rate >= 60.0)
		return -ERANGE;
	*clock = (struct clock){
	        .origin_raw_ns = second->raw_ns,
	        .older = *first,
	        .newer = *second,
	        .last = *second,
	        .rate_ns = rate,
	};
	line_publish(clock, second->tsc, 0, rate_to_mult(rate));
	return 0;
}

static double clamp(double value, double limit)
{
	return value > limit ? limit : value < -limit ? -limit : value;
}

static int64_t median(const int64_t v[CLOCK_MEMORY])
{
	for (int i = 0; i < CLOCK_MEMORY; i++) {
		int below = 0, equal = 0;

		for (int k = 0; k < CLOCK_MEMORY; k++) {
			below += v[k] < v[i];
			equal += v[k] == v[i];
		}
		if (below <= CLOCK_MEMORY / 2 && below + equal > CLOCK_MEMORY / 2)
			return v[i];
	}
	return v[0];
}

static int64_t magnitude(int64_t value)
{
	return value < 0 ? -value : value;
}

void clock_discipline(struct clock *clock, const struct clock_sample *sample)
{
	if (sample->tsc <= clock->last.tsc || sample->raw_ns <= clock->last.raw_ns)
		return;
	simtime is = clock_ns(clock, sample->tsc);
	simtime ought = sample->raw_ns - clock->origin_raw_ns;
	int64_t error_ns = (int64_t)(is - ought);

	uint64_t interval_ns = sample->raw_ns - clock->last.raw_ns;

	/* An interval that was long once may be long again. If the bend were made for a short
	 * interval, a small error would be overshot many times over, so it is made for the longest
	 * recent interval. */
	clock->slew_ns -= clock->slew_ns / 64;
	clock->slew_ns = RTE_MAX(RTE_MAX(interval_ns * 8, CLOCK_SLEW_NS), clock->slew_ns);

	for (int i = CLOCK_MEMORY - 1; i > 0; i--)
		clock->errors_ns[i] = clock->turn == 1 ? error_ns : clock->errors_ns[i - 1];
	clock->errors_ns[0] = error_ns;
	int64_t middle_ns = median(clock->errors_ns);

	if (magnitude(error_ns) > (int64_t)CLOCK_LOST_NS) {
		clock->older = clock->last;
		clock->newer = *sample;
		clock->rate_ns = rate_between(&clock->older, sample);
		middle_ns = error_ns;
	} else if (magnitude(error_ns - middle_ns) <= CLOCK_STRAY_NS) {
		if (sample->raw_ns - clock->newer.raw_ns >= CLOCK_SPAN_NS) {
			clock->older = clock->newer;
			clock->newer = *sample;
		}
		clock->rate_ns = rate_between(&clock->older, sample);
	}
	clock->last = *sample;
	double bend = clamp(-(double)middle_ns / (double)clock->slew_ns, CLOCK_SLEW_PPM * 1e-6);

	line_publish(clock, sample->tsc, is, rate_to_mult(clock->rate_ns * (1.0 + bend)));
}

static uint64_t read_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * SIMTIME_S + (uint64_t)ts.tv_nsec;
}

uint64_t clock_machine_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

void clock_sample(struct clock_sample *sample)
{
	uint64_t tightest = UINT64_MAX;

	for (int i = 0; i < SAMPLE_TRIES; i++) {
		uint64_t before = rte_rdtsc_precise();
		uint64_t raw_ns = read_ns(CLOCK_MONOTONIC_RAW);
		uint64_t width = rte_rdtsc_precise() - before;

		if (width < tightest) {
			tightest = width;
			sample->tsc = before + width / 2;
			sample->raw_ns = raw_ns;
		}
	}
}

int clock_calibrate(struct clock *clock)
{
	struct clock_sample first, second;
	const struct timespec pause = {.tv_nsec = (long)CLOCK_START_NS};

	clock_sample(&first);
	for (struct timespec left = pause; nanosleep(&left, &left) < 0 && errno == EINTR;)
		;
	clock_sample(&second);
	return clock_start(clock, &first, &second);
}

#define READ_TRIES 4
/* A reading of both clocks that is as tight as this is not repeated. */
#define READ_TIGHT_NS 500

void wall_clock_note(struct wall_clock *wall, uint64_t wall_ns, simtime now)
{
	const int64_t ahead_ns = (int64_t)(wall_ns - now), change_ns = ahead_ns - wall->ahead_ns;
	const simtime since = now > wall->read ? now - wall->read : 0;
	const int64_t most = (int64_t)(WALL_CLOCK_STEP_NS + since / WALL_CLOCK_BEND);

	if (wall->begun && (change_ns > most || change_ns < -most)) {
		wall->former_ns = wall->ahead_ns;
		wall->unsettled = 2;
	} else if (wall->unsettled == 0) {
		wall->former_ns = ahead_ns;
	}
	wall->begun = true;
	wall->ahead_ns = ahead_ns;
	wall->read = now;
}

static uint64_t read_wall(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * SIMTIME_S + (uint64_t)ts.tv_nsec;
}

simtime wall_clock_read(struct wall_clock *wall, const struct clock *clock)
{
	simtime before = clock_now(clock), now = before, middle = before, tightest = SIMTIME_NEVER;
	uint64_t wall_ns = 0;

	for (int i = 0; i < READ_TRIES && tightest > READ_TIGHT_NS; i++, before = now) {
		uint64_t reading = read_wall();

		now = simtime_max(clock_now(clock), before);
		if (now - before >= tightest)
			continue;
		tightest = now - before;
		middle = before + tightest / 2;
		wall_ns = reading;
	}
	wall_clock_note(wall, wall_ns, middle);
	/* A stamp is compared with the latest reading. */
	wall->read = now;
	return now;
}
