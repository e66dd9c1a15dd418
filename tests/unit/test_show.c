/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of `show`, for people and for programs, with known counters. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <jansson.h>

#include "engine/engine_report.h"
#include "fake_control.h"
#include "language/scenario_check.h"
#include "line/delay.h"
#include "runner/group.h"
#include "show/achieved.h"
#include "show/show.h"
#include "text/table.h"
#include "show/view.h"
#include "socket/session.h"
#include "statements.h"
#include "trial.h"

#define SCENARIO                                                                                   \
	"seed 42\nport a device net_null0\nport b device net_null1\n"                              \
	"cloud down from a to b\ncloud up from b to a\n"                                           \
	"cloud down loss random 0.1%\ncloud down rate 10mbit queue 20kB\ncloud down delay 40ms\n"

struct scene {
	struct fake fake;
	struct output output;
};

static int scene_start(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	struct counters *counters = &scene->fake.report.counters;

	if (!fake_start(&scene->fake, SCENARIO))
		return -1;
	scene->fake.now_ns = 10 * SIMTIME_S;
	counters->rx_packets = 1000000;
	counters->rx_bytes = 1500000000;
	counters->tx_packets = 998000;
	counters->tx_bytes = 12500000; /* 10 Mbit/s over 10 s */
	counters->drops[REASON_LOSS] = 997;
	counters->drops[REASON_QUEUE_FULL] = 900;
	scene->fake.report.held_packets = 103;
	scene->fake.report.queue_packets = 3;
	scene->fake.report.queue_bytes = 4500;
	histogram_add(&scene->fake.report.delay_ns, 40000000, 998000);
	histogram_add(&scene->fake.port.lateness_ns, 350, 998000);
	scene->fake.worker.polls = 1000;
	scene->fake.worker.busy_polls = 250;
	scene->fake.worker.memory_bytes = 1000000;
	*state = scene;
	return 0;
}

static int scene_stop(void **state)
{
	struct scene *scene = *state;

	output_release(&scene->output);
	fake_stop(&scene->fake);
	free(scene);
	return 0;
}

/* Rows of tables begin with two blanks, and have more between their columns. */
static void expect_narrow(const char *text)
{
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		const char *gap = strstr(line + strspn(line, " "), "  ");

		if (strncmp(line, "  ", 2) == 0 && gap && gap < line + strcspn(line, "\n") &&
		    strcspn(line, "\n") > 80 + 4)
			fail_msg("wider than 80 columns: %.*s", (int)strcspn(line, "\n"), line);
	}
}

/* Returns the output, valid until the next call. */
static const char *shown(struct scene *scene, enum show_what what)
{
	output_taken(&scene->output, scene->output.n);
	show_answer(&scene->output, &scene->fake.control, what, 0, NULL, "");
	output_append(&scene->output, "", 1);
	expect_narrow(scene->output.bytes + scene->output.head);
	return scene->output.bytes + scene->output.head;
}

static void expect_line(const char *text, const char *line)
{
	if (text == NULL || strstr(text, line) == NULL)
		fail_msg("not there: %s\nin:\n%s", line, text != NULL ? text : "nothing");
}

static void expect_no_line(const char *text, const char *line)
{
	assert_non_null(text);
	if (strstr(text, line) != NULL)
		fail_msg("should not be there: %s\nin:\n%s", line, text);
}

static void a_cloud_is_shown_with_what_was_achieved_beside_what_is_configured(void **state)
{
	const char *text = shown(*state, SHOW_CLOUD);

	expect_line(text, "cloud down from a to b\n\n");
	expect_line(text,
	            "\n  configured              achieved since the start, 10 s ago\n"
	            "  loss random 0.1%        0.0997%, 997 of 1,000,000 packets lost (±0.0063%\n"
	            "                          expected)\n"
	            "  rate 10mbit queue 20kB  10 Mbit/s on average in 10 s\n"
	            "  delay 40ms              40 ms on the line\n\n");
	expect_line(text, "\n  since the start    packets    bytes\n"
	                  "  received         1,000,000   1.5 GB\n"
	                  "  sent               998,000  12.5 MB\n"
	                  "  held                   103         \n"
	                  "  dropped              1,897         \n"
	                  "  in the queue             3   4.5 kB\n\n");
	expect_line(text, "\n  since the start:\n"
	                  "                  mean     min     p50     p99   p99.9     max\n"
	                  "  delay, line    40 ms   40 ms   40 ms   40 ms   40 ms   40 ms\n"
	                  "  delay in all   40 ms   40 ms   40 ms   40 ms   40 ms   40 ms\n"
	                  "  late at b     350 ns  350 ns  350 ns  350 ns  350 ns  350 ns\n");
	assert_string_equal(text + strlen(text) - 4, "\nok\n");
}

static void emulated_congestion_and_real_drops_are_apart(void **state)
{
	struct scene *scene = *state;
	const char *text = shown(scene, SHOW_CLOUD);

	expect_line(text, "\n  drops       packets    share  reasons\n"
	                  "  emulated        997  0.0997%  loss 997\n"
	                  "  congestion      900    0.09%  queue-full 900\n"
	                  "  real              0       0%  \n\n");
	expect_no_line(text, "which the scenario did not ask for");
	scene->fake.report.counters.drops[REASON_NO_BUFFER] = 1234;
	text = shown(scene, SHOW_CLOUD);
	expect_line(text, "  real          1,234  0.1234%  no-buffer 1,234\n");
	expect_line(text,
	            "\nwarning: 1,234 packets lost to no-buffer, which the scenario did not ask "
	            "for: weir had no memory left to hold the packet\n");
	expect_line(shown(scene, SHOW_CLOUDS), "\nwarning: weir itself lost packets");
}

static void a_rate_is_that_since_somebody_looked_last(void **state)
{
	struct scene *scene = *state;

	shown(scene, SHOW_CLOUD);
	scene->fake.now_ns += 2 * SIMTIME_S;
	scene->fake.report.counters.tx_bytes += 1250000;
	expect_line(shown(scene, SHOW_CLOUD),
	            "  5 Mbit/s in the last 2 s, 9.167 Mbit/s on average\n");
}

static void a_queue_that_is_too_small_is_warned_of(void **state)
{
	struct scene *scene = *state;

	expect_line(
	        shown(scene, SHOW_CLOUD),
	        "\nwarning: the queue drops, and its 20 kB are less than rate x delay, 50 kB: ");
	scene->fake.report.counters.drops[REASON_QUEUE_FULL] = 0;
	expect_no_line(shown(scene, SHOW_CLOUD), "warning");
}

static void lateness_is_warned_of_when_it_is_common(void **state)
{
	struct scene *scene = *state;

	scene->fake.report.counters.drops[REASON_QUEUE_FULL] = 0;
	histogram_add(&scene->fake.port.lateness_ns, 5000000, 20000);
	expect_line(shown(scene, SHOW_CLOUD),
	            "\nwarning: one packet in a hundred leaves port b 4.99 ms late or more");
}

static void all_clouds_are_a_line_each(void **state)
{
	const char *text = shown(*state, SHOW_CLOUDS);

	expect_line(text,
	            "  cloud  from  to   received     sent  held  emulated  congestion  real\n"
	            "  down   a     b   1,000,000  998,000   103       997         900     0\n"
	            "  up     b     a   1,000,000  998,000   103       997         900     0\n"
	            "\n"
	            "  cloud  rate sent  delay p50  delay p99\n"
	            "  down   10 Mbit/s      40 ms      40 ms\n"
	            "  up     10 Mbit/s      40 ms      40 ms\n");
}

