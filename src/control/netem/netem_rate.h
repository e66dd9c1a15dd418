/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes what netem's correlation makes of a probability.
 *
 * Model: x = (1 - R) u + R x' with u uniform on [0, 1] (emulation/random/netem_chance.h); an event
 * happens when x <= P. In the long run x has the distribution function F that solves
 *
 *   F(p) = R / (1 - R) * integral of F from (p - (1 - R)) / R to p / R
 *
 * and the share of events is F(P), not P. F is computed by iteration on a grid that is dense at 0,
 * to a few parts in a thousand; F(1 - p) = 1 - F(p).
 *
 * Takes some ms, 50 at most.
 * Thread: pure function, any.
 */
#ifndef WEIR_NETEM_RATE_H
#define WEIR_NETEM_RATE_H

/* Returns the share of events; p and correlation are from 0 to 1. Below 10^-12 it is 0. Returns p
 * if there is no memory. */
double netem_rate(double p, double correlation);

#endif
