/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/queue.h"

#include "link/aqm.h"

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

bool queue_has_room_slow(const struct queue *queue, uint64_t rate_bps, uint32_t length)
{
	return fits(&queue->limit, rate_bps, queue_packets(queue) + 1, queue_bytes(queue) + length);
}

bool queue_may_have_room(const struct queue *queue, uint64_t rate_bps, uint32_t length)
{
	return fits(&queue->limit, rate_bps, 1, length);
}

static const struct aqm_bands *bands_of(const struct queue *queue)
{
	return queue->aqm ? queue->aqm->kind->bands : NULL;
}

struct log *queue_log(const struct queue *queue, uint32_t i)
{
	if (i == 0)
		return (struct log *)(uintptr_t)&queue->log;
	return bands_of(queue) ? bands_of(queue)->at(queue->aqm, i - 1) : NULL;
}

void queue_gather(struct queue *queue, struct arena *arena)
{
	struct log *band;

	for (uint32_t i = 1; (band = queue_log(queue, i)); i++) {
		if (band->records)
			log_join(&queue->log, band, arena);
	}
	if (bands_of(queue))
		bands_of(queue)->emptied(queue->aqm);
}
