/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the latency that a device adds, over a loop: two ports joined by a cable; frames are
 * sent one at a time from one port and received at the other.
 *
 * Model. From the hand-over to the stamp after reception a frame takes
 *
 *   tx-latency of one port + time on the wire + 5 ns a metre of cable + rx-latency of the other
 *
 * The time on the wire (preamble, frame with FCS) and the cable's are known. The median of many
 * frames is taken for the loop's time: a frame whose receiver had lost the processor does not move
 * it. What remains is the sum of the two latencies. Only the sum can be measured: each gets half.
 * That is exact for packets between these two ports, whose sum is that of a loop: from a to b weir
 * subtracts rx-latency of a and tx-latency of b, the loop from b to a.
 *
 * Resolution: that of the histogram (histogram.h); the times of cable and wire are as exact as the
 * arguments.
 *
 * Thread: the caller's; depends on the tester's answers alone.
 */
#ifndef WEIR_BENCH_LATENCY_H
#define WEIR_BENCH_LATENCY_H

#include "measure/bench_rfc2544.h"

#define BENCH_LATENCY_PPS        10000.0 /* nothing queues at that rate */
#define BENCH_LATENCY_METRE_NS   5.0
#define BENCH_LATENCY_PREAMBLE   8       /* bytes */
#define BENCH_LATENCY_MAX_NS     1000000 /* maximum of each latency in `port` */
#define BENCH_LATENCY_CABLE_MOST 10000   /* metres */

struct bench_latency {
	uint32_t frame_bytes; /* with FCS */
	double wire_ns, cable_ns;
	uint64_t sent, received;
	bool disturbed;
	struct histogram loop_ns;
	uint64_t sum_ns;  /* both latencies; 0: the loop took no longer than wire and cable */
	uint64_t half_ns; /* half of it, for each */
};

/* Measures. If `line_bps` is 0, the time on the wire is not subtracted. Returns 0; -EIO if frames
 * were lost (`sent` and `received` have the numbers); or the tester's error. */
int bench_latency_measure(struct rfc2544_tester *tester, uint32_t frame_bytes, double line_bps,
                          double cable_m, double seconds, struct bench_latency *result);

#endif
