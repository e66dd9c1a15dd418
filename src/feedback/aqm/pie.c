/* SPDX-License-Identifier: BSD-3-Clause */
#include "aqm/pie.h"

#include "scenario/field.h"
#include "snapshot/snapshot.h"

typedef __int128 wide;

/* A probability of 1, in millionths of a Hz times ns. */
#define PER_ONE INT64_C(1000000000000000)

#define SHARE(numerator, denominator)                                                              \
	((uint64_t)((unsigned __int128)PROBABILITY_ONE * (numerator) / (denominator)))

/* A sum of 8.5, and 1 more, fits into 64 bits. */
#define ONE_Q59 (UINT64_C(1) << 59)

int64_t pie_step(uint64_t alpha, uint64_t beta, int64_t over_target_ns, int64_t growth_ns,
                 uint32_t shift)
{
	const wide most = (wide)PER_ONE << shift;
	wide step = (wide)alpha * over_target_ns + (wide)beta * growth_ns;

	/* A step is at most 1, so the product below fits. */
	if (step >= most)
		return INT64_MAX;
	if (step <= -most)
		return -INT64_MAX;
	return (int64_t)(step * (wide)PROBABILITY_ONE / most);
}

/* For probabilities from `below` of the row before up to this `below`, a step is divided by
 * 2^shift. */
struct tuning {
	uint64_t below;
	uint32_t shift;
};

static const struct tuning tunings[] = {
        {SHARE(1, 1000000), 11}, {SHARE(1, 100000), 9}, {SHARE(1, 10000), 7}, {SHARE(1, 1000), 5},
        {SHARE(1, 100), 3},      {SHARE(1, 10), 1},     {UINT64_MAX, 0},
};

static const struct tuning *tuning_of(uint64_t probability)
{
	const struct tuning *tuning = tunings;

	while (probability >= tuning->below)
		tuning++;
	return tuning;
}

/* Compares twice the delay: half the target may not be a whole number. */
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

static int64_t step_of(const struct pie *pie, const struct pie_rule *rule)
{
	int64_t step = pie_step(rule->alpha, rule->beta, (int64_t)(pie->delay_ns - rule->target_ns),
	                        (int64_t)(pie->delay_ns - pie->delay_before_ns),
	                        tuning_of(pie->probability)->shift);

	if (rule->cap && pie->probability >= SHARE(1, 10) && step > (int64_t)SHARE(2, 100))
		return (int64_t)SHARE(2, 100);
	return step;
}

static uint64_t within(wide p)
{
	if (p < 0)
		return 0;
	return p > (wide)PROBABILITY_ONE ? PROBABILITY_ONE : (uint64_t)p;
}

static void update(struct pie *pie, const struct pie_rule *rule)
{
	wide p = (wide)pie->probability + step_of(pie, rule);

	if (decays(pie, rule))
		p = p * 49 / 50;
	pie->probability = within(p);
	pie->delay_before_ns = pie->delay_ns;
	pie->burst_ns -= simtime_min(pie->burst_ns, rule->tupdate_ns);
}

/* Returns how many successive updates take the same step: those until the probability leaves its
 * row of the tuning or reaches its bound; UINT64_MAX if the step does not change it. */
static uint64_t equal_steps(const struct pie *pie, int64_t step)
{
	const struct tuning *tuning = tuning_of(pie->probability);
	uint64_t from = tuning > tunings ? tuning[-1].below : 0;
	uint64_t to = tuning->below < PROBABILITY_ONE ? tuning->below : PROBABILITY_ONE;

	if (step == 0 || within((wide)pie->probability + step) == pie->probability)
		return UINT64_MAX;
	if (step < 0)
		return (pie->probability - from) / (uint64_t)-step + 1;
	return (to - pie->probability + (uint64_t)step - 1) / (uint64_t)step;
}

/* Executes the updates from pie->update up to `now`, at least one, as far as their steps are equal,
 * at once. The delay is that of the update before. */
static void update_alike(struct pie *pie, const struct pie_rule *rule, simtime now)
{
	int64_t step = step_of(pie, rule);
	uint64_t n = (now - pie->update) / rule->tupdate_ns + 1, alike = equal_steps(pie, step);

	if (n > alike)
		n = alike;
	pie->probability = within((wide)pie->probability + (wide)n * step);
	pie->burst_ns -= simtime_min(pie->burst_ns, n * rule->tupdate_ns);
	pie->update += n * rule->tupdate_ns;
}

