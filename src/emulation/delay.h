/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `delay`: the configuration of a cloud's line.
 *
 * Models: propagation. Each packet leaves the line d after it came, d drawn from a distribution
 * with the mean `delay` and the spread `jitter`: uniform on [delay - jitter, delay + jitter], or
 * normal with the standard deviation jitter; never below 0. With `order keep` (the default) a
 * packet does not leave before the one ahead of it; with `order allow` packets overtake as their
 * delays say. A change acts on packets that enter the line after it: what is on the way stays on
 * its way.
 *
 * Units: ns; delay and jitter 0 to a day.
 */
#ifndef WEIR_DELAY_H
#define WEIR_DELAY_H

#include "stage.h"

enum delay_distribution { DELAY_UNIFORM, DELAY_NORMAL };
enum delay_order { ORDER_KEEP, ORDER_ALLOW };

struct delay_conf {
	struct conf conf;
	uint64_t delay_ns;
	uint64_t jitter_ns;
	uint32_t distribution; /* enum delay_distribution */
	uint32_t order;        /* enum delay_order */
};

extern const struct statement delay_statement;

#endif
