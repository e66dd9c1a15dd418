/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements that change with virtual time: at, every, flap, down, up. */
#include <stdlib.h>
#include <string.h>

#include "text/statement_text.h"
#include "text/word.h"
#include "runner/group.h"
#include "scenario/scenario.h"
#include "schedule_rig.h"

#define LOST    SIMTIME_NEVER
#define PACKETS 8
#define END     0

struct row {
	const char *statements;
	struct {
		simtime t;
		uint32_t bytes;
		simtime due;
	} packet[PACKETS];
};

static void check_rows(const struct row *rows, size_t n_rows)
{
	for (size_t r = 0; r < n_rows; r++) {
		struct arrival arrivals[PACKETS];
		simtime due[PACKETS];
		uint32_t n = 0;

		for (; n < PACKETS && rows[r].packet[n].bytes; n++)
			arrivals[n] =
			        (struct arrival){rows[r].packet[n].t, rows[r].packet[n].bytes};
		schedule_play(rows[r].statements, arrivals, n, due);
		for (uint32_t i = 0; i < n; i++) {
			if (due[i] != rows[r].packet[i].due)
				fail_msg("%s: packet %u leaves at %lu, not %lu", rows[r].statements,
				         i + 1, due[i], rows[r].packet[i].due);
		}
	}
}

/* 1000 bytes take 8 ms at 1 Mbit/s. */
static void a_change_of_rate_is_exact_inside_a_packet(void **state)
{
	static const struct row rows[] = {
	        /* half of it at 1 Mbit/s, half at 2 Mbit/s */
	        {"rate 1mbit; at 4ms rate 2mbit", {{0, 1000, 6 * MS}}},
	        {"rate 1mbit; at 4ms rate 500kbit", {{0, 1000, 12 * MS}}},
	        {"rate 1mbit; at 4ms no rate", {{0, 1000, 4 * MS}}},
	        /* a change at the end of a packet takes effect after the packet */
	        {"rate 1mbit; at 8ms rate 2mbit",
	         {{0, 1000, 8 * MS}, {0, 1000, 12 * MS}, {20 * MS, 1000, 24 * MS}}},
	        /* several changes within one packet */
	        {"rate 1mbit; at 1ms rate 2mbit; at 2ms rate 4mbit; at 2500us rate 1mbit",
	         {{0, 1000, 5500 * SIMTIME_US}}},
	        /* in the order of time, not of the lines */
	        {"rate 1mbit; at 6ms rate 1mbit; at 4ms rate 2mbit", {{0, 1000, 6 * MS}}},
	        /* 1 ms in 4 at 4 Mbit/s: 7 kbit by 4 ms, 14 by 8 ms, and 1 Mbit/s from there */
	        {"rate 1mbit; every 4ms for 1ms from 3ms rate 4mbit",
	         {{0, 1000, 5 * MS}, {0, 1000, 10 * MS}}},
	};

	(void)state;
	check_rows(rows, LENGTH(rows));
}

static void a_change_comes_before_an_arrival_of_its_instant(void **state)
{
	static const struct row rows[] = {
	        {"at 5ms down",
	         {{5 * MS - 1, 60, 5 * MS - 1}, {5 * MS, 60, LOST}, {6 * MS, 60, LOST}}},
	        {"down; at 5ms up", {{5 * MS - 1, 60, LOST}, {5 * MS, 60, 5 * MS}}},
	        {"at 0s delay 3ms", {{0, 60, 3 * MS}}},
	        {"delay 1ms; at 2ms delay 4ms",
	         {{0, 60, 1 * MS}, {2 * MS - 1, 60, 3 * MS - 1}, {2 * MS, 60, 6 * MS}}},
	        {"every 10ms for 2ms loss every 1",
	         {{0, 60, 0},
	          {10 * MS - 1, 60, 10 * MS - 1},
	          {10 * MS, 60, LOST},
	          {12 * MS - 1, 60, LOST},
	          {12 * MS, 60, 12 * MS},
	          {86411 * SIMTIME_S, 60, LOST},
	          {86411 * SIMTIME_S + 2 * MS, 60, 86411 * SIMTIME_S + 2 * MS}}},
	        {"every 10ms for 2ms from 0s loss every 1", {{0, 60, LOST}, {2 * MS, 60, 2 * MS}}},
	        {"flap down 50ms every 10s",
	         {{0, 60, 0},
	          {10 * SIMTIME_S - 1, 60, 10 * SIMTIME_S - 1},
	          {10 * SIMTIME_S, 60, LOST},
	          {10 * SIMTIME_S + 50 * MS, 60, 10 * SIMTIME_S + 50 * MS},
	          {20 * SIMTIME_S + 49 * MS, 60, LOST}}},
	        {"flap down 50ms every 10s from 1s",
	         {{1 * SIMTIME_S, 60, LOST}, {10 * SIMTIME_S, 60, 10 * SIMTIME_S}}},
	};

	(void)state;
	check_rows(rows, LENGTH(rows));
}

