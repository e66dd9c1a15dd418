/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/tx_queue.h"

#include <string.h>

#include "holding/hold.h"
#include "packet/packet.h"
#include "record/tape.h"

#define BURST 64

/* A bit of t_ns, on the way to another worker: struct packet holds the packet's name. No instant is
 * so late. */
#define NAMED SIMTIME_HORIZON

static inline uint64_t bytes_of(struct rte_mbuf *const *mbufs, uint32_t n)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < n; i++)
		bytes += mbufs[i]->pkt_len;
	return bytes;
}

/* Adds the lateness of packets. Packets that are due at one instant, as those of a burst often are,
 * are added at once. */
static void note_lateness(struct histogram *h, const simtime *due_ns, uint32_t n, simtime handed)
{
	for (uint32_t i = 0, run; i < n; i += run) {
		for (run = 1; i + run < n && due_ns[i + run] == due_ns[i]; run++)
			;
		histogram_add(h, handed - due_ns[i], run);
	}
}

/* Counts packets whose time to send has passed. Due times do not decrease. */
static void note_launches(struct tx_queue *tx_queue, const simtime *due_ns, uint32_t n,
                          simtime handed)
{
	for (uint32_t i = 0; i < n && due_ns[i] + tx_queue->launch_ns < handed; i++)
		tx_queue->launch_missed++;
}

static void tell_due(const struct outlet *outlet)
{
	for (uint32_t i = 0; i < outlet->n; i++)
		packet_of(outlet->mbufs[i])->t_ns = outlet->due_ns[i];
}

/* ---- what is told of departures ---- */

/* A packet that is told of. The mbuf has one more reference: the device may free its own. */
struct leaving {
	struct rte_mbuf *mbuf; /* NULL: it has no name, and is not told of */
	uint64_t number;
	uint32_t wire_bytes;
	uint16_t port;
	uint8_t flags;
};

static bool tells_sent(const struct tx_queue *tx_queue, const struct outlet *outlet)
{
	return tx_queue->witness && tx_queue->witness->way & (1u << FATE_SENT) && outlet->named;
}

static __attribute__((noinline)) void note_leaving(const struct outlet *outlet, uint32_t from,
                                                   uint16_t n, struct leaving *leaving)
{
	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *mbuf = outlet->mbufs[from + i];
		const struct packet *packet = packet_of(mbuf);

		leaving[i].mbuf = NULL;
		if (!outlet_is_named(outlet, from + i))
			continue;
		leaving[i] = (struct leaving){.mbuf = mbuf,
		                              .number = packet->number,
		                              .wire_bytes = packet->wire_bytes,
		                              .port = packet->port,
		                              .flags = packet->flags};
		rte_pktmbuf_refcnt_update(mbuf, 1);
	}
}

/* Tells of the packets that the device has taken, `sent` of n. */
static __attribute__((noinline)) void tell_sent(const struct tx_queue *tx_queue,
                                                const struct outlet *outlet, uint32_t from,
                                                uint16_t n, uint16_t sent,
                                                const struct leaving *leaving, simtime handed)
{
	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *mbuf = leaving[i].mbuf;
		struct fate fate = {.kind = FATE_SENT,
		                    .packet = leaving[i].number,
		                    .port = leaving[i].port,
		                    .to_port = tx_queue->index,
		                    .flags = leaving[i].flags,
		                    .wire_bytes = leaving[i].wire_bytes,
		                    .at_ns = handed,
		                    .t_in_ns = outlet->due_ns[from + i],
		                    .cloud = tx_queue->port->name,
		                    .queue_average_bytes = FATE_NO_AVERAGE};

		if (!mbuf)
			continue;
		fate.frame = (struct fate_frame){.data = rte_pktmbuf_mtod(mbuf, const uint8_t *),
		                                 .bytes = mbuf->data_len,
		                                 .more = mbuf->next};
		if (i < sent)
			tx_queue->witness->tell(tx_queue->witness, &fate);
		rte_pktmbuf_free(mbuf);
	}
}

