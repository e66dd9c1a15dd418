/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CoDel: selects packets to drop, or to mark, so that a standing queue drains (RFC 8289).
 *
 * Model: the criterion is the sojourn time of a packet: how long it has waited when it is taken
 * from the queue. If that is `target` and more for a whole `interval`, one packet is selected. From
 * then on, as long as it does not fall below, the n-th is selected at the instant
 *
 *   next(n) = next(n-1) + interval / sqrt(n)
 *
 * so that the rate of selections rises until the senders slow down. While `mtu` bytes and less wait
 * before the link, in all its queues (section 4.4), no sojourn time is too long. A queue that
 * enters the selecting state again soon after it left it (16 intervals) continues with the count
 * that it had reached there.
 *
 * The RFC's pseudocode dequeues in a loop. Here the caller asks about each packet at the front: it
 * calls codel_select() at one instant again and again, until it lets one pass. A selected packet
 * may be dropped; then the next one is examined. Or it may be marked: then the caller calls
 * codel_marked(), and the packet passes, as in Linux.
 *
 * Fixed point: interval / sqrt(n) is rounded down to 2^-16 ns (exactly: it is the integer root of
 * interval^2 / n), and so are the instants next(n): of a thousand of them the last is early by a
 * 65th of a ns. An interval is CODEL_INTERVAL_MAX at most.
 *
 * Deterministic, without draws. Thread: the owner's.
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

/* What became of the packet before, at the same instant. */
enum codel_step {
	CODEL_NONE,
	CODEL_ENTERED,  /* it was the first: the next one goes */
	CODEL_SELECTED, /* it was not: the next may be selected too */
};

struct codel {
	simtime first_above; /* when it is time, if it stays above; 0: it is below */
	simtime next;        /* when the next one is selected, */
	uint32_t next_q16;   /* and this of 2^16 parts of a ns later */
	uint32_t count;      /* selected since it entered */
	uint32_t count_then; /* when it entered last */
	bool dropping;       /* it has entered */
	uint8_t step;        /* enum codel_step */
};

/* Whether this packet is selected, at the front of a queue at `now`, where it has waited for
 * `sojourn`; `rest_bytes` wait besides. */
bool codel_select(struct codel *codel, const struct codel_rule *rule, simtime sojourn,
                  uint64_t rest_bytes, simtime now);
/* The one that was selected last goes, marked. */
void codel_marked(struct codel *codel, const struct codel_rule *rule);
/* There is no packet any more. */
void codel_emptied(struct codel *codel);

/* What it has come to (snapshot.h). */
void codel_snapshot(struct codel *codel, struct snapshot *snapshot);

/* interval / sqrt(count), rounded down, in 2^-16 ns. */
uint64_t codel_spacing_q16(const struct codel_rule *rule, uint32_t count);

#endif
