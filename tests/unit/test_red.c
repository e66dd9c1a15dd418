/* SPDX-License-Identifier: BSD-3-Clause */
/* RED compared with a reference in double precision, and with the statements of the papers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "aqm/red.h"
#include "bottleneck.h"
#include "red_reference.h"
#include "runner/group.h"

#define RATE_BPS    10000000
#define LIMIT_BYTES 90000

static quantity_q64 quantity(uint64_t units)
{
	return (quantity_q64)units << 64;
}

static double as_double(quantity_q64 x)
{
	return (double)(uint64_t)(x >> 64) + (double)(uint64_t)x * 0x1p-64;
}

static probability_q63 q63(double p)
{
	return (probability_q63)(p * 0x1p63);
}

static double uniform(uint64_t draw)
{
	return (double)(draw >> 11) * 0x1p-53;
}

static struct red_setup setup_from(const struct reference_setup *reference)
{
	return (struct red_setup){
	        .min = quantity((uint64_t)reference->min),
	        .max = quantity((uint64_t)reference->max),
	        .max_p = q63(reference->max_p),
	        .weight = q63(reference->weight),
	        .bytes = reference->bytes,
	        .gentle = reference->gentle,
	        .wait = reference->wait,
	        .adaptive = reference->adaptive,
	        .mean_bytes = (uint32_t)reference->mean_bytes,
	};
}

/* ---- compared on one bottleneck ---- */

struct sides {
	struct draw_key key;
	struct bottleneck link;
	struct red red;
	struct red_rule rule;
	struct reference reference;
	uint64_t now;
	double worst; /* difference of the averages, relative to them or to one unit */
	uint64_t selected, forced, overflown, idle;
};

/* The load varies slowly from 60 to 140 % of the rate, with an occasional pause of a second, so
 * that the queue crosses every threshold both ways and is idle at times. */
static uint32_t next_arrival(struct sides *sides, uint64_t i)
{
	static const uint32_t sizes[] = {40, 552, 1000, 1000, 1500, 1500, 1500};
	uint32_t size = sizes[draw_index(draw_u64(sides->key, i, 1), 7)];
	double load = 1 + 0.4 * sin((double)i / 3000);
	double gap_s = -log(1 - uniform(draw_u64(sides->key, i, 2))) * 1013 * 8 / RATE_BPS / load;

	if (draw_u64(sides->key, i, 3) < UINT64_MAX / 5000)
		gap_s += 1;
	sides->now += 1 + (uint64_t)(gap_s * 1e9);
	return size;
}

static void both_arrive(struct sides *sides, uint64_t i)
{
	uint32_t size = next_arrival(sides, i);
	uint64_t draw = draw_u64(sides->key, i, 0);
	bool bytes = sides->rule.setup.bytes;
	struct red_arrival arrival = {.wire_bytes = size, .draw = draw, .rate_bps = RATE_BPS};
	enum reference_verdict wanted;
	enum red_verdict verdict;
	double average, difference;

	bottleneck_advance_to(&sides->link, sides->now);
	if (sides->link.emptied) {
		red_idle(&sides->red, sides->link.emptied_ns);
		reference_idle(&sides->reference, (double)sides->link.emptied_ns * 1e-9);
		sides->idle++;
	}
	arrival.now = sides->now;
	arrival.queue = bytes ? bottleneck_bytes(&sides->link) : bottleneck_packets(&sides->link);
	verdict = red_arrive(&sides->red, &sides->rule, &arrival);
	wanted = reference_arrive(&sides->reference, (double)sides->now * 1e-9, (long)arrival.queue,
	                          size, uniform(draw));
	average = sides->reference.average;
	difference = fabs(as_double(sides->red.average) - average) / fmax(average, 1);
	sides->worst = fmax(sides->worst, difference);
	assert_int_equal(verdict, wanted == REFERENCE_EARLY    ? RED_DROP_EARLY
	                          : wanted == REFERENCE_FORCED ? RED_DROP_FORCED
	                                                       : RED_PASS);
	sides->selected += verdict == RED_DROP_EARLY;
	sides->forced += verdict == RED_DROP_FORCED;
	if (verdict != RED_PASS)
		return;
	if (bottleneck_bytes(&sides->link) + size > LIMIT_BYTES) {
		red_overflow(&sides->red);
		reference_overflow(&sides->reference);
		sides->overflown++;
		return;
	}
	bottleneck_push(&sides->link, sides->now, size);
}

