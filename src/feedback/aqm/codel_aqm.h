/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `codel [target T] [interval T] [ce-threshold T] [mtu SIZE]`: CoDel (codel.h, RFC 8289) as the
 * management of a queue.
 *
 * Decides when the link takes a packet (aqm.h says when that is). With `ecn on`, a selected packet
 * that is capable is marked, and passes; the others are dropped, with the reason `codel`.
 *   target        sojourn time from which on the queue is too long: 5 ms; 1 us to 1 s
 *   interval      how long it has to stay too long: 100 ms, of the order of a round-trip time; 1 us
 *                 to 4 s
 *   ce-threshold  in addition, a capable packet that has waited longer than this is marked at once:
 *                 for senders that expect DCTCP's step. RFC 8290, section 5.2.7. Needs `ecn on`
 *   mtu           while no more than this waits besides the packet, in all classes together, the
 *                 queue is never too long: 1514 B. The RFC's maxpacket
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

/* For check(): refuses a target that is not shorter than the interval, and a ce-threshold if
 * nothing can be marked (`marker` is NULL). Returns 0, or -EINVAL with problem. `field` is the
 * index of the target's field; that of the ce-threshold is `field` + 2. */
int codel_check(const struct aqm_marker *marker, simtime target_ns, simtime interval_ns,
                simtime ce_threshold_ns, int field, struct problem *problem);

#endif
