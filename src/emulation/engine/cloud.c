/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/cloud.h"

#include <assert.h>
#include <stdlib.h>

#include "engine/cloud_link.h"
#include "engine/cloud_reorder.h"
#include "engine/timeline.h"
#include "link/aqm.h"
#include "link/classes.h"

/* One that is made by itself. */
struct lone_cloud {
	struct cloud cloud;
	char name[SCENARIO_NAME_BYTES];
	struct histogram delay_ns;
};

void cloud_init(struct cloud *cloud, const char *name, uint32_t index, struct holder *holder,
                struct witness *witness, struct histogram *delay_ns)
{
	memset(cloud, 0, sizeof(*cloud));
	cloud->name = name;
	cloud->delay_ns = delay_ns;
	cloud->exit = &cloud->own_exit;
	cloud->index = index;
	cloud->line.cloud = index;
	cloud->holder = holder;
	cloud->witness = witness;
	cloud->wake = SIMTIME_NEVER;
	link_init(&cloud->link);
	cloud->change = SIMTIME_NEVER;
	cloud->line.back_deadline = SIMTIME_NEVER;
	cloud->line.conf.limit = LINE_UNLIMITED;
}

struct cloud *cloud_make(const char *name, uint32_t index, struct holder *holder,
                         struct witness *witness)
{
	struct lone_cloud *lone = aligned_alloc(64, RTE_ALIGN_CEIL(sizeof(*lone), 64u));

	if (!lone)
		return NULL;
	memset(lone, 0, sizeof(*lone));
	strcpy(lone->name, name);
	cloud_init(&lone->cloud, lone->name, index, holder, witness, &lone->delay_ns);
	return &lone->cloud;
}

void cloud_clear(struct cloud *cloud)
{
	cloud->counters.drops[REASON_REMOVED] += link_clear(&cloud->link, cloud->holder);
	cloud->counters.drops[REASON_REMOVED] += line_clear(&cloud->line, cloud->holder);
	if (cloud->line.wheel)
		wheel_clear(cloud->line.wheel);
}

void cloud_release(struct cloud *cloud)
{
	/* What is on top belongs to the timeline. */
	timeline_take_off(cloud, cloud->link.shaper.at);
	timeline_free(cloud->timeline);
	wheel_free(cloud->line.wheel);
	in_flight_free(cloud->line.in_flight);
	jitter_release(cloud->line.conf.jitter);
	aqm_free(cloud->link.queue.aqm);
	classes_free(cloud->link.classes);
	for (uint16_t i = 0; i < cloud->n_stages; i++)
		cloud->stages[i]->statement->free(cloud->stages[i]);
}

void cloud_free(struct cloud *cloud)
{
	if (!cloud)
		return;
	cloud_clear(cloud);
	cloud_release(cloud);
	free(cloud);
}

/* For a witness only: an average may be in floating point. */
static uint64_t queue_average(const struct cloud *cloud)
{
	const struct aqm *aqm = cloud->link.queue.aqm;

	return aqm && aqm->kind->average ? (uint64_t)aqm->kind->average(aqm) : FATE_NO_AVERAGE;
}

static void tell_drop(const struct cloud *cloud, uint64_t number, uint32_t port, uint8_t flags,
                      simtime t_in, enum reason reason, simtime now)
{
	const struct fate fate = {
	        .packet = number,
	        .port = port,
	        .kind = FATE_DROPPED,
	        .reason = reason,
	        .t_in_ns = t_in,
	        .dropped_ns = now,
	        .cloud = cloud->name,
	        .flags = flags,
	        .queue_bytes = link_queue_bytes(&cloud->link),
	        .queue_average_bytes = queue_average(cloud),
	};

	cloud->witness->tell(cloud->witness, &fate);
}

void cloud_tell_drop(const struct cloud *cloud, uint64_t number, uint32_t port, uint8_t flags,
                     simtime t_in, enum reason reason)
{
	tell_drop(cloud, number, port, flags, t_in, reason, t_in);
}

void cloud_drop(struct cloud *cloud, struct rte_mbuf *mbuf, enum reason reason)
{
	cloud->counters.drops[reason]++;
	if (unlikely(cloud->witness != NULL)) {
		const struct packet *packet = packet_of(mbuf);

		cloud_tell_drop(cloud, packet->number, packet->port, packet->flags, packet->t_ns,
		                reason);
	}
	rte_pktmbuf_free(mbuf);
}

void cloud_drop_held(struct cloud *cloud, const struct held *held, enum reason reason, simtime now)
{
	cloud->counters.drops[reason]++;
	if (unlikely(cloud->witness != NULL))
		tell_drop(cloud, cloud_number(cloud, held->flags, held->number), cloud->from_port,
		          (uint8_t)held->flags, held->t_ns, reason, now);
	hold_drop(cloud->holder, held);
}

