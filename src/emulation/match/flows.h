/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flows of a cloud, for statements that are keyed by them (keyed.h): which flow a packet
 * belongs to, its number in the flow, and what statements remember of the flow. So what happens to
 * a packet is a function of its flow and its number there, and not of how flows mix.
 *
 * Model: a flow is one direction of addresses, protocol and ports, as FQ-CoDel sorts them
 * (packet_key.h reads them: VLAN tags are seen through, tunnels are not). Packets without ports (a
 * later fragment, ICMP) form one flow for their addresses and protocol; what is not IP, one flow
 * for its ethertype, and of ARP for its addresses. A packet that `corrupt` has damaged by its flow,
 * here or in an earlier cloud, may name any flow. It is counted in none, but is a flow of its own,
 * named by its first bytes.
 *
 * A flow has two names, each a hash of 64 bits under a key that follows from the seed:
 *   flow        of all that says which flow it is. By this name it is found
 *   connection  of addresses, protocol, the ports below FLOWS_CHOSEN_PORTS, and of how many flows
 *               with these began before: a port from there on is what a client's kernel chose, and
 *               another one in each run
 * Two of n flows have the same name with a probability of n^2 / 2^65, 7e-12 of 16384, and would
 * then be one.
 *
 * The table has sets of FLOWS_WAYS. A new flow whose set is full replaces the flow there that was
 * silent for the longest time, counted in packets. If that one continues, it begins anew. So the
 * table is a function of the packets in their order, and of nothing else; only beyond FLOWS_WAYS
 * flows of one set does it depend on how flows mix. A sketch would never forget, but its flows
 * would share numbers, and depend on each other from the first packet on. What counts connections
 * takes places in the same table.
 *
 * Cost: O(1) per packet, two cache lines. Memory: flows_bytes.
 * Ownership: flows_free. The memory of a flow is valid until the next packet is counted.
 * Thread: made by control, used by the worker that owns the cloud.
 */
#ifndef WEIR_FLOWS_H
#define WEIR_FLOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "packet/burst.h"
#include "packet/packet_bytes.h"

struct snapshot;

#define FLOWS_WAYS          8
#define FLOWS_KNOWN         16384u /* that a cloud knows at a time */
#define FLOWS_KNOWN_OF_MANY 256u   /* that each cloud of a template knows */
/* Linux chooses from 32768 to 60999, others from 49152 on. */
#define FLOWS_CHOSEN_PORTS 32768

/* What may have a word of memory for each flow. Link and line count flows apart. */
enum flow_slot { FLOW_LOSS, FLOW_DUPLICATE, FLOW_CORRUPT, FLOW_SLOTS };
enum flow_slot_of_line { FLOW_REORDER, FLOW_JITTER };

/* Of which statement a word of memory is, in its low byte: what another statement has left there is
 * not read. These numbers are written into snapshots. */
enum flow_mark {
	FLOW_MARK_NONE,
	FLOW_MARK_LOSS_RANDOM,
	FLOW_MARK_LOSS_BURST,
	FLOW_MARK_LOSS_GILBERT_ELLIOTT,
	FLOW_MARK_LOSS_FOUR_STATE,
	FLOW_MARK_DUPLICATE_RANDOM,
	FLOW_MARK_CORRUPT_RANDOM,
	FLOW_MARK_REORDER_EARLY,
	FLOW_MARK_JITTER,
};

/* Returns what was remembered under this mark, of 56 bits; 0 if nothing was. */
static inline uint64_t flow_recall(uint64_t memory, enum flow_mark mark)
{
	return (memory & UINT8_MAX) == mark ? memory >> 8 : 0;
}

static inline uint64_t flow_remember(uint64_t value, enum flow_mark mark)
{
	return value << 8 | mark;
}

struct flows;

/* Makes the table of a cloud, or of one of `many` of a template. Returns NULL if there is no
 * memory. */
struct flows *flows_make(uint64_t seed, bool many);
void flows_free(struct flows *flows);
uint64_t flows_bytes(bool many);
/* Says whether flows need the name `connection`. Thread: worker. */
void flows_name_connections(struct flows *flows, bool needed);

/* Finds the flows of the packets of a burst, from `from` on, and counts the packets. Returns how
 * many, at least one: it stops where a flow would replace the flow of a packet that it has counted.
 * The caller deals with these packets first. */
uint16_t flows_count(struct flows *flows, struct burst *burst, uint16_t from);
/* The same for one packet with these flags. */
struct burst_flow flows_count_one(struct flows *flows, const struct packet_bytes *frame,
                                  uint32_t flags);

/* Writes the flows, or reads them into a table that has none (snapshot.h). Cost: a look at each
 * place. */
void flows_snapshot(struct flows *flows, struct snapshot *snapshot);

#endif