static void run_sides(struct sides *sides, const struct reference_setup *setup, uint64_t arrivals)
{
	struct red_setup fixed = setup_from(setup);

	memset(sides, 0, sizeof(*sides));
	sides->key = draw_key_make(1, "red", "sides");
	sides->link.rate_bps = RATE_BPS;
	sides->reference = reference_make(setup);
	red_rule_make(&sides->rule, &fixed);
	red_begin(&sides->red, &sides->rule, 0);
	for (uint64_t i = 0; i < arrivals; i++)
		both_arrive(sides, i);
}

/* The bound. RED's average is within 2^-64 / weight of the exact value. The reference's double
 * rounds its average three times an arrival, by at most 2^-53 of it each, and these errors decay
 * with the weight: 3.4e-16 / weight of it, which is 1.7e-13 at 0.002 and 3.4e-10 at 1e-6. pow() and
 * the idle time in seconds add as much again. So one millionth of the average, or of a unit below
 * one unit, is far more than either needs. */
static void the_average_of_a_million_arrivals_is_the_references_to_a_millionth(void **state)
{
	static const struct {
		double weight;
		bool bytes;
	} cases[] = {{0.002, true}, {0.002, false}, {1, true}, {0.25, false}, {1e-6, true}};
	struct sides sides;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct reference_setup setup = {
		        .min = cases[i].bytes ? 15000 : 15,
		        .max = cases[i].bytes ? 45000 : 45,
		        .max_p = 0.1,
		        .weight = cases[i].weight,
		        .bytes = cases[i].bytes,
		        .wait = true,
		        .mean_bytes = 1000,
		        .rate_bps = RATE_BPS,
		};

		run_sides(&sides, &setup, i == 0 ? 1000000 : 200000);
		assert_true(sides.worst < 1e-6);
		assert_true(sides.worst < 1e-8); /* the difference in fact */
		assert_true(sides.idle > 1000);
	}
}

/* A draw may lie between the double's threshold and RED's, which differ by about 1e-12: for 10^6
 * draws that has a chance of 10^-6, and the seed is fixed. */
static void decisions_are_the_references_for_the_same_draws(void **state)
{
	struct sides sides;

	(void)state;
	for (unsigned kind = 0; kind < 16; kind++) {
		struct reference_setup setup = {
		        .bytes = kind & 1,
		        .min = kind & 1 ? 15000 : 15,
		        .max = kind & 1 ? 45000 : 45,
		        .max_p = kind & 8 ? 0.02 : 0.1,
		        .weight = 0.002,
		        .gentle = kind & 2,
		        .wait = kind & 4,
		        .adaptive = kind & 8,
		        .mean_bytes = 1000,
		        .rate_bps = RATE_BPS,
		};

		run_sides(&sides, &setup, 60000);
		assert_true(sides.selected > 300);
		if (setup.adaptive)
			assert_true(fabs((double)sides.red.max_p * 0x1p-63 -
			                 sides.reference.max_p) < 1e-12);
		else if (!setup.gentle)
			assert_true(sides.forced > 0);
	}
}

/* ---- shares at a constant average ---- */

/* Returns the share of packets selected. The queue is as long as the average, so the average
 * stays. */
static double share_selected(const struct reference_setup *setup, uint64_t level, uint32_t size,
                             uint64_t arrivals)
{
	struct red_setup fixed = setup_from(setup);
	struct red_arrival arrival = {.queue = level, .wire_bytes = size, .rate_bps = RATE_BPS};
	struct draw_key key = draw_key_make(level, "red", "share");
	uint64_t selected = 0;
	struct red_rule rule;
	struct red red;

	red_rule_make(&rule, &fixed);
	red_begin(&red, &rule, 0);
	red.average = quantity(level);
	for (uint64_t i = 0; i < arrivals; i++) {
		arrival.draw = draw_u64(key, i, 0);
		selected += red_arrive(&red, &rule, &arrival) != RED_PASS;
		assert_true(red.average == quantity(level));
	}
	return (double)selected / (double)arrivals;
}

