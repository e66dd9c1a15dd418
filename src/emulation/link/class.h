/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `class NAME [weight W] [queue LIMIT] [drop tail|head] [match EXPRESSION]` and `scheduler
 * scfq|priority|drr [quantum SIZE]`: several queues before one link.
 *
 * A packet goes to the first class, in the order of definition, whose `match` it fits (match.h; a
 * filter evaluates expressions that match.h cannot), else to the class without a match; there is
 * exactly one such. Each class has its own queue, with its own limit and, if a statement gives one
 * (`class NAME red ...`), its own management. When the link is idle, the scheduler chooses the
 * class whose front the link takes. A class with nothing to send is skipped; no capacity is lost.
 *
 *   scfq      self-clocked fair queueing (S. J. Golestani, INFOCOM 1994), in the form that the
 *             paper on ECN-mod uses. A packet of length L has the tag F = max(v, F of the
 *             packet before it in its class) + L / W; v is the tag of the packet that the link
 *             took last. The packet with the least tag goes first; of equal tags, that of the
 *             class defined first. Classes that always have something to send get shares in
 *             proportion to their weights, whatever the lengths: over any interval, what two
 *             of them sent, each divided by its weight, differs by at most Lmax/Wi + Lmax/Wj.
 *             A packet that arrives at the empty class i waits for at most one packet of each
 *             other class and for itself: the sum of Lmax/R over the others, and L/(Wi R) if
 *             Wi is its share.
 *   priority  the class defined first always goes first; the last may starve. No weights
 *   drr       deficit round robin (M. Shreedhar, G. Varghese, SIGCOMM 1995): in each turn a
 *             class may send its quantum, and what it left of the turn before; the class with
 *             the smallest weight has `quantum`, the others in proportion
 *
 * Weights are fractions from 0 to 1, of at most 9 digits. Only their ratios count: weights that do
 * not sum to 1 are normalised. The default is 1. Tags are integers. They are exact if the least
 * common multiple of the weights, as whole numbers without a common divisor, is at most 2^40 times
 * the smallest of them, as with weights of two digits that sum to 1. Else a weight that is k times
 * the smallest is rounded to one part in 2^41 / k, and the bound of shares grows by that part of
 * what was sent.
 *
 * `queue` of a class: the default is that of `rate`, for each class; if that is not given either,
 * the class's share of rate x delay, at least RATE_QUEUE_BYTES_MIN.
 */
#ifndef WEIR_CLASS_H
#define WEIR_CLASS_H

#include "scenario/scenario.h"

enum { CLASS_FIELD_WEIGHT, CLASS_FIELD_QUEUE, CLASS_FIELD_DROP, CLASS_FIELD_MATCH };

struct class_conf {
	struct conf conf;
	struct ratio weight; /* no digits: not given */
	struct limit queue;
	uint32_t drop; /* enum rate_drop */
	char *match;   /* or NULL: takes what fits no other class */
};

enum scheduler_algorithm { SCHEDULER_SCFQ, SCHEDULER_PRIORITY, SCHEDULER_DRR };

struct scheduler_conf {
	struct conf conf;
	uint32_t algorithm; /* enum scheduler_algorithm */
	uint64_t quantum_bytes;
};

extern const struct statement class_statement, scheduler_statement;

/* Stores the classes of a cloud in the order of definition; returns their number, at most
 * CLASSES_MAX. */
uint32_t class_confs(const struct cloud_conf *cloud, const struct class_conf *confs[CLASSES_MAX]);
/* Stores the weights as whole numbers without a common divisor. */
void class_weights(const struct class_conf *const *confs, uint32_t n, uint64_t *weights);
/* Returns the greatest common divisor. */
uint64_t class_divisor(uint64_t a, uint64_t b);
/* Returns true if weights were given that do not sum to 1. */
bool class_weights_normalised(const struct class_conf *const *confs, uint32_t n);
/* Returns the limit of the queue that is in force for this class. */
struct limit class_queue(const struct class_conf *conf, const struct cloud_conf *cloud);

#endif
