/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A second opinion: what should leave a cloud with a delay, a leaky or token bucket and a queue
 * limit, computed the slow way, straight from the definition in rate.h, and sharing nothing with
 * the engine. Time is a rational number: whole multiples of 1 / R ns in 128 bits.
 */
#ifndef WEIR_REFERENCE_H
#define WEIR_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

struct reference_cloud {
	uint64_t delay_ns;
	uint64_t rate_bps; /* 0: no link */
	uint64_t depth_bytes;
	enum { REFERENCE_NONE, REFERENCE_BYTES, REFERENCE_PACKETS, REFERENCE_NS } unit;
	uint64_t limit;
};

struct reference_packet {
	uint64_t t;
	uint32_t cloud;
	uint32_t bytes;
	uint32_t number;
	bool lost;        /* answer: the queue was full */
	uint64_t entered; /* answer: when it enters the line */
	uint64_t due;     /* answer: when it leaves the cloud */
};

/* Fills in the answers; packets in the order of arrival, of any clouds. */
void reference_run(const struct reference_cloud *clouds, uint32_t n_clouds,
                   struct reference_packet *packets, uint32_t n);
/* Sorts the packets as they should leave a port that all these clouds lead to: by the instant when
 * they are due, then by that when they entered the line. Which of several links is served first at
 * one instant the definition does not say; here it is the one of the lower index. */
void reference_sort(struct reference_packet *packets, uint32_t n);

#endif
