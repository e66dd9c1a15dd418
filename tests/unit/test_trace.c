/* SPDX-License-Identifier: BSD-3-Clause */
/* Recorded paths: the opportunities of mahimahi's traces, and tables of values. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "link/opportunities.h"
#include "runner/group.h"
#include "scenario/scenario.h"
#include "schedule_rig.h"
#include "schedule/path_trace.h"

#define LOST SIMTIME_NEVER

static char path[] = "/tmp/weir-trace-XXXXXX";

static int make_file(void **state)
{
	int file = mkstemp(path);

	if (file < 0)
		return -1;
	close(file);
	return rig_group_setup(state);
}

static int remove_file(void **state)
{
	unlink(path);
	return rig_group_teardown(state);
}

static void write_file(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* Returns `trace FILE words`, behind other statements. */
static const char *line(const char *before, const char *words)
{
	static char text[512];

	snprintf(text, sizeof(text), "%strace %s %s", before, path, words);
	return text;
}

static void check_due(const char *before, const char *words, const struct arrival *arrivals,
                      const simtime *expected, uint32_t n)
{
	simtime due[64];

	assert_true(n <= 64);
	schedule_play(line(before, words), arrivals, n, due);
	for (uint32_t i = 0; i < n; i++) {
		if (due[i] != expected[i])
			fail_msg("%s: packet %u leaves at %lu, not %lu", line(before, words), i + 1,
			         due[i], expected[i]);
	}
}

static void full_packets_leave_at_the_opportunities_of_the_file(void **state)
{
	const struct arrival arrivals[] = {{0, 1514}, {0, 1514}, {0, 1514}, {0, 1514}, {0, 1514},
	                                   {0, 1514}, {0, 1514}, {0, 1514}, {0, 1514}};
	const simtime loop[] = {1 * MS,  3 * MS,  3 * MS,  10 * MS, 11 * MS,
	                        13 * MS, 13 * MS, 20 * MS, 21 * MS};
	const simtime once[] = {1 * MS,  3 * MS,  3 * MS,  10 * MS, 10 * MS,
	                        10 * MS, 10 * MS, 10 * MS, 10 * MS};
	const simtime then[] = {1 * MS,
	                        3 * MS,
	                        3 * MS,
	                        10 * MS,
	                        22112 * SIMTIME_US,
	                        34224 * SIMTIME_US,
	                        46336 * SIMTIME_US,
	                        58448 * SIMTIME_US,
	                        70560 * SIMTIME_US};

	(void)state;
	write_file("# a comment\n1\n3\n3\n\n10\n");
	check_due("", "loop", arrivals, loop, 9);
	write_file("\xef\xbb\xbf# a comment\r\n1\r\n3\r\n3\r\n10\r\n");
	check_due("", "loop", arrivals, loop, 9);
	write_file("\xef\xbb\xbf"
	           "1\n3\n3\n10\n");
	check_due("", "loop", arrivals, loop, 9);
	check_due("", "format mahimahi loop queue 9pkt", arrivals, loop, 9);
	/* after the end: no link, or that of `rate`: 12.112 ms a packet at 1 Mbit/s */
	check_due("", "queue 9pkt", arrivals, once, 9);
	check_due("rate 1mbit;", "", arrivals, then, 9);
}

static void an_opportunity_takes_small_packets_and_parts_of_large_ones(void **state)
{
	/* 1504 bytes each 10 ms; a frame counts as 10 bytes less */
	static const struct {
		struct arrival arrivals[5];
		simtime due[5];
	} rows[] = {
	        /* two of 752 fit; the third waits */
	        {{{1, 762}, {1, 762}, {1, 762}}, {10 * MS, 10 * MS, 20 * MS}},
	        /* one byte too many: the rest takes the next opportunity, which has 1503 left for
	         * another */
	        {{{1, 1515}, {1, 1513}, {1, 60}}, {20 * MS, 20 * MS, 30 * MS}},
	        /* bytes that are left when nothing waits are lost */
	        {{{1, 762}, {10 * MS, 762}, {10 * MS + 1, 762}}, {10 * MS, 20 * MS, 20 * MS}},
	        /* unused opportunities are lost; a packet that comes at the instant is too late */
	        {{{95 * MS, 1514}, {110 * MS, 1514}}, {100 * MS, 120 * MS}},
	        /* more than two opportunities */
	        {{{0, 4522 + 1}}, {40 * MS}},
	        {{{0, 4522}}, {30 * MS}},
	        {{{0, 8}}, {10 * MS}},
	};

	(void)state;
	write_file("10\n");
	for (size_t r = 0; r < LENGTH(rows); r++) {
		uint32_t n = 0;

		while (n < 5 && rows[r].arrivals[n].bytes)
			n++;
		check_due("", "loop queue 100pkt", rows[r].arrivals, rows[r].due, n);
	}
}