void cloud_drop_copy(struct cloud *cloud, struct rte_mbuf *original)
{
	const struct packet *packet = packet_of(original);

	cloud->counters.duplicated++;
	cloud->counters.drops[REASON_NO_BUFFER]++;
	if (unlikely(cloud->witness != NULL))
		cloud_tell_drop(cloud, packet->number, packet->port,
		                (uint8_t)(packet->flags | PACKET_COPY), packet->t_ns,
		                REASON_NO_BUFFER);
}

void cloud_tell_delivery(const struct cloud *cloud, uint64_t number, uint32_t port, uint8_t flags,
                         simtime t_in, simtime due)
{
	const struct fate fate = {
	        .packet = number,
	        .port = port,
	        .kind = FATE_DELIVERED,
	        .t_in_ns = t_in,
	        .t_out_ns = due,
	        .cloud = cloud->name,
	        .flags = flags,
	        .queue_bytes = link_queue_bytes(&cloud->link),
	        .queue_average_bytes = queue_average(cloud),
	};

	cloud->witness->tell(cloud->witness, &fate);
}

/* Delays are often the same for a whole burst: they are counted together. */
static void count_delays(struct cloud *cloud, const simtime *t_ns, const simtime *due_ns,
                         uint16_t n)
{
	if (n > 0 && !cloud->line.conf.jitter && t_ns[0] == t_ns[n - 1] &&
	    due_ns[0] == due_ns[n - 1])
		histogram_add(cloud->delay_ns, due_ns[0] - t_ns[0], n);
	else
		histogram_add_spans(cloud->delay_ns, t_ns, due_ns, n);
}

static __attribute__((noinline)) uint16_t push_hurrying(struct cloud *cloud,
                                                        struct rte_mbuf **mbufs, uint16_t n,
                                                        const simtime *t_ns, const simtime *due_ns)
{
	simtime leaves[BURST_ROOM];

	for (uint16_t i = 0; i < n; i++)
		leaves[i] = cloud_leaves_at(cloud, t_ns[i], due_ns[i], packet_of(mbufs[i])->age_ns);
	return line_push(&cloud->line, cloud->holder, mbufs, n, leaves);
}

/* When they came. They are in order, and those of a burst often of one instant. */
static inline void came(struct rte_mbuf *const *mbufs, uint16_t n, simtime *t_ns)
{
	simtime first = packet_of(mbufs[0])->t_ns;

	if (likely(packet_of(mbufs[n - 1])->t_ns == first)) {
		for (uint16_t i = 0; i < n; i++)
			t_ns[i] = first;
		return;
	}
	for (uint16_t i = 0; i < n; i++)
		t_ns[i] = packet_of(mbufs[i])->t_ns;
}

void cloud_enter_line(struct cloud *cloud, struct rte_mbuf **mbufs, uint16_t n,
                      const simtime *enters_ns)
{
	simtime t_ns[BURST_ROOM], due_ns[BURST_ROOM];
	struct packet packet[BURST_ROOM];
	uint16_t held;

	if (unlikely(n == 0))
		return;
	if (unlikely(cloud->line.reorders)) {
		reorder_enter(cloud, mbufs, n);
		return;
	}
	came(mbufs, n, t_ns);
	/* What is pushed is not the cloud's any more, and the witness is told afterwards. */
	for (uint16_t i = 0; unlikely(cloud->witness != NULL) && i < n; i++)
		packet[i] = *packet_of(mbufs[i]);
	cloud->counters.reordered +=
	        line_due(&cloud->line, enters_ns ? enters_ns : t_ns, n, due_ns);
	held = likely(!cloud->compensates_latency)
	               ? line_push(&cloud->line, cloud->holder, mbufs, n, due_ns)
	               : push_hurrying(cloud, mbufs, n, t_ns, due_ns);
	assert(held <= n);
	count_delays(cloud, t_ns, due_ns, held);
	for (uint16_t i = 0; unlikely(cloud->witness != NULL) && i < held; i++)
		cloud_tell_delivery(cloud, packet[i].number, packet[i].port, packet[i].flags,
		                    t_ns[i], due_ns[i]);
	for (uint16_t i = held; i < n; i++)
		cloud_drop(cloud, mbufs[i], REASON_NO_BUFFER);
}

void cloud_generate(struct cloud *cloud, struct rte_mbuf *mbuf, simtime t_ns, uint64_t number)
{
	const struct packet packet = {
	        .t_ns = t_ns,
	        .number = number,
	        .wire_bytes = mbuf->pkt_len,
	        .port = (uint16_t)cloud->from_port,
	        .flags = PACKET_GENERATED | PACKET_BACK,
	};

	cloud->counters.generated++;
	*packet_of(mbuf) = packet;
	/* Not line_due: it is not one of the packets that take this way. */
	if (unlikely(line_push(&cloud->line, cloud->holder, &mbuf, 1, &t_ns) == 0))
		cloud_drop(cloud, mbuf, REASON_NO_BUFFER);
	else if (unlikely(cloud->witness != NULL))
		cloud_tell_delivery(cloud, number, packet.port, packet.flags, t_ns, t_ns);
}

