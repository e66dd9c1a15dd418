/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `meter window 100ms`: a router's measurements of its link, over windows of virtual time.
 *
 * Windows of W follow one another from the beginning of the run (cloud->origin_ns): the k-th from
 * origin + kW to before origin + (k+1)W. A reading at the instant t is that of the last window that
 * had ended by t; what happens at the very instant at which a window begins belongs to that window.
 * So a reading depends on the packets and their instants only. The window in which the meter is put
 * in force counts from there. Until one has ended, a reading is that of an idle link, and not
 * `measured`.
 *
 *   link          the rate of the link now, in bit/s; exact; none without `rate`
 *   sent          8 x the bytes of the packets whose last bit left the link in the window, / W
 *   available     link - sent, at least 0
 *   utilisation   sent / link, at most 1
 *   loss rate     packets that congestion dropped (reasons of kind congestion, and `police`), /
 *                 those that came to the link or to the policer; at most 1
 *   error rate    packets lost by a loss statement, or corrupted, / those that came to the cloud,
 *                 copies made there included; at most 1
 *   queue         packets that wait, without the one that is being sent: the mean over time, and
 *                 the most there were when something happened
 *   queuing delay the mean, over the packets that left in the window, of the time from arrival
 *                 until the packet ahead had left (leaky bucket), or until the packet itself left
 *                 (token bucket, slots); if none left and some wait, that of the window before
 *
 * Lengths are those that count on the link (overhead.h). All is integer arithmetic, O(1) a packet:
 * two additions and a comparison, a multiplication for the queue; divisions once a window, however
 * many windows have passed. A cloud with a meter is run in the order of time (cloud_watch.h); a
 * cloud without one pays nothing. Ranges: W 1 us to 60 s, by default 100 ms. A change of W begins
 * anew.
 *
 * Thread: the worker that owns the cloud; meter_read by others, a moment old.
 */
#ifndef WEIR_METER_H
#define WEIR_METER_H

#include "account/observed.h"
#include "scenario/statement.h"
#include "stage/cloud_watch.h"

#define METER_WINDOW_DEFAULT (100 * SIMTIME_MS)
#define METER_WINDOW_MIN     SIMTIME_US
#define METER_WINDOW_MAX     (60 * SIMTIME_S)

struct meter_conf {
	struct conf conf;
	simtime window_ns;
};

extern const struct statement meter_statement;

/* Values of the cloud's counters that the meter uses, at one instant. */
struct meter_counts {
	uint64_t arrived, lost, policed, errors;
};

struct meter {
	struct cloud_watch watch; /* first: the watch is the meter */
	struct cloud *cloud;
	simtime window_ns;
	bool begun;
	simtime begin;   /* of the current window */
	simtime at;      /* the queue has been integrated up to here */
	simtime left_at; /* the latest departure from the link */
	struct meter_counts base, carried;
	/* of the current window */
	uint64_t queue_ns, queue_max; /* packets x ns */
	uint64_t passed_packets, passed_bytes;
	uint64_t left_packets, left_bytes, waited_ns;
	uint64_t left_bytes_ever; /* since the meter was made; without a link, what has passed */
	struct meter_reading reading;
};

/* Initialises a meter for a stage. The stage sets stage->watch to &meter->watch, and meter->cloud
 * once it has its cloud. */
void meter_init(struct meter *meter, simtime window_ns);
/* Takes over the state of the other meter, if that has the same window. */
void meter_adopt(struct meter *meter, const struct meter *old);
/* Writes or reads its state (snapshot.h). */
void meter_snapshot(struct meter *meter, struct snapshot *snapshot);
/* Returns the meter to which the watch of a cloud belongs. */
static inline struct meter *meter_of(struct cloud_watch *watch)
{
	return (struct meter *)watch;
}

/* Returns the latest reading, without what needs a rate: link_bps, available_bps, utilisation and
 * window are not filled in. */
static inline const struct meter_reading *meter_latest(const struct meter *meter)
{
	return &meter->reading;
}

/* Returns the unused part of the link's rate, which is given. */
static inline uint64_t meter_available(const struct meter *meter, uint64_t rate_bps)
{
	return rate_bps > meter->reading.sent_bps ? rate_bps - meter->reading.sent_bps : 0;
}

/* Returns the whole reading, at the latest instant that the meter has seen. */
void meter_read(const struct meter *meter, struct meter_reading *reading);

#endif
