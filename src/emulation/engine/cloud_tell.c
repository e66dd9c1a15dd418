/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/cloud_tell.h"

#include "engine/tallies.h"

#include "link/aqm.h"

/* Called only for a witness: an average may use floating point. */
static uint64_t queue_average(const struct cloud *cloud)
{
	const struct aqm *aqm = cloud->link.queue.aqm;

	return aqm && aqm->kind->average ? (uint64_t)aqm->kind->average(aqm) : FATE_NO_AVERAGE;
}

static struct fate_frame frame_of(const struct rte_mbuf *mbuf)
{
	return (struct fate_frame){.data = rte_pktmbuf_mtod(mbuf, const uint8_t *),
	                           .bytes = mbuf->data_len,
	                           .more = mbuf->next};
}

static struct fate_frame frame_held(const struct held *held)
{
	if (held->flags & HELD_MBUF)
		return frame_of(held_mbuf(held));
	return (struct fate_frame){.data = held->data, .bytes = held->stored_bytes};
}

static void tell(const struct cloud *cloud, struct fate *fate)
{
	fate->cloud = cloud->name;
	fate->to_port = cloud->exit->port;
	fate->stage = cloud->meets;
	fate->queue_bytes = link_queue_bytes(&cloud->link);
	fate->queue_average_bytes = queue_average(cloud);
	cloud->witness->tell(cloud->witness, fate);
}

void cloud_tell(const struct cloud *cloud, const struct burst *burst, uint32_t i, struct fate fate)
{
	fate.packet = burst_number(burst, i);
	fate.port = burst->port;
	fate.wire_bytes = burst_wire_bytes(burst, i);
	fate.at_ns = fate.t_in_ns = burst_t(burst, i);
	fate.flags |= burst_flags(burst, i);
	/* On a delivery, the line has taken the bytes already. */
	if (fate.kind != FATE_DELIVERED && burst->mbuf[i])
		fate.frame = frame_of(burst->mbuf[i]);
	tell(cloud, &fate);
}

/* Reports a packet that a record describes. */
static void tell_record(const struct cloud *cloud, const struct held *held, simtime now,
                        struct fate fate)
{
	fate.packet = cloud_number(cloud, held->flags, held->number);
	fate.port = cloud->from_port;
	fate.wire_bytes = held->wire_bytes;
	fate.at_ns = now;
	fate.flags |= (uint8_t)held->flags;
	tell(cloud, &fate);
}

void cloud_tell_held(const struct cloud *cloud, const struct held *held, simtime now,
                     struct fate fate)
{
	fate.t_in_ns = held->t_ns;
	if (fate.kind != FATE_DELIVERED)
		fate.frame = frame_held(held);
	tell_record(cloud, held, now, fate);
}

void cloud_tell_lost(const struct cloud *cloud, simtime now, uint64_t number, uint32_t wire_bytes,
                     uint8_t flags)
{
	struct fate fate = {.kind = FATE_DROPPED,
	                    .reason = REASON_NO_BUFFER,
	                    .packet = number,
	                    .port = cloud->from_port,
	                    .wire_bytes = wire_bytes,
	                    .at_ns = now,
	                    .t_in_ns = now,
	                    .flags = flags};

	tell(cloud, &fate);
}

/* ---- the way through the stages ---- */

/* A packet as a stage receives it. */
struct met {
	uint64_t number;
	uint64_t digest;
	uint32_t wire_bytes;
};

static uint64_t digest_of(const struct rte_mbuf *mbuf)
{
	uint64_t digest = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

	for (; mbuf; mbuf = mbuf->next) {
		const uint8_t *data = rte_pktmbuf_mtod(mbuf, const uint8_t *);

		for (uint16_t i = 0; i < mbuf->data_len; i++)
			digest = (digest ^ data[i]) * UINT64_C(0x100000001b3);
	}
	return digest;
}

static void meet(const struct burst *burst, struct met *met)
{
	for (uint16_t i = 0; i < burst->n; i++)
		met[i] = (struct met){.number = burst_number(burst, i),
		                      .digest = digest_of(burst->mbuf[i]),
		                      .wire_bytes = burst_wire_bytes(burst, i)};
}

