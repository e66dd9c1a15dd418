/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replays compared with exact expectations. trace.c makes the captures, so the output is known to
 * the byte and the nanosecond. Each test works in a folder of its own, which is removed. The
 * mempool aborts when an mbuf is freed twice, and replay_run itself detects mbufs that are not
 * freed.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/capture.h"
#include "engine/engine_report.h"
#include "folder.h"
#include "language/scenario_file.h"
#include "offline/replay.h"
#include "poison_ops.h"
#include "replay/decision_log.h"
#include "trace.h"

#define START_NS UINT64_C(1500000000123456789)

/* ---- running a replay ---- */

/* A replay from port a to b, and back if there is a second output. */
struct run {
	const char *scenario; /* the part behind the ports */
	const char *in;       /* "in" if NULL */
	const char *out;      /* "out" if NULL */
	const char *in_b, *out_a;
	const char *split;
	const char *log;
	uint64_t seed; /* 0: 42 */
	uint32_t burst;
	int wanted; /* the expected result of replay_run */
	struct replay_result result;
	struct problem problem;
};

static struct scenario *load(const char *text, uint64_t seed)
{
	char whole[2048], message[SCENARIO_FILE_ERROR];
	struct scenario *scenario = NULL;
	int n = snprintf(whole, sizeof(whole), "seed %llu\nport a\nport b\n%s\n",
	                 (unsigned long long)(seed ? seed : 42), text);

	if (scenario_text_load(whole, (size_t)n, "test", &scenario, message, sizeof(message)))
		fail_msg("%s", message);
	return scenario;
}

static void run_replay(struct run *run)
{
	struct scenario *scenario = load(run->scenario, run->seed);
	struct replay_file in[2] = {{0, run->split ? 1 : REPLAY_NO_PORT, run->in ? run->in : "in"},
	                            {1, REPLAY_NO_PORT, run->in_b}};
	struct replay_file out[2] = {{1, 0, run->out ? run->out : "out"}, {0, 0, run->out_a}};
	struct decision_log *log = NULL;
	struct replay_options options = {
	        .in = in,
	        .out = out,
	        .n_in = run->in_b ? 2 : 1,
	        .n_out = run->out_a ? 2 : 1,
	        .split = run->split,
	        .burst = run->burst,
	        .mempool_ops = POISON_OPS,
	};
	int error;

	memset(&run->result, 0, sizeof(run->result));
	if (run->log) {
		assert_int_equal(decision_log_open(run->log, scenario, false, &log, &run->problem),
		                 0);
		options.witness = decision_log_witness(log);
	}
	error = replay_run(scenario, &options, &run->result, &run->problem);
	if (error != run->wanted)
		fail_msg("replay_run returned %d: %s", error, run->problem.text);
	if (log && !error)
		assert_int_equal(decision_log_publish(log, &run->problem), 0);
	else
		decision_log_discard(log);
	scenario_free(scenario);
}

static void run_done(struct run *run)
{
	replay_result_free(&run->result);
}

static void make_input(const struct trace *trace, const char *path)
{
	if (trace_write(trace, path))
		fail_msg("%s: %s", path, strerror(errno));
}

static struct capture *open_output(const char *path)
{
	struct capture *capture = NULL;
	struct problem problem = {.text = ""};

	if (capture_open(path, NULL, NULL, &capture, &problem))
		fail_msg("%s", problem.text);
	return capture;
}

static bool same_files(const char *a, const char *b)
{
	char command[200];

	snprintf(command, sizeof(command), "cmp -s '%s' '%s'", a, b);
	return system(command) == 0;
}

static int count_files(void)
{
	FILE *list = popen("ls -A | wc -l", "r");
	int n = -1;

	assert_non_null(list);
	assert_int_equal(fscanf(list, "%d", &n), 1);
	pclose(list);
	return n;
}

/* ---- time and bytes ---- */

