/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses the expression behind `match`, which is in tcpdump's words, and decides whether exact
 * fields suffice to look it up.
 *
 * Conjunctions (`and`, `&&`) of the following are exact:
 *
 *   [ip|ip6] [src|dst] [host|net] ADDRESS[/LENGTH]       tcpdump's, ARP included unless ip or ip6
 *                                                        is given
 *   [tcp|udp|sctp] [src|dst] port N
 *   ip  ip6  arp  tcp  udp  sctp  icmp  icmp6  [ip|ip6] proto N
 *                     N is not the number of an IPv6 extension header, unless `ip` is given
 *   vlan [N]          the outermost tag; given twice: the outermost and the second
 *   mpls [N]          the topmost label; only as the last condition, since in tcpdump all
 *                     conditions behind it are about what the label stack carries
 *   dscp N            0 to 63; weir's own
 *
 * They mean what they mean in tcpdump, but see through VLAN tags and IPv6 extension headers: `host
 * 10.0.0.1` also fits a tagged packet, and `udp` a datagram behind a hop-by-hop header. Every other
 * expression goes to a filter of libpcap. A tag hides from it what follows, unless the expression
 * has `vlan`, and so does an extension header.
 *
 * `host`, `net` and `port` without src or dst fit either: such an expression has several rows, and
 * a packet must fit one of them.
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
	struct packet_key value, mask; /* no bit of value is set outside mask */
};

struct match {
	uint32_t n;
	struct match_row rows[MATCH_ROWS_MAX];
};

/* Returns true and fills in `match` if the expression is exact (n is 0 if it contradicts itself and
 * fits nothing). Returns false if it has to go to a filter. */
bool match_parse(const char *text, struct match *match);
/* Returns the position of the first word of weir's own, which no filter understands, or -1. */
int match_own_word(const char *text);

bool match_row_fits(const struct match_row *row, const struct packet_key *key);
/* Makes the row that fits exactly the packets that fit both rows. Returns false if there are
 * none. */
bool match_row_both(const struct match_row *a, const struct match_row *b, struct match_row *both);

/* Parses ADDRESS[/LENGTH] as a row, on the source or else on the destination. Returns false if the
 * text is no such prefix. */
bool match_prefix(const char *text, bool source, struct match_row *row);
/* Returns the number of addresses of a prefix, at most UINT32_MAX. */
uint32_t match_prefix_size(const struct match_row *row, bool source);

#endif