static void without_a_packet_there_is_no_delay_and_no_lateness(void **state)
{
	struct scene *scene = *state;

	histogram_clear(&scene->fake.report.delay_ns);
	histogram_clear(&scene->fake.port.lateness_ns);
	expect_line(shown(scene, SHOW_CLOUDS), "  10 Mbit/s          -          -\n");
	expect_line(shown(scene, SHOW_CLOUD), "\n  delay in all     -    -    -    -      -    -\n"
	                                      "  late at b        -    -    -    -      -    -\n");
	expect_line(
	        shown(scene, SHOW_PORTS),
	        "  port  no cloud  untouched  rx missed  no mbuf  tx full  not sent  not written\n"
	        "  a            0          0          0        0        0         0            "
	        "0\n");
	expect_line(shown(scene, SHOW_PORTS), "  port  late p50  p99  max\n"
	                                      "  a            -    -    -\n");
}

static void ports_say_what_they_lost_and_when_a_link_is_down(void **state)
{
	struct scene *scene = *state;
	const char *text = shown(scene, SHOW_PORTS);

	expect_line(text,
	            "  port  device     driver    link       time  received  bytes  sent  bytes\n"
	            "  a     net_null0  net_fake  10 Gbit/s  poll         0    0 B     0    0 "
	            "B\n");
	expect_no_line(text, "warning");
	scene->fake.port.link_up = false;
	scene->fake.port.rx_missed = 7;
	scene->fake.port.unfinished = 2;
	scene->fake.port.tx_full = 7000;
	scene->fake.port.time = "device";
	scene->fake.port.stamps_odd = 12;
	text = shown(scene, SHOW_PORTS);
	expect_line(text, "\nwarning: port a: the link is down\n");
	expect_line(text,
	            "\nwarning: port a: 2 packets lost on arrival at net_null0, because neither");
	expect_line(text, "\nwarning: port a: the device lost 5 packets before weir saw them");
	expect_line(text, "  down  device  ");
	expect_line(text, "\nwarning: port b: 12 time stamps of the device were implausible, and "
	                  "corrected");
	expect_line(text, "\nwarning: port b: the device did not take 7,000 packets within 100 ms");
}

static void ports_say_what_came_before_the_start_and_which_stamps_came_too_late(void **state)
{
	struct scene *scene = *state;

	scene->fake.port.time = "kernel";
	scene->fake.port.early = 54;
	scene->fake.port.stamped = 1000;
	scene->fake.port.aged = 7;
	scene->fake.port.oldest_ns = 999999;
	expect_line(shown(scene, SHOW_PORTS),
	            "\nport a: 54 packets came before weir had started, and were dropped\n");
	expect_no_line(shown(scene, SHOW_PORTS), "warning");
	scene->fake.port.oldest_ns = 3000000;
	expect_line(
	        shown(scene, SHOW_PORTS),
	        "\nwarning: port a: 7 packets could be received only after weir had passed the "
	        "instant of their time stamp, by 3 ms at most: they left later than `late` says\n");
}

static void a_worker_that_stalls_or_is_nearly_full_is_warned_of(void **state)
{
	struct scene *scene = *state;

	expect_line(shown(scene, SHOW_WORKERS), "  1,000   25%  ");
	expect_no_line(shown(scene, SHOW_WORKERS), "warning");
	scene->fake.worker.stalls = 2;
	scene->fake.worker.memory_used_bytes = 950000;
	expect_line(shown(scene, SHOW_WORKERS),
	            "\nwarning: worker 0 did not poll for a second, 2 times");
	expect_line(shown(scene, SHOW_WORKERS), "\nwarning: worker 0 has used 90% of its memory");
	scene->fake.worker.stalls = 0;
	scene->fake.worker.longest_poll_ns = 1900000;
	expect_no_line(shown(scene, SHOW_WORKERS), "did not poll");
	scene->fake.worker.longest_poll_ns = 24000000;
	expect_line(
	        shown(scene, SHOW_WORKERS),
	        "\nwarning: worker 0 did not poll for 24 ms, and packets that were due meanwhile "
	        "left late; `weir bench machine` says of processor 0:\n");
}

/* A jitter: the delay of the line alone, and the cost of keeping order. */
static void the_delay_achieved_is_that_of_the_line_where_it_varies(void **state)
{
	struct scene *scene = *state;
	struct cloud_report *report = &scene->fake.report;

	report->line_packets = 998000;
	report->line_mean_ns = 40.25e6;
	report->line_deviation_ns = 4.9e6;
	expect_line(shown(scene, SHOW_CLOUD),
	            "  40.25 ms on the line on average, standard deviation\n"
	            "                          4.9 ms\n");
	report->order_waits = 7;
	expect_line(shown(scene, SHOW_CLOUD),
	            "  40.25 ms on the line on average, standard deviation\n"
	            "                          4.9 ms, order made packets wait\n");
}

/* The effect of a statement of feedback is printed beside it, in `show cloud` and in the table of a
 * replay. */
static void each_statement_of_feedback_says_what_it_has_done(void **state)
{
	static const struct {
		const char *statement, *got;
	} rows[] = {
	        {"mark above 20kB", "1 marked, 2 dropped as not capable: 30% of 10 packets"},
	        {"red min 15kB max 45kB",
	         "1 marked, 3 dropped early, 4 by force: 80% of 10 packets"},
	        {"hop 192.0.2.1", "5 packets of its own"},
	        {"feedback header", "6 answers written, 9 malformed"},
	        {"xcp", "6 requests reduced, 9 malformed"},
	        {"ecn on", "1 marked: 10% of 10 packets"},
	        {"becn", "7 quenches sent: 70% of 10 packets"},
	        {"meter", "in the latest window 8 Mbit/s sent, 3 ms queuing delay"},
	};
	struct cloud_report report = {
	        .counters = {.rx_packets = 10,
	                     .ecn_marked = 1,
	                     .generated = 5,
	                     .feedback_written = 6,
	                     .becn_sent = 7,
	                     .feedback_malformed = 9},
	        .observed = {
	                .has_meter = true,
	                .meter = {.measured = true, .sent_bps = 8000000, .delay_ns = 3000000}}};
	struct achieved_run run = {.duration_ns = SIMTIME_S};

	(void)state;
	report.counters.drops[REASON_NOT_CAPABLE] = 2;
	report.counters.drops[REASON_RED_EARLY] = 3;
	report.counters.drops[REASON_RED_FORCED] = 4;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct achieved_row got[ACHIEVED_ROWS_MAX];
		struct conf *conf = trial_conf(rows[i].statement);
		struct cloud_conf cloud = {.name = "x", .confs = {conf}, .n_confs = 1};
		uint32_t n = achieved_rows(&cloud, &report, &run, got), seen = 0;

		for (uint32_t r = 0; r < n; r++) {
			if (strcmp(got[r].what, conf->statement->name) != 0)
				continue;
			assert_string_equal(got[r].got, rows[i].got);
			seen++;
		}
		assert_int_equal(seen, 1);
		conf_free(conf);
	}
}

