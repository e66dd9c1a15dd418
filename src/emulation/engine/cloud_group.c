/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/cloud_aqm.h"
#include "engine/cloud_link.h"

/* Returns true if no event of the link precedes the group, and no observer needs its packets one by
 * one. */
static inline bool may_group(const struct cloud *cloud, simtime now)
{
	const struct aqm *aqm = cloud->link.queue.aqm;

	return !cloud->link.classes && cloud_next(cloud) > now && (!aqm || aqm->takes_groups);
}

/* Returns how many packets find room in the queue, and in the chunk that its log writes. Stores
 * their lengths. */
static uint16_t find_room(const struct cloud *cloud, struct burst *burst, uint16_t from,
                          struct aqm_group *group)
{
	const struct link *link = &cloud->link;
	const struct queue *queue = &link->queue;
	size_t memory = (size_t)(queue->log.limit - queue->log.write);
	uint64_t bytes = queue_bytes(queue);
	uint16_t found = 0;

	for (; from + found < burst->n; found++) {
		const struct rte_mbuf *mbuf = burst->mbuf[from + found];
		uint32_t length = link_length(link, burst_wire_bytes(burst, from + found));
		size_t stored = held_bytes(mbuf->data_len);

		bytes += length;
		if (burst_t(burst, from + found) != group->now ||
		    unlikely(bytes > queue->limit.value) || stored > memory ||
		    unlikely(!hold_copies(cloud->holder, mbuf)))
			break;
		memory -= stored;
		group->length[found] = length;
	}
	return found;
}

/* Appends n packets to the queue, which has room for them. */
static void append(struct cloud *cloud, const struct burst *burst, uint16_t from, uint16_t n,
                   const struct aqm_group *group)
{
	struct queue *queue = &cloud->link.queue;
	struct holder *holder = cloud->holder;
	uint64_t bytes = 0;

	for (uint16_t i = 0; i < n; i++) {
		struct held *held =
		        log_append(&queue->log, &holder->arena, burst->mbuf[from + i]->data_len);

		held->t_ns = group->now;
		hold_fill(holder, held, true, burst, from + i);
		bytes += group->length[i];
	}
	queue->held_packets += n;
	queue->held_bytes += bytes;
}

uint16_t cloud_group_waits(struct cloud *cloud, struct burst *burst, uint16_t from,
                           struct aqm_verdict *verdict, bool *decided)
{
	struct aqm_group group;
	uint16_t passed;

	group.now = burst_t(burst, from);
	if (!cloud->link.busy || cloud->link.queue.limit.unit != LIMIT_BYTES ||
	    !may_group(cloud, group.now))
		return 0;
	group.burst = burst;
	group.from = from;
	group.wait = true;
	group.n = find_room(cloud, burst, from, &group);
	passed = group.n;
	if (cloud->link.queue.aqm)
		passed = aqm_arrive_group(cloud, &cloud->link.queue, &group, verdict);
	append(cloud, burst, from, passed, &group);
	*decided = passed < group.n;
	return passed;
}

/* Takes the tokens of a whole burst of one instant in one step. Returns false if that is not
 * possible. */
static inline bool take_all_tokens(const struct link *link, struct shaper *shaper,
                                   const struct burst *burst)
{
	return burst->at_once && link->conf.overhead.none && burst->bytes <= SHAPER_BYTES_MAX &&
	       shaper_passes(shaper, (uint32_t)burst->bytes);
}

/* Takes tokens for as many packets of this instant as the bucket allows. Returns their number.
 * Stores their lengths if the management or the watch needs them. */
static uint16_t take_tokens(const struct cloud *cloud, struct shaper *shaper,
                            const struct burst *burst, uint16_t from, uint16_t n,
                            struct aqm_group *group)
{
	const struct link *link = &cloud->link;
	uint16_t found = 0;

	if (n == burst->n && take_all_tokens(link, shaper, burst)) {
		if (link->queue.aqm || cloud->watch) {
			for (; found < n; found++)
				group->length[found] = burst_wire_bytes(burst, found);
		}
		return n;
	}
	for (; found < n; found++) {
		uint32_t length = link_length(link, burst_wire_bytes(burst, from + found));

		if (burst_t(burst, from + found) != group->now || !shaper_passes(shaper, length))
			break;
		group->length[found] = length;
	}
	return found;
}

/* Notifies the watch and the management of n packets that have left the link on arrival. `idle`: no
 * other packet has arrived since. */
static void left_at_once(const struct cloud *cloud, uint16_t n, const struct aqm_group *group,
                         bool idle)
{
	struct aqm *aqm = cloud->link.queue.aqm;
	uint64_t bytes = 0;

	for (uint16_t i = 0; cloud->watch && i < n; i++)
		bytes += group->length[i];
	if (cloud->watch)
		cloud->watch->left_at_once(cloud->watch, group->now, n, bytes);
	if (aqm && idle)
		aqm_idle(aqm, group->now);
}

uint16_t cloud_group_passes(struct cloud *cloud, struct burst *burst, uint16_t from,
                            struct aqm_verdict *verdict, bool *decided)
{
	struct link *link = &cloud->link;
	struct aqm_group group;
	struct shaper shaper;
	uint16_t passed;

	group.now = burst_t(burst, from);
	if (link->busy || !link->plain || link->shaper.depth_work == 0 || cloud->witness ||
	    aqm_is_asked(link->queue.aqm) || !may_group(cloud, group.now) ||
	    !cloud_watch_runs(cloud->watch))
		return 0;
	group.burst = burst;
	group.from = from;
	group.wait = false;
	shaper_idle_until(&link->shaper, group.now);
	shaper = link->shaper;
	group.n = take_tokens(cloud, &shaper, burst, from, burst->n - from, &group);
	passed = group.n;
	if (link->queue.aqm)
		passed = aqm_arrive_group(cloud, &link->queue, &group, verdict);
	*decided = passed < group.n;
	if (*decided) {
		shaper = link->shaper;
		take_tokens(cloud, &shaper, burst, from, passed, &group);
	}
	link->shaper = shaper;
	if (passed > 0)
		left_at_once(cloud, passed, &group, !*decided);
	return passed;
}
