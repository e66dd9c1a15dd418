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

#include "account/witness.h"
#include "explain/passage.h"
#include "explain/speech.h"

#define FLOWS_MAX    100000u
#define PASSAGES_MAX 3000000u
#define NAMES_ROOM   (1u << 20) /* a power of two */

/* The two directions, and the two hosts: a host has the number of the way that it sends. */
enum { FLOW_UP, FLOW_DOWN, FLOW_WAYS };

struct flow_end {
	uint8_t address[16];
	uint16_t port;
	uint8_t family; /* 4 or 6 */
};

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

struct flow {
	struct flow_end ends[FLOW_WAYS]; /* the client, the server */
	uint8_t protocol;                /* IPPROTO_TCP or IPPROTO_UDP */
	bool closed[FLOW_WAYS];          /* its host has sent a FIN */
	bool reset;
	uint8_t scale[FLOW_WAYS]; /* of windows (segment.h) */
	bool used;                /* a lookup of names: a later flow has waited for it */
	struct way ways[FLOW_WAYS];
	struct speech speech;
	struct story story;
	struct verdict *verdict;    /* what is known already (story.h); or NULL */
	simtime latest_ns;          /* when its last packet was sent */
	uint64_t number;            /* from 1, in the order of first packets */
	uint32_t place;             /* the index in the table */
	struct flow *next;          /* in its chain */
	struct flow *newer, *older; /* in the order of latest_ns */
};

/* The place of a packet. `way` is NULL: it is not known. */
struct flow_place {
	struct flow *flow;
	int way;
	uint32_t number;
};

struct flow_table;

/* Returns NULL if there is no memory. */
struct flow_table *flow_table_make(void);
void flow_table_free(struct flow_table *flows); /* NULL is allowed */
uint32_t flow_table_n(const struct flow_table *flows);
/* Returns the flow that `from` and `to` have, and the direction; NULL: they have none. */
struct flow *flow_table_find(const struct flow_table *flows, uint8_t protocol,
                             const struct flow_end *from, const struct flow_end *to, int *way);
/* Adds a flow whose client is `from`. Returns NULL if there is no memory, or no room. */
struct flow *flow_table_add(struct flow_table *flows, uint8_t protocol, const struct flow_end *from,
                            const struct flow_end *to);
void flow_table_remove(struct flow_table *flows, struct flow *flow);
/* Makes the flow the one that was active last. */
void flow_table_touch(struct flow_table *flows, struct flow *flow, simtime now);
/* Returns the one that was silent for longest; NULL: there is none. */
struct flow *flow_table_oldest(const struct flow_table *flows);
struct flow *flow_table_newer(const struct flow *flow);
/* The same from the other end. */
struct flow *flow_table_newest(const struct flow_table *flows);
struct flow *flow_table_older(const struct flow *flow);

/* Remembers the name of a packet that has just been added. */
void flow_table_name(struct flow_table *flows, uint64_t id, struct flow *flow, int way,
                     uint32_t number);
/* Returns the passage of this name, or NULL. */
struct passage *flow_table_named(const struct flow_table *flows, uint64_t id, struct flow **flow);

#endif
