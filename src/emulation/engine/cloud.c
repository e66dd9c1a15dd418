/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/cloud.h"

#include <assert.h>
#include <stdlib.h>

#include "engine/cloud_link.h"
#include "engine/cloud_reorder.h"
#include "engine/cloud_tell.h"
#include "engine/events.h"
#include "engine/template.h"
#include "engine/tallies.h"
#include "engine/timeline.h"
#include "link/aqm.h"
#include "link/classes.h"
#include "match/flows.h"

/* A cloud outside a template, with its name and histogram. */
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
	if (cloud->witness && cloud->witness->way)
		cloud_tell_removed(cloud);
	cloud->counters.drops[REASON_REMOVED] += link_clear(&cloud->link, cloud->holder);
	cloud->counters.drops[REASON_REMOVED] += line_clear(&cloud->line, cloud->holder);
	if (cloud->line.wheel)
		wheel_clear(cloud->line.wheel);
}

void cloud_release(struct cloud *cloud)
{
	/* Settings that a track has put on top belong to the timeline. */
	timeline_take_off(cloud, cloud->link.shaper.at);
	timeline_free(cloud->timeline);
	wheel_free(cloud->line.wheel);
	in_flight_free(cloud->line.in_flight);
	free(cloud->line.spread);
	jitter_release(cloud->line.conf.jitter);
	aqm_free(cloud->link.queue.aqm);
	classes_free(cloud->link.classes);
	for (uint16_t i = 0; i < cloud->n_stages; i++)
		stage_free(cloud->stages[i]);
	flows_free(cloud->flows);
	flows_free(cloud->line_flows);
	tallies_free(cloud->tallies);
}

void cloud_free(struct cloud *cloud)
{
	if (!cloud)
		return;
	cloud_clear(cloud);
	cloud_release(cloud);
	free(cloud);
}

void cloud_drop(struct cloud *cloud, struct burst *burst, uint32_t i, enum reason reason)
{
	cloud->counters.drops[reason]++;
	if (unlikely(reason == REASON_NO_BUFFER))
		hold_lacked(cloud->holder, burst_t(burst, i));
	if (unlikely(cloud->witness != NULL))
		cloud_tell(cloud, burst, i, fate_dropped(reason));
	rte_pktmbuf_free(burst_take(burst, i));
}

void cloud_drop_held(struct cloud *cloud, const struct held *held, enum reason reason, simtime now)
{
	cloud->counters.drops[reason]++;
	if (unlikely(reason == REASON_NO_BUFFER))
		hold_lacked(cloud->holder, now);
	if (unlikely(cloud->witness != NULL))
		cloud_tell_held(cloud, held, now, fate_dropped(reason));
	hold_drop(cloud->holder, held);
}

void cloud_drop_copy(struct cloud *cloud, const struct burst *burst, uint32_t i)
{
	cloud->counters.duplicated++;
	cloud->counters.drops[REASON_NO_BUFFER]++;
	hold_lacked(cloud->holder, burst_t(burst, i));
	if (unlikely(cloud->witness != NULL))
		cloud_tell(cloud, burst, i,
		           (struct fate){.kind = FATE_DROPPED,
		                         .reason = REASON_NO_BUFFER,
		                         .flags = PACKET_COPY});
}

/* Handles the outcome of line_push for n packets, beginning with `from`. The first `held` are on
 * the line since enters_ns[i], due at due_ns[i], or all as the first if `as_one`: reports them. For
 * the others there was no memory: drops them. */
static __attribute__((noinline)) void tell_entered(struct cloud *cloud, struct burst *burst,
                                                   uint16_t from, uint16_t n, uint16_t held,
                                                   const simtime *due_ns, const simtime *enters_ns,
                                                   bool as_one)
{
	for (uint16_t i = 0; cloud->witness && i < held; i++)
		cloud_tell(cloud, burst, from + i,
		           fate_delivered(due_ns[as_one ? 0 : i], enters_ns[as_one ? 0 : i]));
	for (uint16_t i = held; i < n; i++)
		cloud_drop(cloud, burst, from + i, REASON_NO_BUFFER);
}

/* Computes when each packet leaves the line if latencies of devices are subtracted. */
static __attribute__((noinline)) void compensate(struct cloud *cloud, const struct burst *burst,
                                                 uint16_t from, uint16_t n, const simtime *came,
                                                 const simtime *due_ns, simtime *leaves)
{
	for (uint16_t i = 0; i < n; i++)
		leaves[i] =
		        cloud_leaves_at(cloud, came[i], due_ns[i], burst_age_ns(burst, from + i));
}