void cloud_generate_nothing(struct cloud *cloud, simtime t_ns, uint64_t number)
{
	cloud->counters.generated++;
	cloud->counters.drops[REASON_NO_BUFFER]++;
	if (unlikely(cloud->witness != NULL))
		cloud_tell_drop(cloud, number, cloud->from_port, PACKET_GENERATED, t_ns,
		                REASON_NO_BUFFER);
}

/* What is to come meets a watch that knows all that was before. */
static void watch_arrival(struct cloud *cloud, simtime now)
{
	cloud_advance_link(cloud, now);
	cloud_watch_before(cloud->watch, now);
}

static void watch_passage(const struct cloud *cloud, struct rte_mbuf **mbufs, uint16_t n)
{
	uint64_t bytes = 0;

	for (uint16_t i = 0; i < n; i++)
		bytes += packet_of(mbufs[i])->wire_bytes;
	cloud_watch_passed(cloud->watch, n, bytes);
}

static void enter(struct cloud *cloud, struct rte_mbuf **mbufs, uint16_t n)
{
	if (link_in_use(&cloud->link))
		cloud_meet_link(cloud, mbufs, n);
	else
		cloud_enter_line(cloud, mbufs, n, NULL);
}

/* How many packets the link and the line hold at this instant, whenever somebody polled. */
static uint64_t held_at(struct cloud *cloud, simtime now)
{
	struct line *line = &cloud->line;

	cloud_advance_link(cloud, now);
	return link_held_packets(&cloud->link) + line->back.packets.records +
	       in_flight_count(line->in_flight, &cloud->holder->arena, now);
}

/* Packets that pass the stages meet `delay ... limit`. A burst for which there is room whoever
 * leaves meanwhile goes on together. */
static void meet_limit(struct cloud *cloud, struct rte_mbuf **mbufs, uint16_t n)
{
	uint64_t limit = cloud->line.conf.limit;

	if (n == 0)
		return;
	if (held_at(cloud, packet_of(mbufs[0])->t_ns) + n <= limit) {
		enter(cloud, mbufs, n);
		return;
	}
	for (uint16_t i = 0; i < n; i++) {
		if (held_at(cloud, packet_of(mbufs[i])->t_ns) < limit)
			enter(cloud, &mbufs[i], 1);
		else
			cloud_drop(cloud, mbufs[i], REASON_LIMIT);
	}
}

static void arrive(struct cloud *cloud, struct rte_mbuf **mbufs, uint16_t n)
{
	struct rte_mbuf *room[BURST_ROOM];
	uint64_t bytes = 0;

	for (uint16_t i = 0; i < n; i++) {
		room[i] = mbufs[i];
		bytes += packet_of(mbufs[i])->wire_bytes;
	}
	if (likely(n > 0 && !(packet_of(mbufs[n - 1])->flags & PACKET_FOREIGN)))
		cloud->latest_number = packet_of(mbufs[n - 1])->number;
	if (unlikely(cloud->watch && n > 0))
		watch_arrival(cloud, packet_of(mbufs[0])->t_ns);
	cloud->counters.rx_packets += n;
	cloud->counters.rx_bytes += bytes;
	for (uint16_t i = 0; i < cloud->n_stages; i++)
		n = cloud->stages[i]->process(cloud->stages[i], room, n);
	if (unlikely(cloud->watch != NULL))
		watch_passage(cloud, room, n);
	if (unlikely(cloud->line.limited))
		meet_limit(cloud, room, n);
	else
		enter(cloud, room, n);
}

/* Those before a change, then the change, then the others. */
static void arrive_around_changes(struct cloud *cloud, struct rte_mbuf **mbufs, uint16_t n)
{
	while (n > 0 && cloud->change <= packet_of(mbufs[n - 1])->t_ns) {
		uint16_t before = 0;

		while (packet_of(mbufs[before])->t_ns < cloud->change)
			before++;
		if (before > 0)
			arrive(cloud, mbufs, before);
		mbufs += before;
		n -= before;
		timeline_keep_up(cloud, packet_of(mbufs[0])->t_ns);
	}
	arrive(cloud, mbufs, n);
}

void cloud_arrive(struct cloud *cloud, struct rte_mbuf **mbufs, uint16_t n)
{
	if (unlikely(cloud->change != SIMTIME_NEVER))
		arrive_around_changes(cloud, mbufs, n);
	else
		arrive(cloud, mbufs, n);
}

void cloud_insert(struct cloud *cloud, struct rte_mbuf *mbuf, simtime t_ns)
{
	uint32_t bytes = mbuf->pkt_len;

	*packet_of(mbuf) = (struct packet){
	        .t_ns = t_ns,
	        .wire_bytes = bytes,
	        .port = (uint16_t)cloud->from_port,
	        .flags = PACKET_GENERATED | PACKET_FOREIGN,
	};
	cloud_arrive(cloud, &mbuf, 1);
	cloud->counters.rx_packets--;
	cloud->counters.rx_bytes -= bytes;
	cloud->counters.generated++;
}