/* The bound: the numbers of packets between two selected ones are independent, and vary less than
 * geometric ones of the same mean. So the count of selected packets varies less than a binomial
 * one. The bound is 4.5 standard deviations of that, which one of 160 cases exceeds with a chance
 * below 0.2 %, and the seed is fixed. */
static void the_share_selected_is_within_the_binomial_bound_at_ten_levels(void **state)
{
	const uint64_t arrivals = 50000;

	(void)state;
	for (unsigned kind = 0; kind < 16; kind++) {
		bool bytes = kind & 1;
		uint64_t unit = bytes ? 1000 : 1;
		struct reference_setup setup = {
		        .bytes = bytes,
		        .min = (double)(16 * unit),
		        .max = (double)(47 * unit),
		        .max_p = 0.1,
		        .weight = 0.002,
		        .gentle = kind & 2,
		        .wait = kind & 4,
		        .mean_bytes = 1000,
		        .rate_bps = RATE_BPS,
		};
		uint32_t size = kind & 8 ? 552 : 1000;

		for (uint64_t i = 1; i <= 10; i++) {
			uint64_t level = 16 * unit + (2 * 47 - 16) * unit * i / 10;
			double share = reference_share(&setup, (double)level, size);
			double bound = 4.5 * sqrt(share * (1 - share) / (double)arrivals);

			assert_true(fabs(share_selected(&setup, level, size, arrivals) - share) <=
			            bound + 2.0 / (double)arrivals);
		}
	}
}

/* ---- p_mod ---- */

static void p_mod_is_the_papers(void **state)
{
	static const struct {
		double p, p_mod;
	} cases[] = {{0, 0}, {0.01, 0.0343}, {0.1, 0.1054}, {0.2, 0.1502}, {0.5, 0.2612}, {1, 1}};
	struct p_mod mod = p_mod_make(0.0625, 0.125);

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_true(fabs(p_mod_of(mod, cases[i].p) - cases[i].p_mod) < 1e-4);
}

/* Draws that divide the range evenly: the packet is selected by those below p_mod, and by no
 * others. */
static void as_many_draws_select_as_p_mod_says(void **state)
{
	static const struct {
		double c1, c2;
	} mods[] = {{0.0625, 0.125}, {0.125, 0.125}, {0.25, 0.125}, {1, 1e-6}, {1e-6, 1}, {1, 1}};
	static const double ps[] = {0, 1e-9, 0.001, 0.01, 0.1, 0.2, 0.5, 0.9, 0.9999999, 1};
	const uint64_t n = 20000;

	(void)state;
	for (unsigned m = 0; m < sizeof(mods) / sizeof(mods[0]); m++) {
		struct p_mod mod = p_mod_make(mods[m].c1, mods[m].c2);

		for (unsigned i = 0; i < sizeof(ps) / sizeof(ps[0]); i++) {
			double wanted = p_mod_of(mod, ps[i]) * (double)n;
			uint64_t below = 0;

			for (uint64_t k = 0; k < n; k++)
				below += p_mod_selects(mod, q63(ps[i]),
				                       UINT64_MAX / n * k + UINT64_MAX / n / 2);
			assert_true(fabs((double)below - wanted) <= 0.5 + 1e-6 * (double)n);
		}
	}
}

static const struct red_setup paper_bytes = {
        .bytes = true,
        .wait = true,
        .mean_bytes = 1000,
};

static struct red_setup with_thresholds(struct red_setup setup, uint64_t min, uint64_t max)
{
	setup.min = quantity(min);
	setup.max = quantity(max);
	setup.max_p = q63(0.1);
	setup.weight = q63(0.002);
	return setup;
}

struct shares {
	uint64_t passed[2], marked[2], early[2], forced[2]; /* [1]: of the second kind */
};

