/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * By how much the delays of a line's packets deviate from its configured delay.
 *
 * Four methods, chosen by the configuration of `delay` (delay.h):
 *   independent  order allow: each packet's own draw from the distribution
 *   copula       order allow, with a correlation or a half-life: jitter_copula.h
 *   keep         order keep: jitter_keep.h
 *   netem        as-netem: jitter_netem.h
 * With each of them, the delay of every packet has the configured distribution.
 *
 * Determinism: a draw is a function of the packet's ordinal on the line, or with `keyed flow` of
 * its flow and its ordinal among the packets of the flow there (lane 0: its value; lane 1,
 * order keep: how long until the next jump). With `order keep`, a correlation or a half-life, the
 * delay also depends on the instants and ordinals of the packets before, but never on bursts.
 *
 * Ownership: one jitter is made for all clouds with the same `delay`, and shared by reference
 * counting; 65,536 clouds of one template have one table.
 * Thread: control makes and releases it, in any thread; otherwise it is only read. The state
 * belongs to the line.
 */
#ifndef WEIR_JITTER_H
#define WEIR_JITTER_H

#include "line/delay.h"
#include "line/jitter_copula.h"
#include "line/jitter_keep.h"
#include "line/jitter_netem.h"
#include "match/keyed.h"
#include "packet/packet.h"
#include "random/distribution.h"
#include "random/draw.h"

enum jitter_method { JITTER_INDEPENDENT, JITTER_COPULA, JITTER_KEEP, JITTER_NETEM };

struct jitter {
	enum jitter_method method;
	bool has_copula;
	/* if not KEYED_CLOUD: independent or copula, and packets enter the line one by one */
	enum keyed keyed;
	struct jitter_copula copula;
	struct jitter_keep *keep;
	struct jitter_netem netem;
	struct distribution distribution;
	/* the rest is for control */
	struct conf *conf; /* the configuration it was made for */
	uint32_t references;
	struct jitter *next;
};

struct jitter_state {
	bool begun;   /* method keep: there was a packet, t_ns and `keep` are valid */
	bool has_z;   /* the delay of the last packet was drawn by the copula: z is valid */
	simtime t_ns; /* when the last packet entered */
	int64_t z;
	struct jitter_keep_state keep;
	struct netem_recurrence netem;
};

/* Control: makes the jitter of this `delay`; *jitter is NULL if it has none. Returns 0, -ENOMEM, or
 * -EINVAL, which delay_check would have reported. */
int jitter_make(const struct delay_conf *delay, struct jitter **jitter);
/* Control. `jitter` may be NULL. */
void jitter_release(const struct jitter *jitter);

/* Draws the deviations of n packets that enter at these instants, in order; the first has the
 * ordinal `first`. n <= BURST_ROOM. */
void jitter_draw(const struct jitter *jitter, struct jitter_state *state, struct draw_key key,
                 uint64_t first, const simtime *t_ns, uint16_t n, int64_t *deviation_ns);

/* Worker: makes `state` that of a flow, which remembers `memory`; and back. Only what `keyed`
 * allows is remembered. */
void jitter_recall(struct jitter_state *state, uint64_t memory);
uint64_t jitter_remember(const struct jitter_state *state);

/* Worker: changes from one jitter to another, either of which may be NULL; the state continues as
 * far as possible. */
void jitter_adopt(struct jitter_state *state, const struct jitter *from, const struct jitter *to);

#endif
