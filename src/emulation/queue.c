/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue.h"

bool queue_has_room(const struct queue *queue, uint64_t rate_bps, uint32_t wire_bytes)
{
	switch ((enum limit_unit)queue->limit.unit) {
	case LIMIT_BYTES:
		return queue_bytes(queue) + wire_bytes <= queue->limit.value;
	case LIMIT_PACKETS:
		return queue_packets(queue) + 1 <= queue->limit.value;
	case LIMIT_TIME: {
		unsigned __int128 work =
		        (unsigned __int128)(queue_bytes(queue) + wire_bytes) * 8 * SIMTIME_S;

		return work <= (unsigned __int128)queue->limit.value * rate_bps;
	}
	case LIMIT_NONE:
		break;
	}
	return true;
}
