/* SPDX-License-Identifier: BSD-3-Clause */
#include "live/pipeline.h"

#include "live/worker.h"
#include "machine/bell.h"
#include "packet/burst.h"

/* Fills in the struct packet of each mbuf, for the way to another worker. Returns the number of
 * bytes. */
static uint64_t stamp(struct inlet *inlet, struct rte_mbuf **mbufs, uint16_t n, simtime now)
{
	uint32_t age_ns[BURST_MAX] = {0};
	uint64_t bytes = 0;

	if (unlikely(inlet->time != NULL))
		port_time_ages(inlet->time, mbufs, n, now, age_ns);
	for (uint16_t i = 0; i < n; i++) {
		*packet_of(mbufs[i]) = (struct packet){
		        .t_ns = now,
		        .number = ++inlet->number,
		        .wire_bytes = mbufs[i]->pkt_len,
		        .port = (uint16_t)inlet->index,
		        .age_ns = age_ns[i],
		};
		bytes += mbufs[i]->pkt_len;
	}
	return bytes;
}

bool pipeline_receive(struct worker *worker, simtime now)
{
	struct rte_mbuf *mbufs[BURST_MAX];
	bool busy = false;

	for (uint32_t i = 0; i < worker->n_inlets; i++) {
		struct inlet *inlet = &worker->inlets[i];
		uint16_t n;

		if (ring_room(inlet->ring) < BURST_MAX)
			continue;
		n = port_receive(inlet->port, mbufs, BURST_MAX, now);
		if (n == 0)
			continue;
		now = worker_instant(worker, now);
		inlet->rx_packets += n;
		inlet->rx_bytes += stamp(inlet, mbufs, n, now);
		rte_ring_sp_enqueue_bulk(inlet->ring, (void **)mbufs, n, NULL);
		busy = true;
	}
	worker->now = now;
	return busy;
}

/* Splits the packets into runs from the same port; each run enters the engine as one burst. */
static void ingress(struct worker *worker, struct rte_mbuf **mbufs, uint32_t n)
{
	struct burst burst;

	for (uint32_t i = 0, run; i < n; i += run) {
		uint16_t port = packet_of(mbufs[i])->port;

		for (run = 1; i + run < n && packet_of(mbufs[i + run])->port == port; run++)
			;
		burst_read(&burst, mbufs + i, (uint16_t)run);
		worker->now = burst_t(&burst, burst.n - 1);
		if (unlikely(worker->tape != NULL))
			tape_burst(worker->tape, &burst);
		engine_ingress(worker->engine, &burst);
	}
}

bool pipeline_emulate(struct worker *worker, simtime now)
{
	simtime horizon = __atomic_load_n(worker->stamped_ns, __ATOMIC_ACQUIRE);
	struct rte_mbuf *mbufs[BURST_MAX];
	uint32_t n = rte_ring_sc_dequeue_burst(worker->feed, (void **)mbufs, BURST_MAX, NULL);
	bool busy = n > 0;

	if (n > 0) {
		simtime last = packet_of(mbufs[n - 1])->t_ns;

		/* If a full burst was taken, the ring may hold more packets, stamped at `last` or
		 * later. */
		horizon = n == BURST_MAX ? last : simtime_max(horizon, last);
		ingress(worker, mbufs, n);
	}
	worker->now = horizon;
	if (engine_advance(worker->engine, horizon) > 0 || worker->waiting)
		busy |= worker_send(worker, simtime_max(now, horizon));
	return busy;
}
