/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of `weir bench` that fail or are interrupted; no packet is sent. tests/bench tests what
 * they measure. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bench/bench.h"
#include "measure/bench_cost.h"
#include "measure/bench_tester.h"
#include "runner/group.h"

#define DEVICE "net_ring_of_the_test"

/* The functions that fail, and their errors. */
static struct {
	bool copy, device;
	int cost[8]; /* the result of each measurement */
	uint32_t costs;
	const char *because;
} fails;

struct scenario *__real_scenario_copy(const struct scenario *scenario);
struct scenario *__wrap_scenario_copy(const struct scenario *scenario);
char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
int __wrap_bench_cables_make(struct bench_cables *cables, struct problem *problem);
void __wrap_bench_cables_free(struct bench_cables *cables);
int __wrap_bench_rig_open(struct bench_rig *rig, const struct bench_setup *setup,
                          const struct bench_conditions *conditions, struct problem *problem);
int __wrap_bench_cost_measure(const struct bench_setup *setup,
                              const struct bench_conditions *conditions, struct bench_cost *cost,
                              struct problem *problem);

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

int __wrap_bench_cost_measure(const struct bench_setup *setup,
                              const struct bench_conditions *conditions, struct bench_cost *cost,
                              struct problem *problem)
{
	(void)setup;
	(void)conditions;
	memset(cost, 0, sizeof(*cost));
	cost->ns_per_packet = 10;
	if (fails.cost[fails.costs] < 0)
		problem_set(problem, -1, "%s", fails.because);
	return fails.cost[fails.costs++];
}

static struct bench_arguments arguments;

static struct bench_plan plan_make(void)
{
	memset(&arguments, 0, sizeof(arguments));
	memset(&fails, 0, sizeof(fails));
	return (struct bench_plan){
	        .arguments = &arguments, .rows = json_array(), .remarks = json_array()};
}

static void plan_free(struct bench_plan *plan)
{
	json_decref(plan->rows);
	json_decref(plan->remarks);
}

/* ---- clouds ---- */

static void clouds_say_why_the_first_row_was_not_measured(void **state)
{
	static const int errors[] = {-EINTR, -ENOMEM, -ENODEV};

	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		struct bench_plan plan = plan_make();
		struct problem problem = {.text = ""};

		fails.cost[0] = errors[i];
		fails.because = "because";
		assert_int_equal(bench_plan_clouds(&plan, &problem), errors[i]);
		assert_string_equal(problem.text, "because");
		assert_int_equal(json_array_size(plan.rows), 0);
		assert_int_equal(json_array_size(plan.remarks), 0);
		plan_free(&plan);
	}
}

static void an_interruption_ends_clouds_with_the_rows_so_far(void **state)
{
	struct bench_plan plan = plan_make();
	struct problem problem = {.text = ""};

	(void)state;
	fails.cost[1] = -EINTR;
	fails.because = "interrupted";
	assert_int_equal(bench_plan_clouds(&plan, &problem), -EINTR);
	assert_string_equal(problem.text, "interrupted");
	assert_int_equal(json_array_size(plan.rows), 1);
	assert_int_equal(json_array_size(plan.remarks), 0);
	assert_int_equal(fails.costs, 2);
	plan_free(&plan);
}

static void clouds_that_a_machine_cannot_carry_are_a_remark(void **state)
{
	struct bench_plan plan = plan_make();
	struct problem problem = {.text = ""};

	(void)state;
	fails.cost[2] = -ENOMEM;
	fails.because = "no memory for so many";
	assert_int_equal(bench_plan_clouds(&plan, &problem), 0);
	assert_int_equal(json_array_size(plan.rows), 2);
	assert_int_equal(json_array_size(plan.remarks), 1);
	assert_string_equal(json_string_value(json_array_get(plan.remarks, 0)),
	                    "clouds: 4096 and more were not measured: no memory for so many");
	plan_free(&plan);
}

/* ---- rfc2544 ---- */

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
	struct scenario *scenario = scenario_of_two_ports();

	(void)state;
	for (int of = 0; of < 2; of++) {
		struct bench_plan plan = plan_make();
		struct problem problem = {.text = ""};

		plan.scenario = scenario;
		fails.copy = of == 0;
		fails.device = of == 1;
		assert_int_equal(bench_plan_rfc2544(&plan, &problem), -ENOMEM);
		assert_string_equal(problem.text, "no memory for the scenario");
		plan_free(&plan);
	}
	scenario_free(scenario);
}

GROUP(bench_plan)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(clouds_say_why_the_first_row_was_not_measured),
	        cmocka_unit_test(an_interruption_ends_clouds_with_the_rows_so_far),
	        cmocka_unit_test(clouds_that_a_machine_cannot_carry_are_a_remark),
	        cmocka_unit_test(rfc2544_without_memory_for_the_scenario_says_so),
	};

	return cmocka_run_group_tests_name("bench_plan", tests, NULL, NULL);
}