/* Sends packets of two kinds in turn; bit 0 of `capable` and `chosen` is for the first kind. */
static struct shares run_turns(const struct red_setup *setup, uint64_t level, unsigned capable,
                               unsigned chosen, uint64_t arrivals)
{
	struct red_arrival arrival = {.queue = level, .wire_bytes = 1000, .rate_bps = RATE_BPS};
	struct draw_key key = draw_key_make(7, "red", "turns");
	struct shares shares = {0};
	struct red_rule rule;
	struct red red;

	red_rule_make(&rule, setup);
	red_begin(&red, &rule, 0);
	red.average = quantity(level);
	for (uint64_t i = 0; i < arrivals; i++) {
		arrival.draw = draw_u64(key, i, 0);
		arrival.capable = capable >> i % 2 & 1;
		arrival.chosen = chosen >> i % 2 & 1;
		switch (red_arrive(&red, &rule, &arrival)) {
		case RED_PASS:
			shares.passed[i % 2]++;
			break;
		case RED_MARK_EARLY:
		case RED_MARK_FORCED:
			shares.marked[i % 2]++;
			break;
		case RED_DROP_EARLY:
			shares.early[i % 2]++;
			break;
		case RED_DROP_FORCED:
			shares.forced[i % 2]++;
			break;
		}
	}
	return shares;
}

static void assert_share(uint64_t count, uint64_t of, double share)
{
	double bound = 4.5 * sqrt(share * (1 - share) / (double)of) + 2.0 / (double)of;

	assert_true(fabs((double)count / (double)of - share) <= bound);
}

static void chosen_flows_are_marked_with_p_mod_and_others_by_plain_red(void **state)
{
	const uint64_t n = 200000;
	struct red_setup setup = with_thresholds(paper_bytes, 20000, 60000);
	struct reference_setup plain = {.min = 20000,
	                                .max = 60000,
	                                .max_p = 0.1,
	                                .bytes = true,
	                                .wait = true,
	                                .gentle = true,
	                                .mean_bytes = 1000};
	struct shares shares;

	(void)state;
	setup.gentle = true;
	setup.selection = RED_MAPPED;
	setup.p_mod = p_mod_make(0.0625, 0.125);
	for (uint64_t level = 30000; level < 120000; level += 17001) {
		double p = level < 60000 ? 0.1 * (double)(level - 20000) / 40000
		                         : 0.1 + 0.9 * (double)(level - 60000) / 60000;

		shares = run_turns(&setup, level, 3, 1, 2 * n);
		assert_share(shares.marked[0], n, 1 / (1 + 2 * sqrt(2 * (1 - p) / p)));
		assert_share(shares.marked[1], n, reference_share(&plain, (double)level, 1000));
		assert_int_equal(shares.marked[1] + shares.passed[1], n);
	}
	/* Packets of a chosen flow that cannot be marked are treated as plain. */
	shares = run_turns(&setup, 40000, 2, 3, 2 * n);
	assert_share(shares.early[0], n, reference_share(&plain, 40000, 1000));
	assert_int_equal(shares.marked[0], 0);
}

/* assert_share's bound is binomial. The numbers of packets between two selected ones are geometric:
 * the share p of the selected packets directly follows another, which no spacing allows. */
static void unspaced_each_packet_is_selected_with_p_for_itself(void **state)
{
	const uint64_t n = 400000;
	struct red_setup setup = with_thresholds((struct red_setup){.mean_bytes = 1000}, 20, 60);
	struct red_arrival arrival = {.queue = 50, .wire_bytes = 1000, .rate_bps = RATE_BPS};
	struct draw_key key = draw_key_make(11, "red", "unspaced");
	uint64_t selected = 0, following = 0;
	bool before = false;
	struct red_rule rule;
	struct red red;

	(void)state;
	setup.unspaced = true;
	setup.max_p = q63(0.4);
	red_rule_make(&rule, &setup);
	red_begin(&red, &rule, 0);
	red.average = quantity(50);
	for (uint64_t i = 0; i < n; i++) {
		bool now;

		arrival.draw = draw_u64(key, i, 0);
		now = red_arrive(&red, &rule, &arrival) != RED_PASS;
		selected += now;
		following += now && before;
		before = now;
	}
	assert_share(selected, n, 0.3);
	assert_share(following, selected, 0.3);
}

