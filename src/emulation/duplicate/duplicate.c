/* SPDX-License-Identifier: BSD-3-Clause */
#include "duplicate/duplicate.h"

#include "packet/copy.h"
#include "stage/stage.h"

_Static_assert(BURST_ROOM <= 64, "which is a word of 64 bits");

uint16_t duplicate_packets(struct cloud *cloud, struct rte_mbuf **packets, uint16_t n,
                           uint64_t which)
{
	struct rte_mbuf *original[BURST_ROOM];
	uint16_t room = BURST_ROOM - n, out = 0;

	if (which == 0)
		return n;
	memcpy(original, packets, n * sizeof(*original));
	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *copy;

		packets[out++] = original[i];
		if (!(which >> i & 1) || packet_of(original[i])->flags & PACKET_COPY)
			continue;
		copy = room > 0 ? copy_make(cloud_pool(cloud), original[i]) : NULL;
		if (!copy) {
			cloud_drop_copy(cloud, original[i]);
			continue;
		}
		packet_of(copy)->flags |= PACKET_COPY;
		cloud_counters(cloud)->duplicated++;
		packets[out++] = copy;
		room--;
	}
	return out;
}