/* Expects the effect `expected` of `conf` in a cloud with this report, and beside it in `show
 * cloud`. */
static void expect_achieved(struct cloud_conf *cloud, const struct cloud_report *report,
                            const struct conf *conf, const char *expected)
{
	struct achieved_run run = {.duration_ns = SIMTIME_S};
	struct achieved_row rows[ACHIEVED_ROWS_MAX];
	struct view view = {.conf = cloud, .report = *report, .since = *report};
	uint32_t n = achieved_rows(cloud, report, &run, rows), seen = 0;
	char text[256];

	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(rows[i].what, conf->statement->name) != 0)
			continue;
		assert_string_equal(rows[i].got, expected);
		seen++;
	}
	assert_int_equal(seen, 1);
	view_achieved(&view, conf, text, sizeof(text));
	assert_string_equal(text, expected);
}

/* Otherwise `show` and the table of a replay have nothing to say of it. */
static void each_management_has_counts(void **state)
{
	(void)state;
	for (const struct statement *const *row = statements; *row; row++) {
		if (((*row)->role == ROLE_AQM || (*row)->role == ROLE_AQM_MODIFIER) &&
		    !(*row)->counts[0].words)
			fail_msg("`%s` has no `counts` (statement.h)", (*row)->name);
	}
}

static void a_management_says_what_it_has_done_and_how_long_packets_waited(void **state)
{
	static const struct {
		const char *statement, *got;
	} lines[] = {
	        {"red min 15kB max 45kB",
	         "9 marked, 1 dropped early, 2 by force: 12% of 100 packets; "
	         "2.5 ms through queue and link on average"},
	        {"mark above 20kB",
	         "9 marked, 3 dropped as not capable: 12% of 100 packets; 2.5 ms "
	         "through queue and link on average"},
	        {"codel",
	         "9 marked, 4 dropped: 13% of 100 packets; 2.5 ms through queue and link on "
	         "average"},
	        {"pie", "9 marked, 5 dropped: 14% of 100 packets; 2.5 ms through queue and link on "
	                "average"},
	        {"fq-codel",
	         "9 marked, 4 dropped, 7 of the fullest flow: 20% of 100 packets; 2.5 ms "
	         "through queue and link on average"},
	        {"dualpi2",
	         "9 marked, 6 dropped: 15% of 100 packets; 2.5 ms through queue and link on "
	         "average"},
	        {"ecn on", "9 marked: 9% of 100 packets"},
	        {"becn", "8 quenches sent: 8% of 100 packets, 5 of them for marks"},
	};
	struct cloud_report report = {.counters = {.rx_packets = 100,
	                                           .ecn_marked = 9,
	                                           .becn_sent = 8,
	                                           .becn_marked = 5,
	                                           .drops = {[REASON_RED_EARLY] = 1,
	                                                     [REASON_RED_FORCED] = 2,
	                                                     [REASON_NOT_CAPABLE] = 3,
	                                                     [REASON_CODEL] = 4,
	                                                     [REASON_PIE] = 5,
	                                                     [REASON_DUALPI2] = 6,
	                                                     [REASON_FULLEST] = 7}},
	                              .delay_ns = {.count = 10, .sum = 425 * SIMTIME_MS}};
	struct conf *delay = trial_conf("delay 40ms");

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct conf *conf = trial_conf(lines[i].statement);
		struct cloud_conf cloud = {.name = "x", .confs = {conf, delay}, .n_confs = 2};

		expect_achieved(&cloud, &report, conf, lines[i].got);
		conf_free(conf);
	}
	conf_free(delay);
}

/* If the line's own delay changes with time, the time in a queue is unknown, and is not printed. */
static void the_time_in_a_queue_is_said_only_where_it_is_known(void **state)
{
	static const struct {
		const char *other, *got;
	} lines[] = {
	        {"delay 40ms",
	         "0 dropped: 0% of 10 packets; 2.5 ms through queue and link on average"},
	        {"reorder every 5", "0 dropped: 0% of 10 packets"},
	        {"wave delay 10ms..80ms period 1s", "0 dropped: 0% of 10 packets"},
	        {"delay 50ms", "0 dropped: 0% of 10 packets"},
	};
	struct cloud_report report = {.counters = {.rx_packets = 10},
	                              .delay_ns = {.count = 10, .sum = 425 * SIMTIME_MS}};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct conf *codel = trial_conf("codel"), *other = trial_conf(lines[i].other);
		struct cloud_conf cloud = {.name = "x", .confs = {codel, other}, .n_confs = 2};

		expect_achieved(&cloud, &report, codel, lines[i].got);
		/* One cloud of a template: the delays are those of all. */
		cloud.many = true;
		expect_achieved(&cloud, &report, codel, "0 dropped: 0% of 10 packets");
		conf_free(codel);
		conf_free(other);
	}
}

static void a_delay_that_is_of_all_clouds_of_a_template_is_called_so(void **state)
{
	struct conf *delay = trial_conf("delay 40ms"), *rate = trial_conf("rate 1mbit");
	struct conf *reorder = trial_conf("reorder every 5");
	struct cloud_conf cloud = {.name = "x", .confs = {delay, rate, reorder}, .n_confs = 3};
	struct view view = {.conf = &cloud,
	                    .since.delay_ns = {.count = 10, .sum = 425 * SIMTIME_MS}};
	char text[256];

	(void)state;
	view_achieved(&view, delay, text, sizeof(text));
	assert_string_equal(text, "42.5 ms on average, queueing included");
	cloud.many = true;
	view_achieved(&view, delay, text, sizeof(text));
	assert_string_equal(text, "42.5 ms on average of all clouds, queueing included");
	view.since.clouds_most = 2;
	view_achieved(&view, delay, text, sizeof(text));
	assert_string_equal(text, "42.5 ms on average, queueing included");
	conf_free(delay);
	conf_free(rate);
	conf_free(reorder);
}

static void each_stage_that_drops_is_in_the_table(void **state)
{
	(void)state;
	for (int i = 0; i < REASON_COUNT; i++) {
		const char *stage = reason_stage((enum reason)i);
		bool found = stage == NULL || stage[0] == '\0';

		for (const struct statement *const *row = statements; *row && !found; row++)
			found = strcmp((*row)->name, stage) == 0 && (*row)->role == ROLE_STAGE;
		if (!found)
			fail_msg("%s: no stage is called %s", reason_name((enum reason)i), stage);
	}
}

