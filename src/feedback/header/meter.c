/* SPDX-License-Identifier: BSD-3-Clause */
#include "header/meter.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cloud.h"
#include "account/counter_read.h"
#include "snapshot/snapshot.h"

#define PPB UINT64_C(1000000000)
#define PPM UINT64_C(1000000)

/* Returns part / whole, at most 1, in units of 1 / of_one. */
static uint32_t share(uint64_t part, uint64_t whole, uint64_t of_one)
{
	if (part >= whole)
		return part ? (uint32_t)of_one : 0;
	return (uint32_t)((unsigned __int128)part * of_one / whole);
}

static uint64_t bits_a_second(uint64_t bytes, simtime window_ns)
{
	return (uint64_t)((unsigned __int128)bytes * 8 * SIMTIME_S / window_ns);
}

static void counts_take(const struct cloud *cloud, struct meter_counts *counts)
{
	const struct counters *c = &cloud->counters;

	counts->arrived = c->rx_packets + c->duplicated;
	counts->policed = c->drops[REASON_POLICE];
	counts->errors = c->drops[REASON_LOSS] + c->corrupted;
	counts->lost = counts->policed;
	for (int i = 0; i < REASON_COUNT; i++) {
		if (reason_kind((enum reason)i) == REASON_CONGESTION)
			counts->lost += c->drops[i];
	}
}

/* carried += now - base */
static void counts_carry(struct meter *meter)
{
	struct meter_counts now, *sum = &meter->carried;
	const struct meter_counts *base = &meter->base;

	counts_take(meter->cloud, &now);
	sum->arrived += now.arrived - base->arrived;
	sum->lost += now.lost - base->lost;
	sum->policed += now.policed - base->policed;
	sum->errors += now.errors - base->errors;
	meter->base = now;
}

/* Adds the time since `at`, during which so many packets have waited, to the integral of the
 * queue. */
static inline void look_at_queue(struct meter *meter, simtime now, uint64_t packets)
{
	if (now <= meter->at)
		return;
	meter->queue_ns += packets * (now - meter->at);
	if (packets > meter->queue_max)
		meter->queue_max = packets;
	meter->at = now;
}

static void window_begin(struct meter *meter, simtime begin)
{
	meter->begin = begin;
	meter->queue_ns = meter->queue_max = 0;
	meter->passed_packets = meter->passed_bytes = 0;
	meter->left_packets = meter->left_bytes = meter->waited_ns = 0;
	memset(&meter->carried, 0, sizeof(meter->carried));
}

/* Ends the current window. The queue has been integrated up to its end. */
static void window_end(struct meter *meter)
{
	const struct meter_counts *counts = &meter->carried;
	struct meter_reading *reading = &meter->reading;
	bool link = link_in_use(&meter->cloud->link);

	counts_carry(meter);
	reading->from_ns = meter->begin;
	reading->sent_bps =
	        bits_a_second(link ? meter->left_bytes : meter->passed_bytes, meter->window_ns);
	reading->loss_ppb = share(counts->lost, meter->passed_packets + counts->policed, PPB);
	reading->error_ppb = share(counts->errors, counts->arrived, PPB);
	reading->queue_milli = meter->queue_ns * 1000 / meter->window_ns;
	reading->queue_packets_max = meter->queue_max;
	if (meter->left_packets)
		reading->delay_ns = meter->waited_ns / meter->left_packets;
	else if (meter->queue_ns == 0)
		reading->delay_ns = 0;
	reading->measured = true;
	window_begin(meter, meter->begin + meter->window_ns);
}

static void meter_begin(struct meter *meter, simtime now)
{
	simtime origin = meter->cloud->origin_ns;

	meter->begun = true;
	meter->at = now;
	meter->left_at = now;
	counts_take(meter->cloud, &meter->base);
	window_begin(meter, now - (now > origin ? (now - origin) % meter->window_ns : 0));
}

/* Brings the meter to the window of now. So many packets have waited since the last call. */
static __attribute__((noinline)) void window_turn(struct meter *meter, simtime now,
                                                  uint64_t packets)
{
	simtime end;

	if (!meter->begun)
		meter_begin(meter, now);
	end = meter->begin + meter->window_ns;
	if (now < end)
		return;
	look_at_queue(meter, end, packets);
	window_end(meter);
	end += meter->window_ns;
	/* Nothing happened in the windows since: the last of them stands for all. */
	if (now >= end) {
		simtime last = now - (now - meter->begin) % meter->window_ns;

		meter->begin = last - meter->window_ns;
		meter->at = meter->begin;
		look_at_queue(meter, last, packets);
		window_end(meter);
	}
}