/* Asserts that every frame of `in` is in `out`, later by this much and otherwise unchanged. */
static void assert_shifted(const char *in, const char *out, uint64_t later_ns, uint64_t n)
{
	struct capture *one = open_output(in), *two = open_output(out);
	struct capture_frame a, b;

	for (uint64_t i = 0; i < n; i++) {
		assert_true(capture_next(one, &a));
		assert_true(capture_next(two, &b));
		assert_int_equal(b.t_ns, a.t_ns + later_ns);
		assert_int_equal(b.bytes, a.bytes);
		assert_int_equal(b.wire_bytes, a.wire_bytes);
		assert_memory_equal(b.data, a.data, a.bytes);
	}
	assert_false(capture_next(one, &a));
	assert_false(capture_next(two, &b));
	capture_close(one);
	capture_close(two);
}

static void a_delay_of_100_ms_moves_every_packet_by_exactly_that(void **state)
{
	(void)state;
	for (int form = 0; form < 4; form++) {
		struct trace trace = {
		        .packets = 20000,
		        .bytes = 14,
		        .bytes_max = 1514,
		        .wire_extra = 3,
		        .start_ns = START_NS,
		        .gap_ns = 5003,
		        .jitter_ns = 2000,
		        .pcapng = form & 1,
		        .microseconds = form & 2,
		};
		struct run run = {.scenario = "cloud down from a to b\ncloud down delay 100ms"};

		make_input(&trace, "in");
		run_replay(&run);
		assert_shifted("in", "out", 100000000, trace.packets);
		assert_int_equal(run.result.clouds[0].delay_ns.min, 100000000);
		assert_int_equal(run.result.clouds[0].delay_ns.max, 100000000);
		assert_int_equal(run.result.ports[0].truncated, trace.packets);
		run_done(&run);
	}
}

static void a_cloud_without_statements_changes_nothing(void **state)
{
	struct trace trace = {
	        .packets = 5000, .bytes = 60, .bytes_max = 99, .start_ns = START_NS, .gap_ns = 100};
	struct run run = {.scenario = "cloud down from a to b"};

	(void)state;
	make_input(&trace, "in");
	run_replay(&run);
	assert_shifted("in", "out", 0, trace.packets);
	run_done(&run);
}

static void the_shortest_and_the_longest_frames_pass(void **state)
{
	struct trace tiny = {
	        .packets = 14 * 10, .bytes = 0, .bytes_max = 13, .start_ns = START_NS, .gap_ns = 7};
	struct trace huge = {.packets = 20,
	                     .bytes = CAPTURE_FRAME_MAX - 19,
	                     .bytes_max = CAPTURE_FRAME_MAX,
	                     .start_ns = START_NS,
	                     .gap_ns = 7};
	struct trace border = {.packets = 300,
	                       .bytes = 1900,
	                       .bytes_max = 2199,
	                       .start_ns = START_NS,
	                       .gap_ns = 7};
	const struct trace *traces[] = {&tiny, &huge, &border};

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct run run = {.scenario = "cloud down from a to b\ncloud down delay 1us"};

		make_input(traces[i], "in");
		run_replay(&run);
		assert_shifted("in", "out", 1000, traces[i]->packets);
		run_done(&run);
	}
}

static void delays_longer_than_the_capture_hold_all_of_it(void **state)
{
	struct trace trace = {.packets = 60000, .bytes = 700, .start_ns = START_NS, .gap_ns = 1};
	struct run run = {.scenario = "cloud down from a to b\ncloud down delay 1h"};

	(void)state;
	run.scenario = "cloud down from a to b\ncloud down delay 3600s";
	make_input(&trace, "in");
	run_replay(&run);
	assert_shifted("in", "out", UINT64_C(3600000000000), trace.packets);
	run_done(&run);
}

/* ---- determinism ---- */