/* What a statement has treated, if another one is in the cloud, too. */
static void a_share_is_of_the_packets_that_came_to_its_statement(void **state)
{
	static const struct {
		const char *other, *statement, *got;
		struct counters counters;
		uint64_t delays;
		bool many;
	} rows[] = {
	        {"loss random 50%", "duplicate random 10%",
	         "10%, 5 of 50 packets duplicated (±8.5% expected)",
	         .counters = {.rx_packets = 100, .duplicated = 5, .drops = {[REASON_LOSS] = 50}}},
	        {"duplicate random 100%", "police 1mbit burst 2kB",
	         "75%, 150 of 200 packets dropped",
	         .counters = {.rx_packets = 100,
	                      .duplicated = 100,
	                      .drops = {[REASON_POLICE] = 150}}},
	        {"hop 192.0.2.1 2001:db8::1 mtu 600", "loss random 10%",
	         "10%, 11 of 110 packets lost (±5.7% expected)",
	         .counters = {.rx_packets = 100,
	                      .generated = 30,
	                      .joined = 20,
	                      .drops = {[REASON_LOSS] = 11, [REASON_TTL_EXPIRED] = 10}}},
	        {"loss random 50%", "codel", "4 dropped: 10% of 40 packets",
	         .counters =
	                 {.rx_packets = 100,
	                  .drops = {[REASON_LOSS] = 50, [REASON_LIMIT] = 10, [REASON_CODEL] = 4}}},
	        {"loss random 50%", "reorder every 10", "10%, 4 of 40 packets reordered",
	         .counters = {.rx_packets = 100,
	                      .tx_packets = 30,
	                      .reordered = 4,
	                      .drops = {[REASON_LOSS] = 50}},
	         .delays = 40},
	        /* All clouds of a template count delays together. */
	        {"loss random 50%", "reorder every 10", "4 packets reordered",
	         .counters = {.rx_packets = 100, .reordered = 4}, .delays = 40, .many = true},
	        /* The counters were cleared while 900 packets were on the line. */
	        {"delay 1s", "loss random 20%", "20%, 20 of 100 packets lost (±8% expected)",
	         .counters = {.rx_packets = 1000, .carried = 900, .drops = {[REASON_LOSS] = 20}}},
	        /* Packets that waited then are dropped now. */
	        {"delay 1s", "codel", "9 dropped",
	         .counters = {.rx_packets = 100, .carried = 95, .drops = {[REASON_CODEL] = 9}}},
	        /* Behind the loss, or before the corruption? */
	        {"delay 1s", "loss random 20%", "20%, 20 of 100 packets lost (±8% expected)",
	         .counters = {.rx_packets = 100,
	                      .drops = {[REASON_LOSS] = 20, [REASON_NO_BUFFER] = 5}}},
	        {"rewrite set ip.ttl 9", "corrupt random 10%", "9 packets corrupted",
	         .counters = {.rx_packets = 100,
	                      .corrupted = 9,
	                      .drops = {[REASON_NO_BUFFER] = 5}}},
	        {"loss random 100%", "corrupt random 10%", "no packet yet",
	         .counters = {.rx_packets = 100, .drops = {[REASON_LOSS] = 100}}},
	        /* Read while packets come. */
	        {"delay 1s", "loss random 100%", "100%, 101 of 101 packets lost",
	         .counters = {.rx_packets = 100, .drops = {[REASON_LOSS] = 101}}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct conf *other = trial_conf(rows[i].other);
		struct conf *conf = trial_conf(rows[i].statement);
		struct cloud_conf cloud = {
		        .name = "x", .many = rows[i].many, .confs = {other, conf}, .n_confs = 2};
		struct view view = {.conf = &cloud,
		                    .since = {.counters = rows[i].counters,
		                              .delay_ns = {.count = rows[i].delays}}};
		char text[256];

		view_achieved(&view, conf, text, sizeof(text));
		assert_string_equal(text, rows[i].got);
		conf_free(other);
		conf_free(conf);
	}
}

static void a_class_and_its_management_say_what_the_class_counted(void **state)
{
	struct cloud_report report = {.counters = {.rx_packets = 1000, .ecn_marked = 500},
	                              .n_classes = 2,
	                              .classes = {{.name = "data"},
	                                          {.name = "voice",
	                                           .counters = {.rx_packets = 40,
	                                                        .tx_packets = 30,
	                                                        .dropped = 6,
	                                                        .ecn_marked = 4}}}};
	struct conf *class = trial_conf("class voice weight 0.5"), *codel = trial_conf("codel");
	struct cloud_conf cloud = {.name = "x", .confs = {class, codel}, .n_confs = 2};
	const char *got = "30 sent, 4 marked, 6 dropped in the class: 25% of 40 packets";

	(void)state;
	strcpy(codel->scope, "voice");
	expect_achieved(&cloud, &report, class, got);
	expect_achieved(&cloud, &report, codel, got);
	conf_free(class);
	conf_free(codel);
}

/* The table of a replay: the differences of mean and spread from the values asked for. */
static void what_was_achieved_says_by_how_much_it_is_not_what_was_asked(void **state)
{
	static const struct {
		double mean_ns, deviation_ns;
		uint64_t waits, waited_ns;
		const char *delay, *jitter, *order;
	} rows[] = {
	        {40e6, 5e6, 0, 0, "mean 40 ms (as asked) on the line",
	         "5 ms (standard deviation), as asked", NULL},
	        {40.4e6, 4.9e6, 0, 0, "mean 40.4 ms (+1.00 %) on the line",
	         "4.9 ms (standard deviation), -2.00 %", NULL},
	        {57e6, 1.65e6, 500, 1000000, "mean 57 ms (+42.50 %) on the line",
	         "1.65 ms (standard deviation), -67.00 %",
	         "500 packets waited for the one ahead: 1 µs more on average over all packets"},
	};
	struct achieved_row got[ACHIEVED_ROWS_MAX];
	struct achieved_times times[ACHIEVED_TIMES_MAX];
	char text[HUMAN_UNIT_SIZE];
	struct achieved_run run = {.duration_ns = SIMTIME_S};
	struct conf *conf = trial_conf("delay 40ms jitter 5ms distribution normal");
	struct conf *rate = trial_conf("rate 1mbit queue 20kB");
	struct cloud_conf cloud = {.name = "x", .confs = {conf, rate}, .n_confs = 2};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cloud_report report = {.line_packets = 1000,
		                              .line_mean_ns = rows[i].mean_ns,
		                              .line_deviation_ns = rows[i].deviation_ns,
		                              .order_waits = rows[i].waits,
		                              .order_waited_ns = rows[i].waited_ns};
		bool order = false;
		uint32_t n;

		histogram_add(&report.delay_ns, 30000000, 999);
		histogram_add(&report.delay_ns, 50000000, 1);
		n = achieved_rows(&cloud, &report, &run, got);
		/* All figures of a row are of the same packets, with the queue or without. */
		assert_int_equal(achieved_times(&cloud, &report, times), 2);
		assert_true(times[0].times.ns[TIMES_MEAN] == rows[i].mean_ns);
		assert_false(times[0].times.spread);
		assert_true(times[1].times.spread && times[1].times.ns[TIMES_MEAN] == 30.02e6);
		assert_true(times[1].times.ns[TIMES_MIN] == 30e6);
		assert_true(times[1].times.ns[TIMES_MAX] == 50e6);
		times_cell(&times[1].times, TIMES_P50, HUMAN_NS, text);
		assert_string_equal(text, "30.01 ms");
		times_cell(&times[1].times, TIMES_P99, HUMAN_NS, text);
		assert_string_equal(text, "30.02 ms");
		for (uint32_t r = 0; r < n; r++) {
			if (strcmp(got[r].what, "delay") == 0)
				assert_string_equal(got[r].got, rows[i].delay);
			if (strcmp(got[r].what, "jitter") == 0)
				assert_string_equal(got[r].got, rows[i].jitter);
			if (strcmp(got[r].what, "order") != 0)
				continue;
			order = true;
			assert_string_equal(got[r].got, rows[i].order);
		}
		assert_int_equal(order, rows[i].order != NULL);
	}
	conf_free(conf);
	conf_free(rate);
}

