/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What follows `match`: an expression in tcpdump's words, and whether it is one that is looked up
 * by exact fields.
 *
 * Exact are conjunctions (`and`, `&&`) of
 *
 *   [ip|ip6] [src|dst] [host|net] ADDRESS[/LENGTH]       tcpdump's, ARP included unless ip or ip6
 *                                                        is said
 *   [tcp|udp|sctp] [src|dst] port N
 *   ip  ip6  arp  tcp  udp  sctp  icmp  icmp6  [ip|ip6] proto N
 *   vlan [N]          the outermost tag; said twice: the outermost and the second
 *   mpls [N]          the topmost label
 *   dscp N            0 to 63; weir's own
 *
 * They mean what they mean to tcpdump, but see through VLAN tags: `host 10.0.0.1` also fits a
 * packet with a tag. Everything else is left to a filter of libpcap, to which a tag hides what is
 * behind it unless `vlan` says otherwise.
 *
 * `host`, `net` and `port` without src or dst fit either: such an expression is several rows, of
 * which a packet must fit one.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_MATCH_H
#define WEIR_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "match/packet_key.h"

#define MATCH_ROWS_MAX 16

struct match_row {
	struct packet_key value, mask; /* value has no bit that mask does not have */
};

struct match {
	uint32_t n;
	struct match_row rows[MATCH_ROWS_MAX];
};

/* True: it is exact, and `match` is filled in (n 0: it contradicts itself, and fits nothing).
 * False: it is none, and is left to a filter. */
bool match_parse(const char *text, struct match *match);
/* Whether a filter cannot know it, because a word of weir's own stands in it: the letter at which,
 * or -1. */
int match_own_word(const char *text);

bool match_row_fits(const struct match_row *row, const struct packet_key *key);
/* The row that fits what both fit; false: there is no such packet. */
bool match_row_both(const struct match_row *a, const struct match_row *b, struct match_row *both);

/* ADDRESS[/LENGTH] as a row; `source`: else the destination. False: it is no such thing. */
bool match_prefix(const char *text, bool source, struct match_row *row);
/* How many addresses it stands for, at most UINT32_MAX. */
uint32_t match_prefix_size(const struct match_row *row, bool source);

#endif
