/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A burst: packets that go through a cloud together, and what is known of each, as a value on the
 * worker's stack.
 *
 * What holds for all of them is stored once. Live, a burst is received at one instant, numbered in
 * sequence, and each packet is as long on the wire as in its mbuf: nothing is written or read for
 * each packet then. The arrays behind `mbuf` are filled in only where one of the booleans is false.
 *
 * Most stages read struct packet, in the mbufs (stage.h: frames_only). A cloud with such a stage
 * has its bursts written there before its stages (burst_write), and looks behind them whether that
 * still says the same (burst_read_again).
 *
 * Thread: the worker that owns the packets.
 */
#ifndef WEIR_BURST_H
#define WEIR_BURST_H

#include <string.h>

#include "packet/packet.h"

struct burst {
	uint16_t n;
	uint16_t port;    /* ingress port, index in the scenario */
	bool at_once;     /* all came at `t`; else at `t_ns`, in order */
	bool in_sequence; /* packet i has the number first + i; else number[i] */
	bool whole; /* each is as long on the wire as in its mbuf, without flags, of age 0; else the
	             * arrays say */
	bool written; /* the struct packet of each is filled in, and says the same */
	simtime t;
	uint64_t first;
	uint64_t bytes; /* on the wire, together */
	struct rte_mbuf *mbuf[BURST_ROOM];
	simtime t_ns[BURST_ROOM];
	uint64_t number[BURST_ROOM];
	uint32_t wire_bytes[BURST_ROOM];
	uint32_t age_ns[BURST_ROOM];
	uint8_t flags[BURST_ROOM];
};

/* ---- of packet i ---- */

static __rte_always_inline simtime burst_t(const struct burst *burst, uint32_t i)
{
	return burst->at_once ? burst->t : burst->t_ns[i];
}

static __rte_always_inline uint64_t burst_number(const struct burst *burst, uint32_t i)
{
	return burst->in_sequence ? burst->first + i : burst->number[i];
}

static __rte_always_inline uint32_t burst_wire_bytes(const struct burst *burst, uint32_t i)
{
	return burst->whole ? burst->mbuf[i]->pkt_len : burst->wire_bytes[i];
}

static __rte_always_inline uint8_t burst_flags(const struct burst *burst, uint32_t i)
{
	return burst->whole ? 0 : burst->flags[i];
}

static __rte_always_inline uint32_t burst_age_ns(const struct burst *burst, uint32_t i)
{
	return burst->whole ? 0 : burst->age_ns[i];
}

/* ---- making ---- */

/* What was received at one instant; `first` is the number of the first packet. n <= BURST_ROOM. */
static inline void burst_receive(struct burst *burst, struct rte_mbuf *const *mbufs, uint16_t n,
                                 uint32_t port, simtime t, uint64_t first)
{
	uint64_t bytes = 0;

	burst->n = n;
	burst->port = (uint16_t)port;
	burst->at_once = burst->in_sequence = burst->whole = true;
	burst->written = false;
	burst->t = t;
	burst->first = first;
	for (uint16_t i = 0; i < n; i++) {
		burst->mbuf[i] = mbufs[i];
		bytes += mbufs[i]->pkt_len;
	}
	burst->bytes = bytes;
}

/* Of packets whose struct packet is filled in, t_ns in order; n > 0. */
void burst_read(struct burst *burst, struct rte_mbuf *const *mbufs, uint16_t n);
/* Stages that read and write struct packet have left n packets in `mbuf`, and had `before`. */
void burst_read_again(struct burst *burst, struct rte_mbuf *const *before, uint16_t n);
/* Fills in the struct packet of each, if that has not been done. */
void burst_write(struct burst *burst);
/* n packets of another burst, from `from` on. */
void burst_slice(struct burst *burst, const struct burst *of, uint16_t from, uint16_t n);
/* A stage that does not look at struct packet has kept n of the packets that the burst had,
 * `before`, in their order, and has written which to `mbuf`. */
void burst_keep(struct burst *burst, struct rte_mbuf *const *before, uint16_t n);

/* No packets yet, which come by burst_add. */
static inline void burst_begin(struct burst *burst, const struct burst *of)
{
	burst->n = 0;
	burst->port = of->port;
	burst->at_once = of->at_once;
	burst->in_sequence = false;
	burst->whole = of->whole;
	burst->written = of->written;
	burst->t = of->t;
	burst->bytes = 0;
}

/* From packet `from` on, each gets its own length, flags and age, whatever held for all. */
void burst_spell(struct burst *burst, uint32_t from);

static inline void burst_flag(struct burst *burst, uint32_t i, uint8_t flag)
{
	if (burst->whole)
		burst_spell(burst, i);
	burst->flags[i] |= flag;
}

/* Packet i of the burst that this one was begun with, perhaps flagged since. */
static inline void burst_add(struct burst *burst, const struct burst *of, uint32_t i)
{
	uint32_t to;

	if (unlikely(burst->whole != of->whole))
		burst_spell(burst, 0);
	to = burst->n++;

	burst->mbuf[to] = of->mbuf[i];
	burst->bytes += burst_wire_bytes(of, i);
	burst->number[to] = burst_number(of, i);
	if (!of->at_once)
		burst->t_ns[to] = of->t_ns[i];
	if (!of->whole) {
		burst->wire_bytes[to] = of->wire_bytes[i];
		burst->age_ns[to] = of->age_ns[i];
		burst->flags[to] = of->flags[i];
	}
}

/* ---- of all ---- */

/* When each came, as an array. */
const simtime *burst_times(struct burst *burst);
/* The low halves of the numbers of n packets, from `from` on. */
static inline void burst_numbers(const struct burst *burst, uint32_t from, uint32_t n,
                                 uint32_t *numbers)
{
	const uint32_t first = (uint32_t)burst->first + from;

	if (likely(burst->in_sequence)) {
		for (uint32_t i = 0; i < n; i++)
			numbers[i] = first + i;
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		numbers[i] = (uint32_t)burst->number[from + i];
}

#endif