/* While a schedule changes the delay, the statement is not what was in force: nothing is compared
 * with it. A schedule of something else changes nothing. */
static void what_a_schedule_changes_is_not_compared(void **state)
{
	static const struct {
		const char *schedule, *delay, *jitter;
	} rows[] = {
	        {"every 200ms for 100ms delay 50ms jitter 5ms", "mean 40 ms",
	         "9.9889 ms (standard deviation)"},
	        {"at 1s delay 50ms jitter 5ms", "mean 40 ms", "9.9889 ms (standard deviation)"},
	        {"wave delay 20ms..60ms period 500ms", "mean 40 ms",
	         "9.9889 ms (standard deviation)"},
	        {"every 200ms for 100ms loss random 1%", "mean 40 ms (+3900.00 %)",
	         "2 ms (standard deviation), +1900.00 %"},
	};
	struct achieved_row got[ACHIEVED_ROWS_MAX];
	struct achieved_run run = {.duration_ns = SIMTIME_S};
	struct conf *conf = trial_conf("delay 1ms jitter 100us distribution normal");

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct conf *schedule = trial_conf(rows[i].schedule);
		struct cloud_conf cloud = {.name = "x", .confs = {conf, schedule}, .n_confs = 2};
		/* the figures of the line count from its latest change */
		struct cloud_report report = {
		        .line_packets = 200, .line_mean_ns = 20e6, .line_deviation_ns = 2e6};
		uint32_t found = 0, n;

		histogram_add(&report.delay_ns, 30000000, 500);
		histogram_add(&report.delay_ns, 50000000, 500);
		n = achieved_rows(&cloud, &report, &run, got);
		for (uint32_t r = 0; r < n; r++) {
			bool delay = strcmp(got[r].what, "delay") == 0;

			if (!delay && strcmp(got[r].what, "jitter") != 0)
				continue;
			found++;
			assert_string_equal(got[r].asked, delay ? "1 ms" : "100 µs");
			assert_string_equal(got[r].got, delay ? rows[i].delay : rows[i].jitter);
		}
		assert_int_equal(found, 2);
		conf_free(schedule);
	}
	conf_free(conf);
}

