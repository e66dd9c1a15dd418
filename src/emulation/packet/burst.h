/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A burst: packets that go through a cloud together, and what is known of each, as a value on the
 * worker's stack.
 *
 * A value that is common to all packets is stored once. Live, a burst is received at one instant
 * and numbered in sequence, and each packet is as long on the wire as in its mbuf: then nothing is
 * written or read per packet. An array is filled in only if its boolean is false.
 *
 * A packet that ends in a burst leaves a *gap*: a slot without an mbuf. The other packets keep
 * their places until burst_close().
 *
 * The positions of a packet's headers are read once, when they are first needed, and kept in the
 * burst.
 *
 * Thread: the worker that owns the packets.
 */
#ifndef WEIR_BURST_H
#define WEIR_BURST_H

#include <string.h>

#include "packet/headers.h"
#include "packet/packet.h"

/* What is known of the headers of a packet; 0: nothing. */
enum headers_known {
	HEADERS_KNOWN = 1,
	/* The headers are known, and the packet is a usual one: IPv4 without tags and options, not
	 * a later fragment, with a transport, in an mbuf that is not shared (copy.h). Its headers
	 * have the same offsets as those of all such packets. */
	HEADERS_USUAL,
};

/* A packet as one of its flow, in a cloud that counts flows (match/flows.h). */
struct burst_flow {
	uint64_t name[2]; /* of the flow: hashes (flows.h) */
	uint64_t number;  /* of the packet in the flow, from 0 */
	uint64_t *memory; /* what statements remember of the flow */
	uint64_t part;    /* 0; of packets that a stage has put behind it, from 1 */
};

