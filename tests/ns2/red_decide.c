/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints RED's decisions on a list of arrivals, to compare them with another implementation's.
 *
 * usage: red_decide UNIT GENTLE WAIT ADAPTIVE MAX_P LIMIT < ARRIVALS
 *   UNIT byte or packet; GENTLE, WAIT, ADAPTIVE 0 or 1; LIMIT in packets of 1000 bytes or packets,
 *   as in ns-2: the queue is full if at least LIMIT waits.
 *
 * Input, a line each: instant in ns, bytes, a uniform draw. Draws are used in their order, one
 * whenever RED needs one, as from a random generator. Output, a line each: average, max_p, verdict.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aqm/red.h"
#include "bottleneck.h"

#define RATE_BPS     10000000
#define MEAN_BYTES   1000
#define ARRIVALS_MAX 200000

static struct {
	uint64_t now;
	uint32_t size;
	double draw;
} arrivals[ARRIVALS_MAX];

static quantity_q64 quantity(uint64_t units)
{
	return (quantity_q64)units << 64;
}

static double as_double(quantity_q64 x)
{
	return (double)(uint64_t)(x >> 64) + (double)(uint64_t)x * 0x1p-64;
}

/* In ns-2 a draw is made between the thresholds, except for the first packet there. */
static bool drew(const struct red *red, const struct red_rule *rule, bool above_before,
                 const struct red_arrival *arrival)
{
	return red->average >= rule->setup.min && arrival->queue > 1 &&
	       red->average < rule->forced_from && above_before;
}

static void decide(const struct red_rule *rule, uint64_t limit, unsigned n)
{
	static const char *const verdicts[] = {"pass", "mark", "mark", "early", "forced"};
	struct bottleneck link = {.rate_bps = RATE_BPS};
	unsigned drawn = 0;
	struct red red;

	red_begin(&red, rule, 0);
	for (unsigned i = 0; i < n; i++) {
		struct red_arrival arrival = {.now = arrivals[i].now,
		                              .wire_bytes = arrivals[i].size,
		                              .rate_bps = RATE_BPS};
		bool above_before = red.above_min;
		enum red_verdict verdict;

		bottleneck_advance_to(&link, arrival.now);
		if (link.emptied)
			red_idle(&red, link.emptied_ns);
		arrival.queue =
		        rule->setup.bytes ? bottleneck_bytes(&link) : bottleneck_packets(&link);
		arrival.draw = (uint64_t)ldexp(arrivals[drawn].draw, 64);
		verdict = red_arrive(&red, rule, &arrival);
		drawn += drew(&red, rule, above_before, &arrival);
		if (arrival.queue >= limit) {
			red_overflow(&red);
			verdict = RED_DROP_FORCED;
		}
		if (verdict == RED_PASS)
			bottleneck_push(&link, arrival.now, arrival.wire_bytes);
		printf("%.17g %.17g %s\n", as_double(red.average), (double)red.max_p * 0x1p-63,
		       verdicts[verdict]);
	}
}

int main(int argc, char **argv)
{
	struct red_setup setup = {.mean_bytes = MEAN_BYTES};
	struct red_rule rule;
	uint64_t unit;
	unsigned n = 0;

	if (argc != 7)
		return 2;
	setup.bytes = strcmp(argv[1], "byte") == 0;
	unit = setup.bytes ? MEAN_BYTES : 1;
	setup.gentle = atoi(argv[2]);
	setup.wait = atoi(argv[3]);
	setup.adaptive = atoi(argv[4]);
	setup.max_p = (probability_q63)ldexp(atof(argv[5]), 63);
	setup.weight = (probability_q63)ldexp(0.002, 63);
	setup.min = quantity(15 * unit);
	setup.max = quantity(45 * unit);
	red_rule_make(&rule, &setup);
	while (n < ARRIVALS_MAX &&
	       scanf("%lu %u %lf", &arrivals[n].now, &arrivals[n].size, &arrivals[n].draw) == 3)
		n++;
	decide(&rule, (uint64_t)atoi(argv[6]) * unit, n);
	return 0;
}
