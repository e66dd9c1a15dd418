/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/classes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "link/aqm.h"
#include "link/rate.h"
#include "scenario/scenario.h"

#define TAG_PER_BYTE_MAX (UINT64_C(1) << 40)

/* ---- making: control ---- */

static int selection_prepare(struct class_state *class, const struct class_conf *conf,
                             const struct classifier_filters *filters)
{
	struct problem problem;
	struct match match;

	if (!conf->match)
		return 0;
	if (!match_parse(conf->match, &match))
		return filters ? filters->make(conf->match, &class->filter, &problem) : -EINVAL;
	class->rows = calloc(match.n, sizeof(*class->rows));
	if (!class->rows)
		return -ENOMEM;
	memcpy(class->rows, match.rows, match.n * sizeof(*class->rows));
	class->n_rows = match.n;
	return 0;
}

/* Sets the quanta, in proportion to the weights, and tag_per_byte, in inverse proportion. */
static void weights_prepare(struct classes *classes, const uint64_t *weights, uint64_t quantum)
{
	uint64_t least = UINT64_MAX;
	unsigned __int128 multiple = 1;

	for (uint32_t i = 0; i < classes->n; i++) {
		least = RTE_MIN(least, weights[i]);
		multiple *=
		        weights[i] / class_divisor(weights[i], (uint64_t)(multiple % weights[i]));
		if (multiple / least > TAG_PER_BYTE_MAX)
			multiple = (unsigned __int128)TAG_PER_BYTE_MAX * least + 1;
	}
	if (multiple / least >= TAG_PER_BYTE_MAX)
		multiple = (unsigned __int128)TAG_PER_BYTE_MAX * least;
	for (uint32_t i = 0; i < classes->n; i++) {
		classes->class[i].tag_per_byte =
		        (uint64_t)((multiple + weights[i] / 2) / weights[i]);
		classes->class[i].quantum =
		        (int64_t)((unsigned __int128)quantum * weights[i] / least);
	}
}

static int class_prepare(struct class_state *class, uint64_t seed, struct cloud *cloud,
                         const struct cloud_conf *conf, const struct class_conf *of)
{
	strcpy(class->name, of->conf.scope);
	class->queue.limit = class_queue(of, conf);
	class->queue.drop_head = rate_drops_head(conf, &of->conf, of->drop, CLASS_FIELD_DROP);
	class->queue.counters = &class->counters;
	return aqm_make(seed, cloud, conf, class->name, &class->queue.aqm);
}

int classes_make(uint64_t seed, const struct classifier_filters *filters, struct cloud *cloud,
                 const struct cloud_conf *conf, struct classes **result)
{
	const struct scheduler_conf *scheduler =
	        (const struct scheduler_conf *)cloud_conf_get(conf, "scheduler");
	const struct class_conf *confs[CLASSES_MAX];
	uint64_t weights[CLASSES_MAX];
	struct classes *classes = calloc(1, sizeof(*classes));
	int error = 0;

	if (!classes)
		return -ENOMEM;
	classes->filters = filters;
	classes->n = class_confs(conf, confs);
	classes->algorithm = SCHEDULER_SCFQ;
	if (scheduler)
		classes->algorithm = (enum scheduler_algorithm)scheduler->algorithm;
	for (uint32_t i = 0; i < classes->n && !error; i++) {
		struct class_state *class = &classes->class[i];

		if (!confs[i]->match)
			classes->rest = i;
		error = selection_prepare(class, confs[i], filters);
		if (!error)
			error = class_prepare(class, seed, cloud, conf, confs[i]);
	}
	if (error) {
		classes_free(classes);
		return error;
	}
	class_weights(confs, classes->n, weights);
	weights_prepare(classes, weights,
	                scheduler ? scheduler->quantum_bytes
	                          : scheduler_statement.fields[1].initial);
	*result = classes;
	return 0;
}

void classes_free(struct classes *classes)
{
	if (!classes)
		return;
	for (uint32_t i = 0; i < classes->n; i++) {
		struct class_state *class = &classes->class[i];

		aqm_free(class->queue.aqm);
		free(class->rows);
		if (class->filter)
			classes->filters->free(class->filter);
	}
	free(classes);
}

/* ---- choosing ---- */

