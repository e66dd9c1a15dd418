/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `class NAME [weight W] [queue LIMIT] [drop tail|head] [match EXPRESSION]` and
 * `scheduler scfq|priority|drr [quantum SIZE]`: several queues before one link.
 *
 * A packet goes to the first class, in the order of definition, whose `match` it fits (match.h;
 * what that cannot know is left to a filter), else to the one that has none; there is exactly one
 * such. Each class has a queue of its own, with its limit and, if a statement says so
 * (`class NAME red ...`), its management. When the link is free, the scheduler says which class's
 * front it takes; a class with nothing to send is passed over, and wastes nothing.
 *
 *   scfq      self-clocked fair queueing (S. J. Golestani, INFOCOM 1994), as the paper on ECN-mod
 *             uses it. A packet of length L has the tag F = max(v, F of the one before it in its
 *             class) + L / W, v the tag of the packet that the link has taken last; the least goes
 *             first, of equal ones the class that was defined first. Classes that always have
 *             something to send get shares as their weights, whatever the lengths: in any time,
 *             what two of them were sent, each divided by its weight, differs by at most
 *             Lmax/Wi + Lmax/Wj. A packet that comes to an empty class i waits for at most one
 *             packet of each other class and its own: the sum of Lmax/R over the others, and L/(Wi
 *             R) when Wi is its share.
 *   priority  the class that was defined first goes first, always; the last may starve. No weights
 *   drr       deficit round robin (M. Shreedhar, G. Varghese, SIGCOMM 1995): in each turn a class
 *             may send its quantum and what it left of the turn before; the smallest weight's
 *             quantum is `quantum`, the others in proportion
 *
 * Weights are fractions from 0 to 1, of at most 9 digits; they count by their ratios, and what does
 * not sum to 1 is normalised. Not given: 1. Tags are integers: exact when the least common multiple
 * of the weights, as whole numbers without a common divisor, is below 2^40, which it is for weights
 * of two digits; else they are rounded to one part in 2^40 of the smallest weight.
 *
 * `queue` of a class: if not given, that of `rate`, for each class; if that is not given either,
 * its share of rate x delay, at least RATE_QUEUE_BYTES_MIN.
 */
#ifndef WEIR_CLASS_H
#define WEIR_CLASS_H

#include "scenario/scenario.h"

enum { CLASS_FIELD_WEIGHT, CLASS_FIELD_QUEUE, CLASS_FIELD_DROP, CLASS_FIELD_MATCH };

struct class_conf {
	struct conf conf;
	struct ratio weight; /* 0 digits: not given */
	struct limit queue;
	uint32_t drop; /* enum rate_drop */
	char *match;   /* or NULL: what fits no other */
};

enum scheduler_algorithm { SCHEDULER_SCFQ, SCHEDULER_PRIORITY, SCHEDULER_DRR };

struct scheduler_conf {
	struct conf conf;
	uint32_t algorithm; /* enum scheduler_algorithm */
	uint64_t quantum_bytes;
};

extern const struct statement class_statement, scheduler_statement;

/* The classes of a cloud, in the order of definition; returns how many, at most CLASSES_MAX. */
uint32_t class_confs(const struct cloud_conf *cloud, const struct class_conf *confs[CLASSES_MAX]);
/* Their weights as whole numbers without a common divisor. */
void class_weights(const struct class_conf *const *confs, uint32_t n, uint64_t *weights);
/* Whether weights were given, and do not sum to 1. */
bool class_weights_normalised(const struct class_conf *const *confs, uint32_t n);
/* The queue in force for this class. */
struct limit class_queue(const struct class_conf *conf, const struct cloud_conf *cloud);

#endif
