/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/wall_clock.h"

#include <time.h>

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
