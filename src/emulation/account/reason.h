/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why a packet was not delivered: one list, from which the enum, the names in JSON, the log and the
 * help are made.
 *
 * Each reason is of one kind, so that an emulated loss and a loss of the emulator itself never
 * share a counter:
 *   EMULATED    the scenario asked for it
 *   CONGESTION  an emulated queue had no room, or its AQM dropped the packet
 *   REAL        weir could not do what was asked: a warning to the operator
 */
#ifndef WEIR_REASON_H
#define WEIR_REASON_H

#define REASONS(X)                                                                                 \
	X(DOWN, "down", EMULATED, "the cloud was down")                                            \
	X(LOSS, "loss", EMULATED, "the loss statement of the cloud")                               \
	X(POLICE, "police", EMULATED, "the police statement: above its rate and burst")            \
	X(TTL_EXPIRED, "ttl-expired", EMULATED, "its TTL or hop limit expired at the hop")         \
	X(TOO_BIG, "too-big", EMULATED, "longer than the hop's mtu, and must not be fragmented")   \
	X(TO_HOP, "to-hop", EMULATED, "addressed to the hop itself")                               \
	X(PROBE, "probe", EMULATED, "a packet of `probe`, at the end of the path that it probed")  \
	X(RED_EARLY, "red-early", CONGESTION, "RED chose it, and it could not be marked")          \
	X(RED_FORCED, "red-forced", CONGESTION, "RED: the average queue was above its maximum")    \
	X(NOT_CAPABLE, "not-capable", CONGESTION, "had to be marked, but is not capable of ECN")   \
	X(CODEL, "codel", CONGESTION, "CoDel: packets wait too long, and it could not be marked")  \
	X(PIE, "pie", CONGESTION, "PIE chose it, and it could not be marked")                      \
	X(DUALPI2, "dualpi2", CONGESTION, "DualPI2 chose it, and it could not be marked")          \
	X(FULLEST, "fullest", CONGESTION,                                                          \
	  "FQ-CoDel: the queue was full, and its flow had the largest backlog")                    \
	X(QUEUE_FULL, "queue-full", CONGESTION, "the queue of the link was full")                  \
	X(LIMIT, "limit", CONGESTION,                                                              \
	  "the cloud held as many packets as the limit of its delay allows")                       \
	X(NO_BUFFER, "no-buffer", REAL, "weir had no memory left to hold the packet")              \
	X(FRAGMENTS, "fragments", REAL,                                                            \
	  "needs more than 64 fragments of the hop's mtu, or an offset too large for IP")          \
	X(CLOUDS_FULL, "clouds-full", REAL,                                                        \
	  "its template had as many clouds as it may have (`most`), but none for this address")    \
	X(TX_FULL, "tx-full", REAL, "the port did not take the packet within 100 ms of its time")  \
	X(REMOVED, "removed", REAL, "the cloud was removed while it held the packet")

enum reason {
#define X(id, name, kind, help) REASON_##id,
	REASONS(X)
#undef X
	        REASON_COUNT
};

enum reason_kind { REASON_EMULATED, REASON_CONGESTION, REASON_REAL };

const char *reason_name(enum reason reason);
const char *reason_help(enum reason reason);
enum reason_kind reason_kind(enum reason reason);

#endif
