/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * By how much the delays of a line's packets differ from the delay it was given.
 *
 * Three methods, by what `delay` says (delay.h):
 *   independent  order allow: each packet's own draw from the distribution
 *   copula       order allow, with a correlation or a half-life: jitter_copula.h
 *   keep         order keep: jitter_keep.h
 *   netem        as-netem: jitter_netem.h
 * All of them have the distribution asked for, packet by packet.
 *
 * Determinism: a draw is of the packet's ordinal on the line (lane 0: its value; lane 1, order
 * keep: how long until the next jump). With a memory the delay depends on the instants and ordinals
 * of the packets before too, never on bursts.
 *
 * Ownership: a jitter is made once for all clouds whose `delay` is the same, and shared by counted
 * references; 65,536 clouds of one template have one table. Thread: made and released by control,
 * in any thread; read only otherwise. The state belongs to the line.
 */
#ifndef WEIR_JITTER_H
#define WEIR_JITTER_H

#include "line/delay.h"
#include "line/jitter_copula.h"
#include "line/jitter_keep.h"
#include "line/jitter_netem.h"
#include "packet/packet.h"
#include "random/distribution.h"
#include "random/draw.h"

enum jitter_method { JITTER_INDEPENDENT, JITTER_COPULA, JITTER_KEEP, JITTER_NETEM };

struct jitter {
	enum jitter_method method;
	bool has_copula;
	struct jitter_copula copula;
	struct jitter_keep *keep;
	struct jitter_netem netem;
	struct distribution distribution;
	/* the rest is control's */
	struct conf *conf; /* what it was made for */
	uint32_t references;
	struct jitter *next;
};

struct jitter_state {
	bool begun;   /* a packet has come: what follows is valid */
	bool has_z;   /* the last packet's delay was drawn by the copula */
	simtime t_ns; /* when that was */
	int64_t z;
	struct jitter_keep_state keep;
	struct netem_recurrence netem;
};

/* What `delay` asks for; *jitter is NULL if that is no jitter. 0, -ENOMEM, or -EINVAL, which
 * delay_check would have found. Control. */
int jitter_make(const struct delay_conf *delay, struct jitter **jitter);
/* Control. NULL is nothing. */
void jitter_release(const struct jitter *jitter);

/* The deviations of n packets, the first of which has the ordinal `first`, that enter at these
 * instants, in order. n <= BURST_ROOM. */
void jitter_draw(const struct jitter *jitter, struct jitter_state *state, struct draw_key key,
                 uint64_t first, const simtime *t_ns, uint16_t n, int64_t *deviation_ns);

/* From one jitter to the next, either of them perhaps NULL: goes on where it was. Worker. */
void jitter_adopt(struct jitter_state *state, const struct jitter *from, const struct jitter *to);

#endif