/* The packets are not IP, so a packet that should be marked is dropped. */
static void queue_management_and_slots_change_with_time(void **state)
{
	static const struct row rows[] = {
	        {"rate 1mbit; at 1ms mark above 1pkt",
	         {{0, 1000, 8 * MS},
	          {0, 1000, 16 * MS},
	          {0, 1000, 24 * MS},
	          {1 * MS, 1000, LOST},
	          {24 * MS, 1000, 32 * MS}}},
	        {"rate 1mbit; mark above 1pkt; every 10ms for 2ms from 0s no mark",
	         {{0, 1000, 8 * MS},
	          {0, 1000, 16 * MS},
	          {1 * MS, 1000, 24 * MS},
	          {2 * MS, 1000, LOST},
	          {11 * MS, 1000, 32 * MS},
	          {12 * MS, 1000, LOST}}},
	        /* when the temporary statement ends, the lasting one is in force */
	        {"rate 1mbit; every 1s for 2ms from 0s mark above 2pkt; at 1ms mark above 1pkt",
	         {{0, 1000, 8 * MS},
	          {0, 1000, 16 * MS},
	          {1 * MS, 1000, 24 * MS},
	          {1 * MS, 1000, LOST},
	          {15 * MS, 1000, LOST},
	          {24 * MS, 1000, 32 * MS}}},
	        {"at 2ms slots min 5ms max 5ms",
	         {{0, 60, 0}, {1 * MS, 60, 1 * MS}, {2 * MS, 60, 7 * MS}, {4 * MS, 60, 7 * MS}}},
	        {"slots min 5ms max 5ms; at 3ms no slots", {{0, 60, 3 * MS}, {4 * MS, 60, 4 * MS}}},
	        {"slots min 5ms max 5ms; every 10ms for 1ms down",
	         {{9 * MS, 60, 14 * MS}, {10 * MS, 60, LOST}, {11 * MS, 60, 14 * MS}}},
	        /* the rate that `at` set is still in force when slots begin */
	        {"rate 1mbit; at 1ms rate 2mbit; at 2ms slots min 1ms max 1ms packets 1",
	         {{4 * MS, 1000, 9 * MS}, {4 * MS, 1000, 13 * MS}}},
	        /* half of the packet at 1 Mbit/s, half at 2 Mbit/s, in the lengths of that time */
	        {"rate 1mbit overhead 500; at 6ms rate 2mbit overhead 500",
	         {{0, 1000, 9 * MS}, {0, 1000, 15 * MS}}},
	        {"rate 1mbit; class v queue 3pkt; at 4ms rate 2mbit", {{0, 1000, 6 * MS}}},
	};

	(void)state;
	check_rows(rows, LENGTH(rows));
}

/* 1000 bytes take 0.8 ms. */
#define LINK "rate 10mbit queue 200kB; "

/* Overloads the link for half a second, and again by a seventh, from shortly before the next window
 * on; or, if `light`, sends six packets every 10 ms from then on, which a management that has just
 * begun lets pass. Returns the number of packets before the second time. */
static uint32_t two_times(struct arrival *arrivals, uint32_t n, bool light, simtime window)
{
	const uint32_t first = 800;

	for (uint32_t i = 0; i < first; i++)
		arrivals[i] = (struct arrival){i * 600 * SIMTIME_US, 1000};
	for (uint32_t i = 0; i < n - first; i++) {
		simtime t = light ? window + i / 6 * 10 * MS + i % 6 * SIMTIME_US
		                  : window - 300 * MS + i * 700 * SIMTIME_US;

		arrivals[first + i] = (struct arrival){t, 1000};
	}
	return first;
}

/* A window's management has counted what it saw when it was in force the last time. It must not
 * take the time since then for congestion, nor go on as if no time had passed. */