/* ---- compared with mahimahi's own loop, written again from its description ---- */

struct reference {
	const uint32_t *at_ms;
	uint32_t n, next;
	simtime base;
	uint32_t head, queued; /* packets that have left, and that have come */
	uint32_t in_transit;   /* bytes of the head still to be sent; 0: not begun */
};

static void reference_run(struct reference *reference, const struct arrival *arrivals, simtime now,
                          simtime *due)
{
	for (;;) {
		simtime at = reference->base + reference->at_ms[reference->next] * SIMTIME_MS;
		uint32_t left = 1504;

		if (at > now)
			return;
		if (++reference->next == reference->n) {
			reference->next = 0;
			reference->base += reference->at_ms[reference->n - 1] * SIMTIME_MS;
		}
		while (left > 0) {
			uint32_t part;

			if (reference->in_transit == 0) {
				if (reference->head == reference->queued)
					break;
				reference->in_transit = arrivals[reference->head].bytes - 10;
			}
			part = RTE_MIN(left, reference->in_transit);
			left -= part;
			reference->in_transit -= part;
			if (reference->in_transit == 0)
				due[reference->head++] = at;
		}
	}
}

static void traffic_of_all_sizes_leaves_as_it_does_in_mahimahi(void **state)
{
	enum { PACKETS = 3000, LINES = 200 };
	static struct arrival arrivals[PACKETS];
	static simtime due[PACKETS], expected[PACKETS];
	static uint32_t at_ms[LINES];

	(void)state;
	for (uint64_t round = 0; round < 6; round++) {
		const struct draw_key key = draw_key_make(round, "trace", "test");
		struct reference reference = {.at_ms = at_ms, .n = LINES};
		FILE *file = fopen(path, "w");
		uint32_t ms = 0;
		simtime t = 0;

		assert_non_null(file);
		for (uint32_t i = 0; i < LINES; i++) {
			uint64_t draw = draw_u64(key, i, 0);

			ms += draw % 3 ? 0 : (uint32_t)((draw >> 8) % (draw >> 60 ? 4 : 300));
			at_ms[i] = ms + 1;
			fprintf(file, "%u\n", ms + 1);
		}
		assert_int_equal(fclose(file), 0);
		for (uint32_t i = 0; i < PACKETS; i++) {
			uint64_t draw = draw_u64(key, i, 1);

			t += draw % 2 ? 0 : (draw >> 8) % (draw >> 58 ? 2 * MS : 500 * MS);
			t = draw >> 63 ? t / MS * MS : t;
			if (i > 0)
				t = RTE_MAX(t, arrivals[i - 1].t);
			arrivals[i] = (struct arrival){t, 60 + (uint32_t)(draw >> 32) % 1455};
			reference_run(&reference, arrivals, t, expected);
			reference.queued++;
		}
		reference_run(&reference, arrivals, t + 10000 * SIMTIME_S, expected);
		schedule_play(line("", "loop queue 10000pkt"), arrivals, PACKETS, due);
		for (uint32_t i = 0; i < PACKETS; i++) {
			if (due[i] != expected[i])
				fail_msg("round %lu: packet %u leaves at %lu, not %lu", round,
				         i + 1, due[i], expected[i]);
		}
	}
}

