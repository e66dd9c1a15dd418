/* SPDX-License-Identifier: BSD-3-Clause */
#include "aqm/red.h"

#include <math.h>
#include <string.h>

#include "simtime.h"
#include "snapshot/snapshot.h"

/* Returns the average after m arrivals at an empty queue, in at most 64 rounds. */
static quantity_q64 red_average_idle(quantity_q64 average, uint64_t m, probability_q63 weight)
{
	probability_q63 kept = PROBABILITY_ONE, factor = PROBABILITY_ONE - weight;

	/* Squares the factor; a share of 0 stays 0. */
	for (; m && kept; m >>= 1) {
		if (m & 1)
			kept = probability_product(kept, factor);
		factor = probability_product(factor, factor);
	}
	return quantity_share(average, kept);
}

/* Returns how many packets of `mean_bytes` the rate sends in that time; at most UINT64_MAX. */
static uint64_t red_average_packets(uint64_t idle_ns, uint64_t rate_bps, uint32_t mean_bytes)
{
	unsigned __int128 packets =
	        (unsigned __int128)idle_ns * rate_bps / (8 * SIMTIME_S * mean_bytes);

	return packets > UINT64_MAX ? UINT64_MAX : (uint64_t)packets;
}

struct p_mod p_mod_make(double c1, double c2)
{
	double ratio = c2 / c1;
	struct p_mod mod;
	int exponent;
	double mantissa = frexp(2 * ratio * ratio, &exponent); /* [0.5, 1) */

	mod.mantissa = (uint32_t)(mantissa * 0x1p32);
	mod.exponent = 32 - exponent;
	return mod;
}

static uint64_t square_q64(uint64_t x_q64)
{
	return (uint64_t)(((unsigned __int128)x_q64 * x_q64) >> 64);
}

bool p_mod_selects(struct p_mod mod, probability_q63 p, uint64_t draw)
{
	unsigned __int128 left = (unsigned __int128)(PROBABILITY_ONE - p) * square_q64(draw);
	unsigned __int128 right = (unsigned __int128)p * square_q64(~draw);
	int32_t shift = mod.exponent - 32;

	if (p == PROBABILITY_ONE)
		return true;
	/* Both products have 127 bits: dropping 32 of them makes room for the mantissa. */
	left = (left >> 32) * mod.mantissa;
	right = right >> 32 << 32;
	if (shift >= 0)
		return (shift < 128 ? left >> shift : 0) < right;
	return left < (shift > -128 ? right >> -shift : 0);
}

double p_mod_of(struct p_mod mod, double p)
{
	if (p <= 0)
		return 0;
	return 1 / (1 + sqrt(ldexp(mod.mantissa, -mod.exponent) * (1 - p) / p));
}

/* ns-2's values of adaptive_ (tcl/lib/ns-default.tcl) */
#define ADAPT_INTERVAL_NS (SIMTIME_S / 2)
#define ADAPT_BOTTOM_BPS  80000

static probability_q63 percent(uint32_t n)
{
	return PROBABILITY_ONE / 100 * n;
}

/* ---- the rule: control ---- */

static uint32_t bits_of(quantity_q64 x)
{
	if (x >> 64)
		return 128 - (uint32_t)__builtin_clzll((uint64_t)(x >> 64));
	return x ? 64 - (uint32_t)__builtin_clzll((uint64_t)x) : 0;
}

/* A span is 0, in which nothing can lie, or at least one unit. */
static struct red_span span_make(quantity_q64 span)
{
	struct red_span made = {0};

	if (span < QUANTITY_ONE)
		return made;
	made.shift = bits_of(span) - 64;
	made.inverse = (uint64_t)(((unsigned __int128)1 << 126) / (uint64_t)(span >> made.shift));
	return made;
}

void red_rule_make(struct red_rule *rule, const struct red_setup *setup)
{
	quantity_q64 part = quantity_share(setup->max - setup->min, percent(40));

	memset(rule, 0, sizeof(*rule));
	rule->setup = *setup;
	rule->forced_from = setup->gentle ? 2 * setup->max : setup->max;
	rule->mark_limit = setup->mark_limit ? setup->mark_limit : rule->forced_from;
	rule->adapt_low = setup->min + part;
	rule->adapt_high = setup->max - part;
	rule->between = span_make(setup->max - setup->min);
	rule->beyond = span_make(setup->max);
}

void red_begin(struct red *red, const struct red_rule *rule, simtime now)
{
	memset(red, 0, sizeof(*red));
	red->max_p = rule->setup.max_p;
	red->adapted_ns = now;
	red_idle(red, now);
}

void red_change(struct red *red, const struct red_rule *old, const struct red_rule *rule)
{
	if (!rule->setup.adaptive || rule->setup.max_p != old->setup.max_p)
		red->max_p = rule->setup.max_p;
	if (old->setup.bytes && !rule->setup.bytes)
		red->average /= old->setup.mean_bytes;
	if (!old->setup.bytes && rule->setup.bytes)
		red->average *= rule->setup.mean_bytes;
}

