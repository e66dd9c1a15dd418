/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker: one lcore that polls, and everything it owns.
 *
 * Run to completion, one poll is
 *
 *   receive from each own port -> engine_ingress(burst) -> engine_advance(instant)
 *   -> transmit what is due -> a message from control, if there is one
 *
 * A burst is stamped with a reading of the clock taken after the burst was received. If the
 * processor was taken away in between, an older reading could be before the arrival of the packets,
 * which would then leave early. Ports to which this worker cannot send itself are reached over a
 * ring, which their owner empties (drains). The roles of a pipeline are below.
 *
 * Determinism: worker_poll() depends on `now` and on what the devices deliver. A test calls it with
 * instants of its own (clock NULL).
 *
 * Thread: the lcore's. Each word that others read is read whole, and may be a moment old. `stop` is
 * written by control.
 */
#ifndef WEIR_WORKER_H
#define WEIR_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "engine/engine.h"
#include "live/mailbox.h"
#include "live/tap.h"
#include "machine/bell.h"
#include "machine/clock.h"
#include "machine/priority.h"
#include "packet/packet.h"
#include "port/port.h"
#include "port/port_time.h"
#include "port/tx_queue.h"
#include "record/tape.h"
#include "simtime.h"

/*
 * The pipeline: three roles on workers of their own, as the microengines of the IXP emulator were.
 *
 * ports -> rx -> ring -> emulation (one or more, each with its engine) -> rings -> tx -> ports
 *
 * rx stamps packets with the instant of its poll and hands them to the worker that has the clouds
 * of that port. It polls all ports with one reading of the clock, so each ring is in the order of
 * time. An engine must not be advanced past an instant at which a packet may still come. So rx
 * publishes after each poll the instant below which it will not stamp any more. Emulation reads
 * that first, then empties its ring, and advances no further than that instant.
 *
 * If a ring is full, rx does not receive: packets are lost in the device, where they are counted as
 * missed, and not in weir.
 */

#define PIPELINE_RING 4096

struct worker;

/* Cost of making a packet ready when nothing of it is in the cache. */
#define WORKER_AHEAD_NS 500
/* The longest sleep of a worker that its ports wake. */
#define WORKER_REST_NS (10 * SIMTIME_MS)
/* How long before an event a sleep ends, at most: the time in which an idle processor wakes up. It
 * does so more slowly from a long sleep, so that is in two parts, of which the first one ends
 * earlier. */
#define WORKER_WAKE_NS (80 * SIMTIME_US)
#define WORKER_DOZE_NS (250 * SIMTIME_US)
/* How much earlier a worker wakes up than it has turned out to need. */
#define WORKER_SPARE_NS (10 * SIMTIME_US)

enum worker_role { WORKER_RUN_TO_COMPLETION, WORKER_RX, WORKER_EMULATION, WORKER_TX };

/* A port that this worker receives from. */
struct inlet {
	struct port *port;
	uint32_t index;         /* of the port, in the scenario */
	struct rte_ring *ring;  /* WORKER_RX: leads to the worker that has the engine */
	struct port_time *time; /* if the device stamps what it receives; or NULL */
	uint64_t number;        /* ordinal of the latest packet */
	uint64_t rx_packets, rx_bytes;
	/* of a worker that has stamped ports: see arrivals */
	bool stamped;              /* the kernel stamps what comes to this port */
	struct arrivals *arrivals; /* owned */
	simtime latest_ns;         /* when the latest packet came */
	uint64_t early;            /* dropped: came before the worker was launched */
	uint64_t aged;             /* came before the instant that the engine had advanced to */
	simtime oldest_ns;         /* the largest such difference */
};

/* Packets from other workers to a port to which this worker sends. */
struct drain {
	struct rte_ring **from; /* one for each worker that may send */
	uint32_t n_from;
	struct tx_queue tx_queue;
	struct outlet outlet; /* of the transmit queue */
};

struct worker {
	/* constant while the worker runs */
	enum worker_role role;
	uint32_t lcore, cpu;
	const char *deaf; /* port that alone keeps the worker from sleeping; or NULL */
	bool yields;      /* yields its processor after an idle poll */
	simtime rest_ns;  /* longest sleep while it has nothing to do; 0: it polls */
	simtime wake_ns;  /* how long before an event a short sleep ends now */
	struct bell bell; /* made if it sleeps: wakes it for what other threads put into rings */
	struct priority priority;
	const struct clock *clock;
	struct engine *engine; /* or NULL */
	struct inlet *inlets;
	uint32_t n_inlets;
	bool stamped; /* the kernel stamps what comes to one of its ports, or to several */
	struct tx_queue *tx_queues; /* one for each port of the scenario, if there is an engine */
	uint32_t n_tx_queues;
	/* one for each port of the scenario, used by the transmit queues and drains of that port */
	struct wire *wires;
	struct drain *drains;
	uint32_t n_drains;
	struct rte_ring *feed;      /* WORKER_EMULATION: packets that rx has stamped */
	const uint64_t *stamped_ns; /* WORKER_EMULATION: `done_ns` of the rx worker */
	struct mailbox mailbox;
	struct worker_tap tap;
	struct tape *tape; /* recording of all that its engine meets; or NULL */