#define RANDOM_SCENARIO                                                                            \
	"cloud down from a to b\ncloud up from b to a\n"                                           \
	"cloud down loss random 2%\ncloud down rate 8mbit algorithm token-bucket burst 10kB\n"     \
	"cloud down delay 20ms jitter 5ms distribution normal order allow\n"                       \
	"cloud up loss every 7 burst 2\ncloud up rate 4mbit queue 20pkt\n"                         \
	"cloud up delay 3ms jitter 2ms"

static void make_both_directions(void)
{
	struct trace trace = {
	        .packets = 30000,
	        .bytes = 60,
	        .bytes_max = 1514,
	        .start_ns = START_NS,
	        .gap_ns = 400000,
	        .jitter_ns = 3000000,
	        .both = true,
	};

	make_input(&trace, "in");
}

static void same_seed_same_bytes_other_seed_other_bytes(void **state)
{
	struct run first = {.scenario = RANDOM_SCENARIO, .split = "first", .out_a = "out-a"};
	struct run again = {
	        .scenario = RANDOM_SCENARIO, .split = "first", .out = "again", .out_a = "again-a"};
	struct run other = {.scenario = RANDOM_SCENARIO,
	                    .split = "first",
	                    .out = "other",
	                    .out_a = "other-a",
	                    .seed = 43};

	(void)state;
	make_both_directions();
	run_replay(&first);
	run_replay(&again);
	run_replay(&other);
	assert_true(same_files("out", "again"));
	assert_true(same_files("out-a", "again-a"));
	assert_false(same_files("out", "other"));
	assert_false(same_files("out-a", "other-a"));
	run_done(&first);
	run_done(&again);
	run_done(&other);
}

static void bursts_of_any_size_give_the_same_bytes(void **state)
{
	static const uint32_t bursts[] = {32, 1, 2, 7, 31};
	char out[16], out_a[16];

	(void)state;
	make_both_directions();
	for (size_t i = 0; i < sizeof(bursts) / sizeof(bursts[0]); i++) {
		struct run run = {.scenario = RANDOM_SCENARIO,
		                  .split = "first",
		                  .out = out,
		                  .out_a = out_a,
		                  .burst = bursts[i]};

		snprintf(out, sizeof(out), "out-b%zu", i);
		snprintf(out_a, sizeof(out_a), "out-a%zu", i);
		run_replay(&run);
		if (!same_files("out-b0", out) || !same_files("out-a0", out_a))
			fail_msg("bursts of %u and 32 differ", bursts[i]);
		run_done(&run);
	}
}

/* Many packets at each instant, and departures at the same instants as arrivals. */
static void bursts_do_not_matter_where_instants_coincide(void **state)
{
	static const uint32_t bursts[] = {32, 1, 3, 7};
	struct trace one = {.packets = 3000, .bytes = 125, .start_ns = START_NS, .gap_ns = 0};
	struct trace two = {.packets = 3000, .bytes = 125, .start_ns = START_NS, .gap_ns = 100000};
	const char *scenario =
	        "cloud down from a to b\ncloud up from b to b\n"
	        "cloud down rate 10mbit queue 500pkt\ncloud up rate 10mbit queue 5pkt\n"
	        "cloud up delay 100us";
	char out[16];

	(void)state;
	make_input(&one, "one");
	make_input(&two, "two");
	for (size_t i = 0; i < sizeof(bursts) / sizeof(bursts[0]); i++) {
		struct run run = {.scenario = scenario,
		                  .in = "one",
		                  .in_b = "two",
		                  .out = out,
		                  .burst = bursts[i]};

		snprintf(out, sizeof(out), "out-%zu", i);
		run_replay(&run);
		if (!same_files("out-0", out))
			fail_msg("bursts of %u and 32 differ", bursts[i]);
		run_done(&run);
	}
}

