/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `probe CLOUD`: queries the routers of a path now, whether hosts send anything or not.
 *
 * Model: the requests that `feedback proxy insert` of the cloud would put into hops x probes
 * packets of a host, each in a packet of weir's own: IP with the proxy's protocol and TTL (64 if
 * the proxy takes any), a header whose oq_p is 59 (RFC 8200: nothing follows), and no payload. Its
 * Ethernet addresses are no host's; 60 bytes for IPv4, 70 for IPv6. All enter the cloud at one
 * instant, in the order hop 1 for each probe, hop 2, ... They are subject to the same queues,
 * delays and losses as the hosts' packets. `feedback proxy strip` takes them off the path.
 *
 * Source address: 198.18.0.1 or 2001:2::1 (for measurements: RFC 2544, RFC 5180). Destination: the
 * client's choice, as the path may depend on it; by default 198.18.0.2 or 2001:2::2. No randomness.
 * Thread: control; the worker for feedback_probe_is.
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

/* Makes the requests, as the proxy is configured. `to`: the destination, 4 bytes, or 16 if `six`;
 * NULL: the default. */
void feedback_probe_make(struct feedback_probe *probe, const struct feedback_proxy_conf *proxy,
                         bool six, const uint8_t *to);

/* Returns true if a packet is one of these: it is generated, and nothing follows its header. */
static inline bool feedback_probe_is(uint8_t flags, uint8_t next)
{
	return next == FEEDBACK_PROBE_NEXT && flags & PACKET_GENERATED;
}

#endif
