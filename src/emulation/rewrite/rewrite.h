/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `rewrite [N] [match FIELD[&MASK] COMPARE VALUE ...] set|min|max|add|random FIELD VALUE ...`:
 * masks, compares and overwrites fields of Ethernet, VLAN, IPv4, IPv6, TCP, UDP and ICMP.
 *
 * Model: the packet rewriting of the IXP2400 emulator (Nakauchi and Kobayashi, table 1 and section
 * 3.1: mask, pattern matching, a 4-byte control field and an 8-byte data field, then the
 * checksums), with any number of fields, and with the operations that Quick-Start (RFC 4782) and
 * XCP need of a router. The grammar of a rule is in rewrite_rule.h, the fields are in
 * rewrite_field.h.
 *
 * A cloud has any number of rules, numbered. A packet meets them in the order of their numbers, and
 * each sees what those before it wrote. A rule acts as a whole or not at all. It acts if the packet
 * has all places that the rule names, in full, and all its comparisons hold. A place that a capture
 * cut off, or that lies behind the end of the packet, is not there. The positions of layers are
 * determined before each rule, not within one. Actions are executed from left to right.
 *
 * After each write the checksums are right again if they were before (rewrite_sums.h).
 *
 * `random` draws by packet, rule and place in the rule: lane = number of the rule << 8 | step. A
 * packet that any rule has changed by a bit counts as rewritten.
 *
 * Cost: proportional to the number of rules and, of those that match, actions. No allocation,
 * except that a packet whose mbuf has another reference is copied before it is changed.
 */
#ifndef WEIR_REWRITE_H
#define WEIR_REWRITE_H

#include "scenario/statement.h"

#define REWRITE_NUMBER_MAX 65535

struct rewrite_conf {
	struct conf conf; /* with the number of the rule */
	char *rule;
};

extern const struct statement rewrite_statement;

#endif