static void a_log_changes_nothing_and_is_itself_reproducible(void **state)
{
	struct run plain = {.scenario = RANDOM_SCENARIO, .split = "first", .out_a = "out-a"};
	struct run logged = {.scenario = RANDOM_SCENARIO,
	                     .split = "first",
	                     .out = "logged",
	                     .out_a = "logged-a",
	                     .log = "log"};
	struct run again = {.scenario = RANDOM_SCENARIO,
	                    .split = "first",
	                    .out = "again",
	                    .out_a = "again-a",
	                    .log = "log-again",
	                    .burst = 7};

	(void)state;
	make_both_directions();
	run_replay(&plain);
	run_replay(&logged);
	run_replay(&again);
	assert_true(same_files("out", "logged"));
	assert_true(same_files("out-a", "logged-a"));
	assert_true(same_files("log", "log-again"));
	run_done(&plain);
	run_done(&logged);
	run_done(&again);
}

/* The departures of the log, sorted by time, are those of the output. */
static void the_log_tells_of_each_packet_what_the_output_shows(void **state)
{
	struct trace trace = {
	        .packets = 5000, .bytes = 100, .start_ns = START_NS, .gap_ns = 100000};
	struct run run = {.scenario = "cloud down from a to b\ncloud down loss every 5\n"
	                              "cloud down delay 10ms jitter 4ms",
	                  .log = "log"};
	char line[200], port[8], cloud[8], fate[16];
	uint64_t packet, t_in_ns, lines = 0, lost = 0;
	struct capture *output;
	struct capture_frame frame;
	FILE *log;

	(void)state;
	make_input(&trace, "in");
	run_replay(&run);
	output = open_output("out");
	log = fopen("log", "r");
	assert_non_null(log);
	assert_non_null(fgets(line, sizeof(line), log));
	assert_string_equal(line, "packet,port,t_in_ns,cloud,fate,reason,t_out_ns,detail\n");
	while (fgets(line, sizeof(line), log)) {
		unsigned long long n, t_in, t_out;
		char rest[64];

		assert_int_equal(sscanf(line, "%llu,%7[^,],%llu,%7[^,],%15[^,],%63[^\n]", &n, port,
		                        &t_in, cloud, fate, rest),
		                 6);
		packet = n;
		t_in_ns = t_in;
		lines++;
		assert_int_equal(packet, lines);
		assert_string_equal(port, "a");
		assert_string_equal(cloud, "down");
		assert_int_equal(t_in_ns, trace_instant_ns(&trace, packet - 1));
		if (strcmp(fate, "dropped") == 0) {
			lost++;
			assert_string_equal(rest, "loss,,");
			assert_int_equal(packet % 5, 0);
			continue;
		}
		/* `order keep`, the default: departures are in the order of the log. */
		assert_string_equal(fate, "delivered");
		assert_int_equal(sscanf(rest, ",%llu,", &t_out), 1);
		assert_true(capture_next(output, &frame));
		assert_int_equal(frame.t_ns, t_out);
	}
	fclose(log);
	assert_false(capture_next(output, &frame));
	assert_int_equal(lines, 5000);
	assert_int_equal(lost, 1000);
	capture_close(output);
	run_done(&run);
}

/* ---- the claims of the statements ---- */

static void one_percent_of_a_million_is_lost_within_the_binomial_bound(void **state)
{
	struct trace trace = {
	        .packets = 1000000, .bytes = 60, .start_ns = START_NS, .gap_ns = 1000};
	struct run run = {.scenario = "cloud down from a to b\ncloud down loss random 1%"};
	/* The number of lost packets is binomial (n, p), nearly normal with this deviation; 3.2905
	 * of these on either side contain 99.9 %. */
	double bound = 3.2905 * sqrt(1e6 * 0.01 * 0.99);
	const struct counters *counters;

	(void)state;
	make_input(&trace, "in");
	run_replay(&run);
	counters = &run.result.clouds[0].counters;
	assert_int_equal(counters->rx_packets, 1000000);
	assert_int_equal(counters->tx_packets + counters->drops[REASON_LOSS], 1000000);
	assert_true(fabs((double)counters->drops[REASON_LOSS] - 10000) <= bound);
	run_done(&run);
}

