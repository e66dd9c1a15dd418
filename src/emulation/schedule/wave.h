/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `wave rate|delay|jitter|loss FROM..TO period TIME [shape sine|square|saw]`: a value that goes up
 * and down.
 *
 * Model: a staircase of WAVE_STEPS even steps a period (curve.h), counted from the beginning of the
 * run. In step i, with x = (i + 1/2) / WAVE_STEPS, it is
 *
 *   sine     (FROM + TO) / 2 + (TO - FROM) / 2 x sin(2 pi x): begins in the middle, towards TO
 *   square   TO in the first half, FROM in the second: two steps
 *   saw      FROM + (TO - FROM) x: from FROM to TO, then at once from FROM again
 *
 * rounded to whole bit/s, ns, or 2^-63. The mean over a period is (FROM + TO) / 2, to that
 * rounding. A wave of the rate has the queue of `rate`; without a `rate`, rate x delay as there,
 * for the larger of the two rates. Ranges: values as in `rate`, `delay` and `loss random`; FROM may
 * be the larger one; period 1 ms to 7 days. No randomness but that of jitter and loss.
 */
#ifndef WEIR_WAVE_H
#define WEIR_WAVE_H

#include "scenario/statement.h"

#define WAVE_STEPS 256u

enum wave_shape { WAVE_SINE, WAVE_SQUARE, WAVE_SAW };

struct wave_conf {
	struct conf conf;
	struct range values; /* in the unit of the variant */
	simtime period_ns;
	uint32_t shape; /* enum wave_shape */
};

extern const struct statement wave_rate_statement;
extern const struct statement wave_delay_statement;
extern const struct statement wave_jitter_statement;
extern const struct statement wave_loss_statement;

#endif
