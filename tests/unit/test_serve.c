/* SPDX-License-Identifier: BSD-3-Clause */
/* What weir serve makes of weir's reports: metrics, byte by byte, and answers to changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "runner/group.h"
#include "serve/serve.h"
#include "serve/serve_request.h"

static const char totals[] =
        "{\"ok\":true,\"run\":\"ab12\",\"t_ns\":1500000000,\"clouds_in_all\":3,"
        "\"ports\":[{\"port\":\"a\",\"rx_packets\":7,\"tx_full\":2,\"link_up\":true,"
        "\"link_bps\":8000,\"lateness_ns\":{\"count\":3,\"sum_ns\":1500,"
        "\"buckets\":[[63,1],[511,1],[9000000000,1]]}}],"
        "\"workers\":[{\"worker\":0,\"role\":\"run-to-completion\",\"cpu\":3,"
        "\"longest_poll_ns\":5000}],"
        "\"clouds\":[{\"cloud\":\"down\",\"rx_packets\":5,\"queue\":{\"bytes\":900},"
        "\"drops\":{\"loss\":4,\"queue-full\":0,\"no-buffer\":0,\"eaten\":1},"
        "\"delay_ns\":{\"count\":0,\"sum_ns\":0,\"buckets\":[]},\"clouds\":9,\"clouds_most\":16}],"
        "\"rest\":{\"rx_packets\":11,\"drops\":{\"loss\":1},\"queue\":{\"bytes\":1}}}";

/* The caller frees the text. */
static char *text_of(bool openmetrics)
{
	json_t *object = json_loads(totals, 0, NULL),
	       *hello = json_loads("{\"weir\":\"9.9\"}", 0, NULL);
	size_t n = 0;
	char *text;

	assert_non_null(object);
	text = serve_metrics_text(object, hello, openmetrics, &n);
	assert_non_null(text);
	assert_int_equal(strlen(text), n);
	json_decref(object);
	json_decref(hello);
	return text;
}

static void expect(const char *text, const char *line)
{
	if (strstr(text, line) == NULL)
		fail_msg("not there: %s\nin:\n%s", line, text != NULL ? text : "(no memory)");
}

static void the_two_forms_differ_in_the_names_of_counters_and_in_their_end(void **state)
{
	char *new = text_of(true), *old = text_of(false);

	(void)state;
	expect(new, "# TYPE weir_cloud_received_packets counter\n"
	            "weir_cloud_received_packets_total{cloud=\"down\"} 5\n");
	expect(old, "# TYPE weir_cloud_received_packets_total counter\n"
	            "weir_cloud_received_packets_total{cloud=\"down\"} 5\n");
	assert_string_equal(new + strlen(new) - 6, "# EOF\n");
	assert_null(strstr(old, "# EOF"));
	free(new);
	free(old);
}

static void each_kind_of_figure_has_its_unit(void **state)
{
	char *text = text_of(true);

	(void)state;
	expect(text, "\nweir_up 1\n");
	expect(text, "\nweir_run_info{version=\"9.9\",run=\"ab12\"} 1\n");
	expect(text, "\nweir_uptime_seconds 1.500000000\n");
	expect(text, "\nweir_port_link_bytes_per_second{port=\"a\"} 1000\n");
	expect(text, "\nweir_port_link_up{port=\"a\"} 1\n");
	expect(text, "\nweir_worker_longest_poll_seconds{worker=\"0\",cpu=\"3\",role=\"run-to-"
	             "completion\"} 0.000005000\n");
	expect(text, "\nweir_template_clouds{cloud=\"down\"} 9\n");
	expect(text, "\nweir_cloud_received_packets_total{cloud=\"(rest)\"} 11\n");
	free(text);
}

static void a_loss_has_its_kind_and_a_real_one_is_there_before_the_first(void **state)
{
	char *text = text_of(true);

	(void)state;
	expect(text, "_total{cloud=\"down\",reason=\"loss\",kind=\"emulated\"} 4\n");
	expect(text, "_total{cloud=\"down\",reason=\"no-buffer\",kind=\"real\"} 0\n");
	expect(text, "_total{cloud=\"down\",reason=\"eaten\",kind=\"unknown\"} 1\n");
	expect(text, "_total{port=\"a\",reason=\"tx-full\",kind=\"real\"} 2\n");
	expect(text, "_total{port=\"a\",reason=\"rx-missed\",kind=\"real\"} 0\n");
	assert_null(strstr(text, "queue-full"));
	free(text);
}