static void every_1000_burst_3_loses_exactly_the_last_3_of_each_1002(void **state)
{
	struct trace trace = {.packets = 100000, .bytes = 60, .start_ns = START_NS, .gap_ns = 1000};
	struct run run = {.scenario = "cloud down from a to b\ncloud down loss every 1000 burst 3"};
	struct capture_frame frame;
	struct capture *output;
	uint64_t lost = 0;

	(void)state;
	make_input(&trace, "in");
	run_replay(&run);
	output = open_output("out");
	for (uint64_t i = 0; i < trace.packets; i++) {
		uint64_t number;

		if (i % 1002 >= 999) {
			lost++;
			continue;
		}
		assert_true(capture_next(output, &frame));
		memcpy(&number, frame.data + 42, sizeof(number));
		assert_int_equal(number, i);
	}
	assert_false(capture_next(output, &frame));
	assert_int_equal(run.result.clouds[0].counters.drops[REASON_LOSS], lost);
	assert_int_equal(lost, 99 * 3 + 0);
	capture_close(output);
	run_done(&run);
}

/* 7 Mbit/s: 1000 bytes take 1142857.142857... ns, so a remainder that is not carried is
 * detected. */
static void a_saturated_leaky_bucket_spaces_a_million_packets_exactly(void **state)
{
	struct trace trace = {.packets = 1000000,
	                      .bytes = 60,
	                      .wire_extra = 940,
	                      .start_ns = START_NS,
	                      .gap_ns = 1141857};
	struct run run = {.scenario = "cloud down from a to b\n"
	                              "cloud down rate 7mbit algorithm leaky-bucket queue 2000pkt"};
	struct capture_frame frame;
	struct capture *output;

	(void)state;
	make_input(&trace, "in");
	run_replay(&run);
	output = open_output("out");
	for (uint64_t i = 0; i < trace.packets; i++) {
		/* start + (i + 1) 8L/R, in sevenths of a ns */
		unsigned __int128 exact = (unsigned __int128)(i + 1) * 8000000;
		__int128 error;

		assert_true(capture_next(output, &frame));
		error = (__int128)(frame.t_ns - START_NS) * 7 - (__int128)exact;
		if (error <= -7 || error >= 7)
			fail_msg("packet %llu is %lld sevenths of a ns off",
			         (unsigned long long)i + 1, (long long)error);
	}
	assert_false(capture_next(output, &frame));
	capture_close(output);
	run_done(&run);
}

/* ---- several files ---- */

static void two_captures_take_their_directions_and_meet_in_time(void **state)
{
	struct trace a = {.packets = 1000, .bytes = 60, .start_ns = START_NS, .gap_ns = 1000};
	struct trace b = {.packets = 500, .bytes = 61, .start_ns = START_NS, .gap_ns = 3000};
	struct run run = {.scenario = "cloud down from a to b\ncloud up from b to a\n"
	                              "cloud down delay 5ms\ncloud up delay 7ms",
	                  .in_b = "in-b",
	                  .out_a = "out-a"};

	(void)state;
	make_input(&a, "in");
	make_input(&b, "in-b");
	run_replay(&run);
	assert_shifted("in", "out", 5000000, 1000);
	assert_shifted("in-b", "out-a", 7000000, 500);
	assert_int_equal(run.result.first_ns, START_NS);
	assert_int_equal(run.result.last_ns, START_NS + 499 * 3000 + 7000000);
	run_done(&run);
}

static void every_split_rule_parts_the_directions_alike(void **state)
{
	static const char *const rules[] = {"first", "mac=02:00:00:00:00:0a", "ip=10.0.0.1",
	                                    "ip=10.0.0.0/24", "port=5000"};

	(void)state;
	make_both_directions();
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct run run = {.scenario = "cloud down from a to b\ncloud up from b to a",
		                  .split = rules[i],
		                  .out = i ? "out" : "first",
		                  .out_a = i ? "out-a" : "first-a"};

		run_replay(&run);
		/* Frames of fewer than 38 bytes have no visible port; there are none. */
		assert_int_equal(run.result.ports[0].rx_packets, 15000);
		assert_int_equal(run.result.ports[1].rx_packets, 15000);
		if (i)
			assert_true(same_files("first", "out") && same_files("first-a", "out-a"));
		run_done(&run);
	}
}

