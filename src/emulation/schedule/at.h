/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `at TIME STATEMENT [and STATEMENT...]`: the statements of a cloud change at an instant, for good.
 *
 * Model: at `TIME` after the beginning of the run, before anything that arrives at that instant,
 * each of the statements takes the place of the one that was there, as if the user had given it
 * then; `no NAME` takes it away. What is held goes on as with any change: a queue at the new rate,
 * in the middle of a packet too; what is on the line stays on its way. Several `at` of one instant
 * are executed in the order in which they were given. The queue of a `rate` without one is sized
 * from the delay that the earlier `at` have left. Ranges: 0 to 7 days; up to 64 of them in a cloud.
 * More points: `trace` with a csv file.
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