static bool fits(const struct classes *classes, const struct class_state *class,
                 const struct packet_key *key, const struct burst *burst, uint32_t packet)
{
	if (class->filter)
		return classes->filters->fits(class->filter, burst, packet);
	for (uint32_t i = 0; i < class->n_rows; i++) {
		if (match_row_fits(&class->rows[i], key))
			return true;
	}
	return false;
}

struct queue *classes_choose(struct classes *classes, struct burst *burst, uint32_t packet)
{
	struct packet_key key;

	packet_key_read(burst, packet, &key);
	for (uint32_t i = 0; i < classes->n; i++) {
		if (fits(classes, &classes->class[i], &key, burst, packet))
			return &classes->class[i].queue;
	}
	return &classes->class[classes->rest].queue;
}

/* ---- scheduling ---- */

static uint32_t front_length(const struct link *link, const struct queue *queue)
{
	return link_length(link, log_front(&queue->log)->wire_bytes);
}

/* Returns the tag of the front. A length beyond that of any frame counts as SHAPER_BYTES_MAX, as in
 * the shaper, so that no tag is further from v than TAG_PER_BYTE_MAX times that. */
static uint64_t front_tag(const struct link *link, const struct class_state *class)
{
	uint32_t length = RTE_MIN(front_length(link, &class->queue), SHAPER_BYTES_MAX);

	return class->start + class->tag_per_byte * length;
}

void classes_arrived(const struct link *link, struct queue *queue)
{
	struct class_state *class = (struct class_state *)queue;
	bool head_is_here = link->busy && link->from == queue && link->taken.records == 0;

	/* The packet is the first that waits. No tag that this class has sent is above v: max(v, F)
	 * is v. */
	if (queue->log.records - head_is_here == 1)
		class->start = link->classes->v;
}

/* Tags wrap; two that are compared are never 2^63 apart. */
static struct queue *pick_scfq(const struct link *link)
{
	struct classes *classes = link->classes;
	struct class_state *best = NULL;
	uint64_t best_tag = 0;

	for (uint32_t i = 0; i < classes->n; i++) {
		struct class_state *class = &classes->class[i];
		uint64_t tag;

		if (class->queue.log.records == 0)
			continue;
		tag = front_tag(link, class);
		if (best && (int64_t)(tag - best_tag) >= 0)
			continue;
		best = class;
		best_tag = tag;
	}
	return best ? &best->queue : NULL;
}

static struct queue *pick_priority(const struct link *link)
{
	struct classes *classes = link->classes;

	for (uint32_t i = 0; i < classes->n; i++) {
		if (classes->class[i].queue.log.records)
			return &classes->class[i].queue;
	}
	return NULL;
}

static void drr_next(struct classes *classes)
{
	classes->turn = classes->turn + 1 == classes->n ? 0 : classes->turn + 1;
	classes->begun = false;
}

/* Every class has had its turn and may not send. Skips at once all further rounds in which none may
 * send, whatever lengths a capture claims: each class gets the quanta of these rounds. */
static void drr_skip(const struct link *link)
{
	struct classes *classes = link->classes;
	int64_t rounds = INT64_MAX;

	for (uint32_t i = 0; i < classes->n; i++) {
		struct class_state *class = &classes->class[i];

		if (class->queue.log.records) {
			int64_t missing = front_length(link, &class->queue) - class->deficit;

			rounds = RTE_MIN(rounds, (missing - 1) / class->quantum);
		}
	}
	for (uint32_t i = 0; i < classes->n; i++) {
		if (classes->class[i].queue.log.records)
			classes->class[i].deficit += rounds * classes->class[i].quantum;
	}
}

/* Takes at most one turn of each class, and after drr_skip one more. The management may drop the
 * front that the deficit suffices for. The class then sends the packet behind it, and owes what
 * that is longer: its deficit is negative. */
static struct queue *pick_drr(const struct link *link)
{
	struct classes *classes = link->classes;

	if (!pick_priority(link))
		return NULL;
	for (uint32_t turns = 0;; turns++, drr_next(classes)) {
		struct class_state *class = &classes->class[classes->turn];

		if (turns == classes->n)
			drr_skip(link);
		if (class->queue.log.records == 0) {
			class->deficit = 0;
			continue;
		}
		if (!classes->begun)
			class->deficit += class->quantum;
		classes->begun = true;
		if (front_length(link, &class->queue) <= class->deficit)
			return &class->queue;
	}
}

