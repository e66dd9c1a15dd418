/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of rate, delay, jitter and loss that change from point to point. `wave` and `trace format
 * csv` put them on top of a cloud's statements (timeline.h).
 *
 * Model: a staircase. From point i on, the values of point i are in force. Points come from the
 * table `points`, with their instants; those of a wave lie at i x period / n, rounded up to a
 * nanosecond. With `loop` the table begins again every period; without it the last point lasts. A
 * rate of 0 stops the link: packets wait, and a packet that is partly sent continues later. The
 * rest of the link (bucket, queue) and of the line (distribution, order, reordering) stays as the
 * cloud's statements have it. Jitter is that of the `delay` statement for the largest jitter of the
 * curve, with its deviations scaled down. Loss is `loss random` without correlation.
 *
 * Cost: nothing is allocated for a point. The next point is found in O(1); after an idle time with
 * many points, by bisection.
 * Ownership: the track owns the table.
 * Thread: timeline.h.
 */
#ifndef WEIR_CURVE_H
#define WEIR_CURVE_H

#include "change/timeline_make.h"

#define CURVE_RATE   0x1u
#define CURVE_DELAY  0x2u
#define CURVE_JITTER 0x4u
#define CURVE_LOSS   0x8u

struct curve_point {
	simtime at_ns; /* from the beginning of the curve; unused in a wave */
	uint64_t rate_bps;
	simtime delay_ns;
	simtime jitter_ns;
	probability_q63 loss;
};

struct curve_conf {
	uint32_t has;               /* CURVE_... */
	uint32_t n;                 /* points; at least 1 */
	struct curve_point *points; /* the curve takes ownership */
	bool even;                  /* a wave: the points divide the period evenly */
	bool loop;
	simtime period_ns;  /* of a loop */
	struct limit queue; /* if only the curve makes the link; LIMIT_NONE: by its rate */
};

/* Adds the track to the timeline. Takes ownership of the points, on failure too. Returns 0 or
 * -errno. Thread: control. */
int curve_plan(const struct curve_conf *conf, struct timeline_plan *plan);

/* Returns the queue of a link that only a schedule makes: `queue` if given, else that of `rate` or
 * of `slots`, else as `rate` would size it for this rate. */
struct limit curve_queue(const struct cloud_conf *cloud, struct limit queue, uint64_t rate_bps);

/* Writes the statements that the curve covers. Returns their number. */
uint32_t curve_covers(uint32_t has, struct order *covers);

#endif