/* Puts packets onto the line, each due at its own instant. */
static __attribute__((noinline)) void enter_line_each(struct cloud *cloud, struct burst *burst,
                                                      uint16_t from, uint16_t n,
                                                      const simtime *enters_ns)
{
	simtime due_ns[BURST_ROOM], compensated[BURST_ROOM], *leaves = due_ns;
	const simtime *came = burst_times(burst) + from;
	struct histogram *spread = line_spread(&cloud->line);
	uint16_t held;

	cloud->counters.reordered +=
	        line_due(&cloud->line, enters_ns ? enters_ns : came, n, due_ns);
	if (unlikely(cloud->compensates_latency)) {
		compensate(cloud, burst, from, n, came, due_ns, compensated);
		leaves = compensated;
	}
	held = line_push(&cloud->line, cloud->holder, burst, from, n, leaves, false);
	/* If a packet has not waited for the link, its time on the line is its whole delay. */
	if (likely(!enters_ns || !spread)) {
		histogram_add_spans(cloud->delay_ns, spread, came, due_ns, held);
	} else {
		histogram_add_spans(cloud->delay_ns, NULL, came, due_ns, held);
		histogram_add_spans(spread, NULL, enters_ns, due_ns, held);
	}
	if (unlikely(cloud->witness || held < n))
		tell_entered(cloud, burst, from, n, held, due_ns, enters_ns ? enters_ns : came,
		             false);
}

void cloud_enter_line(struct cloud *cloud, struct burst *burst, uint16_t from, uint16_t n,
                      const simtime *enters_ns)
{
	struct line *line = &cloud->line;
	uint16_t held;
	simtime due;

	if (unlikely(n == 0))
		return;
	/* The witness gets lengths after the line has taken the mbufs. */
	if (unlikely(cloud->witness != NULL))
		burst_spell(burst);
	if (unlikely(line->reorders)) {
		reorder_enter(cloud, burst, from, n);
		return;
	}
	if (likely(burst->at_once && !enters_ns && !cloud->compensates_latency) &&
	    likely(line_due_as_one(line, burst->t, &due))) {
		held = line_push(line, cloud->holder, burst, from, n, &due, true);
		histogram_add(cloud->delay_ns, due - burst->t, held);
		if (unlikely(cloud->witness || held < n))
			tell_entered(cloud, burst, from, n, held, &due, &burst->t, true);
	} else {
		enter_line_each(cloud, burst, from, n, enters_ns);
	}
}

void cloud_generate(struct cloud *cloud, struct rte_mbuf *mbuf, simtime t_ns, uint64_t number)
{
	struct burst burst;

	cloud->counters.generated++;
	burst_one(&burst, mbuf, cloud->from_port, t_ns, number, mbuf->pkt_len,
	          PACKET_GENERATED | PACKET_BACK);
	/* line_due is not called: this packet does not take the path of the cloud's other
	 * packets. */
	if (unlikely(!line_push_event(&cloud->line, cloud->events->wheel, cloud->holder, &burst,
	                              t_ns)))
		cloud_drop(cloud, &burst, 0, REASON_NO_BUFFER);
	else if (unlikely(cloud->witness != NULL))
		cloud_tell(cloud, &burst, 0, fate_delivered(t_ns, t_ns));
}

void cloud_generate_nothing(struct cloud *cloud, simtime t_ns, uint64_t number)
{
	cloud->counters.generated++;
	cloud->counters.drops[REASON_NO_BUFFER]++;
	hold_lacked(cloud->holder, t_ns);
	if (unlikely(cloud->witness != NULL))
		cloud_tell_lost(cloud, t_ns, number, 0, PACKET_GENERATED);
}

static void enter(struct cloud *cloud, struct burst *burst)
{
	if (link_in_use(&cloud->link))
		cloud_meet_link(cloud, burst);
	else
		cloud_enter_line(cloud, burst, 0, burst->n, NULL);
}

/* Returns how many packets the link and the line hold at this instant, however often the engine is
 * polled. */
static uint64_t held_at(struct cloud *cloud, simtime now)
{
	struct line *line = &cloud->line;

	cloud_advance_link(cloud, now);
	return link_held_packets(&cloud->link) + line->back.packets.records +
	       in_flight_count(line->in_flight, &cloud->holder->arena, now);
}

/* Applies `delay ... limit` to packets that have passed the stages. As many go on together as there
 * is room for, even if none leaves meanwhile; if there is none, the next packet is dropped. */
