/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PIE: a queue's delay held at a target by a proportional integral controller (RFC 8033).
 *
 * Model: every `tupdate` the probability of selection grows by
 *
 *   alpha (delay - target) + beta (delay - delay of the update before)        delays in s, alpha,
 *                                                                             beta in Hz
 *
 * divided by 2048, 512, 128, 32, 8, 2 while it is below 1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.1 (the
 * RFC's auto-tuning); `cap`: from 0.1 on it grows by 0.02 at most (section 5.5). When both delays
 * are 0 it loses 2 % besides (section 4.2, appendix A); with `decay_half` when both are below half
 * the target (appendix B). It stays within 0 and 1.
 *
 * A packet that comes is selected with that probability, but none
 *   - while a burst is allowed: for `max_burst` of updates since the queue was at peace
 *     (probability 0, both delays below half the target)
 *   - when the delay of the last update was below half the target, and the probability is below 0.2
 *   - when 2 mean packets and less wait
 *   - `derandomize` (section 5.4): before the probabilities of the packets since the last that was
 *     selected, or did not fit into the queue, have come to 0.85; and every one when they have come
 *     to 8.5. Nothing is added up while a burst is allowed (appendix B does, section 4.4 says that
 *     it bypasses all this)
 * The delay is the time that the packet taken last has waited (section 4.3's time stamps). It is 0
 * when nothing waits behind that packet, as in Linux and ns-3: the RFC's pseudocode would keep that
 * of the last packet of a burst for as long as nothing comes. Not modelled: the estimate of the
 * departure rate (5.2), for which there are time stamps; PIE that is inactive (5.3).
 *
 * The updates come at the instants begin + n tupdate, before everything else at the same instant.
 * They are made up for at the next event, as nothing changes in between; they end early when they
 * change nothing any more.
 *
 * Fixed point: a probability has 63 bits; what one update adds is rounded towards 0, once.
 *
 * Deterministic; the caller brings the draw. Thread: the owner's.
 */
#ifndef WEIR_PIE_H
#define WEIR_PIE_H

#include <stdbool.h>
#include <stdint.h>

#include "random/draw.h"
#include "simtime.h"

struct snapshot;

#define PIE_GAIN_MAX 1000 /* Hz, of alpha and beta */

struct pie_rule {
	simtime target_ns, tupdate_ns, max_burst_ns;
	uint64_t alpha, beta; /* millionths of a Hz */
	uint64_t mean_bytes;
	bool derandomize, cap, decay_half;
};

struct pie {
	bool begun;
	simtime update;       /* the instant of the next */
	uint64_t probability; /* of 2^63 */
	simtime delay_ns, delay_before_ns;
	simtime burst_ns;      /* that are left */
	uint64_t gathered_q59; /* probabilities since the last selected one */
};

/* Whatever happens at `now` comes behind this. */
void pie_advance(struct pie *pie, const struct pie_rule *rule, simtime now);
/* Whether a packet is selected that comes while so much waits. */
bool pie_select(struct pie *pie, const struct pie_rule *rule, uint64_t waiting_bytes,
                uint64_t draw);
/* A packet came to a full queue. */
void pie_overflowed(struct pie *pie);
/* Other values are in force. */
void pie_change(struct pie *pie, const struct pie_rule *rule);

/* What it has come to (snapshot.h). */
void pie_snapshot(struct pie *pie, struct snapshot *snapshot);

/* What proportional integral controllers add, of 2^63: the gains times the differences, divided by
 * 2^shift. */
int64_t pie_step(uint64_t alpha, uint64_t beta, int64_t over_target_ns, int64_t growth_ns,
                 uint32_t shift);

#endif
