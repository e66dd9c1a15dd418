/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue.h"

static bool fits(const struct limit *limit, uint64_t rate_bps, uint64_t packets, uint64_t bytes)
{
	switch ((enum limit_unit)limit->unit) {
	case LIMIT_BYTES:
		return bytes <= limit->value;
	case LIMIT_PACKETS:
		return packets <= limit->value;
	case LIMIT_TIME:
		return (unsigned __int128)bytes * 8 * SIMTIME_S <=
		       (unsigned __int128)limit->value * rate_bps;
	case LIMIT_NONE:
		break;
	}
	return true;
}

bool queue_has_room(const struct queue *queue, uint64_t rate_bps, uint32_t length)
{
	return fits(&queue->limit, rate_bps, queue_packets(queue) + 1, queue_bytes(queue) + length);
}

bool queue_may_have_room(const struct queue *queue, uint64_t rate_bps, uint32_t length)
{
	return fits(&queue->limit, rate_bps, 1, length);
}
