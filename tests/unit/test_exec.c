/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of `weir exec`: the statements that it becomes, the command that it starts, and
 * the text that the command reads instead of its resolver's file. Tests that need namespaces are in
 * tests/live. */
#include "trial.h"
#include "runner/group.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>

#include "exec/exec.h"
#include "language/scenario_file.h"

#define WORDS_MAX 24

static struct exec_arguments arguments;

/* Parses a command line, in which `|` separates the words. */
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

/* Asserts the scenario of a command line, without the lines ahead of the clouds. */
static void assert_clouds(const char *line, const char *wanted)
{
	char message[SCENARIO_FILE_ERROR] = "", *printed;
	struct scenario *scenario;
	uint32_t ports[PATH_ENDS];

	assert_int_equal(parse(line), OPTIONS_RUN);
	if (exec_scenario_make(&arguments, &scenario, ports, message, sizeof(message)) != 0)
		fail_msg("%s: %s", line, message);
	printed = scenario_text(scenario);
	assert_non_null(printed);
	assert_non_null(strstr(printed, "cloud down"));
	assert_string_equal(strstr(printed, "cloud down"), wanted);
	assert_int_equal(ports[PATH_FAR], 0);
	assert_int_equal(ports[PATH_NEAR], 1);
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
	/* An option may precede the statements of both directions, or follow them. */
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
	/* A schedule ends with the statement that it sets. */
	assert_clouds("exec|--down|at 3s delay 50ms|--|a", DOWN "cloud down at 3s delay 50ms\n" UP);
	/* netem has words of the same names, and takes all that follow. */
	assert_clouds("exec|--down|netem delay 40ms loss 1%|--|a",
	              DOWN "cloud down loss random 1%\ncloud down delay 40ms\n" UP);
}

static void a_value_alone_is_the_statement_that_its_unit_means(void **state)
{
	static const struct {
		const char *words, *statements;
	} rows[] = {
	        {"40ms", "delay 40ms"},
	        {"40ms|jitter|2ms", "delay 40ms jitter 2ms"},
	        {"10mbit|queue|50ms", "rate 10mbit queue 50ms"},
	        {"1%", "loss random 1%"},
	        {"1%|correlation|25%", "loss random 1% correlation 25%"},
	        /* A word that the statement before it can take belongs to that statement. */
	        {"40ms|reorder|5%|25%", "delay 40ms\ncloud down reorder 5% 25%"},
	        {"loss|gilbert-elliott|p|1%|r|10%|40ms",
	         "loss gilbert-elliott p 1% r 10%\ncloud down delay 40ms"},
	        {"1%|40ms|10mbit|queue|60kB",
	         "loss random 1%\ncloud down rate 10mbit queue 60kB\ncloud down delay 40ms"},
	};
	char line[200], wanted[300];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = strdup(rows[i].words);

		for (char *at = text; (at = strchr(at, '|'));)
			*at = ' ';
		snprintf(line, sizeof(line), "exec|--down|%s|--|a", text);
		snprintf(wanted, sizeof(wanted), DOWN "cloud down %s\n" UP, rows[i].statements);
		assert_clouds(line, wanted);
		free(text);
		/* The same text as separate words. */
		snprintf(line, sizeof(line), "exec|%s|--|a", rows[i].words);
		assert_int_equal(parse(line), OPTIONS_RUN);
	}
}

static void a_program_behind_whole_statements_is_the_command(void **state)
{
	static const struct {
		const char *line, *command, *statements;
	} rows[] = {
	        {"exec|40ms|true|-c|3", "true", "40ms"},
	        {"exec|delay|40ms|true", "true", "delay 40ms"},
	        {"exec|delay|40ms|jitter|1ms|/bin/sh|-c|x", "/bin/sh", "delay 40ms jitter 1ms"},
	        {"exec|geo-satellite|true", "true", "geo-satellite"},
	        {"exec|--up|1%|true|--report|r", "true", ""},
	        {"exec|-q|--seed=3|1%|true", "true", "1%"},
	        {"exec|netem|delay|40ms|true|rate", "true", "netem delay 40ms"},
	        /* `tail` is a value after `drop`, and a command behind that. */
	        {"exec|rate|1mbit|queue|9kB|drop|tail|tail|-f", "tail",
	         "rate 1mbit queue 9kB drop tail"},
	};

	(void)state;
	assert_int_equal(chdir(SOURCE_ROOT), 0); /* the scenarios with names are there */
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(parse(rows[i].line), OPTIONS_RUN);
		assert_string_equal(arguments.command[PATH_NEAR][0], rows[i].command);
		assert_string_equal(arguments.path.both, rows[i].statements);
		assert_null(arguments.path.report);
	}
	/* No word is a command, so the error has to be reported, and nothing is started. */
	setenv("SHELL", "/bin/some-shell", 1);
	static const char *const lines[] = {"exec|true|40ms", "exec|delay|true", "exec|40ms|40ms",
	                                    "exec|40ms|no-such-program", "exec|40ms|latency|1ms"};
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(parse(lines[i]), OPTIONS_RUN);
		assert_string_equal(arguments.command[PATH_NEAR][0], "/bin/some-shell");
	}
}

