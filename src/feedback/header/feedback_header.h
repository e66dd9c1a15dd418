/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `feedback header [protocol 253]` and `feedback sirens`: the router answers requests in packets.
 *
 * Model: fine-grained explicit router feedback (the paper and the format: oq_header.h, sirens.h).
 * For each packet that has a header of the encoding, before the hop decrements its TTL:
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

#include "header/meter.h"
#include "scenario/statement.h"

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

/* Returns how many packets the queues of the link hold when they are full; UINT64_MAX if they have
 * no limit. */
uint64_t feedback_queue_limit(const struct cloud *cloud);

#endif
