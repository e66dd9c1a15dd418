/* SPDX-License-Identifier: BSD-3-Clause */
#include "duplicate/duplicate.h"

#include "packet/copy.h"
#include "stage/stage.h"

_Static_assert(BURST_ROOM <= 64, "`which` has 64 bits");

void duplicate_packets(struct cloud *cloud, struct burst *burst, uint64_t which)
{
	for (uint16_t i = 0; which; i++, which >>= 1) {
		struct rte_mbuf *copy = NULL;

		if (!(which & 1) || burst_flags(burst, i) & PACKET_COPY)
			continue;
		if (burst->n < BURST_ROOM)
			copy = copy_make(cloud_pool(cloud), burst->mbuf[i]);
		if (!copy) {
			cloud_drop_copy(cloud, burst, i);
			continue;
		}
		cloud_counters(cloud)->duplicated++;
		burst_insert(burst, i, copy, burst_wire_bytes(burst, i));
		burst_flag(burst, ++i, PACKET_COPY);
	}
}
