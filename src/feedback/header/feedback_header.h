/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `feedback header [protocol 253]` and `feedback sirens`: the router answers requests in packets.
 *
 * Model: fine-grained explicit router feedback (the paper and the format: oq_header.h; SIRENS:
 * below). For each packet that has a header of the encoding, before the hop decrements its TTL:
 *
 *   mode TTL   if req_ttl is the TTL, or hop limit, with which the packet arrives, the router
 *              writes the value of req_probe into the request data, over whatever is there
 *   mode MIN   each number becomes the lesser of what is there and the router's
 *   mode MAX   the greater
 *   otherwise  nothing
 *
 * At most one write per packet, no state per flow. The checksums of the transports do not cover the
 * header: their pseudo-header has the inner protocol and length. The checksum of the IPv4 header
 * covers a SIRENS option, and is corrected incrementally.
 *
 * The figures are those of the cloud's meter (meter.h): that of its `meter` statement, or without
 * one, a meter that comes with this statement, over `window`. With `queue length`, the size of the
 * queue is its mean length in packets, rounded up. With `queue limit`, it is the number of packets
 * that the queue holds when it is full, which the paper's Limited Slow-Start needs: the limit of
 * its queue, converted to frames of FEEDBACK_FRAME_BYTES if it is in bytes or time; with classes,
 * the sum of their limits.
 *
 * A malformed header passes untouched, and is counted; so does one that is not whole in the first
 * segment. The statement needs `hop`; check() refuses it otherwise. Counters: feedback_written,
 * feedback_malformed. Cost: the headers are parsed once per packet. No randomness. A change keeps
 * the meter.
 */
#ifndef WEIR_FEEDBACK_HEADER_H
#define WEIR_FEEDBACK_HEADER_H

#include <stdint.h>

#include "header/meter.h"
#include "scenario/statement.h"

/*
 * SIRENS: the same feedback as an IPv4 option with data of 4 bytes, as later drafts of the paper's
 * authors have it. In network order, 12 + 4n bytes, n of 0 to 7:
 *
 *   byte 0  94         the option's type: for experiments (RFC 4727), not copied into fragments
 *        1  length     12 + 4n
 *        2  req_mode   0: no request; MIN 1, MAX 2, TTL 3
 *        3  req_probe  see below
 *        4  req_ttl
 *        5  res_probe
 *        6  res_len    4n
 *        7  res_ttl
 *        8  request    one number, which the router writes
 *       12  answers    n numbers
 *
 *   probe 1 link     kbit/s, rounded down        5 errors  packets lost or corrupted on the link
 *         2 obytes   bytes that left the link    6 qmax    packets that the queues hold when full
 *         3 ibytes   bytes that came             7 qlen    packets in the queues now
 *         4 drops    packets dropped at it       8 mtu     bytes; 65535 if the hop has none
 *
 * Where there is no link, what passes has left it.
 * obytes, ibytes, drops and errors are counters modulo 2^32, as those of an interface in SNMP: two
 * requests yield a rate. They begin with the meter or when the counters were cleared.
 * The beginning of this header says what a router does with mode and TTL.
 *
 * An option is malformed if its length is none of these or reaches beyond the header, if its
 * res_len is not 4n, or if it has another mode or probe. Options before it are skipped by their
 * lengths. Options behind the end of options (type 0), or behind an option of length 0 or 1, are
 * ignored. If there are several, the first is answered.
 *
 * Thread: the worker that owns the cloud.
 */

struct burst;
struct cloud;

#define SIRENS_OPTION       94
#define SIRENS_BYTES        12
#define SIRENS_ANSWER_BYTES 4

enum sirens_probe {
	SIRENS_NONE,
	SIRENS_LINK,
	SIRENS_OBYTES,
	SIRENS_IBYTES,
	SIRENS_DROPS,
	SIRENS_ERRORS,
	SIRENS_QMAX,
	SIRENS_QLEN,
	SIRENS_MTU,
	SIRENS_PROBES
};

enum sirens_at {
	SIRENS_TYPE,
	SIRENS_LENGTH,
	SIRENS_REQ_MODE,
	SIRENS_REQ_PROBE,
	SIRENS_REQ_TTL,
	SIRENS_RES_PROBE,
	SIRENS_RES_LEN,
	SIRENS_RES_TTL,
	SIRENS_REQUEST,
	SIRENS_ANSWERS = SIRENS_BYTES,
};

#define FEEDBACK_FRAME_BYTES 1514

enum feedback_queue { FEEDBACK_QUEUE_LENGTH, FEEDBACK_QUEUE_LIMIT };

struct feedback_header_conf {
	struct conf conf;
	uint64_t protocol; /* not of sirens */
	simtime window_ns;
	uint32_t queue; /* enum feedback_queue; not of sirens */
};

extern const struct statement feedback_header_statement;
extern const struct statement feedback_sirens_statement;

#endif
