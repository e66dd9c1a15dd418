/* SPDX-License-Identifier: BSD-3-Clause */
#include "schedule_rig.h"

#include <stdlib.h>
#include <string.h>

#include "scenario/scenario.h"

struct manner {
	uint32_t burst;
	bool shared; /* another cloud leads to the same port */
	bool often;  /* the engine is advanced between packets */
	simtime origin;
};

void schedule_set(struct rig *rig, const char *words)
{
	struct cloud_conf *cloud = rig->scenario->clouds[0];
	char *text = strdup(words), *rest = text, *one;

	assert_non_null(text);
	while ((one = strsep(&rest, ";")) != NULL)
		assert_int_equal(cloud_conf_put(cloud, trial_conf(one)), 0);
	free(text);
	for (uint32_t i = 0; i < cloud->n_confs; i++) {
		const struct conf *conf = cloud->confs[i];
		struct problem problem = {.text = ""};

		if (conf->statement->check && conf->statement->check(conf, cloud, &problem) != 0)
			fail_msg("%s: %s", words, problem.text);
	}
}

static void look_around(struct rig *rig, simtime until)
{
	while (engine_next(rig->engine) <= until)
		rig_advance(rig, engine_next(rig->engine));
	rig_advance(rig, until);
}

static void play(const char *words, const struct manner *manner, const struct arrival *arrivals,
                 uint32_t n, simtime *due)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 7});
	struct rte_mbuf *burst[BURST_MAX];

	rig_cloud(rig, "x", 0, 1);
	if (manner->shared)
		rig_cloud(rig, "y", 2, 1);
	schedule_set(rig, words);
	rig_apply(rig, manner->origin);
	for (uint32_t i = 0; i < n;) {
		uint16_t in_burst = 0;
		simtime t = manner->origin;

		for (; in_burst < manner->burst && i < n; i++) {
			t = manner->origin + arrivals[i].t;
			burst[in_burst++] =
			        rig_packet(rig, RIG_PLAIN, 0, i + 1, arrivals[i].bytes, 0, t);
		}
		rig_ingress(rig, burst, in_burst);
		if (manner->often)
			look_around(rig, t);
	}
	rig_advance(rig, manner->origin + arrivals[n - 1].t);
	rig_run_out(rig);
	for (uint32_t i = 0; i < n; i++)
		due[i] = SIMTIME_NEVER;
	for (uint32_t i = 0; i < rig->n_departures; i++) {
		const struct departure *departure = &rig->departures[i];

		assert_in_range(departure->number, 1, n);
		due[departure->number - 1] = departure->due_ns - manner->origin;
	}
	rig_close(rig);
}

void schedule_play_once(const char *words, const struct arrival *arrivals, uint32_t n, simtime *due)
{
	play(words, &(struct manner){.burst = 32, .often = true}, arrivals, n, due);
}

void schedule_play(const char *words, const struct arrival *arrivals, uint32_t n, simtime *due)
{
	static const struct manner manners[] = {
	        {.burst = 1, .often = true},
	        {.burst = 1},
	        {.burst = 7, .often = true},
	        {.burst = 32},
	        {.burst = 1, .often = true, .shared = true},
	        {.burst = 32, .shared = true},
	        {.burst = 7, .often = true, .origin = UINT64_C(1700000000123456789)},
	};
	simtime *other = malloc(n * sizeof(*other));

	assert_non_null(other);
	play(words, &manners[0], arrivals, n, due);
	for (size_t m = 1; m < LENGTH(manners); m++) {
		play(words, &manners[m], arrivals, n, other);
		for (uint32_t i = 0; i < n; i++) {
			if (due[i] != other[i])
				fail_msg("%s: packet %u leaves at %lu, in manner %zu at %lu", words,
				         i + 1, due[i], m, other[i]);
		}
	}
	free(other);
}
