/* SPDX-License-Identifier: BSD-3-Clause */
/* weir-host's command line: what it accepts, and the messages for what it does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "options.h"
#include "runner/group.h"

#define WORDS_MAX 12

/* Replaces responses.c, which has the BPF programs. */
const struct response responses[] = {
        {.word = "becn", .name = "weir_becn", .quenched = true},
        {.word = "limited", .name = "weir_limited", .informed = true},
};
const uint32_t responses_n = 2;

/* Parses a line, split as by a shell. */
static int parse(struct options *options, const char *line, char error[OPTIONS_ERROR_BYTES])
{
	static char words[256];
	char *argv[WORDS_MAX + 1] = {"weir-host"};
	int argc = 1;

	strcpy(words, line);
	for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " "))
		argv[argc++] = word;
	assert_true(argc <= WORDS_MAX);
	error[0] = '\0';
	return options_parse(options, argc, argv, error);
}

static void a_response_takes_what_it_needs(void **state)
{
	char error[OPTIONS_ERROR_BYTES];
	struct options options;

	(void)state;
	assert_int_equal(parse(&options, "becn -i eth0", error), 0);
	assert_ptr_equal(options.response, &responses[0]);
	assert_string_equal(options.interface, "eth0");
	assert_int_equal(options.bit, 0x80);
	assert_false(options.json);
	assert_int_equal(parse(&options, "becn --bit 0x01 -j -i eth0 -v", error), 0);
	assert_int_equal(options.bit, 1);
	assert_true(options.json);
	assert_true(options.verbose);
	assert_int_equal(parse(&options, "limited -s sock --path up-0 --fresh 250ms", error), 0);
	assert_string_equal(options.socket, "sock");
	assert_string_equal(options.cloud, "up-0");
	assert_int_equal(options.fresh_ms, 250);
	assert_int_equal(parse(&options, "limited --check", error), 0);
	assert_true(options.check);
	assert_int_equal(parse(&options, "help", error), 0);
	assert_null(options.response);
}

static void what_is_wrong_is_said_with_what_would_be_right(void **state)
{
	static const struct {
		const char *line, *error;
	} cases[] = {
	        {"", "a response is missing; `weir-host help` lists them"},
	        {"ben", "there is no response `ben`; there are `becn`, `limited`"},
	        {"becn", "`becn` needs -i INTERFACE: the one at which quenches come in"},
	        {"becn -i", "-i needs a value"},
	        {"becn -i eth0 --bit 3",
	         "--bit 3: it must be one bit of an octet: 0x80, 0x40 ... 0x01"},
	        {"becn -i eth0 --bit 0x100",
	         "--bit 0x100: it must be one bit of an octet: 0x80, 0x40 ... 0x01"},
	        {"becn -i eth0 --bit x",
	         "--bit x: it must be one bit of an octet: 0x80, 0x40 ... 0x01"},
	        {"becn -i eth0 -s sock", "`becn` queries no weir: it takes no -s and no --path"},
	        {"becn -i eth0 --fresh 5ms", "`becn` queries no weir: it takes no --fresh"},
	        {"becn -i eth0 -x",
	         "no such option -x; there are -i, --bit, -s, --path, --fresh, --check, -v and -j"},
	        {"limited -i eth0", "`limited` reads no quenches: it takes no -i"},
	        {"limited --bit 0x40", "`limited` reads no quenches: it takes no --bit"},
	        {"limited -s sock", "`limited` needs --path CLOUD: the one with the `feedback "
	                            "proxy strip` near this host"},
	        {"limited --path up-0", "`limited` needs -s SOCKET: the one of `weir run -s`"},
	        {"limited --fresh 250", "--fresh 250: it must be from 1ms to 3600000ms"},
	        {"limited --fresh 0ms", "--fresh 0ms: it must be from 1ms to 3600000ms"},
	        {"limited --fresh 3600001ms",
	         "--fresh 3600001ms: it must be from 1ms to 3600000ms"},
	};
	char error[OPTIONS_ERROR_BYTES];
	struct options options;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse(&options, cases[i].line, error), -1);
		assert_string_equal(error, cases[i].error);
	}
}

GROUP(host_options)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_response_takes_what_it_needs),
	        cmocka_unit_test(what_is_wrong_is_said_with_what_would_be_right),
	};

	return cmocka_run_group_tests_name("host-options", tests, NULL, NULL);
}