static void a_management_that_returns_begins_anew(void **state)
{
	enum { MANY = 2000 };
	static const struct {
		const char *statement, *name;
		bool light; /* for those with draws, which go on: so all packets pass */
		simtime window;
	} rows[] = {
	        {"red min 5kB max 15kB max-p 0.5", "red", true, 10 * SIMTIME_S},
	        {"pie", "pie", true, 10 * SIMTIME_S},
	        {"codel", "codel", false, 10 * SIMTIME_S},
	        /* CoDel remembers its count for 16 intervals */
	        {"codel", "codel", false, 1 * SIMTIME_S},
	        {"fq-codel flows 1", "fq-codel", false, 1 * SIMTIME_S},
	        {"dualpi2", "dualpi2", false, 10 * SIMTIME_S},
	};
	static struct arrival arrivals[MANY];
	static simtime window[MANY], alone[MANY];
	char words[256];

	(void)state;
	for (uint32_t i = 0; i < LENGTH(rows); i++) {
		const uint64_t ms = rows[i].window / MS;
		uint32_t first = two_times(arrivals, MANY, rows[i].light, rows[i].window);

		snprintf(words, sizeof(words), LINK "every %lums for 500ms from 0s %s", ms,
		         rows[i].statement);
		schedule_play(words, arrivals, MANY, window);
		snprintf(words, sizeof(words), LINK "at %lums %s; at %lums no %s", ms,
		         rows[i].statement, ms + 500, rows[i].name);
		schedule_play(words, arrivals, MANY, alone);
		for (uint32_t k = first; k < MANY; k++) {
			if (window[k] != alone[k])
				fail_msg("%s: packet %u leaves at %lu, not %lu", rows[i].name, k,
				         window[k], alone[k]);
		}
	}
}

static void what_is_in_a_cloud_goes_on_when_it_is_down(void **state)
{
	static const struct row rows[] = {
	        /* queue and line */
	        {"rate 1mbit; delay 10ms; at 1ms down",
	         {{0, 1000, 18 * MS}, {0, 1000, 26 * MS}, {1 * MS, 1000, LOST}}},
	        {"rate 1mbit; every 10ms for 9ms down",
	         {{9 * MS, 1000, 17 * MS}, {10 * MS, 1000, LOST}, {19 * MS, 1000, 27 * MS}}},
	};

	(void)state;
	check_rows(rows, LENGTH(rows));
}

static void windows_lie_on_top_of_what_lasts(void **state)
{
	static const struct row rows[] = {
	        /* the underlying delay changes in the middle of a window */
	        {"delay 1ms; every 10ms for 4ms delay 5ms; at 12ms delay 2ms",
	         {{0, 60, 1 * MS},
	          {11 * MS, 60, 16 * MS},
	          {13 * MS, 60, 18 * MS},
	          {19 * MS, 60, 21 * MS},
	          {20 * MS, 60, 25 * MS},
	          {29 * MS, 60, 31 * MS}}},
	        /* the queue of the underlying link stays */
	        {"rate 8mbit queue 1pkt; every 10ms for 5ms rate 800kbit queue 1pkt; at 12ms rate "
	         "80mbit queue 1pkt",
	         {{0, 1000, 1 * MS},
	          {10 * MS, 1000, 15 * MS + 50 * SIMTIME_US},
	          {20 * MS, 1000, 25 * MS + 50 * SIMTIME_US}}},
	};

	(void)state;
	check_rows(rows, LENGTH(rows));
}

/* A packet a millisecond. What covers a statement goes on when that statement changes below it. */
static void an_at_leaves_what_covers_its_statement_as_it_is(void **state)
{
	enum { N = 120, COVERED = 50 };
	static const struct {
		const char *words, *at;
		uint32_t from; /* the first packet that meets what `at` has changed; N: none */
	} rows[] = {
	        {"loss every 9 burst 3; every 1s for 50ms from 0s loss every 4 burst 3",
	         "at 10500us loss every 5 burst 3", COVERED},
	        {"every 1s for 50ms from 0s police 8kbit burst 60kB",
	         "at 20500us police 4mbit burst 1500B", COVERED},
	        {"rate 1mbit queue 100pkt; every 1s for 50ms from 0s rate 1mbit algorithm "
	         "token-bucket burst 100kB queue 100pkt",
	         "at 20500us rate 2mbit queue 100pkt", COVERED},
	        {"rate 1mbit queue 100pkt; mark above 1pkt; every 1s for 50ms from 0s mark above "
	         "4pkt",
	         "at 20500us mark above 2pkt", COVERED},
	        {"delay 5ms; every 1s for 50ms from 0s reorder random 20% by 5pkt",
	         "at 23500us reorder random 50% by 1ms", COVERED},
	        {"loss every 9; markov a 86400s loss every 4 burst 3 then b 1s loss every 2",
	         "at 10500us loss every 5 burst 3", N},
	        /* the state covers something else */
	        {"loss every 9; markov a 86400s loss every 4 burst 3 then b 1s police 8kbit burst "
	         "9kB",
	         "at 50ms police 8kbit burst 9kB", COVERED},
	        {"rate 1mbit queue 100pkt; wave rate 2mbit..9mbit period 40ms",
	         "at 10500us rate 3mbit queue 100pkt", N},
	        {"delay 1ms; wave delay 5ms..7ms period 40ms", "at 10500us delay 9ms", N},
	        {"loss random 1%; wave loss 10%..60% period 40ms", "at 10500us loss every 3", N},
	};

	(void)state;
	for (size_t r = 0; r < LENGTH(rows); r++) {
		simtime without[N], with[N];
		struct arrival arrivals[N];
		char words[256];
		uint32_t same = 0;

		for (uint32_t i = 0; i < N; i++)
			arrivals[i] = (struct arrival){i * MS, 1000};
		schedule_play(rows[r].words, arrivals, N, without);
		snprintf(words, sizeof(words), "%s; %s", rows[r].words, rows[r].at);
		schedule_play(words, arrivals, N, with);
		while (same < N && with[same] == without[same])
			same++;
		if (same < rows[r].from || (same == N && rows[r].from < N))
			fail_msg("%s: packet %u is the first that differs", words, same);
	}
}

