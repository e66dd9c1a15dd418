/* SPDX-License-Identifier: BSD-3-Clause */
/* libweir as a program has it: this file sees weir.h, and nothing else of weir. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <weir.h>

#include "runner/group.h"

#define MS INT64_C(1000000)
#define US INT64_C(1000)

#define PATH_OF(statements) "port a\nport b\ncloud down from a to b\n" statements
#define DELAYS              "cloud down delay 10ms\ncloud up delay 20ms\n"
#define BOTH_WAYS           PATH_OF("cloud up from b to a\n" DELAYS)

static struct weir *net_of(const char *text)
{
	struct weir_error error;
	struct weir *net = weir_open(text, NULL, &error);

	if (net == NULL)
		fail_msg("%" PRIu32 ":%" PRIu32 ": %s", error.line, error.column, error.text);
	return net;
}

static void send_one(struct weir *net, int64_t t_ns, uint32_t port, uint8_t mark, uint32_t bytes)
{
	uint8_t *frame = calloc(1, bytes);

	frame[bytes - 1] = mark;
	assert_int_equal(weir_send(net, t_ns, port, frame, bytes), 0);
	free(frame);
}

/* A digest of all that leaves. */
static uint64_t digest_until_the_end(struct weir *net, uint64_t digest, uint32_t batch)
{
	struct weir_frame frames[WEIR_BATCH_MAX];

	for (int64_t t_ns; (t_ns = weir_next(net)) != WEIR_NEVER;) {
		int n;

		while ((n = weir_receive(net, t_ns, frames, batch)) > 0) {
			for (int i = 0; i < n; i++) {
				const uint8_t *data = frames[i].data;

				digest = digest * 31 + (uint64_t)frames[i].t_ns;
				digest = digest * 31 + frames[i].port;
				digest = digest * 31 + data[frames[i].bytes - 1];
			}
		}
		assert_int_equal(n, 0);
	}
	return digest;
}

#define TRYING                                                                                     \
	PATH_OF("cloud up from b to a\n"                                                           \
	        "cloud down loss random 10%\n"                                                     \
	        "cloud down rate 10mbit queue 20kB\n"                                              \
	        "cloud down delay 10ms jitter 3ms\n"                                               \
	        "cloud up duplicate 5%\n"                                                          \
	        "cloud up delay 5ms jitter 2ms order allow\n")

/* Frame i of some: frames that are copied, that stay in an mbuf, and that take several. */
static void send_ith(struct weir *net, int64_t t_ns, uint32_t i)
{
	send_one(net, t_ns, i % 3 == 0, (uint8_t)i, i % 50 == 0 ? 5000 : 60 + i % 900);
}

static void send_some(struct weir *net, int64_t from_ns, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		send_ith(net, from_ns + i * 200 * US, i);
}

static uint64_t digest_of_run(const char *text, uint32_t batch)
{
	struct weir *net = net_of(text);
	uint64_t digest;

	send_some(net, 0, 500);
	digest = digest_until_the_end(net, 0, batch);
	weir_close(net);
	return digest;
}

/* ---- frames ---- */

static void a_frame_leaves_at_the_other_port_after_the_delay(void **state)
{
	struct weir *net = net_of(BOTH_WAYS);
	struct weir_frame frames[4];

	(void)state;
	assert_int_equal(weir_next(net), WEIR_NEVER);
	send_one(net, 5, (uint32_t)weir_port(net, "a"), 7, 100);
	send_one(net, 6, (uint32_t)weir_port(net, "b"), 8, 200);
	assert_int_equal(weir_now(net), 6);
	assert_int_equal(weir_receive(net, 10 * MS + 4, frames, 4), 0);
	assert_int_equal(weir_next(net), 10 * MS + 5);
	assert_int_equal(weir_receive(net, 30 * MS, frames, 4), 2);
	assert_int_equal(frames[0].t_ns, 10 * MS + 5);
	assert_int_equal(frames[0].port, weir_port(net, "b"));
	assert_int_equal(frames[0].bytes, 100);
	assert_int_equal(frames[0].wire_bytes, 100);
	assert_int_equal(((const uint8_t *)frames[0].data)[99], 7);
	assert_int_equal(frames[1].t_ns, 20 * MS + 6);
	assert_int_equal(frames[1].port, weir_port(net, "a"));
	assert_int_equal(weir_receive(net, 30 * MS, frames, 4), 0);
	assert_int_equal(weir_next(net), WEIR_NEVER);
	assert_int_equal(weir_now(net), 30 * MS);
	weir_close(net);
}

