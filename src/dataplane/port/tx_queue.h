/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A way out of a worker, for one port: from an outlet to a transmit queue of the port, or over a
 * ring to the worker that owns such a queue.
 *
 * Packets that the device does not take wait here, in order, and are tried again at the next poll.
 * The first of them keep their mbufs, ready to be handed over; the others lie in the memory in
 * which the engine holds packets, so that they take no mbufs from it. A packet is dropped and
 * counted if there is no memory for it, or if it is not taken until TX_QUEUE_PATIENCE_NS after it
 * was due, or after the device began to refuse packets if that was later.
 *
 * So the outlet is empty whenever the engine runs, and no packet in the engine waits for a device.
 *
 * Ownership: packets in the outlet and here belong to the worker until they are taken.
 *
 * Thread: the worker's. Counters: others may read them, a moment old.
 */
#ifndef WEIR_TX_QUEUE_H
#define WEIR_TX_QUEUE_H

#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_ring.h>

#include "account/histogram.h"
#include "account/witness.h"
#include "holding/log.h"
#include "machine/bell.h"
#include "machine/clock.h"
#include "packet/outlet.h"
#include "port/port.h"
#include "port/port_time.h"
#include "simtime.h"

/*
 * Computes when the wire behind a port can be free, if its speed is known (`port ... speed
 * 10gbit`).
 *
 * Model. A frame takes (bytes + WIRE_OVERHEAD) * 8 / speed on the wire: 1,518 bytes with FCS 1.23
 * us at 10 Gbit/s. The wire is free when all frames handed over have left, if each frame began when
 * it was handed over or when the frame ahead had left. A device does not get a frame that could not
 * begin within WIRE_SLACK_NS: such a frame waits in weir, where it shows as lateness, and not
 * unseen in the device's queue.
 *
 * If the worker polls less often than every WIRE_SLACK_NS, the wire would run dry between two
 * polls. Then the worker hands over as much as lasts for the time since the last poll,
 * WIRE_ROUND_NS at most.
 *
 * Units: picoseconds, so 400 Gbit/s is 20 a byte; a fraction of one is cut off. So the computed
 * wire is faster than the real one by less than 0.1 % up to 8 Gbit/s, and exact at 10, 25, 40, 100,
 * 200 and 400 Gbit/s. Range: 213 days. No packet is dropped or reordered by it.
 *
 * Thread: the worker that sends.
 */

#define WIRE_OVERHEAD 24 /* FCS, preamble, gap between frames */
#define WIRE_SLACK_NS 1000
#define WIRE_ROUND_NS 20000

struct wire {
	uint64_t byte_ps; /* 0: the speed is not known, and nothing waits */
	uint64_t free_ps;
	simtime asked_ns; /* the last call, if a frame had to wait; 0: none had to */
};

static inline void wire_init(struct wire *wire, uint64_t speed_bps)
{
	*wire = (struct wire){.byte_ps = speed_bps ? UINT64_C(8000000000000) / speed_bps : 0};
}

/* Returns how many of these frames, from the first on, may be handed over now. */
static inline uint32_t wire_takes(struct wire *wire, struct rte_mbuf *const *mbufs, uint32_t n,
                                  simtime now)
{
	simtime slack = WIRE_SLACK_NS;
	uint64_t at = now * 1000 > wire->free_ps ? now * 1000 : wire->free_ps, latest;
	uint32_t i;

	if (wire->asked_ns)
		slack = simtime_min(simtime_max(slack, now - wire->asked_ns), WIRE_ROUND_NS);
	latest = (now + slack) * 1000;
	for (i = 0; i < n && at <= latest; i++)
		at += (mbufs[i]->pkt_len + WIRE_OVERHEAD) * wire->byte_ps;
	wire->asked_ns = i < n ? now : 0;
	return i;
}

/* Returns the time that these frames take on the wire, for wire_used. To be computed before the
 * hand-over: the device may free what it takes. */
static inline uint64_t wire_time_ps(const struct wire *wire, struct rte_mbuf *const *mbufs,
                                    uint32_t n)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < n; i++)
		bytes += mbufs[i]->pkt_len + WIRE_OVERHEAD;
	return bytes * wire->byte_ps;
}

static inline void wire_used(struct wire *wire, simtime now, uint64_t time_ps)
{
	wire->free_ps = (now * 1000 > wire->free_ps ? now * 1000 : wire->free_ps) + time_ps;
}

#define TX_QUEUE_PATIENCE_NS (100 * SIMTIME_MS)
#define TX_QUEUE_RING        1024

struct holder;
struct tape;

struct tx_queue {
	struct outlet *outlet; /* to be emptied */
	struct outlet front;   /* what the device has refused: the oldest */
	struct log behind;     /* likewise: the others; empty if `front` is not full */
	struct holder *holder; /* has the memory of `behind`; NULL: never needed */
	struct port *port;     /* NULL: over `ring` */
	struct rte_ring *ring; /* to another worker */
	struct bell *bell;     /* of that worker; NULL: it polls */
	uint32_t index;        /* of the port in the scenario */
	uint16_t queue;
	/* gets what is dropped here as a loss of the port, and FATE_SENT if it asks for it; or
	 * NULL */
	struct witness *witness;
	struct tape *tape; /* the same for a recording; or NULL */
	struct wire
	        *wire; /* the port's, for all transmit queues of this worker; NULL: nothing waits */
	uint64_t tx_packets, tx_bytes; /* taken by the device */
	uint64_t tx_full;              /* dropped: not taken in time */
	simtime refused_ns;            /* since when some packets are refused; 0: none is */
	struct histogram lateness_ns;  /* from the due time to the hand-over */
	struct port_time *launch;      /* the port's, if its device takes a time to send; or NULL */
	simtime launch_ns;             /* from the due time to the time to send */
	uint64_t launch_missed;        /* handed over after the time to send */
	bool told; /* write the due time into t_ns of struct packet: for callbacks of the device */
};

/* Hands over what waits and what lies in the outlet; `now` is the instant of the poll. With a
 * clock, nothing is handed over before the clock reads `now`, and lateness is measured to that
 * reading, or to a later one if the port takes few frames at a time (port_sends_one); without, to
 * `now`. Empties the outlet. Returns how many packets were handed over or dropped. */
uint32_t tx_queue_send(struct tx_queue *tx_queue, const struct clock *clock, simtime now);
/* Empties the outlet in the middle of a poll: if something waits, the device is not tried again. */
void tx_queue_make_room(struct tx_queue *tx_queue, const struct clock *clock, simtime now);
/* Fills the transmit queue's outlet, as far as `front` has room for the packets, from a ring that
 * another worker's transmit queue fills. Returns how many packets came. */
uint32_t tx_queue_collect(struct tx_queue *tx_queue, struct rte_ring *from);
void tx_queue_clear(struct tx_queue *tx_queue);
/* Frees what waits and what lies in the outlet. */
void tx_queue_drop(struct tx_queue *tx_queue);

/* Returns the number of packets that wait for the device. */
static inline uint64_t tx_queue_waiting(const struct tx_queue *tx_queue)
{
	return tx_queue->front.n + tx_queue->behind.records;
}

static inline uint32_t tx_queue_flush(struct tx_queue *tx_queue, const struct clock *clock,
                                      simtime now)
{
	return tx_queue->outlet->n == 0 && tx_queue_waiting(tx_queue) == 0
	               ? 0
	               : tx_queue_send(tx_queue, clock, now);
}

#endif