struct queue *classes_pick(const struct link *link)
{
	switch (link->classes->algorithm) {
	case SCHEDULER_PRIORITY:
		return pick_priority(link);
	case SCHEDULER_DRR:
		return pick_drr(link);
	case SCHEDULER_SCFQ:
		break;
	}
	return pick_scfq(link);
}

void classes_take(const struct link *link, struct queue *queue)
{
	struct class_state *class = (struct class_state *)queue;
	struct classes *classes = link->classes;

	if (classes->algorithm == SCHEDULER_SCFQ) {
		classes->v = class->start = front_tag(link, class);
	} else if (classes->algorithm == SCHEDULER_DRR) {
		class->deficit -= front_length(link, queue);
		if (queue->log.records == 1) {
			class->deficit = 0;
			drr_next(classes);
		}
	}
}

/* ---- exchanging ---- */

static struct class_state *class_named(struct classes *classes, const char *name)
{
	for (uint32_t i = 0; i < classes->n; i++) {
		if (strcmp(classes->class[i].name, name) == 0)
			return &classes->class[i];
	}
	return NULL;
}

/* Returns the queue that takes the packets of the queue of class `name`, or of the link's own queue
 * if that is NULL. */
static struct queue *successor(struct link *link, struct classes *next, const char *name)
{
	struct class_state *class;

	if (!next)
		return &link->queue;
	class = name ? class_named(next, name) : NULL;
	return class ? &class->queue : &next->class[next->rest].queue;
}

static void queue_move(struct link *link, struct queue *to, struct queue *from, struct arena *arena)
{
	queue_gather(from, arena);
	log_join(&to->log, &from->log, arena);
	to->held_packets += from->held_packets;
	to->held_bytes += from->held_bytes;
	if (link->busy && link->from == from) {
		to->sending = from->sending;
		to->sending_bytes = from->sending_bytes;
		link->from = to;
	}
	from->held_packets = from->held_bytes = 0;
	from->sending = from->sending_bytes = 0;
}

/* Returns true if nothing that decides which class sends next has changed. */
static bool scheduler_same(const struct classes *a, const struct classes *b)
{
	if (a->n != b->n || a->algorithm != b->algorithm)
		return false;
	for (uint32_t i = 0; i < a->n; i++) {
		const struct class_state *one = &a->class[i], *other = &b->class[i];

		if (strcmp(one->name, other->name) != 0 ||
		    one->tag_per_byte != other->tag_per_byte || one->quantum != other->quantum)
			return false;
	}
	return true;
}

/* Continues the tags, the deficits and the turn. */
static void scheduler_take_over(struct classes *next, const struct classes *old)
{
	next->v = old->v;
	next->turn = old->turn;
	next->begun = old->begun;
	for (uint32_t i = 0; i < next->n; i++) {
		next->class[i].start = old->class[i].start;
		next->class[i].deficit = old->class[i].deficit;
	}
}

/* Continues the management and the counters of the former class of the same name. */
static void class_take_over(struct class_state *class, struct classes *old, uint64_t drawn,
                            simtime now)
{
	struct class_state *before = old ? class_named(old, class->name) : NULL;

	if (before)
		class->counters = before->counters;
	if (class->queue.aqm)
		aqm_take_over(class->queue.aqm, before ? before->queue.aqm : NULL, &class->queue,
		              drawn, now);
}

struct classes *classes_exchange(struct link *link, struct classes *next, struct arena *arena,
                                 uint64_t drawn, simtime now)
{
	struct classes *old = link->classes;
	struct queue *ahead = link->from;
	struct queue *queue;

	if (!old && !next)
		return NULL;
	/* The queue with the head is moved first, so that the head stays at the front of its
	 * log. */
	if (!old) {
		queue_move(link, successor(link, next, NULL), &link->queue, arena);
	} else {
		queue_move(link, successor(link, next, ((struct class_state *)ahead)->name), ahead,
		           arena);
		for (uint32_t i = 0; (queue = classes_queue(old, i)); i++) {
			if (queue != ahead)
				queue_move(link, successor(link, next, old->class[i].name), queue,
				           arena);
		}
	}
	if (old && next && scheduler_same(old, next))
		scheduler_take_over(next, old);
	for (uint32_t i = 0; next && i < next->n; i++)
		class_take_over(&next->class[i], old, drawn, now);
	link->classes = next;
	if (!link->busy)
		link->from = next ? &next->class[0].queue : &link->queue;
	return old;
}