/* Returns true if packet i differs from the packet with its number that the stage received. Both
 * lists are in the same order; `*at` is the position in `met`. */
static bool has_changed(const struct burst *burst, uint16_t i, const struct met *met, uint16_t n,
                        uint16_t *at)
{
	while (*at + 1 < n && met[*at].number != burst_number(burst, i))
		(*at)++;
	return met[*at].wire_bytes != burst_wire_bytes(burst, i) ||
	       met[*at].digest != digest_of(burst->mbuf[i]);
}

static void pass_told(struct cloud *cloud, struct stage *stage, struct burst *burst)
{
	struct met met[BURST_ROOM];
	const uint16_t n = burst->n;
	uint16_t at = 0;

	meet(burst, met);
	cloud_run_stage(cloud, stage, burst);
	for (uint16_t i = 0; i < burst->n; i++)
		cloud_tell(cloud, burst, i,
		           (struct fate){.kind = FATE_PASSED,
		                         .changed = has_changed(burst, i, met, n, &at)});
}

void cloud_tell_stages(struct cloud *cloud, struct burst *burst)
{
	for (uint16_t i = 0; cloud_tells(cloud, FATE_ARRIVED) && i < burst->n; i++)
		cloud_tell(cloud, burst, i, (struct fate){.kind = FATE_ARRIVED});
	for (uint16_t i = 0; i < cloud->n_stages; i++) {
		struct stage *stage = cloud->stages[i];

		cloud->meets = stage->statement->name;
		if (cloud_tells(cloud, FATE_PASSED))
			pass_told(cloud, stage, burst);
		else
			cloud_run_stage(cloud, stage, burst);
	}
	cloud->meets = NULL;
}

void cloud_tell_left(const struct cloud *cloud, struct rte_mbuf *mbuf, const struct held *head,
                     simtime now)
{
	*packet_of(mbuf) = (struct packet){.t_ns = now,
	                                   .number = cloud_number(cloud, head->flags, head->number),
	                                   .wire_bytes = head->wire_bytes,
	                                   .port = (uint16_t)cloud->from_port,
	                                   .flags = (uint8_t)head->flags};
	tell_record(cloud, head, now, (struct fate){.kind = FATE_LEFT, .frame = frame_of(mbuf)});
}

/* ---- the end of a cloud ---- */

static void log_removed(const struct cloud *cloud, const struct log *log)
{
	struct log_walk walk = log_walk(log);
	const struct held *held;

	while ((held = log_walk_next(&walk)))
		cloud_tell_held(cloud, held, held->t_ns, fate_dropped(REASON_REMOVED));
}

/* Reports and drops what is on the line. A record there has the instant of leaving, not of arrival.
 * Each packet frees the mbuf that the next one needs. */
static void line_removed(struct cloud *cloud)
{
	struct outlet outlet = {.n = 0};
	struct held head;

	while (line_front(&cloud->line, SIMTIME_NEVER - 1, &head) &&
	       (line_pop(&cloud->line, cloud->holder, head.t_ns, &outlet, 1), outlet.n > 0)) {
		tell_record(cloud, &head, head.t_ns,
		            (struct fate){.kind = FATE_DROPPED,
		                          .reason = REASON_REMOVED,
		                          .frame = frame_of(outlet.mbufs[0])});
		cloud->counters.drops[REASON_REMOVED]++;
		rte_pktmbuf_free(outlet.mbufs[0]);
		outlet_clear(&outlet);
	}
}

void cloud_tell_removed(struct cloud *cloud)
{
	const struct queue *queue;
	const struct log *log;

	log_removed(cloud, &cloud->link.taken);
	for (uint32_t i = 0; (queue = link_queue_at(&cloud->link, i)); i++) {
		for (uint32_t k = 0; (log = queue_log(queue, k)); k++)
			log_removed(cloud, log);
	}
	log_removed(cloud, &cloud->line.back.packets);
	line_removed(cloud);
}
