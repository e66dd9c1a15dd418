/* SPDX-License-Identifier: BSD-3-Clause */
#include "aqm.h"

#include <errno.h>

#include "cloud.h"
#include "copy.h"
#include "engine.h"

/* ---- control ---- */

int aqm_check(const struct conf *conf, const struct cloud_conf *cloud, struct problem *problem)
{
	if (!cloud_conf_get(cloud, "rate")) {
		problem_set(problem, -1,
		            "there is no queue to manage: give cloud `%s` a `rate`, like `cloud %s "
		            "rate 10mbit`",
		            cloud->name, cloud->name);
		return -EINVAL;
	}
	for (uint32_t i = 0; i < cloud->n_confs; i++) {
		const struct conf *other = cloud->confs[i];

		if (other->statement->scoped && !conf->scope[0]) {
			problem_set(problem, -1,
			            "the link has classes, and each its own queue: say whose, like "
			            "`cloud %s class %s %s ...`",
			            cloud->name, other->scope, conf->statement->name);
			return -EINVAL;
		}
		/* One of the same name is what this one replaces. */
		if (other->statement->role != ROLE_AQM ||
		    strcmp(other->statement->name, conf->statement->name) == 0 ||
		    strcmp(other->scope, conf->scope) != 0)
			continue;
		problem_set(problem, -1,
		            "a queue has one management: `no cloud %s %s` first, or leave out `%s`",
		            cloud->name, other->statement->name, conf->statement->name);
		return -EINVAL;
	}
	return 0;
}

const struct conf *aqm_beside(const struct conf *conf, const struct cloud_conf *cloud,
                              const char *name)
{
	const struct conf *own = cloud_conf_scoped(cloud, conf->scope, name);

	return own ? own : cloud_conf_get(cloud, name);
}

void aqm_key(struct aqm *aqm, uint64_t seed, const char *scope)
{
	const struct statement *statement = aqm->statement;
	char purpose[96];

	__builtin_snprintf(purpose, sizeof(purpose), "%s %s%s%s", statement->name,
	                   statement->variant ? statement->variant : "", scope[0] ? " of " : "",
	                   scope);
	aqm->key = draw_key_make(seed, aqm->cloud->name, purpose);
}

int aqm_make(const struct engine_setup *setup, struct cloud *cloud, const struct cloud_conf *conf,
             const char *scope, struct aqm **aqm)
{
	const struct conf *own = NULL;
	int error;

	*aqm = NULL;
	for (uint32_t i = 0; i < conf->n_confs; i++) {
		if (conf->confs[i]->statement->role == ROLE_AQM &&
		    strcmp(conf->confs[i]->scope, scope) == 0)
			own = conf->confs[i];
	}
	if (!own)
		return 0;
	error = own->statement->aqm->make(own, conf, aqm);
	if (error)
		return error;
	(*aqm)->kind = own->statement->aqm;
	(*aqm)->statement = own->statement;
	(*aqm)->cloud = cloud;
	aqm_key(*aqm, setup->seed, scope);
	return 0;
}

void aqm_report(const struct aqm *aqm, struct aqm_report *report)
{
	report->name = aqm ? aqm->statement->name : NULL;
	report->n_figures =
	        aqm && aqm->kind->figures ? aqm->kind->figures(aqm, report->figures) : 0;
}

void aqm_free(struct aqm *aqm)
{
	if (aqm)
		aqm->kind->free(aqm);
}

/* ---- worker ---- */

static struct aqm_view view_of(const struct cloud *cloud, const struct queue *queue,
                               uint32_t wire_bytes)
{
	return (struct aqm_view){
	        .waiting_bytes = queue_bytes(queue),
	        .waiting_packets = queue_packets(queue),
	        .held_bytes = queue->held_bytes,
	        .held_packets = queue->held_packets,
	        .limit = queue->limit,
	        .rate_bps = cloud->link.shaper.rate_bps,
	        .wire_bytes = link_length(&cloud->link, wire_bytes),
	};
}

