/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker: one lcore that polls, and everything it owns.
 *
 * Run to completion, one poll is
 *
 * receive from each own port -> engine_ingress(burst) -> engine_advance(instant) -> transmit
 * what is due -> a message from control, if there is one
 *
 * A burst is stamped with a reading of the clock taken after it was received. An older reading
 * could be before the packets came, if the processor was taken away in between; the packets would
 * then leave early. Ports that this worker cannot send to itself are reached over a ring; their
 * owner empties it (drains). The roles of a pipeline are in pipeline.h.
 *
 * Determinism: worker_poll() depends on `now` and on what the devices deliver; a test drives it
 * with instants of its own (clock NULL).
 *
 * Thread: the lcore's. Words that others read are each whole, and a moment old; `stop` is written
 * by control.
 */
#ifndef WEIR_WORKER_H
#define WEIR_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "live/mailbox.h"
#include "live/tap.h"
#include "machine/clock.h"
#include "port/tx_queue.h"
#include "port/port.h"
#include "port/port_time.h"
#include "record/tape.h"

/* What making a packet ready costs when nothing of it is in the cache. */
#define WORKER_AHEAD_NS 500
/* The longest sleep, and how long before an event it ends: what a processor takes to wake up. */
#define WORKER_REST_NS (10 * SIMTIME_MS)
#define WORKER_WAKE_NS (50 * SIMTIME_US)

enum worker_role { WORKER_RUN_TO_COMPLETION, WORKER_RX, WORKER_EMULATION, WORKER_TX };

/* A port that this worker receives from. */
struct inlet {
	struct port *port;
	uint32_t index;         /* of the port in the scenario */
	struct rte_ring *ring;  /* WORKER_RX: to the worker that has the engine */
	struct port_time *time; /* the device stamps what it receives; or NULL */
	uint64_t number;        /* WORKER_RX, and with `time`: of packets so far, their ordinal */
	uint64_t rx_packets, rx_bytes;
};

/* Packets of other workers for a port that this worker sends to. */
struct drain {
	struct rte_ring **from; /* one a worker that may send */
	uint32_t n_from;
	struct tx_queue tx_queue;
	struct outlet outlet; /* the transmit queue's */
};

struct worker {
	/* constant while the worker runs */
	enum worker_role role;
	uint32_t lcore, cpu;
	bool yields; /* shares its processor with another thread of weir */
	bool rests;  /* sleeps while there is nothing to do */
	const struct clock *clock;
	struct engine *engine; /* or NULL */
	struct inlet *inlets;
	uint32_t n_inlets;
	struct tx_queue *tx_queues; /* one a port of the scenario, if there is an engine */
	uint32_t n_tx_queues;
	/* one a port of the scenario, for the transmit queues and the drains that lead there */
	struct wire *wires;
	struct drain *drains;
	uint32_t n_drains;
	struct rte_ring *feed;      /* WORKER_EMULATION: what rx has stamped */
	const uint64_t *stamped_ns; /* WORKER_EMULATION: `done_ns` of the rx worker */
	struct mailbox mailbox;
	struct worker_tap tap;
	struct tape *tape; /* all that its engine meets is recorded there; or NULL */

	/* written by the worker */
	uint64_t polls __rte_cache_aligned;
	uint64_t busy_polls;
	uint64_t longest_poll_ns;
	simtime now;      /* what its engine is advanced to, or has been by the last poll */
	uint64_t done_ns; /* WORKER_RX: nothing will be stamped before it any more */
	bool waiting;     /* an outlet was not emptied */

	uint32_t stop __rte_cache_aligned; /* written by control */
	uint32_t over; /* worker_main has ended: what the worker has written may be looked at */
};

/* One round; true if there was anything to do. `now` does not go backwards. */
bool worker_poll(struct worker *worker, simtime now);
/*
 * After a poll that had nothing to do: if the engine's next event is at most WORKER_AHEAD_NS away,
 * it is executed now, and what leaves by it waits here, in an mbuf and in the cache, for its
 * instant. The worker does not receive meanwhile, so every arrival is stamped after that event, as
 * if it had come then.
 */
void worker_ahead(struct worker *worker);
/* The posted messages that it has not come round to. Control's, when the worker has ended. */
void worker_obey_rest(struct worker *worker);
/* After a poll that had nothing to do: sleeps until a port has a packet, the engine's next event is
 * close, or WORKER_REST_NS have passed, for messages. */
void worker_rest(struct worker *worker);
/* Polls until `stop`; the function for rte_eal_remote_launch. */
int worker_main(void *worker);
const char *worker_role_name(enum worker_role role);

/* The instant of a burst that has just been received. */
static inline simtime worker_instant(const struct worker *worker, simtime now)
{
	return worker->clock ? simtime_max(clock_now(worker->clock), now) : now;
}

/* Its last word: the worker has ended, and has obeyed. Control. */
void worker_record_end(struct worker *worker);
/* For its engine (engine_setup.make_room): hands over what lies in the outlet of this port, in the
 * middle of a poll, unless a device has refused something. */
void worker_make_room(void *worker, uint32_t port);
/* For pipeline.c: send what is due, and read messages. */
bool worker_send(struct worker *worker, simtime now);

#endif