static uint32_t send_to_port(struct tx_queue *tx_queue, struct outlet *outlet,
                             const struct clock *clock, simtime handed)
{
	const bool tells = tells_sent(tx_queue, outlet);
	struct leaving leaving[BURST];
	uint32_t done = 0, most = outlet->n;

	if (unlikely(tx_queue->told))
		tell_due(outlet);
	if (unlikely(tx_queue->wire != NULL))
		most = wire_takes(tx_queue->wire, outlet->mbufs, outlet->n, handed);
	while (done < most) {
		uint16_t n = (uint16_t)RTE_MIN(most - done, (uint32_t)BURST);
		struct rte_mbuf **mbufs = &outlet->mbufs[done];
		/* Computed before the hand-over: the device may free what it takes. */
		uint64_t time_ps = unlikely(tx_queue->wire != NULL)
		                           ? wire_time_ps(tx_queue->wire, mbufs, n)
		                           : 0;
		uint16_t sent;

		if (unlikely(tx_queue->launch != NULL))
			port_time_launch(tx_queue->launch, mbufs, &outlet->due_ns[done], n,
			                 tx_queue->launch_ns);
		if (unlikely(tells))
			note_leaving(outlet, done, n, leaving);
		sent = port_transmit(tx_queue->port, tx_queue->queue, mbufs, &outlet->due_ns[done],
		                     n);

		if (unlikely(tx_queue->wire != NULL))
			wire_used(tx_queue->wire, handed,
			          time_ps - wire_time_ps(tx_queue->wire, mbufs + sent, n - sent));

		if (unlikely(tx_queue->launch != NULL))
			note_launches(tx_queue, &outlet->due_ns[done], sent, handed);
		note_lateness(&tx_queue->lateness_ns, &outlet->due_ns[done], sent, handed);
		if (unlikely(tells))
			tell_sent(tx_queue, outlet, done, n, sent, leaving, handed);
		tx_queue->tx_packets += sent;
		done += sent;
		if (likely(sent == n))
			continue;
		if (sent == 0 || !clock || !port_sends_one(tx_queue->port))
			break;
		/* The kernel may have run another program meanwhile, which the packet has woken. */
		handed = clock_now(clock);
	}
	return done;
}

static uint32_t send_to_ring(struct tx_queue *tx_queue, const struct outlet *outlet)
{
	uint32_t sent;

	tell_due(outlet);
	for (uint32_t i = 0; unlikely(outlet->named != 0) && i < outlet->n; i++)
		packet_of(outlet->mbufs[i])->t_ns |= outlet_is_named(outlet, i) ? NAMED : 0;
	sent = rte_ring_sp_enqueue_burst(tx_queue->ring, (void **)outlet->mbufs, outlet->n, NULL);
	if (tx_queue->bell)
		bell_ring(tx_queue->bell);
	return sent;
}

/* Waits for `now`, which is ahead of the clock by WORKER_AHEAD_NS at most. Returns the clock's
 * first reading that is not before `now`. */
static simtime await(const struct clock *clock, simtime now)
{
	simtime reading;

	do
		reading = clock_now(clock);
	while (unlikely(reading < now));
	return reading;
}

/* Reports packet i to the witness. It has left its cloud, so the port has lost it. */
static void tell_unsent(const struct tx_queue *tx_queue, const struct outlet *outlet, uint32_t i,
                        simtime now)
{
	struct rte_mbuf *mbuf = outlet->mbufs[i];
	/* The packet's name is known if its departure was reported, too. */
	const struct packet *packet = packet_of(mbuf);
	const bool known = outlet_is_named(outlet, i);
	const struct fate fate = {.kind = FATE_DROPPED,
	                          .reason = REASON_TX_FULL,
	                          .packet = known ? packet->number : 0,
	                          .port = known ? packet->port : tx_queue->index,
	                          .to_port = tx_queue->index,
	                          .flags = known ? packet->flags : 0,
	                          .wire_bytes = mbuf->pkt_len,
	                          .at_ns = now,
	                          .t_in_ns = outlet->due_ns[i],
	                          .cloud = tx_queue->port->name,
	                          .queue_average_bytes = FATE_NO_AVERAGE,
	                          .frame = {.data = rte_pktmbuf_mtod(mbuf, const uint8_t *),
	                                    .bytes = mbuf->data_len,
	                                    .more = mbuf->next}};

	tx_queue->witness->tell(tx_queue->witness, &fate);
}

