/* SPDX-License-Identifier: BSD-3-Clause */
#include "aqm/red_average.h"

#include "simtime.h"

quantity_q64 red_average_idle(quantity_q64 average, uint64_t m, probability_q63 weight)
{
	probability_q63 kept = PROBABILITY_ONE, factor = PROBABILITY_ONE - weight;

	/* Squares the factor; a share of 0 stays 0. */
	for (; m && kept; m >>= 1) {
		if (m & 1)
			kept = probability_product(kept, factor);
		factor = probability_product(factor, factor);
	}
	return quantity_share(average, kept);
}

uint64_t red_average_packets(uint64_t idle_ns, uint64_t rate_bps, uint32_t mean_bytes)
{
	unsigned __int128 packets =
	        (unsigned __int128)idle_ns * rate_bps / (8 * SIMTIME_S * mean_bytes);

	return packets > UINT64_MAX ? UINT64_MAX : (uint64_t)packets;
}
