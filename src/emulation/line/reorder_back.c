/* SPDX-License-Identifier: BSD-3-Clause */
#include "line/reorder_back.h"

#include "holding/hold.h"

uint64_t reorder_clear(struct reorder_back *back, struct holder *holder)
{
	uint64_t cleared = back->packets.records;

	while (back->packets.records) {
		const struct held *held = log_front(&back->packets);

		hold_drop(holder, held);
		log_pop(&back->packets, &holder->arena);
	}
	log_clear(&back->packets, &holder->arena);
	log_clear(&back->notes, &holder->arena);
	return cleared;
}
