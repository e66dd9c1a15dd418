/* SPDX-License-Identifier: BSD-3-Clause */
#include "bottleneck.h"

static uint64_t sending_ns(const struct bottleneck *bottleneck)
{
	return bottleneck->size[bottleneck->head] * UINT64_C(8000000000) / bottleneck->rate_bps;
}

void bottleneck_advance_to(struct bottleneck *bottleneck, uint64_t now_ns)
{
	bottleneck->emptied = false;
	while (bottleneck->n && bottleneck->departure_ns <= now_ns) {
		bottleneck->bytes -= bottleneck->size[bottleneck->head];
		bottleneck->head = (bottleneck->head + 1) % BOTTLENECK_ROOM;
		if (--bottleneck->n) {
			bottleneck->departure_ns += sending_ns(bottleneck);
		} else {
			bottleneck->emptied = true;
			bottleneck->emptied_ns = bottleneck->departure_ns;
		}
	}
}

void bottleneck_push(struct bottleneck *bottleneck, uint64_t now_ns, uint32_t size)
{
	bottleneck->size[(bottleneck->head + bottleneck->n++) % BOTTLENECK_ROOM] = size;
	bottleneck->bytes += size;
	if (bottleneck->n == 1)
		bottleneck->departure_ns = now_ns + sending_ns(bottleneck);
}

uint64_t bottleneck_packets(const struct bottleneck *bottleneck)
{
	return bottleneck->n ? bottleneck->n - 1 : 0;
}

uint64_t bottleneck_bytes(const struct bottleneck *bottleneck)
{
	return bottleneck->n ? bottleneck->bytes - bottleneck->size[bottleneck->head] : 0;
}