/* A line without jitter has none, however long packets wait for the link. */
static void without_a_jitter_the_queue_is_none(void **state)
{
	static const struct {
		const char *statements[2];
		const char *jitter;
	} rows[] = {
	        {{"rate 1mbit queue 20kB", "delay 40ms"}, "none on the line"},
	        {{"rate 1mbit queue 20kB"}, "none on the line"},
	        {{"rate 1mbit queue 20kB", "reorder every 10"},
	         "9.9971 ms (standard deviation, queueing included)"},
	        {{"delay 40ms"}, "9.9971 ms (standard deviation)"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cloud_report report = {.line_packets = 0};
		struct achieved_run run = {.duration_ns = SIMTIME_S};
		struct achieved_row got[ACHIEVED_ROWS_MAX];
		struct cloud_conf cloud = {.name = "x"};
		bool jitter = false;
		uint32_t n;

		for (size_t k = 0; k < 2 && rows[i].statements[k]; k++)
			cloud.confs[cloud.n_confs++] = trial_conf(rows[i].statements[k]);
		histogram_add(&report.delay_ns, 40000000, 500);
		histogram_add(&report.delay_ns, 60000000, 500);
		n = achieved_rows(&cloud, &report, &run, got);
		for (uint32_t r = 0; r < n; r++) {
			if (strcmp(got[r].what, "jitter") != 0)
				continue;
			jitter = true;
			assert_string_equal(got[r].asked, "none");
			assert_string_equal(got[r].got, rows[i].jitter);
		}
		assert_true(jitter);
		for (uint32_t k = 0; k < cloud.n_confs; k++)
			conf_free(cloud.confs[k]);
	}
}

/* ---- since the last change ---- */

static void change(struct scene *scene, const char *line)
{
	struct session *session = session_make(&scene->fake.control);
	const char *output;
	char *answer;
	size_t n;

	assert_non_null(session);
	assert_int_equal(session_feed(session, line, strlen(line)), strlen(line));
	output = session_output(session, &n);
	answer = without_was(strndup(output, n));
	if (strcmp(answer, "ok\n") != 0)
		fail_msg("%s: %s", line, answer);
	free(answer);
	session_free(session);
}

/* Adds n packets: `lost` are lost, the others take delay_ns. */
static void more_packets(struct scene *scene, uint32_t n, uint32_t lost, uint64_t delay_ns)
{
	struct cloud_report *report = &scene->fake.report;

	report->counters.rx_packets += n;
	report->counters.tx_packets += n - lost;
	report->counters.tx_bytes += (n - lost) * 1250;
	report->counters.drops[REASON_LOSS] += lost;
	histogram_add(&report->delay_ns, delay_ns, n - lost);
}

static void what_was_achieved_counts_from_the_last_change_of_the_cloud(void **state)
{
	struct scene *scene = *state;
	const char *text;
	json_t *object, *since;

	change(scene, "cloud down loss random 10%\n");
	text = shown(scene, SHOW_CLOUD);
	expect_line(text, "achieved since the last change, 0 ns ago\n"
	                  "  loss random 10%         no packet yet\n");
	more_packets(scene, 1000, 98, 60000000);
	scene->fake.now_ns += SIMTIME_S;
	text = shown(scene, SHOW_CLOUD);
	expect_line(text,
	            "\n  configured              achieved since the last change, 1 s ago\n"
	            "  loss random 10%         9.8%, 98 of 1,000 packets lost (±1.9% expected)\n"
	            "  rate 10mbit queue 20kB  9.02 Mbit/s in the last 1 s, 9.02 Mbit/s on "
	            "average\n"
	            "  delay 40ms              40 ms on the line\n");
	expect_line(text, "\n  since the start    packets ");
	expect_line(text, "\n  received         1,001,000 ");
	expect_line(text, "\n  since the last change:\n"
	                  "                       mean     min     p50 ");
	expect_line(text, "\n  delay, line         40 ms   40 ms   40 ms ");
	expect_line(text,
	            "\n  delay in all        60 ms   60 ms   60 ms   60 ms   60 ms   60 ms\n");
	expect_line(text, "\n  late at b, in all  350 ns ");
	text = shown(scene, SHOW_CLOUD_ALL);
	expect_line(text,
	            "achieved since the start, 11 s ago\n"
	            "  loss random 10%         0.10939%, 1,095 of 1,001,000 packets lost (±0.06%\n"
	            "                          expected)\n");
	expect_line(text, "\n  delay in all  40.018 ms   40 ms ");
	scene->output.json = true;
	object = json_loads(shown(scene, SHOW_CLOUD), 0, NULL);
	since = json_object_get(object, "since");
	assert_string_equal(json_string_value(json_object_get(since, "what")), "change");
	assert_int_equal(json_integer_value(json_object_get(since, "for_ns")), SIMTIME_S);
	assert_int_equal(json_integer_value(json_object_get(since, "rx_packets")), 1000);
	assert_int_equal(json_integer_value(json_object_get(object, "rx_packets")), 1001000);
	assert_int_equal(
	        json_integer_value(json_object_get(json_object_get(since, "drops"), "loss")), 98);
	assert_int_equal(
	        json_integer_value(json_object_get(json_object_get(since, "delay_ns"), "p50")),
	        60000000);
	json_decref(object);
}

/* A class whose counters went on counts from the change; one that was made anew, from 0. */
static void classes_count_from_the_last_change_or_from_when_they_were_made(void **state)
{
	struct scene *scene = *state;
	struct cloud_report *report = &scene->fake.report;
	int down = scenario_find_cloud(scene->fake.scenario, "down");
	uint64_t since_ns;

	report->n_classes = 2;
	strcpy(report->classes[0].name, "on");
	report->classes[0].counters = (struct queue_counters){.rx_packets = 40, .tx_packets = 30};
	strcpy(report->classes[1].name, "anew");
	report->classes[1].counters = report->classes[0].counters;
	change(scene, "cloud down loss random 10%\n");
	report->classes[0].counters = (struct queue_counters){.rx_packets = 50, .tx_packets = 37};
	report->classes[1].counters = (struct queue_counters){.rx_packets = 50, .tx_packets = 29};
	assert_int_equal(control_since(&scene->fake.control, (uint32_t)down, report, &since_ns),
	                 CONTROL_SINCE_CHANGE);
	assert_int_equal(report->classes[0].counters.rx_packets, 10);
	assert_int_equal(report->classes[0].counters.tx_packets, 7);
	assert_int_equal(report->classes[1].counters.rx_packets, 50);
	assert_int_equal(report->classes[1].counters.tx_packets, 29);
}

/* Changes of other clouds, a change without effect, and a change back: only a change of the cloud
 * itself counts. */
static void a_change_is_the_clouds_own(void **state)
{
	struct scene *scene = *state;

	change(scene, "cloud up loss random 10%\n");
	change(scene, "clouds many from a to b per source 10.0.0.0/24 priority 5\n");
	change(scene, "cloud down loss random 0.1%\n");
	expect_line(shown(scene, SHOW_CLOUD), "achieved since the start, 10 s ago\n");
	change(scene, "cloud down loss random 0.2%\n");
	scene->fake.now_ns += SIMTIME_S;
	change(scene, "no cloud many\n");
	expect_line(shown(scene, SHOW_CLOUD), "achieved since the last change, 1 s ago\n");
	change(scene, "cloud down loss random 0.1%\n");
	expect_line(shown(scene, SHOW_CLOUD), "achieved since the last change, 0 ns ago\n");
	change(scene, "clear counters\n");
	scene->fake.now_ns += 2 * SIMTIME_S;
	expect_line(shown(scene, SHOW_CLOUD), "achieved since clear counters, 2 s ago\n");
}

/* A load that names the clouds in another order makes them anew: each keeps its own mark. */
static void marks_stay_with_their_clouds(void **state)
{
	struct scene *scene = *state;
	struct session *session = session_make(&scene->fake.control);
	const char *load = "begin whole\nport a\nport b\ncloud up from b to a\n"
	                   "cloud down from a to b\ncloud down delay 40ms\n"
	                   "cloud down loss random 5%\ncloud down rate 10mbit queue 20kB\n"
	                   "commit\n";
	char *text;

	change(scene, "cloud down loss random 5%\n");
	scene->fake.now_ns += SIMTIME_S;
	assert_int_equal(session_feed(session, load, strlen(load)), strlen(load));
	scene->fake.now_ns += SIMTIME_S;
	text = strdup(shown(scene, SHOW_CLOUD)); /* of `up`, which is the first now */
	expect_line(text, "cloud up from b to a\n");
	expect_line(text, "achieved since the start, 12 s ago\n");
	free(text);
	output_taken(&scene->output, scene->output.n);
	show_answer(&scene->output, &scene->fake.control, SHOW_CLOUD, 1, NULL, "");
	output_append(&scene->output, "", 1);
	expect_line(scene->output.bytes + scene->output.head,
	            "achieved since the last change, 2 s ago\n");
	session_free(session);
}

/* The last packet came at 5 s, and now it is 10 s: every query computes the age. */
static void a_path_that_nobody_asks_any_more_grows_old(void **state)
{
	struct scene *scene = *state;
	struct observed *observed = &scene->fake.report.observed;
	json_t *object;

	scene->fake.now_ns = 10 * SIMTIME_S;
	observed->has_path = true;
	observed->now_ns = 5 * SIMTIME_S;
	observed->n_hops = 1;
	observed->hops[0] = (struct observed_hop){
	        .hop = 1, .ttl = 64, .probe[OBSERVED_LINK] = {true, 4 * SIMTIME_S, {20000, 15000}}};
	expect_line(shown(scene, SHOW_PATH),
	            "20 Mbit/s  15 Mbit/s     ?       ?      ?      ?  6 s\n");
	scene->output.json = true;
	for (int what = 0; what < 2; what++) {
		object = json_loads(shown(scene, what ? SHOW_CLOUD : SHOW_PATH), 0, NULL);
		assert_non_null(object);
		assert_int_equal(
		        json_integer_value(json_object_get(
		                json_array_get(json_object_get(object, "path"), 0), "age_ns")),
		        6 * SIMTIME_S);
		json_decref(object);
	}
}

/* The contract, key by key. */
static void a_cloud_in_json_has_the_keys_of_the_contract_and_then_its_own(void **state)
{
#define X(field, text, metric, help) #field,
	static const char *const keys[] = {
	        "cloud",     "rx_packets",   "rx_bytes",    "tx_packets",
	        "tx_bytes",  "held_packets", "duplicated",  "generated",
	        "reordered", "corrupted",    "ecn_marked",  COUNTERS_LATER(X) "becn_sent",
	        "drops",     "delay_ns",     "lateness_ns", "queue",
	        "rewritten", "becn_marked",  "line",        "feedback",
	        "since"};
#undef X
	static const char *const percentiles[] = {"min", "p50", "p99", "p99.9", "max"};
	struct scene *scene = *state;
	size_t n = 0;
	const char *key;
	json_t *object, *value;

	scene->output.json = true;
	object = json_loads(shown(scene, SHOW_CLOUD), 0, NULL);
	assert_non_null(object);
	json_object_foreach(object, key, value)
	{
		assert_true(n < sizeof(keys) / sizeof(keys[0]));
		assert_string_equal(key, keys[n++]);
	}
	assert_int_equal(n, sizeof(keys) / sizeof(keys[0]));
	assert_string_equal(json_string_value(json_object_get(object, "cloud")), "down");
	assert_int_equal(json_integer_value(json_object_get(object, "rx_packets")), 1000000);
	assert_int_equal(json_object_size(json_object_get(object, "drops")), REASON_COUNT);
	value = json_object_get(object, "lateness_ns");
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(json_integer_value(json_object_get(value, percentiles[i])), 350);
	json_decref(object);
}

#define TEMPLATE                                                                                   \
	"seed 42\nport a device net_null0\nport b device net_null1\n"                              \
	"clouds down from a to b per destination 10.0.0.0/16\n"                                    \
	"clouds down loss random 0.1%\nclouds down delay 40ms\n"

static void template_start(struct scene *scene)
{
	struct fake before = scene->fake;

	fake_stop(&scene->fake);
	assert_true(fake_start(&scene->fake, TEMPLATE));
	scene->fake.now_ns = before.now_ns;
	scene->fake.report = scene->fake.one_report = before.report;
	scene->fake.port = before.port;
	scene->fake.report.clouds = 1234;
	scene->fake.report.clouds_most = 65536;
	scene->fake.one = "down/10.0.3.4";
	scene->fake.one_report.counters.rx_packets = 2000;
	scene->fake.one_report.counters.drops[REASON_LOSS] = 20;
}

/* Returns the output for one of its clouds, valid until the next call. */
static const char *shown_one(struct scene *scene, const char *address)
{
	output_taken(&scene->output, scene->output.n);
	if (!show_answer(&scene->output, &scene->fake.control, SHOW_CLOUD_ALL, 0, address, ""))
		return NULL;
	output_append(&scene->output, "", 1);
	return scene->output.bytes + scene->output.head;
}

static void a_template_says_how_many_clouds_it_has_and_shows_one_of_them(void **state)
{
	struct scene *scene = *state;
	const char *text;

	template_start(scene);
	text = shown(scene, SHOW_CLOUD);
	expect_line(text, "clouds down from a to b\n\n"
	                  "1,234 clouds of at most 65,536; their sums follow. For one of them: "
	                  "show clouds down ADDRESS\n\n");
	expect_line(text, "\n  loss random 0.1%  0.0997%, 997 of 1,000,000 packets lost (±0.0063% "
	                  "expected)\n");
	expect_line(text, "\n  received         1,000,000   1.5 GB\n");
	expect_line(text, "\n  delay, line    40 ms ");
	expect_line(shown(scene, SHOW_CLOUDS), "\n  down   a     b   1,000,000  998,000   103 ");
	text = shown_one(scene, "10.0.3.4");
	expect_line(text, "cloud down/10.0.3.4 from a to b\n\n");
	expect_no_line(text, "clouds of at most");
	expect_line(text, "\n  loss random 0.1%  1%, 20 of 2,000 packets lost (±0.14% expected)\n");
	expect_line(text, "\n  received           2,000   1.5 GB\n");
	/* the histogram is that of the template, and the line says so */
	expect_line(text, "\n  delay, all clouds ");
	assert_null(shown_one(scene, "10.0.3.5"));
}

static void a_template_in_json_has_its_clouds_and_one_of_them_its_name(void **state)
{
	struct scene *scene = *state;
	json_t *object;

	template_start(scene);
	scene->output.json = true;
	object = json_loads(shown(scene, SHOW_CLOUD), 0, NULL);
	assert_non_null(object);
	assert_string_equal(json_string_value(json_object_get(object, "cloud")), "down");
	assert_int_equal(json_integer_value(json_object_get(object, "rx_packets")), 1000000);
	assert_int_equal(json_integer_value(json_object_get(object, "clouds")), 1234);
	assert_int_equal(json_integer_value(json_object_get(object, "clouds_most")), 65536);
	json_decref(object);
	object = json_loads(shown_one(scene, "10.0.3.4"), 0, NULL);
	assert_non_null(object);
	assert_string_equal(json_string_value(json_object_get(object, "cloud")), "down/10.0.3.4");
	assert_int_equal(json_integer_value(json_object_get(object, "rx_packets")), 2000);
	assert_null(json_object_get(object, "clouds"));
	assert_null(json_object_get(object, "clouds_most"));
	json_decref(object);
}

static void lists_in_json_have_an_object_for_each(void **state)
{
	static const struct {
		enum show_what what;
		const char *key;
		size_t n;
	} cases[] = {
	        {SHOW_CLOUDS, "clouds", 2}, {SHOW_PORTS, "ports", 2}, {SHOW_WORKERS, "workers", 1}};
	struct scene *scene = *state;

	scene->output.json = true;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *object = json_loads(shown(scene, cases[i].what), 0, NULL);

		assert_true(json_is_true(json_object_get(object, "ok")));
		assert_int_equal(json_array_size(json_object_get(object, cases[i].key)),
		                 cases[i].n);
		json_decref(object);
	}
}