/* ---- arrivals: the worker ---- */

static probability_q63 adapt_bottom(uint64_t rate_bps)
{
	if (rate_bps <= 100 * ADAPT_BOTTOM_BPS)
		return percent(1);
	return (probability_q63)(((unsigned __int128)ADAPT_BOTTOM_BPS << 63) / rate_bps);
}

static __attribute__((noinline)) void adapt(struct red *red, const struct red_rule *rule,
                                            simtime now, uint64_t rate_bps)
{
	probability_q63 step;

	if (now <= red->adapted_ns + ADAPT_INTERVAL_NS)
		return;
	if (red->average < rule->adapt_low && red->max_p > adapt_bottom(rate_bps)) {
		red->max_p = probability_product(red->max_p, percent(90));
		red->adapted_ns = now;
	} else if (red->average > rule->adapt_high && red->max_p < percent(50)) {
		step = red->max_p / 4;
		red->max_p += step < percent(1) ? step : percent(1);
		red->adapted_ns = now;
	}
}

/* Returns the average after the idle time that ends now. */
static __attribute__((noinline)) quantity_q64
faded(const struct red *red, const struct red_rule *rule, simtime now, uint64_t rate_bps)
{
	uint64_t m = red_average_packets(now - red->idle_ns, rate_bps, rule->setup.mean_bytes);

	return red_average_idle(red->average, m, rule->setup.weight);
}

/* Returns the average before the arriving packet. */
static inline quantity_q64 average_now(const struct red *red, const struct red_rule *rule,
                                       simtime now, uint64_t rate_bps)
{
	/* An idle time of 0, or an average of 0, changes nothing. */
	if (red->idle && now > red->idle_ns && red->average > 0)
		return faded(red, rule, now, rate_bps);
	return red->average;
}

static probability_q63 part_of(quantity_q64 distance, struct red_span span)
{
	return (probability_q63)(((unsigned __int128)(uint64_t)(distance >> span.shift) *
	                          span.inverse) >>
	                         63);
}

/* Returns p for an average from min up to the forced zone. */
static probability_q63 base_probability(const struct red_rule *rule, quantity_q64 average,
                                        probability_q63 max_p)
{
	const struct red_setup *setup = &rule->setup;

	if (average < setup->max)
		return probability_product(part_of(average - setup->min, rule->between), max_p);
	return setup->max_p + probability_product(part_of(average - setup->max, rule->beyond),
	                                          PROBABILITY_ONE - setup->max_p);
}

probability_q63 red_probability(const struct red_rule *rule, quantity_q64 average)
{
	if (average < rule->setup.min)
		return 0;
	if (average >= rule->forced_from)
		return PROBABILITY_ONE;
	return base_probability(rule, average, rule->setup.max_p);
}

/* Returns true if the draw is below p', which is p / spread, in bytes times size / mean. The draw
 * is multiplied, to avoid a division. */
static bool drawn_below(uint64_t draw, probability_q63 p, probability_q63 spread,
                        const struct red_rule *rule, uint32_t wire_bytes)
{
	uint64_t scaled = (uint64_t)(((unsigned __int128)draw * spread) >> 64);

	if (p >= spread)
		return true;
	if (!rule->setup.bytes)
		return scaled < p;
	return (unsigned __int128)scaled * rule->setup.mean_bytes <
	       (unsigned __int128)p * wire_bytes;
}

static bool ns2_selects(struct red *red, const struct red_rule *rule,
                        const struct red_arrival *arrival)
{
	const struct red_setup *setup = &rule->setup;
	uint64_t count = setup->bytes ? red->count_bytes / setup->mean_bytes : red->count;
	unsigned __int128 reached = (unsigned __int128)count * red->p;
	unsigned __int128 end = (unsigned __int128)PROBABILITY_ONE << setup->wait;

	if (setup->unspaced)
		return drawn_below(arrival->draw, red->p, PROBABILITY_ONE, rule,
		                   arrival->wire_bytes);
	if (!red->above_min) {
		red->above_min = true;
		red->count = 1;
		red->count_bytes = arrival->wire_bytes;
		return false;
	}
	if (setup->wait && reached < PROBABILITY_ONE)
		return false;
	if (reached < end && !drawn_below(arrival->draw, red->p, (probability_q63)(end - reached),
	                                  rule, arrival->wire_bytes))
		return false;
	red->count = 0;
	red->count_bytes = 0;
	return true;
}

static bool selects(struct red *red, const struct red_rule *rule, const struct red_arrival *arrival)
{
	if (rule->setup.selection != RED_SPACED)
		return ns2_selects(red, rule, arrival);
	if (arrival->capable)
		return red_spacing_next(&red->marking, red->p, arrival->draw);
	return red_spacing_next(&red->dropping, probability_product(red->p, rule->setup.alpha),
	                        arrival->draw);
}

