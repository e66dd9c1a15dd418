/* SPDX-License-Identifier: BSD-3-Clause */
/* `probe`: its packets, their path through the routers, and the conversation that waits for the
 * answers. */
#include "trial.h"
#include "runner/group.h"

#include <jansson.h>
#include <string.h>

#include <rte_ip.h>

#include "engine/engine_report.h"
#include "header/feedback_probe.h"
#include "packet/headers.h"
#include "talk.h"

/* ---- its packets ---- */

static void make(struct feedback_probe *probe, const char *insert, bool six, const uint8_t *to)
{
	struct conf *conf = trial_conf(insert);

	feedback_probe_make(probe, (const struct feedback_proxy_conf *)conf, six, to);
	conf_free(conf);
}

static void there_is_a_packet_for_each_router_and_probe(void **state)
{
	static const uint8_t asked[][2] = {{64, 1}, {64, 3}, {63, 1}, {63, 3}, {62, 1}, {62, 3}};
	struct feedback_probe probe;

	(void)state;
	for (int six = 0; six < 2; six++) {
		uint32_t header = six ? 54 : 34;

		make(&probe, "feedback proxy insert hops 3 probe link,queue", six, NULL);
		assert_int_equal(probe.n, LENGTH(asked));
		assert_int_equal(probe.frame_bytes, six ? 70 : 60);
		for (uint32_t i = 0; i < probe.n; i++) {
			const uint8_t *frame = probe.frames + i * probe.frame_bytes;
			struct headers headers;

			assert_true(headers_find(frame, probe.frame_bytes, probe.frame_bytes,
			                         &headers));
			assert_int_equal(headers.protocol, 253);
			assert_int_equal(headers.transport, header);
			assert_int_equal(headers.transport_bytes, 16);
			assert_int_equal(frame[header], 3);
			assert_int_equal(frame[header + 1], asked[i][1]);
			assert_int_equal(frame[header + 3], asked[i][0]);
			assert_int_equal(frame[header + 7], 59);
			if (!six)
				assert_int_equal(rte_raw_cksum(frame + 14, 20), 0xffff);
		}
	}
	/* No TTL is below 1. */
	make(&probe, "feedback proxy insert hops 9 ttl 5 probe loss", false, NULL);
	assert_int_equal(probe.n, 5);
	assert_int_equal(probe.frames[22], 5);
	make(&probe, "feedback proxy insert ttl 0 protocol 200", false,
	     (const uint8_t[]){203, 0, 113, 9});
	assert_int_equal(probe.frames[22], 64);
	assert_int_equal(probe.frames[23], 200);
	assert_memory_equal(probe.frames + 30, ((const uint8_t[]){203, 0, 113, 9}), 4);
}

/* ---- their path ---- */

static struct rig *open_path(void)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 5});

	rig_cloud(rig, "x", 0, 1);
	rig_put(rig, "x", trial_conf("feedback proxy insert hops 3"));
	rig_chain(rig, "r1", "x", 1);
	rig_put(rig, "r1", trial_conf("hop 192.0.2.1 2001:db8::1"));
	rig_put(rig, "r1", trial_conf("feedback header"));
	rig_put(rig, "r1", trial_conf("rate 100mbit"));
	rig_chain(rig, "r2", "r1", 1);
	rig_put(rig, "r2", trial_conf("hop 192.0.2.2 2001:db8::2"));
	rig_put(rig, "r2", trial_conf("feedback header"));
	rig_put(rig, "r2", trial_conf("rate 20mbit"));
	rig_delay(rig, "r2", 5 * SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_chain(rig, "y", "r2", 1);
	rig_put(rig, "y", trial_conf("feedback proxy strip"));
	rig_apply(rig, 0);
	return rig;
}

static uint32_t insert(struct rig *rig, const char *cloud, const struct feedback_probe *probe,
                       simtime now)
{
	const struct insertion insertion = {cloud, probe->n, probe->frame_bytes, probe->frames};

	rig_advance(rig, now);
	return engine_insert(rig->engine, &insertion, now);
}

static void routers_answer_although_no_host_sends_anything(void **state)
{
	struct feedback_probe probe;

	(void)state;
	for (int six = 0; six < 2; six++) {
		struct rig *rig = open_path();
		const struct cloud_report *report;

		make(&probe, "feedback proxy insert hops 3", six, NULL);
		assert_int_equal(insert(rig, "x", &probe, SIMTIME_MS), 9);
		rig_check(rig);
		report = rig_report(rig, "x");
		assert_int_equal(report->counters.generated, 9);
		assert_int_equal(report->counters.rx_packets, 0);
		assert_int_equal(report->counters.rx_bytes, 0);
		assert_int_equal(report->counters.feedback_inserted, 0);
		rig_run_out(rig);
		assert_int_equal(rig->n_departures, 0);
		assert_int_equal(rig_report(rig, "r1")->counters.feedback_written, 3);
		assert_int_equal(rig_report(rig, "r2")->counters.feedback_written, 3);
		report = rig_report(rig, "y");
		assert_int_equal(report->counters.drops[REASON_PROBE], 9);
		assert_int_equal(report->counters.feedback_stripped, 0);
		/* There is no third router, so it has not answered. */
		assert_int_equal(report->observed.n_hops, 2);
		assert_int_equal(report->observed.hops[0].probe[OBSERVED_LINK].value[0], 100000);
		assert_int_equal(report->observed.hops[1].probe[OBSERVED_LINK].value[0], 20000);
		for (int i = 0; i < OBSERVED_PROBES; i++)
			assert_true(report->observed.hops[1].probe[i].heard);
		/* The answers took the path of packets. */
		assert_true(report->observed.hops[0].probe[OBSERVED_LINK].at_ns > 6 * SIMTIME_MS);
		rig_close(rig);
	}
}

