/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lookups of names: which flow of DNS has told a client an address. A connection to that address
 * that begins shortly after has waited for it: its verdict begins with the lookup. Only the first
 * connection has.
 *
 * A client that has several addresses tries one after the other. A connection of TCP that begins
 * when another one to the same port was refused, or has had no answer for a while (RFC 8305), has
 * waited for that, too.
 *
 * Bounded: the latest LOOKUPS_MAX addresses.
 *
 * Ownership: the flows are the table's.
 * Thread: one at a time.
 */
#ifndef WEIR_LOOKUP_H
#define WEIR_LOOKUP_H

#include <stdbool.h>

#include "explain/flow.h"

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

#endif