/* Drops packet i, which no device takes. */
static void lose(struct tx_queue *tx_queue, const struct outlet *outlet, uint32_t i, simtime now)
{
	if (tx_queue->witness)
		tell_unsent(tx_queue, outlet, i, now);
	if (tx_queue->tape)
		tape_unsent(tx_queue->tape, tx_queue->index, outlet->mbufs[i], outlet->due_ns[i]);
	rte_pktmbuf_free(outlet->mbufs[i]);
	tx_queue->tx_full++;
}

/* Hands over what the device takes of these packets, and drops those that have waited for too long.
 * Returns how many were handed over or dropped; the others remain. */
static uint32_t hand_over(struct tx_queue *tx_queue, struct outlet *outlet,
                          const struct clock *clock, simtime handed)
{
	uint64_t bytes = tx_queue->port ? bytes_of(outlet->mbufs, outlet->n) : 0;
	uint32_t done = tx_queue->port ? send_to_port(tx_queue, outlet, clock, handed)
	                               : send_to_ring(tx_queue, outlet);

	tx_queue->tx_bytes += bytes;
	if (likely(done == outlet->n)) {
		tx_queue->refused_ns = 0;
		outlet_clear(outlet);
		return done;
	}
	if (tx_queue->refused_ns == 0)
		tx_queue->refused_ns = handed;
	if (tx_queue->port)
		tx_queue->tx_bytes -= bytes_of(outlet->mbufs + done, outlet->n - done);
	/* A packet may be due for long because the worker was late, and not the device. */
	while (done < outlet->n &&
	       simtime_max(outlet->due_ns[done], tx_queue->refused_ns) + TX_QUEUE_PATIENCE_NS <
	               handed)
		lose(tx_queue, outlet, done++, handed);
	outlet_pass(outlet, done);
	return done;
}

/* ---- what waits ---- */

/* Moves packet i of the outlet into the memory of the engine's packets. Returns false if there is
 * none. */
static bool put_behind(struct tx_queue *tx_queue, const struct outlet *outlet, uint32_t i)
{
	struct holder *holder = tx_queue->holder;
	struct rte_mbuf *mbuf = outlet->mbufs[i];
	const bool named = outlet_is_named(outlet, i), may_keep = hold_may_keep(holder, mbuf);
	/* A name lies in the mbuf. */
	const bool copied = !(named && may_keep) && hold_copies(holder, mbuf);
	struct held *held = NULL;

	if (copied || may_keep)
		held = log_append(&tx_queue->behind, &holder->arena,
		                  hold_stored_bytes(mbuf, copied));
	if (!held)
		return false;
	*held = (struct held){.t_ns = outlet->due_ns[i],
	                      .wire_bytes = outlet->wire_bytes[i],
	                      .flags = named && !copied ? HELD_NAMED : 0,
	                      .n = 1};
	hold_store(holder, held, copied, mbuf);
	return true;
}

/* Moves what lies in the outlet to the end of what waits. */
static __attribute__((noinline)) void wait_in_line(struct tx_queue *tx_queue, simtime now)
{
	struct outlet *outlet = tx_queue->outlet, *front = &tx_queue->front;

	for (uint32_t i = 0; i < outlet->n; i++) {
		if (tx_queue->behind.records == 0 && front->n < OUTLET_ROOM) {
			outlet_put(front, outlet->mbufs[i], outlet->due_ns[i],
			           outlet->wire_bytes[i]);
			if (outlet_is_named(outlet, i))
				outlet_name(front);
		} else if (!put_behind(tx_queue, outlet, i)) {
			lose(tx_queue, outlet, i, now);
		}
	}
	outlet_clear(outlet);
}

