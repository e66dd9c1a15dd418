/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `markov NAME TIME [to NAME P...] [STATEMENT [and STATEMENT...]] then NAME TIME ...`: a path that
 * goes from state to state by chance.
 *
 * Model: a Markov process in continuous time. The run begins in the first state. A state lasts an
 * exponentially distributed time with the mean given; then the path goes to one of the states
 * behind `to` with its probability, or where there is no `to`, to any of the others with the same
 * probability. With two states they take turns: E. N. Gilbert's good and bad (Bell System Technical
 * Journal 39, 1960), in time and not by packets. In a state its statements are in force on top of
 * those of the cloud (timeline.h); one without statements is the cloud as it is otherwise. The
 * states and when they change are a function of seed and cloud, not of packets: draw k gives how
 * long the k-th stay is (lane 0) and where it leads (lane 1). One exception: after 2^18 stays
 * without a packet they jump ahead, and then the path depends on when packets come
 * (docs/schedule.md).
 *
 * Durations are integers of ns, of a logarithm from a table of 1024 steps with interpolation: its
 * error is below 2e-7 of the mean. At least 1 ns. Cost: a stay is O(1); after idle time all stays
 * of that time are gone through, some ns each, up to 2^18: of a longer time (1 ms each: 4 minutes
 * and more) the rest is left out, and where the path is then is where it was at an instant that far
 * on. Ranges: 2 to 16 states, means 1 ms to a day.
 */
#ifndef WEIR_MARKOV_H
#define WEIR_MARKOV_H

#include "scenario/orders.h"

struct markov_conf {
	struct conf conf;
	struct states states;
};

extern const struct statement markov_statement;

#endif