void pie_advance(struct pie *pie, const struct pie_rule *rule, simtime now)
{
	if (!pie->begun) {
		pie->begun = true;
		pie->update = now + rule->tupdate_ns;
		pie->burst_ns = rule->max_burst_ns;
	}
	while (pie->update <= now) {
		bool still = pie->delay_ns == pie->delay_before_ns;

		/* A probability that decays comes to 0 in some 2200 updates. */
		if (still && (pie->probability == 0 || !decays(pie, rule))) {
			update_alike(pie, rule, now);
			continue;
		}
		update(pie, rule);
		pie->update += rule->tupdate_ns;
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

void pie_snapshot(struct pie *pie, struct snapshot *snapshot)
{
	pie->begun = snapshot_flag(snapshot, pie->begun);
	snapshot_value(snapshot, pie->update);
	snapshot_value(snapshot, pie->probability);
	snapshot_value(snapshot, pie->delay_ns);
	snapshot_value(snapshot, pie->delay_before_ns);
	snapshot_value(snapshot, pie->burst_ns);
	snapshot_value(snapshot, pie->gathered_q59);
	snapshot_holds(snapshot, pie->probability <= PROBABILITY_ONE &&
	                                 pie->update < SIMTIME_HORIZON &&
	                                 pie->delay_ns < SIMTIME_HORIZON &&
	                                 pie->delay_before_ns < SIMTIME_HORIZON);
}

/* ---- PI2 ---- */

static void pi2_derive(struct pi2 *pi2, const struct pi2_rule *rule)
{
	pi2->classic = probability_product(pi2->base, pi2->base);
	pi2->scale = within((wide)pi2->base * (wide)rule->coupling / (wide)FACTOR_ONE);
}

static int64_t pi2_step_of(const struct pi2 *pi2, const struct pi2_rule *rule, simtime delay)
{
	return pie_step(rule->alpha, rule->beta, (int64_t)(delay - rule->target_ns),
	                (int64_t)(delay - pi2->delay_before_ns), 0);
}

/* Returns true if all further updates take the same step, or one that changes nothing, as long as
 * the first packet stays the first. This holds if the queues are empty, and were so at the update
 * before. It also holds if the delay grows by tupdate at each update, and either alpha is 0, so
 * that only this growth counts, or p' has reached 1. At the least alpha above 0, p' reaches 1 after
 * some 10^5 updates. */
static bool pi2_goes_on_alike(const struct pi2 *pi2, const struct pi2_rule *rule, simtime delay)
{
	if (delay == 0)
		return pi2->delay_before_ns == 0;
	if (delay < pi2->delay_before_ns || delay - pi2->delay_before_ns != rule->tupdate_ns)
		return false;
	return rule->alpha == 0 ||
	       (pi2->base == PROBABILITY_ONE && pi2_step_of(pi2, rule, delay) >= 0);
}

/* Executes all updates up to `now` at once. pi2_goes_on_alike() must hold. */
static void pi2_update_alike(struct pi2 *pi2, const struct pi2_rule *rule, simtime delay,
                             simtime now)
{
	uint64_t n = (now - pi2->update) / rule->tupdate_ns + 1;

	pi2->base = within((wide)pi2->base + (wide)n * pi2_step_of(pi2, rule, delay));
	pi2->delay_before_ns = delay ? delay + (n - 1) * rule->tupdate_ns : 0;
	pi2->update += n * rule->tupdate_ns;
}

void pi2_advance(struct pi2 *pi2, const struct pi2_rule *rule, simtime first_ns, simtime now)
{
	if (!pi2->begun) {
		pi2->begun = true;
		pi2->update = now + rule->tupdate_ns;
		pi2_derive(pi2, rule);
	}
	if (pi2->update > now)
		return;
	while (pi2->update <= now) {
		simtime delay = first_ns == SIMTIME_NEVER ? 0 : pi2->update - first_ns;

		/* The delay of a waiting packet is 0 at one update at most. */
		if ((first_ns == SIMTIME_NEVER || delay > 0) &&
		    pi2_goes_on_alike(pi2, rule, delay)) {
			pi2_update_alike(pi2, rule, delay, now);
		} else {
			pi2->base = within((wide)pi2->base + pi2_step_of(pi2, rule, delay));
			pi2->delay_before_ns = delay;
			pi2->update += rule->tupdate_ns;
		}
	}
	pi2_derive(pi2, rule);
}

probability_q63 pi2_ramp(const struct pi2_rule *rule, simtime delay_ns)
{
	if (delay_ns <= rule->min_ns)
		return 0;
	if (delay_ns - rule->min_ns >= rule->range_ns)
		return PROBABILITY_ONE;
	return (probability_q63)((unsigned __int128)PROBABILITY_ONE * (delay_ns - rule->min_ns) /
	                         rule->range_ns);
}

void pi2_change(struct pi2 *pi2, const struct pi2_rule *rule)
{
	pi2_derive(pi2, rule);
}

void pi2_snapshot(struct pi2 *pi2, struct snapshot *snapshot)
{
	pi2->begun = snapshot_flag(snapshot, pi2->begun);
	snapshot_value(snapshot, pi2->update);
	snapshot_value(snapshot, pi2->base);
	snapshot_value(snapshot, pi2->classic);
	snapshot_value(snapshot, pi2->scale);
	snapshot_value(snapshot, pi2->delay_before_ns);
	snapshot_holds(snapshot, pi2->update < SIMTIME_HORIZON && pi2->base <= PROBABILITY_ONE &&
	                                 pi2->classic <= PROBABILITY_ONE &&
	                                 pi2->scale <= PROBABILITY_ONE &&
	                                 pi2->delay_before_ns < SIMTIME_HORIZON);
}
