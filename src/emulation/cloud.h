/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cloud: one direction of one emulated network. Ingress stages, then the link, then the line.
 *
 * Thread: made and freed by control, run by the worker that owns it. Counters and histogram are
 * read by others a moment old.
 */
#ifndef WEIR_CLOUD_H
#define WEIR_CLOUD_H

#include "counters.h"
#include "histogram.h"
#include "line.h"
#include "link.h"
#include "scenario.h"
#include "stage.h"
#include "witness.h"

#define CLOUD_STAGES_MAX CLOUD_CONFS_MAX

struct cloud {
	/* what a packet of an unimpaired cloud touches comes first */
	bool plain;   /* no stage, no link, no jitter, no wheel, no witness: line only */
	bool closing; /* removed from the scenario: nothing comes in, what is held goes out */
	uint16_t n_stages;
	uint32_t index;
	uint32_t to_port;
	simtime origin_ns; /* the run's beginning: when the first scenario came into force. Live it
	                    * is 0, in a replay the first packet of the captures */
	struct line line;
	struct counters counters;
	struct link link;
	struct stage *stages[CLOUD_STAGES_MAX];
	struct holder *holder;
	struct witness *witness;
	simtime wake; /* shared clouds: when the timer on the shared wheel goes off for the link */
	bool starved; /* there was no memory for that timer */
	uint64_t latest_number; /* of the packets in the queue, for the witness */
	uint32_t from_port;
	char name[SCENARIO_NAME_BYTES];
	struct histogram delay_ns;
};

/* NULL: no memory. */
struct cloud *cloud_make(const char *name, uint32_t index, struct holder *holder,
                         struct witness *witness);
/* Drops what it holds, and frees its stages. */
void cloud_free(struct cloud *cloud);

/* Packets arrive, t_ns in order; takes them all. n <= BURST_MAX. */
void cloud_arrive(struct cloud *cloud, struct rte_mbuf **mbufs, uint16_t n);
/* The same at one instant for a plain cloud, whose packets need no struct packet. */
void cloud_arrive_plain(struct cloud *cloud, struct rte_mbuf **mbufs, uint16_t n, simtime now);
/* What leaves the link up to and at `now` enters the line. */
void cloud_advance_link(struct cloud *cloud, simtime now);

/* Frees the packet and counts it. For stages, and for whatever cannot hold it. */
void cloud_drop(struct cloud *cloud, struct rte_mbuf *mbuf, enum reason reason);

/* A copy of this packet that could not be made: counts it as made, and dropped for want of memory.
 * The packet itself is the caller's still. */
void cloud_drop_copy(struct cloud *cloud, struct rte_mbuf *original);

static inline uint64_t cloud_held(const struct cloud *cloud)
{
	return cloud->line.held + cloud->link.queue.records;
}

#endif
