/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/frame_order.h"

/* The end of the year 2105, which an output can express. */
#define LATEST_NS (INT64_C(4291747200) * 1000000000)

void frame_order_open(struct frame_order *order)
{
	*order = (struct frame_order){.pushed_ns = INT64_MIN};
}

static struct record *at(struct frame_order *order, uint32_t i)
{
	return &order->ring[(order->first + i) & (FRAME_ORDER_MAX - 1)];
}

/* What the frames behind the first one of the window say about it. */
struct view {
	uint32_t behind;             /* how many there are */
	uint32_t before, back;       /* of them, far before it; far before the latest right stamp */
	const struct record *timed;  /* the first of them with a stamp; or NULL */
	const struct record *normal; /* the first of those far before it; or NULL */
	uint32_t earliest;           /* of those up to a small step before it; 0: none */
};

static struct view look(struct frame_order *order, int64_t stamp_ns)
{
	int64_t earliest_ns = stamp_ns;
	struct view view = {0};

	for (uint32_t i = 1; i < order->n; i++) {
		const struct record *record = at(order, i);

		if (record->taken || record->timeless)
			continue;
		view.behind++;
		if (!view.timed)
			view.timed = record;
		if (record->stamp_ns < stamp_ns - FRAME_ORDER_STEP_NS) {
			view.before++;
			if (!view.normal)
				view.normal = record;
		} else if (record->stamp_ns < earliest_ns) {
			earliest_ns = record->stamp_ns;
			view.earliest = i;
		}
		view.back += record->stamp_ns < order->sound_ns - FRAME_ORDER_STEP_NS;
	}
	return view;
}

/* Notes the first odd frame. Wrong stamps precede others. */
static void note(struct frame_order *order, uint32_t i, int64_t by_ns, bool first_wrong)
{
	struct frame_order_counts *counts = &order->counts;

	if (counts->odd_frame > 0 && !first_wrong)
		return;
	counts->odd_frame = order->passed + i + 1;
	counts->odd_stamp_ns = at(order, i)->stamp_ns;
	counts->odd_by_ns = by_ns;
}

/* Counts the step back of a frame that is handed out. */
static void count_back(struct frame_order *order, uint32_t i)
{
	const int64_t back_ns = at(order, i)->back_ns;

	if (back_ns == 0)
		return;
	order->counts.back++;
	order->counts.back_max_ns = simtime_max(order->counts.back_max_ns, (simtime)back_ns);
	note(order, i, -back_ns, false);
}

/* Returns the instant of a frame that comes with its neighbour: the one ahead of it or, if there is
 * none, `next`. */
static int64_t beside(struct frame_order *order, const struct record *next)
{
	if (!order->begun && next) {
		order->sound_ns = order->instant_ns = next->stamp_ns;
		order->begun = true;
	}
	return order->instant_ns;
}

static int64_t wrong(struct frame_order *order, const struct record *next)
{
	const int64_t stamp_ns = at(order, 0)->stamp_ns;
	const int64_t instant_ns = beside(order, next);

	order->counts.wrong++;
	note(order, 0, stamp_ns - order->sound_ns, order->counts.wrong == 1);
	return instant_ns;
}

/* Returns the instant of a frame with a right stamp. */
static int64_t sound(struct frame_order *order, int64_t stamp_ns)
{
	if (order->begun && stamp_ns < order->sound_ns)
		order->counts.late++;
	else
		order->sound_ns = stamp_ns;
	/* Stamps have caught up; or a shift of what is no time at all leads out of the range. */
	if (order->begun &&
	    (stamp_ns >= order->instant_ns || stamp_ns + order->shift_ns > LATEST_NS))
		order->shift_ns = 0;
	if (!order->begun || stamp_ns + order->shift_ns > order->instant_ns)
		order->instant_ns = stamp_ns + order->shift_ns;
	order->begun = true;
	order->was_back = false;
	return order->instant_ns;
}

/* Returns the instant of the frame at the front, which is not in order, or whose followers are
 * not. */
static int64_t judge_front(struct frame_order *order, const struct view *view)
{
	const struct record *front = at(order, 0);
	const bool is_back =
	        order->begun && front->stamp_ns < order->sound_ns - FRAME_ORDER_STEP_NS;
	const bool is_ahead =
	        !order->begun || front->stamp_ns > order->sound_ns + FRAME_ORDER_STEP_NS;

	/* Frames that are far back from the latest right stamp, too, say nothing against this
	 * one. */
	if (is_ahead && 2 * (view->before - view->back) > view->behind)
		return wrong(order, view->normal);
	if (!is_back)
		return sound(order, front->stamp_ns);
	if (view->behind > 0 ? 2 * view->back > view->behind : order->was_back) {
		/* The clock was set back: from this frame on, stamps are shifted. */
		const int64_t stamp_ns = at(order, 0)->stamp_ns;

		order->counts.set_back++;
		order->shift_ns = order->instant_ns - stamp_ns;
		order->sound_ns = stamp_ns;
		order->was_back = false;
		return order->instant_ns;
	}
	order->was_back = true;
	return wrong(order, NULL);
}

const struct record *frame_order_decide(struct frame_order *order, int64_t *t_ns)
{
	struct record *record = at(order, 0);
	struct view view = {0};
	uint32_t i = 0;

	if (order->odd > 0 || record->stamp_ns < order->sound_ns)
		view = look(order, record->timeless ? INT64_MAX : record->stamp_ns);
	if (record->timeless) {
		order->counts.timeless++;
		*t_ns = beside(order, view.timed);
	} else if (view.earliest > 0 && 2 * view.before <= view.behind) {
		i = view.earliest;
		record = at(order, i);
		order->counts.sorted += !order->begun || record->stamp_ns >= order->sound_ns;
		*t_ns = sound(order, record->stamp_ns);
	} else {
		*t_ns = judge_front(order, &view);
	}
	count_back(order, i);
	record->taken = true;
	if (i == 0) {
		/* The frame at the front leaves, and those behind it that were taken before. */
		do {
			const struct record *front = at(order, 0);

			order->odd -= front->timeless || front->back_ns > 0;
			order->first = (order->first + 1) & (FRAME_ORDER_MAX - 1);
			order->n--;
			order->passed++;
		} while (order->n > 0 && at(order, 0)->taken);
	}
	return record;
}
