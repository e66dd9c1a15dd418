/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `becn [threshold T] [limit N] [burst N] [bit B] [on-drop on|off] [on-overflow on|off]`: when the
 * router marks or drops a packet, it informs the sender of congestion itself, with a source quench.
 *
 * Model: the enhanced BECN of F. Akujobi et al., "BECN for Congestion Control in TCP/IP Networks:
 * Study and Comparative Evaluation" and, with a threshold, the ECN+BECN of the same authors. A
 * modifier of `red` and `mark above`: those choose the packet, `ecn` says which packets are
 * capable.
 *
 *   chosen, capable, not marked yet    marked; a quench with the bit set
 *   chosen, marked already             passes; no quench
 *   chosen, not capable                dropped; no quench. The pseudo-code of ECN+BECN forgets the
 *                                      drop where the average is below the threshold; here it is
 *                                      done
 *   dropped, capable (marked or not)   a quench with the bit clear; `on-drop off`: none
 *   finds the queue full, capable      the same; `on-overflow off`: none. The papers do not say
 *   the oldest, pushed out by `drop head`, capable   as by overflow, unless this queue had marked
 *                                      it and sent a quench for that
 *
 * With a threshold T, all this happens only if the average (of `mark`: what waits) is T or more
 * when the packet has arrived. T = min is BECN alone, the same as no threshold: then an overflow
 * sends a quench at any average. T = max is ECN alone: no quench at all. The pseudo-code of
 * ECN+BECN would still send quenches for drops from max on; its text says that it "operates like
 * ECN alone". weir follows the text.
 *
 * The quench: RFC 792 type 4, code 0, 56 bytes for a header without options (hop.h), from the
 * hop's address, not capable of ECN. The bit is in the fifth octet; the other 31 bits of that word
 * are 0. It quotes the packet as it came to the queue: not yet marked, and with the TTL that the
 * hop has decremented. IPv6: ICMPv6 type 200. The quench leaves at the instant of the decision, at
 * the port where the cloud's packets come in, or enters the cloud that `hop ... through` names: a
 * router has a way back of its own, becn has not. No quench is sent about ICMP errors, about
 * fragments other than the first, or for group addresses and addresses of no node (icmp_may_tell,
 * RFC 1812 4.3.2.7). RFC 6633 deprecates source quenches: weir sends none unless becn is
 * configured.
 *
 * The limit (RFC 1812 4.3.2.8) is becn's own, quota.h; by default there is none, as in the papers.
 * Quenches that it withholds are counted. If a link has classes, each queue has a limit of its own.
 *
 * Counters: becn_sent, and becn_marked of them with the bit set. Each is `generated`, too. No
 * randomness. A change keeps the quota. T: bytes or packets, from min to max. limit: 1 to 10^9 a
 * second, burst 1 to 10^6.
 * Thread: control for becn_make and becn_figures, the worker for the others.
 */
#ifndef WEIR_BECN_H
#define WEIR_BECN_H

#include "link/aqm.h"
#include "router/quota.h"
#include "scenario/statement.h"

struct held;

struct becn_conf {
	struct conf conf;
	struct limit threshold;
	uint64_t limit, burst;
	uint32_t bit; /* 0: 0x80, 1: 0x40 ... */
	bool on_drop, on_overflow;
};

extern const struct statement becn_statement;

#define BECN_BURST_DEFAULT 50

/* A part of an AQM's state. All 0: there is no becn, or it never sends a quench. */
struct becn {
	bool on, on_drop, on_overflow;
	bool limited;
	uint32_t marked; /* the word of a quench for a mark */
	struct quota quota;
	uint64_t withheld; /* by the quota */
};

/* Returns the configuration of `becn` beside this AQM, or NULL if there is none. */
const struct becn_conf *becn_beside(const struct conf *conf, const struct cloud_conf *cloud);
void becn_make(struct becn *becn, const struct becn_conf *conf);
/* Takes over the quota and the count of the old one after a change. */
void becn_adopt(struct becn *becn, const struct becn *old);
/* Writes or reads what is left of the limit, and what it has withheld (snapshot.h). */
void becn_snapshot(struct becn *becn, struct snapshot *snapshot);
/* Returns how many figures it has written. */
uint32_t becn_figures(const struct becn *becn, struct aqm_figure *figures);

/* Sends the quench for the outcome of a packet, if one is due. Called only if the queue is
 * congested: at or above the threshold. */
void becn_settled(struct becn *becn, const struct aqm *aqm, struct burst *burst, uint16_t i,
                  enum aqm_outcome outcome);
void becn_pushed_out(struct becn *becn, const struct aqm *aqm, struct held *held, simtime now);

#endif
