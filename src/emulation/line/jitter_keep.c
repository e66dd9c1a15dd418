/* SPDX-License-Identifier: BSD-3-Clause */
/* The packet path. jitter_keep_table.c makes the table. */
#include "line/jitter_keep.h"

/* Returns the last i in [low, end) with x[i] <= value; x[low] <= value. */
static uint32_t last_of(const int64_t *x, uint32_t low, uint32_t end, int64_t value)
{
	while (end - low > 1) {
		uint32_t middle = (low + end) / 2;

		if (x[middle] <= value)
			low = middle;
		else
			end = middle;
	}
	return low;
}

/* Returns L at an x in segment i. */
static int64_t log_in(const struct jitter_keep *keep, uint32_t i, int64_t x)
{
	uint64_t part_q63 = (uint64_t)(x - keep->x[i]) * keep->per_ns_q63[i];
	uint64_t rise = (uint64_t)(keep->log[i + 1] - keep->log[i]);

	return keep->log[i] + (int64_t)(((unsigned __int128)rise * part_q63) >> 63);
}

static int64_t log_at(const struct jitter_keep *keep, int64_t x)
{
	if (x >= keep->x[keep->n - 1])
		return 0;
	if (x <= keep->x[0])
		return keep->log[0];
	return log_in(keep, last_of(keep->x, 0, keep->n, x), x);
}

/* a0 + (a1 - a0) (b - b0) / (b1 - b0) */
static int64_t between(int64_t a0, int64_t a1, int64_t b, int64_t b0, int64_t b1)
{
	return a0 + (int64_t)((__int128)(a1 - a0) * (b - b0) / (b1 - b0));
}

static int64_t level_at(const struct jitter_keep *keep, int64_t log)
{
	uint32_t i;

	if (log >= 0)
		return keep->x[keep->n - 1];
	if (log <= keep->log[0])
		return keep->x[0];
	i = last_of(keep->log, 0, keep->n, log);
	return between(keep->x[i], keep->x[i + 1], log, keep->log[i], keep->log[i + 1]);
}

void jitter_keep_set(const struct jitter_keep *keep, struct jitter_keep_state *state, int64_t level,
                     uint64_t uniform)
{
	state->level = level;
	state->stop_log = log_at(keep, level) - distribution_draw(keep->exponential, uniform);
	state->stop = level_at(keep, state->stop_log);
}

/* The interval in which the gain L(x + c) - L(x), which decreases with x, becomes E: at `a` it is
 * larger, at `b` it is not. */
struct place {
	int64_t a, b, gain_a, gain_b;
};

static bool place_narrow(struct place *place, int64_t x, int64_t gain, int64_t wanted)
{
	if (gain > wanted) {
		place->a = x;
		place->gain_a = gain;
		return true;
	}
	place->b = x;
	place->gain_b = gain;
	return false;
}

/* Narrows the place to an interval between two nodes, in which L(x) is linear, and returns the
 * first node. x + c is in one of the segments from *ahead to *end. */
static uint32_t place_node(const struct jitter_keep *keep, struct place *place, int64_t fall,
                           int64_t wanted, uint32_t *ahead, uint32_t *end)
{
	uint32_t low = 0, high = keep->n - 1;

	while (high - low > 1) {
		uint32_t middle = (low + high) / 2;
		int64_t x = keep->x[middle];
		uint32_t i = last_of(keep->x, *ahead, *end, x + fall);
		int64_t gain = -keep->log[middle];

		if (i < keep->n - 1)
			gain += log_in(keep, i, x + fall);
		if (place_narrow(place, x, gain, wanted)) {
			low = middle;
			*ahead = i;
		} else {
			high = middle;
			*end = i + 1;
		}
	}
	return low;
}

/* Returns the x at which the gain is E, at least x[0]. */
static int64_t gain_find(const struct jitter_keep *keep, int64_t fall, int64_t wanted)
{
	struct place place = {
	        .a = keep->x[0],
	        .b = keep->x[keep->n - 1],
	        .gain_a = log_at(keep, keep->x[0] + fall) - keep->log[0],
	};
	uint32_t ahead = 0, end = keep->n, segment;

	if (place.gain_a <= wanted)
		return keep->x[0];
	segment = place_node(keep, &place, fall, wanted, &ahead, &end);
	/* L(x + c) may have further nodes in the interval: those after `ahead`. */
	while (end - ahead > 1) {
		uint32_t middle = (ahead + end) / 2;
		int64_t x = keep->x[middle] - fall;

		if (x < place.b &&
		    (x <= place.a ||
		     place_narrow(&place, x, keep->log[middle] - log_in(keep, segment, x), wanted)))
			ahead = middle;
		else
			end = middle;
	}
	if (place.gain_a == place.gain_b)
		return place.b;
	return between(place.a, place.b, wanted, place.gain_a, place.gain_b);
}

int64_t jitter_keep_jump(const struct jitter_keep *keep, struct jitter_keep_state *state,
                         int64_t fall, uint64_t uniform)
{
	int64_t left = log_at(keep, state->level) - state->stop_log;
	int64_t level = state->level - fall, jump;

	/* Packets of one instant have one delay. */
	if (fall == 0)
		return state->level;
	jump = gain_find(keep, fall, left);
	jitter_keep_set(keep, state, jump > level ? jump : level, uniform);
	return state->level;
}

void jitter_keep_adopt(const struct jitter_keep *keep, struct jitter_keep_state *state,
                       const struct jitter_keep *old)
{
	state->level = level_at(keep, log_at(old, state->level));
	state->stop = level_at(keep, state->stop_log);
	state->rest_q32 = 0;
}
