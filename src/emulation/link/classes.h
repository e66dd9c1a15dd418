/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The classes of a link at run time (class.h has the model).
 *
 * A link without classes has one queue and calls nothing here. Another way to choose and to
 * schedule, with any number of queues, can replace this file: the link only requests a queue for a
 * packet that comes, and the queue whose front it is to take.
 *
 * Ownership: made by control, exchanged by the worker, freed by control.
 */
#ifndef WEIR_CLASSES_H
#define WEIR_CLASSES_H

#include "link/class.h"
#include "link/link.h"
#include "match/filter.h"
#include "match/match.h"
#include "scenario/scenario.h"

struct cloud;

struct class_state {
	struct queue queue; /* first */
	struct queue_counters counters;
	char name[SCENARIO_NAME_BYTES];
	uint32_t n_rows;
	struct match_row *rows;
	struct classifier_filter *filter;
	uint64_t tag_per_byte, start; /* scfq: the base of the front's tag */
	int64_t quantum, deficit;     /* drr */
};

struct classes {
	uint32_t n, rest; /* rest: the class without a match */
	enum scheduler_algorithm algorithm;
	uint64_t v; /* scfq */
	uint32_t turn;
	bool begun; /* drr: the class in turn has got its quantum */
	const struct classifier_filters *filters;
	struct class_state class[CLASSES_MAX];
};

/* Control: makes the classes of a cloud that has some, with the managements of their queues.
 * Returns 0, -ENOMEM, or -EINVAL if a filter cannot be made. */
int classes_make(uint64_t seed, const struct classifier_filters *filters, struct cloud *cloud,
                 const struct cloud_conf *conf, struct classes **classes);
void classes_free(struct classes *classes);

static inline struct queue *classes_queue(struct classes *classes, uint32_t i)
{
	return i < classes->n ? &classes->class[i].queue : NULL;
}

/* ---- worker ---- */

/* Returns the queue for this packet of the burst. */
struct queue *classes_choose(struct classes *classes, struct burst *burst, uint32_t packet);
/* A packet was appended to this queue, and waits. */
void classes_arrived(const struct link *link, struct queue *queue);
/* The link is idle: returns the queue whose front it is to take, or NULL if none has a packet. */
struct queue *classes_pick(const struct link *link);
/* The link takes the front of this queue. */
void classes_take(const struct link *link, struct queue *queue);

/* Replaces the classes of the link by `next`, and returns the old ones; either may be NULL. Held
 * packets stay in the class of the same name or, if there is none, in the class without a match.
 * The scheduler goes on if the algorithm, the classes, their order and their weights are the same;
 * else it begins anew. `drawn` as in aqm_take_over. */
struct classes *classes_exchange(struct link *link, struct classes *next, struct arena *arena,
                                 uint64_t drawn, simtime now);

#endif
