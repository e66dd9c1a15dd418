/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of `weir exec`: which statements they become, which command they start, and what the
 * command reads instead of its resolver's file. What needs namespaces is in tests/live. */
#include "trial.h"
#include "runner/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>

#include "exec/exec_options.h"
#include "exec/exec_resolver.h"
#include "exec/exec_scenario.h"
#include "language/scenario_file.h"

#define WORDS_MAX 24

static struct exec_arguments arguments;

/* The words of a command line, which are written with `|` between them. */
static int parse(const char *line)
{
	static char text[1000], *words[WORDS_MAX + 1];
	int n = 0;

	snprintf(text, sizeof(text), "%s", line);
	for (char *at = text, *word; (word = strsep(&at, "|")) && n < WORDS_MAX;)
		words[n++] = word;
	words[n] = NULL;
	return exec_arguments_parse(n, words, &arguments);
}

/* What of the scenario stands behind its first lines. */
static void assert_clouds(const char *line, const char *wanted)
{
	char message[SCENARIO_FILE_ERROR] = "", *printed;
	struct scenario *scenario;
	uint32_t ports[EXEC_ENDS];

	assert_int_equal(parse(line), OPTIONS_RUN);
	if (exec_scenario_make(&arguments, &scenario, ports, message, sizeof(message)) != 0)
		fail_msg("%s: %s", line, message);
	printed = scenario_text(scenario);
	assert_non_null(printed);
	assert_non_null(strstr(printed, "cloud down"));
	assert_string_equal(strstr(printed, "cloud down"), wanted);
	assert_int_equal(ports[EXEC_FAR], 0);
	assert_int_equal(ports[EXEC_NEAR], 1);
	free(printed);
	scenario_free(scenario);
}

#define DOWN "cloud down from world to command\n"
#define UP   "cloud up from command to world\n"

static void statements_hold_for_both_directions_unless_one_is_named(void **state)
{
	(void)state;
	assert_clouds("exec|--|true", DOWN UP);
	assert_clouds("exec|delay|40ms|--|true",
	              DOWN "cloud down delay 40ms\n" UP "cloud up delay 40ms\n");
	assert_clouds("exec|delay 40ms|--up|rate 2mbit queue 9kB|--|true",
	              DOWN "cloud down delay 40ms\n" UP
	                   "cloud up rate 2mbit queue 9kB\ncloud up delay 40ms\n");
	/* An option may stand before its statements' opposite, and after. */
	assert_clouds("exec|--down|loss random 1%|-q|delay|1ms|--|true",
	              DOWN "cloud down loss random 1%\ncloud down delay 1ms\n" UP
	                   "cloud up delay 1ms\n");
}

static void a_statement_ends_where_the_next_one_begins(void **state)
{
	(void)state;
	assert_clouds(
	        "exec|--down|delay 40ms jitter 1ms loss random 1% rate 10mbit queue 60kB|--|a",
	        DOWN "cloud down loss random 1%\ncloud down rate 10mbit queue 60kB\n"
	             "cloud down delay 40ms jitter 1ms\n" UP);
	/* A schedule is no whole without the statement that it is about. */
	assert_clouds("exec|--down|at 3s delay 50ms|--|a", DOWN "cloud down at 3s delay 50ms\n" UP);
	/* netem has words of the same names, and takes all the rest. */
	assert_clouds("exec|--down|netem delay 40ms loss 1%|--|a",
	              DOWN "cloud down loss random 1%\ncloud down delay 40ms\n" UP);
}

