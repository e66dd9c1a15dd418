/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "explain/walk.h"

simtime ground_got_ns(const struct ground *ground, const struct passage *passage)
{
	if (ground->deaf)
		return passage->sent_ns;
	return passage->fate == PASSAGE_ARRIVED ? passage->arrived_ns : SIMTIME_NEVER;
}

static int by_arrival(const void *a, const void *b, void *way)
{
	const struct passage *one = way_at(way, *(const uint32_t *)a);
	const struct passage *two = way_at(way, *(const uint32_t *)b);

	if (one->arrived_ns != two->arrived_ns)
		return one->arrived_ns < two->arrived_ns ? -1 : 1;
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static bool order(struct ground *ground, int which)
{
	const struct way *way = &ground->flow->ways[which];
	uint32_t *numbers = malloc(((size_t)way_kept(way) + 1) * sizeof(*numbers)), n = 0;
	simtime latest = 0;
	bool sorted = true;

	if (!numbers)
		return false;
	for (uint32_t i = way->first; i < way->end; i++) {
		const simtime got_ns = ground_got_ns(ground, way_at(way, i));

		if (got_ns == SIMTIME_NEVER)
			continue;
		sorted = sorted && got_ns >= latest;
		latest = got_ns;
		numbers[n++] = i;
	}
	if (!sorted)
		qsort_r(numbers, n, sizeof(*numbers), by_arrival, (void *)(uintptr_t)way);
	ground->order[which] = numbers;
	ground->n[which] = n;
	return true;
}

/* A host reacts at once within an eighth of the round trip, which leaves room for a busy machine.
 * What is behind a capture is as far away as the first answer has taken. */
#define SOON_LEAST_NS (3 * SIMTIME_MS)
#define SOON_MOST_NS  (25 * SIMTIME_MS)

static void choose_soon(struct ground *ground)
{
	const struct way *up = &ground->flow->ways[FLOW_UP], *down = &ground->flow->ways[FLOW_DOWN];
	simtime trip_ns = 0;

	if (ground->n[FLOW_UP] > 0 && ground->n[FLOW_DOWN] > 0) {
		const struct passage *out = way_at(up, ground->order[FLOW_UP][0]);
		const struct passage *back = way_at(down, ground->order[FLOW_DOWN][0]);
		const simtime got_ns = ground_got_ns(ground, back);

		trip_ns = got_ns > out->sent_ns ? got_ns - out->sent_ns : 0;
	}
	ground->trip_ns = trip_ns;
	for (int i = 0; i < FLOW_WAYS; i++)
		ground->soon_ns[i] =
		        simtime_max(SOON_LEAST_NS, simtime_min(SOON_MOST_NS, trip_ns / 8));
	if (ground->deaf)
		ground->soon_ns[FLOW_DOWN] = simtime_max(SOON_LEAST_NS, trip_ns + trip_ns / 4);
}

bool ground_begin(struct ground *ground, const struct flow *flow, bool deaf)
{
	*ground = (struct ground){.flow = flow, .deaf = deaf};
	if (!order(ground, FLOW_UP) || !order(ground, FLOW_DOWN)) {
		ground_end(ground);
		return false;
	}
	choose_soon(ground);
	return true;
}

void ground_end(struct ground *ground)
{
	free(ground->order[FLOW_UP]);
	free(ground->order[FLOW_DOWN]);
	ground->order[FLOW_UP] = ground->order[FLOW_DOWN] = NULL;
}

uint32_t ground_latest(const struct ground *ground, int which, simtime t)
{
	const struct way *way = &ground->flow->ways[which];
	uint32_t low = 0, high = ground->n[which];

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (ground_got_ns(ground, way_at(way, ground->order[which][middle])) > t)
			high = middle;
		else
			low = middle + 1;
	}
	return low > 0 ? ground->order[which][low - 1] : PASSAGE_NONE;
}

bool ground_reacts(const struct ground *ground, int way, const struct passage *passage)
{
	const uint32_t latest = ground_latest(ground, !way, passage->sent_ns);

	return latest != PASSAGE_NONE &&
	       passage->sent_ns -
	                       ground_got_ns(ground, way_at(&ground->flow->ways[!way], latest)) <=
	               ground->soon_ns[way];
}