static void a_packet_that_was_begun_goes_on_at_another_rate(void **state)
{
	/* one opportunity of 1504 bytes at 4 ms; the rest of 3018 - 1504 at 1 Mbit/s from 5 ms
	 * on */
	const simtime rest = 5 * MS + (3018 - 1504) * 8 * SIMTIME_US;
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 7});

	(void)state;
	write_file("4\n9\n");
	rig_cloud(rig, "x", 0, 1);
	schedule_set(rig, line("", "loop queue 10pkt"));
	rig_apply(rig, 0);
	rig_send(rig, 0, 3018, 0);
	rig_send(rig, 0, 1514, 0);
	rig_advance(rig, 5 * MS);
	rig_unset(rig, "x", "trace");
	rig_rate(rig, "x", 1000000, 0, LIMIT_NONE, 0);
	rig_apply(rig, 5 * MS);
	rig_advance(rig, rest);
	/* and back: after 4 ms at 1 Mbit/s, 500 bytes, the rest of 1514 bytes takes one
	 * opportunity */
	schedule_set(rig, line("", "loop queue 10pkt"));
	rig_apply(rig, rest + 4 * MS);
	rig_run_out(rig);
	assert_int_equal(rig->departures[0].due_ns, rest);
	assert_int_equal(rest, 17112 * SIMTIME_US);
	assert_int_equal(rig->departures[1].due_ns, 22 * MS);
	rig_close(rig);
}

/* ---- csv ---- */

static void a_table_changes_what_it_has_columns_for(void **state)
{
	/* 1000 bytes are 8 ms at 1 Mbit/s */
	static const struct {
		const char *file, *before, *words;
		struct arrival arrivals[5];
		simtime due[5];
	} rows[] = {
	        {"time_ms,rate_mbit\n0,1\n4,2\n",
	         "",
	         "",
	         {{0, 1000}, {0, 1000}},
	         {6 * MS, 10 * MS}},
	        /* units with the values; in a loop: 4 ms of 1, 4 ms of 2 Mbit/s */
	        {"rate, time\n1mbit, 0ms\n2mbit, 4ms\n",
	         "",
	         "loop",
	         {{0, 1000}, {0, 1000}, {0, 1000}},
	         {6 * MS, 12 * MS, 16 * MS}},
	        /* an outage in the middle of a packet */
	        {"time [ms],rate(kbit)\n0,1000\n4,0\n10,1000\n",
	         "",
	         "",
	         {{0, 1000}, {5 * MS, 1000}},
	         {14 * MS, 22 * MS}},
	        {"time_s,delay_ms\n0,5\n1,7\n2,1\n",
	         "",
	         "",
	         {{0, 60}, {SIMTIME_S, 60}, {2 * SIMTIME_S + 1, 60}},
	         {5 * MS, SIMTIME_S + 7 * MS, 2 * SIMTIME_S + 1 * MS + 1}},
	        /* as spreadsheets write it */
	        {"\xef\xbb\xbf\"time_s\",\"delay_ms\"\r\n0,\"5\"\r\n\"1\",7\r\n2,1\r\n",
	         "",
	         "",
	         {{0, 60}, {SIMTIME_S, 60}, {2 * SIMTIME_S + 1, 60}},
	         {5 * MS, SIMTIME_S + 7 * MS, 2 * SIMTIME_S + 1 * MS + 1}},
	        /* empty values leave the setting unchanged */
	        {"time_s,delay_ms,loss_%\n0,5,0\n1,,100\n2,1,0\n",
	         "",
	         "",
	         {{0, 60}, {SIMTIME_S, 60}, {2 * SIMTIME_S, 60}},
	         {5 * MS, SIMTIME_NEVER, 2 * SIMTIME_S + 1 * MS}},
	        /* before the first point, the cloud's own setting; `rate` keeps its queue */
	        {"time_ms,rate_mbit\n8,2\n",
	         "rate 1mbit queue 1pkt;",
	         "format csv",
	         {{0, 1000}, {0, 1000}, {0, 1000}},
	         {8 * MS, 12 * MS, SIMTIME_NEVER}},
	        /* unless the trace has a queue of its own */
	        {"time_ms,rate_mbit\n0,1\n",
	         "rate 1mbit queue 1pkt;",
	         "format csv queue 2pkt",
	         {{0, 1000}, {0, 1000}, {0, 1000}, {0, 1000}},
	         {8 * MS, 16 * MS, 24 * MS, SIMTIME_NEVER}},
	        {"time_ms,rate_mbit\n8,2\n",
	         "rate 1mbit algorithm token-bucket burst 2kB;",
	         "format csv",
	         {{0, 1000}, {0, 1000}, {0, 1000}, {0, 1000}},
	         {0, 0, 8 * MS, 12 * MS}},
	        /* a jitter needs a delay; a jitter of 0 is none */
	        {"time_s,jitter_ms\n0,0\n5,3\n",
	         "delay 10ms;",
	         "",
	         {{0, 60}, {SIMTIME_S, 60}},
	         {10 * MS, SIMTIME_S + 10 * MS}},
	};

	(void)state;
	for (size_t r = 0; r < LENGTH(rows); r++) {
		uint32_t n = 0;

		while (n < 5 && rows[r].arrivals[n].bytes)
			n++;
		write_file(rows[r].file);
		check_due(rows[r].before, rows[r].words, rows[r].arrivals, rows[r].due, n);
	}
}