/* ---- spacing ---- */

static void the_next_victim_is_the_ceiling_of_r_over_p(void **state)
{
	static const struct {
		double r, p;
		uint64_t n;
	} cases[] = {{0.05, 0.1, 1}, {0.15, 0.1, 2},   {0.95, 0.1, 10},
	             {1, 0.25, 4},   {0.001, 0.02, 1}, {0.99, 0.02, 50},
	             {0.5, 1, 1},    {0.5, 0.5, 1},    {0.7, 0.5, 2}};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t draw = (q63(cases[i].r) - 1) << 1;
		struct red_spacing spacing = {0};
		uint64_t n = 1;

		assert_false(red_spacing_next(&spacing, q63(cases[i].p), draw));
		while (!red_spacing_next(&spacing, q63(cases[i].p), draw))
			n++;
		assert_int_equal(n, cases[i].n);
	}
}

/* With p = 1/32 the numbers are 1 to 32, equally likely: chi-square with 31 degrees of freedom,
 * whose 99.9 % quantile is 61.1; the seed is fixed. */
static void spacing_is_uniform(void **state)
{
	struct draw_key key = draw_key_make(3, "red", "spacing");
	struct red_spacing spacing = {0};
	uint64_t count[33] = {0}, found = 0, n = 0;
	double chi = 0;

	(void)state;
	for (uint64_t i = 0; found < 32000; i++) {
		n++;
		if (!red_spacing_next(&spacing, PROBABILITY_ONE / 32, draw_u64(key, i, 0)))
			continue;
		assert_in_range(n - (i == n - 1), 1, 32);
		count[n - (i == n - 1)]++;
		found++;
		n = 0;
	}
	for (unsigned k = 1; k <= 32; k++)
		chi += ((double)count[k] - 1000) * ((double)count[k] - 1000) / 1000;
	assert_true(chi < 61.1);
}

static struct red_setup bcn_setup(double alpha)
{
	struct red_setup setup = with_thresholds(paper_bytes, 25600, 153600);

	setup.max_p = q63(0.02);
	setup.selection = RED_SPACED;
	setup.alpha = q63(alpha);
	setup.mark_limit = quantity(UINT64_C(1) << 60);
	return setup;
}

/* N is uniform from 1 to 1/p, so its mean is (1/p + 1) / 2. */
static void alpha_makes_drops_rarer_than_marks(void **state)
{
	const uint64_t n = 400000;
	struct red_setup setup = bcn_setup(0.25);
	struct shares shares = run_turns(&setup, 89600, 1, 0, 2 * n); /* p = 0.01 */

	(void)state;
	assert_share(shares.marked[0], n, 2 / (1 / 0.01 + 1));
	assert_share(shares.early[1], n, 2 / (1 / 0.0025 + 1));
	assert_int_equal(shares.marked[1] + shares.early[0], 0);
}

/* Each kind has counts of its own: its share is the same, alone or among the other kind. */
static void marking_and_dropping_are_counted_apart(void **state)
{
	const uint64_t n = 400000;
	struct red_setup setup = bcn_setup(1);
	struct shares mixed = run_turns(&setup, 89600, 1, 0, 2 * n);
	struct shares alone = run_turns(&setup, 89600, 3, 0, n);

	(void)state;
	assert_share(mixed.marked[0], n, 2 / (1 / 0.01 + 1));
	assert_share(mixed.early[1], n, 2 / (1 / 0.01 + 1));
	assert_share(alone.marked[0] + alone.marked[1], n, 2 / (1 / 0.01 + 1));
}

static void above_max_the_switch_marks_all_that_are_capable_and_drops_the_others(void **state)
{
	struct red_setup setup = bcn_setup(0.25);
	struct shares shares = run_turns(&setup, 153600, 1, 0, 2000);

	(void)state;
	assert_int_equal(shares.marked[0], 1000);
	assert_int_equal(shares.forced[1], 1000);
}

/* ---- edges ---- */