static enum marking look(const struct aqm *aqm, const struct packet_bytes *frame,
                         struct mark_place *place)
{
	if (!aqm->marker)
		return MARKING_NONE;
	return aqm->marker->look(frame, place);
}

static enum aqm_outcome outcome_of(const struct aqm *aqm, struct aqm_verdict verdict, bool has_room,
                                   struct rte_mbuf *mbuf)
{
	struct mark_place place;
	struct packet_bytes frame;
	enum marking marking = MARKING_DONE;

	if (verdict.action == AQM_DROP)
		return AQM_DROPPED;
	if (verdict.action == AQM_MARK) {
		frame = packet_bytes_of_mbuf(mbuf);
		marking = look(aqm, &frame, &place);
		if (marking == MARKING_NONE)
			return AQM_UNMARKABLE;
	}
	if (!has_room)
		return AQM_OVERFLOWED;
	if (verdict.action == AQM_PASS)
		return AQM_QUEUED;
	return marking == MARKING_DONE ? AQM_MARKED_PAST : AQM_MARKED;
}

static void count_mark(struct cloud *cloud, const struct queue *queue)
{
	cloud->counters.ecn_marked++;
	if (queue->counters)
		queue->counters->ecn_marked++;
}

/* Marks a packet that was looked at, in bytes of its own; NULL: there were none, it was dropped. */
static struct rte_mbuf *mark_mbuf(struct cloud *cloud, const struct aqm *aqm, struct rte_mbuf *mbuf)
{
	struct mark_place place;
	struct packet_bytes frame;

	mbuf = copy_writable(cloud, mbuf);
	if (unlikely(!mbuf))
		return NULL;
	frame = packet_bytes_of_mbuf(mbuf);
	if (aqm->marker->look(&frame, &place) == MARKING_POSSIBLE)
		aqm->marker->set(&place);
	return mbuf;
}

bool aqm_admit(struct cloud *cloud, struct queue *queue, struct rte_mbuf **mbuf, bool *marked)
{
	struct aqm *aqm = queue->aqm;
	const struct packet *packet = packet_of(*mbuf);
	simtime now = packet->t_ns;
	const struct aqm_view view = view_of(cloud, queue, packet->wire_bytes);
	struct aqm_verdict verdict = {.action = AQM_PASS};
	enum aqm_outcome outcome;

	if (aqm->kind->arrive)
		verdict = aqm->kind->arrive(aqm, &view, *mbuf, now);
	aqm->drawn++;
	outcome = outcome_of(aqm, verdict, link_has_room(&cloud->link, queue, packet->wire_bytes),
	                     *mbuf);
	if (unlikely(outcome == AQM_OVERFLOWED && queue->drop_head) &&
	    aqm_push_out(cloud, queue, packet->wire_bytes, now))
		outcome = outcome_of(aqm, verdict, true, *mbuf);
	if (aqm->kind->settled)
		aqm->kind->settled(aqm, &view, *mbuf, outcome, now);
	*marked = outcome == AQM_MARKED;
	switch (outcome) {
	case AQM_QUEUED:
	case AQM_MARKED_PAST:
		return true;
	case AQM_MARKED:
		*mbuf = mark_mbuf(cloud, aqm, *mbuf);
		if (*mbuf)
			count_mark(cloud, queue);
		return *mbuf != NULL;
	case AQM_UNMARKABLE:
	case AQM_DROPPED:
		cloud_drop(cloud, *mbuf, verdict.reason);
		return false;
	case AQM_OVERFLOWED:
		break;
	}
	cloud_drop(cloud, *mbuf, REASON_QUEUE_FULL);
	return false;
}

/* The record's packet in bytes that nobody else sees. False: there were none, and it is gone. */
static bool own_bytes(struct cloud *cloud, struct held *held)
{
	struct rte_mbuf *mbuf;
	uint16_t segments;

	if (!(held->flags & HELD_MBUF))
		return true;
	mbuf = held_mbuf(held);
	segments = mbuf->nb_segs;
	packet_of(mbuf)->number = cloud_number(cloud, held->flags, held->number);
	mbuf = copy_writable(cloud, mbuf);
	if (unlikely(!mbuf)) {
		cloud->holder->kept -= segments;
		return false;
	}
	cloud->holder->kept += mbuf->nb_segs - segments;
	memcpy(held->data, &mbuf, sizeof(mbuf));
	return true;
}

