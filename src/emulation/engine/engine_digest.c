/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/engine_digest.h"

#include "engine/engine_state.h"
#include "packet/digest.h"

#define SLOTS_LOOKED_AT 64u

/* The weir that recorded a run may know fewer reasons and counters (counters.h). Later counters are
 * not compared, nor are later reasons for which nothing was dropped. */
static uint64_t digest_counters(uint64_t digest, const struct counters *counters)
{
	uint32_t reasons = REASON_COUNT;

	while (reasons > REASONS_AT_FIRST && counters->drops[reasons - 1] == 0)
		reasons--;
	return digest_bytes(digest, (const uint8_t *)counters,
	                    DROPS(DOWN) + reasons * sizeof(counters->drops[0]));
}

bool engine_digest_at(const struct engine *engine, uint32_t slot, struct engine_digest *digest)
{
	const struct cloud_table *cloud_table = engine->cloud_table;
	const struct cloud *cloud = slot < cloud_table->n_slots ? cloud_table->slots[slot] : NULL;

	if (!cloud)
		return false;
	*digest = (struct engine_digest){
	        .slot = slot,
	        .cloud = cloud->name,
	        .counters = digest_counters(cloud_held(cloud), &cloud->counters),
	        .over = cloud_is_closed(cloud) && cloud_is_at_rest(cloud),
	};
	return true;
}

bool engine_digest_next(const struct engine *engine, uint32_t *next, struct engine_digest *digest)
{
	const uint32_t slots = engine->cloud_table->n_slots;

	for (uint32_t i = 0; i < SLOTS_LOOKED_AT && i < slots; i++) {
		const uint32_t slot = *next < slots ? *next : 0;

		*next = slot + 1;
		if (engine_digest_at(engine, slot, digest))
			return true;
	}
	return false;
}
