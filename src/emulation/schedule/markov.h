/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `markov NAME TIME [to NAME P...] [STATEMENT [and STATEMENT...]] then NAME TIME ...`: a path that
 * changes its state at random.
 *
 * Model: a Markov process in continuous time. The run begins in the first state. The duration of a
 * state is exponentially distributed with the given mean. Then the path goes to one of the states
 * behind `to` with its probability; without `to`, to any of the others with equal probability. Two
 * states alternate: E. N. Gilbert's good and bad (Bell System Technical Journal 39, 1960), in time
 * and not by packets. The statements of a state are in force on top of those of the cloud
 * (timeline.h); in a state without statements the cloud is as it is otherwise. The states and the
 * instants of their changes are a function of seed and cloud, not of packets: draw k gives the
 * duration of the k-th stay (lane 0) and the state after it (lane 1). One exception: after 2^18
 * stays without a packet the path jumps ahead, and then depends on when packets come
 * (docs/schedule.md).
 *
 * Durations are whole ns, at least 1. The logarithm comes from a table of 1024 steps with
 * interpolation; its error is below 2e-7 of the mean. Cost: a stay is O(1). After idle time all its
 * stays are executed, some ns each, up to 2^18. Of a longer time (with means of 1 ms: more than 4
 * minutes) the rest is skipped: the state at its end is one that the path reaches a little further
 * on (catch_up). Ranges: 2 to 16 states, means 1 ms to a day.
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