static inline void meter_reach(struct meter *meter, simtime now, uint64_t packets)
{
	if (unlikely(!meter->begun || now >= meter->begin + meter->window_ns))
		window_turn(meter, now, packets);
	look_at_queue(meter, now, packets);
}

static void meter_before(struct cloud_watch *watch, simtime now)
{
	struct meter *meter = meter_of(watch);

	meter_reach(meter, now, link_queue_packets(&meter->cloud->link));
}

static void meter_passed(struct cloud_watch *watch, uint16_t packets, uint64_t wire_bytes)
{
	struct meter *meter = meter_of(watch);

	meter->passed_packets += packets;
	meter->passed_bytes += wire_bytes;
	if (!link_in_use(&meter->cloud->link))
		meter->left_bytes_ever += wire_bytes;
}

/* Returns true if the time on the link counts as waiting. A packet does not wait while a leaky
 * bucket sends it. */
static inline bool sending_is_waiting(const struct meter *meter)
{
	const struct link *link = &meter->cloud->link;

	return link->shaper.depth_work != 0 || link->conf.slots.on;
}

static void meter_left(struct cloud_watch *watch, simtime t_in, simtime now, uint32_t bytes)
{
	struct meter *meter = meter_of(watch);

	meter->waited_ns +=
	        (sending_is_waiting(meter) ? now : simtime_max(meter->left_at, t_in)) - t_in;
	meter->left_at = now;
	meter->left_packets++;
	meter->left_bytes += bytes;
	meter->left_bytes_ever += bytes;
}

/* Counts the packets of a run, from `from` on, that leave in the current window; at least one does.
 * Sums are kept in local variables, to save a write to the meter per packet. Returns how many it
 * has counted. */
static uint32_t meter_count_some(struct meter *meter, const struct watch_run *run, uint32_t from)
{
	const simtime end = meter->begin + meter->window_ns;
	bool waits = sending_is_waiting(meter);
	uint64_t queue_ns = 0, waited_ns = 0, bytes = 0, most = meter->queue_max;
	simtime at = meter->at, left_at = meter->left_at;
	uint32_t i = from;

	for (; i < run->n && run->left[i] < end; i++) {
		simtime now = run->left[i], t_in = run->came[i];
		uint64_t waiting = run->waiting > i ? run->waiting - i : 0;

		if (now > at) {
			queue_ns += waiting * (now - at);
			most = waiting > most ? waiting : most;
			at = now;
		}
		waited_ns += (waits ? now : simtime_max(left_at, t_in)) - t_in;
		left_at = now;
		bytes += run->length[i];
	}
	meter->queue_ns += queue_ns;
	meter->queue_max = most;
	meter->at = at;
	meter->waited_ns += waited_ns;
	meter->left_at = left_at;
	meter->left_packets += i - from;
	meter->left_bytes += bytes;
	meter->left_bytes_ever += bytes;
	return i - from;
}

static void meter_ran(struct cloud_watch *watch, const struct watch_run *run)
{
	struct meter *meter = meter_of(watch);

	for (uint32_t i = 0; i < run->n; i += meter_count_some(meter, run, i))
		meter_reach(meter, run->left[i], run->waiting > i ? run->waiting - i : 0);
}

/* meter_before was called for this instant, which is in the current window, and nothing has waited
 * since. */
static void meter_left_at_once(struct cloud_watch *watch, simtime now, uint32_t packets,
                               uint64_t bytes)
{
	struct meter *meter = meter_of(watch);

	meter->left_at = now;
	meter->left_packets += packets;
	meter->left_bytes += bytes;
	meter->left_bytes_ever += bytes;
}

static void meter_cleared(struct cloud_watch *watch)
{
	struct meter *meter = meter_of(watch);

	if (!meter->begun)
		return;
	counts_carry(meter);
	/* What is held counts as received again (engine_clear). */
	meter->base = (struct meter_counts){.arrived = cloud_held(meter->cloud)};
}

void meter_init(struct meter *meter, simtime window_ns)
{
	*meter = (struct meter){
	        .watch = {.before = meter_before,
	                  .passed = meter_passed,
	                  .left = meter_left,
	                  .ran = meter_ran,
	                  .left_at_once = meter_left_at_once,
	                  .cleared = meter_cleared},
	        .window_ns = window_ns,
	};
}

void meter_adopt(struct meter *meter, const struct meter *old)
{
	if (meter->window_ns == old->window_ns)
		*meter = *old;
}