static void buckets_add_up_to_the_count(void **state)
{
	char *text = text_of(true);

	(void)state;
	expect(text, "\nweir_port_lateness_seconds_bucket{port=\"a\",le=\"0.000000063\"} 1\n");
	expect(text, "\nweir_port_lateness_seconds_bucket{port=\"a\",le=\"0.000000383\"} 1\n"
	             "weir_port_lateness_seconds_bucket{port=\"a\",le=\"0.000000511\"} 2\n");
	expect(text, "\nweir_port_lateness_seconds_bucket{port=\"a\",le=\"1.610612735\"} 2\n"
	             "weir_port_lateness_seconds_bucket{port=\"a\",le=\"+Inf\"} 3\n"
	             "weir_port_lateness_seconds_sum{port=\"a\"} 0.000001500\n"
	             "weir_port_lateness_seconds_count{port=\"a\"} 3\n");
	expect(text, "\nweir_cloud_delay_seconds_bucket{cloud=\"down\",le=\"0.000001023\"} 0\n");
	assert_null(strstr(text, "weir_cloud_delay_seconds_count{cloud=\"(rest)\"}"));
	free(text);
}

static void without_weir_there_is_only_that(void **state)
{
	size_t n;
	char *text = serve_metrics_text(NULL, NULL, true, &n);

	(void)state;
	assert_string_equal(text,
	                    "# HELP weir_up 1: weir answers; 0: it does not answer, and nothing "
	                    "else is known.\n# TYPE weir_up gauge\nweir_up 0\n# EOF\n");
	free(text);
}

static void labels_are_escaped_and_one_without_room_is_none(void **state)
{
	char labels[32] = "";

	(void)state;
	exposition_label(labels, sizeof(labels), "a", "x\"\\\n");
	assert_string_equal(labels, "a=\"x\\\"\\\\\\n\"");
	exposition_label(labels, sizeof(labels), "b", "0123456789012345678901234567");
	assert_string_equal(labels, "a=\"x\\\"\\\\\\n\"");
	exposition_label(labels, sizeof(labels), "b", "0123");
	assert_string_equal(labels, "a=\"x\\\"\\\\\\n\",b=\"0123\"");
}

static void a_host_is_an_address_or_a_name_that_is_ours(void **state)
{
	static const struct {
		const char *host;
		bool ours;
	} rows[] = {{"127.0.0.1", 1},
	            {"10.1.2.3:80", 1},
	            {"[::1]:9470", 1},
	            {"localhost", 1},
	            {"LocalHost:1", 1},
	            {"lab.example", 1},
	            {"lab.example:5", 1},
	            {"evil.example", 0},
	            {"lab.example.evil", 0},
	            {"", 0},
	            {":80", 0},
	            {"127.0.0.1.evil", 0},
	            {"[::1", 0},
	            {"[127.0.0.1]", 0},
	            {"::1", 0},
	            {"127.0.0.1:80x", 0},
	            {"localhost:123456", 0},
	            {"127.1", 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (serve_host_is_ours(rows[i].host, "lab.example") != rows[i].ours)
			fail_msg("%s", rows[i].host);
	assert_false(serve_host_is_ours("lab.example", NULL));
}

static void a_change_is_a_conversation_of_its_lines(void **state)
{
	static const char body[] = "# remark\n\n  cloud down delay 5ms\r\nno cloud up loss";
	char why[SERVE_WHY_BYTES], *text;
	json_t *lines;
	uint32_t n;

	(void)state;
	lines = serve_change_conversation(body, strlen(body), "5s", &n, why);
	text = json_dumps(lines, JSON_COMPACT);
	assert_string_equal(text, "[\"begin lease 5000000000ns\",\"cloud down delay 5ms\","
	                          "\"no cloud up loss\",\"commit\"]");
	assert_int_equal(n, 2);
	free(text);
	json_decref(lines);
	assert_null(serve_change_conversation("quit", 4, NULL, &n, why));
	assert_string_equal(why,
	                    "`quit` is not a change; each line begins with cloud, clouds or no");
	assert_int_equal(n, 1);
	assert_null(serve_change_conversation("cloud x\0quit", 12, NULL, &n, why));
	assert_int_equal(n, 0);
	assert_null(serve_change_conversation("# remark\nno cloud x\nseed 4\n", 27, NULL, &n, why));
	assert_int_equal(n, 2);
}

GROUP(serve)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_two_forms_differ_in_the_names_of_counters_and_in_their_end),
	        cmocka_unit_test(each_kind_of_figure_has_its_unit),
	        cmocka_unit_test(a_loss_has_its_kind_and_a_real_one_is_there_before_the_first),
	        cmocka_unit_test(buckets_add_up_to_the_count),
	        cmocka_unit_test(without_weir_there_is_only_that),
	        cmocka_unit_test(labels_are_escaped_and_one_without_room_is_none),
	        cmocka_unit_test(a_host_is_an_address_or_a_name_that_is_ours),
	        cmocka_unit_test(a_change_is_a_conversation_of_its_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
