/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares a repetition with what the recorded engine did: each departure, the counters of clouds
 * from time to time, and the end. In place of a digest of each departure, a flight has the number
 * of departures at each port, and the sum of their due times. The first difference counts. */
#include "record/rerun_engine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/engine_digest.h"
#include "packet/digest.h"

/* Stores a difference between the repetition and the run; only the first one counts. */
static __attribute__((format(printf, 2, 3))) void differ(struct rerun_engine *rerun,
                                                         const char *format, ...)
{
	struct rerun_result *result = rerun->result;
	va_list arguments;

	if (result->differs)
		return;
	result->differs = true;
	va_start(arguments, format);
	vsnprintf(result->difference, sizeof(result->difference), format, arguments);
	va_end(arguments);
}

static int gone_add(struct gone_queue *queue, simtime due_ns, uint32_t digest)
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
static bool find_beside(struct rerun_engine *rerun, struct gone_queue *queue, uint32_t digest)
{
	struct gone *head = gone_at(queue, 0);

	for (uint32_t i = 1; i < queue->n && gone_at(queue, i)->due_ns == head->due_ns; i++) {
		struct gone *other = gone_at(queue, i), kept = *head;

		if (other->digest != digest)
			continue;
		*head = *other;
		*other = kept;
		rerun->result->swapped++;
		return true;
	}
	return false;
}

static void compare_departures(struct rerun_engine *rerun, const struct recorded *recorded)
{
	const struct tape_entry *entry = &recorded->entry;
	struct gone_queue *queue = &rerun->gone[entry->port];
	const uint64_t before = queue->passed + 1;

	if (entry->number > before) {
		rerun->skipped = true;
		gone_pass(queue, (uint32_t)RTE_MIN((uint64_t)queue->n, entry->number - before));
	}
	for (uint32_t i = 0; i < entry->n; i++) {
		const uint64_t which = entry->number + i;
		uint32_t digest;

		memcpy(&digest, recorded->data + i * sizeof(digest), sizeof(digest));
		if (queue->n == 0 || queue->passed + 1 != which) {
			differ(rerun,
			       "worker %u: packet %" PRIu64
			       " out of port %u left by %s in the run, but not in the repetition",
			       rerun->worker, which, entry->port, instant_of(entry->t_ns).text);
			return;
		}
		if (gone_at(queue, 0)->digest != digest && !find_beside(rerun, queue, digest)) {
			differ(rerun,
			       "worker %u: packet %" PRIu64
			       " out of port %u, by %s: differs from the run, or left "
			       "at another instant; here it is due at %s",
			       rerun->worker, which, entry->port, instant_of(entry->t_ns).text,
			       instant_of(gone_at(queue, 0)->due_ns).text);
			return;
		}
		gone_pass(queue, 1);
		rerun->result->compared++;
	}
}

static void compare_counters(struct rerun_engine *rerun, const struct tape_entry *entry)
{
	struct engine_digest digest;

	/* Control removes a cloud from its slot at a time of its own, which may differ here. */
	if (!engine_digest_at(rerun->offline.engine, entry->n, &digest) ||
	    digest_name(digest.cloud) != entry->word)
		return;
	if (digest.counters == entry->number) {
		rerun->result->checks++;
		return;
	}
	differ(rerun, "worker %u: the counters of cloud %s differ at %s", rerun->worker,
	       digest.cloud, instant_of(entry->t_ns).text);
}

static void compare_end(struct rerun_engine *rerun, const struct tape_entry *entry)
{
	if ((entry->flags & TAPE_UNSETTLED) || rerun->skipped)
		return;
	for (uint32_t port = 0; port < rerun->n_ports; port++) {
		const struct gone_queue *queue = &rerun->gone[port];

		if (queue->n > 0)
			differ(rerun,
			       "worker %u: packet %" PRIu64
			       " out of port %u leaves at %s in the repetition, but "
			       "did not leave in the run",
			       rerun->worker, queue->passed + 1, port,
			       instant_of(gone_at(queue, 0)->due_ns).text);
	}
}

static void compare_sum(struct rerun_engine *rerun, const struct tape_entry *entry)
{
	const struct tape_account *account = &rerun->account;
	const uint32_t departed = (uint32_t)account->departed[entry->port];

	if (departed == entry->n && account->sums[entry->port] == entry->number) {
		rerun->result->checks++;
		return;
	}
	differ(rerun, "worker %u: up to %s, %s packets left port %u%s", rerun->worker,
	       instant_of(entry->t_ns).text,
	       departed == entry->n ? "the same number of" : "a different number of", entry->port,
	       departed == entry->n ? ", but not at the same instants" : "");
}

int rerun_left(struct rerun_engine *rerun, uint32_t port, simtime due_ns, uint32_t digest)
{
	const struct rerun_options *options = rerun->options;

	rerun->result->departures++;
	rerun->account.departed[port]++;
	rerun->account.sums[port] += due_ns;
	return options->otherwise || options->flight ? 0
	                                             : gone_add(&rerun->gone[port], due_ns, digest);
}

void rerun_compare(struct rerun_engine *rerun, const struct recorded *recorded)
{
	const struct tape_entry *entry = &recorded->entry;

	if (entry->kind == TAPE_DEPARTURES && entry->port < rerun->n_ports)
		compare_departures(rerun, recorded);
	else if (entry->kind == TAPE_CHECK)
		compare_counters(rerun, entry);
	else if (entry->kind == TAPE_SUM)
		compare_sum(rerun, entry);
	else if (entry->kind == TAPE_END)
		compare_end(rerun, entry);
}