/* With a uniform jitter, the deviations of a row are those of the largest jitter, scaled down. */
static void a_jitter_of_a_table_is_the_largest_scaled_down(void **state)
{
	enum { PACKETS = 2000 };
	static struct arrival arrivals[PACKETS];
	static simtime due[PACKETS];
	simtime most[4] = {0}, least[4] = {SIMTIME_S, SIMTIME_S, SIMTIME_S, SIMTIME_S};

	(void)state;
	write_file("time_s,jitter_ms\n0,4\n1,1\n2,0\n3,2\n");
	for (uint32_t i = 0; i < PACKETS; i++)
		arrivals[i] = (struct arrival){i * 2 * MS, 60};
	schedule_play(line("delay 10ms order allow;", ""), arrivals, PACKETS, due);
	for (uint32_t i = 0; i < PACKETS; i++) {
		simtime delay = due[i] - arrivals[i].t;
		uint32_t part = i / 500;

		most[part] = RTE_MAX(most[part], delay);
		least[part] = RTE_MIN(least[part], delay);
	}
	/* 500 uniform draws come within 5 % of both ends, except with probability 3e-11 */
	for (uint32_t part = 0; part < 4; part++) {
		static const simtime jitter[] = {4 * MS, 1 * MS, 0, 2 * MS};

		assert_in_range(most[part], 10 * MS + jitter[part] * 9 / 10,
		                10 * MS + jitter[part]);
		assert_in_range(least[part], 10 * MS - jitter[part],
		                10 * MS - jitter[part] * 9 / 10);
	}
}

/* Overhead, slots, queues that drop their head, AQM and classes before opportunities, and before a
 * link at rate 0. The packets are not IP: packets that should be marked are dropped. */