static void wrong_words_are_said_in_the_words_of_the_user(void **state)
{
	static const struct {
		const char *line, *says;
	} rows[] = {
	        {"exec|delay|40xs|--|a", "delay 40xs: delay `40xs` has the unknown unit `xs`"},
	        {"exec|--down|rate 1mbit delay 40xs|--|a", "--down delay 40xs: "},
	        {"exec|delay|40ms|pong|--|a", "delay 40ms pong: unknown word `pong`"},
	        {"exec|from|a|to|b|--|a", "from a to b: "},
	        {"exec|40ms|10ms|--|a", "delay 40ms 10ms: `10ms` needs the word before it"},
	        {"exec|delay|40ms|10ms|--|a", "delay 40ms 10ms: `10ms` needs the word before it"},
	        {"exec|loss|1%|25%|--|a", "loss 1% 25%: `25%` needs the word before it"},
	        {"exec|40ms|jiter|1ms|--|a", "delay 40ms jiter 1ms: unknown word `jiter`"},
	        {"exec|40|--|a", "40: a value needs its unit: `40ms` is a delay"},
	        {"exec|40ms|latency|1ms", "delay 40ms latency 1ms: "},
	};
	char message[SCENARIO_FILE_ERROR];
	struct scenario *scenario;
	uint32_t ports[PATH_ENDS];

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
	assert_string_equal(arguments.command[PATH_NEAR][0], "ping");
	assert_string_equal(arguments.command[PATH_NEAR][3], "--");
	assert_string_equal(arguments.command[PATH_NEAR][4], "x");
	assert_null(arguments.command[PATH_NEAR][5]);
	assert_null(arguments.command[PATH_FAR]);

	setenv("SHELL", "/bin/some-shell", 1);
	assert_int_equal(parse("exec|delay|1ms"), OPTIONS_RUN);
	assert_string_equal(arguments.command[PATH_NEAR][0], "/bin/some-shell");
	assert_null(arguments.command[PATH_NEAR][1]);

	assert_int_equal(parse("exec|--between|B: iperf3 -c A|A: iperf3 -s -1|delay|1ms"),
	                 OPTIONS_RUN);
	assert_true(arguments.between);
	assert_string_equal(arguments.command[PATH_FAR][2], " iperf3 -s -1");
	assert_string_equal(arguments.command[PATH_NEAR][2], " iperf3 -c A");
	assert_string_equal(arguments.path.both, "delay 1ms");
}

#define HERE "127.0.0.1" /* where a server listens, in rows that end with it */

