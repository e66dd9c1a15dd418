/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/queue.h"

#include "link/aqm.h"

int queue_compare(const struct limit *limit, uint64_t rate_bps, uint64_t packets, uint64_t bytes)
{
	unsigned __int128 amount = bytes, most = limit->value;

	switch ((enum limit_unit)limit->unit) {
	case LIMIT_BYTES:
		break;
	case LIMIT_PACKETS:
		amount = packets;
		break;
	case LIMIT_TIME:
		amount *= 8 * SIMTIME_S;
		most *= rate_bps;
		break;
	case LIMIT_NONE:
		return -1;
	}
	return (amount > most) - (amount < most);
}

bool queue_has_room_slow(const struct queue *queue, uint64_t rate_bps, uint32_t length)
{
	return queue_compare(&queue->limit, rate_bps, queue_packets(queue) + 1,
	                     queue_bytes(queue) + length) <= 0;
}

bool queue_may_have_room(const struct queue *queue, uint64_t rate_bps, uint32_t length)
{
	return queue_compare(&queue->limit, rate_bps, 1, length) <= 0;
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