static void links_of_every_kind_follow_a_trace(void **state)
{
	static const struct {
		const char *file, *before;
		struct arrival arrivals[5];
		simtime due[5];
	} rows[] = {
	        /* layer1 adds 24 bytes; beyond 1504 bytes, a packet takes another opportunity */
	        {"10\n",
	         "rate 1mbit overhead layer1;",
	         {{0, 1480}, {0, 1480}, {0, 1481}},
	         {10 * MS, 20 * MS, 40 * MS}},
	        /* packets are ready, and then wait for their slots */
	        {"10\n",
	         "slots min 3ms max 3ms packets 2 queue 10pkt;",
	         {{0, 1514}, {0, 1514}, {0, 1514}},
	         {13 * MS, 23 * MS, 33 * MS}},
	        /* opportunities are used while a slot is awaited */
	        {"10\n",
	         "slots min 15ms max 15ms packets 2;",
	         {{0, 1514}, {0, 1514}, {0, 1514}, {0, 1514}},
	         {25 * MS, 25 * MS, 45 * MS, 45 * MS}},
	        /* an overhead gives the length, also if it adds nothing: 1514 > 1504 */
	        {"10\n", "rate 1mbit queue 9pkt;", {{0, 1514}, {0, 1514}}, {10 * MS, 20 * MS}},
	        {"10\n",
	         "rate 1mbit queue 9pkt overhead layer2;",
	         {{0, 1514}, {0, 1514}},
	         {20 * MS, 30 * MS}},
	        {"10\n",
	         "rate 1mbit queue 9pkt overhead 0;",
	         {{0, 1514}, {0, 1514}},
	         {20 * MS, 30 * MS}},
	        {"10\n", "rate 1mbit queue 9pkt overhead -10;", {{0, 1514}}, {10 * MS}},
	        /* what comes at an opportunity is too late for its rest, with slots, too */
	        {"10\n", "slots min 5ms max 5ms;", {{0, 762}, {10 * MS, 762}}, {15 * MS, 25 * MS}},
	        {"10\n",
	         "slots min 5ms max 5ms;",
	         {{0, 762}, {10 * MS - 1, 762}},
	         {15 * MS, 15 * MS}},
	        /* but not by a packet that was not there */
	        {"10\n",
	         "slots min 15ms max 15ms packets 2;",
	         {{0, 1514}, {22 * MS, 1514}},
	         {25 * MS, 45 * MS}},
	        /* the oldest is dropped, except the head, which the link has taken and which waits
	         * for its opportunity */
	        {"10\n",
	         "rate 1mbit queue 2pkt drop head;",
	         {{0, 1514}, {0, 1514}, {0, 1514}, {0, 1514}},
	         {10 * MS, LOST, LOST, 20 * MS}},
	        {"10\n",
	         "rate 1mbit; mark above 2pkt;",
	         {{0, 1514}, {0, 1514}, {0, 1514}, {15 * MS, 1514}},
	         {10 * MS, 20 * MS, LOST, 30 * MS}},
	        {"10\n",
	         "rate 1mbit; class v weight 0.5 match 1 of 2; class rest weight 0.5;",
	         {{0, 1514}, {0, 762}, {0, 762}},
	         {10 * MS, 20 * MS, 20 * MS}},
	        /* 1514 bytes take 1 ms, from 20 ms on */
	        {"time_s,rate_mbit\n0,0\n0.02,12.112\n1,1\n",
	         "slots min 2ms max 2ms;",
	         {{0, 1514}, {0, 1514}, {22500 * SIMTIME_US, 1514}},
	         {23 * MS, 23 * MS, 25500 * SIMTIME_US}},
	        {"time_s,rate_mbit\n0,0\n0.02,12.112\n1,1\n",
	         "rate 1mbit queue 2pkt drop head;",
	         {{0, 1514}, {0, 1514}, {0, 1514}, {0, 1514}},
	         {21 * MS, LOST, 22 * MS, 23 * MS}},
	        {"time_s,rate_mbit\n0,0\n0.02,12.112\n1,1\n",
	         "rate 1mbit; mark above 1pkt;",
	         {{0, 1514}, {0, 1514}, {0, 1514}, {21 * MS, 1514}},
	         {21 * MS, 22 * MS, LOST, 23 * MS}},
	        {"time_s,rate_mbit\n0,0\n0.02,12.112\n1,1\n",
	         "rate 1mbit; class rest queue 2pkt;",
	         {{0, 1514}, {0, 1514}, {0, 1514}, {0, 1514}},
	         {21 * MS, 22 * MS, 23 * MS, LOST}},
	        /* before it at 1 Mbit/s at once: half of the packet is sent */
	        {"time_s,rate_mbit\n0.004,0\n0.02,1\n",
	         "rate 1mbit overhead -14;",
	         {{0, 1014}},
	         {24 * MS}},
	};

	(void)state;
	for (size_t r = 0; r < LENGTH(rows); r++) {
		bool table = rows[r].file[0] == 't';
		uint32_t n = 0;

		while (n < 5 && rows[r].arrivals[n].bytes)
			n++;
		write_file(rows[r].file);
		check_due(rows[r].before, table ? "" : "loop", rows[r].arrivals, rows[r].due, n);
	}
}

/* When the opportunities end, the bytes of the head that they have taken count as sent, and it
 * keeps its slot. */
static void what_was_sent_stays_sent_when_a_trace_ends(void **state)
{
	const struct arrival large[] = {{0, 3018}};
	const struct arrival two[] = {{0, 1514}, {0, 1514}};

	(void)state;
	write_file("10\n");
	/* 1504 of its 3008 bytes; the others, as 1514 bytes of its frame, at 12.112 Mbit/s */
	check_due("rate 12.112mbit;", "", large, (const simtime[]){11 * MS}, 1);
	/* the first is ready at 10 ms; the second is sent at the rate from then on */
	check_due("rate 12.112mbit; slots min 5ms max 5ms packets 1;", "", two,
	          (const simtime[]){15 * MS, 20 * MS}, 2);
}

