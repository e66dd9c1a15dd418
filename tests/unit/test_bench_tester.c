/* SPDX-License-Identifier: BSD-3-Clause */
/* A tester of `weir bench` that cannot be opened; no packet is sent. tests/bench tests what it
 * measures. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bench/bench.h"
#include "measure/bench_tester.h"
#include "runner/group.h"

#define DEVICE "net_ring_of_the_test"

/* The functions that fail. */
static struct {
	bool copy, device;
} fails;

struct scenario *__real_scenario_copy(const struct scenario *scenario);
struct scenario *__wrap_scenario_copy(const struct scenario *scenario);
char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
int __wrap_bench_cables_make(struct bench_cables *cables, struct problem *problem);
void __wrap_bench_cables_free(struct bench_cables *cables);
int __wrap_bench_rig_open(struct bench_rig *rig, const struct bench_setup *setup,
                          const struct bench_conditions *conditions, struct problem *problem);

struct scenario *__wrap_scenario_copy(const struct scenario *scenario)
{
	return fails.copy ? NULL : __real_scenario_copy(scenario);
}

char *__wrap_strdup(const char *text)
{
	return fails.device && strcmp(text, DEVICE) == 0 ? NULL : __real_strdup(text);
}

int __wrap_bench_cables_make(struct bench_cables *cables, struct problem *problem)
{
	(void)problem;
	memset(cables, 0, sizeof(*cables));
	for (int i = 0; i < 2; i++)
		strcpy(cables->weir[i], DEVICE);
	return 0;
}

void __wrap_bench_cables_free(struct bench_cables *cables)
{
	(void)cables;
}

int __wrap_bench_rig_open(struct bench_rig *rig, const struct bench_setup *setup,
                          const struct bench_conditions *conditions, struct problem *problem)
{
	(void)rig;
	(void)setup;
	(void)conditions;
	problem_set(problem, -1, "the rig was opened");
	return -EBUSY;
}

static struct scenario *scenario_of_two_ports(void)
{
	struct scenario *scenario = scenario_make();

	assert_non_null(scenario);
	assert_int_equal(scenario_add_port(scenario, "a", "net_null0", NULL), 0);
	assert_int_equal(scenario_add_port(scenario, "b", "net_null1", NULL), 0);
	assert_int_equal(scenario_add_cloud(scenario, "down", "a", "b"), 0);
	return scenario;
}

static void rfc2544_without_memory_for_the_scenario_says_so(void **state)
{
	(void)state;
	bench.scenario = scenario_of_two_ports();
	for (int of = 0; of < 2; of++) {
		json_t *answer;

		fails.copy = of == 0;
		fails.device = of == 1;
		answer = bench_answer_rfc2544_open(NULL);
		assert_string_equal(bench_text(answer, "error"), "no memory for the scenario");
		assert_true(json_is_false(json_object_get(answer, "wrong")));
		json_decref(answer);
	}
	scenario_free(bench.scenario);
}

GROUP(bench_tester)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(rfc2544_without_memory_for_the_scenario_says_so),
	};

	return cmocka_run_group_tests_name("bench_tester", tests, NULL, NULL);
}
