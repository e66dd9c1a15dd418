/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage/draws.h"

void draws_burst_by_flow(const struct stage *stage, const struct burst *burst, uint32_t lane,
                         uint64_t *draw)
{
	struct draw_place place[BURST_ROOM];

	for (uint16_t i = 0; i < burst->n; i++)
		place[i] = draws_by_flow(stage, burst, i);
	draw_places(place, lane, burst->n, draw);
}

uint64_t draws_chances_by_flow(const struct stage *stage, const struct burst *burst, uint32_t lane,
                               const struct chance *chance, enum flow_slot slot,
                               enum flow_mark mark)
{
	struct correlated of_flow = chance->correlated;
	uint64_t draw[BURST_ROOM], which = 0;

	draws_burst_by_flow(stage, burst, lane, draw);
	for (uint16_t i = 0; i < burst->n; i++) {
		uint64_t *memory = &burst->flow[i].memory[slot];

		of_flow.before = correlated_recalled(flow_recall(*memory, mark));
		which |= (uint64_t)correlated_next(&of_flow, draw[i]) << i;
		*memory = flow_remember(of_flow.before, mark);
	}
	return which;
}
