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
 *
 * Behind the kind is the statement whose stage drops (reason_stage). A new reason comes last:
 * snapshots have a number for each, and recordings a digest of these numbers.
 */
#ifndef WEIR_REASON_H
#define WEIR_REASON_H

#define REASONS(X)                                                                                 \
	X(DOWN, "down", EMULATED, "down", "the cloud was down")                                    \
	X(LOSS, "loss", EMULATED, "loss", "the loss statement of the cloud")                       \
	X(POLICE, "police", EMULATED, "police", "the police statement: above its rate and burst")  \
	X(TTL_EXPIRED, "ttl-expired", EMULATED, "hop", "its TTL or hop limit expired at the hop")  \
	X(TOO_BIG, "too-big", EMULATED, "hop",                                                     \
	  "longer than the hop's mtu, and must not be fragmented")                                 \
	X(TO_HOP, "to-hop", EMULATED, "hop", "addressed to the hop itself")                        \
	X(PROBE, "probe", EMULATED, "feedback",                                                    \
	  "a packet of `probe`, at the end of the path that it probed")                            \
	X(RED_EARLY, "red-early", CONGESTION, NULL, "RED chose it, and it could not be marked")    \
	X(RED_FORCED, "red-forced", CONGESTION, NULL,                                              \
	  "RED: the average queue was above its maximum")                                          \
	X(NOT_CAPABLE, "not-capable", CONGESTION, NULL,                                            \
	  "had to be marked, but is not capable of ECN")                                           \
	X(CODEL, "codel", CONGESTION, NULL,                                                        \
	  "CoDel: packets wait too long, and it could not be marked")                              \
	X(PIE, "pie", CONGESTION, NULL, "PIE chose it, and it could not be marked")                \
	X(DUALPI2, "dualpi2", CONGESTION, NULL, "DualPI2 chose it, and it could not be marked")    \
	X(FULLEST, "fullest", CONGESTION, NULL,                                                    \
	  "FQ-CoDel: the queue was full, and its flow had the largest backlog")                    \
	X(QUEUE_FULL, "queue-full", CONGESTION, NULL, "the queue of the link was full")            \
	X(LIMIT, "limit", CONGESTION, NULL,                                                        \
	  "the cloud held as many packets as the limit of its delay allows")                       \
	X(NO_BUFFER, "no-buffer", REAL, NULL, "weir had no memory left to hold the packet")        \
	X(FRAGMENTS, "fragments", REAL, "hop",                                                     \
	  "needs more than 64 fragments of the hop's mtu, or an offset too large for IP")          \
	X(CLOUDS_FULL, "clouds-full", REAL, "",                                                    \
	  "its template had as many clouds as it may have (`most`), but none for this address")    \
	X(TX_FULL, "tx-full", REAL, NULL,                                                          \
	  "the port did not take the packet within 100 ms of its time")                            \
	X(REMOVED, "removed", REAL, NULL, "the cloud was removed while it held the packet")

enum reason {
#define X(id, name, kind, stage, help) REASON_##id,
	REASONS(X)
#undef X
	        REASON_COUNT
};

/* The number of reasons that every recording and snapshot has. */
#define REASONS_AT_FIRST 21

enum reason_kind { REASON_EMULATED, REASON_CONGESTION, REASON_REAL };

const char *reason_name(enum reason reason);
const char *reason_help(enum reason reason);
enum reason_kind reason_kind(enum reason reason);
/* `emulated`, `congestion`, `real` */
const char *reason_kind_name(enum reason_kind kind);
/* Returns the name of the statement whose stage drops packets for this reason; "" if they meet no
 * stage of the scenario before; NULL if it is no stage that drops them, or any. */
const char *reason_stage(enum reason reason);

#endif
