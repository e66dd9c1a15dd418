/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a cloud has counted. Conservation holds at every instant between two calls of the engine:
 *
 *   rx + duplicated + generated = tx + sum of drops + held
 *
 * Thread: one writer, the worker that owns the cloud; others read words that are each whole, and a
 * moment old.
 */
#ifndef WEIR_COUNTERS_H
#define WEIR_COUNTERS_H

#include <stdint.h>

#include "account/reason.h"

struct counters {
	uint64_t rx_packets, rx_bytes; /* bytes as on the wire, without preamble and FCS */
	uint64_t tx_packets, tx_bytes;
	uint64_t onward; /* of tx_packets: what went into another cloud */
	/* of rx_packets: what another cloud generated, and sends through this one */
	uint64_t answers;
	uint64_t duplicated;
	uint64_t generated;
	uint64_t reordered;
	uint64_t corrupted;
	uint64_t ecn_marked;
	uint64_t becn_sent;   /* quenches; each is generated, too */
	uint64_t becn_marked; /* of them: what tells of a mark, the others of a drop */
	uint64_t rewritten;   /* packets of which a bit was changed */
	/* of feedback headers: answered by the hop; put in, filled with answers and taken off by a
	 * proxy; and what passed untouched: malformed, or without room for a header */
	uint64_t feedback_written;
	uint64_t feedback_inserted, feedback_answered, feedback_stripped;
	uint64_t feedback_malformed, feedback_no_room;
	uint64_t drops[REASON_COUNT];
};

/* What a class has counted (class.h); one writer, the worker. */
struct queue_counters {
	uint64_t rx_packets, rx_bytes;
	uint64_t tx_packets, tx_bytes; /* into the line */
	uint64_t dropped;              /* by the limit, the management, or for want of memory */
	uint64_t ecn_marked;
};

static inline uint64_t counters_drops(const struct counters *c)
{
	uint64_t sum = 0;

	for (int i = 0; i < REASON_COUNT; i++)
		sum += c->drops[i];
	return sum;
}

#endif
