/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The classes of a link, while they run (class.h has the model).
 *
 * The link without classes does not know this: it has one queue, and asks nobody. What lies here
 * can be replaced by another way to choose and to pick, with as many queues as it likes: the link
 * asks for a queue for a packet that comes, and for the queue whose front it is to take.
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
	uint64_t tag_per_byte, start; /* scfq: the tag from which the front's is counted */
	int64_t quantum, deficit;     /* drr */
};

struct classes {
	uint32_t n, rest; /* the class that has no match */
	enum scheduler_algorithm algorithm;
	uint64_t v; /* scfq */
	uint32_t turn;
	bool begun; /* drr: the class in turn has got its quantum */
	const struct classifier_filters *filters;
	struct class_state class[CLASSES_MAX];
};

/* Control: of a cloud that has classes. The managements of its queues are made too. 0, -ENOMEM, or
 * -EINVAL if a filter cannot be made. */
int classes_make(uint64_t seed, const struct classifier_filters *filters, struct cloud *cloud,
                 const struct cloud_conf *conf, struct classes **classes);
void classes_free(struct classes *classes);

static inline struct queue *classes_queue(struct classes *classes, uint32_t i)
{
	return i < classes->n ? &classes->class[i].queue : NULL;
}

/* ---- worker ---- */

/* Where this packet of the burst goes. */
struct queue *classes_choose(struct classes *classes, struct burst *burst, uint32_t packet);
/* A packet was appended to this one, and waits. */
void classes_arrived(const struct link *link, struct queue *queue);
/* The link is free: whose front it is to take; NULL: there is nothing. */
struct queue *classes_pick(const struct link *link);
/* It takes the front of this one. */
void classes_take(const struct link *link, struct queue *queue);

/* `next` in the place of the link's, either may be NULL; returns those that were there. What is
 * held stays: with its class, or if there is none of that name, with the one that has no match.
 * `drawn` as of aqm_take_over. */
struct classes *classes_exchange(struct link *link, struct classes *next, struct arena *arena,
                                 uint64_t drawn, simtime now);

#endif
