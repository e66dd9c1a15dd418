/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of `weir bench`, and the scenarios that it measures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <rte_ip.h>

#include "bench/bench.h"
#include "header/oq_header.h"
#include "match/selection.h"
#include "measure/bench_source.h"
#include "packet/headers.h"
#include "random/draw.h"
#include "runner/group.h"
#include "said.h"

#define WORDS_MAX 12

/* Parses a line; its message goes into `said`. */
static int parse(const char *line, struct bench_arguments *arguments, char said[400])
{
	static char text[300];
	char *argv[WORDS_MAX + 1] = {NULL}, *rest;
	int argc = 0, status;

	snprintf(text, sizeof(text), "bench %s", line);
	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		argv[argc++] = word;
	said_begin(stderr);
	status = bench_arguments_parse(argc, argv, arguments);
	said_end(stderr, said, 400);
	return status;
}

static void without_a_part_all_are_measured(void **state)
{
	struct bench_arguments arguments;
	char said[400];

	(void)state;
	assert_int_equal(parse("", &arguments, said), OPTIONS_RUN);
	for (int part = 0; part < BENCH_COMPARE; part++)
		assert_int_equal(arguments.parts[part], part != BENCH_LATENCY &&
		                                                part != BENCH_RECONF &&
		                                                part != BENCH_SOAK);
	assert_false(arguments.parts[BENCH_COMPARE]);
}

static void options_are_taken_before_and_after_the_part(void **state)
{
	struct bench_arguments arguments;
	char said[400];

	(void)state;
	assert_int_equal(parse("--frame imix cost -j --runs 3 --seconds 0.5 --priority 50",
	                       &arguments, said),
	                 OPTIONS_RUN);
	assert_true(arguments.parts[BENCH_COST]);
	assert_false(arguments.parts[BENCH_DEPTH]);
	assert_true(arguments.frame_given);
	assert_int_equal(arguments.frame_bytes, 0);
	assert_int_equal(arguments.runs, 3);
	assert_int_equal(arguments.seconds_us, FACTOR_ONE / 2);
	assert_int_equal(arguments.priority, 50);
	assert_true(arguments.json);
}

static void a_scenario_of_its_own_is_found_by_its_name(void **state)
{
	struct bench_arguments arguments;
	char said[400];

	(void)state;
	assert_int_equal(parse("cost --scenario everything", &arguments, said), OPTIONS_RUN);
	assert_string_equal(arguments.scenario->name, "everything");
	assert_true(arguments.scenario->headers);
	assert_int_equal(parse("cost", &arguments, said), OPTIONS_RUN);
	assert_null(arguments.scenario);
}

static void compare_takes_one_file_or_two(void **state)
{
	struct bench_arguments arguments;
	char said[400];

	(void)state;
	assert_int_equal(parse("compare old.json", &arguments, said), OPTIONS_RUN);
	assert_string_equal(arguments.compare, "old.json");
	assert_null(arguments.against);
	assert_int_equal(arguments.bound_q63, PROBABILITY_ONE / 4);
	assert_int_equal(parse("compare old.json --bound 10%", &arguments, said), OPTIONS_RUN);
	assert_true((double)arguments.bound_q63 / (double)PROBABILITY_ONE == 0.1);
	assert_int_equal(parse("compare old.json -c x.weir --runs 3", &arguments, said),
	                 OPTIONS_RUN);
	assert_int_equal(parse("compare old.json new.json --bound 10%", &arguments, said),
	                 OPTIONS_RUN);
	assert_int_equal(parse("compare old.json new.json", &arguments, said), OPTIONS_RUN);
	assert_string_equal(arguments.against, "new.json");
}