static void a_path_without_delay_gives_a_frame_back_at_once(void **state)
{
	struct weir *net = net_of(PATH_OF(""));
	struct weir_frame frames[40];

	(void)state;
	for (int i = 0; i < 200; i++) {
		send_one(net, i / 2, 0, (uint8_t)i, 100);
		assert_int_equal(weir_next(net), i / 2);
		assert_int_equal(weir_receive(net, i / 2, frames, 40), 1);
		assert_int_equal(frames[0].t_ns, i / 2);
		assert_int_equal(weir_next(net), WEIR_NEVER);
	}
	weir_close(net);
}

static void ports_have_the_names_of_the_scenario(void **state)
{
	struct weir *net = net_of(BOTH_WAYS);

	(void)state;
	assert_int_equal(weir_ports(net), 2);
	assert_int_equal(weir_port(net, "a"), 0);
	assert_int_equal(weir_port(net, "b"), 1);
	assert_int_equal(weir_port(net, "c"), -ENOENT);
	assert_string_equal(weir_port_name(net, 1), "b");
	assert_null(weir_port_name(net, 2));
	weir_close(net);
	weir_close(NULL);
}

static void the_size_of_batches_does_not_matter(void **state)
{
	const uint64_t digest = digest_of_run(TRYING, 32);

	(void)state;
	assert_int_not_equal(digest, 0);
	assert_int_equal(digest_of_run(TRYING, 32), digest);
	assert_int_equal(digest_of_run(TRYING, 1), digest);
	assert_int_equal(digest_of_run(TRYING, 1000), digest);
	assert_int_not_equal(digest_of_run("seed 2\n" TRYING, 32), digest);
	assert_int_equal(digest_of_run("seed 1\n" TRYING, 32), digest);
}

