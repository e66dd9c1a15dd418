/* SPDX-License-Identifier: BSD-3-Clause */
/* A FIFO that sends at a rate, for the tests of what decides at its entrance. */
#ifndef WEIR_BOTTLENECK_H
#define WEIR_BOTTLENECK_H

#include <stdbool.h>
#include <stdint.h>

#define BOTTLENECK_ROOM 4096
struct bottleneck {
	uint64_t rate_bps;
	uint32_t size[BOTTLENECK_ROOM];
	uint32_t head, n; /* the first is being sent */
	uint64_t bytes;   /* of all */
	uint64_t departure_ns;
	bool emptied; /* since the last call of bottleneck_advance_to, at... */
	uint64_t emptied_ns;
};

void bottleneck_advance_to(struct bottleneck *bottleneck, uint64_t now_ns);
void bottleneck_push(struct bottleneck *bottleneck, uint64_t now_ns, uint32_t size);
/* What waits, without the one that is being sent. */
uint64_t bottleneck_packets(const struct bottleneck *bottleneck);
uint64_t bottleneck_bytes(const struct bottleneck *bottleneck);

#endif
