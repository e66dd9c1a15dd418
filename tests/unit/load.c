/* SPDX-License-Identifier: BSD-3-Clause */
#include "load.h"

#include "random/draw.h"

uint32_t load_bytes(uint32_t number)
{
	static const uint32_t sizes[] = {60, 552, 1000, 1500, 1500};

	return sizes[draw_index(draw_u64((struct draw_key){{1, 2}}, number, 0), 5)];
}

simtime load_gap_ns(uint32_t number)
{
	uint64_t percent = 90 + draw_u64((struct draw_key){{3, 4}}, number / 3000, 0) % 41;

	/* the mean size is 922 B */
	return draw_index(draw_u64((struct draw_key){{5, 6}}, number, 0), 2 * 92200 / percent) *
	       SIMTIME_US;
}
