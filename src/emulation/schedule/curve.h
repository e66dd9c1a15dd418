/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of rate, delay, jitter and loss that change from point to point: what `wave` and `trace
 * format csv` put on top of a cloud's statements (timeline.h).
 *
 * Model: a staircase. From point i on the values of point i are in force. They are those of the
 * table `points`, at their instants; or, of a wave, at `from` + i x period / n, rounded up to a
 * nanosecond. With `loop` the table begins again every period; without it its last point lasts. A
 * rate of 0 stops the link: what waits, waits, and what is in the middle of being sent goes on
 * later. The rest of the link (bucket, queue) and of the line (distribution, order, reordering)
 * stays as the cloud's statements have it. A jitter is the `delay` statement's for the largest
 * jitter of the curve, its deviations scaled down. A loss is `loss random` without correlation.
 *
 * Cost: nothing is allocated for a point; the next one is found in O(1), and after an idle time of
 * many by bisection. Ownership: the track owns the table. Thread: timeline.h.
 */
#ifndef WEIR_CURVE_H
#define WEIR_CURVE_H

#include "change/timeline_make.h"

#define CURVE_RATE   0x1u
#define CURVE_DELAY  0x2u
#define CURVE_JITTER 0x4u
#define CURVE_LOSS   0x8u

struct curve_point {
	simtime at_ns; /* from the beginning of the curve; of a wave: not used */
	uint64_t rate_bps;
	simtime delay_ns;
	simtime jitter_ns;
	probability_q63 loss;
};

struct curve_conf {
	uint32_t has;               /* CURVE_... */
	uint32_t n;                 /* points; at least 1 */
	struct curve_point *points; /* owned by the curve from then on */
	bool even;                  /* a wave: they lie evenly in the period */
	bool loop;
	simtime period_ns;  /* of a loop */
	struct limit queue; /* of a link that the cloud has no queue for; LIMIT_NONE: sized */
};

/* Adds the track to the timeline. The points are its own, also if it fails. 0 or -errno.
 * Control. */
int curve_plan(const struct curve_conf *conf, struct timeline_plan *plan);

/* The queue of a link that only a schedule makes: `queue` if given, that of `rate` or of `slots`,
 * or as `rate` would size it for this rate. */
struct limit curve_queue(const struct cloud_conf *cloud, struct limit queue, uint64_t rate_bps);

/* The statements that are covered; returns how many. */
uint32_t curve_covers(uint32_t has, struct order *covers);

#endif