static void meet_limit(struct cloud *cloud, struct burst *burst)
{
	const uint64_t limit = cloud->line.conf.limit;
	struct burst part;

	for (uint16_t i = 0, n; i < burst->n; i += n) {
		const uint64_t held = held_at(cloud, burst_t(burst, i));

		if (unlikely(held >= limit)) {
			cloud_drop(cloud, burst, i, REASON_LIMIT);
			n = 1;
			continue;
		}
		n = (uint16_t)RTE_MIN(limit - held, (uint64_t)burst->n - i);
		if (likely(n == burst->n)) {
			enter(cloud, burst);
			return;
		}
		burst_slice(&part, burst, i, n);
		enter(cloud, &part);
	}
}

/* Splits the burst at each change: the packets before it arrive first, then the change takes
 * effect. */
static void arrive_around_changes(struct cloud *cloud, const struct burst *burst)
{
	uint16_t done = 0;
	struct burst part;

	while (done < burst->n) {
		uint16_t end = done;

		while (end < burst->n && burst_t(burst, end) < cloud->change)
			end++;
		if (end > done) {
			burst_slice(&part, burst, done, end - done);
			cloud_arrive(cloud, &part);
		}
		if (end < burst->n)
			timeline_keep_up(cloud, burst_t(burst, end));
		done = end;
	}
}

/* Counts the packets of the burst as those of their flows. If a flow has to go for another one of
 * this burst, splits the burst there: its memory serves the packets before. */
static __attribute__((noinline)) void arrive_by_flow(struct cloud *cloud, struct burst *burst)
{
	uint16_t done = 0, counted = flows_count(cloud->flows, burst, 0);
	struct burst part;

	burst->by_flow = true;
	if (likely(counted == burst->n)) {
		cloud_arrive(cloud, burst);
		return;
	}
	while (counted > 0) {
		burst_slice(&part, burst, done, counted);
		cloud_arrive(cloud, &part);
		done += counted;
		counted = done < burst->n ? flows_count(cloud->flows, burst, done) : 0;
	}
}

void cloud_arrive(struct cloud *cloud, struct burst *burst)
{
	const uint16_t n = burst->n;

	if (unlikely(cloud->change <= burst_t(burst, n - 1))) {
		arrive_around_changes(cloud, burst);
		return;
	}
	if (unlikely(cloud->counts_flows) && !burst->by_flow) {
		arrive_by_flow(cloud, burst);
		return;
	}
	if (likely(!(burst_flags(burst, n - 1) & PACKET_FOREIGN)))
		cloud->latest_number = burst_number(burst, n - 1);
	/* The watch must have seen all earlier events before the packets arrive. */
	if (unlikely(cloud->watch != NULL)) {
		cloud_advance_link(cloud, burst_t(burst, 0));
		cloud_watch_before(cloud->watch, burst_t(burst, 0));
	}
	cloud->counters.rx_packets += n;
	cloud->counters.rx_bytes += burst->bytes;
	if (unlikely(cloud->witness != NULL))
		cloud_tell_stages(cloud, burst);
	for (uint16_t i = 0; likely(!cloud->witness) && i < cloud->n_stages; i++) {
		cloud_run_stage(cloud, cloud->stages[i], burst);
	}
	if (unlikely(cloud->watch != NULL))
		cloud_watch_passed(cloud->watch, burst->n, burst->bytes);
	if (unlikely(cloud->line.limited))
		meet_limit(cloud, burst);
	else
		enter(cloud, burst);
}

/* ---- what stages may read of their cloud (stage.h) ---- */

const char *cloud_name(const struct cloud *cloud)
{
	return cloud->name;
}

const char *cloud_template_name(const struct cloud *cloud)
{
	return cloud->of ? cloud->of->name : NULL;
}

simtime cloud_origin_ns(const struct cloud *cloud)
{
	return cloud->origin_ns;
}

struct rte_mempool *cloud_pool(const struct cloud *cloud)
{
	return cloud->holder->pool;
}

struct counters *cloud_counters(struct cloud *cloud)
{
	return &cloud->counters;
}

struct stage *cloud_stage(const struct cloud *cloud, uint16_t i)
{
	return i < cloud->n_stages ? cloud->stages[i] : NULL;
}

bool cloud_unshare(struct cloud *cloud, struct burst *burst, uint32_t i)
{
	if (likely(burst_unshare(burst, i, cloud->holder->pool) != NULL))
		return true;
	cloud_drop(cloud, burst, i, REASON_NO_BUFFER);
	return false;
}

void cloud_marked(struct cloud *cloud, const struct burst *burst, uint32_t i, enum reason reason)
{
	cloud->counters.ecn_marked++;
	if (cloud_tells(cloud, FATE_MARKED))
		cloud_tell(cloud, burst, i,
		           (struct fate){
		                   .kind = FATE_MARKED, .reason = reason, .flags = PACKET_MARKED});
}