static void wrong_words_are_said_in_the_words_of_the_user(void **state)
{
	static const struct {
		const char *line, *says;
	} rows[] = {
	        {"exec|delay|40xs|--|a", "delay 40xs: delay `40xs` has the unknown unit `xs`"},
	        {"exec|--down|rate 1mbit delay 40xs|--|a", "--down delay 40xs: "},
	        {"exec|delay|40ms|ping|--|a", "delay 40ms ping: unknown word `ping`"},
	        {"exec|from|a|to|b|--|a", "from a to b: "},
	};
	char message[SCENARIO_FILE_ERROR];
	struct scenario *scenario;
	uint32_t ports[EXEC_ENDS];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(parse(rows[i].line), OPTIONS_RUN);
		assert_true(exec_scenario_make(&arguments, &scenario, ports, message,
		                               sizeof(message)) < 0);
		assert_null(scenario);
		if (strncmp(message, rows[i].says, strlen(rows[i].says)) != 0)
			fail_msg("%s: says: %s", rows[i].line, message);
	}
}

static void what_stands_behind_the_dashes_is_the_command(void **state)
{
	(void)state;
	assert_int_equal(parse("exec|delay|1ms|--|ping|-c|3|--|x"), OPTIONS_RUN);
	assert_string_equal(arguments.command[EXEC_NEAR][0], "ping");
	assert_string_equal(arguments.command[EXEC_NEAR][3], "--");
	assert_string_equal(arguments.command[EXEC_NEAR][4], "x");
	assert_null(arguments.command[EXEC_NEAR][5]);
	assert_null(arguments.command[EXEC_FAR]);

	setenv("SHELL", "/bin/some-shell", 1);
	assert_int_equal(parse("exec|delay|1ms"), OPTIONS_RUN);
	assert_string_equal(arguments.command[EXEC_NEAR][0], "/bin/some-shell");
	assert_null(arguments.command[EXEC_NEAR][1]);

	assert_int_equal(parse("exec|--between|B: iperf3 -c A|A: iperf3 -s -1|delay|1ms"),
	                 OPTIONS_RUN);
	assert_true(arguments.between);
	assert_string_equal(arguments.command[EXEC_FAR][2], " iperf3 -s -1");
	assert_string_equal(arguments.command[EXEC_NEAR][2], " iperf3 -c A");
	assert_string_equal(arguments.both, "delay 1ms");
}

static void a_resolver_that_is_only_here_is_reached_by_the_gateway(void **state)
{
	static const uint8_t four[] = {198, 18, 0, 1};
	const struct address gateway = address_of(AF_INET, four);
	static const struct {
		const char *conf, *text, *resolver;
	} rows[] = {
	        {"nameserver 127.0.0.53\noptions edns0\nsearch a b\n",
	         "nameserver 198.18.0.1\noptions edns0\nsearch a b\n", "127.0.0.53"},
	        {"# here\nnameserver ::1\nnameserver 9.9.9.9\n", "# here\nnameserver 198.18.0.1\n",
	         "::1"},
	        {"nameserver fe80::1\n", "nameserver 198.18.0.1\n", "fe80::1"},
	        /* What is asked first can be reached from anywhere. */
	        {"nameserver 9.9.9.9\nnameserver 127.0.0.1\n", "", NULL},
	        {"nameserver 10.0.0.1", "", NULL},
	        {"options edns0\n", "", NULL},
	        {"nameserver nonsense\n", "", NULL},
	        {"", "", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[300], name[INET6_ADDRSTRLEN];
		union address_socket resolver;
		struct address at;
		uint16_t port;

		exec_resolver_read(rows[i].conf, &gateway, &resolver, text, sizeof(text));
		assert_string_equal(text, rows[i].text);
		assert_int_equal(resolver.any.sa_family != 0, rows[i].resolver != NULL);
		if (!rows[i].resolver)
			continue;
		at = address_from(&resolver, &port);
		assert_int_equal(port, 53);
		assert_string_equal(inet_ntop(at.family, at.bytes, name, sizeof(name)),
		                    rows[i].resolver);
	}
}

GROUP(exec)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(statements_hold_for_both_directions_unless_one_is_named),
	        cmocka_unit_test(a_statement_ends_where_the_next_one_begins),
	        cmocka_unit_test(wrong_words_are_said_in_the_words_of_the_user),
	        cmocka_unit_test(what_stands_behind_the_dashes_is_the_command),
	        cmocka_unit_test(a_resolver_that_is_only_here_is_reached_by_the_gateway),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