/* Fills `front` with the oldest that wait behind it, as far as the pool has mbufs. */
static void move_up(struct tx_queue *tx_queue)
{
	struct outlet *front = &tx_queue->front;

	while (tx_queue->behind.records > 0 && front->n < OUTLET_ROOM) {
		const struct held *held = log_front(&tx_queue->behind);

		if (!hold_may_leave(tx_queue->holder, held, 1))
			return;
		hold_leave(tx_queue->holder, held, 0, 1, held->t_ns, 0, front);
		if (held->flags & HELD_NAMED)
			outlet_name(front);
		log_pop(&tx_queue->behind, &tx_queue->holder->arena);
	}
}

uint32_t tx_queue_send(struct tx_queue *tx_queue, const struct clock *clock, simtime now)
{
	const simtime handed = clock ? await(clock, now) : now;
	struct outlet *front = &tx_queue->front;
	uint32_t done = 0;

	if (likely(tx_queue_waiting(tx_queue) == 0)) {
		done = hand_over(tx_queue, tx_queue->outlet, clock, handed);
		if (unlikely(tx_queue->outlet->n > 0))
			wait_in_line(tx_queue, handed);
		return done;
	}
	wait_in_line(tx_queue, handed);
	do {
		done += hand_over(tx_queue, front, clock, handed);
		move_up(tx_queue);
	} while (front->n > 0 && tx_queue->refused_ns == 0);
	return done;
}

void tx_queue_make_room(struct tx_queue *tx_queue, const struct clock *clock, simtime now)
{
	if (tx_queue_waiting(tx_queue) > 0)
		wait_in_line(tx_queue, now);
	else
		tx_queue_flush(tx_queue, clock, now);
}

/* Reads the marks of packets that have names, from packet `from` on. */
static __attribute__((noinline)) void take_names(struct outlet *outlet, uint32_t from)
{
	for (uint32_t i = from; i < outlet->n; i++) {
		if (!(outlet->due_ns[i] & NAMED))
			continue;
		outlet->due_ns[i] &= ~NAMED;
		outlet->named |= UINT64_C(1) << i;
	}
}

uint32_t tx_queue_collect(struct tx_queue *tx_queue, struct rte_ring *from)
{
	struct outlet *outlet = tx_queue->outlet;
	struct rte_mbuf **mbufs = &outlet->mbufs[outlet->n];
	uint32_t room = OUTLET_ROOM - outlet->n - tx_queue->front.n;
	uint32_t n = rte_ring_sc_dequeue_burst(from, (void **)mbufs, room, NULL);
	simtime any = 0;

	for (uint32_t i = 0; i < n; i++) {
		outlet->due_ns[outlet->n + i] = packet_of(mbufs[i])->t_ns;
		any |= outlet->due_ns[outlet->n + i];
	}
	outlet->n += n; /* wire_bytes stay unset: not read here */
	if (unlikely(any & NAMED))
		take_names(outlet, outlet->n - n);
	return n;
}

void tx_queue_clear(struct tx_queue *tx_queue)
{
	tx_queue->tx_packets = 0;
	tx_queue->tx_bytes = 0;
	tx_queue->tx_full = 0;
	tx_queue->launch_missed = 0;
	histogram_clear(&tx_queue->lateness_ns);
}

void tx_queue_drop(struct tx_queue *tx_queue)
{
	if (!tx_queue->outlet)
		return;
	rte_pktmbuf_free_bulk(tx_queue->outlet->mbufs, tx_queue->outlet->n);
	outlet_clear(tx_queue->outlet);
	rte_pktmbuf_free_bulk(tx_queue->front.mbufs, tx_queue->front.n);
	outlet_clear(&tx_queue->front);
	if (tx_queue->holder)
		hold_drop_all(tx_queue->holder, &tx_queue->behind);
}