static void an_at_leaves_a_trace_as_it_is(void **state)
{
	enum { N = 60 };
	static const struct {
		const char *file, *words, *before, *at;
	} rows[] = {
	        {"1\n4\n9\n", "loop queue 50pkt", "",
	         "at 14500us rate 3mbit algorithm token-bucket burst 9kB; "},
	        {"1\n4\n9\n", "loop queue 50pkt", "rate 2mbit algorithm token-bucket burst 5kB; ",
	         "at 14500us rate 3mbit algorithm token-bucket burst 9kB; "},
	        {"time_ms,rate_mbit\n0,1\n15,9\n30,0\n31,2\n", "queue 50pkt", "",
	         "at 14500us rate 3mbit; "},
	        {"time_ms,rate_mbit\n0,1\n15,9\n30,0\n31,2\n", "queue 50pkt", "",
	         "at 30500us rate 3mbit; "},
	        {"time_ms,loss_percent\n0,40\n15,20\n", "", "loss random 1%; ",
	         "at 14500us loss every 3; "},
	        {"time_ms,delay_ms,jitter_ms\n0,9,3\n15,20,9\n", "", "delay 5ms jitter 1ms; ",
	         "at 14500us delay 1ms; "},
	};

	(void)state;
	for (size_t r = 0; r < LENGTH(rows); r++) {
		struct arrival arrivals[N];
		simtime without[N], with[N];
		char before[256];

		for (uint32_t i = 0; i < N; i++)
			arrivals[i] = (struct arrival){i * 700 * SIMTIME_US, 100 + i % 7 * 200};
		write_file(rows[r].file);
		schedule_play(line(rows[r].before, rows[r].words), arrivals, N, without);
		snprintf(before, sizeof(before), "%s%s", rows[r].before, rows[r].at);
		schedule_play(line(before, rows[r].words), arrivals, N, with);
		for (uint32_t i = 0; i < N; i++) {
			if (with[i] != without[i])
				fail_msg("%s%s: packet %u leaves at %lu, not %lu", rows[r].before,
				         rows[r].at, i + 1, with[i], without[i]);
		}
	}
}

static void a_queue_of_a_trace_does_not_go_with_classes(void **state)
{
	static const char *const lines[] = {"rate 1mbit", "class v match udp", "class rest"};
	struct cloud_conf *cloud = calloc(1, sizeof(*cloud));
	struct problem problem = {.text = ""};
	const struct conf *trace;

	(void)state;
	write_file("10\n");
	assert_non_null(cloud);
	strcpy(cloud->name, "x");
	for (size_t i = 0; i < LENGTH(lines); i++)
		assert_int_equal(cloud_conf_put(cloud, trial_conf(lines[i])), 0);
	assert_int_equal(cloud_conf_put(cloud, trial_conf(line("", "queue 5pkt"))), 0);
	trace = cloud_conf_get(cloud, "trace");
	assert_int_equal(trace->statement->check(trace, cloud, &problem), -EINVAL);
	assert_string_equal(problem.text,
	                    "the cloud has classes with a queue each: limit theirs, like `cloud x "
	                    "class v queue 64kB`, and leave `queue` out");
	cloud_conf_free(cloud);
}

