/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `probe CLOUD`: asks the routers of a path now, whether hosts send anything or not.
 *
 * Model: the requests that `feedback proxy insert` of the cloud would put into hops x probes
 * packets of a host, each in a packet of weir's own: IP with the proxy's protocol and TTL (64 if
 * the proxy takes any), a header whose oq_p is 59 (RFC 8200: nothing follows), and no payload. Its
 * Ethernet addresses are no host's; 60 bytes for IPv4, 70 for IPv6. All enter the cloud at one
 * instant, in the order hop 1 for each probe, hop 2, ... They meet what the hosts' packets meet:
 * queues, delays, losses. `feedback proxy strip` takes them off the path.
 *
 * Source of the address: 198.18.0.1 or 2001:2::1 (for measurements: RFC 2544, RFC 5180).
 * Destination: the client's choice, as the path may depend on it; else 198.18.0.2 or 2001:2::2. No
 * randomness. Thread: control; feedback_probe_is the worker's.
 */
#ifndef WEIR_FEEDBACK_PROBE_H
#define WEIR_FEEDBACK_PROBE_H

#include "header/feedback_proxy.h"
#include "packet/packet.h"

#define FEEDBACK_PROBES_MAX  (PROXY_HOPS_MAX * OBSERVED_PROBES)
#define FEEDBACK_PROBE_BYTES 70
#define FEEDBACK_PROBE_NEXT  59 /* nothing follows: RFC 8200, section 4.7 */

struct feedback_probe {
	uint32_t n, frame_bytes;
	uint8_t frames[FEEDBACK_PROBES_MAX * FEEDBACK_PROBE_BYTES];
};

/* The requests, as the proxy is configured. `to`: an address of 4 bytes, or of 16 if `six`; NULL:
 * the usual one. */
void feedback_probe_make(struct feedback_probe *probe, const struct feedback_proxy_conf *proxy,
                         bool six, const uint8_t *to);

/* Whether a packet with these flags, whose header says that `next` follows, is one of these. */
static inline bool feedback_probe_is(uint8_t flags, uint8_t next)
{
	return next == FEEDBACK_PROBE_NEXT && flags & PACKET_GENERATED;
}

#endif
