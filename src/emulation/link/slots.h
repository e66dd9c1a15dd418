/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `slots min A max B [packets N] [bytes M] [queue LIMIT]`: packets leave the link in bursts, when a
 * slot opens, as on Wi-Fi, LTE or DOCSIS.
 *
 * Model: netem's slots, in virtual time. A packet is *ready* when the shaper is through with it; at
 * once, if there is no rate. It leaves when the slot it belongs to opens, together with the others
 * of that slot. A packet that is ready when the latest slot has opened already, or that finds its
 * budget spent, begins another: that opens U after the packet is ready, or after the slot before if
 * that is later; U is uniform in [A, B], to the nanosecond. The budget of a slot is N packets and M
 * bytes; it is spent when either has come to nothing, so the last packet of a slot may go beyond M.
 *
 * Thus, of netem: the slots of a link without a rate that has always something to send are U apart;
 * one that is idle waits U for the next packet, it does not catch up.
 *
 * What waits for its slot is in the queue, and counts. Without a `rate` the queue is `queue`; if
 * that is not given, 64 slots' worth of packets or bytes (1000 packets or 1.5 MB at least); without
 * a budget all that waits goes with the next slot, and there is no limit.
 *
 * Ranges: A and B 0 to a day, A <= B; nothing is cut to 32 bits. Determinism: the n-th slot's U is
 * a draw by (seed, cloud, "slots"), n.
 */
#ifndef WEIR_SLOTS_H
#define WEIR_SLOTS_H

#include "random/draw.h"
#include "scenario/statement.h"

struct slots_conf {
	struct conf conf;
	uint64_t min_ns, max_ns;
	uint64_t packets, bytes; /* 0: no limit */
	struct limit queue;
};

extern const struct statement slots_statement;

/* The queue of a link that has no rate. */
struct limit slots_queue(const struct slots_conf *conf);

/* What the link is given. */
struct slots_rule {
	bool on;
	simtime min_ns, span_ns;
	uint64_t packets, bytes; /* UINT64_MAX: no limit */
	struct draw_key key;
};

struct slots_rule slots_rule_of(const struct slots_conf *conf, struct draw_key key);

struct slots {
	simtime opens; /* the slot that was given last */
	uint64_t packets_left, bytes_left;
	uint64_t drawn;
};

/* When the packet that is ready then, and so long, leaves; it has left those budgets. Calls come in
 * the order in which packets leave. */
simtime slots_take(struct slots *slots, const struct slots_rule *rule, simtime ready,
                   uint32_t bytes);

#endif
