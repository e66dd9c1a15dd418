/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CoDel: selects packets to drop, or to mark, so that a standing queue drains (RFC 8289).
 *
 * Model: the criterion is the sojourn time of a packet: how long it has waited when it is taken
 * from the queue. If sojourn times stay at `target` or above for a whole `interval`, one packet is
 * selected. From then on, until a sojourn time is below `target`, the n-th packet is selected at
 * the instant
 *
 *   next(n) = next(n-1) + interval / sqrt(n)
 *
 * so that the rate of selections rises until the senders slow down. While `mtu` bytes or less wait
 * before the link, in all its queues (section 4.4), no sojourn time is too long. If a queue enters
 * the selecting state again soon after it left it (16 intervals), it continues with the count that
 * it had gained there.
 *
 * The RFC's pseudocode dequeues in a loop. Here the caller passes the packets at the front to
 * codel_select(), one after the other at one instant, until one passes. If the caller drops a
 * selected packet, the next one is examined. If it marks the packet, it calls codel_marked(), and
 * the packet passes, as in Linux.
 *
 * Fixed point: interval / sqrt(n) is rounded down to 2^-16 ns (exactly: it is the integer root of
 * interval^2 / n), and so are the instants next(n): after a thousand of them, the last is early by
 * a 65th of a ns. An interval is at most CODEL_INTERVAL_MAX.
 *
 * Deterministic, without draws.
 * Thread: the owner's.
 */
#ifndef WEIR_CODEL_H
#define WEIR_CODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "simtime.h"

struct snapshot;

#define CODEL_INTERVAL_MAX (4 * SIMTIME_S)

struct codel_rule {
	simtime target_ns, interval_ns;
	uint64_t mtu_bytes;
};

/* What happened to the packet before, at the same instant. */
enum codel_step {
	CODEL_NONE,
	CODEL_ENTERED,  /* selected, the first: the next one passes */
	CODEL_SELECTED, /* selected, a later one: the next may be, too */
};

struct codel {
	simtime first_above; /* end of the interval, if it stays above; 0: it is below */
	simtime next;        /* the next selection, in ns, */
	uint32_t next_q16;   /* and its fraction, in 2^-16 ns */
	uint32_t count;      /* selections since it entered, with those continued */
	uint32_t count_then; /* its value at the last entry */
	bool dropping;       /* in the selecting state */
	uint8_t step;        /* enum codel_step */
};

/* Returns true if this packet is selected. It is at the front of a queue at `now`, where it has
 * waited for `sojourn`; `rest_bytes` wait besides. */
bool codel_select(struct codel *codel, const struct codel_rule *rule, simtime sojourn,
                  uint64_t rest_bytes, simtime now);
/* Records that the packet selected last was marked, and passes. */
void codel_marked(struct codel *codel, const struct codel_rule *rule);
/* Records that the queue is empty. */
void codel_emptied(struct codel *codel);

/* Writes or reads its state (snapshot.h). */
void codel_snapshot(struct codel *codel, struct snapshot *snapshot);

/* Returns interval / sqrt(count), rounded down, in 2^-16 ns. */
uint64_t codel_spacing_q16(const struct codel_rule *rule, uint32_t count);

#endif
