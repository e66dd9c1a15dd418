/* SPDX-License-Identifier: BSD-3-Clause */
/* Experiments as text: how they are read, and the messages for errors. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "lab/expression.h"
#include "lab/lab_campaign.h"
#include "lab/lab_experiment.h"
#include "runner/group.h"
#include "unit/folder.h"

static const char good[] = "title A title\n"
                           "set flows 3\n"
                           "link l from a to b\n"
                           "cloud l rate 10mbit\n"
                           "ftp f $flows from a to b\n"
                           "case one\nend\n"
                           "case two\n  set flows 5\nend\n"
                           "row Z1 what two.l.loss paper 1 accept 0 inf\n";

static struct experiment *read_text(const char *text, char *message)
{
	struct experiment *experiment = NULL;

	message[0] = 0;
	(void)experiment_read(text, strlen(text), "e", &experiment, message);
	return experiment;
}

static void cases_give_parameters_other_values(void **state)
{
	char message[EXPERIMENT_MESSAGE];
	struct experiment *experiment = read_text(good, message);

	(void)state;
	assert_non_null(experiment);
	assert_int_equal(experiment->n_cases, 2);
	assert_string_equal(experiment_value(experiment, 0, "flows"), "3");
	assert_string_equal(experiment_value(experiment, 1, "flows"), "5");
	assert_string_equal(experiment_value(experiment, 1, "duration"), "500s");
	assert_int_equal(experiment->n_rows, 1);
	assert_true(isinf(experiment->rows[0].high));
	experiment_free(experiment);
}

static void what_is_wrong_is_said_with_its_line(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
	        {"title x\nlinc l from a to b", "e:2: unknown word `linc`; did you mean `link`?"},
	        {"set a", "e:1: write: set NAME VALUE"},
	        {"case x", "e:1: case x is not ended: write `end` after its lines"},
	        {"end", "e:1: there is no case to end"},
	        {"case x\nset nothing 1\nend",
	         "e:2: `nothing` is not a parameter: a case can only change one that is set "
	         "before all cases"},
	        {"sweep flows 1 2",
	         "e:1: `flows` is not a parameter; `set flows VALUE` makes it one"},
	        {"point c 1 2", "e:1: write: point CASE X Y, below the figure that it belongs to"},
	        {"bars t l x", "e:1: `x`: write NAME=EXPRESSION"},
	        {"case c\nend\ntrace t c w l set z=1", "e:3: `z` is not a parameter"},
	        {"trace t c w", "e:1: there is no case `c` above this line"},
	        {"row A w e paper p accept 2 1",
	         "e:1: `2 1` is not a band; write two numbers, the smaller one first"},
	};
	char message[EXPERIMENT_MESSAGE];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_null(read_text(cases[i].text, message));
		assert_string_equal(message, cases[i].message);
	}
}

static void what_cannot_be_built_is_said_with_its_line(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
	        {"link l from a to b\nftp f $n from a to b",
	         "e:2: `$n`: there is no such parameter; `set n VALUE` defines it"},
	        {"link l from a to a",
	         "e:1: link `l`: a name has 1 to 26 bytes, and its two switches must differ"},
	        {"link l from a to b\ncloud l rate 10", "e: `cloud l rate 10`:"},
	        {"link l from a to b\nftp f 1 from a to b response vegas", "e:2: "},
	        /* names of measures */
	        {"link l from a to b\nftp o 3 from a to b\nvoice o 5 from a to b",
	         "e:3: there is a group `o` already; give this one another name"},
	        {"link l from a to b\nftp l 3 from a to b",
	         "e:2: there is a cloud `l`; give the group another name"},
	        {"link l from a to b\nftp l.back 3 from a to b",
	         "e:2: there is a cloud `l.back`; give the group another name"},
	        {"web l.back 3 from a to b\nlink l from a to b",
	         "e:2: there is a group `l.back`; give the link another name"},
	        {"link l from a to b\nftp all 3 from a to b",
	         "e:2: `all` stands for all groups; give the group another name"},
	        {"link l from a to b\nftp o 3 from a to b\ncase only\nsurge o 5 from a to b\nend",
	         "e:4: there is a group `o` already; give this one another name"},
	};
	char message[EXPERIMENT_MESSAGE];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct experiment *experiment = read_text(cases[i].text, message);
		struct lab_point point = {.experiment = experiment};

		assert_non_null(experiment);
		assert_int_not_equal(lab_point_check(&point, message), 0);
		assert_memory_equal(message, cases[i].message, strlen(cases[i].message));
		experiment_free(experiment);
	}
}

static void groups_of_different_cases_may_have_one_name(void **state)
{
	char message[EXPERIMENT_MESSAGE];
	struct experiment *experiment =
	        read_text("link l from a to b\nftp l.backbone 1 from a to b\n"
	                  "case x\nftp o 3 from a to b\nend\ncase y\nvoice o 3 from a to b\nend",
	                  message);

	(void)state;
	assert_non_null(experiment);
	for (uint32_t of = 0; of < experiment->n_cases; of++) {
		struct lab_point point = {.experiment = experiment, .of = of};

		if (lab_point_check(&point, message) < 0)
			fail_msg("%s", message);
	}
	experiment_free(experiment);
}