/* A window takes from a bucket what exceeds its size, whether the cloud is idle, or busy with
 * something else. */
static void a_window_without_packets_leaves_what_one_with_packets_leaves(void **state)
{
#define POLICE "police 8bit burst 4kB; "
#define WINDOW "every 10s for 1s police 8bit burst 2kB"
	static const struct {
		const char *words;
		uint32_t second; /* at which three packets of 1000 bytes come, of which two pass */
		bool once; /* a bucket that is new counts from instant 0, not from the origin */
	} rows[] = {
	        {POLICE WINDOW "; rate 10bit algorithm token-bucket burst 1MB queue 1MB", 45,
	         false},
	        {POLICE WINDOW, 45, false},
	        {POLICE WINDOW, 15, false},
	        {POLICE WINDOW, 11, false},
	        {POLICE "markov a 10s then b 1ms police 8bit burst 2kB", 500, false},
	        /* a new bucket, which is full, and then one more window */
	        {POLICE WINDOW "; at 15s no police; at 16s police 8bit burst 4kB", 25, true},
	};
#undef POLICE
#undef WINDOW

	(void)state;
	for (size_t r = 0; r < LENGTH(rows); r++) {
		const simtime t = rows[r].second * SIMTIME_S;
		const struct arrival arrivals[] = {{0, 60}, {t, 1000}, {t, 1000}, {t, 1000}};
		simtime due[LENGTH(arrivals)];

		if (rows[r].once)
			schedule_play_once(rows[r].words, arrivals, LENGTH(arrivals), due);
		else
			schedule_play(rows[r].words, arrivals, LENGTH(arrivals), due);
		assert_int_equal(due[1], t);
		assert_int_equal(due[2], t);
		assert_int_equal(due[3], LOST);
	}
}

static void loss_every_counts_on_if_its_numbers_are_the_same(void **state)
{
	static const struct row rows[] = {
	        {"loss every 3; at 5ms loss every 3",
	         {{0, 60, 0}, {1 * MS, 60, 1 * MS}, {5 * MS, 60, LOST}, {6 * MS, 60, 6 * MS}}},
	        {"loss every 3; at 5ms loss every 3 burst 2",
	         {{0, 60, 0},
	          {1 * MS, 60, 1 * MS},
	          {5 * MS, 60, 5 * MS},
	          {6 * MS, 60, 6 * MS},
	          {7 * MS, 60, LOST},
	          {8 * MS, 60, LOST},
	          {9 * MS, 60, 9 * MS}}},
	        {"loss every 3; every 10ms for 5ms loss every 3",
	         {{0, 60, 0},
	          {1 * MS, 60, 1 * MS},
	          {10 * MS, 60, LOST},
	          {11 * MS, 60, 11 * MS},
	          {12 * MS, 60, 12 * MS},
	          {15 * MS, 60, LOST}}},
	        {"loss every 3; every 10ms for 5ms loss every 2",
	         {{0, 60, 0},
	          {1 * MS, 60, 1 * MS},
	          {10 * MS, 60, 10 * MS},
	          {15 * MS, 60, 15 * MS},
	          {16 * MS, 60, 16 * MS},
	          {20 * MS, 60, 20 * MS},
	          {25 * MS, 60, 25 * MS},
	          {26 * MS, 60, 26 * MS}}},
	        /* a window without packets */
	        {"loss every 3; every 10ms for 5ms loss every 2",
	         {{0, 60, 0},
	          {1 * MS, 60, 1 * MS},
	          {18 * MS, 60, 18 * MS},
	          {18 * MS, 60, 18 * MS},
	          {19 * MS, 60, LOST}}},
	};

	(void)state;
	check_rows(rows, LENGTH(rows));
}

