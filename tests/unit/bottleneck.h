/* SPDX-License-Identifier: BSD-3-Clause */
/* A FIFO that sends at a rate, for tests of algorithms at its entrance. */
#ifndef WEIR_BOTTLENECK_H
#define WEIR_BOTTLENECK_H

#include <stdbool.h>
#include <stdint.h>

#define BOTTLENECK_ROOM 4096
struct bottleneck {
	uint64_t rate_bps;
	uint32_t size[BOTTLENECK_ROOM];
	uint32_t head, n; /* the head is being sent */
	uint64_t bytes;   /* of all packets */
	uint64_t departure_ns;
	bool emptied; /* during the latest bottleneck_advance_to, at `emptied_ns` */
	uint64_t emptied_ns;
};

void bottleneck_advance_to(struct bottleneck *bottleneck, uint64_t now_ns);
void bottleneck_push(struct bottleneck *bottleneck, uint64_t now_ns, uint32_t size);
/* Return what waits, without the packet that is being sent. */
uint64_t bottleneck_packets(const struct bottleneck *bottleneck);
uint64_t bottleneck_bytes(const struct bottleneck *bottleneck);

#endif