static void spacing_reset(struct red *red)
{
	red_spacing_reset(&red->marking);
	red_spacing_reset(&red->dropping);
}

/* Returns true if p_mod decides about the packet, which is then in no count. */
static inline bool is_mapped(const struct red_rule *rule, const struct red_arrival *arrival)
{
	return rule->setup.selection == RED_MAPPED && arrival->chosen && arrival->capable;
}

enum red_verdict red_judge(struct red *red, const struct red_rule *rule,
                           const struct red_arrival *arrival)
{
	bool mapped = is_mapped(rule, arrival);
	bool mark = arrival->capable && red->average < rule->mark_limit;

	if (red->average >= rule->forced_from) {
		red->p = PROBABILITY_ONE;
		spacing_reset(red);
		if (!mapped)
			red_overflow(red);
		return mark ? RED_MARK_FORCED : RED_DROP_FORCED;
	}
	red->p = base_probability(rule, red->average, red->max_p);
	if (mapped ? !p_mod_selects(rule->setup.p_mod, red->p, arrival->draw)
	           : !selects(red, rule, arrival))
		return RED_PASS;
	return mark ? RED_MARK_EARLY : RED_DROP_EARLY;
}

/* Records a packet that found the average below min, or at most 1 waiting. */
static inline void pass(struct red *red)
{
	red->above_min = false;
	red->p = 0;
	spacing_reset(red);
}

bool red_reaches_judge(struct red *red, const struct red_rule *rule, struct red_group *group)
{
	const struct red_setup *setup = &rule->setup;
	/* How much each packet adds to the queue: a constant, and a mask of its length. */
	const uint64_t packet = group->wait && !setup->bytes;
	const uint64_t of_length = group->wait && setup->bytes ? UINT64_MAX : 0;
	quantity_q64 average = average_now(red, rule, group->now, group->rate_bps);
	/* Nothing waits, and the average is 0: it stays 0. */
	const bool still = !group->wait && group->queue == 0 && average == 0 && !setup->adaptive;
	uint64_t queue = group->queue, bytes = 0;
	bool judged = false;
	uint16_t n = still ? group->n : 0;

	while (n < group->n && !judged) {
		/* max_p adapts after each packet. */
		const uint16_t until = setup->adaptive ? n + 1 : group->n;

		for (; n < until && !judged; n++) {
			average = red_average_next(average, queue, setup->weight);
			judged = __builtin_expect(average >= setup->min, 0) && queue > 1;
			if (!judged)
				queue += packet + (group->length[n] & of_length);
		}
		if (__builtin_expect(setup->adaptive, 0)) {
			red->average = average;
			adapt(red, rule, group->now, group->rate_bps);
		}
	}
	if (n == 0)
		return false;
	for (uint16_t i = 0; i < n; i++)
		bytes += group->length[i];
	red->average = average;
	red->idle = false;
	red->count += group->uncounted ? 0 : n;
	red->count_bytes += group->uncounted ? 0 : bytes;
	n -= judged;
	if (n > 0)
		pass(red);
	group->queue = queue;
	group->length += n;
	group->n -= n;
	return judged;
}

enum red_verdict red_arrive(struct red *red, const struct red_rule *rule,
                            const struct red_arrival *arrival)
{
	struct red_group alone = {.now = arrival->now,
	                          .queue = arrival->queue,
	                          .rate_bps = arrival->rate_bps,
	                          .uncounted = is_mapped(rule, arrival),
	                          .n = 1,
	                          .length = &arrival->wire_bytes};

	return red_reaches_judge(red, rule, &alone) ? red_judge(red, rule, arrival) : RED_PASS;
}

/* ---- snapshots ---- */

static void spacing_snapshot(struct red_spacing *spacing, struct snapshot *snapshot)
{
	snapshot_value(snapshot, spacing->count);
	snapshot_value(snapshot, spacing->r_q63);
	spacing->drawn = snapshot_flag(snapshot, spacing->drawn);
}

void red_snapshot(struct red *red, struct snapshot *snapshot)
{
	snapshot_value(snapshot, red->average);
	snapshot_value(snapshot, red->count);
	snapshot_value(snapshot, red->count_bytes);
	spacing_snapshot(&red->marking, snapshot);
	spacing_snapshot(&red->dropping, snapshot);
	snapshot_value(snapshot, red->max_p);
	snapshot_value(snapshot, red->p);
	snapshot_value(snapshot, red->adapted_ns);
	snapshot_value(snapshot, red->idle_ns);
	red->idle = snapshot_flag(snapshot, red->idle);
	red->above_min = snapshot_flag(snapshot, red->above_min);
	snapshot_holds(snapshot, red->average >> 127 == 0 && red->max_p <= PROBABILITY_ONE &&
	                                 red->p <= PROBABILITY_ONE);
}