	simtime began_ns; /* when it was launched first */

	/* written by the worker */
	uint64_t polls __rte_cache_aligned;
	uint64_t busy_polls;
	uint64_t longest_poll_ns;
	simtime now;      /* the instant of this poll or the last one, to which the engine is
	                   * advanced */
	uint64_t done_ns; /* after the last poll, no packet will be stamped earlier */
	uint32_t in_hand; /* packets that it has received and not handed over (see arrivals) */
	bool waiting;     /* packets wait for a device */

	uint32_t stop __rte_cache_aligned; /* written by control */
	uint32_t over; /* worker_main has ended: what the worker has written may be read */
};

/* Polls once. Returns true if there was anything to do. `now` does not decrease. */
bool worker_poll(struct worker *worker, simtime now);
/*
 * Called after an idle poll. If the engine's next event is at most WORKER_AHEAD_NS away, it is
 * executed now, and what leaves by it waits for its instant in an mbuf and in the cache. The worker
 * does not receive meanwhile, so every arrival is stamped after that event, as if the event had
 * happened at its instant.
 */
void worker_ahead(struct worker *worker);
/* Executes the posted messages that the worker has not taken. Thread: control, after the worker has
 * ended. */
void worker_obey_rest(struct worker *worker);
/* Called after an idle poll. Sleeps until a port has a packet, another thread has put something
 * into a ring, the engine's next event is close, or rest_ns have passed. Only the last of these
 * ends the wait of a packet at a port that wakes nobody (port_wakes). */
void worker_rest(struct worker *worker);
/* Gives the thread the worker's priority. Returns 0 or -errno. */
int worker_take_priority(void *worker);
/* Polls until `stop`. Both are passed to rte_eal_remote_launch. */
int worker_main(void *worker);
const char *worker_role_name(enum worker_role role);

/* Returns the instant of a burst that has just been received. */
static inline simtime worker_instant(const struct worker *worker, simtime now)
{
	return worker->clock ? simtime_max(clock_now(worker->clock), now) : now;
}

/* Records the end of the tape. The worker has ended, and has taken all messages.
 * Thread: control. */
void worker_record_end(struct worker *worker);
/* Empties the outlet of this port, in the middle of a poll. The worker's engine calls it
 * (engine_setup.make_room). */
void worker_make_room(void *worker, uint32_t port);
/* Sends what is due. Also used by arrivals.c. */
bool worker_send(struct worker *worker, simtime now);
/* Gives packets their ages, by the stamps of the device. Also used by arrivals.c. */
void worker_set_ages(const struct inlet *inlet, struct burst *burst);

/*
 * Arrivals: how a worker receives if the kernel stamps what comes to one of its ports. The stamp is
 * the packet's instant in the engine. So a worker that reads late, because it slept or lost its
 * processor, delays no packet whose delay is longer than that; and rates, queues and their
 * managements meet the arrivals as they were. What was due by the time it was read leaves at once,
 * and its lateness counts from its due instant.
 *
 * The engine wants packets in the order of time, and none before an instant that it has advanced
 * to. So a poll hands over, in order, whatever the port, what came by the reading of the clock with
 * which it began; then the engine advances to that reading. What came later is in hand until the
 * next poll, which follows at once. If a port has more than one call receives, the engine waits for
 * it: it advances to the latest packet of that port. So if a worker cannot keep up, everything that
 * leaves it is late, and is counted as late.
 *
 * The kernel stamps a packet a moment before it can be received. If the engine has advanced past
 * that instant, the packet gets the engine's, and the difference as its age (packet.h). Such
 * packets are counted, and the largest difference is kept: 65 us on a busy machine.
 *
 * Packets that came before the worker was launched are dropped and counted.
 *
 * A port without stamps, beside one with them: its packets came when they had been received.
 *
 * Determinism: depends on `now`, the clock, and what the ports deliver.
 * Thread: the worker's.
 */

struct inlet;
struct worker;

/* What an inlet has received and its worker has not handed over. */
struct arrivals {
	uint16_t next, n;
	bool blocked; /* nothing is handed over in this poll: the next worker has no room */
	struct rte_mbuf *mbufs[BURST_MAX];
	simtime came_ns[BURST_MAX];
};

/* Frees what has not been handed over, too. NULL is allowed. */
void arrivals_free(struct arrivals *arrivals);
/* Receives, and emulates and sends; or, as the receiver of a pipeline, hands over to the workers
 * that emulate. Returns true if there was anything to do. */
bool arrivals_poll(struct worker *worker, simtime now);

#endif