static void every_experiment_that_is_built_in_can_be_made_in_every_case(void **state)
{
	char message[EXPERIMENT_MESSAGE] = "";
	struct experiment **all;
	uint32_t n;

	(void)state;
	assert_int_equal(lab_store_all(&all, &n, message), 0);
	assert_true(n > 0);
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t of = 0; of < all[i]->n_cases; of++) {
			struct lab_point point = {.experiment = all[i], .of = of};

			if (lab_point_check(&point, message) < 0)
				fail_msg("%s", message);
		}
	}
	lab_store_free(all, n);
}

static bool find(void *argument, const char *name, double *value)
{
	(void)argument;
	*value = 7;
	return strcmp(name, "a.b-c") == 0;
}

static void expressions_are_worked_out(void **state)
{
	static const struct {
		const char *text;
		double value;
	} right[] = {
	        {"1 + 2 * 3", 7},  {"(1 + 2) * 3", 9},
	        {"10 - 2 - 3", 5}, {"8 / 4 / 2", 1},
	        {"-2 * -3", 6},    {"a.b-c - 1", 6},
	        {"1e3", 1000},     {"100 * (a.b-c / 7 - 1)", 0},
	};
	static const char *const wrong[] = {"", "1 +", "(1", "1 2", "x", "a.b-c-1", "1 + )"};
	const struct figures figures = {find, NULL};
	char message[200];
	double value;

	(void)state;
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		assert_int_equal(
		        expression_value(right[i].text, &figures, &value, message, sizeof(message)),
		        0);
		assert_true(fabs(value - right[i].value) < 1e-12);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_not_equal(
		        expression_value(wrong[i], &figures, &value, message, sizeof(message)), 0);
}

static void a_machine_with_many_processors_runs_as_many_processes_as_there_may_be(void **state)
{
	static const struct {
		long processors;
		uint64_t jobs;
	} cases[] = {{-1, 1}, {1, 1}, {255, 255}, {256, 256}, {257, 256}, {1024, 256}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(lab_jobs_of(cases[i].processors), cases[i].jobs);
}

static void merge_refuses(struct experiment *experiment, const char *parameters,
                          const char *expected)
{
	char message[EXPERIMENT_MESSAGE], here[] = ".";
	char *folders[] = {here};
	struct lab_arguments arguments = {.merge = true, .folders = folders, .n_folders = 1};
	struct campaign *campaign = NULL;
	uint32_t n = 0;
	FILE *file = fopen("results.json", "w");

	assert_non_null(file);
	fprintf(file,
	        "[{\"experiment\":\"e\",\"digest\":\"%s\",\"runs\":["
	        "{\"case\":\"one\",\"seed\":1,\"parameters\":{\"flows\":\"20\"},\"figures\":{}},"
	        "{\"case\":\"one\",\"seed\":1,\"parameters\":{%s},\"figures\":{}}]}]",
	        experiment->digest, parameters);
	assert_int_equal(fclose(file), 0);
	assert_int_not_equal(lab_merge(&experiment, 1, &arguments, &campaign, &n, message), 0);
	assert_string_equal(message, expected);
	campaign_free(campaign);
}

static void a_merge_says_which_parameter_of_a_run_is_wrong(void **state)
{
	char message[EXPERIMENT_MESSAGE];
	struct experiment *experiment = read_text(good, message);

	(void)state;
	assert_non_null(experiment);
	merge_refuses(experiment, "", "e: a run has no value of flows");
	/* A run that belongs to no point is not left out silently. */
	merge_refuses(experiment, "\"flows\":\"20\"", "e: a run has no value of duration");
	merge_refuses(experiment, "\"flows\":\"000000000000000000000000000000000000000000000021\"",
	              "e: `000000000000000000000000000000000000000000000021` is too long a value "
	              "of flows: at most 47 bytes");
	experiment_free(experiment);
}

GROUP(experiment)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(cases_give_parameters_other_values),
	        cmocka_unit_test(what_is_wrong_is_said_with_its_line),
	        cmocka_unit_test(what_cannot_be_built_is_said_with_its_line),
	        cmocka_unit_test(groups_of_different_cases_may_have_one_name),
	        cmocka_unit_test(every_experiment_that_is_built_in_can_be_made_in_every_case),
	        cmocka_unit_test(expressions_are_worked_out),
	        cmocka_unit_test(
	                a_machine_with_many_processors_runs_as_many_processes_as_there_may_be),
	        cmocka_unit_test_setup_teardown(a_merge_says_which_parameter_of_a_run_is_wrong,
	                                        enter_folder, leave_folder),
	};

	return cmocka_run_group_tests_name("experiment", tests, NULL, NULL);
}