/* Packets come every 1 us, and random loss is on for 1,000 packets at a time. The draws of two such
 * stretches must differ, whatever is in force in between. */
static void draws_are_not_repeated(void **state)
{
	enum { N = 20000 };
	static const char *const words[] = {
	        "every 2ms for 1ms from 0s loss random 50%",
	        "loss random 50%; every 2ms for 1ms from 0s loss every 1",
	        ("at 0s loss random 50%; at 1ms loss every 1; at 2ms loss random 50%; at 3ms loss "
	         "every 1; at 4ms loss random 50%"),
	};
	struct arrival *arrivals = calloc(N, sizeof(*arrivals));
	simtime *due = calloc(N, sizeof(*due));

	(void)state;
	assert_true(arrivals && due);
	for (uint32_t i = 0; i < N; i++)
		arrivals[i] = (struct arrival){i * SIMTIME_US, 60};
	for (size_t s = 0; s < LENGTH(words); s++) {
		uint32_t first = s == 1 ? 1000 : 0, same = 0;

		schedule_play(words[s], arrivals, N, due);
		/* Two stretches of 1,000: by chance, 500 agree; 6 standard deviations are 95. */
		for (uint32_t i = 0; i < 1000; i++)
			same += (due[first + i] == LOST) == (due[first + 2000 + i] == LOST);
		assert_in_range(same, 405, 595);
	}
	free(arrivals);
	free(due);
}

/* ---- which statement is in force ---- */

static struct rig *rig_with(const char *words)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 7});

	rig_cloud(rig, "x", 0, 1);
	schedule_set(rig, words);
	rig_apply(rig, 0);
	return rig;
}

/* Returns the delay of a packet that is sent at t. */
static simtime delay_at(struct rig *rig, simtime t)
{
	rig_send(rig, 0, 60, t);
	rig_run_out(rig);
	return rig->departures[rig->n_departures - 1].due_ns - t;
}

static void the_users_statement_holds_until_the_next_point(void **state)
{
	struct rig *rig = rig_with("delay 1ms; every 100ms for 50ms from 0s delay 5ms");

	(void)state;
	assert_int_equal(delay_at(rig, 10 * MS), 5 * MS);
	schedule_set(rig, "delay 2ms");
	rig_apply(rig, 20 * MS);
	assert_int_equal(delay_at(rig, 25 * MS), 2 * MS);
	assert_int_equal(delay_at(rig, 60 * MS), 2 * MS);
	assert_int_equal(delay_at(rig, 110 * MS), 5 * MS);
	assert_int_equal(delay_at(rig, 160 * MS), 2 * MS);
	/* a change of another statement does not disturb the window */
	schedule_set(rig, "loss every 1000");
	rig_apply(rig, 210 * MS);
	assert_int_equal(delay_at(rig, 220 * MS), 5 * MS);
	assert_int_equal(delay_at(rig, 260 * MS), 2 * MS);
	/* a schedule that is given again continues at the present instant */
	schedule_set(rig, "every 100ms for 60ms from 0s delay 7ms");
	rig_apply(rig, 310 * MS);
	assert_int_equal(delay_at(rig, 320 * MS), 7 * MS);
	assert_int_equal(delay_at(rig, 370 * MS), 2 * MS);
	rig_unset(rig, "x", "every");
	rig_apply(rig, 410 * MS);
	assert_int_equal(delay_at(rig, 420 * MS), 2 * MS);
	rig_close(rig);
}

static void a_point_that_is_over_lasts_until_it_is_taken_away(void **state)
{
	struct rig *rig =
	        rig_with("delay 1ms; rate 8mbit; at 10ms delay 2ms; at 10ms rate 80mbit; at "
	                 "30ms delay 3ms");

	(void)state;
	assert_int_equal(delay_at(rig, 5 * MS), 1 * MS + 60 * SIMTIME_US);
	assert_int_equal(delay_at(rig, 10 * MS), 2 * MS + 6 * SIMTIME_US);
	/* a change of another statement, and another `at` */
	schedule_set(rig, "loss every 1000; at 50ms delay 5ms");
	rig_apply(rig, 20 * MS);
	assert_int_equal(delay_at(rig, 25 * MS), 2 * MS + 6 * SIMTIME_US);
	/* the user's delay; the queue that follows from it does not bring the old rate back */
	schedule_set(rig, "delay 4ms");
	rig_apply(rig, 26 * MS);
	assert_int_equal(delay_at(rig, 27 * MS), 4 * MS + 6 * SIMTIME_US);
	assert_int_equal(delay_at(rig, 35 * MS), 3 * MS + 6 * SIMTIME_US);
	/* the last `at` of a delay is removed when it has passed: the user's delay is in force,
	 * which was given after the `at` before it */
	assert_int_equal(cloud_conf_remove_number(rig->scenario->clouds[0], "at", 3), 0);
	rig_apply(rig, 40 * MS);
	assert_int_equal(delay_at(rig, 41 * MS), 4 * MS + 6 * SIMTIME_US);
	rig_unset(rig, "x", "at");
	rig_apply(rig, 60 * MS);
	assert_int_equal(delay_at(rig, 61 * MS), 4 * MS + 60 * SIMTIME_US);
	rig_close(rig);
}