static void without_a_limit_marks_end_where_forcing_begins(void **state)
{
	static const struct {
		bool gentle;
		uint64_t mark_limit, level, marked, early, forced;
	} cases[] = {
	        {false, 0, 14999, 0, 0, 0},        {false, 0, 45000, 0, 0, 1000},
	        {true, 0, 90000, 0, 0, 1000},      {false, 60000, 59999, 1000, 0, 0},
	        {false, 60000, 60000, 0, 0, 1000}, {true, 91000, 90000, 1000, 0, 0},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct red_setup setup = with_thresholds(paper_bytes, 15000, 45000);
		struct shares shares;

		setup.gentle = cases[i].gentle;
		setup.mark_limit = quantity(cases[i].mark_limit);
		shares = run_turns(&setup, cases[i].level, 3, 0, 1000);
		assert_int_equal(shares.marked[0] + shares.marked[1], cases[i].marked);
		assert_int_equal(shares.early[0] + shares.early[1], cases[i].early);
		assert_int_equal(shares.forced[0] + shares.forced[1], cases[i].forced);
	}
}

static void a_limit_below_max_drops_capable_packets_above_it(void **state)
{
	struct red_setup setup = with_thresholds(paper_bytes, 15000, 45000);
	struct shares below, above;

	(void)state;
	setup.mark_limit = quantity(30000);
	below = run_turns(&setup, 29999, 3, 0, 10000);
	above = run_turns(&setup, 30000, 3, 0, 10000);
	assert_true(below.marked[0] > 100);
	assert_int_equal(below.early[0], 0);
	assert_int_equal(above.marked[0], 0);
	assert_true(above.early[0] > 100);
}

/* gentle_ and drop_early of ns-2.1b8a, which the papers of BECN and ECN-mod used. At the level
 * `max` RED selects with max-p, at 2 max it forces. */
static void gentle_and_marking_to_max_is_the_red_of_2001(void **state)
{
	static const struct {
		uint64_t level;
		bool marks, drops, forces;
	} cases[] = {{15000, false, false, false}, {30000, true, false, false},
	             {44999, true, false, false},  {45000, false, true, false},
	             {60000, false, true, false},  {89999, false, true, false},
	             {90000, false, false, true}};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct red_setup setup = with_thresholds(paper_bytes, 15000, 45000);
		struct shares capable, plain;

		setup.gentle = true;
		setup.mark_limit = setup.max;
		capable = run_turns(&setup, cases[i].level, 3, 0, 10000);
		plain = run_turns(&setup, cases[i].level, 0, 0, 10000);
		assert_int_equal(capable.marked[0] + capable.marked[1] > 100, cases[i].marks);
		assert_int_equal(capable.early[0] + capable.early[1] > 100, cases[i].drops);
		assert_int_equal(capable.forced[0] + capable.forced[1],
		                 cases[i].forces ? 10000 : 0);
		/* Packets that cannot be marked are dropped where the others are marked, and as
		 * often. */
		assert_int_equal(plain.marked[0] + plain.marked[1], 0);
		assert_int_equal(plain.early[0] + plain.early[1],
		                 capable.marked[0] + capable.marked[1] + capable.early[0] +
		                         capable.early[1]);
	}
}

/* min = max, weight 1: a step at the length of the queue, as in DCTCP. */
static void equal_thresholds_are_a_step(void **state)
{
	struct red_setup setup = with_thresholds(paper_bytes, 30000, 30000);
	struct red_arrival arrival = {.wire_bytes = 1000, .rate_bps = RATE_BPS, .capable = true};
	struct red_rule rule;
	struct red red;

	(void)state;
	setup.weight = PROBABILITY_ONE;
	setup.mark_limit = quantity(UINT64_C(1) << 59);
	red_rule_make(&rule, &setup);
	red_begin(&red, &rule, 0);
	for (arrival.queue = 0; arrival.queue < 60000; arrival.queue += 1000)
		assert_int_equal(red_arrive(&red, &rule, &arrival),
		                 arrival.queue < 30000 ? RED_PASS : RED_MARK_FORCED);
}

