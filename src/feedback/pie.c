/* SPDX-License-Identifier: BSD-3-Clause */
#include "pie.h"

typedef __int128 wide;

/* Millionths of a Hz times ns: of a probability. */
#define PER_ONE INT64_C(1000000000000000)

#define SHARE(numerator, denominator)                                                              \
	((uint64_t)((unsigned __int128)PROBABILITY_ONE * (numerator) / (denominator)))

/* 8.5, and 1 more, fit. */
#define ONE_Q59 (UINT64_C(1) << 59)

int64_t pie_step(uint64_t alpha, uint64_t beta, int64_t over_target_ns, int64_t growth_ns,
                 uint32_t shift)
{
	const wide most = (wide)PER_ONE << shift;
	wide step = (wide)alpha * over_target_ns + (wide)beta * growth_ns;

	/* A step is 1 at most; and the product below fits. */
	if (step >= most)
		return INT64_MAX;
	if (step <= -most)
		return -INT64_MAX;
	return (int64_t)(step * (wide)PROBABILITY_ONE / most);
}

/* By how many powers of 2 a step is divided. */
static uint32_t tuning(uint64_t probability)
{
	static const struct {
		uint64_t below;
		uint32_t shift;
	} rows[] = {
	        {SHARE(1, 1000000), 11}, {SHARE(1, 100000), 9}, {SHARE(1, 10000), 7},
	        {SHARE(1, 1000), 5},     {SHARE(1, 100), 3},    {SHARE(1, 10), 1},
	};

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (probability < rows[i].below)
			return rows[i].shift;
	}
	return 0;
}

/* Half the target is no whole number, perhaps. */
static bool is_short(const struct pie_rule *rule, simtime delay)
{
	return 2 * delay < rule->target_ns;
}

static bool at_peace(const struct pie *pie, const struct pie_rule *rule)
{
	return is_short(rule, pie->delay_ns) && is_short(rule, pie->delay_before_ns);
}

static bool decays(const struct pie *pie, const struct pie_rule *rule)
{
	if (rule->decay_half)
		return at_peace(pie, rule);
	return pie->delay_ns == 0 && pie->delay_before_ns == 0;
}

static void update(struct pie *pie, const struct pie_rule *rule)
{
	wide p = pie->probability;
	int64_t step =
	        pie_step(rule->alpha, rule->beta, (int64_t)(pie->delay_ns - rule->target_ns),
	                 (int64_t)(pie->delay_ns - pie->delay_before_ns), tuning(pie->probability));

	if (rule->cap && pie->probability >= SHARE(1, 10) && step > (int64_t)SHARE(2, 100))
		step = (int64_t)SHARE(2, 100);
	p += step;
	if (decays(pie, rule))
		p = p * 49 / 50;
	if (p < 0)
		p = 0;
	if (p > (wide)PROBABILITY_ONE)
		p = PROBABILITY_ONE;
	pie->probability = (uint64_t)p;
	pie->delay_before_ns = pie->delay_ns;
	pie->burst_ns -= simtime_min(pie->burst_ns, rule->tupdate_ns);
}

void pie_advance(struct pie *pie, const struct pie_rule *rule, simtime now)
{
	if (!pie->begun) {
		pie->begun = true;
		pie->update = now + rule->tupdate_ns;
		pie->burst_ns = rule->max_burst_ns;
	}
	while (pie->update <= now) {
		const struct pie before = *pie;

		update(pie, rule);
		pie->update += rule->tupdate_ns;
		if (pie->probability != before.probability || pie->burst_ns != before.burst_ns ||
		    pie->delay_before_ns != before.delay_before_ns || pie->update > now)
			continue;
		/* Nor will the others. */
		pie->update += ((now - pie->update) / rule->tupdate_ns + 1) * rule->tupdate_ns;
	}
}

static bool drops_early(struct pie *pie, const struct pie_rule *rule, uint64_t waiting_bytes,
                        uint64_t draw)
{
	if ((is_short(rule, pie->delay_before_ns) && pie->probability < SHARE(1, 5)) ||
	    waiting_bytes <= 2 * rule->mean_bytes)
		return false;
	if (!rule->derandomize)
		return draw_below(draw, pie->probability);
	if (pie->probability == 0)
		pie->gathered_q59 = 0;
	pie->gathered_q59 += pie->probability >> 4;
	if (pie->gathered_q59 < SHARE(85, 100) >> 4)
		return false;
	if (pie->gathered_q59 < ONE_Q59 * 17 / 2 && !draw_below(draw, pie->probability))
		return false;
	pie->gathered_q59 = 0;
	return true;
}

bool pie_select(struct pie *pie, const struct pie_rule *rule, uint64_t waiting_bytes, uint64_t draw)
{
	if (pie->burst_ns == 0 && drops_early(pie, rule, waiting_bytes, draw))
		return true;
	if (pie->probability == 0 && at_peace(pie, rule))
		pie->burst_ns = rule->max_burst_ns;
	return false;
}

void pie_overflowed(struct pie *pie)
{
	pie->gathered_q59 = 0;
}

void pie_change(struct pie *pie, const struct pie_rule *rule)
{
	pie->burst_ns = simtime_min(pie->burst_ns, rule->max_burst_ns);
}
