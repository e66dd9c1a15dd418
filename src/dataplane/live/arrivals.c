/* SPDX-License-Identifier: BSD-3-Clause */
#include "live/worker.h"

#include <stdlib.h>
#include <string.h>

#include <rte_prefetch.h>

#include "machine/bell.h"
#include "packet/burst.h"

static bool is_empty(const struct arrivals *arrivals)
{
	return arrivals->next == arrivals->n;
}

static simtime first(const struct arrivals *arrivals)
{
	return is_empty(arrivals) || arrivals->blocked ? SIMTIME_NEVER
	                                               : arrivals->came_ns[arrivals->next];
}

void arrivals_free(struct arrivals *arrivals)
{
	if (!arrivals)
		return;
	rte_pktmbuf_free_bulk(&arrivals->mbufs[arrivals->next],
	                      (unsigned)(arrivals->n - arrivals->next));
	free(arrivals);
}

/* ---- receiving ---- */

/* Drops what came before the worker was launched. */
static __attribute__((noinline)) void drop_early(struct worker *worker, struct inlet *inlet)
{
	struct arrivals *arrivals = inlet->arrivals;

	while (first(arrivals) < worker->began_ns) {
		rte_pktmbuf_free(arrivals->mbufs[arrivals->next++]);
		inlet->early++;
	}
}

/* Moves what is in hand to the front, so that more fits behind it. Returns how many there are. */
static uint16_t make_room(struct arrivals *arrivals)
{
	const uint16_t n = arrivals->n - arrivals->next;

	if (unlikely(n > 0)) {
		memmove(arrivals->mbufs, &arrivals->mbufs[arrivals->next],
		        n * sizeof(arrivals->mbufs[0]));
		memmove(arrivals->came_ns, &arrivals->came_ns[arrivals->next],
		        n * sizeof(arrivals->came_ns[0]));
	}
	arrivals->next = 0;
	arrivals->n = n;
	return n;
}

/* Returns the instant up to which all that came to the inlet is in hand: `now`, or earlier if the
 * port has more. Stamps may be out of order by a little, because several processors receive for the
 * kernel. */
static simtime receive_stamped(struct worker *worker, struct inlet *inlet, simtime now)
{
	const struct port_stamped *stamped = inlet->port->stamped;
	struct arrivals *arrivals = inlet->arrivals;
	const uint16_t before = make_room(arrivals);

	if (unlikely(before == BURST_MAX))
		return simtime_min(now, inlet->latest_ns);
	arrivals->n += stamped->receive(inlet->port, &arrivals->mbufs[before],
	                                &arrivals->came_ns[before], BURST_MAX - before);
	for (uint16_t i = before; i < arrivals->n; i++)
		arrivals->came_ns[i] = inlet->latest_ns =
		        simtime_max(arrivals->came_ns[i], inlet->latest_ns);
	if (unlikely(first(arrivals) < worker->began_ns))
		drop_early(worker, inlet);
	return stamped->is_behind(inlet->port) ? simtime_min(now, inlet->latest_ns) : now;
}

static void receive_unstamped(struct worker *worker, struct inlet *inlet, simtime now)
{
	struct arrivals *arrivals = inlet->arrivals;
	const uint16_t before = make_room(arrivals);
	simtime came;

	arrivals->n += port_receive(inlet->port, &arrivals->mbufs[before], BURST_MAX - before, now);
	came = arrivals->n > before ? worker_instant(worker, now) : now;
	for (uint16_t i = before; i < arrivals->n; i++)
		arrivals->came_ns[i] = came;
}

/* Returns true if the ring to the next worker has no room for all that may be handed over. */
static bool is_blocked(const struct worker *worker, const struct inlet *inlet)
{
	return inlet->ring && ring_room(inlet->ring) < BURST_MAX * worker->n_inlets;
}

/* Receives from each inlet. Returns the instant up to which all that came is in hand. */
static simtime receive(struct worker *worker, simtime now)
{
	simtime until = now;

	for (uint32_t i = 0; i < worker->n_inlets; i++) {
		struct inlet *inlet = &worker->inlets[i];

		inlet->arrivals->blocked = is_blocked(worker, inlet);
		if (unlikely(inlet->arrivals->blocked))
			continue;
		if (likely(inlet->stamped))
			until = simtime_min(until, receive_stamped(worker, inlet, now));
		else
			receive_unstamped(worker, inlet, now);
	}
	return until;
}

/* ---- handing over ---- */

/* Returns the inlet whose next packet is the earliest, and in *next that of the others. */
static struct inlet *earliest(struct worker *worker, simtime *next)
{
	struct inlet *found = &worker->inlets[0];

