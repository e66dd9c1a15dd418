/* SPDX-License-Identifier: BSD-3-Clause */
/* `weir check` and the choice of subcommands, from the command line to the output. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "command.h"
#include "runner/group.h"
#include "said.h"

#define TEXT_MAX 16384

static char folder[] = "/tmp/weir-test-check-XXXXXX";
static char scenario_path[64];

struct outcome {
	int status;
	char out[TEXT_MAX], err[TEXT_MAX];
};

static int make_folder(void **state)
{
	(void)state;
	if (mkdtemp(folder) == NULL)
		return -1;
	snprintf(scenario_path, sizeof(scenario_path), "%s/x.weir", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(scenario_path);
	return rmdir(folder);
}

static void write_scenario(const char *text)
{
	FILE *file = fopen(scenario_path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* Runs `weir ARGUMENTS...`. */
static struct outcome *weir(const char *const *arguments)
{
	static struct outcome outcome;
	char *argv[8] = {(char *)(uintptr_t) "weir"};
	int argc = 1;

	for (; arguments[argc - 1] != NULL; argc++)
		argv[argc] = (char *)(uintptr_t)arguments[argc - 1];
	said_begin(stdout);
	said_begin(stderr);
	outcome.status = command_main(argc, argv);
	said_end(stdout, outcome.out, TEXT_MAX);
	said_end(stderr, outcome.err, TEXT_MAX);
	return &outcome;
}

#define WEIR(...) weir((const char *const[]){__VA_ARGS__, NULL})

#define SCENARIO                                                                                   \
	"seed 42\nport a\nport b\ncloud down from a to b\ncloud down loss random 0.1%\n"           \
	"cloud down rate 10mbit\ncloud down delay 40ms jitter 2ms\n"

static void what_check_prints_can_be_checked_again(void **state)
{
	struct outcome *outcome;
	char *first;

	(void)state;
	write_scenario("# mine\n" SCENARIO);
	outcome = WEIR("check", "-c", scenario_path);
	assert_int_equal(outcome->status, 0);
	assert_string_equal(outcome->err, "");
	assert_memory_equal(outcome->out, SCENARIO "#\n", strlen(SCENARIO "#\n"));
	assert_non_null(strstr(outcome->out, "50 kB"));
	assert_non_null(strstr(outcome->out, "64kB*"));
	first = strdup(outcome->out);
	write_scenario(first);
	outcome = WEIR("check", "-c", scenario_path);
	assert_int_equal(outcome->status, 0);
	assert_memory_equal(outcome->out, SCENARIO "#\n", strlen(SCENARIO "#\n"));
	free(first);
}

static void check_in_json_is_one_object(void **state)
{
	struct outcome *outcome;
	json_t *object, *cloud;

	(void)state;
	write_scenario(SCENARIO);
	outcome = WEIR("check", "-j", "-c", scenario_path);
	assert_int_equal(outcome->status, 0);
	object = json_loads(outcome->out, 0, NULL);
	assert_non_null(object);
	assert_true(json_is_true(json_object_get(object, "ok")));
	assert_string_equal(json_string_value(json_object_get(object, "scenario")), SCENARIO);
	cloud = json_array_get(json_object_get(object, "clouds"), 0);
	assert_string_equal(json_string_value(json_object_get(cloud, "cloud")), "down");
	assert_int_equal(json_integer_value(json_object_get(cloud, "product_bytes")), 50000);
	assert_int_equal(json_integer_value(json_object_get(cloud, "delay_max_ns")), 42000000);
	json_decref(object);
}

static void a_wrong_scenario_is_refused_with_its_place(void **state)
{
	struct outcome *outcome;
	char expected[300];
	json_t *object;

	(void)state;
	write_scenario("port a\nport b\ncloud x from a to b\ncloud x dealy 40ms\n");
	snprintf(expected, sizeof(expected), "%s:4:9: unknown word `dealy`; did you mean `delay`?",
	         scenario_path);
	outcome = WEIR("check", "-c", scenario_path);
	assert_int_equal(outcome->status, 2);
	assert_string_equal(outcome->out, "");
	assert_non_null(strstr(outcome->err, expected));
	outcome = WEIR("check", "-c", scenario_path, "-j");
	assert_int_equal(outcome->status, 2);
	assert_string_equal(outcome->err, "");
	object = json_loads(outcome->out, 0, NULL);
	assert_true(json_is_false(json_object_get(object, "ok")));
	assert_string_equal(
	        json_string_value(json_object_get(json_object_get(object, "error"), "message")),
	        expected);
	json_decref(object);
}

