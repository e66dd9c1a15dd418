/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jitter that keeps order, and the configured distribution.
 *
 * Order means that a delay must not fall faster than time passes: d' >= d - t, t after the packet
 * before. To draw independently and then wait for the packet ahead (as other emulators do) yields
 * the largest of all recent draws: the mean rises and the spread shrinks, the more, the closer the
 * packets are. Here the draws come from another distribution, such that the largest has the
 * configured distribution:
 *
 *   d' = max(x, d - c),    x from the distribution function G(x) = F(x) / F(x + c),    c = t
 *
 * If d is distributed as F, then d' is at most x with probability G(x) F(x + c) = F(x): F exactly,
 * for any sequence of gaps, with independent x. G is a distribution function if ln F is concave.
 * This holds for all the families of distribution.h but bimodal, and not for every table. As a
 * function of time, the delay falls as fast as time passes, and jumps up now and then, at instants
 * and by heights that do not depend on the packets: as a queue on the path, seen from outside. If
 * the gap is wider than the whole distribution, x is a draw from F itself.
 *
 * If ln F is not concave, its concave hull replaces it, shifted and scaled to the mean and standard
 * deviation of F, for gaps that are not wider than the distribution; for wider gaps the draws are
 * from F. The scaled hull may reach beyond F: the longest delay is then its last node.
 *
 * Correlation: keeping order correlates a packet's delay with the one before. With a configured
 * correlation, c is at most c_r, the value that yields it (c = min(t, c_r)); with a half-life, c =
 * v t, v <= 1: delays then fall more slowly. Both keep F exactly. A correlation below that of c = t
 * is not possible while order is kept; half of that is lost in 0.7 standard deviations of a normal.
 * For gaps wider than the distribution, the Gaussian copula (jitter_copula.h) is used as with order
 * allow.
 *
 * Drawing: with L = ln F and E exponential, x solves L(x + c) - L(x) = E. As long as E >= L(d) -
 * L(d - c), x is below d - c and has no effect. The exponential distribution has no memory, so one
 * E lasts until d has fallen to where L(d) is less by E. A packet costs a comparison; the first one
 * after that costs a search in a table of L.
 *
 * Packet path: integers only, O(1).
 * Thread: made by control, then only read; the state is the line's.
 */
#ifndef WEIR_JITTER_KEEP_H
#define WEIR_JITTER_KEEP_H

#include <stdbool.h>

#include "random/distribution.h"

/* L is in units of 2^-58. */
#define KEEP_LOG_BITS 58
#define KEEP_SEGMENTS 16 /* in an octave of probability */
#define KEEP_NODES    (2 * DISTRIBUTION_OCTAVES * KEEP_SEGMENTS + 2)

struct jitter_keep {
	uint32_t n;
	uint64_t speed_q32;                     /* v */
	int64_t fall_most;                      /* c_r */
	int64_t span;                           /* from the least delay to the largest */
	const struct distribution *exponential; /* E, in units of 2^-KEEP_LOG_BITS */
	int64_t x[KEEP_NODES];                  /* ascending; no delay is below the first */
	int64_t log[KEEP_NODES]; /* L at x, ascending to 0; linear in between, and concave */
	uint64_t per_ns_q63[KEEP_NODES]; /* 1 / (x[i + 1] - x[i]) */
};

struct jitter_keep_state {
	int64_t level;     /* the delay of the last packet, less the mean */
	int64_t stop;      /* when the level falls to this, it jumps */
	int64_t stop_log;  /* L at `stop` */
	uint64_t rest_q32; /* the part of v t below 1 ns */
};

/* Returns false if all delays are the same. */
bool jitter_keep_make(struct jitter_keep *keep, const struct distribution *distribution);
/* Called after that: sets a correlation from packet to packet, 0 to 1, or a half-life, > 0. */
void jitter_keep_correlation(struct jitter_keep *keep, double correlation);
void jitter_keep_half_life(struct jitter_keep *keep, uint64_t half_life_ns);

/* Sets a delay that was drawn in another way; `uniform` decides when it jumps next. */
void jitter_keep_set(const struct jitter_keep *keep, struct jitter_keep_state *state, int64_t level,
                     uint64_t uniform);
/* Returns the next level, after it has fallen below its stop. */
int64_t jitter_keep_jump(const struct jitter_keep *keep, struct jitter_keep_state *state,
                         int64_t fall, uint64_t uniform);
/* Changes from one distribution to another, at the same probability. */
void jitter_keep_adopt(const struct jitter_keep *keep, struct jitter_keep_state *state,
                       const struct jitter_keep *old);

/* Returns how far the level may fall in that time. */
static inline int64_t jitter_keep_fall(const struct jitter_keep *keep,
                                       struct jitter_keep_state *state, uint64_t passed_ns)
{
	uint64_t fall;

	if (keep->speed_q32 == UINT64_C(1) << 32) {
		fall = passed_ns;
	} else {
		unsigned __int128 way = (unsigned __int128)passed_ns * keep->speed_q32;

		way += state->rest_q32;
		state->rest_q32 = (uint32_t)way;
		fall = (uint64_t)(way >> 32);
	}
	return fall < (uint64_t)keep->fall_most ? (int64_t)fall : keep->fall_most;
}

#endif