static void what_is_lost_on_the_way_does_not_arrive(void **state)
{
	struct rig *rig = open_path();
	struct feedback_probe probe;

	(void)state;
	rig_loss_every(rig, "r1", 3, 1);
	rig_apply(rig, 0);
	make(&probe, "feedback proxy insert hops 3", false, NULL);
	insert(rig, "x", &probe, 10);
	rig_run_out(rig);
	assert_int_equal(rig_report(rig, "r1")->counters.drops[REASON_LOSS], 3);
	assert_int_equal(rig_report(rig, "y")->counters.drops[REASON_PROBE], 6);
	rig_close(rig);
}

static void a_cloud_that_is_not_there_takes_nothing(void **state)
{
	struct rig *rig = open_path();
	struct feedback_probe probe;

	(void)state;
	make(&probe, "feedback proxy insert", false, NULL);
	assert_int_equal(insert(rig, "nowhere", &probe, 10), 0);
	assert_int_equal(engine_held_packets(rig->engine), 0);
	rig_close(rig);
}

/* The packet looks like a probe, but entered at a port. */
static void what_a_host_sends_is_the_hosts(void **state)
{
	struct rig *rig = open_path();
	struct feedback_probe probe;
	struct rte_mbuf *mbuf;

	(void)state;
	make(&probe, "feedback proxy insert", false, NULL);
	mbuf = rig_packet(rig, RIG_PLAIN, 0, 1, probe.frame_bytes, 0, 10);
	memcpy(rte_pktmbuf_mtod(mbuf, void *), probe.frames, probe.frame_bytes);
	rig_ingress(rig, &mbuf, 1);
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, 1);
	assert_int_equal(rig_report(rig, "y")->counters.feedback_stripped, 1);
	assert_int_equal(rig_report(rig, "y")->counters.drops[REASON_PROBE], 0);
	rig_close(rig);
}

/* ---- the conversation ---- */

#define SCENARIO                                                                                   \
	"port a\nport b\ncloud x from a to b\ncloud x feedback proxy insert hops 2\n"              \
	"cloud r from x to b\ncloud r hop 192.0.2.1\ncloud r feedback header\n"                    \
	"cloud y from r to b\ncloud y feedback proxy strip\n"                                      \
	"cloud back from b to a\ncloud back feedback proxy insert\n"

static int talk_start(void **state)
{
	return talk_begin(state, SCENARIO);
}

static void expect_begins(struct talk *talk, const char *expected)
{
	size_t n;
	const char *output = session_output(talk->session, &n);

	if (n < strlen(expected) || strncmp(output, expected, strlen(expected)) != 0 ||
	    (n > 0 && expected[0] == 0))
		fail_msg("expected %s...\nheard    %.*s", expected, (int)n, output);
	session_taken(talk->session, n);
}

static size_t say(struct talk *talk, const char *text)
{
	return session_feed(talk->session, text, strlen(text));
}

static void refused(struct talk *talk, const char *line, const char *why)
{
	assert_int_equal(say(talk, line), strlen(line));
	expect_begins(talk, why);
	assert_int_equal(talk->fake.inserted, 0);
}

static void what_cannot_be_asked_is_refused_with_what_would_be_right(void **state)
{
	struct talk *talk = *state;

	refused(talk, "probe z\n", "err z: there is no cloud `z`");
	refused(talk, "probe r\n",
	        "err r: cloud `r` sends no requests to routers; write: cloud r feedback proxy "
	        "insert");
	refused(talk, "probe back\n", "err back: no cloud behind `back` strips its requests");
	refused(talk, "probe x to 192.0.2\n", "err 192.0.2: `192.0.2` is not an address");
	refused(talk, "probe x within 51s\n", "err 51s: ");
	refused(talk, "probe x within 5\n", "err 5:");
	refused(talk, "probe x whithin 5s\n", "err whithin:");
	refused(talk, "probe\n", "err probe:");
	talk->fake.refuse = true;
	refused(talk, "probe x\n", "err x: a worker stands still");
}

static void come(struct talk *talk, uint32_t n, uint32_t ttl, simtime t)
{
	struct observed *observed = &talk->fake.report.observed;

	talk->fake.report.counters.drops[REASON_PROBE] += n;
	observed->has_path = true;
	observed->now_ns = t;
	observed->hops[observed->n_hops] = (struct observed_hop){
	        .hop = 65 - ttl, .ttl = ttl, .probe[OBSERVED_LINK] = {true, t, {20000, 15000}}};
	observed->n_hops++;
}

