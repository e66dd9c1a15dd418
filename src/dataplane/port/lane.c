/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/lane.h"

#include <string.h>

#include "packet/packet.h"

#define BURST 64

static inline uint64_t bytes_of(struct rte_mbuf *const *mbufs, uint32_t n)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < n; i++)
		bytes += mbufs[i]->pkt_len;
	return bytes;
}

/* Packets that are due at one instant, as those of a burst often are, are added at once. */
static void note_lateness(struct histogram *h, const simtime *due_ns, uint32_t n, simtime handed)
{
	for (uint32_t i = 0, run; i < n; i += run) {
		for (run = 1; i + run < n && due_ns[i + run] == due_ns[i]; run++)
			;
		histogram_add(h, handed - due_ns[i], run);
	}
}

/* Due times do not decrease. */
static void note_launches(struct lane *lane, const simtime *due_ns, uint32_t n, simtime handed)
{
	for (uint32_t i = 0; i < n && due_ns[i] + lane->launch_ns < handed; i++)
		lane->launch_missed++;
}

static uint32_t send_to_port(struct lane *lane, simtime handed)
{
	struct outlet *outlet = lane->outlet;
	uint32_t done = 0, most = outlet->n;

	if (unlikely(lane->wire != NULL))
		most = wire_takes(lane->wire, outlet->mbufs, outlet->n, handed);
	while (done < most) {
		uint16_t n = (uint16_t)RTE_MIN(most - done, (uint32_t)BURST);
		struct rte_mbuf **mbufs = &outlet->mbufs[done];
		/* The device may free what it takes. */
		uint64_t time_ps =
		        unlikely(lane->wire != NULL) ? wire_time_ps(lane->wire, mbufs, n) : 0;
		uint16_t sent;

		if (unlikely(lane->launch != NULL))
			port_time_launch(lane->launch, mbufs, &outlet->due_ns[done], n,
			                 lane->launch_ns);
		sent = port_transmit(lane->port, lane->queue, mbufs, &outlet->due_ns[done], n);

		if (unlikely(lane->wire != NULL))
			wire_used(lane->wire, handed,
			          time_ps - wire_time_ps(lane->wire, mbufs + sent, n - sent));

		if (unlikely(lane->launch != NULL))
			note_launches(lane, &outlet->due_ns[done], sent, handed);
		note_lateness(&lane->lateness_ns, &outlet->due_ns[done], sent, handed);
		lane->tx_packets += sent;
		done += sent;
		if (sent < n)
			break;
	}
	return done;
}

static uint32_t send_to_ring(struct lane *lane)
{
	struct outlet *outlet = lane->outlet;

	for (uint32_t i = 0; i < outlet->n; i++)
		packet_of(outlet->mbufs[i])->t_ns = outlet->due_ns[i];
	return rte_ring_sp_enqueue_burst(lane->ring, (void **)outlet->mbufs, outlet->n, NULL);
}

/* The clock's first reading that is not before `now`, which is ahead of it by WORKER_AHEAD_NS at most. */
static simtime await(const struct clock *clock, simtime now)
{
	simtime reading;

	do
		reading = clock_now(clock);
	while (unlikely(reading < now));
	return reading;
}

uint32_t lane_send(struct lane *lane, const struct clock *clock, simtime now)
{
	struct outlet *outlet = lane->outlet;
	uint64_t bytes = lane->port ? bytes_of(outlet->mbufs, outlet->n) : 0;
	simtime handed = clock ? await(clock, now) : now;
	uint32_t done = lane->port ? send_to_port(lane, handed) : send_to_ring(lane);
	uint32_t rest;

	lane->tx_bytes += bytes;
	if (likely(done == outlet->n)) {
		outlet->n = 0;
		return done;
	}
	if (lane->port)
		lane->tx_bytes -= bytes_of(outlet->mbufs + done, outlet->n - done);
	while (done < outlet->n && outlet->due_ns[done] + LANE_PATIENCE_NS < handed) {
		rte_pktmbuf_free(outlet->mbufs[done++]);
		lane->tx_full++;
	}
	rest = outlet->n - done;
	memmove(outlet->mbufs, outlet->mbufs + done, rest * sizeof(outlet->mbufs[0]));
	memmove(outlet->due_ns, outlet->due_ns + done, rest * sizeof(outlet->due_ns[0]));
	outlet->n = rest;
	return done;
}

uint32_t lane_collect(struct lane *lane, struct rte_ring *from)
{
	struct outlet *outlet = lane->outlet;
	struct rte_mbuf **mbufs = &outlet->mbufs[outlet->n];
	uint32_t n = rte_ring_sc_dequeue_burst(from, (void **)mbufs, OUTLET_ROOM - outlet->n, NULL);

	for (uint32_t i = 0; i < n; i++)
		outlet->due_ns[outlet->n + i] = packet_of(mbufs[i])->t_ns;
	outlet->n += n;
	return n;
}

void lane_clear(struct lane *lane)
{
	lane->tx_packets = 0;
	lane->tx_bytes = 0;
	lane->tx_full = 0;
	lane->launch_missed = 0;
	histogram_clear(&lane->lateness_ns);
}
