/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counters of a cloud. Conservation holds at every instant between two calls of the engine:
 *
 *   rx + duplicated + generated = tx + sum of drops + held
 *
 * A counter that is shown is one row: its field, what `show` calls it, its metric (or NULL), and
 * its help. From the row follow the text and the JSON of `show`, metrics, reports and the members
 * of the Python client (control's figures/figures.h). A new one is the last row of COUNTERS_LATER;
 * then `python3 -m weir.stubs figures` renews the members of the Python client.
 *
 * Thread: one writer, the worker that owns the cloud; others read each word whole, and a moment
 * old.
 */
#ifndef WEIR_COUNTERS_H
#define WEIR_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#include "account/reason.h"

/* Bytes are as on the wire, without preamble and FCS. */
#define COUNTERS_TRAFFIC(PACKETS, BYTES)                                                           \
	PACKETS(rx_packets, "received", "weir_cloud_received_packets",                             \
	        "Packets that entered the cloud.")                                                 \
	BYTES(rx_bytes, "bytes", "weir_cloud_received_bytes", "Bytes that entered the cloud.")     \
	PACKETS(tx_packets, "sent", "weir_cloud_sent_packets", "Packets that left the cloud.")     \
	BYTES(tx_bytes, "bytes", "weir_cloud_sent_bytes", "Bytes that left the cloud.")

#define COUNTERS_EFFECTS(X)                                                                        \
	X(duplicated, "duplicated", "weir_cloud_duplicated_packets",                               \
	  "Copies that the cloud made.")                                                           \
	X(generated, "generated", "weir_cloud_generated_packets",                                  \
	  "Packets of the cloud's own, like ICMP.")                                                \
	X(reordered, "reordered", "weir_cloud_reordered_packets", "Packets that overtook others.") \
	X(corrupted, "corrupted", "weir_cloud_corrupted_packets",                                  \
	  "Packets with errors written in.")                                                       \
	X(ecn_marked, "ECN marked", "weir_cloud_marked_packets", "Packets marked CE.")

/* Effects that older weirs do not count. They lie behind `drops`, because recordings and snapshots
 * of older weirs have what lies in front of it. A new one comes last. */
#define COUNTERS_LATER(X)

/* These, and those of feedback headers, are only in reports since counting began. */
#define COUNTERS_QUENCHES(SENT, MARKS)                                                             \
	SENT(becn_sent, "BECN sent", NULL, "Quenches; each counts as generated, too.")             \
	MARKS(becn_marked, "BECN of marks", NULL,                                                  \
	      "Of becn_sent: those that report a mark; the others report a drop.")

#define COUNTERS_CHANGES(X) X(rewritten, "rewritten", NULL, "Packets in which a bit was changed.")

/* In JSON these are members of `feedback`, without the first word. */
#define COUNTERS_FEEDBACK(X)                                                                       \
	X(feedback_written, "feedback written", NULL, "Headers that the hop has answered.")        \
	X(feedback_inserted, "feedback inserted", NULL, "Requests inserted by a proxy.")           \
	X(feedback_answered, "feedback answered", NULL,                                            \
	  "Headers that a proxy filled with answers.")                                             \
	X(feedback_stripped, "feedback stripped", NULL, "Headers that a proxy removed.")           \
	X(feedback_malformed, "feedback malformed", NULL,                                          \
	  "Packets passed untouched, because their header is malformed.")                          \
	X(feedback_no_room, "feedback no room", NULL,                                              \
	  "Packets passed untouched, because they have no room for a header.")

struct counters {
#define X(field, text, metric, help) uint64_t field;
	COUNTERS_TRAFFIC(X, X)
	uint64_t onward; /* of tx_packets: those that went into another cloud */
	/* of rx_packets: those that another cloud generated, and sends through this one */
	uint64_t answers;
	COUNTERS_EFFECTS(X)
	COUNTERS_QUENCHES(X, X)
	COUNTERS_CHANGES(X)
	COUNTERS_FEEDBACK(X)
	uint64_t carried; /* of rx_packets: those that were held when the counters were cleared */
	/* of generated: those that take the path of the cloud's packets, which are fragments of the
	 * hop and packets of `probe` */
	uint64_t joined;
	uint64_t drops[REASON_COUNT];
	COUNTERS_LATER(X)
#undef X
};

/* Where a counter is, for tables. */
#define COUNTER(field)    offsetof(struct counters, field)
#define DROPS(reason)     offsetof(struct counters, drops[REASON_##reason])
#define COUNTERS_LATER_AT (offsetof(struct counters, drops) + REASON_COUNT * sizeof(uint64_t))

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

/* Returns the drops of one kind. With a constant kind, that is a sum without a branch. */
static inline uint64_t counters_drops_of(const struct counters *c, enum reason_kind kind)
{
	uint64_t sum = 0;

#define X(id, name, of, stage, help) sum += kind == REASON_##of ? c->drops[REASON_##id] : 0;
	REASONS(X)
#undef X
	return sum;
}

/* Returns how many packets came in since the counters were cleared. The two words may be of two
 * moments. */
static inline uint64_t counters_arrived(const struct counters *c)
{
	return c->rx_packets > c->carried ? c->rx_packets - c->carried : 0;
}

/* The two sides of conservation, without what is held. */
static inline uint64_t counters_in(const struct counters *c)
{
	return c->rx_packets + c->duplicated + c->generated;
}

static inline uint64_t counters_out(const struct counters *c)
{
	return c->tx_packets + counters_drops(c);
}

#endif