	*next = SIMTIME_NEVER;
	for (uint32_t i = 1; i < worker->n_inlets; i++) {
		struct inlet *inlet = &worker->inlets[i];
		simtime here = first(inlet->arrivals), there = first(found->arrivals);

		*next = simtime_min(*next, simtime_max(here, there));
		if (here < there)
			found = inlet;
	}
	return found;
}

/* Returns how many packets of an inlet came by `until`. */
static uint16_t count(const struct arrivals *arrivals, simtime until)
{
	uint16_t n = 0;

	while (arrivals->next + n < arrivals->n && arrivals->came_ns[arrivals->next + n] <= until)
		n++;
	return n;
}

/* Takes the instant of a packet: that of its stamp, or that of the engine if it is later. */
static inline simtime instant(struct worker *worker, struct inlet *inlet, simtime came,
                              uint32_t *age_ns)
{
	const simtime age = worker->now > came ? worker->now - came : 0;

	*age_ns = (uint32_t)simtime_min(age, UINT32_MAX);
	if (unlikely(age > 0)) {
		inlet->aged++;
		inlet->oldest_ns = simtime_max(inlet->oldest_ns, age);
	}
	return came + age;
}

/* Hands n packets of an inlet to a worker's engine. */
static void into_engine(struct worker *worker, struct inlet *inlet, uint16_t n)
{
	struct arrivals *arrivals = inlet->arrivals;
	uint32_t age_ns[BURST_MAX];
	struct burst burst;

	burst_open(&burst, inlet->index, inlet->number + 1);
	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *mbuf = arrivals->mbufs[arrivals->next + i];
		simtime came = arrivals->came_ns[arrivals->next + i];

		burst_put(&burst, mbuf, instant(worker, inlet, came, &age_ns[i]), mbuf->pkt_len);
	}
	/* Ages do not increase. */
	if (unlikely(age_ns[0] > 0))
		burst_set_ages(&burst, age_ns);
	else if (unlikely(inlet->time != NULL))
		worker_set_ages(inlet, &burst);
	inlet->rx_bytes += burst.bytes;
	worker->now = burst_t(&burst, n - 1u);
	if (unlikely(worker->tape != NULL))
		tape_burst(worker->tape, &burst);
	engine_ingress(worker->engine, &burst);
}

/* Hands n packets of an inlet to the worker that emulates. */
static void into_ring(struct worker *worker, struct inlet *inlet, uint16_t n)
{
	struct arrivals *arrivals = inlet->arrivals;
	struct rte_mbuf **mbufs = &arrivals->mbufs[arrivals->next];

	for (uint16_t i = 0; i < n; i++) {
		struct packet *packet = packet_of(mbufs[i]);
		uint32_t age_ns;

		*packet = (struct packet){.number = inlet->number + 1 + i,
		                          .wire_bytes = mbufs[i]->pkt_len,
		                          .port = (uint16_t)inlet->index};
		packet->t_ns =
		        instant(worker, inlet, arrivals->came_ns[arrivals->next + i], &age_ns);
		packet->age_ns = age_ns;
		inlet->rx_bytes += mbufs[i]->pkt_len;
	}
	worker->now = packet_of(mbufs[n - 1])->t_ns;
	rte_ring_sp_enqueue_bulk(inlet->ring, (void **)mbufs, n, NULL);
}

/* Hands over what came by `until`, in order. Returns true if there was anything. */
static bool hand_over(struct worker *worker, simtime until)
{
	bool any = false;

	for (;;) {
		simtime next;
		struct inlet *inlet = earliest(worker, &next);
		uint16_t n;

		if (first(inlet->arrivals) > until)
			return any;
		n = count(inlet->arrivals, simtime_min(until, next));
		for (uint16_t i = 0; i < n; i++)
			rte_prefetch0(rte_pktmbuf_mtod(
			        inlet->arrivals->mbufs[inlet->arrivals->next + i], void *));
		if (worker->role == WORKER_RX)
			into_ring(worker, inlet, n);
		else
			into_engine(worker, inlet, n);
		inlet->arrivals->next += n;
		inlet->number += n;
		inlet->rx_packets += n;
		any = true;
	}
}

/* ---- a poll ---- */

static uint32_t count_left(const struct worker *worker)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < worker->n_inlets; i++)
		n += (uint32_t)(worker->inlets[i].arrivals->n - worker->inlets[i].arrivals->next);
	return n;
}

bool arrivals_poll(struct worker *worker, simtime now)
{
	simtime until = receive(worker, now);
	bool busy = hand_over(worker, until);
	uint32_t left = count_left(worker);

	worker->now = simtime_max(worker->now, until);
	if (worker->engine && (engine_advance(worker->engine, worker->now) > 0 || worker->waiting))
		busy |= worker_send(worker, worker->now);
	__atomic_store_n(&worker->in_hand, left, __ATOMIC_RELAXED);
	return busy || left > 0 || until < now;
}