static void packets_that_no_cloud_takes_and_no_file_gets_are_counted(void **state)
{
	struct run run = {.scenario = "cloud up from b to a", .split = "first"};

	(void)state;
	make_both_directions();
	run_replay(&run);
	assert_int_equal(run.result.ports[0].no_cloud, 15000);
	assert_int_equal(run.result.ports[0].tx_packets, 15000);
	assert_int_equal(run.result.ports[0].no_file, 15000);
	assert_int_equal(run.result.ports[1].no_cloud, 0);
	run_done(&run);
}

/* ---- errors ---- */

static void a_cut_capture_is_replayed_as_far_as_it_goes_and_said(void **state)
{
	struct trace trace = {.packets = 1000,
	                      .bytes = 60,
	                      .start_ns = START_NS,
	                      .gap_ns = 1000,
	                      .cut_bytes = 20};
	struct run run = {.scenario = "cloud down from a to b"};

	(void)state;
	make_input(&trace, "in");
	run_replay(&run);
	assert_int_equal(run.result.ports[1].tx_packets, 999);
	assert_non_null(strstr(run.result.ports[0].damage,
	                       "in: after frame 999: the file ends in the middle of a frame"));
	run_done(&run);
}

static void frames_with_an_earlier_stamp_are_put_in_order_counted_and_reported(void **state)
{
	struct trace trace = {.packets = 100,
	                      .bytes = 60,
	                      .start_ns = START_NS,
	                      .gap_ns = 1000,
	                      .back_every = 10,
	                      .back_ns = 5500};
	struct run run = {.scenario = "cloud down from a to b"};

	(void)state;
	make_input(&trace, "in");
	run_replay(&run);
	assert_int_equal(run.result.ports[0].clock_back, 10);
	assert_int_equal(run.result.ports[0].clock_back_max_ns, 4500);
	assert_int_equal(run.result.ports[0].sorted, 10);
	assert_string_equal(run.result.ports[0].stamps,
	                    "in: 10 frames put in the order of the time stamps");
	run_done(&run);
}

static void wrong_files_are_refused_before_anything_is_written(void **state)
{
	struct trace trace = {.packets = 10, .bytes = 60, .start_ns = START_NS, .gap_ns = 1000};
	struct trace raw = {.packets = 10, .bytes = 60, .link_type = 105};
	static const struct {
		const char *in, *out, *out_a, *says;
	} cases[] = {
	        {"in", "in", NULL, "in: is the input in; the output must be another file"},
	        {"in", "./in", NULL, "./in: is the input in;"},
	        {"in", "soft", NULL, "soft: is the input in;"},
	        {"in", "hard", NULL, "hard: is the input in;"},
	        {"in", "out", "out", "out: is the output of two ports"},
	        {"in", "none/out", NULL, "none/out: cannot be written: No such file"},
	        {"in", "out", "none/out", "none/out: cannot be written: No such file"},
	        {"raw", "out", NULL, "raw: is a capture of link type IEEE802_11"},
	        {"none", "out", NULL, "none: cannot be read: No such file"},
	};

	(void)state;
	make_input(&trace, "in");
	make_input(&raw, "raw");
	assert_int_equal(symlink("in", "soft"), 0);
	assert_int_equal(link("in", "hard"), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct run run = {.scenario = "cloud down from a to b",
		                  .in = cases[i].in,
		                  .out = cases[i].out,
		                  .out_a = cases[i].out_a,
		                  .wanted = -EINVAL};

		run_replay(&run);
		if (!strstr(run.problem.text, cases[i].says))
			fail_msg("%s", run.problem.text);
		assert_int_equal(count_files(), 4);
		run_done(&run);
	}
}