struct burst {
	uint16_t n;
	uint16_t port;    /* ingress port, index in the scenario */
	bool at_once;     /* all arrived at `t`; else at `t_ns`, in order */
	bool in_sequence; /* packet i has the number first + i; else number[i] */
	bool whole;   /* each has the length of its mbuf on the wire, no flags, and age 0; else the
	             * arrays have the values */
	bool gaps;    /* there are slots without an mbuf */
	bool by_flow; /* `flow` has the flows of the packets */
	simtime t;
	uint64_t first;
	uint64_t bytes; /* on the wire, in total */
	struct rte_mbuf *mbuf[BURST_ROOM];
	simtime t_ns[BURST_ROOM];
	uint64_t number[BURST_ROOM];
	uint32_t wire_bytes[BURST_ROOM];
	uint32_t age_ns[BURST_ROOM];
	uint8_t flags[BURST_ROOM];
	uint8_t headers_known[BURST_ROOM];
	struct headers headers[BURST_ROOM]; /* valid if known */
	struct burst_flow flow[BURST_ROOM]; /* valid if by_flow */
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

/* Returns its frame, of which the first segment can be read. */
static inline uint8_t *burst_frame(const struct burst *burst, uint32_t i)
{
	return rte_pktmbuf_mtod(burst->mbuf[i], uint8_t *);
}

/* ---- making ---- */

/* Makes a burst of n packets that were received into `mbuf` at one instant; `first` is the number
 * of the first. */
static inline void burst_received(struct burst *burst, uint16_t n, uint32_t port, simtime t,
                                  uint64_t first)
{
	uint64_t bytes = 0;

	burst->n = n;
	burst->port = (uint16_t)port;
	burst->at_once = burst->in_sequence = burst->whole = true;
	burst->gaps = burst->by_flow = false;
	burst->t = t;
	burst->first = first;
	memset(burst->headers_known, 0, sizeof(burst->headers_known));
	for (uint16_t i = 0; i < n; i++)
		bytes += burst->mbuf[i]->pkt_len;
	burst->bytes = bytes;
}

/* If `whole` is set, stores length, flags and age of each packet in the arrays, and clears
 * `whole`. */
void burst_spell(struct burst *burst);

/* Begins a burst that burst_put will fill. It comes in at this port; `first` is the number of its
 * first packet. */
static inline void burst_open(struct burst *burst, uint32_t port, uint64_t first)
{
	burst->n = 0;
	burst->port = (uint16_t)port;
	burst->at_once = burst->in_sequence = burst->whole = true;
	burst->gaps = burst->by_flow = false;
	burst->first = first;
	burst->bytes = 0;
	memset(burst->headers_known, 0, sizeof(burst->headers_known));
}

/* Adds a packet that arrived at `t`, not before the others. */
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

/* Makes a burst of packets that crossed from another worker: their struct packet is filled in, t_ns
 * is in order; n > 0. */
void burst_read(struct burst *burst, struct rte_mbuf *const *mbufs, uint16_t n);
/* Makes a burst of one packet. */
void burst_one(struct burst *burst, struct rte_mbuf *mbuf, uint32_t port, simtime t,
               uint64_t number, uint32_t wire_bytes, uint8_t flags);

/* Makes a burst of n packets of another one, beginning with `from`. */
void burst_slice(struct burst *burst, const struct burst *of, uint16_t from, uint16_t n);
/* Makes a burst of those packets of another one whose bits are set. */
void burst_pick(struct burst *burst, const struct burst *of, uint32_t which);

/* ---- changing ---- */

static inline void burst_flag(struct burst *burst, uint32_t i, uint8_t flag)
{
	if (burst->whole)
		burst_spell(burst);
	burst->flags[i] |= flag;
}

/* Stores how long before its instant the device received each packet. */
void burst_set_ages(struct burst *burst, const uint32_t *age_ns);

/* Adjusts the lengths after packet i has grown by so many bytes in its mbuf. */
static inline void burst_grow(struct burst *burst, uint32_t i, int32_t bytes)
{
	burst->bytes += (uint64_t)(int64_t)bytes;
	if (!burst->whole)
		burst->wire_bytes[i] += (uint32_t)bytes;
}

/* Removes packet i from the burst, leaving a gap. Returns its mbuf. */
static inline struct rte_mbuf *burst_take(struct burst *burst, uint32_t i)
{
	struct rte_mbuf *mbuf = burst->mbuf[i];

	burst->bytes -= burst_wire_bytes(burst, i);
	burst->mbuf[i] = NULL;
	burst->gaps = true;
	return mbuf;
}

/* Closes the gaps. Returns how many there were ahead of slot `at`. */
uint16_t burst_close(struct burst *burst, uint16_t at);
/* Replaces packet i by another frame of this length on the wire; frees the old mbuf. */
void burst_exchange(struct burst *burst, uint16_t i, struct rte_mbuf *mbuf, uint32_t wire_bytes);
/* Inserts a packet behind packet i, in this mbuf and of this length on the wire; everything else is
 * copied from packet i. n < BURST_ROOM. */
void burst_insert(struct burst *burst, uint16_t i, struct rte_mbuf *mbuf, uint32_t wire_bytes);

/* Puts packet i into mbufs that are not shared (copy.h): its own, or those of a copy that replaces
 * it. Returns NULL if the pool is empty; the packet is unchanged. */
struct rte_mbuf *burst_unshare(struct burst *burst, uint32_t i, struct rte_mempool *pool);

/* ---- of all packets ---- */

/* Returns the instants of arrival as an array. */
const simtime *burst_times(struct burst *burst);
/* Stores the low halves of the numbers of n packets, beginning with `from`. */
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

/* Reads the headers of packet i, and keeps them. */
const struct headers *burst_headers_read(struct burst *burst, uint32_t i);
/* Does the same for all packets whose headers are not known yet. */
void burst_headers_read_all(struct burst *burst);
/* Aborts the process if the headers that are kept differ from those of the frame. */
void burst_headers_check(const struct burst *burst, uint32_t i);

/* Returns the headers of packet i, valid as long as it keeps this mbuf and nothing writes to it.
 * `ip` is 0 if there is no IP header. */
static inline const struct headers *burst_headers(struct burst *burst, uint32_t i)
{
	if (unlikely(!burst->headers_known[i]))
		return burst_headers_read(burst, i);
#ifdef __SANITIZE_ADDRESS__
	burst_headers_check(burst, i);
#endif
	return &burst->headers[i];
}

/* Returns true if packet i is a usual one; false if it is not, or not with certainty. */
static inline bool burst_usual(struct burst *burst, uint32_t i)
{
	if (unlikely(!burst->headers_known[i]))
		burst_headers_read(burst, i);
#ifdef __SANITIZE_ADDRESS__
	burst_headers_check(burst, i);
#endif
	return likely(burst->headers_known[i] == HEADERS_USUAL);
}

/* Returns true if all packets are usual ones. */
bool burst_all_usual(struct burst *burst);

/* Invalidates the headers of packet i that are kept. Must be called by code that changes what the
 * headers of a packet say - types, tags, lengths, protocols - or where its frame begins. */
static inline void burst_headers_forget(struct burst *burst, uint32_t i)
{
	burst->headers_known[i] = 0;
}

#endif
