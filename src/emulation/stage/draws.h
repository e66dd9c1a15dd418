/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the draws of a stage come from, for each packet of a burst. This is the one place that
 * knows what they are keyed by: a stage names packet and lane, and does not know the key.
 *
 *   keyed cloud       key of seed, cloud and statement; index: the packet's ordinal in the stage
 *   keyed flow        that key and the name of the flow; index: the packet's number in the flow
 *                     (match/flows.h). A packet that a stage has put behind it, a copy or a
 *                     fragment, has another index
 *   keyed connection  the same with the other name of the flow
 *
 * A stage draws for the packets of its burst before it adds to `drawn`, and before it inserts any.
 *
 * Thread: the worker that owns the cloud.
 */
#ifndef WEIR_DRAWS_H
#define WEIR_DRAWS_H

#include "match/flows.h"
#include "random/chance.h"
#include "stage/stage.h"

/* Where the bits lie in an index that tell apart packets with one number. */
#define DRAWS_PART 48
#define DRAWS_COPY 63

static inline struct draw_place draws_by_flow(const struct stage *stage, const struct burst *burst,
                                              uint32_t i)
{
	const struct burst_flow *flow = &burst->flow[i];
	const uint64_t copy = (burst_flags(burst, i) & PACKET_COPY) != 0;

	return (struct draw_place){keyed_within(stage->key, stage->keyed, flow),
	                           flow->number | flow->part << DRAWS_PART | copy << DRAWS_COPY};
}

/* Returns where packet i of the burst draws. */
static inline struct draw_place draws_place(const struct stage *stage, const struct burst *burst,
                                            uint32_t i)
{
	if (likely(!stage->keyed))
		return (struct draw_place){stage->key, stage->drawn + i};
	return draws_by_flow(stage, burst, i);
}

/* The same as draws_burst, of a stage that is keyed. */
void draws_burst_by_flow(const struct stage *stage, const struct burst *burst, uint32_t lane,
                         uint64_t *draw);

/* Draws once for each packet of the burst. */
static inline void draws_burst(const struct stage *stage, const struct burst *burst, uint32_t lane,
                               uint64_t *draw)
{
	if (likely(!stage->keyed))
		draw_burst(stage->key, stage->drawn, lane, burst->n, draw);
	else
		draws_burst_by_flow(stage, burst, lane, draw);
}

/* The same as draws_chances, of a stage that is keyed. */
uint64_t draws_chances_by_flow(const struct stage *stage, const struct burst *burst, uint32_t lane,
                               const struct chance *chance, enum flow_slot slot,
                               enum flow_mark mark);

/* Decides about each packet of the burst; bit i belongs to packet i. What happened to the packet
 * before is remembered in `chance`, or in the memory of the flow. */
static inline uint64_t draws_chances(const struct stage *stage, const struct burst *burst,
                                     uint32_t lane, struct chance *chance, enum flow_slot slot,
                                     enum flow_mark mark)
{
	uint64_t draw[BURST_ROOM];

	if (unlikely(stage->keyed))
		return draws_chances_by_flow(stage, burst, lane, chance, slot, mark);
	draw_burst(stage->key, stage->drawn, lane, burst->n, draw);
	return chance_next_burst(chance, draw, burst->n);
}

#endif