static json_int_t number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* `clouds`: how many to list. The caller frees the object. */
static json_t *totals_of(struct scene *scene, uint32_t clouds)
{
	json_t *object;

	output_taken(&scene->output, scene->output.n);
	scene->output.json = true;
	show_answer(&scene->output, &scene->fake.control, SHOW_TOTALS, clouds, NULL, "");
	output_append(&scene->output, "", 1);
	object = json_loads(scene->output.bytes + scene->output.head, 0, NULL);
	assert_non_null(object);
	assert_true(json_is_true(json_object_get(object, "ok")));
	return object;
}

static void totals_have_histograms_whole(void **state)
{
	struct scene *scene = *state;
	const json_t *delays, *buckets, *late;
	json_t *totals;

	histogram_add(&scene->fake.report.delay_ns, 5, 7);
	totals = totals_of(scene, 0);
	delays = json_object_get(json_array_get(json_object_get(totals, "clouds"), 0), "delay_ns");
	assert_int_equal(number_of(delays, "count"), 998007);
	assert_int_equal(number_of(delays, "sum_ns"), 998000 * INT64_C(40000000) + 35);
	buckets = json_object_get(delays, "buckets");
	assert_int_equal(json_array_size(buckets), 2);
	/* Below 32 ns a bucket is one value; 40 ms lies in [39.845888 ms, 40.894464 ms). */
	assert_int_equal(json_integer_value(json_array_get(json_array_get(buckets, 0), 0)), 5);
	assert_int_equal(json_integer_value(json_array_get(json_array_get(buckets, 0), 1)), 7);
	assert_int_equal(json_integer_value(json_array_get(json_array_get(buckets, 1), 0)),
	                 40894463);
	assert_int_equal(json_integer_value(json_array_get(json_array_get(buckets, 1), 1)), 998000);
	late = json_object_get(json_array_get(json_object_get(totals, "ports"), 1), "lateness_ns");
	assert_int_equal(number_of(late, "count"), 998000);
	json_decref(totals);
}

static void totals_of_fewer_clouds_leave_out_no_count(void **state)
{
	static const char *const keys[] = {"rx_packets", "rx_bytes", "tx_packets", "held_packets",
	                                   "duplicated"};
	struct scene *scene = *state;
	json_t *all = totals_of(scene, 0), *one = totals_of(scene, 1);
	const json_t *rest = json_object_get(one, "rest"), *none = json_object_get(all, "rest"),
	             *second = json_array_get(json_object_get(all, "clouds"), 1);

	assert_int_equal(number_of(one, "clouds_in_all"), 2);
	assert_int_equal(json_array_size(json_object_get(one, "clouds")), 1);
	assert_int_equal(json_array_size(json_object_get(all, "clouds")), 2);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		assert_int_equal(number_of(rest, keys[i]), number_of(second, keys[i]));
		assert_int_equal(number_of(none, keys[i]), 0);
	}
	assert_true(json_equal(json_object_get(rest, "drops"), json_object_get(second, "drops")));
	assert_int_equal(number_of(json_object_get(rest, "queue"), "bytes"), 4500);
	assert_null(json_object_get(rest, "delay_ns"));
	json_decref(all);
	json_decref(one);
}

