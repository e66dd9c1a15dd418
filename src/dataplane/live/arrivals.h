/* SPDX-License-Identifier: BSD-3-Clause */
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
#ifndef WEIR_ARRIVALS_H
#define WEIR_ARRIVALS_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "packet/packet.h"

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
