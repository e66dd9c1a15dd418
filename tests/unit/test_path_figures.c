/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures that weir-host computes from `show path -j`. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "path.h"
#include "runner/group.h"

#define FRESH_MS 10000

#define HOP(available, queue, age)                                                                 \
	"{\"hop\":1,\"ttl\":64,\"link_kbps\":100000,\"available_kbps\":" available                 \
	",\"queue_packets\":" queue ",\"age_ns\":" age "}"

static void the_least_of_each_figure_is_taken_fresh_and_whole_or_not_at_all(void **state)
{
	static const struct {
		const char *answer;
		uint32_t available_kbps, queue_packets;
	} cases[] = {
	        {"{\"path\":[]}", 0, 0},
	        {"{\"path\":[" HOP("80000", "500", "1") "]}", 80000, 500},
	        {"{\"path\":[" HOP("80000", "20", "1") "," HOP("500", "500", "2") "]}", 500, 20},
	        /* one router has not reported its queue */
	        {"{\"path\":[" HOP("80000", "20", "1") "," HOP("500", "null", "2") "]}", 500, 0},
	        {"{\"path\":[" HOP("null", "20", "1") "," HOP("500", "30", "2") "]}", 0, 20},
	        /* reported 10 s ago, and earlier */
	        {"{\"path\":[" HOP("80000", "20", "10000000000") "]}", 80000, 20},
	        {"{\"path\":[" HOP("80000", "20", "10000000001") "]}", 0, 0},
	        /* nothing available is not the same as nothing known */
	        {"{\"path\":[" HOP("0", "0", "1") "]}", 1, 1},
	};
	struct path path = {.fd = -1};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct path_figures figures = {.available_kbps = 7, .queue_packets = 7};

		assert_int_equal(path_read(&path, cases[i].answer, FRESH_MS, &figures), 0);
		assert_int_equal(figures.available_kbps, cases[i].available_kbps);
		assert_int_equal(figures.queue_packets, cases[i].queue_packets);
	}
}

static void an_error_of_weir_is_passed_on(void **state)
{
	struct path path = {.fd = -1};
	struct path_figures figures;

	(void)state;
	assert_int_equal(path_read(&path,
	                           "{\"ok\":false,\"error\":{\"name\":\"x\",\"code\":\"unknown-"
	                           "cloud\",\"column\":1,\"message\":\"there is no cloud `x`\"}}",
	                           FRESH_MS, &figures),
	                 -EPROTO);
	assert_string_equal(path.error, "weir answers: there is no cloud `x`");
	assert_int_equal(path_read(&path, "{\"path\":", FRESH_MS, &figures), -EPROTO);
	assert_string_equal(path.error, "weir answers: this is not JSON");
}

static void a_socket_that_is_not_there_is_named(void **state)
{
	struct path path;

	(void)state;
	assert_int_equal(path_open(&path, "no-such-socket"), -ENOENT);
	assert_string_equal(path.error, "no-such-socket: No such file or directory");
	assert_int_equal(path.fd, -1);
}

GROUP(path_figures)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_least_of_each_figure_is_taken_fresh_and_whole_or_not_at_all),
	        cmocka_unit_test(an_error_of_weir_is_passed_on),
	        cmocka_unit_test(a_socket_that_is_not_there_is_named),
	};

	return cmocka_run_group_tests_name("path-figures", tests, NULL, NULL);
}