/* Whether the head may go, marked if that was the verdict. False: it has to be popped. */
static bool head_may_go(struct cloud *cloud, const struct queue *queue, struct held *held,
                        struct aqm_verdict verdict)
{
	const struct aqm *aqm = queue->aqm;
	struct mark_place place;
	struct packet_bytes frame = packet_bytes_of_held(held);
	enum marking marking = MARKING_DONE;

	if (verdict.action == AQM_PASS)
		return true;
	if (verdict.action == AQM_MARK)
		marking = look(aqm, &frame, &place);
	if (verdict.action == AQM_DROP || marking == MARKING_NONE) {
		cloud_drop_held(cloud, held, verdict.reason);
		return false;
	}
	if (marking == MARKING_DONE)
		return true;
	if (unlikely(!own_bytes(cloud, held)))
		return false;
	frame = packet_bytes_of_held(held);
	aqm->marker->look(&frame, &place);
	aqm->marker->set(&place);
	held->flags |= PACKET_MARKED;
	count_mark(cloud, queue);
	return true;
}

/* The front is dropped, or was: nobody holds it any more. */
static void front_gone(struct cloud *cloud, struct queue *queue)
{
	if (queue->counters)
		queue->counters->dropped++;
	queue_pop(queue, &cloud->holder->arena,
	          link_length(&cloud->link, log_front(&queue->log)->wire_bytes));
}

void aqm_take(struct cloud *cloud, struct queue *queue, simtime now)
{
	struct aqm *aqm = queue->aqm;

	if (!aqm->kind->depart)
		return;
	while (queue->log.records) {
		struct held *held = log_front(&queue->log);
		const struct aqm_view view = view_of(cloud, queue, held->wire_bytes);

		if (head_may_go(cloud, queue, held, aqm->kind->depart(aqm, &view, held, now)))
			return;
		front_gone(cloud, queue);
		if (queue->held_packets == 0)
			aqm_idle(aqm, now);
	}
}

bool aqm_push_out(struct cloud *cloud, struct queue *queue, uint32_t wire_bytes, simtime now)
{
	const struct link *link = &cloud->link;
	const struct aqm *aqm = queue->aqm;
	struct held *held;

	if (!queue_may_have_room(queue, link->shaper.rate_bps, link_length(link, wire_bytes)))
		return false;
	while (!link_has_room(link, queue, wire_bytes)) {
		held = link_oldest(link, queue);
		if (!held)
			return false;
		if (aqm && aqm->kind->pushed_out) {
			const struct aqm_view view = view_of(cloud, queue, held->wire_bytes);

			aqm->kind->pushed_out(queue->aqm, &view, held, now);
		}
		cloud_drop_held(cloud, held, REASON_QUEUE_FULL);
		front_gone(cloud, queue);
	}
	return true;
}

void aqm_take_over(struct aqm *aqm, const struct aqm *old, const struct queue *queue, simtime now)
{
	bool goes_on = old && old->statement == aqm->statement;

	/* No draw is repeated: neither the old one's, nor its own, nor those of one before. */
	aqm->drawn = RTE_MAX(aqm->drawn, goes_on ? old->drawn : aqm->cloud->drawn_most);
	if (goes_on && aqm->kind->adopt)
		aqm->kind->adopt(aqm, old);
	else if (queue->held_packets == 0)
		aqm_idle(aqm, now);
}

struct aqm *aqm_exchange(struct queue *queue, struct aqm *aqm, simtime now)
{
	struct aqm *old = queue->aqm;

	if (old)
		old->cloud->drawn_most = RTE_MAX(old->cloud->drawn_most, old->drawn);
	if (aqm)
		aqm_take_over(aqm, old, queue, now);
	queue->aqm = aqm;
	return old;
}