static void files_that_are_wrong_are_refused_with_their_line(void **state)
{
	static const struct {
		const char *file, *words, *problem;
	} rows[] = {
	        {"", "", ": the trace is empty; it needs at least one opportunity"},
	        {"# nothing\n\n", "format mahimahi",
	         ": the trace is empty; it needs at least one opportunity"},
	        {"0\n0\n", "", ":2: the trace ends at 0 ms; its last number says how long it is"},
	        {"1\n5\n4\n", "",
	         ":3: 4 ms comes after 5 ms: the lines of a trace must be in the order of time"},
	        {"1\nx\n", "",
	         ":2: `x` is not the instant of an opportunity; write a whole number of ms in each "
	         "line, up to 4294967295"},
	        {"1\n4294967296\n", "",
	         ":2: `4294967296` is not the instant of an opportunity; write a whole number of "
	         "ms "
	         "in each line, up to 4294967295"},
	        {"1\n1.5\n", "",
	         ":2: `1.5` is not the instant of an opportunity; write a whole number of ms in "
	         "each "
	         "line, up to 4294967295"},
	        {"time_ms,rate_mbit\n", "",
	         ": the trace is empty; after its first line, which names the columns, it needs at "
	         "least one point in time"},
	        {"", "format csv",
	         ": the file is empty; its first line names the columns, like "
	         "time_s,rate_mbit,delay_ms"},
	        {"time,speed\n", "",
	         ":1: unknown column `speed`; the columns are time, rate, delay, jitter and loss"},
	        {"time_ms,rate_mph\n", "",
	         ":1: column `rate_mph` has an unknown unit; use bit, kbit, mbit or gbit"},
	        {"time_s,rate_mbit,rate_kbit\n", "",
	         ":1: there are two columns `rate`; remove one"},
	        {"rate_mbit\n5\n", "",
	         ":1: there is no column `time`; the first line names the columns, like "
	         "time_s,rate_mbit,delay_ms"},
	        {"time_s\n5\n", "",
	         ":1: there is no column but the time; add rate, delay, jitter or loss"},
	        {"time_s,rate_mbit\n0,5\n2,5\n1,5\n", "",
	         ":4: its time is not after that of the line before: the lines of a trace must be "
	         "in the order of time"},
	        {"time_s,rate_mbit\n0,5\n0,5\n", "",
	         ":3: its time is not after that of the line before: the lines of a trace must be "
	         "in the order of time"},
	        {"time,rate_mbit\n0,5\n", "",
	         ":2: time `0` has no unit; write it here or in the first line, as in `time_ms`: "
	         "ns, "
	         "us, ms or s"},
	        {"time_s,rate_mbit\n0,5parsec\n", "",
	         ":2: rate `5parsec` has an unknown unit; write it here or in the first line, as "
	         "in "
	         "`rate_mbit`: bit, kbit, mbit or gbit"},
	        {"time_s,rate_mbit\n0,fast\n", "",
	         ":2: `fast` is not a rate; write a number, in bit, kbit, mbit or gbit"},
	        {"time_s,rate_gbit\n0,401\n", "",
	         ":2: rate `401` is out of range; it goes from 0 to 400gbit"},
	        {"time_s,loss\n0,1.5\n", "",
	         ":2: loss `1.5` is out of range; it goes from 0% to 100%"},
	        {"time_s,loss_%\n604801,1\n", "",
	         ":2: time `604801` is out of range; it goes from 0 to 7 days"},
	        {"time_s,rate_mbit\n0\n", "",
	         ":2: the first line names 2 columns, this one has fewer"},
	        {"time_s,rate_mbit\n0,1,2\n", "",
	         ":2: the first line names 2 columns, this one has more"},
	        {"time_s,rate_mbit\n0,\n", "",
	         ":2: `` is not a rate; write a number, in bit, kbit, mbit or gbit"},
	        {"time_s,rate_mbit\n0,1\n1,0\n", "",
	         ":3: the link would stop for ever: let its last rate be more than 0, or say "
	         "`loop`"},
	        {"time_s,rate_mbit\n0,0\n1,0\n", "loop",
	         ":3: the link would stop for ever: let one of its rates be more than 0"},
	        {"time_s,rate_mbit\n0,1\n", "loop",
	         ": a trace with `loop` needs two points in time, the first of them 0"},
	        {"time_s,rate_mbit\n1,1\n2,1\n", "loop",
	         ": a trace with `loop` needs two points in time, the first of them 0"},
	};

	(void)state;
	for (size_t r = 0; r < LENGTH(rows); r++) {
		const char *problem;

		write_file(rows[r].file);
		problem = trial_problem(line("", rows[r].words));
		if (strncmp(problem, path, strlen(path)) != 0 ||
		    strcmp(problem + strlen(path), rows[r].problem) != 0)
			fail_msg("row %zu: %s", r, problem);
	}
	write_file("time_s,delay_ms\n0,1\n");
	assert_string_equal(trial_problem(line("", "queue 5pkt")),
	                    "a trace without a rate makes no link: leave `queue` out");
}

GROUP(trace)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(full_packets_leave_at_the_opportunities_of_the_file),
	        cmocka_unit_test(an_opportunity_takes_small_packets_and_parts_of_large_ones),
	        cmocka_unit_test(traffic_of_all_sizes_leaves_as_it_does_in_mahimahi),
	        cmocka_unit_test(a_packet_that_was_begun_goes_on_at_another_rate),
	        cmocka_unit_test(a_table_changes_what_it_has_columns_for),
	        cmocka_unit_test(a_jitter_of_a_table_is_the_largest_scaled_down),
	        cmocka_unit_test(links_of_every_kind_follow_a_trace),
	        cmocka_unit_test(what_was_sent_stays_sent_when_a_trace_ends),
	        cmocka_unit_test(an_at_leaves_a_trace_as_it_is),
	        cmocka_unit_test(a_queue_of_a_trace_does_not_go_with_classes),
	        cmocka_unit_test(files_that_are_wrong_are_refused_with_their_line),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