static void a_line_that_reads_as_the_end_of_an_answer_is_set_off(void **state)
{
	struct scene *scene = *state;
	static const char text[] = "err down: x\nok\nokay\nerror\n";

	answer_text(&scene->output, "text", text, strlen(text));
	output_append(&scene->output, "", 1);
	assert_string_equal(scene->output.bytes, " err down: x\n ok\nokay\nerror\nok\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_start, scene_stop)

/* No delay is below 0. Where the distribution would reach there, the mean is greater: (40 + 100)^2
 * / (4 x 100) ms for a uniform one, 80 e^-0.5 ms for an exponential one from -40 ms on. */
static void a_jitter_above_the_delay_is_said_with_its_mean(void **state)
{
	static const struct {
		const char *statement;
		double mean_ms;
		const char *warning;
	} rows[] = {
	        {"delay 40ms jitter 100ms", 49, "the mean is 49 ms (+22.5 %)"},
	        {"delay 40ms jitter 80ms distribution exponential", 48.5225,
	         "the mean is 48.5 ms (+21.3 %)"},
	        {"delay 40ms jitter 60ms distribution bimodal order allow", 50,
	         "the mean is 50 ms (+25.0 %)"},
	        {"delay 40ms jitter 40ms", 40, NULL},
	        {"delay 40ms jitter 5ms distribution normal", 40, NULL},
	        {"delay 10ms jitter 20ms distribution gamma", 10, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct scenario *scenario = scenario_make();
		struct conf *conf = trial_conf(rows[i].statement);
		struct delay_asked asked;
		char *text = NULL;
		size_t n;
		FILE *out = open_memstream(&text, &n);

		assert_true(scenario && out);
		assert_int_equal(scenario_add_cloud(scenario, "down", "a", "b"), 0);
		assert_int_equal(cloud_conf_put(scenario->clouds[0], conf), 0);
		assert_int_equal(delay_asked((struct delay_conf *)conf, &asked), 0);
		assert_true(fabs(asked.mean_ns / (rows[i].mean_ms * 1e6) - 1) < 2e-4);
		scenario_warn(scenario, out);
		fclose(out);
		if (rows[i].warning)
			expect_line(text, rows[i].warning);
		else
			assert_string_equal(text, "");
		free(text);
		scenario_free(scenario);
	}
}

/* Counts the columns of the widest line, each character once. */
static size_t widest(const char *text)
{
	size_t most = 0, width = 0;

	for (; *text; text++) {
		width = *text == '\n' ? 0 : width + (((unsigned char)*text & 0xC0) != 0x80);
		most = width > most ? width : most;
	}
	return most;
}

/* Returns the table with these cells in each of two rows; to be freed. */
static char *table_of(const char *columns, const char *const *cells, size_t n)
{
	struct table *table = table_make(columns);
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_true(table && out);
	for (size_t i = 0; i < 2 * n; i++)
		table_text(table, cells[i % n]);
	table_end(table, out);
	fclose(out);
	return text;
}

static uint32_t times_in(const char *text, const char *part)
{
	uint32_t n = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		n++;
	return n;
}

static void a_table_fits_80_columns_and_cuts_nothing_off(void **state)
{
	static const char words[] = "every 1s for 200ms loss random 50% and corrupt random 1% and "
	                            "duplicate random 3% and police 3mbit burst 10kB";
	static const char long_name[] = "a-cloud-of-31-letters-has-them-",
	                  longer[] =
	                          "a%word%of-more-than-eighty-columns-that-has-no-blank-at-all%so-"
	                          "it-must-be-broken-somewhere%";
	static const char *const texts[] = {"at", words, words};
	static const char *const numbers[] = {long_name, "1,234,567,890", "234.5 Mbit/s",
	                                      "999,999", "12,345.6 µs",   "100,000,001",
	                                      "88.8 ms", "77.7 ms",       "last"};
	static const char *const names[] = {longer, long_name, long_name, long_name, "5"};
	char *text = table_of("lll", texts, 3);

	(void)state;
	assert_in_range(widest(text), 60, 80);
	assert_int_equal(times_in(text, "police"), 4);
	free(text);
	text = table_of("lrrrrrrrr", numbers, 9);
	assert_in_range(widest(text), 60, 80);
	/* the name in each of the three blocks */
	assert_int_equal(times_in(text, long_name), 6);
	for (size_t i = 1; i < 9; i++)
		assert_int_equal(times_in(text, numbers[i]), 2);
	free(text);
	text = table_of("llllr", names, 5);
	assert_in_range(widest(text), 60, 80);
	/* whole in each block */
	assert_int_equal(times_in(text, "%") % (2 * 4), 0);
	free(text);
}

GROUP(show)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_cloud_is_shown_with_what_was_achieved_beside_what_is_configured),
	        TEST(emulated_congestion_and_real_drops_are_apart),
	        TEST(a_rate_is_that_since_somebody_looked_last),
	        TEST(a_queue_that_is_too_small_is_warned_of),
	        TEST(lateness_is_warned_of_when_it_is_common),
	        TEST(all_clouds_are_a_line_each),
	        TEST(without_a_packet_there_is_no_delay_and_no_lateness),
	        TEST(ports_say_what_they_lost_and_when_a_link_is_down),
	        TEST(ports_say_what_came_before_the_start_and_which_stamps_came_too_late),
	        TEST(a_worker_that_stalls_or_is_nearly_full_is_warned_of),
	        TEST(the_delay_achieved_is_that_of_the_line_where_it_varies),
	        cmocka_unit_test(a_jitter_above_the_delay_is_said_with_its_mean),
	        cmocka_unit_test(a_table_fits_80_columns_and_cuts_nothing_off),
	        cmocka_unit_test(what_was_achieved_says_by_how_much_it_is_not_what_was_asked),
	        cmocka_unit_test(what_a_schedule_changes_is_not_compared),
	        cmocka_unit_test(without_a_jitter_the_queue_is_none),
	        cmocka_unit_test(each_statement_of_feedback_says_what_it_has_done),
	        cmocka_unit_test(each_management_has_counts),
	        cmocka_unit_test(a_management_says_what_it_has_done_and_how_long_packets_waited),
	        cmocka_unit_test(the_time_in_a_queue_is_said_only_where_it_is_known),
	        cmocka_unit_test(a_delay_that_is_of_all_clouds_of_a_template_is_called_so),
	        cmocka_unit_test(each_stage_that_drops_is_in_the_table),
	        cmocka_unit_test(a_share_is_of_the_packets_that_came_to_its_statement),
	        cmocka_unit_test(a_class_and_its_management_say_what_the_class_counted),
	        TEST(what_was_achieved_counts_from_the_last_change_of_the_cloud),
	        TEST(classes_count_from_the_last_change_or_from_when_they_were_made),
	        TEST(a_change_is_the_clouds_own),
	        TEST(marks_stay_with_their_clouds),
	        TEST(a_path_that_nobody_asks_any_more_grows_old),
	        TEST(a_cloud_in_json_has_the_keys_of_the_contract_and_then_its_own),
	        TEST(a_template_says_how_many_clouds_it_has_and_shows_one_of_them),
	        TEST(a_template_in_json_has_its_clouds_and_one_of_them_its_name),
	        TEST(lists_in_json_have_an_object_for_each),
	        TEST(totals_have_histograms_whole),
	        TEST(totals_of_fewer_clouds_leave_out_no_count),
	        TEST(a_line_that_reads_as_the_end_of_an_answer_is_set_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
