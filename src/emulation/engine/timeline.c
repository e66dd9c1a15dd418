/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/timeline.h"

#include <stdlib.h>

#include "engine/cloud.h"

static void find_next(struct cloud *cloud)
{
	const struct timeline *timeline = cloud->timeline;

	cloud->change = SIMTIME_NEVER;
	for (uint32_t i = 0; timeline && i < timeline->n; i++)
		cloud->change = simtime_min(cloud->change, timeline->track[i]->next);
}

void timeline_run(struct cloud *cloud, simtime until)
{
	struct timeline *timeline = cloud->timeline;
	simtime now = cloud->change;

	for (uint32_t i = 0; i < timeline->n; i++) {
		struct track *track = timeline->track[i];

		if (track->next != now)
			continue;
		track->run(track, cloud, until);
		track->waits = false;
	}
	find_next(cloud);
}

/* Returns true if nothing waits, and no packet that was sent has still to be paid for: then the
 * changes until the next arrival have no effect on it. */
static bool is_at_rest(struct cloud *cloud, simtime now)
{
	if (cloud_is_busy(cloud))
		return false;
	return link_at_rest(&cloud->link, now);
}

/* A cloud that sends nothing but has still to pay for what it sent, at 1 bit/s for hours, executes
 * this many points one by one, and all further ones in one step. */
#define POINTS_MAX (UINT32_C(1) << 18)

/* Returns the end of one step to `now`: the instant before the lower layer changes, because that
 * change must find what the points before it have left. */
static simtime step_end(const struct cloud *cloud, simtime now)
{
	const struct timeline *timeline = cloud->timeline;

	for (uint32_t i = 0; i < timeline->n; i++) {
		const struct track *track = timeline->track[i];

		if (!track->put_below && track->next <= now)
			now = track->next > cloud->change ? track->next - 1 : cloud->change;
	}
	return now;
}

void timeline_keep_up(struct cloud *cloud, simtime now)
{
	cloud_advance_link(cloud, now);
	for (uint32_t points = 0; cloud->change <= now; points++) {
		bool at_once = points >= POINTS_MAX || is_at_rest(cloud, cloud->change);

		timeline_run(cloud, at_once ? step_end(cloud, now) : cloud->change);
	}
}

void timeline_take_off(struct cloud *cloud, simtime now)
{
	struct timeline *timeline = cloud->timeline;

	for (uint32_t i = timeline ? timeline->n : 0; i-- > 0;) {
		struct track *track = timeline->track[i];

		if (track->on)
			track->take_off(track, cloud, now);
	}
	cloud->change = SIMTIME_NEVER;
}

void timeline_end(struct cloud *cloud, simtime now)
{
	timeline_keep_up(cloud, now);
	timeline_take_off(cloud, now);
}

void timeline_begin(struct cloud *cloud, simtime now)
{
	struct timeline *timeline = cloud->timeline;

	for (uint32_t i = 0; timeline && i < timeline->n; i++)
		timeline->track[i]->enter(timeline->track[i], cloud, now);
	find_next(cloud);
}

/* Tracks of one kind cover different places, and there is one of `at`, which covers none. */
static void track_inherit(struct track *track, const struct timeline *old)
{
	for (uint32_t i = 0; i < old->n; i++) {
		if (old->track[i]->run != track->run || old->track[i]->places != track->places)
			continue;
		track->waits |= track->kept && old->track[i]->waits;
		if (track->inherit)
			track->inherit(track, old->track[i]);
	}
}

void timeline_exchange(struct cloud *cloud, struct timeline **timeline)
{
	struct timeline *old = cloud->timeline, *next = *timeline;

	for (uint32_t i = 0; old && next && i < next->n; i++)
		track_inherit(next->track[i], old);
	cloud->timeline = next;
	*timeline = old;
}

void timeline_key(struct cloud *cloud, uint64_t seed)
{
	const struct timeline *timeline = cloud->timeline;

	for (uint32_t i = 0; timeline && i < timeline->n; i++) {
		if (timeline->track[i]->key)
			timeline->track[i]->key(timeline->track[i], cloud, seed);
	}
}

void timeline_apply_below(struct cloud *cloud, struct setting *setting, timeline_places place,
                          simtime now)
{
	const struct timeline *timeline = cloud->timeline;

	for (uint32_t i = 0; i < timeline->n; i++) {
		struct track *track = timeline->track[i];

		if (track->on && track->places & place &&
		    track->put_below(track, cloud, setting, now))
			return;
	}
	setting_apply(setting, now);
}

void timeline_free(struct timeline *timeline)
{
	if (!timeline)
		return;
	for (uint32_t i = 0; i < timeline->n; i++)
		timeline->track[i]->free(timeline->track[i]);
	free(timeline);
}
