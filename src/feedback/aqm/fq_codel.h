/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `fq-codel [flows N] [quantum SIZE] [target T] [interval T] [ce-threshold T] [mtu SIZE]`: FQ-CoDel
 * (RFC 8290) on a link.
 *
 * Model: packets are sorted into `flows` queues by a hash of addresses, protocol and ports, seeded
 * by the run's seed; frames that are not IP, by a hash of the fields that packet_key.h reads, and
 * of the ethertype. Deficit round robin chooses among the queues, in bytes. A queue that gets its
 * first packet goes to the end of the list of new queues with a credit of `quantum`. The first of
 * the new queues, or of the old if there is no new one, may send while it has credit. A queue
 * without credit gets another quantum, and goes to the end of the old list. An empty queue leaves
 * the old list, or moves from the new list to the end of the old. So a flow with a packet now and
 * then overtakes those that always have one.
 *
 * Each queue has its own CoDel (codel.h), with the reason `codel`, and its own ce-threshold; `mtu`
 * is compared with what waits in all queues (RFC 8289, section 4.4). Capable packets are marked,
 * which is RFC 8290's default, unless `ecn off` stands beside it. If a packet finds the link's
 * queue full, the queue with the most bytes, counted with the arriving packet, loses half of its
 * packets, rounded up, at most FQ_CODEL_BATCH, from its head, with the reason `fullest`. The limit
 * is that of `rate`; the RFC's is 10240pkt. If nothing else waits, the arriving packet is dropped,
 * as `queue-full`.
 *
 *   flows    1 to 65536: 1024. Each takes 128 B, and 4 KiB more while something waits in it
 *   quantum  256 B to 1 MB: 1514 B. Below the length of a packet, a turn costs several rounds
 *   target, interval, ce-threshold, mtu   codel_aqm.h
 *
 * A change keeps all queues, unless it changes their number; then what waits leaves first, queue by
 * queue. No draws. The work per packet is O(1), except for a full queue: one scan of all flows for
 * a batch of drops.
 */
#ifndef WEIR_FQ_CODEL_H
#define WEIR_FQ_CODEL_H

#include "aqm/codel_aqm.h"

#define FQ_CODEL_FLOWS_MAX 65536
#define FQ_CODEL_BATCH     64

struct fq_codel_conf {
	struct conf conf;
	uint64_t flows, quantum_bytes;
	simtime target_ns, interval_ns, ce_threshold_ns;
	uint64_t mtu_bytes;
};

extern const struct statement fq_codel_statement;

#endif
