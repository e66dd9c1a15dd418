/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/pairing.h"

#include <errno.h>
#include <stdlib.h>

#define SLOTS 131072u /* a power of two, twice as many as flows */

int flow_list_make(struct flow_list *list)
{
	list->n = 0;
	list->ends = calloc(FLOW_LIST_MAX + 1, sizeof(*list->ends));
	list->digests = calloc(FLOW_LIST_MAX + 1, sizeof(*list->digests));
	list->slots = calloc(SLOTS, sizeof(*list->slots));
	return list->ends && list->digests && list->slots ? 0 : -ENOMEM;
}

void flow_list_free(struct flow_list *list)
{
	free(list->ends);
	free(list->digests);
	free(list->slots);
}

uint16_t flow_list_number(struct flow_list *list, const struct packet_ends *ends, uint64_t digest)
{
	uint32_t slot = (uint32_t)(digest ^ digest >> 32) & (SLOTS - 1);

	for (; list->slots[slot] > 0; slot = (slot + 1) & (SLOTS - 1)) {
		const uint32_t number = list->slots[slot] - 1;

		if (list->digests[number] == digest)
			return (uint16_t)number;
	}
	if (list->n == FLOW_LIST_MAX)
		return FLOW_LIST_MAX;
	list->ends[list->n] = *ends;
	list->digests[list->n] = digest;
	list->slots[slot] = ++list->n;
	return (uint16_t)(list->n - 1);
}
