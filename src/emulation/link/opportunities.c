/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/opportunities.h"

uint64_t opportunity_after(const struct opportunities *list, simtime from, simtime now)
{
	uint64_t round = now < from ? 0 : (now - from) / list->period_ns;
	simtime within = now < from ? 0 : (now - from) % list->period_ns;
	uint32_t low = 0, high = list->n;

	if (now < from)
		return 0;
	if (round > 0 && !list->loop)
		return list->n;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (list->at_ms[middle] * SIMTIME_MS <= within)
			low = middle + 1;
		else
			high = middle;
	}
	return round * list->n + low;
}