static void a_scenario_that_no_machine_can_hold_is_refused_with_its_place(void **state)
{
	struct outcome *outcome;
	char place[200];
	json_t *object;

	(void)state;
	write_scenario("port a\nport b\ncloud x from a to b\ncloud x loss random 1%\n"
	               "cloud x delay 86400s\n");
	snprintf(place, sizeof(place), "weir check: %s:5:15: the scenario needs", scenario_path);
	outcome = WEIR("check", "-c", scenario_path);
	assert_int_equal(outcome->status, 2);
	assert_non_null(strstr(outcome->err, "cloud `x` (10gbit x 86400s) needs"));
	assert_non_null(strstr(outcome->err, "give it a `rate`, or shorten its delay\n"));
	assert_memory_equal(outcome->err, place, strlen(place));
	outcome = WEIR("run", "-c", scenario_path);
	assert_int_equal(outcome->status, 2);
	memcpy(place + 5, "run: ", 5);
	memmove(place + 10, place + 12, strlen(place + 12) + 1);
	assert_memory_equal(outcome->err, place, strlen(place));
	outcome = WEIR("check", "-j", "-c", scenario_path);
	assert_int_equal(outcome->status, 2);
	object = json_loads(outcome->out, 0, NULL);
	assert_true(json_is_false(json_object_get(object, "ok")));
	assert_string_equal(
	        json_string_value(json_object_get(json_object_get(object, "error"), "code")),
	        "too-large");
	json_decref(object);
}

static void check_says_what_its_arguments_should_be(void **state)
{
	(void)state;
	assert_int_equal(WEIR("check")->status, 2);
	assert_int_equal(WEIR("check", "-x")->status, 2);
	assert_int_equal(WEIR("check", "-c")->status, 2);
	assert_int_equal(WEIR("check", "-c", "x", "y")->status, 2);
	assert_int_equal(WEIR("check", "-c", "/nowhere/x.weir")->status, 2);
	assert_int_equal(WEIR("check", "--help")->status, 0);
}

static void an_unknown_subcommand_is_answered_with_the_nearest(void **state)
{
	struct outcome *outcome;

	(void)state;
	outcome = WEIR("chekc");
	assert_int_equal(outcome->status, 2);
	assert_string_equal(outcome->err, "weir: unknown command `chekc`; did you mean `check`?\n");
	outcome = WEIR("frobnicate");
	assert_int_equal(outcome->status, 2);
	assert_non_null(strstr(outcome->err, "there are "));
	assert_int_equal(WEIR("--help")->status, 0);
	outcome = WEIR("--version");
	assert_int_equal(outcome->status, 0);
	assert_memory_equal(outcome->out, "weir ", 5);
}

static void help_is_there_without_a_running_weir(void **state)
{
	(void)state;
	assert_non_null(strstr(WEIR("help", "cloud", "delay")->out, "jitter TIME"));
	assert_int_equal(WEIR("help", "dealy")->status, 2);
	assert_memory_equal(WEIR("help", "--man")->out, ".\\\" made by", 11);
	assert_memory_equal(WEIR("help", "replay")->out, "usage: weir replay", 18);
	assert_memory_equal(WEIR("help", "--help")->out, "usage: weir help", 16);
	assert_non_null(strstr(WEIR("help")->out, "Passes captures"));
}

GROUP(check_command)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(what_check_prints_can_be_checked_again),
	        cmocka_unit_test(check_in_json_is_one_object),
	        cmocka_unit_test(a_wrong_scenario_is_refused_with_its_place),
	        cmocka_unit_test(a_scenario_that_no_machine_can_hold_is_refused_with_its_place),
	        cmocka_unit_test(check_says_what_its_arguments_should_be),
	        cmocka_unit_test(an_unknown_subcommand_is_answered_with_the_nearest),
	        cmocka_unit_test(help_is_there_without_a_running_weir),
	};

	return cmocka_run_group_tests_name("check command", tests, make_folder, remove_folder);
}
