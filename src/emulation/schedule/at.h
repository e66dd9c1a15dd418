/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `at TIME STATEMENT [and STATEMENT...]`: the statements of a cloud change at an instant, for good.
 *
 * Model: at `TIME` after the beginning of the run, before any packet that arrives at that instant,
 * each of the statements replaces the one in force, as if the user gave it then; `no NAME` removes
 * it. As with any change, what is held continues: a queue at the new rate, in the middle of a
 * packet too; a packet on the line stays on its way. Several `at` of one instant are executed in
 * the order in which they were given. One of the same instant and the same statements replaces the
 * earlier one, and comes last: the latest wins. A `rate` without a queue gets one sized from the
 * delay that the earlier `at` have left. Ranges: 0 to 7 days; up to 48 of them in a cloud. For more
 * points: `trace` with a csv file.
 */
#ifndef WEIR_AT_H
#define WEIR_AT_H

#include "scenario/orders.h"

#define SCHEDULE_MAX_NS (7 * 86400 * SIMTIME_S)
#define AT_MAX          48

struct at_conf {
	struct conf conf;
	simtime at_ns;
	struct orders orders;
};

extern const struct statement at_statement;

#endif
