/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows: what two sockets say to each other, and a table of them. The client is the one that sends
 * the first packet; if a later one shows that it is the other (SYN with ACK), the sides are
 * exchanged.
 *
 * The table is bounded: FLOWS_MAX flows, with PASSAGES_MAX packets in all. The caller makes room
 * before it adds more.
 *
 * Names of packets (port and number) lead to their passages as long as packets are on their way:
 * the table remembers the last NAMES_ROOM or so, so that no name takes more than one place.
 *
 * Ownership: the table's. flow_table_remove frees a flow.
 * Thread: one at a time.
 */
#ifndef WEIR_FLOW_H
#define WEIR_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "account/reason.h"
#include "account/witness.h"
#include "explain/speech.h"
#include "simtime.h"

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

/* A cloud lets it leave: its link was free for it at `free_ns`. */
void passage_deliver(struct passage *passage, const struct fate *fate, simtime free_ns);
void passage_drop(struct passage *passage, const struct fate *fate);
/* The device of a port has taken it. */
void passage_send(struct passage *passage, const struct fate *fate);

struct way {
	struct passage *passages;
	uint64_t reach;      /* as of the last packet; 0: there was none */
	uint32_t first, end; /* numbers: first is kept, end comes next */
	uint32_t room;       /* of `passages` */
	uint32_t data;       /* number of the last packet with PASSAGE_DATA; or PASSAGE_NONE */
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
/* Forgets all, and keeps room for a few packets: the next flow in its place needs no memory. */
void way_empty(struct way *way);
void way_free(struct way *way);

#define FLOWS_MAX    100000u
#define PASSAGES_MAX 3000000u
#define NAMES_ROOM   (1u << 20) /* a power of two */
#define FLOW_ALIGN   64
/* The order in which flows were active is exact to this. */
#define FLOW_TOUCH_NS (SIMTIME_S / 4)

/* The two directions, and the two hosts: a host has the number of the way that it sends. */
enum { FLOW_UP, FLOW_DOWN, FLOW_WAYS };

struct flow_end {
	uint8_t address[16];
	uint16_t port;
	uint8_t family; /* 4 or 6 */
};

/* Returns true if both are of one host. */
bool flow_end_same_host(const struct flow_end *a, const struct flow_end *b);
/* Writes the address, INET6_ADDRSTRLEN bytes at most. */
void flow_end_text(const struct flow_end *end, char *text, size_t room);

/* All flows, in the order in which they were active; and those that both hosts have closed, or one
 * has reset, in the order in which they are to be looked at. */
enum { FLOW_ACTIVE, FLOW_CLOSING, FLOW_ORDERS };

struct verdict;

/* How far a flow is told (story.h). */
struct story {
	simtime done_ns;          /* moments up to here are told */
	simtime from_ns;          /* the time of the client up to here is explained */
	uint32_t told[FLOW_WAYS]; /* packets whose losses are told */
	uint32_t last;            /* the packet that ends the present turn, or PASSAGE_NONE */
	int last_way;
	uint32_t heard; /* of QUIC: the last one that ended the turn when the client last spoke */
	bool begun, opened, shaken, in_phase;
	bool answered; /* the present turn, or hello */
	bool left;     /* the client sends nothing more, and does not wait for anything */
	bool secret[FLOW_WAYS];
};

/* What each packet needs comes first: it is in two cache lines. */
struct flow {
	struct flow *next;               /* in its chain; or of those that are free */
	simtime latest_ns;               /* when its last packet was sent */
	struct flow_end ends[FLOW_WAYS]; /* the client, the server */
	uint8_t protocol;                /* IPPROTO_TCP or IPPROTO_UDP */
	bool closed[FLOW_WAYS];          /* its host has sent a FIN */
	bool reset;
	uint8_t scale[FLOW_WAYS]; /* of windows (segment.h) */
	bool used;                /* a lookup of names: a later flow has waited for it */
	struct way ways[FLOW_WAYS] __attribute__((aligned(FLOW_ALIGN)));
	struct flow_place {
		struct flow *newer, *older;
		simtime since_ns;
	} places[FLOW_ORDERS];
	bool closing;
	struct verdict *verdict; /* what is known already (story.h); or NULL */
	struct story story;
	struct speech speech;
};

struct flow_table;
struct segment;

/* Returns NULL if there is no memory. */
struct flow_table *flow_table_make(void);
void flow_table_free(struct flow_table *flows); /* NULL is allowed */
uint32_t flow_table_n(const struct flow_table *flows);
uint32_t flow_hash(uint8_t protocol, const struct flow_end *from, const struct flow_end *to);
/* Returns the flow to which a segment belongs, and its direction; NULL: there is none. */
struct flow *flow_table_find(const struct flow_table *flows, const struct segment *segment,
                             int *way);
/* Adds a flow whose client is `from`. Returns NULL if there is no memory, or no room. */
struct flow *flow_table_add(struct flow_table *flows, uint8_t protocol, const struct flow_end *from,
                            const struct flow_end *to);
void flow_table_remove(struct flow_table *flows, struct flow *flow);
/* Notes that the flow is active: it is the last one that was, as of FLOW_TOUCH_NS. */
void flow_table_touch(struct flow_table *flows, struct flow *flow, simtime now);
/* Puts the flow at the end of those that are closing, as of `now`. */
void flow_table_close(struct flow_table *flows, struct flow *flow, simtime now);
/* Returns the first, or the last, of an order; NULL: there is none. */
struct flow *flow_table_oldest(const struct flow_table *flows, int order);
struct flow *flow_table_newest(const struct flow_table *flows, int order);

/* Remembers the name of a packet that has just been added: its passage has it. */
void flow_table_name(struct flow_table *flows, uint64_t id, struct flow *flow, int way,
                     uint32_t number);
/* Returns the passage of this name, or NULL. */
struct passage *flow_table_named(const struct flow_table *flows, uint64_t id);

/*
 * A TCP segment or a UDP datagram, read from its frame.
 *
 * Thread: pure functions, any.
 */

#define SEGMENT_SCALE_UNKNOWN 0xff

struct segment {
	uint8_t protocol;
	struct flow_end from, to;
	uint32_t hash;  /* of these three, the same for both directions (flow_hash) */
	uint16_t marks; /* those of TCP's flags */
	uint32_t sequence, ack;
	uint16_t window;
	uint8_t scale; /* of the window, as a SYN says; SEGMENT_SCALE_UNKNOWN: it says nothing */
	bool acknowledges;
	const uint8_t *data;  /* the payload */
	uint32_t here, bytes; /* there, and in all */
};

/* Returns false if the frame is none, or only a later fragment. */
bool segment_read(const struct fate_frame *frame, uint32_t wire_bytes, struct segment *segment);
/* Returns true if the segment is of a server: by its flags, or by its ports. */
bool segment_is_answer(const struct segment *segment);
/* Returns what is known of the passage of a packet that has just come. */
struct passage segment_passage(const struct segment *segment, const struct fate *fate);
/* Keeps the scale of a SYN, and applies it to the window of a later segment. `scale`: of its way,
 * one more than what the SYN said; 0: not known. */
void segment_scale(const struct segment *segment, uint8_t *scale, uint32_t *window);

/* Fetches into the caches what flow_table_find, or flow_table_named, will read. Each step, from 0
 * on, follows what the one before it has fetched, so steps of several packets go side by side. */
#define FLOW_FETCHES 3
void flow_table_fetch(const struct flow_table *flows, int step, const struct segment *segment);
void flow_table_fetch_named(const struct flow_table *flows, int step, uint64_t id);

#endif
