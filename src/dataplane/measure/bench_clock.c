/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/bench_clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "measure/bench_rig.h"

struct pair {
	bool good;
	simtime clock_ns;
	uint64_t raw_ns;
};

/* Takes a sample. How long its reading of CLOCK_MONOTONIC_RAW took cannot be seen from outside, so
 * a second sample right behind it must agree with it. */
static struct pair compare(struct bench_clock_source *source, const struct clock *clock)
{
	struct clock_sample one, two;
	struct pair pair;
	int64_t apart;

	source->sample(source, &one);
	source->sample(source, &two);
	pair.clock_ns = clock_ns(clock, one.tsc);
	pair.raw_ns = one.raw_ns - clock->origin_raw_ns;
	apart = (int64_t)(clock_ns(clock, two.tsc) - pair.clock_ns) -
	        (int64_t)(two.raw_ns - one.raw_ns);
	pair.good = llabs(apart) <= BENCH_CLOCK_AGREE_NS;
	return pair;
}

static void add(struct histogram *histogram, int64_t difference)
{
	histogram_add(histogram, (uint64_t)llabs(difference), 1);
}

static void step(struct bench_clock *result, struct pair *old, const struct pair *now)
{
	result->samples++;
	result->disturbed += !now->good;
	if (now->good)
		add(&result->distance_ns, (int64_t)(now->clock_ns - now->raw_ns));
	if (now->good && old->good)
		add(&result->interval_ns, (int64_t)(now->clock_ns - old->clock_ns) -
		                                  (int64_t)(now->raw_ns - old->raw_ns));
	*old = *now;
}

static int calibrate(struct bench_clock_source *source, struct clock *clock)
{
	struct clock_sample first, second;

	source->sample(source, &first);
	if (!source->wait(source, CLOCK_START_NS))
		return -EINTR;
	source->sample(source, &second);
	return clock_start(clock, &first, &second);
}

int bench_clock_watch(struct bench_clock_source *source, double seconds, struct bench_clock *result)
{
	uint64_t steps = (uint64_t)(seconds * SIMTIME_S / BENCH_CLOCK_STEP_NS);
	struct pair before[BENCH_CLOCK_STEPS] = {0};
	struct clock clock;
	int rc;

	memset(result, 0, sizeof(*result));
	rc = calibrate(source, &clock);
	if (rc < 0)
		return rc;
	steps = RTE_MAX(steps, (uint64_t)2 * BENCH_CLOCK_STEPS);
	for (uint64_t i = 0; i < steps; i++) {
		struct pair now;

		if (!source->wait(source, BENCH_CLOCK_STEP_NS))
			return -EINTR;
		now = compare(source, &clock);
		step(result, &before[i % BENCH_CLOCK_STEPS], &now);
		if (i % BENCH_CLOCK_STEPS == BENCH_CLOCK_STEPS - 1) {
			struct clock_sample sample;

			source->sample(source, &sample);
			clock_discipline(&clock, &sample);
		}
	}
	return 0;
}

/* ---- this machine ---- */

static void machine_sample(struct bench_clock_source *source, struct clock_sample *sample)
{
	(void)source;
	clock_sample(sample);
}

static bool machine_wait(struct bench_clock_source *source, uint64_t ns)
{
	(void)source;
	bench_pause((double)ns / SIMTIME_S);
	return !bench_stopped();
}

void bench_clock_machine(struct bench_clock_source *source)
{
	source->sample = machine_sample;
	source->wait = machine_wait;
}
