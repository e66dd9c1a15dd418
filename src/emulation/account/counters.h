/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counters of a cloud. Conservation holds at every instant between two calls of the engine:
 *
 *   rx + duplicated + generated = tx + sum of drops + held
 *
 * Thread: one writer, the worker that owns the cloud; others read each word whole, and a moment
 * old.
 */
#ifndef WEIR_COUNTERS_H
#define WEIR_COUNTERS_H

#include <stdint.h>

#include "account/reason.h"

struct counters {
	uint64_t rx_packets, rx_bytes; /* bytes as on the wire, without preamble and FCS */
	uint64_t tx_packets, tx_bytes;
	uint64_t onward; /* of tx_packets: those that went into another cloud */
	/* of rx_packets: those that another cloud generated, and sends through this one */
	uint64_t answers;
	uint64_t duplicated;
	uint64_t generated;
	uint64_t reordered;
	uint64_t corrupted;
	uint64_t ecn_marked;
	uint64_t becn_sent;   /* quenches; each counts as generated, too */
	uint64_t becn_marked; /* of these: those that report a mark; the others report a drop */
	uint64_t rewritten;   /* packets in which a bit was changed */
	/* feedback headers: answered by the hop; inserted, filled with answers and stripped by a
	 * proxy; passed untouched because they are malformed, or because there is no room for a
	 * header */
	uint64_t feedback_written;
	uint64_t feedback_inserted, feedback_answered, feedback_stripped;
	uint64_t feedback_malformed, feedback_no_room;
	uint64_t carried; /* of rx_packets: those that were held when the counters were cleared */
	/* of generated: those that take the path of the cloud's packets, which are fragments of the
	 * hop and packets of `probe` */
	uint64_t joined;
	uint64_t drops[REASON_COUNT];
};

/* The counters of a class (class.h); one writer, the worker. */
struct queue_counters {
	uint64_t rx_packets, rx_bytes;
	uint64_t tx_packets, tx_bytes; /* onto the line */
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