/* Nothing is answered until the last request has come. */
static void the_rest_comes(void *argument)
{
	struct talk *talk = argument;

	expect_begins(talk, "");
	if (talk->fake.report.counters.drops[REASON_PROBE] == 3)
		come(talk, 5, 63, talk->fake.now_ns);
	else
		talk->fake.report.counters.drops[REASON_PROBE]++;
}

static void it_is_answered_when_all_have_come_and_other_lines_wait(void **state)
{
	struct talk *talk = *state;

	come(talk, 3, 64, 100); /* an answer from before */
	talk->fake.now_ns = 1000;
	talk->fake.meanwhile = the_rest_comes;
	talk->fake.argument = talk;
	say(talk, "probe x\nshow config\n");
	assert_int_equal(talk->fake.inserted, 6);
	assert_string_equal(talk->fake.inserted_into, "x");
	/* The router of the answer from before is not listed. */
	expect_begins(talk, "  hop  ttl       link  available  loss  errors  queue  delay   age\n"
	                    "    2   63  20 Mbit/s  15 Mbit/s     ?       ?      ?      ?  0 ns\n"
	                    "6 requests entered cloud x, and all came out at cloud y\nok\n"
	                    "port a\n");
}

static void it_is_answered_when_it_is_time(void **state)
{
	struct talk *talk = *state;

	say(talk, "probe x to 2001:db8::7 within 20ms\n");
	assert_int_equal(talk->fake.inserted_first[12], 0x86);
	assert_int_equal(talk->fake.inserted_first[14 + 39], 7);
	assert_in_range(talk->fake.now_ns, 20 * SIMTIME_MS, 25 * SIMTIME_MS);
	expect_begins(talk, "no router has answered\n6 requests entered cloud x, 0 came out at "
	                    "cloud y within 20ms: the others are lost, or still under way\nok\n");
}

static void four_come(void *argument)
{
	struct talk *talk = argument;

	if (talk->fake.report.counters.drops[REASON_PROBE] == 0)
		come(talk, 4, 64, 77);
}

static void in_json_it_is_one_object(void **state)
{
	struct talk *talk = *state;
	json_t *object;
	const char *text;
	size_t n;

	say(talk, "json on\n");
	expect_begins(talk, "{\"ok\":true}");
	talk->fake.meanwhile = four_come;
	talk->fake.argument = talk;
	say(talk, "probe x within 1ms\n");
	text = session_output(talk->session, &n);
	object = json_loadb(text, n, 0, NULL);
	assert_non_null(object);
	assert_true(json_is_true(json_object_get(object, "ok")));
	assert_string_equal(json_string_value(json_object_get(object, "cloud")), "x");
	assert_string_equal(json_string_value(json_object_get(object, "strip")), "y");
	assert_int_equal(json_integer_value(json_object_get(object, "asked")), 6);
	assert_int_equal(json_integer_value(json_object_get(object, "arrived")), 4);
	assert_int_equal(json_array_size(json_object_get(object, "path")), 1);
	json_decref(object);
}

static void another_probes(void *argument)
{
	struct talk *talk = argument;
	struct session *other = session_make(&talk->fake.control);
	size_t n;

	session_feed(other, "probe x\n", 8);
	assert_non_null(strstr(session_output(other, &n), "err x: another probe is under way"));
	session_free(other);
}

static void one_at_a_time_and_who_leaves_makes_room(void **state)
{
	struct talk *talk = *state;
	uint32_t asked = 0;
	struct asker gone = {talk_leaves, &asked};
	struct session *other = session_make(&talk->fake.control);

	talk->fake.meanwhile = another_probes;
	talk->fake.argument = talk;
	session_attend(other, &gone, -1);
	session_feed(other, "probe x\n", 8);
	assert_true(session_over(other));
	assert_in_range(talk->fake.now_ns, 1, SIMTIME_S - 1);
	session_free(other);
	say(talk, "probe x\n");
	expect_begins(talk, "no router has answered\n6 requests entered cloud x, ");
}

GROUP(probe)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(there_is_a_packet_for_each_router_and_probe),
	        cmocka_unit_test(routers_answer_although_no_host_sends_anything),
	        cmocka_unit_test(what_is_lost_on_the_way_does_not_arrive),
	        cmocka_unit_test(a_cloud_that_is_not_there_takes_nothing),
	        cmocka_unit_test(what_a_host_sends_is_the_hosts),
#define TALK(name) cmocka_unit_test_setup_teardown(name, talk_start, talk_stop)
	        TALK(what_cannot_be_asked_is_refused_with_what_would_be_right),
	        TALK(it_is_answered_when_all_have_come_and_other_lines_wait),
	        TALK(it_is_answered_when_it_is_time),
	        TALK(in_json_it_is_one_object),
	        TALK(one_at_a_time_and_who_leaves_makes_room),
	};

	return cmocka_run_group_tests_name("probe", tests, rig_group_setup, rig_group_teardown);
}
