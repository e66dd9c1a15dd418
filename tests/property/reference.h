/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An independent model: what should leave a cloud with a delay, a leaky or token bucket and a queue
 * limit, computed the slow way, straight from the definition in rate.h, without any code of the
 * engine. Time is a rational number: whole multiples of 1 / R ns in 128 bits.
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
	bool lost;        /* result: the queue was full */
	uint64_t entered; /* result: when it enters the line */
	uint64_t due;     /* result: when it leaves the cloud */
};

/* Computes the results; the packets, of any clouds, are in the order of arrival. */
void reference_run(const struct reference_cloud *clouds, uint32_t n_clouds,
                   struct reference_packet *packets, uint32_t n);
/* Sorts the packets as they should leave a port to which all these clouds lead: by the instant at
 * which they are due, then by that at which they entered the line. The definition leaves open which
 * of several links is served first at one instant; here it is that of the lower index. */
void reference_sort(struct reference_packet *packets, uint32_t n);

#endif
