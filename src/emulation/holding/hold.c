/* SPDX-License-Identifier: BSD-3-Clause */
#include "holding/hold.h"

void hold_give_back(struct holder *holder, uint32_t keep)
{
	if (holder->n_spare > keep) {
		rte_mempool_put_bulk(holder->pool, (void **)&holder->spare[keep],
		                     holder->n_spare - keep);
		holder->n_spare = keep;
	}
}

uint64_t hold_drop_all(struct holder *holder, struct log *log)
{
	const uint64_t n = log->records;

	while (log->records) {
		hold_drop(holder, log_front(log));
		log_pop(log, &holder->arena);
	}
	log_clear(log, &holder->arena);
	return n;
}
