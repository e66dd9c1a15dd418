/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `ecn on|off [standard 3168|2481]`: whether a queue marks packets instead of dropping them, and
 * the marking itself.
 *
 * Model: two bits of the IPv4 TOS octet or the IPv6 traffic class.
 *   standard 3168  RFC 3168: 00 not capable, 10 ECT(0), 01 ECT(1), 11 CE. Every codepoint but 00 is
 *                  capable; a mark sets both bits
 *   standard 2481  RFC 2481: ECT is 0x02, CE is 0x01. A packet with ECT is capable; 01 is not
 * In IPv4 the header checksum is corrected incrementally (RFC 1624), so a wrong one stays wrong;
 * IPv6 has none. Up to 8 VLAN tags may precede the IP header (headers.h). A packet that is not IP,
 * or whose IP header a capture has cut, is not capable. Fragments are marked like other packets.
 *
 * Where capable packets are marked, other packets are dropped, with the reason of the AQM that
 * chose them. Without an AQM, `ecn` does nothing.
 */
#ifndef WEIR_ECN_H
#define WEIR_ECN_H

#include "link/aqm.h"
#include "scenario/statement.h"

enum ecn_standard { ECN_3168, ECN_2481 };

struct ecn_conf {
	struct conf conf;
	bool on;
	uint32_t standard; /* enum ecn_standard */
};

extern const struct statement ecn_statement;

extern const struct aqm_marker ecn_marker_3168;

/* Returns the marker for an AQM with this configuration, as `ecn` beside it says; NULL if that is
 * off. Without `ecn`, returns `initial`, which may be NULL. */
const struct aqm_marker *ecn_marker(const struct conf *conf, const struct cloud_conf *cloud,
                                    const struct aqm_marker *initial);

#endif
