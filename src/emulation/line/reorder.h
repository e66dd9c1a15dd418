/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `reorder`: deliberately changes the order of packets. It acts where packets enter the line, after
 * the line has computed when each is due: its effect is added to that of `delay` and its `order`.
 *
 *   every N           each N-th packet changes places with the one after it: it is held back
 *                     until that one has entered the line, and leaves right behind it. The
 *                     packet after it is not chosen itself. Source: the IXP2400 emulator
 *                     (table 1)
 *   random P by Npkt  with probability P a packet is held back until N others have entered, and
 *                     leaves right behind the last of them
 *   random P by TIME  with probability P a packet takes so much longer; packets that follow it
 *                     within that time overtake it
 *   P [CORRELATION] [gap N] [as-netem]
 *                     netem's: after N - 1 packets that are delayed, each packet is sent at
 *                     once, without the delay, with probability P; after one that was, the
 *                     count starts again. It needs a delay. The correlation is that of two
 *                     successive choices (chance.h)
 *
 * If the packets that a packet waits for have not come when its own due time and `wait` have
 * passed, as at the end of a capture, it leaves then, behind those that have come. The default wait
 * is 100 ms: half of the minimum retransmission timeout of TCP in Linux, so that TCP does not take
 * the packet for lost, and longer than gaps in a flow that is worth reordering. When `reorder` is
 * removed, packets that are held back leave at once. On a line that keeps order, packets that are
 * held back leave in the order in which they came.
 *
 * Packets that leave before one that came before them are counted as reordered. Random draws: one a
 * packet (draw.h), with a key of its own; `keyed flow`: with the key of its flow, too, and the
 * packet's number among those of the flow that have entered (flows.h).
 *
 * Ranges: N to 2^31 - 1 for `every`, to 65536 for `by`; times to a day.
 */
#ifndef WEIR_REORDER_H
#define WEIR_REORDER_H

#include <stdbool.h>

#include "account/tally.h"
#include "match/keyed.h"
#include "random/chance.h"
#include "random/draw.h"
#include "scenario/statement.h"

#define REORDER_EVERY_MAX   ((UINT64_C(1) << 31) - 1)
#define REORDER_PACKETS_MAX 65536
#define REORDER_WAIT_NS     (100 * SIMTIME_MS)

struct reorder_every_conf {
	struct conf conf;
	uint64_t every;
	uint64_t wait_ns;
};

struct reorder_random_conf {
	struct conf conf;
	probability_q63 probability;
	struct limit by; /* LIMIT_PACKETS or LIMIT_TIME */
	uint64_t wait_ns;
	uint32_t keyed; /* enum keyed (keyed.h) */
};

struct reorder_early_conf {
	struct conf conf;
	probability_q63 probability;
	probability_q63 correlation;
	uint64_t gap;
	bool as_netem;
	uint32_t keyed;
};

extern const struct statement reorder_every_statement;
extern const struct statement reorder_random_statement;
extern const struct statement reorder_early_statement; /* netem's; it has no variant */

enum reorder_kind {
	REORDER_NONE,
	REORDER_NEVER, /* no rule, but packets enter one by one: their delays are drawn by flow */
	REORDER_EVERY,
	REORDER_PACKETS,
	REORDER_TIME,
	REORDER_EARLY,
};

/* The rule of a line, prepared by control. */
struct reorder_rule {
	enum reorder_kind kind;
	uint64_t number;  /* EVERY: N; EARLY: the gap */
	uint64_t packets; /* EVERY, PACKETS: how many overtake */
	uint64_t time_ns; /* TIME: how much longer it takes; EVERY, PACKETS: the wait */
	probability_q63 probability, correlation;
	bool as_netem;
	enum keyed keyed; /* if not KEYED_CLOUD: reorder_choose_of_flow */
	struct draw_key key;
	const struct statement *statement; /* the source of the rule, and of its key; or NULL */
	/* Counts the packets that the rule chooses; the cloud holds it (tallies.h). NULL: none. */
	struct tally *tally;
};

/* Control: returns the rule of `conf`, which is one of the three statements, or NULL for no
 * rule. */
struct reorder_rule reorder_rule_of(const struct conf *conf, struct draw_key key);

bool reorder_rule_same(const struct reorder_rule *a, const struct reorder_rule *b);

/* Returns true if packets may leave in another order than they were pushed: the line needs a
 * wheel. */
static inline bool reorder_overtakes(const struct reorder_rule *rule)
{
	return rule->kind == REORDER_TIME || rule->kind == REORDER_EARLY;
}

static inline bool reorder_holds_back(const struct reorder_rule *rule)
{
	return rule->kind == REORDER_EVERY || rule->kind == REORDER_PACKETS;
}

/* The progress of a rule. One writer, the worker. */
struct reorder_choice {
	uint64_t drawn; /* packets decided on: the index of the next draw */
	uint64_t since; /* EVERY, EARLY: packets since the last chosen one */
	struct chance chance;
};

/* Begins with a rule; if it is the same as before, counts continue. */
void reorder_begin(struct reorder_choice *choice, const struct reorder_rule *rule, bool same);
/* Returns true if the next packet is chosen. `waiting`: another one is held back. */
bool reorder_choose(const struct reorder_rule *rule, struct reorder_choice *choice, bool waiting);
/* The same for a rule that is keyed, and a packet of this flow. */
bool reorder_choose_of_flow(const struct reorder_rule *rule, struct reorder_choice *choice,
                            const struct burst_flow *flow);

#endif
