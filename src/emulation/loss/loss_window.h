/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `loss window from T for T [every T]`: every packet that arrives in a window of time is lost.
 *
 * Model: the window is [from, from + for); with `every` it recurs after that time, for ever. Time
 * is virtual and counted from the beginning of the run: live, when its clocks started; in a replay,
 * the first packet of the captures, which is at 0. What counts is the instant at which a packet
 * arrives at the cloud. No randomness.
 *
 * Ranges: from 0 to a day, for 1 ns to a day, every from `for` to a day.
 */
#ifndef WEIR_LOSS_WINDOW_H
#define WEIR_LOSS_WINDOW_H

#include "scenario/statement.h"

struct loss_window_conf {
	struct conf conf;
	simtime from_ns;
	simtime for_ns;
	simtime every_ns; /* 0: once */
};

extern const struct statement loss_window_statement;

#endif
