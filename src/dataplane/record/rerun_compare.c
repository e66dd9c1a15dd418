/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/rerun_compare.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "engine/engine_digest.h"
#include "packet/digest.h"

/* ---- departures ---- */

int rerun_gone_add(struct gone_queue *queue, simtime due_ns, uint32_t digest)
{
	if (queue->n == queue->room) {
		const uint32_t room = queue->room ? 2 * queue->room : 1024;
		struct gone *list = malloc(room * sizeof(*list));

		if (!list)
			return -ENOMEM;
		for (uint32_t i = 0; i < queue->n; i++)
			list[i] = queue->list[(queue->first + i) & (queue->room - 1)];
		free(queue->list);
		queue->list = list;
		queue->room = room;
		queue->first = 0;
	}
	queue->list[(queue->first + queue->n++) & (queue->room - 1)] =
	        (struct gone){due_ns, digest};
	return 0;
}

static struct gone *gone_at(const struct gone_queue *queue, uint32_t i)
{
	return &queue->list[(queue->first + i) & (queue->room - 1)];
}

static void gone_pass(struct gone_queue *queue, uint32_t n)
{
	queue->first = (queue->first + n) & (queue->room - 1);
	queue->n -= n;
	queue->passed += n;
}

/* Searches the packets that are due in the same nanosecond as the head. In a version before 0.2.0
 * they may have left in another order, if the outlet was full. */
static bool find_beside(struct rerun_engine *rerun_engine, struct gone_queue *queue,
                        uint32_t digest)
{
	struct gone *head = gone_at(queue, 0);

	for (uint32_t i = 1; i < queue->n && gone_at(queue, i)->due_ns == head->due_ns; i++) {
		struct gone *other = gone_at(queue, i), kept = *head;

		if (other->digest != digest)
			continue;
		*head = *other;
		*other = kept;
		rerun_engine->result->swapped++;
		return true;
	}
	return false;
}

void rerun_compare_departures(struct rerun_engine *rerun_engine, const struct recorded *recorded)
{
	const struct tape_entry *entry = &recorded->entry;
	struct gone_queue *queue = &rerun_engine->gone[entry->port];
	const uint64_t before = queue->passed + 1;

	if (entry->number > before) {
		rerun_engine->skipped = true;
		gone_pass(queue, (uint32_t)RTE_MIN((uint64_t)queue->n, entry->number - before));
	}
	for (uint32_t i = 0; i < entry->n; i++) {
		const uint64_t which = entry->number + i;
		uint32_t digest;

		memcpy(&digest, recorded->data + i * sizeof(digest), sizeof(digest));
		if (queue->n == 0 || queue->passed + 1 != which) {
			rerun_engine_differ(
			        rerun_engine,
			        "worker %u: packet %" PRIu64
			        " out of port %u left by %s in the run, but not in the repetition",
			        rerun_engine->worker, which, entry->port,
			        instant_of(entry->t_ns).text);
			return;
		}
		if (gone_at(queue, 0)->digest != digest &&
		    !find_beside(rerun_engine, queue, digest)) {
			rerun_engine_differ(rerun_engine,
			                    "worker %u: packet %" PRIu64
			                    " out of port %u, by %s: differs from the run, or left "
			                    "at another instant; here it is due at %s",
			                    rerun_engine->worker, which, entry->port,
			                    instant_of(entry->t_ns).text,
			                    instant_of(gone_at(queue, 0)->due_ns).text);
			return;
		}
		gone_pass(queue, 1);
		rerun_engine->result->compared++;
	}
}

void rerun_compare_counters(struct rerun_engine *rerun_engine, const struct tape_entry *entry)
{
	struct engine_digest digest;

	/* Control removes a cloud from its slot at a time of its own, which may differ here. */
	if (!engine_digest_at(rerun_engine->engine, entry->n, &digest) ||
	    digest_name(digest.cloud) != entry->word)
		return;
	if (digest.counters == entry->number) {
		rerun_engine->result->checks++;
		return;
	}
	rerun_engine_differ(rerun_engine, "worker %u: the counters of cloud %s differ at %s",
	                    rerun_engine->worker, digest.cloud, instant_of(entry->t_ns).text);
}

void rerun_compare_end(struct rerun_engine *rerun_engine, const struct tape_entry *entry)
{
	if ((entry->flags & TAPE_UNSETTLED) || rerun_engine->skipped)
		return;
	for (uint32_t port = 0; port < rerun_engine->n_ports; port++) {
		const struct gone_queue *queue = &rerun_engine->gone[port];

		if (queue->n > 0)
			rerun_engine_differ(rerun_engine,
			                    "worker %u: packet %" PRIu64
			                    " out of port %u leaves at %s in the repetition, but "
			                    "did not leave in the run",
			                    rerun_engine->worker, queue->passed + 1, port,
			                    instant_of(gone_at(queue, 0)->due_ns).text);
	}
}