/* Each case: statements, then changes at these instants, and the delay directly after each. */
static void a_later_change_leaves_what_the_user_and_the_schedule_have_made(void **state)
{
	static const struct {
		const char *statements;
		struct {
			simtime t;
			const char *words;
			uint32_t removed; /* this `at`; 0: none */
			simtime delay;
		} change[4];
	} rows[] = {
	        /* nobody gives the delay again: the `at` before is in force */
	        {"delay 1ms; at 10ms delay 2ms; at 20ms delay 3ms",
	         {{30 * MS, "", 2, 2 * MS}, {40 * MS, "", 1, 1 * MS}}},
	        {"delay 1ms; at 10ms delay 2ms; at 20ms delay 3ms",
	         {{30 * MS, "", 1, 3 * MS}, {40 * MS, "reorder every 1000", 0, 3 * MS}}},
	        /* the user gives it after both; `reorder` forms one setting with it */
	        {"delay 1ms; at 10ms delay 2ms; at 20ms delay 3ms",
	         {{30 * MS, "delay 5ms", 0, 5 * MS},
	          {40 * MS, "reorder every 1000", 0, 5 * MS},
	          {50 * MS, "", 1, 5 * MS},
	          {60 * MS, "", 1, 5 * MS}}},
	        /* an `at` that was over when it was given */
	        {"delay 1ms",
	         {{30 * MS, "at 10ms delay 4ms", 0, 1 * MS},
	          {40 * MS, "reorder every 1000", 0, 1 * MS},
	          {50 * MS, "at 20ms delay 6ms", 0, 1 * MS},
	          {60 * MS, "", 2, 1 * MS}}},
	        /* the user's delay holds in the window until its end, whatever else changes */
	        {"delay 1ms; every 100ms for 50ms from 0s delay 2ms",
	         {{10 * MS, "delay 5ms", 0, 5 * MS},
	          {20 * MS, "loss every 1000", 0, 5 * MS},
	          {30 * MS, "reorder every 1000", 0, 5 * MS},
	          {110 * MS, "no loss", 0, 2 * MS}}},
	        {"delay 1ms; markov a 80000s delay 2ms then b 1s",
	         {{10 * MS, "delay 5ms", 0, 5 * MS}, {20 * MS, "loss every 1000", 0, 5 * MS}}},
	};

	(void)state;
	for (uint32_t i = 0; i < LENGTH(rows); i++) {
		struct rig *rig = rig_with(rows[i].statements);

		for (uint32_t k = 0; k < 4 && rows[i].change[k].t; k++) {
			simtime t = rows[i].change[k].t;
			uint32_t removed = rows[i].change[k].removed;

			if (removed)
				assert_int_equal(cloud_conf_remove_number(rig->scenario->clouds[0],
				                                          "at", removed),
				                 0);
			else if (strncmp(rows[i].change[k].words, "no ", 3) == 0)
				rig_unset(rig, "x", rows[i].change[k].words + 3);
			else
				schedule_set(rig, rows[i].change[k].words);
			rig_apply(rig, t);
			if (delay_at(rig, t + 1 * MS) != rows[i].change[k].delay)
				fail_msg("%s: not %lu ns at %lu", rows[i].statements,
				         rows[i].change[k].delay, t);
		}
		rig_close(rig);
	}
}

static void of_one_instant_the_latest_at_wins(void **state)
{
	static const struct {
		const char *words;
		uint32_t n; /* of `at` that are left */
		simtime delay_ns;
	} rows[] = {
	        {"at 0s delay 5ms and loss every 9; at 0s delay 6ms; at 0s delay 7ms and loss "
	         "every 9",
	         2, 7 * MS},
	        {"at 0s delay 5ms; at 0s loss every 9 and delay 6ms; at 0s delay 7ms", 2, 7 * MS},
	        {"at 0s delay 5ms and loss every 9; at 0s loss every 9 and delay 7ms", 1, 7 * MS},
	        {"at 0s delay 5ms; at 1s delay 6ms; at 0s delay 7ms", 2, 7 * MS},
	};

	(void)state;
	for (size_t r = 0; r < LENGTH(rows); r++) {
		struct rig *rig = rig_with(rows[r].words);
		const struct cloud_conf *cloud = rig->scenario->clouds[0];
		uint32_t n = 0;

		for (const struct conf *conf = cloud_conf_get(cloud, "at"); conf;
		     conf = cloud_conf_next(cloud, conf))
			assert_int_equal(conf->number, ++n);
		assert_int_equal(n, rows[r].n);
		assert_int_equal(delay_at(rig, 1 * MS), rows[r].delay_ns);
		rig_close(rig);
	}
}

