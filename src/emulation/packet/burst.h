/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A burst: packets that go through a cloud together, and what is known of each, as a value on the
 * worker's stack.
 *
 * What holds for all of them is stored once. Live, a burst is received at one instant, numbered in
 * sequence, and each packet is as long on the wire as in its mbuf: nothing is written or read for
 * each packet then. The arrays are filled in only where one of the booleans is false.
 *
 * A packet that ends in a burst leaves a *gap*: a slot without an mbuf. The others keep their
 * places until burst_close().
 *
 * Where the headers of a packet are is read once, by the first who asks, and kept in the burst.
 *
 * Thread: the worker that owns the packets.
 */
#ifndef WEIR_BURST_H
#define WEIR_BURST_H

#include <string.h>

#include "packet/headers.h"
#include "packet/packet.h"

/* What is known of the headers of a packet, beside 0: nothing. */
enum headers_known {
	HEADERS_KNOWN = 1,
	/* And that it is a usual packet: IPv4 without tags and options, not a later fragment, with
	 * a transport, in an mbuf that nobody else sees (copy.h). Its headers lie where those of
	 * all such packets do. */
	HEADERS_USUAL,
};

struct burst {
	uint16_t n;
	uint16_t port;    /* ingress port, index in the scenario */
	bool at_once;     /* all came at `t`; else at `t_ns`, in order */
	bool in_sequence; /* packet i has the number first + i; else number[i] */
	bool whole; /* each is as long on the wire as in its mbuf, without flags, of age 0; else the
	             * arrays say */
	bool gaps;  /* there are slots without an mbuf */
	simtime t;
	uint64_t first;
	uint64_t bytes; /* on the wire, together */
	struct rte_mbuf *mbuf[BURST_ROOM];
	simtime t_ns[BURST_ROOM];
	uint64_t number[BURST_ROOM];
	uint32_t wire_bytes[BURST_ROOM];
	uint32_t age_ns[BURST_ROOM];
	uint8_t flags[BURST_ROOM];
	uint8_t headers_known[BURST_ROOM];
	struct headers headers[BURST_ROOM]; /* as far as they are known */
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

/* Its frame, as far as it lies in the first segment. */
static inline uint8_t *burst_frame(const struct burst *burst, uint32_t i)
{
	return rte_pktmbuf_mtod(burst->mbuf[i], uint8_t *);
}

/* ---- making ---- */

/* n packets that were received into `mbuf` at one instant; `first` is the number of the first. */
static inline void burst_received(struct burst *burst, uint16_t n, uint32_t port, simtime t,
                                  uint64_t first)
{
	uint64_t bytes = 0;

	burst->n = n;
	burst->port = (uint16_t)port;
	burst->at_once = burst->in_sequence = burst->whole = true;
	burst->gaps = false;
	burst->t = t;
	burst->first = first;
	memset(burst->headers_known, 0, sizeof(burst->headers_known));
	for (uint16_t i = 0; i < n; i++)
		bytes += burst->mbuf[i]->pkt_len;
	burst->bytes = bytes;
}

/* Each gets its own length, flags and age, whatever held for all. */
void burst_spell(struct burst *burst);

/* No packets yet, which come by burst_put: to this port, and `first` is the number of the first. */
static inline void burst_open(struct burst *burst, uint32_t port, uint64_t first)
{
	burst->n = 0;
	burst->port = (uint16_t)port;
	burst->at_once = burst->in_sequence = burst->whole = true;
	burst->gaps = false;
	burst->first = first;
	burst->bytes = 0;
	memset(burst->headers_known, 0, sizeof(burst->headers_known));
}

/* One more packet, which came at `t`, not before the others. */
static inline void burst_put(struct burst *burst, struct rte_mbuf *mbuf, simtime t,
                             uint32_t wire_bytes)
{
	const uint32_t i = burst->n++;

	if (i == 0)
		burst->t = t;
	burst->at_once &= t == burst->t;
	burst->bytes += wire_bytes;
	burst->mbuf[i] = mbuf;
	burst->t_ns[i] = t;
	if (unlikely(!burst->whole || wire_bytes != mbuf->pkt_len)) {
		burst_spell(burst);
		burst->wire_bytes[i] = wire_bytes;
		burst->age_ns[i] = 0;
		burst->flags[i] = 0;
	}
}

/* Of packets that crossed from another worker: their struct packet is filled in, t_ns in order;
 * n > 0. */
void burst_read(struct burst *burst, struct rte_mbuf *const *mbufs, uint16_t n);
/* One packet. */
void burst_one(struct burst *burst, struct rte_mbuf *mbuf, uint32_t port, simtime t,
               uint64_t number, uint32_t wire_bytes, uint8_t flags);

/* No packets yet, which come by burst_add. */
static inline void burst_begin(struct burst *burst, const struct burst *of)
{
	burst->n = 0;
	burst->port = of->port;
	burst->at_once = of->at_once;
	burst->in_sequence = false;
	burst->whole = of->whole;
	burst->gaps = false;
	burst->t = of->t;
	burst->bytes = 0;
}

/* What is known of packet `from` of a burst becomes what is known of packet `to` of this one, which
 * has its booleans from that, or is that. Not the number, if `of` is in sequence. */
static inline void burst_move(struct burst *burst, uint32_t to, const struct burst *of,
                              uint32_t from)
{
	burst->mbuf[to] = of->mbuf[from];
	if (!of->at_once)
		burst->t_ns[to] = of->t_ns[from];
	if (!of->whole) {
		burst->wire_bytes[to] = of->wire_bytes[from];
		burst->age_ns[to] = of->age_ns[from];
		burst->flags[to] = of->flags[from];
	}
	burst->headers_known[to] = of->headers_known[from];
	if (of->headers_known[from])
		burst->headers[to] = of->headers[from];
}

/* Packet i of the burst that this one was begun with. */
static inline void burst_add(struct burst *burst, const struct burst *of, uint32_t i)
{
	uint32_t to = burst->n++;

	burst_move(burst, to, of, i);
	burst->number[to] = burst_number(of, i);
	burst->bytes += burst_wire_bytes(of, i);
}

/* n packets of another burst, from `from` on. */
void burst_slice(struct burst *burst, const struct burst *of, uint16_t from, uint16_t n);

/* ---- changing ---- */

static inline void burst_flag(struct burst *burst, uint32_t i, uint8_t flag)
{
	if (burst->whole)
		burst_spell(burst);
	burst->flags[i] |= flag;
}

/* What is known of how long before its instant the device received each. */
void burst_set_ages(struct burst *burst, const uint32_t *age_ns);

/* Packet i is longer by so many bytes, in its mbuf already. */
static inline void burst_grow(struct burst *burst, uint32_t i, int32_t bytes)
{
	burst->bytes += (uint64_t)(int64_t)bytes;
	if (!burst->whole)
		burst->wire_bytes[i] += (uint32_t)bytes;
}

/* Packet i leaves the burst; there is a gap in its place. Returns its mbuf. */
static inline struct rte_mbuf *burst_take(struct burst *burst, uint32_t i)
{
	struct rte_mbuf *mbuf = burst->mbuf[i];

	burst->bytes -= burst_wire_bytes(burst, i);
	burst->mbuf[i] = NULL;
	burst->gaps = true;
	return mbuf;
}

/* Without gaps from now on. Returns how many there were ahead of slot `at`. */
uint16_t burst_close(struct burst *burst, uint16_t at);
/* Packet i is another frame from now on, so long on the wire; its mbuf is freed. */
void burst_exchange(struct burst *burst, uint16_t i, struct rte_mbuf *mbuf, uint32_t wire_bytes);
/* Another packet behind packet i, in this mbuf, so long on the wire, and else as that one. The
 * others make room for it: n < BURST_ROOM. */
void burst_insert(struct burst *burst, uint16_t i, struct rte_mbuf *mbuf, uint32_t wire_bytes);

/* Packet i in mbufs that nobody else sees (copy.h): its own, or a copy in the place of it. NULL:
 * the pool is empty, and the packet is as it was. */
struct rte_mbuf *burst_unshare(struct burst *burst, uint32_t i, struct rte_mempool *pool);

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

/* ---- headers ---- */

/* Reads those of packet i, and keeps them. */
const struct headers *burst_headers_read(struct burst *burst, uint32_t i);
/* The same of all packets whose headers are not known yet. */
void burst_headers_read_all(struct burst *burst);
/* Ends the process if what is kept is not what the frame says. */
void burst_headers_check(const struct burst *burst, uint32_t i);

/* Those of packet i, as long as it has this mbuf and nobody writes to it; `ip` 0: there is no IP
 * header. */
static inline const struct headers *burst_headers(struct burst *burst, uint32_t i)
{
	if (unlikely(!burst->headers_known[i]))
		return burst_headers_read(burst, i);
#ifdef __SANITIZE_ADDRESS__
	burst_headers_check(burst, i);
#endif
	return &burst->headers[i];
}

/* Whether it is a usual one; false: it is not, or not for certain. */
static inline bool burst_usual(struct burst *burst, uint32_t i)
{
	if (unlikely(!burst->headers_known[i]))
		burst_headers_read(burst, i);
#ifdef __SANITIZE_ADDRESS__
	burst_headers_check(burst, i);
#endif
	return likely(burst->headers_known[i] == HEADERS_USUAL);
}

/* Whether all are. */
bool burst_all_usual(struct burst *burst);

/* Code that writes to a packet what its headers say - types, tags, lengths, protocols - or moves
 * where its frame begins, calls this. */
static inline void burst_headers_forget(struct burst *burst, uint32_t i)
{
	burst->headers_known[i] = 0;
}

#endif
