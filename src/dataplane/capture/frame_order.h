/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts the frames of one capture in the order of time, and mends time stamps that cannot be right.
 *
 * The window has at least half of the next FRAME_ORDER_MAX frames of the file, as far as
 * FRAME_ORDER_BYTES reach. Its first frame is compared with the one that was handed out last, and
 * with those behind it:
 *
 *   a small step       A frame that is stamped up to FRAME_ORDER_STEP_NS earlier than one ahead of
 *                      it goes in front of that, as in a capture of several queues of a NIC. If
 *                      that has been handed out already, the frame comes at the same instant
 *                      (`late`).
 *   a wrong stamp      A frame that is stamped further ahead of what it follows, and of most frames
 *                      behind it; or further back than what it follows, while most frames behind
 *                      it are not. It comes together with its neighbour.
 *   a clock set back   If most frames behind it are as far back, the clock was set. From there on,
 *                      stamps are shifted: the frame comes together with the one ahead of it, and
 *                      the distances of all frames behind it are kept. The shift ends when stamps
 *                      have caught up.
 *   no stamp           The frame comes together with the one ahead of it.
 *
 * What is handed out never goes back. If no frame of the window has an earlier stamp than the one
 * ahead of it, each is handed out as it is, without a comparison.
 *
 * With a window of one frame (a live pipe), a step back counts as a wrong stamp, and a second one
 * in succession as a clock set back.
 *
 * Thread: one at a time.
 */
#ifndef WEIR_FRAME_ORDER_H
#define WEIR_FRAME_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/records.h"
#include "simtime.h"

#define FRAME_ORDER_MAX     64u /* a power of two */
#define FRAME_ORDER_BYTES   65536u
#define FRAME_ORDER_STEP_NS INT64_C(1000000000)

struct frame_order_counts {
	uint64_t back; /* stamped earlier than the frame ahead of them in the file */
	simtime back_max_ns;
	uint64_t sorted;   /* went in front of frames that were ahead of them */
	uint64_t late;     /* could not, and came at the instant of the latest one */
	uint64_t wrong;    /* wrong stamps */
	uint64_t set_back; /* times that the clock was set back */
	uint64_t timeless; /* without a stamp */
	/* The first wrong stamp, or step back: the number of the frame in the file, from 1; 0:
	 * none. How far it is from the frame ahead of it (the one behind it, if it is the
	 * first). */
	uint64_t odd_frame;
	int64_t odd_stamp_ns, odd_by_ns;
};

struct frame_order {
	struct record ring[FRAME_ORDER_MAX];
	uint32_t first, n;
	uint32_t odd;       /* frames of the window with a step back, or without a stamp */
	uint64_t passed;    /* frames that left the window at its front */
	int64_t pushed_ns;  /* latest stamp that entered the window */
	int64_t shift_ns;   /* is added to stamps */
	int64_t sound_ns;   /* latest right stamp of a frame that was handed out */
	int64_t instant_ns; /* of the latest frame that was handed out */
	bool begun;         /* `sound_ns` and `instant_ns` are set */
	bool was_back;      /* the frame handed out last was further back */
	struct frame_order_counts counts;
};

void frame_order_open(struct frame_order *order);

/* Returns the place for the next frame of the file in a window that is not full. */
static inline struct record *frame_order_place(struct frame_order *order)
{
	return &order->ring[(order->first + order->n) & (FRAME_ORDER_MAX - 1)];
}

/* Adds the frame that was put into that place. */
static inline void frame_order_push(struct frame_order *order)
{
	struct record *place = frame_order_place(order);

	place->taken = false;
	place->back_ns = 0;
	order->n++;
	if (unlikely(place->timeless)) {
		order->odd++;
		return;
	}
	if (unlikely(place->stamp_ns < order->pushed_ns)) {
		place->back_ns = order->pushed_ns - place->stamp_ns;
		order->odd++;
	}
	order->pushed_ns = place->stamp_ns;
}

/* Takes the next frame of a window in which not all is in order. */
const struct record *frame_order_decide(struct frame_order *order, int64_t *t_ns);

/* Takes the next frame of a window that is not empty; it is valid until the next push. Sets its
 * instant, which may be before 1970 or after 2106. */
static inline const struct record *frame_order_take(struct frame_order *order, int64_t *t_ns)
{
	const struct record *record = &order->ring[order->first];

	if (unlikely(order->odd > 0 || order->shift_ns != 0 ||
	             record->stamp_ns < order->instant_ns))
		return frame_order_decide(order, t_ns);
	order->first = (order->first + 1) & (FRAME_ORDER_MAX - 1);
	order->n--;
	order->passed++;
	order->sound_ns = order->instant_ns = record->stamp_ns;
	order->begun = true;
	order->was_back = false;
	*t_ns = record->stamp_ns;
	return record;
}

/* Returns the position of the first byte that the window still needs, `otherwise` if it is
 * empty. */
static inline uint64_t frame_order_needs(const struct frame_order *order, uint64_t otherwise)
{
	return order->n > 0 ? order->ring[order->first].at : otherwise;
}

#endif
