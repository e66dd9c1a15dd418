/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/bench_latency.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int bench_latency_measure(struct rfc2544_tester *tester, uint32_t frame_bytes, double line_bps,
                          double cable_m, double seconds, struct bench_latency *result)
{
	const struct rfc2544_trial trial = {frame_bytes, BENCH_LATENCY_PPS,
	                                    (uint64_t)(BENCH_LATENCY_PPS * seconds) + 1};
	struct rfc2544_outcome *outcome = calloc(1, sizeof(*outcome));
	double loop, rest;
	int rc;

	if (!outcome)
		return -ENOMEM;
	rc = tester->trial(tester, &trial, outcome);
	memset(result, 0, sizeof(*result));
	result->frame_bytes = frame_bytes;
	result->sent = outcome->sent;
	result->received = outcome->received;
	result->disturbed = outcome->disturbed;
	result->loop_ns = outcome->latency_ns;
	free(outcome);
	if (rc == 0 && result->received != result->sent)
		rc = -EIO;
	if (line_bps > 0)
		result->wire_ns = (frame_bytes + BENCH_LATENCY_PREAMBLE) * 8e9 / line_bps;
	result->cable_ns = cable_m * BENCH_LATENCY_METRE_NS;
	loop = (double)histogram_percentile(&result->loop_ns, 500000);
	rest = loop - result->wire_ns - result->cable_ns;
	result->sum_ns = rest > 0 ? (uint64_t)(rest + 0.5) : 0;
	result->half_ns = result->sum_ns / 2;
	return rc;
}