static void a_wrong_frame_is_refused_and_nothing_else(void **state)
{
	static const struct {
		struct weir_frame frame;
		int error;
	} cases[] = {
	        {{.t_ns = 99, .bytes = 60}, -ETIME},
	        {{.t_ns = -1, .bytes = 60}, -ERANGE},
	        {{.t_ns = WEIR_NEVER, .bytes = 60}, -ERANGE},
	        {{.t_ns = 100, .port = 2, .bytes = 60}, -ENOENT},
	        {{.t_ns = 100, .bytes = WEIR_FRAME_MIN - 1}, -EMSGSIZE},
	        {{.t_ns = 100, .bytes = WEIR_FRAME_MAX + 1}, -EMSGSIZE},
	        {{.t_ns = 100, .bytes = 60, .wire_bytes = 59}, -EMSGSIZE},
	};
	static const uint8_t data[60];
	struct weir *net = net_of(BOTH_WAYS);
	struct weir_frame frames[4];

	(void)state;
	assert_int_equal(weir_receive(net, 100, frames, 4), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weir_frame two[] = {{.t_ns = 100, .bytes = 60, .data = data},
		                           cases[i].frame};

		two[1].data = data;
		assert_int_equal(weir_send_many(net, &two[1], 1), cases[i].error);
		assert_int_equal(weir_send_many(net, two, 2), 1);
	}
	assert_int_equal(weir_now(net), 100);
	assert_int_equal(weir_receive(net, 99, frames, 4), -ETIME);
	assert_int_equal(weir_receive(net, WEIR_NEVER, frames, 4), -ERANGE);
	assert_int_equal(weir_receive(net, 10 * MS + 100, frames, 0), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(weir_receive(net, 10 * MS + 100, frames, 1), 1);
	assert_int_equal(weir_receive(net, 10 * MS + 100, frames, 1), 0);
	weir_close(net);
}

static void a_frame_that_was_received_may_be_sent_on(void **state)
{
	struct weir *net = net_of(BOTH_WAYS);
	struct weir_frame frames[32];

	(void)state;
	for (uint8_t i = 0; i < 32; i++)
		send_one(net, i, 0, i, 100);
	assert_int_equal(weir_receive(net, 10 * MS + 31, frames, 32), 32);
	for (uint32_t i = 0; i < 32; i++)
		assert_int_equal(weir_send(net, 10 * MS + 31, 1, frames[i].data, frames[i].bytes),
		                 0);
	for (uint32_t i = 0; i < 32; i++)
		assert_int_equal(((const uint8_t *)frames[i].data)[99], i);
	assert_int_equal(weir_receive(net, 30 * MS + 31, frames, 32), 32);
	for (uint32_t i = 0; i < 32; i++)
		assert_int_equal(((const uint8_t *)frames[i].data)[99], i);
	weir_close(net);
}

static void a_long_frame_comes_in_one_piece(void **state)
{
	static const uint32_t lengths[] = {14, 1920, 1921, 9018, 65536, WEIR_FRAME_MAX, 70000};
	const uint32_t n = sizeof(lengths) / sizeof(lengths[0]);
	uint8_t *frame = malloc(WEIR_FRAME_MAX);
	struct weir *net = net_of(BOTH_WAYS);
	struct weir_frame frames[8];
	uint32_t seen = 0;
	int got;

	(void)state;
	for (uint32_t i = 0; i < WEIR_FRAME_MAX; i++)
		frame[i] = (uint8_t)(i % 251);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(weir_send(net, i, 0, frame, lengths[i]), 0);
	while ((got = weir_receive(net, 10 * MS + n, frames, 8)) > 0) {
		for (int i = 0; i < got; i++, seen++) {
			assert_int_equal(frames[i].bytes, lengths[seen]);
			assert_memory_equal(frames[i].data, frame, lengths[seen]);
		}
	}
	assert_int_equal(got, 0);
	assert_int_equal(seen, n);
	weir_close(net);
	free(frame);
}

static void a_frame_may_be_longer_on_the_wire_than_its_bytes(void **state)
{
	static const uint8_t data[60];
	struct weir *net = net_of(PATH_OF("cloud down rate 8mbit algorithm leaky-bucket\n"));
	const struct weir_frame sent = {.bytes = 60, .wire_bytes = 1000, .data = data};
	struct weir_frame frame;

	(void)state;
	assert_int_equal(weir_send_many(net, &sent, 1), 1);
	assert_int_equal(weir_next(net), 1 * MS);
	assert_int_equal(weir_receive(net, 1 * MS, &frame, 1), 1);
	assert_int_equal(frame.bytes, 60);
	assert_int_equal(frame.wire_bytes, 1000);
	weir_close(net);
}

static void what_is_received_late_is_the_same(void **state)
{
	struct weir *net = net_of(TRYING);
	struct weir_frame frames[100];
	uint64_t digest = 0;

	(void)state;
	for (uint32_t i = 0; i < 500; i++) {
		int n;

		send_ith(net, i * 200 * US, i);
		/* One frame at most each time: what has left accumulates. */
		n = weir_receive(net, i * 200 * US, frames, 1);
		if (n == 1) {
			digest = digest * 31 + (uint64_t)frames[0].t_ns;
			digest = digest * 31 + frames[0].port;
			digest = digest * 31 +
			         ((const uint8_t *)frames[0].data)[frames[0].bytes - 1];
		}
	}
	assert_int_equal(digest_until_the_end(net, digest, 32), digest_of_run(TRYING, 32));
	weir_close(net);
}

static void a_schedule_has_a_next_instant_and_counts_from_the_beginning(void **state)
{
	struct weir_options options = {.size = sizeof(options), .begin_ns = 7 * MS};
	struct weir *net = weir_open(PATH_OF("cloud down delay 1ms\n"
	                                     "cloud down at 50ms delay 2ms\n"),
	                             &options, NULL);
	struct weir_frame frame;

	(void)state;
	assert_non_null(net);
	assert_int_equal(weir_now(net), 7 * MS);
	send_one(net, 56 * MS, 0, 1, 100);
	assert_int_equal(weir_receive(net, 57 * MS, &frame, 1), 1);
	assert_int_equal(frame.t_ns, 57 * MS);
	send_one(net, 58 * MS, 0, 1, 100);
	assert_int_equal(weir_receive(net, 60 * MS, &frame, 1), 1);
	assert_int_equal(frame.t_ns, 60 * MS);
	weir_close(net);
}

/* ---- errors ---- */

static void an_error_has_line_column_and_words(void **state)
{
	static const struct {
		const char *text, *words;
		uint32_t line, column;
	} cases[] = {
	        {"port a\nport b\ncloud x from a to b\ncloud x delay 10\n", "no unit", 4, 15},
	        {"port a\nclaud\n", "claud", 2, 1},
	        {"port a\ncloud x from a to c\n", "c", 2, 19},
	        {"port a\nport b\ncloud x from a to b\ncloud x loss list nowhere.txt\n",
	         "nowhere.txt", 4, 19},
	        {"port a\nport b\ncloud x from a to b\ncloud x delay 1ms\n"
	         "cloud x delay jitter 1ms\n",
	         "needs `delay`", 5, 15},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weir_error error;

		assert_null(weir_open(cases[i].text, NULL, &error));
		if (error.line != cases[i].line || error.column != cases[i].column ||
		    strstr(error.text, cases[i].words) == NULL)
			fail_msg("%zu: %" PRIu32 ":%" PRIu32 ": %s", i, error.line, error.column,
			         error.text);
		assert_int_equal(error.code, -EINVAL);
		assert_null(strchr(error.text, '\n'));
		assert_null(weir_open(cases[i].text, NULL, NULL));
	}
}

static void options_of_an_older_header_are_taken(void **state)
{
	struct weir_options options = {.size = offsetof(struct weir_options, base),
	                               .seed = 5,
	                               .has_seed = 1,
	                               .begin_ns = -1};
	struct weir *net = weir_open(BOTH_WAYS, &options, NULL);
	struct weir_error error;

	(void)state;
	assert_non_null(net);
	assert_int_equal(weir_now(net), 0);
	weir_close(net);
	options.size = sizeof(options);
	assert_null(weir_open(BOTH_WAYS, &options, &error));
	assert_int_equal(error.code, -EINVAL);
	options.size = 0;
	assert_null(weir_open(BOTH_WAYS, &options, &error));
	assert_int_equal(error.code, -EINVAL);
}

static void files_of_a_scenario_lie_in_the_base_folder(void **state)
{
	char folder[] = "/tmp/weir-library-XXXXXX", path[64];
	struct weir_options options = {.size = sizeof(options), .base = folder};
	struct weir *net;
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/lost", folder);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("1\n3\n", file);
	fclose(file);
	net = weir_open(PATH_OF("cloud down loss list lost\n"), &options, NULL);
	assert_non_null(net);
	assert_null(weir_open(PATH_OF("cloud down loss list lost\n"), NULL, NULL));
	assert_int_equal(weir_change(net, 0, "cloud down loss list lost\n", NULL), 0);
	unlink(path);
	rmdir(folder);
	weir_close(net);
}

/* ---- changes and results ---- */

static void a_change_takes_effect_at_its_instant_or_not_at_all(void **state)
{
	struct weir *net = net_of(BOTH_WAYS);
	struct weir_frame frames[2];
	struct weir_error error;

	(void)state;
	send_one(net, 0, 0, 1, 100);
	assert_int_equal(
	        weir_change(net, 1 * MS, "cloud down delay 30ms\ncloud up delay 1\n", &error),
	        -EINVAL);
	assert_int_equal(error.line, 2);
	assert_int_equal(error.column, 16);
	assert_int_equal(weir_change(net, 1 * MS, "port c\n", &error), -EINVAL);
	assert_int_equal(weir_change(net, 1 * MS, "cloud up delay 1ms\nseed 4\n", &error), -EINVAL);
	assert_int_equal(error.line, 2);
	assert_int_equal(weir_change(net, 1 * MS, "show config\n", &error), -EINVAL);
	assert_int_equal(weir_now(net), 0);
	assert_int_equal(weir_change(net, 1 * MS, "cloud down delay 30ms\nno cloud up\n", &error),
	                 0);
	assert_int_equal(weir_now(net), 1 * MS);
	assert_int_equal(weir_change(net, 0, "cloud down delay 3ms\n", &error), -ETIME);
	send_one(net, 2 * MS, 0, 2, 100);
	assert_int_equal(weir_receive(net, 40 * MS, frames, 2), 2);
	assert_int_equal(frames[0].t_ns, 10 * MS);
	assert_int_equal(frames[1].t_ns, 32 * MS);
	weir_close(net);
}

static void the_report_counts_what_has_happened(void **state)
{
	struct weir *net = net_of("seed 12345\n" PATH_OF("cloud down loss every 4\n"
	                                                 "cloud down delay 5ms\n"));
	struct weir_frame frames[16];
	char *report;

	(void)state;
	for (int i = 0; i < 12; i++)
		send_one(net, i, 0, 1, 100);
	assert_int_equal(weir_receive(net, 6 * MS, frames, 16), 9);
	report = weir_report(net);
	assert_non_null(report);
	assert_non_null(strstr(report, "\"seed\": 12345"));
	assert_non_null(strstr(report, "\"duration_ns\": 5000010"));
	assert_non_null(strstr(report, "\"rx_packets\": 12"));
	assert_non_null(strstr(report, "\"tx_packets\": 9"));
	assert_non_null(strstr(report, "\"loss\": 3"));
	weir_free(report);
	weir_close(net);
}

struct seen {
	uint32_t kinds[7], losses, copies;
	int64_t latest_ns;
};

static void see(void *argument, const struct weir_fate *fate)
{
	struct seen *seen = argument;

	seen->kinds[fate->kind]++;
	assert_string_equal(fate->cloud, "down");
	assert_true(fate->t_ns >= seen->latest_ns);
	seen->latest_ns = fate->t_ns;
	if (fate->kind == WEIR_DROPPED) {
		assert_string_equal(fate->reason, "loss");
		assert_string_equal(fate->reason_kind, "emulated");
		seen->losses++;
	}
	if (fate->kind == WEIR_DELIVERED)
		assert_int_equal(fate->leaves_ns, fate->t_ns + 5 * MS);
	seen->copies += fate->flags & WEIR_FATE_COPY;
}

static void fates_are_told_in_the_order_of_time(void **state)
{
	struct weir *net = net_of(PATH_OF("cloud down loss every 4\ncloud down duplicate every 2\n"
	                                  "cloud down delay 5ms\n"));
	struct weir_frame frames[32];
	struct seen seen = {.losses = 0};

	(void)state;
	send_one(net, 0, 0, 1, 100);
	assert_int_equal(weir_on_fate(net, see, &seen, WEIR_FATES_ALL), 0);
	for (int i = 1; i < 12; i++)
		send_one(net, i, 0, 1, 100);
	assert_int_equal(seen.kinds[WEIR_ARRIVED], 11);
	assert_int_equal(seen.kinds[WEIR_DROPPED], 3);
	assert_int_equal(weir_receive(net, 5 * MS + 12, frames, 32), 9 + 4);
	assert_int_equal(seen.kinds[WEIR_LEFT], 9 + 4);
	assert_true(seen.copies > 0);
	assert_int_equal(weir_on_fate(net, NULL, NULL, 0), 0);
	send_one(net, 6 * MS, 0, 1, 100);
	assert_int_equal(seen.kinds[WEIR_ARRIVED], 11);
	weir_close(net);
}

static void see_order(void *argument, const struct weir_fate *fate)
{
	int64_t *latest_ns = argument;

	assert_true(fate->t_ns >= *latest_ns);
	*latest_ns = fate->t_ns;
}

static void fates_of_clouds_that_do_not_meet_are_in_order_too(void **state)
{
	struct weir *net = net_of(BOTH_WAYS);
	struct weir_frame frames[32];
	int64_t latest_ns = 0;

	(void)state;
	assert_int_equal(weir_on_fate(net, see_order, &latest_ns, WEIR_FATES_ALL), 0);
	for (int i = 0; i < 20; i++)
		send_one(net, i * 30 * US, i % 2, 1, 100);
	/* All have left before these come. */
	for (int i = 0; i < 20; i++)
		send_one(net, 100 * MS + i * 30 * US, i % 2, 1, 100);
	while (weir_receive(net, 300 * MS, frames, 32) > 0)
		;
	assert_int_equal(latest_ns, 120 * MS + 19 * 30 * US);
	weir_close(net);
}

static void what_is_wrong_is_said_in_words(void **state)
{
	struct weir *net = weir_open(PATH_OF("cloud down delay 1s\n"), NULL, NULL);
	const uint8_t frame[60] = {0};

	(void)state;
	assert_string_equal(weir_words(weir_send(net, 0, 7, frame, sizeof(frame))),
	                    "there is no such port");
	assert_string_equal(weir_words(-EPERM), "Operation not permitted");
	assert_string_equal(weir_words(0), "unknown error");
	assert_string_equal(weir_words(INT_MIN), "unknown error");
	weir_close(net);
}

static void too_little_memory_is_said(void **state)
{
	struct weir_options options = {.size = sizeof(options), .memory_bytes = 1 << 20};
	struct weir *net = weir_open(PATH_OF("cloud down delay 10s\n"), &options, NULL);
	uint8_t frame[500] = {0};
	char *report;

	(void)state;
	assert_non_null(net);
	assert_int_equal(weir_lacked(net), WEIR_NEVER);
	for (int i = 0; i < 10000; i++)
		assert_int_equal(weir_send(net, i, 0, frame, sizeof(frame)), 0);
	assert_true(weir_lacked(net) < 10000);
	report = weir_report(net);
	assert_non_null(strstr(report, "\"no-buffer\""));
	assert_null(strstr(report, "\"no-buffer\": 0,"));
	weir_free(report);
	weir_close(net);
}

static void long_frames_without_memory_are_refused(void **state)
{
	struct weir_options options = {.size = sizeof(options), .memory_bytes = 1 << 20};
	struct weir *net = weir_open(PATH_OF("cloud down delay 10ms\n"), &options, NULL);
	static uint8_t frame[9000];
	struct weir_frame frames[32];
	int error = 0, sent, received = 0, n;

	(void)state;
	assert_non_null(net);
	for (sent = 0; sent < 100000 && error == 0; sent++)
		error = weir_send(net, sent, 0, frame, sizeof(frame));
	assert_int_equal(error, -ENOMEM);
	while ((n = weir_receive(net, 20 * MS, frames, 32)) > 0)
		received += n;
	assert_int_equal(n, 0);
	assert_int_equal(received, sent - 1);
	/* There is room again. */
	assert_int_equal(weir_send(net, 20 * MS, 0, frame, sizeof(frame)), 0);
	weir_close(net);
}

/* ---- what if, from here ---- */

static void a_clone_goes_on_as_the_first_would(void **state)
{
	const struct weir_options options = {.size = sizeof(options)};
	struct weir *net = net_of(TRYING), *clone, *loaded;
	struct weir_error error;
	uint64_t digest;
	size_t bytes;
	void *saved;

	(void)state;
	send_some(net, 0, 300);
	assert_int_equal(weir_change(net, 70 * MS, "cloud down rate 5mbit queue 20kB\n", &error),
	                 0);
	send_some(net, 70 * MS, 300);
	clone = weir_clone(net, &error);
	assert_non_null(clone);
	saved = weir_save(net, &bytes, &error);
	assert_non_null(saved);
	loaded = weir_load(saved, bytes, &options, &error);
	if (loaded == NULL)
		fail_msg("%s", error.text);
	weir_free(saved);
	assert_int_equal(weir_now(clone), weir_now(net));
	assert_int_equal(weir_now(loaded), weir_now(net));
	send_some(net, 140 * MS, 300);
	digest = digest_until_the_end(net, 0, 32);
	weir_close(net);
	send_some(clone, 140 * MS, 300);
	assert_int_equal(digest_until_the_end(clone, 0, 32), digest);
	send_some(loaded, 140 * MS, 300);
	assert_int_equal(digest_until_the_end(loaded, 0, 7), digest);
	weir_close(clone);
	weir_close(loaded);
}

static void a_damaged_state_is_refused(void **state)
{
	struct weir *net = net_of(TRYING);
	struct weir_error error;
	uint8_t *saved;
	size_t bytes;

	(void)state;
	send_some(net, 0, 20);
	saved = weir_save(net, &bytes, &error);
	assert_non_null(saved);
	for (size_t i = 0; i < bytes; i++) {
		saved[i] ^= 4;
		assert_null(weir_load(saved, bytes, NULL, &error));
		assert_int_equal(error.code, -EINVAL);
		saved[i] ^= 4;
	}
	for (size_t i = 0; i < bytes; i++)
		assert_null(weir_load(saved, i, NULL, &error));
	weir_close(net);
	net = weir_load(saved, bytes, NULL, &error);
	assert_non_null(net);
	weir_close(net);
	weir_free(saved);
}

static void a_state_that_passes_is_waited_for(void **state)
{
	struct weir *net = net_of(BOTH_WAYS), *clone;
	struct weir_frame frame;
	struct weir_error error;

	(void)state;
	send_one(net, 0, 0, 1, 100);
	assert_int_equal(weir_change(net, 1, "no cloud down\n", &error), 0);
	assert_null(weir_clone(net, &error));
	assert_int_equal(error.code, -EAGAIN);
	assert_int_equal(weir_receive(net, 10 * MS, &frame, 1), 1);
	clone = weir_clone(net, &error);
	assert_non_null(clone);
	weir_close(clone);
	weir_close(net);
}

/* ---- threads ---- */

static void *run_alone(void *digest)
{
	for (int i = 0; i < 20; i++)
		*(uint64_t *)digest = digest_of_run(TRYING, 32);
	return NULL;
}

static void networks_in_threads_are_independent(void **state)
{
	pthread_t threads[4];
	uint64_t digests[4];
	const uint64_t digest = digest_of_run(TRYING, 32);

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run_alone, &digests[i]), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(digests[i], digest);
	}
}