static void a_cloud_with_a_schedule_can_be_closed_in_the_middle_of_it(void **state)
{
	struct rig *rig =
	        rig_with("rate 1mbit; delay 1ms; every 10ms for 5ms from 0s rate 2mbit and "
	                 "delay 2ms and loss random 1%");

	(void)state;
	for (uint32_t i = 0; i < 20; i++)
		rig_send(rig, 0, 1000, 0);
	rig_advance(rig, 7 * MS);
	rig_remove(rig, "x");
	rig_apply(rig, 12 * MS);
	rig_run_out(rig);
	assert_true(rig->n_departures >= 15);
	rig_close(rig);
	/* the engine can be freed in the middle of a window */
	rig = rig_with("delay 1ms jitter 1ms; every 10ms for 5ms from 0s delay 2ms jitter 1ms and "
	               "rate 1mbit and loss random 1%");
	assert_true(delay_at(rig, 1 * MS) > 0);
	rig_close(rig);
}

/* ---- bad input ---- */

static void schedules_that_contradict_are_refused(void **state)
{
	static const struct {
		const char *statements[3];
		const char *problem;
	} rows[] = {
	        {{"every 1s for 1s down"},
	         "it would never end: `for` must be shorter than `every`"},
	        {{"flap down 2s every 1s"},
	         "it would never end: `down` must be shorter than `every`"},
	        {{"flap down 1ms every 1s", "every 1s for 2ms down"},
	         "`flap` already changes `down`; apart from `at`, only one schedule can change a "
	         "statement"},
	        {{"every 1s for 2ms delay 5ms", "at 1s reorder every 5"},
	         "`at` changes `reorder`, which forms one setting with `delay`; let both change "
	         "the same statement"},
	        {{"rate 1mbit", "at 1s slots min 1ms max 2ms", "every 1s for 1ms rate 2mbit"},
	         "`at` changes `slots`, which forms one setting with `rate`; let both change the "
	         "same statement"},
	        {{"rate 1mbit", "at 1s ecn on", "every 1s for 1ms mark above 5kB"},
	         "`at` changes `ecn`, which forms one setting with `mark`; let both change the "
	         "same statement"},
	        {{"at 1s mark above 5kB"},
	         "`mark`: there is no queue to manage: give cloud `` a `rate`, like `cloud  rate "
	         "10mbit`"},
	        {{"rate 1mbit", "class v", "at 1s mark above 5kB"},
	         "`mark`: the link has classes with a queue each: name the class, like `cloud  "
	         "class v mark ...`"},
	        {{"rate 1mbit queue 5pkt", "class v", "at 1s rate 2mbit queue 6pkt"},
	         "class `v` takes its queue from `rate`, which then cannot change with time: give "
	         "the class its own, like `class v queue 64kB`"},
	        {{"rate 1mbit", "class v queue 5pkt", "at 1s rate 1mbit drop head"},
	         "class `v` takes its `drop` from `rate`, which then cannot change with time: give "
	         "the class its own, like `class v drop tail`"},
	        {{"at 1s rate 1mbit burst 15kB"},
	         "`rate`: a leaky-bucket has no burst: leave it out, or say `algorithm "
	         "token-bucket`"},
	};

	(void)state;
	for (size_t r = 0; r < LENGTH(rows); r++) {
		struct cloud_conf *cloud = calloc(1, sizeof(*cloud));
		struct problem problem = {.text = ""};

		assert_non_null(cloud);
		for (uint32_t i = 0; i < 3 && rows[r].statements[i]; i++)
			assert_int_equal(cloud_conf_put(cloud, trial_conf(rows[r].statements[i])),
			                 0);
		for (uint32_t i = 0; i < cloud->n_confs && !problem.text[0]; i++)
			cloud->confs[i]->statement->check(cloud->confs[i], cloud, &problem);
		assert_string_equal(problem.text, rows[r].problem);
		cloud_conf_free(cloud);
	}
}