static void a_resolver_that_is_only_here_is_reached_by_the_gateway(void **state)
{
	static const uint8_t four[] = {198, 18, 0, 1};
	const struct address gateway = address_of(AF_INET, four);
	static const struct {
		const char *conf, *text, *servers; /* one behind the other */
		bool here;
	} rows[] = {
	        {"nameserver 127.0.0.53\noptions edns0\nsearch a b\n",
	         "nameserver 198.18.0.1\noptions edns0\nsearch a b\n", "127.0.0.53 ", false},
	        {"nameserver fe80::1\n", "nameserver 198.18.0.1\n", "fe80::1 ", false},
	        /* All are kept, in their order. */
	        {"# here\nnameserver ::1\nnameserver 9.9.9.9\n",
	         "# here\nnameserver 198.18.0.1\nnameserver 9.9.9.9\n", "::1 ", false},
	        {"nameserver 9.9.9.9\nnameserver 127.0.0.1\n",
	         "nameserver 9.9.9.9\nnameserver 198.18.0.1\n", "127.0.0.1 ", false},
	        {"nameserver 127.0.0.1\nnameserver\t::1\nnameserver 127.0.0.2\nnameserver "
	         "127.0.0.3",
	         "nameserver 198.18.0.1\nnameserver 198.18.0.3\nnameserver 198.18.0.4\n",
	         "127.0.0.1 ::1 127.0.0.2 ", true},
	        /* These can be reached from anywhere. */
	        {"nameserver 9.9.9.9\nnameserver 10.0.0.1", "", "", true},
	        /* Without a server, the C library asks 127.0.0.1. */
	        {"", "nameserver 198.18.0.1\n", HERE " ", true},
	        {"options edns0\n", "options edns0\nnameserver 198.18.0.1\n", HERE " ", true},
	        {"nameserver nonsense\n", "nameserver 198.18.0.1\n", HERE " ", true},
	        {"options edns0\n", "", "", false},
	        {"", "", "", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct gateway_resolver found[GATEWAY_RESOLVERS_MAX];
		char text[300], name[INET6_ADDRSTRLEN], servers[200] = "";
		uint32_t n = exec_resolver_read(rows[i].conf, rows[i].here, &gateway, found, text,
		                                sizeof(text));

		for (uint32_t k = 0; k < n; k++) {
			uint16_t port;
			struct address at = address_from(&found[k].server, &port);

			assert_int_equal(port, 53);
			inet_ntop(at.family, at.bytes, name, sizeof(name));
			strcat(strcat(servers, name), " ");
			/* .2 is the command. */
			assert_int_equal(found[k].address.bytes[3], k == 0 ? 1 : k + 2);
		}
		assert_string_equal(text, rows[i].text);
		assert_string_equal(servers, rows[i].servers);
	}
}

/* Reads `ADDRESS/PREFIX`, behind `@` if it is an address of an interface, and behind `weir@` if
 * that is of a surrounding weir exec. */
static struct exec_use use_of(const char *word)
{
	struct exec_use use = {.weir = strncmp(word, "weir@", 5) == 0,
	                       .address = strchr(word, '@')};
	char text[100];
	char *slash;

	snprintf(text, sizeof(text), "%s", use.address ? strchr(word, '@') + 1 : word);
	slash = strchr(text, '/');
	*slash = '\0';
	use.prefix = (uint8_t)atoi(slash + 1);
	use.network.family = strchr(text, ':') ? AF_INET6 : AF_INET;
	assert_int_equal(inet_pton(use.network.family, text, use.network.bytes), 1);
	return use;
}

static void the_path_takes_a_network_that_nothing_else_uses(void **state)
{
	static const struct {
		const char *uses, *network;
	} rows[] = {
	        {"", "198.18.0.0"},
	        {"0.0.0.0/0 @192.0.2.2/24 192.0.2.0/24 @127.0.0.1/8", "198.18.0.0"},
	        /* Behind all addresses, and from the end to the beginning. */
	        {"@198.18.0.2/24 198.18.0.0/24", "198.18.1.0"},
	        {"@198.19.255.1/24 @198.18.0.1/24 @198.18.1.1/24", "198.18.2.0"},
	        /* An address takes all of its prefix, and so does a route. */
	        {"@198.18.0.1/16 198.18.0.0/16", "198.19.0.0"},
	        {"@198.18.0.1/16", "198.19.0.0"},
	        {"198.18.0.0/16", "198.19.0.0"},
	        {"198.19.0.0/16", "198.18.0.0"},
	        {"198.18.0.0/25", "198.18.1.0"},
	        {"198.18.0.77/32", "198.18.1.0"},
	        {"198.18.0.0/23 198.18.2.128/25 198.18.4.0/22", "198.18.3.0"},
	        /* What is wider than the range is a way out. */
	        {"192.0.0.0/3 128.0.0.0/1 198.16.0.0/12", "198.18.0.0"},
	        /* The next range, and the next. */
	        {"198.18.0.0/15", "100.64.0.0"},
	        {"198.18.0.0/16 198.19.0.0/16 @100.64.0.9/32", "100.64.1.0"},
	        {"198.18.0.0/15 100.64.0.0/10 @10.0.0.7/24 10.0.0.0/24", "10.0.1.0"},
	        {"198.18.0.0/15 100.64.0.0/10 10.0.0.0/8", NULL},
	        /* Inside another one, those outside of it are not seen. */
	        {"weir@100.64.3.2/24 100.64.3.0/24", "100.64.4.0"},
	        {"weir@198.18.7.2/24 @10.0.0.1/8", "198.18.8.0"},
	        {"::/0", "2001:2::"},
	        {"2001:2::/50 @2001:2:0:4000::2/64", "2001:2:0:4001::"},
	        {"2001:2::/48", "3fff::"},
	        {"2001:2::/48 3fff::/47 3fff::/48", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool ipv6 = strchr(rows[i].uses, ':');
		struct address network;
		struct exec_use uses[8];
		struct problem problem;
		char *text = strdup(rows[i].uses), name[INET6_ADDRSTRLEN];
		size_t n = 0;
		int rc;

		for (char *at = text, *word; (word = strsep(&at, " "));) {
			if (*word)
				uses[n++] = use_of(word);
		}
		free(text);
		rc = exec_place_free(ipv6 ? AF_INET6 : AF_INET, uses, n, &network, &problem);
		assert_int_equal(rc, rows[i].network ? 0 : -EADDRINUSE);
		if (rc == 0)
			assert_string_equal(
			        inet_ntop(network.family, network.bytes, name, sizeof(name)),
			        rows[i].network);
		else
			assert_non_null(strstr(problem.text, ipv6 ? "3fff::/48" : "10.0.0.0/8"));
	}
}

GROUP(exec)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(statements_hold_for_both_directions_unless_one_is_named),
	        cmocka_unit_test(a_statement_ends_where_the_next_one_begins),
	        cmocka_unit_test(a_value_alone_is_the_statement_that_its_unit_means),
	        cmocka_unit_test(a_program_behind_whole_statements_is_the_command),
	        cmocka_unit_test(wrong_words_are_said_in_the_words_of_the_user),
	        cmocka_unit_test(what_stands_behind_the_dashes_is_the_command),
	        cmocka_unit_test(a_resolver_that_is_only_here_is_reached_by_the_gateway),
	        cmocka_unit_test(the_path_takes_a_network_that_nothing_else_uses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
