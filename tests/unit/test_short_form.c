/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenarios by name, and on the command line of `weir run`, `check` and `replay`. `weir exec` has
 * test_exec.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "folder.h"
#include "language/scenario_file.h"
#include "language/scenario_name.h"
#include "language/short_form.h"
#include "runner/group.h"

#define ROWS(a) (sizeof(a) / sizeof((a)[0]))

/* Returns the text of the scenario of these words, or the message, in `text`. */
static void words_become(char *const *word, int n, char *text, size_t room)
{
	struct short_words words = {.n = 0};
	const char *config = NULL;
	struct scenario *scenario;
	char message[SCENARIO_FILE_ERROR];

	if (short_words_take(&words, n, word, message, sizeof(message)) != 0 ||
	    short_words_make(&words, "run", &config, &scenario, message, sizeof(message)) != 0) {
		snprintf(text, room, "%s", message);
		return;
	}
	char *printed = scenario_text(scenario);

	snprintf(text, room, "%s", printed);
	free(printed);
	scenario_free(scenario);
}

#define BECOME(text, ...)                                                                          \
	words_become((char *[]){__VA_ARGS__}, (int)ROWS(((char *[]){__VA_ARGS__})), text,          \
	             sizeof(text))

static void two_interfaces_and_statements_are_a_scenario(void **state)
{
	char text[2000];

	(void)state;
	BECOME(text, "eth7", "eth8", "40ms", "1%");
	assert_string_equal(text, "port a device eth7\n"
	                          "port b device eth8\n"
	                          "cloud down from a to b\n"
	                          "cloud down loss random 1%\n"
	                          "cloud down delay 40ms\n"
	                          "cloud up from b to a\n"
	                          "cloud up loss random 1%\n"
	                          "cloud up delay 40ms\n");
	BECOME(text, "delay", "40ms");
	assert_string_equal(text, "port a\n"
	                          "port b\n"
	                          "cloud down from a to b\n"
	                          "cloud down delay 40ms\n"
	                          "cloud up from b to a\n"
	                          "cloud up delay 40ms\n");
	BECOME(text, "eth7", "40ms");
	assert_string_equal(text,
	                    "`eth7` is neither a statement nor the name of a scenario; if it "
	                    "is an interface, a second one belongs beside it: eth1 eth2 40ms");
	BECOME(text, "5,5ms");
	assert_string_equal(text, "5,5ms: `5,5ms` has a comma; a decimal point is written as in "
	                          "5.5ms");
	BECOME(text, "40ms", "1xs");
	assert_non_null(strstr(text, "delay 40ms 1xs: unknown word `1xs`"));
}

/* Makes scenarios in the working directory, of which some begin alike. */
static void make_configs(void)
{
	static const char *const names[] = {"lte-driving", "lte-walking",  "satellite",
	                                    "sat",         "measured/sat", "measured/lte-7"};
	char path[100];

	assert_int_equal(mkdir("configs", 0755), 0);
	assert_int_equal(mkdir("configs/measured", 0755), 0);
	for (size_t i = 0; i < ROWS(names); i++) {
		snprintf(path, sizeof(path), "configs/%s.weir", names[i]);
		FILE *file = fopen(path, "w");

		assert_non_null(file);
		fprintf(file,
		        "# SPDX\n#\n# This is %s.\nseed %zu\nport a\nport b\n"
		        "cloud down from a to b\ncloud up from b to a\n",
		        names[i], i + 1);
		fclose(file);
	}
}

static void a_scenario_is_found_by_its_name_or_the_only_beginning_of_one(void **state)
{
	static const struct {
		const char *name, *path;
	} rows[] = {
	        {"lte-driving", "configs/lte-driving.weir"},
	        {"lte-d", "configs/lte-driving.weir"},
	        {"lte", NULL},               /* there are two */
	        {"sat", "configs/sat.weir"}, /* one has just this name */
	        {"sate", "configs/satellite.weir"},
	        {"sa", NULL}, /* too short */
	        {"measured/sat", "configs/measured/sat.weir"},
	        {"measured/lte", "configs/measured/lte-7.weir"},
	        {"measured/", NULL},
	        {"measured/wifi", NULL},
	        {"../configs/sat", NULL},
	        {"", NULL},
	};
	char path[300], text[2000];

	(void)state;
	make_configs();
	for (size_t i = 0; i < ROWS(rows); i++) {
		bool found = scenario_name_find(rows[i].name, path, sizeof(path));

		assert_int_equal(found, rows[i].path != NULL);
		if (found)
			assert_string_equal(path, rows[i].path);
	}
	BECOME(text, "eth7", "eth8", "lte-d", "5ms");
	assert_non_null(strstr(text, "seed 1\nport a device eth7\n"));
	assert_non_null(strstr(text, "cloud up delay 5ms\n"));
	BECOME(text, "measured/l", "5ms");
	assert_non_null(strstr(text, "cloud up delay 5ms\n"));
	BECOME(text, "satelite", "5ms");
	assert_string_equal(text, "satelite: no scenario has this name; did you mean `satellite`?");
}

static void what_an_option_names_is_a_file_a_name_or_a_near_miss(void **state)
{
	static const struct field field = {.name = "--config", .offset = 0};
	struct language_error error;
	const char *config;
	char sat[] = "sat", file[] = "configs/sat.weir", wrong[] = "lte-drivin.weir",
	     none[] = "nothing/like/it.weir";

	(void)state;
	make_configs();
	assert_int_equal(scenario_name_take(&field, sat, &config, &error), 0);
	assert_string_equal(config, "configs/sat.weir");
	assert_int_equal(scenario_name_take(&field, file, &config, &error), 0);
	assert_string_equal(config, "configs/sat.weir");
	assert_true(scenario_name_take(&field, wrong, &config, &error) < 0);
	assert_string_equal(error.text,
	                    "lte-drivin.weir: there is no such file; did you mean "
	                    "`lte-driving`, which comes with weir? `weir help scenarios` "
	                    "lists those");
	assert_int_equal(scenario_name_take(&field, none, &config, &error), 0);
	assert_string_equal(config, "nothing/like/it.weir");
}

GROUP(short_form)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(two_interfaces_and_statements_are_a_scenario),
	        cmocka_unit_test_setup_teardown(
	                a_scenario_is_found_by_its_name_or_the_only_beginning_of_one, enter_folder,
	                leave_folder),
	        cmocka_unit_test_setup_teardown(
	                what_an_option_names_is_a_file_a_name_or_a_near_miss, enter_folder,
	                leave_folder),
	};

	return cmocka_run_group_tests_name("short_form", tests, NULL, NULL);
}