static void a_full_disk_ends_the_replay_and_leaves_nothing(void **state)
{
	struct trace trace = {
	        .packets = 100000, .bytes = 200, .start_ns = START_NS, .gap_ns = 1000};
	struct run run = {.scenario = "cloud down from a to b", .wanted = -EIO};
	struct run small = {
	        .scenario = "cloud down from a to b", .out = "/dev/full", .wanted = -ENOSPC};
	struct rlimit limit, half;

	(void)state;
	make_input(&trace, "in");
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	half = (struct rlimit){.rlim_cur = 10000000, .rlim_max = limit.rlim_max};
	setrlimit(RLIMIT_FSIZE, &half);
	run_replay(&run);
	setrlimit(RLIMIT_FSIZE, &limit);
	assert_non_null(strstr(run.problem.text, "out: writing failed: File too large"));
	assert_int_equal(count_files(), 1);
	run_done(&run);

	trace.packets = 3; /* the error appears only at the end */
	make_input(&trace, "in");
	run_replay(&small);
	assert_string_equal(small.problem.text,
	                    "/dev/full: writing failed: No space left on device; make room, or "
	                    "write it elsewhere");
	run_done(&small);
}

static void a_scenario_that_holds_more_than_the_memory_is_told_so(void **state)
{
	struct trace trace = {
	        .packets = 20000, .bytes = 1500, .start_ns = START_NS, .gap_ns = 1000};
	struct scenario *scenario = load("cloud down from a to b\ncloud down delay 10s", 42);
	struct replay_file in = {0, REPLAY_NO_PORT, "in"}, out = {1, 0, "out"};
	struct replay_options options = {
	        .in = &in, .out = &out, .n_in = 1, .n_out = 1, .memory_bytes = 20 << 20};
	struct replay_result result = {.last_ns = 0};
	struct problem problem;

	(void)state;
	make_input(&trace, "in");
	assert_int_equal(replay_run(scenario, &options, &result, &problem), -ENOMEM);
	assert_non_null(strstr(problem.text, "allow more with --memory"));
	assert_int_equal(count_files(), 1);
	replay_result_free(&result);
	scenario_free(scenario);
}

static int link_ops(void **state)
{
	(void)state;
	(void)poison_is_real(); /* this call suffices */
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_folder, leave_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_delay_of_100_ms_moves_every_packet_by_exactly_that),
	        TEST(a_cloud_without_statements_changes_nothing),
	        TEST(the_shortest_and_the_longest_frames_pass),
	        TEST(delays_longer_than_the_capture_hold_all_of_it),
	        TEST(same_seed_same_bytes_other_seed_other_bytes),
	        TEST(bursts_of_any_size_give_the_same_bytes),
	        TEST(bursts_do_not_matter_where_instants_coincide),
	        TEST(a_log_changes_nothing_and_is_itself_reproducible),
	        TEST(the_log_tells_of_each_packet_what_the_output_shows),
	        TEST(one_percent_of_a_million_is_lost_within_the_binomial_bound),
	        TEST(every_1000_burst_3_loses_exactly_the_last_3_of_each_1002),
	        TEST(a_saturated_leaky_bucket_spaces_a_million_packets_exactly),
	        TEST(two_captures_take_their_directions_and_meet_in_time),
	        TEST(every_split_rule_parts_the_directions_alike),
	        TEST(packets_that_no_cloud_takes_and_no_file_gets_are_counted),
	        TEST(a_cut_capture_is_replayed_as_far_as_it_goes_and_said),
	        TEST(frames_with_an_earlier_stamp_are_put_in_order_counted_and_reported),
	        TEST(wrong_files_are_refused_before_anything_is_written),
	        TEST(a_full_disk_ends_the_replay_and_leaves_nothing),
	        TEST(a_scenario_that_holds_more_than_the_memory_is_told_so),
	};

	return cmocka_run_group_tests_name("replay", tests, link_ops, NULL);
}
