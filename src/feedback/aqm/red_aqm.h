/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RED as the management of a link's queue: connects red.h, which decides, to the contract of aqm.h.
 *
 * With `ecn on`, packets that are capable are marked where they would have been dropped; the others
 * are dropped with the reason red-early or red-forced. Without `ecn on`, all are dropped.
 *
 * A change keeps the average and the counts, whatever changes. The sequence of draws continues: the
 * ordinal of a packet among the arrivals determines its draw, whether the draw is used or not.
 *
 * Figures: the average in bytes (in unit packet: times the mean size), the probability before
 * spacing at the last arrival (with alpha also that of drops, with ecn-mod also p_mod), and max-p.
 * Marks and drops are in the cloud's counters.
 */
#ifndef WEIR_RED_AQM_H
#define WEIR_RED_AQM_H

#include "scenario/statement.h"

extern const struct statement red_statement;

#endif
