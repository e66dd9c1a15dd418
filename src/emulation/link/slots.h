/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `slots min A max B [packets N] [bytes M] [queue LIMIT]`: packets leave the link in bursts, when a
 * slot opens, as on Wi-Fi, LTE or DOCSIS.
 *
 * Model: netem's slots, in virtual time. A packet is *ready* when the shaper is done with it;
 * without a rate, at once. It leaves when its slot opens, together with the others of that slot. If
 * the latest slot has opened before a packet is ready, or the budget of that slot is spent, the
 * packet begins another slot, which opens U after the packet is ready, or U after the slot before
 * if that is later; U is uniform in [A, B], to the nanosecond. The budget of a slot is N packets
 * and M bytes. It is spent when either is used up, so the last packet of a slot may exceed M.
 *
 * It follows, as in netem: on a link without a rate that always has something to send, slots are U
 * apart; an idle link waits U for the next packet, and does not catch up.
 *
 * Packets that wait for their slot are in the queue, and count. Without a `rate`, the queue is
 * `queue`; the default is 64 slots' worth of packets or bytes (1000 packets or 1.5 MB at least).
 * Without a budget, all packets that wait go with the next slot, and there is no limit.
 *
 * Ranges: A and B 0 to a day, A <= B; nothing is truncated to 32 bits. Determinism: U of the n-th
 * slot is a draw by (seed, cloud, "slots"), n.
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

/* Returns the limit of the queue of a link that has no rate. */
struct limit slots_queue(const struct slots_conf *conf);

/* The slots of a link, as it is configured. */
struct slots_rule {
	bool on;
	simtime min_ns, span_ns;
	uint64_t packets, bytes; /* UINT64_MAX: no limit */
	struct draw_key key;
};

struct slots_rule slots_rule_of(const struct slots_conf *conf, struct draw_key key);

struct slots {
	simtime opens; /* when the slot opens that was assigned last */
	uint64_t packets_left, bytes_left;
	uint64_t drawn;
};

/* Returns when a packet of `bytes` that is ready at `ready` leaves; charges the budget of its slot.
 * Calls come in the order in which packets leave. */
simtime slots_take(struct slots *slots, const struct slots_rule *rule, simtime ready,
                   uint32_t bytes);

#endif
