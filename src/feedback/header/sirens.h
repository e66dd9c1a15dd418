/* SPDX-License-Identifier: BSD-3-Clause */
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
 * feedback_header.h says what a router does with mode and TTL.
 *
 * An option is malformed if its length is none of these or reaches beyond the header, if its
 * res_len is not 4n, or if it has another mode or probe. Options before it are skipped by their
 * lengths. Options behind the end of options (type 0), or behind an option of length 0 or 1, are
 * ignored. If there are several, the first is answered.
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_SIRENS_H
#define WEIR_SIRENS_H

#include <stdint.h>

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

/* Answers the request of packet i, if it has one, and counts it. Drops the packet if there is no
 * memory to make it writable. */
void sirens_serve(struct cloud *cloud, struct burst *burst, uint16_t i);

#endif
