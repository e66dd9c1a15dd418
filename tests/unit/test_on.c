/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of `weir on`: the interface, and when it must be asked for twice. Tests with an
 * interface are in tests/live. */
#include "trial.h"
#include "runner/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "language/scenario_file.h"
#include "on/on.h"

#define WORDS_MAX 24

static struct on_arguments arguments;

/* Parses a command line, in which `|` separates the words. */
static int parse(const char *line)
{
	static char text[1000], *words[WORDS_MAX + 1];
	int n = 0;

	snprintf(text, sizeof(text), "%s", line);
	for (char *at = text, *word; (word = strsep(&at, "|")) && n < WORDS_MAX;)
		words[n++] = word;
	words[n] = NULL;
	return on_arguments_parse(n, words, &arguments);
}

static void the_first_word_is_the_interface(void **state)
{
	(void)state;
	assert_int_equal(parse("on|eth0|40ms|1%"), OPTIONS_RUN);
	assert_string_equal(arguments.interface, "eth0");
	assert_string_equal(arguments.path.both, "40ms 1%");
	/* Options may stand anywhere. */
	assert_int_equal(parse("on|--down|rate 20mbit|-q|eth0|--pid|7|20ms|--for|1s"), OPTIONS_RUN);
	assert_string_equal(arguments.interface, "eth0");
	assert_string_equal(arguments.path.both, "20ms");
	assert_string_equal(arguments.path.down, "rate 20mbit");
	assert_true(arguments.path.quiet);
	assert_int_equal(arguments.pid, 7);
	assert_int_equal(arguments.for_ns, SIMTIME_S);
	assert_int_equal(parse("on"), OPTIONS_WRONG);
	assert_int_equal(parse("on|eth0|--delay|40ms"), OPTIONS_WRONG);
	assert_int_equal(parse("on|eth0|--pid|7|--netns|A"), OPTIONS_WRONG);
}

static void elsewhere_the_interface_may_be_left_out(void **state)
{
	(void)state;
	assert_int_equal(parse("on|--container|web|40ms|1%"), OPTIONS_RUN);
	assert_null(arguments.interface);
	assert_int_equal(arguments.n_containers, 1);
	assert_string_equal(arguments.path.both, "40ms 1%");
	assert_int_equal(parse("on|eth1|--container|web|--container|db|delay|1ms"), OPTIONS_RUN);
	assert_string_equal(arguments.interface, "eth1");
	assert_int_equal(arguments.n_containers, 2);
	assert_int_equal(parse("on|--netns|A|match|port 443|300ms"), OPTIONS_RUN);
	assert_null(arguments.interface);
	assert_string_equal(arguments.match, "port 443");
	assert_string_equal(arguments.path.both, "300ms");
	assert_int_equal(parse("on|--between|web|db|40ms"), OPTIONS_RUN);
	assert_true(arguments.between);
	assert_string_equal(arguments.container[1], "db");
	assert_null(arguments.interface);
	assert_int_equal(parse("on|40ms"), OPTIONS_WRONG);
	assert_int_equal(parse("on|--between|web"), OPTIONS_WRONG);
	assert_int_equal(parse("on|eth0|40ms|--wait"), OPTIONS_WRONG);
	assert_int_equal(parse("on|eth0|40ms|match"), OPTIONS_WRONG);
	assert_int_equal(parse("on|eth0|40ms|match|hots 1.2.3.4"), OPTIONS_WRONG);
	assert_int_equal(parse("on|--container|a|--container|b|1ms|--log|F"), OPTIONS_WRONG);
}

static void a_path_that_lets_hardly_a_packet_through_needs_an_end(void **state)
{
	static const struct {
		const char *line;
		bool cuts_off;
	} rows[] = {
	        {"on|eth0", false},
	        {"on|eth0|loss|90%", false},
	        {"on|eth0|loss|91%", true},
	        {"on|eth0|100%", true},
	        {"on|eth0|--up|rate 9999bit", true},
	        {"on|eth0|--up|rate 10kbit", false},
	        {"on|eth0|100%|--for|1s", false},
	        {"on|eth0|100%|--yes", false},
	        {"on|eth0|100%|--netns|A", false},
	        {"on|--container|web|100%", false},
	};
	char message[SCENARIO_FILE_ERROR];
	struct scenario *scenario;
	uint32_t ports[PATH_ENDS];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(parse(rows[i].line), OPTIONS_RUN);
		if (path_scenario_make(&on_words, &arguments.path, &scenario, ports, message,
		                       sizeof(message)) != 0)
			fail_msg("%s: %s", rows[i].line, message);
		if (on_cuts_off(&arguments, scenario, message, sizeof(message)) != rows[i].cuts_off)
			fail_msg("%s: %s", rows[i].line, rows[i].cuts_off ? "passes" : message);
		scenario_free(scenario);
	}
}

GROUP(on)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_first_word_is_the_interface),
	        cmocka_unit_test(elsewhere_the_interface_may_be_left_out),
	        cmocka_unit_test(a_path_that_lets_hardly_a_packet_through_needs_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
