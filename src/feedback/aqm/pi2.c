/* SPDX-License-Identifier: BSD-3-Clause */
#include "aqm/pi2.h"

#include "aqm/pie.h"
#include "scenario/field.h"
#include "snapshot/snapshot.h"

typedef __int128 wide;

static probability_q63 within(wide p)
{
	if (p < 0)
		return 0;
	return p > (wide)PROBABILITY_ONE ? PROBABILITY_ONE : (probability_q63)p;
}

static void derive(struct pi2 *pi2, const struct pi2_rule *rule)
{
	pi2->classic = probability_product(pi2->base, pi2->base);
	pi2->scale = within((wide)pi2->base * (wide)rule->coupling / (wide)FACTOR_ONE);
}

static int64_t step_of(const struct pi2 *pi2, const struct pi2_rule *rule, simtime delay)
{
	return pie_step(rule->alpha, rule->beta, (int64_t)(delay - rule->target_ns),
	                (int64_t)(delay - pi2->delay_before_ns), 0);
}

static void update(struct pi2 *pi2, const struct pi2_rule *rule, simtime delay)
{
	pi2->base = within((wide)pi2->base + step_of(pi2, rule, delay));
	pi2->delay_before_ns = delay;
	pi2->update += rule->tupdate_ns;
}

/* Returns true if all further updates take the same step, or one that changes nothing, as long as
 * the first packet stays the first. This holds if the queues are empty, and were so at the update
 * before. It also holds if the delay grows by tupdate at each update, and either alpha is 0, so
 * that only this growth counts, or p' has reached 1. At the least alpha above 0, p' reaches 1 after
 * some 10^5 updates. */
static bool goes_on_alike(const struct pi2 *pi2, const struct pi2_rule *rule, simtime delay)
{
	if (delay == 0)
		return pi2->delay_before_ns == 0;
	if (delay < pi2->delay_before_ns || delay - pi2->delay_before_ns != rule->tupdate_ns)
		return false;
	return rule->alpha == 0 || (pi2->base == PROBABILITY_ONE && step_of(pi2, rule, delay) >= 0);
}

/* Executes all updates up to `now` at once. goes_on_alike() must hold. */
static void update_alike(struct pi2 *pi2, const struct pi2_rule *rule, simtime delay, simtime now)
{
	uint64_t n = (now - pi2->update) / rule->tupdate_ns + 1;

	pi2->base = within((wide)pi2->base + (wide)n * step_of(pi2, rule, delay));
	pi2->delay_before_ns = delay ? delay + (n - 1) * rule->tupdate_ns : 0;
	pi2->update += n * rule->tupdate_ns;
}

void pi2_advance(struct pi2 *pi2, const struct pi2_rule *rule, simtime first_ns, simtime now)
{
	if (!pi2->begun) {
		pi2->begun = true;
		pi2->update = now + rule->tupdate_ns;
		derive(pi2, rule);
	}
	if (pi2->update > now)
		return;
	while (pi2->update <= now) {
		simtime delay = first_ns == SIMTIME_NEVER ? 0 : pi2->update - first_ns;

		/* The delay of a waiting packet is 0 at one update at most. */
		if ((first_ns == SIMTIME_NEVER || delay > 0) && goes_on_alike(pi2, rule, delay))
			update_alike(pi2, rule, delay, now);
		else
			update(pi2, rule, delay);
	}
	derive(pi2, rule);
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
	derive(pi2, rule);
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