static void what_is_wrong_is_said_with_what_would_be_right(void **state)
{
	static const struct {
		const char *line, *says;
	} rows[] = {
	        {"cots", "did you mean `cost`"},
	        {"--frme 64", "did you mean --frame?"},
	        {"--frame 63", "64 to 9600"},
	        {"--frame 9601", "64 to 9600"},
	        {"--frame 64.5", "64 to 9600"},
	        {"--frame", "needs a value"},
	        {"--runs 0", "1 to 32"},
	        {"--runs 33", "1 to 32"},
	        {"--seconds -1", "0.05 to"},
	        {"--seconds nan", "like 0.125"},
	        {"--priority 100", "1 to 99"},
	        {"--bound 25", "from 0% to 100%"},
	        {"--line-rate 10", "has no unit"},
	        {"--layout ring", "`run-to-completion` or `pipeline`"},
	        {"compare", "OLD.json"},
	        {"--scenario jiter", "did you mean `jitter`"},
	        {"--scenario x", "like `delay-10ms`"},
	        {"--scenario full -c x.weir", "or your own"},
	        {"cost compare old.json", "no other part"},
	        {"cost --load held", "--load applies only to precision"},
	        {"cost --hours 1", "--hours applies only to soak"},
	        {"soak --hours 0", "--hours"},
	        {"reconf --continue x.json", "--continue applies only to soak"},
	        {"rfc2544 --device net_null0", "takes two"},
	        {"rfc2544 --device a --device b --device c", "two already"},
	        {"rfc2544 --device a --device b -c x.weir", "either between two devices"},
	        {"precision --frame 64", "cost, rfc2544 and latency"},
	        {"compare old.json --frame 64", "cost, rfc2544 and latency"},
	        {"cost --device a --device b", "applies only to rfc2544"},
	        {"clock -c x.weir", "cost, rfc2544, machine and compare"},
	        {"precision --runs 3", "cost, depth, clouds, rfc2544, soak and compare"},
	        {"clock machine --runs 3", "--runs applies only to"},
	        {"reconf --seconds 1", "--seconds applies only to"},
	        {"machine --seconds 1", "--seconds applies only to"},
	        {"clock --cores 1", "--cores applies only to"},
	        {"latency --layout pipeline", "--layout applies only to"},
	        {"clock machine --priority 50", "--priority applies only to"},
	        {"cost --snap 96B", "--snap needs --flight"},
	        {"cost --full --frame 64", "--full and --frame"},
	        {"cost --full --scenario jitter", "--full and --scenario"},
	        {"cost --full -c x.weir", "--full and -c"},
	        {"rfc2544 --rfc-times --seconds 1", "--rfc-times and --seconds"},
	        {"rfc2544 --rfc-times --runs 1", "--rfc-times and --runs"},
	        {"depth --scenario full", "applies only to cost"},
	        {"clouds --full", "applies only to cost"},
	        {"cost --line-rate 10gbit", "applies only to rfc2544"},
	        {"rfc2544 --cable 3", "applies only to latency"},
	        {"latency --cable -1", "0 to 10000"},
	        {"latency --device a", "takes two"},
	        {"latency --frame 9000", "latency takes lengths"},
	        {"cost --rfc-times", "applies only to rfc2544"},
	        {"cost --bound 25%", "applies only to compare"},
	        {"rfc2544 --frame imix", "one length"},
	        {"--frame 9000", "64 to 1518"},
	        {"compare old.json new.json -j", "only the verdict"},
	        {"compare old.json new.json --html x", "only the verdict"},
	        {"compare old.json new.json --runs 3", "takes no --runs"},
	        {"compare old.json new.json -c x.weir", "takes no --config"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bench_arguments arguments;
		char said[400];

		assert_int_equal(parse(rows[i].line, &arguments, said), OPTIONS_WRONG);
		if (!strstr(said, rows[i].says))
			fail_msg("`%s` says: %s", rows[i].line, said);
		/* the message has a single line */
		assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
		assert_memory_equal(said, "weir bench: ", 12);
	}
}

static void every_scenario_is_one_that_weir_takes(void **state)
{
	(void)state;
	for (const struct bench_scenario *s = bench_scenarios; s->name; s++) {
		struct scenario *scenario;
		struct problem problem = {.text = ""};

		if (bench_scenario_make(s->statements, true, &scenario, &problem) != 0)
			fail_msg("%s: %s", s->name, problem.text);
		assert_int_equal(scenario->n_clouds, 2);
		assert_int_equal(scenario->n_ports, 2);
		assert_int_equal(scenario->clouds[0]->n_confs, scenario->clouds[1]->n_confs);
		scenario_free(scenario);
	}
	/* That of the ports alone, and a plain delay. */
	assert_string_equal(bench_scenarios[0].name, "bare");
	assert_string_equal(bench_scenarios[1].name, "delay-10ms");
}

/* Otherwise the rows with headers would measure stages that ignore the packets. */
static void the_headers_ask_the_router_and_are_right(void **state)
{
	struct headers headers;

	(void)state;
	assert_true(headers_find(bench_headers, BENCH_HEADERS_BYTES, 64, &headers));
	assert_int_equal(rte_raw_cksum(bench_headers + 14, 20), 0xffff);
	assert_int_equal(bench_headers[15] & 3, 2);
	assert_int_equal(oq_find(&headers, bench_headers, OQ_PROTOCOL_DEFAULT), OQ_FOUND);
	assert_int_equal(bench_headers[headers.transport + OQ_REQ_TTL],
	                 oq_ttl(&headers, bench_headers));
	assert_true(bench_stamp_at(true) >= BENCH_HEADERS_BYTES);
}

static void clouds_are_one_template_with_as_many(void **state)
{
	static const uint32_t clouds[] = {1, 64, 65536};

	(void)state;
	for (size_t i = 0; i < sizeof(clouds) / sizeof(clouds[0]); i++) {
		struct scenario *scenario;
		struct problem problem = {.text = ""};

		assert_int_equal(
		        bench_scenario_clouds(clouds[i], "delay 10ms", &scenario, &problem), 0);
		assert_int_equal(scenario->n_clouds, 1);
		assert_true(scenario->clouds[0]->many);
		assert_int_equal(selection_most(selection_of(scenario->clouds[0])), clouds[i]);
		assert_non_null(cloud_conf_get(scenario->clouds[0], "delay"));
		scenario_free(scenario);
	}
}

GROUP(bench_options)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(without_a_part_all_are_measured),
	        cmocka_unit_test(options_are_taken_before_and_after_the_part),
	        cmocka_unit_test(a_scenario_of_its_own_is_found_by_its_name),
	        cmocka_unit_test(compare_takes_one_file_or_two),
	        cmocka_unit_test(what_is_wrong_is_said_with_what_would_be_right),
	        cmocka_unit_test(every_scenario_is_one_that_weir_takes),
	        cmocka_unit_test(the_headers_ask_the_router_and_are_right),
	        cmocka_unit_test(clouds_are_one_template_with_as_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