/* Columns count from the statement's name. */
static void lines_that_are_wrong_say_where_and_what_would_be_right(void **state)
{
	static const struct {
		const char *line;
		uint32_t column;
		const char *text;
	} rows[] = {
	        {"at 10s", 8, "`at` needs `statements`: STATEMENT [and STATEMENT...]"},
	        {"at 10 down", 4,
	         "time `10` has no unit; a time is written with ns, us, ms or s, like 10ms"},
	        {"at 604801s down", 4,
	         "time `604801s` is out of range; it goes from 0s to 604800s"},
	        {"at 10s foo 1", 8,
	         "`foo` is not a statement; a statement is expected here, like `rate 5mbit` or `no "
	         "loss`"},
	        {"at 10s rte 5mbit", 8, "unknown word `rte`; did you mean `rate`?"},
	        {"at 10s at 5s down", 8,
	         "`at` is a schedule, and cannot be scheduled itself; give it a line of its own"},
	        {"at 10s no flap", 11,
	         "`flap` is a schedule, and cannot be scheduled itself; give it a line of its own"},
	        {"at 10s hop 192.0.2.1", 8,
	         "`hop` makes packets of its own, which need their path from the beginning, "
	         "and cannot change with time; give it a line of its own"},
	        {"at 10s class v weight 0.5", 8,
	         "`class` says which queues the link has, and cannot change with time; what can "
	         "change is the link they share, like `rate 5mbit`, or the whole path, like `delay "
	         "50ms`"},
	        {"at 5s rate 1mbit and rate 2mbit", 22, "`rate` was given already; give it once"},
	        {"at 5s rate 1mbit and", 22,
	         "the line ends too early; what must follow is a statement, like `rate 5mbit` or "
	         "`no "
	         "loss`"},
	        {"at 5s delay 2ms jiter 5ms", 17, "unknown word `jiter`; did you mean `jitter`?"},
	        {"at 5s no loss random", 15, "`random` is too much; `loss` ends before it"},
	        {"every 5s down", 15, "`every` needs `for`: TIME (ns, us, ms or s)"},
	        {"every 5s foor 2s down", 10, "unknown word `foor`; did you mean `for`?"},
	        {"wave rate 5mbit period 30s", 11,
	         "values `5mbit` is a single value; write the first and the last, with two dots "
	         "between"},
	        {"markov a 1s then b", 20,
	         "state `b` needs how long it lasts on average: a time, like 500ms"},
	        {"markov a 1s then b 1us", 20,
	         "the mean time in a state `1us` is out of range; it goes from 1ms to 86400s"},
	        {"markov a 1s to b then b 1s", 18,
	         "`b` needs the probability with which state `a` leads there, like 90%"},
	};

	(void)state;
	for (size_t r = 0; r < LENGTH(rows); r++) {
		struct language_error error = {.text = ""};
		struct words *words = malloc(sizeof(*words));
		struct conf *conf;

		assert_non_null(words);
		assert_int_equal(words_split(rows[r].line, words, &error), 0);
		if (statement_parse(words, 0, &conf, &error) == 0)
			fail_msg("%s: accepted", rows[r].line);
		if (strcmp(error.text, rows[r].text) != 0 || error.column != rows[r].column)
			fail_msg("%s: %u: %s", rows[r].line, error.column, error.text);
		free(words);
	}
}

GROUP(schedule)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_change_of_rate_is_exact_inside_a_packet),
	        cmocka_unit_test(a_change_comes_before_an_arrival_of_its_instant),
	        cmocka_unit_test(queue_management_and_slots_change_with_time),
	        cmocka_unit_test(a_management_that_returns_begins_anew),
	        cmocka_unit_test(what_is_in_a_cloud_goes_on_when_it_is_down),
	        cmocka_unit_test(windows_lie_on_top_of_what_lasts),
	        cmocka_unit_test(an_at_leaves_what_covers_its_statement_as_it_is),
	        cmocka_unit_test(a_window_without_packets_leaves_what_one_with_packets_leaves),
	        cmocka_unit_test(loss_every_counts_on_if_its_numbers_are_the_same),
	        cmocka_unit_test(draws_are_not_repeated),
	        cmocka_unit_test(the_users_statement_holds_until_the_next_point),
	        cmocka_unit_test(a_point_that_is_over_lasts_until_it_is_taken_away),
	        cmocka_unit_test(a_later_change_leaves_what_the_user_and_the_schedule_have_made),
	        cmocka_unit_test(of_one_instant_the_latest_at_wins),
	        cmocka_unit_test(a_cloud_with_a_schedule_can_be_closed_in_the_middle_of_it),
	        cmocka_unit_test(schedules_that_contradict_are_refused),
	        cmocka_unit_test(lines_that_are_wrong_say_where_and_what_would_be_right),
	};

	return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
