/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/bench_precision.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "line/delay.h"
#include "live/runtime_state.h"

#define TURN_S    0.05 /* on average */
#define GOLDEN    0.6180339887
#define WARM_UP_S 0.02
#define SETTLE_NS (4 * SIMTIME_MS)

static uint64_t delay_of(const struct scenario *scenario)
{
	const struct delay_conf *delay =
	        (const struct delay_conf *)cloud_conf_get(scenario->clouds[0], "delay");

	return delay && delay->conf.statement == &delay_statement ? delay->delay_ns : 0;
}

struct course {
	struct bench_rig rig;
	struct bench_sink sink;
	double wall_ns, cpu_ns, packets;
};

/* Returns the length of a turn. Turns differ in length, so that a host that takes its share at even
 * intervals does not always hit weir, or always the noise. */
static double turn_length(uint32_t index)
{
	double fraction = index * GOLDEN;

	return TURN_S * (0.5 + fraction - floor(fraction));
}

static void weir_turn(struct course *course, double seconds, struct bench_precision *precision)
{
	struct bench_rig *rig = &course->rig;
	struct bench_count from, to;
	double wall_ns, cpu_ns;
	bool calm;

	course->sink.from_ns = clock_ns(&rig->runtime->clock, rig->stopped_tsc) + SETTLE_NS;
	bench_rig_go(rig);
	bench_pause(SETTLE_NS / 2e9);
	bench_rig_count(rig, &from);
	bench_pause(seconds);
	bench_rig_count(rig, &to);
	bench_rig_stop(rig);
	wall_ns = (double)(to.raw_ns - from.raw_ns);
	cpu_ns = (double)(to.worker_cpu_ns - from.worker_cpu_ns);
	/* What the sink has counted in this turn. */
	histogram_merge(&precision->lateness_ns, &course->sink.lateness_ns);
	histogram_merge(&precision->through_ns, &course->sink.through_ns);
	calm = wall_ns - cpu_ns < BENCH_CALM * wall_ns;
	if (calm)
		histogram_merge(&precision->calm_ns, &course->sink.lateness_ns);
	histogram_clear(&course->sink.lateness_ns);
	histogram_clear(&course->sink.through_ns);
	precision->turns++;
	precision->calm_turns += calm;
	course->wall_ns += wall_ns;
	course->cpu_ns += cpu_ns;
	course->packets += (double)(to.packets - from.packets);
	precision->lost += to.lost - from.lost;
	precision->held_packets = (double)to.held_packets;
	precision->memory_bytes = (double)to.memory_bytes;
}

/* Measures weir and the noise. They come first alternately. */
static void turn(struct course *course, uint32_t index, double grid_ns,
                 struct bench_precision *precision)
{
	double seconds = turn_length(index);

	if (index % 2 == 0)
		weir_turn(course, seconds, precision);
	bench_rig_noise(&course->rig, seconds, grid_ns, &precision->noise);
	if (index % 2 == 1)
		weir_turn(course, seconds, precision);
}

static int attach_sink(struct course *course, const struct bench_setup *setup,
                       struct problem *problem)
{
	struct runtime *runtime = course->rig.runtime;
	int to = scenario_find_port(setup->scenario, setup->scenario->clouds[0]->to);
	int rc;

	course->sink.clock = &runtime->clock;
	course->sink.delay_ns = delay_of(setup->scenario);
	course->sink.stamp_at = bench_stamp_at(setup->headers);
	rc = bench_sink_attach(&course->sink, runtime->ports[to].id);
	if (rc < 0)
		problem_set(problem, -1, "the transmit callback cannot be set: %s", strerror(-rc));
	return rc;
}

int bench_precision_measure(const struct bench_setup *setup,
                            const struct bench_conditions *conditions,
                            struct bench_precision *precision, struct problem *problem)
{
	struct course *course = calloc(1, sizeof(*course));
	struct bench_count from, to;
	struct bench_rig *rig;
	uint32_t turns = (uint32_t)(conditions->seconds / TURN_S + 0.5);
	int rc;

	if (!course) {
		problem_set(problem, -1, "no memory");
		return -ENOMEM;
	}
	memset(precision, 0, sizeof(*precision));
	rig = &course->rig;
	rc = bench_rig_open(rig, setup, conditions, problem);
	if (rc < 0)
		goto err_free;
	rc = attach_sink(course, setup, problem);
	bench_rig_go(rig);
	bench_pause(WARM_UP_S + (double)delay_of(setup->scenario) * 1.1e-9);
	bench_rig_stop(rig);
	rig->runtime->workers[0].longest_poll_ns = 0;
	bench_rig_count(rig, &from);
	for (uint32_t i = 0; rc == 0 && i < RTE_MAX(turns, 1u) && !bench_stopped(); i++)
		turn(course, i, 1e9 / setup->pps, precision);
	bench_rig_count(rig, &to);
	precision->offered = to.made - from.made;
	precision->missed = to.missed - from.missed;
	precision->lost += to.starved - from.starved;
	precision->early = course->sink.early;
	precision->most_early_ns = course->sink.most_early_ns;
	precision->longest_poll_ns = rig->runtime->workers[0].longest_poll_ns;
	precision->pps = course->wall_ns > 0 ? course->packets * 1e9 / course->wall_ns : 0;
	precision->taken = course->cpu_ns < course->wall_ns && course->wall_ns > 0
	                           ? 1 - course->cpu_ns / course->wall_ns
	                           : 0;
	bench_sink_detach(&course->sink);
	if (bench_stopped()) {
		rc = bench_rig_interrupted(rig, problem);
		goto err_free;
	}
	struct problem other;

	if (bench_rig_close(rig, rc < 0 ? &other : problem) < 0 && rc == 0)
		rc = -EIO;
err_free:
	free(course);
	return rc;
}

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
