/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `xcp [protocol N]`: a router of XCP. A meter that computes, per control interval, how much each
 * packet may gain and must lose; and the rewriting of a packet's request by it: MIN.
 *
 * Model: D. Katabi, M. Handley, C. Rohrs, "Congestion control for high bandwidth-delay product
 * networks", in the form of draft-falk-xcp-spec-03, section 5. Header, behind IP, of 20 bytes in
 * network order:
 *
 *   byte 0  the protocol that follows
 *        1  the length, 20
 *        2  version and format: format 1 is data, 2 is without a request
 *        4  RTT, s x 2^28; 0: not known
 *        8  X, the sender's time between packets, s x 2^28
 *       12  delta throughput, signed, byte/s
 *       16  reverse feedback: the hosts'
 *
 * With C the rate of the link, in byte/s; over a control interval T that ends:
 *   y  bytes that came / T, of all packets          d  sum(X x min(RTT, 1 s)) / sum X
 *   F = 0.4 (C - y) - 0.226 Q / d                   h = max(0, 0.1 y - |F|)
 *   P = h + max(F, 0)    Cp = P / sum X             N = h + max(-F, 0)    Cn = N / bytes that came
 * The next T is max(d, 1 ms). The first T is 50 ms, and so is d until one is measured; if no packet
 * of XCP has come, d stays. Cp or Cn is 0 if its divisor is 0. Q: the least bytes that waited in
 * the last Tq. The next Tq is then max(2 ms, (d - waiting / C) / 2).
 *
 * For each packet with a request, of length s:
 *   p = min(P, Cp X)    n = min(N, Cn s)    f = p - n
 *   request >= f        f is written, rounded down
 *   request < f         stays;  n = min(N, n + f - request), p = request + n
 *   then P = max(0, P - p), N = max(0, N - n); Cp is 0 with P, Cn with N
 * A request whose RTT is 0 becomes 0.
 *
 * The draft writes when a packet leaves the queue; here it is written when the packet comes to the
 * queue: earlier by the queuing delay, which XCP keeps small. All arithmetic is on integers: rates
 * in byte/s x 2^16. If a timer and an event fall into one instant, the timer is first. So the
 * outcome depends on packets and instants only.
 *
 * A malformed header (another length or format, a version other than 2, cut off) passes untouched
 * and is counted. Counters: feedback_written, feedback_malformed. O(1) a packet, whatever time has
 * passed without one.
 * Thread: the worker that owns the cloud; control reads its figures, a moment old.
 */
#ifndef WEIR_XCP_H
#define WEIR_XCP_H

#include "stage/cloud_watch.h"
#include "account/observed.h"
#include "scenario/statement.h"

#define XCP_PROTOCOL_DEFAULT 254 /* for experiments: RFC 3692; 253 is the feedback header's */
#define XCP_BYTES            20
#define XCP_VERSION          2
#define XCP_DATA             1 /* format: with a request */
#define XCP_MINIMAL          2
#define XCP_SECOND           (UINT32_C(1) << 28) /* of RTT and X */
#define XCP_INTERVAL_FIRST   (50 * SIMTIME_MS)
#define XCP_INTERVAL_MIN     SIMTIME_MS
#define XCP_QUEUE_MIN        (2 * SIMTIME_MS) /* the least Tq */
#define XCP_RATE_BITS        16               /* of the fraction of a rate */

enum xcp_at {
	XCP_NEXT,
	XCP_LENGTH,
	XCP_VERSION_FORMAT,
	XCP_RTT = 4,
	XCP_X = 8,
	XCP_DELTA = 12,
	XCP_REVERSE = 16,
};

struct xcp_conf {
	struct conf conf;
	uint64_t protocol;
};

extern const struct statement xcp_statement;

/* The arithmetic, without packets. */
struct xcp_control {
	/* of the current interval */
	uint64_t bytes;             /* that came */
	uint64_t sum_x;             /* s x 2^28 */
	unsigned __int128 sum_xrtt; /* s x s x 2^56 */
	/* of the last interval */
	uint64_t capacity, input;          /* byte/s */
	uint64_t rtt;                      /* d, s x 2^28 */
	int64_t aggregate;                 /* F, byte/s x 2^16 */
	uint64_t positive, negative;       /* P, N: what is left, byte/s x 2^16 */
	unsigned __int128 per_x, per_byte; /* Cp, Cn, x 2^32 */
	uint64_t queue_bytes;              /* Q */
	simtime interval_ns;               /* the next T */
};

void xcp_control_init(struct xcp_control *control);
/* Counts a packet of so many bytes. x and rtt are 0 if it is no packet of XCP, or does not state
 * them. */
void xcp_control_arrival(struct xcp_control *control, uint32_t bytes, uint32_t x, uint32_t rtt);
/* Ends the interval. */
void xcp_control_end(struct xcp_control *control, uint64_t capacity);
/* Returns what is to be written for a request, in byte/s. */
int32_t xcp_control_allot(struct xcp_control *control, uint32_t bytes, uint32_t x, int32_t request);
/* Returns Tq when so many bytes wait. */
simtime xcp_control_queue_ns(const struct xcp_control *control, uint64_t waiting,
                             uint64_t capacity);

#endif
