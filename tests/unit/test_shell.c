/* SPDX-License-Identifier: BSD-3-Clause */
/* What TAB inserts and offers in the shell of weir ctl, and the place of the history. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ctl/shell.h"
#include "language/scenario_file.h"
#include "runner/group.h"

#define SCENARIO "port a\nport b\ncloud down from a to b\ncloud downlink from b to a\n"

/* choices: separated by blanks, "" for none */
static void tab_inserts_what_is_certain_and_offers_what_is_not(void **state)
{
	static const struct {
		const char *line, *insert, *choices;
	} cases[] = {
	        {"sho", "w ", ""},
	        {"comm", "it ", ""},
	        {"js", "on ", ""},
	        {"json o", "", "off on"},
	        {"json of", "f ", ""},
	        {"  beg", "in ", ""},
	        {"show co", "nfig ", ""},
	        {"show clouds ", "down", ""},
	        {"show cloud ", "down", ""},
	        {"show cloud down", "", "down downlink"},
	        {"show cloud downl", "ink ", ""},
	        {"cloud down lo", "ss ", ""},
	        {"cloud down commi", "", ""},
	        {"frobnicate ", "", ""},
	};
	struct scenario *scenario;
	char message[SCENARIO_FILE_ERROR];

	(void)state;
	assert_int_equal(scenario_text_load(SCENARIO, strlen(SCENARIO), "test", &scenario, message,
	                                    sizeof(message)),
	                 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *insert, **choices, offered[200] = "";

		assert_int_equal(shell_complete(cases[i].line, strlen(cases[i].line), scenario,
		                                &insert, &choices),
		                 0);
		for (char **choice = choices; choice != NULL && *choice != NULL; choice++) {
			for (char *c = *choice; *c != '\0'; c++)
				*c = *c == ' ' ? '_' : *c;
			strcat(offered, offered[0] != '\0' ? " " : "");
			strcat(offered, *choice);
		}
		if (strcmp(insert, cases[i].insert) != 0 ||
		    (cases[i].insert[0] == '\0' && strcmp(offered, cases[i].choices) != 0))
			fail_msg("%s: inserts \"%s\", offers \"%s\"", cases[i].line, insert,
			         offered);
		shell_choices_free(choices);
		free(insert);
	}
	scenario_free(scenario);
}

static void the_history_lies_in_XDG_STATE_HOME_or_at_home(void **state)
{
	char path[64];

	(void)state;
	setenv("HOME", "/home/x", 1);
	setenv("XDG_STATE_HOME", "/state", 1);
	assert_true(shell_history_path(path, sizeof(path)));
	assert_string_equal(path, "/state/weir_history");
	unsetenv("XDG_STATE_HOME");
	assert_true(shell_history_path(path, sizeof(path)));
	assert_string_equal(path, "/home/x/.weir_history");
	assert_false(shell_history_path(path, 10));
	unsetenv("HOME");
	assert_false(shell_history_path(path, sizeof(path)));
}

GROUP(shell)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(tab_inserts_what_is_certain_and_offers_what_is_not),
	        cmocka_unit_test(the_history_lies_in_XDG_STATE_HOME_or_at_home),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
