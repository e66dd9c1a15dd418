/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/cloud.h"

#include "engine/tallies.h"
#include "engine/timeline.h"
#include "link/aqm.h"
#include "match/flows.h"
#include "snapshot/snapshot.h"

_Static_assert(sizeof(struct counters) % sizeof(uint64_t) == 0, "nothing but integers");

static void stages_snapshot(struct cloud *cloud, struct snapshot *snapshot)
{
	uint16_t n = cloud->n_stages;

	snapshot_value(snapshot, n);
	if (!snapshot_holds(snapshot, n == cloud->n_stages))
		return;
	for (uint16_t i = 0; i < n; i++)
		stage_snapshot(cloud->stages[i], snapshot);
}

static void timeline_snapshot(struct timeline *timeline, struct snapshot *snapshot)
{
	uint32_t n = timeline ? timeline->n : 0;

	snapshot_value(snapshot, n);
	if (!snapshot_holds(snapshot, n == (timeline ? timeline->n : 0)))
		return;
	for (uint32_t i = 0; i < n; i++) {
		bool on = snapshot_flag(snapshot, timeline->track[i]->on);
		simtime next = timeline->track[i]->next;

		/* Both engines must be at the same point, which follows from the instant. */
		snapshot_value(snapshot, next);
		if (snapshot_holds(snapshot, on == timeline->track[i]->on &&
		                                     next == timeline->track[i]->next) &&
		    timeline->track[i]->snapshot)
			timeline->track[i]->snapshot(timeline->track[i], snapshot);
	}
}

#define CATCH_UP_NS (100 * SIMTIME_MS) /* in so short a step, no schedule skips points */

/* A cloud at rest executes the points of its schedules when a packet arrives, so the number of
 * points executed depends on the packets. When a snapshot is read, the cloud has to execute as many
 * points, and no more: what a point exchanges has state, and exchanging it twice is not the same as
 * exchanging it once. */
static void schedule_catch_up(struct cloud *cloud, simtime now, struct snapshot *snapshot)
{
	simtime next = cloud->change;

	snapshot_value(snapshot, next);
	if (!snapshot->restores || snapshot->failed || !cloud->timeline)
		return;
	while (cloud->change < next && cloud->change <= now)
		timeline_keep_up(cloud, simtime_min(simtime_min(next - 1, now),
		                                    cloud->change + CATCH_UP_NS));
	snapshot_holds(snapshot, cloud->change == next);
}

/* In format 3 there are no tallies, but ten numbers of packets that had asked for memory. */
static void read_format_3(struct snapshot *snapshot)
{
	uint64_t numbers[10] = {0};

	snapshot_value(snapshot, numbers);
}

#define LATER_SHIFT 16

/* An older weir may know fewer reasons, and fewer of the counters behind them: new ones come
 * last. */
static void counters_snapshot(struct counters *counters, struct snapshot *snapshot)
{
	const uint32_t later_most = (sizeof(*counters) - COUNTERS_LATER_AT) / sizeof(uint64_t);
	uint32_t numbers = REASON_COUNT | later_most << LATER_SHIFT, reasons, later;

	if (likely(snapshot->format > 5))
		snapshot_value(snapshot, numbers);
	else
		numbers = REASONS_AT_FIRST;
	reasons = numbers & ((1u << LATER_SHIFT) - 1);
	later = numbers >> LATER_SHIFT;
	if (!snapshot_holds(snapshot, reasons <= REASON_COUNT && later <= later_most))
		return;
	snapshot_bytes(snapshot, counters, DROPS(DOWN) + reasons * sizeof(counters->drops[0]));
	if (later > 0)
		snapshot_bytes(snapshot, (uint8_t *)counters + COUNTERS_LATER_AT,
		               later * sizeof(uint64_t));
}

/* Writes or reads one of the tables of a cloud. Which statements are in force now does not say
 * whether there is one. */
static void table_snapshot(struct cloud *cloud, struct flows **flows, struct snapshot *snapshot)
{
	if (!snapshot_flag(snapshot, *flows != NULL))
		return;
	if (!*flows)
		*flows = flows_make(0, cloud->of != NULL);
	if (snapshot_holds(snapshot, *flows != NULL))
		flows_snapshot(*flows, snapshot);
}

void cloud_snapshot(struct cloud *cloud, simtime now, struct snapshot *snapshot)
{
	schedule_catch_up(cloud, now, snapshot);
	snapshot_value(snapshot, cloud->latest_number);
	snapshot_value(snapshot, cloud->latest_leaving);
	snapshot_value(snapshot, cloud->wake);
	snapshot_value(snapshot, cloud->drawn_most);
	counters_snapshot(&cloud->counters, snapshot);
	if (likely(snapshot->format > 3))
		tallies_snapshot(cloud, snapshot);
	else
		read_format_3(snapshot);
	stages_snapshot(cloud, snapshot);
	timeline_snapshot(cloud->timeline, snapshot);
	link_snapshot(&cloud->link, cloud->holder, snapshot);
	line_snapshot(&cloud->line, cloud->holder, now, snapshot);
	if (likely(snapshot->format > 6)) {
		table_snapshot(cloud, &cloud->flows, snapshot);
		table_snapshot(cloud, &cloud->line_flows, snapshot);
	}
}
