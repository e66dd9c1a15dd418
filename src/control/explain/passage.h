/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A packet of a flow on its way from one host to the other, and the packets that one of the two
 * hosts has sent, in the order in which it sent them.
 *
 *   sent_ns --- waits in the queues --- entered_ns --- line --- due --- late --- arrived_ns
 *
 * The packets of a way are numbered from 0. Old ones are forgotten (way_forget); a number stays
 * that of its packet.
 *
 * Bytes are counted from the first one that the host has sent, in 64 bits; SYN and FIN count as
 * bytes, as in TCP. A datagram has the bytes of its payload.
 *
 * Ownership: way_free frees what a way has allocated.
 * Thread: one at a time.
 */
#ifndef WEIR_PASSAGE_H
#define WEIR_PASSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "account/reason.h"
#include "simtime.h"

#define PASSAGE_NONE UINT32_MAX

enum passage_fate { PASSAGE_UNDER_WAY, PASSAGE_ARRIVED, PASSAGE_LOST };

/* What the payload says of the packet, as bits (speech.h finds out). */
enum passage_mark {
	PASSAGE_DATA = 1 << 0,   /* has bytes that somebody waits for, SYN and FIN among them */
	PASSAGE_SYN = 1 << 1,    /* opens the connection */
	PASSAGE_FIN = 1 << 2,    /* its host sends no more */
	PASSAGE_RST = 1 << 3,    /* ends the connection */
	PASSAGE_HELLO = 1 << 4,  /* a ClientHello, a ServerHello, an Initial of QUIC */
	PASSAGE_SECRET = 1 << 5, /* has the first bytes behind the handshake of TLS or QUIC */
	PASSAGE_TURN = 1 << 6,   /* has bytes of a request or an answer */
	PASSAGE_NOTICE = 1 << 7, /* has bytes, but only such as nobody waits for */
};

struct passage {
	simtime sent_ns;
	simtime entered_ns; /* it left the last link: then it was on the line */
	simtime arrived_ns; /* or, if it was lost, when */
	uint64_t packet;    /* its number at the port, as in the log */
	uint64_t at;        /* its first byte */
	uint64_t reach;     /* the host has sent all bytes before this one, itself included */
	uint32_t bytes;
	uint32_t ack;
	uint32_t rate_ns; /* how long the link sent it */
	uint32_t late_ns; /* how late the device took it */
	uint32_t repeats; /* number of the packet whose bytes it sends again; or PASSAGE_NONE */
	uint32_t latest;  /* of an original: number of the packet that repeats it last */
	uint32_t before;  /* number of the last packet before it with PASSAGE_DATA */
	uint32_t window;  /* bytes that its host is ready to receive; UINT32_MAX: not known */
	uint16_t marks;
	uint8_t fate;
	uint8_t reason; /* of a loss */
	uint8_t clouds; /* that it has crossed */
	uint8_t port;   /* where it came in */
};

struct way {
	struct passage *passages;
	uint32_t first, end; /* numbers: first is kept, end comes next */
	uint64_t room;       /* of `passages` */
	uint64_t reach;      /* as of the last packet */
	uint32_t data;       /* number of the last packet with PASSAGE_DATA; or PASSAGE_NONE */
	bool begun;          /* there was a packet */
};

static inline struct passage *way_at(const struct way *way, uint32_t number)
{
	return &way->passages[number - way->first];
}

static inline uint32_t way_kept(const struct way *way)
{
	return way->end - way->first;
}

/* Adds a packet, and sets *number. `passage` has everything but at, reach, before, repeats and
 * latest; those of TCP follow from `sequence`, the number of its first byte. Returns NULL if there
 * is no memory. */
struct passage *way_add(struct way *way, const struct passage *passage, bool tcp, uint32_t sequence,
                        uint32_t *number);
/* Sets marks of the last packet, once its payload is understood. */
void way_mark(struct way *way, uint16_t marks);
/* Forgets the packets before `number`. */
void way_forget(struct way *way, uint32_t number);
void way_free(struct way *way);

#endif
