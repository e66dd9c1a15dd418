/* SPDX-License-Identifier: BSD-3-Clause */
/* The scenarios that `weir bench` measures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <rte_ip.h>

#include "bench/bench.h"
#include "header/oq_header.h"
#include "match/selection.h"
#include "measure/bench_source.h"
#include "packet/headers.h"
#include "runner/group.h"

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

GROUP(bench_scenarios)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_scenario_is_one_that_weir_takes),
	        cmocka_unit_test(the_headers_ask_the_router_and_are_right),
	        cmocka_unit_test(clouds_are_one_template_with_as_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
