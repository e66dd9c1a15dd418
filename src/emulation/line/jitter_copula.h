/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Correlated jitter: a Gaussian copula. Each delay has exactly the configured distribution,
 * whatever the correlation is.
 *
 * Model: z is a stationary Gaussian process with mean 0 and variance 1; the delay of a packet is
 * the quantile of its distribution at the probability Phi(z):
 *
 *   z' = r z + sqrt(1 - r^2) n,    n standard normal,    d = F^-1(Phi(z'))
 *
 * With a correlation, r is the same from packet to packet (AR(1)). With a half-life h, r follows
 * from the time t since the packet before: r = 2^(-t/h'). This is the Ornstein-Uhlenbeck process,
 * exact at any irregular instants; packets of one instant have one delay.
 *
 * The configured correlation is that of the delays (Pearson's), as it is measured. The z are a
 * little more correlated, since F is not linear: control solves for r and h' once. For a normal
 * distribution both are the same. At lag k, the z of AR(1) have the correlation r^k. (netem's x' =
 * r x + (1 - r) u narrows the distribution and is not used.)
 *
 * Packet path: integers only; z has GAUSSIAN_BITS fraction bits, r comes from a table.
 * Thread: control makes the copula, then it is only read; z belongs to the line.
 */
#ifndef WEIR_JITTER_COPULA_H
#define WEIR_JITTER_COPULA_H

#include "random/distribution.h"

struct copula_decay;

struct jitter_copula {
	const struct gaussian *gaussian;
	const struct copula_decay *decay; /* NULL: the same r for every packet */
	uint64_t lost_q62;                /* 1 - r */
	uint64_t innovation_q62;          /* sqrt(1 - r^2) */
	uint64_t per_ns_q64;              /* 1 / h' */
};

/* Configures delays of this distribution with a correlation, 0 to 1, from each packet to the
 * next. */
void jitter_copula_correlation(struct jitter_copula *copula,
                               const struct distribution *distribution, double correlation);
/* Configures delays whose correlation is one half at a distance of half_life_ns, > 0, between
 * packets. */
void jitter_copula_half_life(struct jitter_copula *copula, const struct distribution *distribution,
                             uint64_t half_life_ns);

/* Returns the z of the first packet, or of a packet that enters `passed_ns` after another. */
static inline int64_t jitter_copula_first(const struct jitter_copula *copula, uint64_t uniform)
{
	return gaussian_draw(copula->gaussian, uniform);
}
int64_t jitter_copula_next(const struct jitter_copula *copula, int64_t z, uint64_t passed_ns,
                           uint64_t uniform);

/* Control: returns the correlation of the z for which the delays have this correlation. */
double jitter_copula_solve(const struct distribution *distribution, double correlation);

#endif
