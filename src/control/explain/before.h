/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a connection has waited for before its first packet: other flows, which become the first
 * phases of its verdict.
 */
#ifndef WEIR_BEFORE_H
#define WEIR_BEFORE_H

#include <stdbool.h>

#include "explain/flow.h"
#include "explain/verdict.h"
#include "packet/headers.h"

/*
 * Lookups of names: which flow of DNS has told a client an address. A connection to that address
 * that begins shortly after has waited for it: its verdict begins with the lookup. Only the first
 * connection has.
 *
 * Bounded: the latest LOOKUPS_MAX addresses.
 *
 * Ownership: the flows are the table's.
 * Thread: one at a time.
 */

#define LOOKUPS_MAX 4096u /* a power of two */
/* A connection that begins later than this after an answer has not waited for it. */
#define LOOKUP_FRESH_NS (2 * SIMTIME_S)

struct lookups;

struct lookups *lookups_make(void);
void lookups_free(struct lookups *lookups); /* NULL is allowed */
/* Notes the answer that the last packet of a flow of DNS has. */
void lookups_note(struct lookups *lookups, struct flow *flow);
/* Gives a flow that has just begun, at now, the name of its server, and the lookups and attempts
 * for which it has waited: they become the first phases of its verdict. */
void lookups_give(struct lookups *lookups, struct flow_table *flows, struct flow *flow, simtime now,
                  bool deaf);

/*
 * Attempts: a client that has several addresses tries one after the other. A connection of TCP that
 * begins when another one to the same port was refused, or has had no answer for a while (RFC
 * 8305), has waited for that.
 *
 * Thread: one at a time.
 */

/* Gives a flow of TCP that has just begun the attempt for which it has waited, like
 * lookups_give. */
void attempts_give(struct flow_table *flows, struct flow *flow, simtime now, bool deaf);

/*
 * Neighbours: before a host sends the first packet to an address of its own network, it asks who
 * has it: by ARP (RFC 826), or by a neighbour solicitation of IPv6 (RFC 4861). The question and its
 * answer are a flow, which is told with the one that has waited for it, and never by itself. A
 * question to one host only checks what is known already, and nobody waits for it.
 *
 * Thread: one at a time.
 */

#define NEIGHBOUR_PROTOCOL 0xff /* of such a flow; its ports are 0 */

/* Reads a question or an answer. Returns false if the frame is neither. */
bool neighbour_read(const uint8_t *frame, const struct headers *headers, uint32_t bytes,
                    struct segment *segment);
/* Gives a flow that has just begun the question for which it has waited. Its verdict has what came
 * before that. */
void neighbours_give(struct flow_table *flows, struct flow *flow, simtime now, bool deaf);

#endif