static void many_networks_are_open_at_once(void **state)
{
	enum { MANY = 500 };
	static struct weir *nets[MANY];
	struct weir_frame frame;

	(void)state;
	for (int i = 0; i < MANY; i++) {
		nets[i] = net_of(BOTH_WAYS);
		send_one(nets[i], i, 0, (uint8_t)i, 100);
	}
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(weir_receive(nets[i], 10 * MS + i, &frame, 1), 1);
		assert_int_equal(frame.t_ns, 10 * MS + i);
		assert_int_equal(((const uint8_t *)frame.data)[99], (uint8_t)i);
		weir_close(nets[i]);
	}
}

GROUP(library)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_frame_leaves_at_the_other_port_after_the_delay),
	        cmocka_unit_test(a_path_without_delay_gives_a_frame_back_at_once),
	        cmocka_unit_test(ports_have_the_names_of_the_scenario),
	        cmocka_unit_test(the_size_of_batches_does_not_matter),
	        cmocka_unit_test(a_wrong_frame_is_refused_and_nothing_else),
	        cmocka_unit_test(a_frame_that_was_received_may_be_sent_on),
	        cmocka_unit_test(a_long_frame_comes_in_one_piece),
	        cmocka_unit_test(a_frame_may_be_longer_on_the_wire_than_its_bytes),
	        cmocka_unit_test(what_is_received_late_is_the_same),
	        cmocka_unit_test(a_schedule_has_a_next_instant_and_counts_from_the_beginning),
	        cmocka_unit_test(an_error_has_line_column_and_words),
	        cmocka_unit_test(options_of_an_older_header_are_taken),
	        cmocka_unit_test(files_of_a_scenario_lie_in_the_base_folder),
	        cmocka_unit_test(a_change_takes_effect_at_its_instant_or_not_at_all),
	        cmocka_unit_test(the_report_counts_what_has_happened),
	        cmocka_unit_test(fates_are_told_in_the_order_of_time),
	        cmocka_unit_test(fates_of_clouds_that_do_not_meet_are_in_order_too),
	        cmocka_unit_test(too_little_memory_is_said),
	        cmocka_unit_test(what_is_wrong_is_said_in_words),
	        cmocka_unit_test(long_frames_without_memory_are_refused),
	        cmocka_unit_test(a_clone_goes_on_as_the_first_would),
	        cmocka_unit_test(a_damaged_state_is_refused),
	        cmocka_unit_test(a_state_that_passes_is_waited_for),
	        cmocka_unit_test(networks_in_threads_are_independent),
	        cmocka_unit_test(many_networks_are_open_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