static void an_arrival_at_an_empty_queue_is_never_selected(void **state)
{
	static const struct {
		bool bytes;
		uint64_t queue;
		enum red_verdict verdict;
	} cases[] = {{true, 0, RED_PASS},
	             {true, 1, RED_PASS},
	             {true, 2, RED_DROP_FORCED},
	             {false, 1, RED_PASS},
	             {false, 2, RED_DROP_FORCED}};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct red_setup setup = with_thresholds(paper_bytes, 10, 20);
		struct red_arrival arrival = {
		        .queue = cases[i].queue, .wire_bytes = 40, .rate_bps = RATE_BPS};
		struct red_rule rule;
		struct red red;

		setup.bytes = cases[i].bytes;
		red_rule_make(&rule, &setup);
		red_begin(&red, &rule, 0);
		red.average = quantity(1000);
		assert_int_equal(red_arrive(&red, &rule, &arrival), cases[i].verdict);
	}
}

/* 1 - weight = 1/2. After m ms, which is m packets of 1000 bytes at 8 Mbit/s, 2^-m is left, and the
 * arrival itself halves it again. */
static void an_idle_time_counts_the_packets_that_could_have_been_sent(void **state)
{
	static const struct {
		uint64_t idle_ns;
		double left;
	} cases[] = {{0, 0.5},           {999999, 0.5},           {1000000, 0.25},
	             {9999999, 0x1p-10}, {UINT64_C(70000000), 0}, {UINT64_MAX / 2, 0}};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct red_setup setup = with_thresholds(paper_bytes, 15000, 45000);
		struct red_arrival arrival = {
		        .now = 5 + cases[i].idle_ns, .wire_bytes = 40, .rate_bps = 8000000};
		struct red_rule rule;
		struct red red;

		setup.weight = PROBABILITY_ONE / 2;
		red_rule_make(&rule, &setup);
		red_begin(&red, &rule, 0);
		red.average = quantity(1 << 20);
		red_idle(&red, 5);
		red_arrive(&red, &rule, &arrival);
		assert_true(fabs(as_double(red.average) - cases[i].left * (1 << 20)) < 1e-9);
	}
}

/* Groups of up to 32 packets, at any length of the queue, after idle times; with thresholds in
 * packets, too. */
static void a_group_passes_as_its_packets_would_one_by_one(void **state)
{
	const struct draw_key key = draw_key_make(1, "group", "chance");
	uint64_t passed = 0, judged = 0, selected = 0;

	(void)state;
	for (uint64_t i = 0; i < 100000; i++) {
		struct red_setup setup = with_thresholds(paper_bytes, 15000, 45000);
		uint32_t length[32];
		struct red_group group = {.now = i * 1000000,
		                          .queue = draw_u64(key, i, 0) % 30000,
		                          .rate_bps = RATE_BPS,
		                          .wait = draw_u64(key, i, 1) & 1,
		                          .n = (uint16_t)(draw_u64(key, i, 2) % 33),
		                          .length = length};
		struct red_rule rule;
		struct red together, alone;
		struct red_group rest;
		enum red_verdict verdict[32] = {RED_PASS};

		setup.bytes = i & 1;
		setup.weight = PROBABILITY_ONE / 8;
		if (!setup.bytes)
			setup = with_thresholds(setup, 15, 45);
		group.queue = setup.bytes ? group.queue : group.queue / 1000;
		red_rule_make(&rule, &setup);
		red_begin(&together, &rule, 0);
		together.idle = draw_u64(key, i, 3) & 1;
		together.idle_ns = group.now - draw_u64(key, i, 4) % 10000000;
		together.average = quantity(draw_u64(key, i, 5) % (setup.bytes ? 20000 : 20));
		together.above_min = draw_u64(key, i, 6) & 1;
		alone = together;
		for (uint32_t k = 0; k < 32; k++)
			length[k] = (uint32_t)(draw_u64(key, i, 7 + k) % 1500);
		rest = group;
		while (red_reaches_judge(&together, &rule, &rest)) {
			const uint32_t k = group.n - rest.n;
			const struct red_arrival arrival = {.now = group.now,
			                                    .queue = rest.queue,
			                                    .rate_bps = RATE_BPS,
			                                    .wire_bytes = length[k],
			                                    .draw = draw_u64(key, i, 64 + k)};

			verdict[k] = red_judge(&together, &rule, &arrival);
			red_group_next(&rule, &rest);
			judged++;
		}
		for (uint16_t k = 0; k < group.n; k++) {
			const struct red_arrival arrival = {.now = group.now,
			                                    .queue = group.queue,
			                                    .rate_bps = RATE_BPS,
			                                    .wire_bytes = length[k],
			                                    .draw = draw_u64(key, i, 64 + k)};

			if (k > 0 && !group.wait)
				red_idle(&alone, group.now);
			assert_int_equal(red_arrive(&alone, &rule, &arrival), verdict[k]);
			if (group.wait)
				group.queue += setup.bytes ? length[k] : 1;
			passed += verdict[k] == RED_PASS;
			selected += verdict[k] != RED_PASS;
		}
		assert_int_equal(rest.queue, group.queue);
		/* As the queue calls it. */
		if (!group.wait && group.n > 0) {
			red_idle(&together, group.now);
			red_idle(&alone, group.now);
		}
		assert_memory_equal(&together, &alone, sizeof(alone));
	}
	assert_true(passed > 100000 && judged > 10000 && selected > 1000);
}

