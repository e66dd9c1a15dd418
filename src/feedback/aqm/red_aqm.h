/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RED as the management of a link's queue: between red.h, which decides, and aqm.h, which asks.
 *
 * `ecn on` beside it: what is capable is marked where it would have been dropped; the rest is
 * dropped with the reason red-early or red-forced. Without, everything is dropped.
 *
 * A change keeps the average and the counts, whatever changes, and the draws go on: a packet's draw
 * is its ordinal among the arrivals, whether it is looked at or not.
 *
 * Figures: the average in bytes (in packets times the mean size), the probability before spacing at
 * the last arrival (with alpha that of drops, with ecn-mod p_mod, too), and max-p. What was marked
 * and dropped stands in the cloud's counters.
 */
#ifndef WEIR_RED_AQM_H
#define WEIR_RED_AQM_H

#include "scenario/statement.h"

extern const struct statement red_statement;

#endif
