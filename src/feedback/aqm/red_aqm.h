/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RED as the management of a link's queue: connects red.h, which decides, to the contract of aqm.h.
 *
 * With `ecn on`, packets that are capable are marked where they would have been dropped; the others
 * are dropped with the reason red-early or red-forced. Without it, all are dropped.
 *
 * A change keeps the average and the counts, whatever changes. The sequence of draws continues: a
 * packet's draw is its ordinal among the arrivals, whether it is used or not.
 *
 * Figures: the average in bytes (in packets times the mean size), the probability before spacing at
 * the last arrival (with alpha that of drops, with ecn-mod p_mod, too), and max-p. Marks and drops
 * are in the cloud's counters.
 */
#ifndef WEIR_RED_AQM_H
#define WEIR_RED_AQM_H

#include "scenario/statement.h"

extern const struct statement red_statement;

#endif