static void counts_snapshot(struct meter_counts *counts, struct snapshot *snapshot)
{
	snapshot_value(snapshot, counts->arrived);
	snapshot_value(snapshot, counts->lost);
	snapshot_value(snapshot, counts->policed);
	snapshot_value(snapshot, counts->errors);
}

void meter_snapshot(struct meter *meter, struct snapshot *snapshot)
{
	meter->begun = snapshot_flag(snapshot, meter->begun);
	snapshot_value(snapshot, meter->begin);
	snapshot_value(snapshot, meter->at);
	snapshot_value(snapshot, meter->left_at);
	counts_snapshot(&meter->base, snapshot);
	counts_snapshot(&meter->carried, snapshot);
	snapshot_value(snapshot, meter->queue_ns);
	snapshot_value(snapshot, meter->queue_max);
	snapshot_value(snapshot, meter->passed_packets);
	snapshot_value(snapshot, meter->passed_bytes);
	snapshot_value(snapshot, meter->left_packets);
	snapshot_value(snapshot, meter->left_bytes);
	snapshot_value(snapshot, meter->waited_ns);
	snapshot_value(snapshot, meter->left_bytes_ever);
	/* Leaves out what meter_read fills in. */
	meter->reading.measured = snapshot_flag(snapshot, meter->reading.measured);
	snapshot_value(snapshot, meter->reading.from_ns);
	snapshot_value(snapshot, meter->reading.sent_bps);
	snapshot_value(snapshot, meter->reading.loss_ppb);
	snapshot_value(snapshot, meter->reading.error_ppb);
	snapshot_value(snapshot, meter->reading.queue_milli);
	snapshot_value(snapshot, meter->reading.queue_packets_max);
	snapshot_value(snapshot, meter->reading.delay_ns);
	snapshot_holds(snapshot, meter->begin < SIMTIME_HORIZON && meter->at < SIMTIME_HORIZON);
}

READS_WHILE_IT_RUNS void meter_read(const struct meter *meter, struct meter_reading *reading)
{
	uint64_t rate = meter->cloud->link.shaper.rate_bps;

	counters_read_whole(reading, &meter->reading, sizeof(*reading));
	reading->window_ns = meter->window_ns;
	reading->link_bps = rate ? rate : OBSERVED_NO_LIMIT;
	reading->available_bps = OBSERVED_NO_LIMIT;
	reading->utilisation_ppm = 0;
	if (!rate)
		return;
	reading->available_bps = meter_available(meter, rate);
	reading->utilisation_ppm = share(reading->sent_bps, rate, PPM);
}

/* ---- statement ---- */

struct meter_stage {
	struct stage stage;
	struct meter meter;
};

static void meter_process(struct stage *stage, struct burst *burst)
{
	stage->drawn += burst->n;
}

static int meter_make(const struct conf *conf, struct stage **stage)
{
	struct meter_stage *made = calloc(1, sizeof(*made));

	if (!made)
		return -ENOMEM;
	meter_init(&made->meter, ((const struct meter_conf *)conf)->window_ns);
	made->stage.process = meter_process;
	made->stage.watch = &made->meter.watch;
	*stage = &made->stage;
	return 0;
}

static int meter_ready(struct stage *stage, const struct conf *conf)
{
	(void)conf;
	((struct meter_stage *)stage)->meter.cloud = stage->cloud;
	return 0;
}

static void meter_stage_adopt(struct stage *stage, const struct stage *old)
{
	meter_adopt(&((struct meter_stage *)stage)->meter,
	            &((const struct meter_stage *)old)->meter);
}

static void meter_stage_snapshot(struct stage *stage, struct snapshot *snapshot)
{
	meter_snapshot(&((struct meter_stage *)stage)->meter, snapshot);
}

static void meter_report(const struct stage *stage, struct observed *observed)
{
	observed->has_meter = true;
	meter_read(&((const struct meter_stage *)stage)->meter, &observed->meter);
}

static const struct field meter_fields[] = {
        {FIELD("window", FIELD_TIME, struct meter_conf, window_ns, .min = METER_WINDOW_MIN,
               .max = METER_WINDOW_MAX, .initial = METER_WINDOW_DEFAULT,
               .help = "over how long it measures")},
        FIELD_END,
};

const struct statement meter_statement = {
        .name = "meter",
        .help = "measures the link: available bandwidth, losses, queue, delay, utilisation",
        .example = "window 50ms",
        .role = ROLE_STAGE,
        .generates = true,
        .watches = true,
        .fields = meter_fields,
        .conf_bytes = sizeof(struct meter_conf),
        .make = meter_make,
        .ready = meter_ready,
        .adopt = meter_stage_adopt,
        .snapshot = meter_stage_snapshot,
        .report = meter_report,
};
