/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `codel [target T] [interval T] [ce-threshold T] [mtu SIZE]`: CoDel (codel.h, RFC 8289) as the
 * management of a queue.
 *
 * Decides when the link takes a packet (aqm.h says when that is). With `ecn on`, a selected packet
 * that is capable is marked, and passes; the others are dropped, with the reason `codel`.
 *   target        sojourn time above which the queue is too long: 5 ms; 1 us to 1 s
 *   interval      for how long it has to be: 100 ms, of the order of a round-trip time; 1 us to 4 s
 *   ce-threshold  in addition, a capable packet that has waited longer than this is marked, at
 *                 once: for senders that expect DCTCP's step. RFC 8290, section 5.2.7. Needs
 *                 `ecn on`
 *   mtu           with so little waiting besides the packet, in this class and others, it is never
 *                 too long: 1514 B. The RFC's maxpacket
 *
 * A change keeps the state. No draws.
 */
#ifndef WEIR_CODEL_AQM_H
#define WEIR_CODEL_AQM_H

#include "aqm/codel.h"
#include "scenario/statement.h"

#define CODEL_TARGET   (5 * SIMTIME_MS)
#define CODEL_INTERVAL (100 * SIMTIME_MS)
#define CODEL_MTU      1514

struct codel_conf {
	struct conf conf;
	simtime target_ns, interval_ns;
	simtime ce_threshold_ns; /* 0: none */
	uint64_t mtu_bytes;
};

extern const struct statement codel_statement;

struct aqm_marker;

/* For check(): a target that is no part of the interval, or a ce-threshold with no way to mark
 * (`marker`, or NULL). 0, or -EINVAL with problem; `field` is that of the target, and that of the
 * ce-threshold comes two later. */
int codel_check(const struct aqm_marker *marker, simtime target_ns, simtime interval_ns,
                simtime ce_threshold_ns, int field, struct problem *problem);

#endif