static void a_change_keeps_the_average_and_the_counts(void **state)
{
	struct red_setup setup = with_thresholds(paper_bytes, 15000, 45000);
	struct red_rule first, second;
	struct red red, before;

	(void)state;
	setup.adaptive = true;
	red_rule_make(&first, &setup);
	red_begin(&red, &first, 0);
	red.average = quantity(31000);
	red.count = 12;
	red.count_bytes = 13000;
	red.max_p = q63(0.05);
	before = red;
	setup.weight = q63(0.01);
	setup.max = quantity(60000);
	red_rule_make(&second, &setup);
	red_change(&red, &first, &second);
	assert_memory_equal(&red, &before, sizeof(red));
	setup.max_p = q63(0.2);
	red_rule_make(&first, &setup);
	red_change(&red, &second, &first);
	assert_int_equal(red.max_p, q63(0.2));
	setup.bytes = false;
	red_rule_make(&second, &setup);
	red_change(&red, &first, &second);
	assert_true(red.average == quantity(31));
	red_change(&red, &second, &first);
	assert_true(red.average == quantity(31000));
}

GROUP(red)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(
	                the_average_of_a_million_arrivals_is_the_references_to_a_millionth),
	        cmocka_unit_test(decisions_are_the_references_for_the_same_draws),
	        cmocka_unit_test(the_share_selected_is_within_the_binomial_bound_at_ten_levels),
	        cmocka_unit_test(p_mod_is_the_papers),
	        cmocka_unit_test(as_many_draws_select_as_p_mod_says),
	        cmocka_unit_test(chosen_flows_are_marked_with_p_mod_and_others_by_plain_red),
	        cmocka_unit_test(unspaced_each_packet_is_selected_with_p_for_itself),
	        cmocka_unit_test(the_next_victim_is_the_ceiling_of_r_over_p),
	        cmocka_unit_test(spacing_is_uniform),
	        cmocka_unit_test(alpha_makes_drops_rarer_than_marks),
	        cmocka_unit_test(marking_and_dropping_are_counted_apart),
	        cmocka_unit_test(
	                above_max_the_switch_marks_all_that_are_capable_and_drops_the_others),
	        cmocka_unit_test(without_a_limit_marks_end_where_forcing_begins),
	        cmocka_unit_test(a_limit_below_max_drops_capable_packets_above_it),
	        cmocka_unit_test(gentle_and_marking_to_max_is_the_red_of_2001),
	        cmocka_unit_test(equal_thresholds_are_a_step),
	        cmocka_unit_test(an_arrival_at_an_empty_queue_is_never_selected),
	        cmocka_unit_test(an_idle_time_counts_the_packets_that_could_have_been_sent),
	        cmocka_unit_test(a_group_passes_as_its_packets_would_one_by_one),
	        cmocka_unit_test(a_change_keeps_the_average_and_the_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
