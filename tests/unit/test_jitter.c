/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jitter on a line: order, bursts, changes, and refused values. The distribution is tested in
 * ../statistics/test_delay.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "line/delay_table.h"
#include "line/jitter.h"
#include "trial.h"
#include "runner/group.h"

#define MS SIMTIME_MS

static void set(struct rig *rig, const char *statement)
{
	struct conf *conf = trial_conf(statement);
	struct cloud_conf *cloud = rig->scenario->clouds[0];
	struct problem problem = {.text = ""};

	assert_int_equal(cloud_conf_put(cloud, conf), 0);
	if (conf->statement->check(conf, cloud, &problem) != 0)
		fail_msg("%s: %s", statement, problem.text);
}

static struct rig *open_with(const char *statement, bool shared, simtime now)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 5});

	rig_cloud(rig, "x", 0, 1);
	if (shared)
		rig_cloud(rig, "y", 2, 1);
	set(rig, statement);
	rig_apply(rig, now);
	return rig;
}

/* The gaps of a trace: packets of one instant, close ones, and pauses of any length. */
static simtime gap(uint32_t i)
{
	static const simtime gaps[] = {0, 0, 1, 100, 3000, 200000, 5 * MS, 80 * MS};
	struct draw_key key = draw_key_make(1, "gaps", "");

	return gaps[draw_u64(key, i, 0) % LENGTH(gaps)];
}

static const char *const models[] = {
        "delay 40ms jitter 5ms",
        "delay 40ms jitter 5ms distribution normal",
        "delay 40ms jitter 5ms distribution exponential",
        "delay 40ms jitter 30ms distribution gamma",
        "delay 40ms jitter 5ms distribution lognormal correlation 50%",
        "delay 40ms jitter 5ms distribution pareto half-life 1ms",
        "delay 40ms jitter 5ms distribution paretonormal half-life 1s",
        "delay 40ms jitter 5ms distribution bimodal weight 5%",
        "delay 40ms jitter 5ms distribution bimodal correlation 90%",
        "delay 40ms jitter 1ns distribution normal",
        "delay 40ms jitter 3ns correlation 10%",
        "delay 1ms jitter 20ms distribution normal", /* cut off at 0 */
        "delay 40ms jitter 5ms correlation 100%",
        "delay 0ms jitter 86400s",
        "delay 86400s jitter 86400s distribution normal",
};

static void packets_of(struct rig *rig, uint16_t burst, uint32_t n, simtime origin)
{
	struct rte_mbuf *mbufs[BURST_MAX];
	simtime t = origin;
	uint16_t ready = 0;

	for (uint32_t i = 0; i < n; i++) {
		t += gap(i);
		mbufs[ready++] = rig_packet(rig, RIG_PLAIN, 0, i + 1, 60, 0, t);
		if (ready == burst || i + 1 == n) {
			rig_ingress(rig, mbufs, ready);
			rig_advance(rig, t);
			ready = 0;
		}
	}
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, n);
}

/* No packet waits for the packet ahead: the delays themselves keep the order. */
static void kept_order_needs_no_waiting(void **state)
{
	(void)state;
	for (size_t m = 0; m < LENGTH(models); m++) {
		struct rig *rig = open_with(models[m], false, 7);
		struct cloud_report *report;

		packets_of(rig, BURST_MAX, 3000, 7);
		report = rig_report(rig, "x");
		for (uint32_t i = 0; i < 3000; i++)
			assert_int_equal(rig->departures[i].number, i + 1);
		assert_int_equal(report->counters.reordered, 0);
		assert_int_equal(report->order_waits, 0);
		rig_close(rig);
	}
}

static void bursts_and_sharing_change_nothing(void **state)
{
	static const char *const orders[] = {"order keep", "order allow"};
	static const uint16_t bursts[] = {1, 7, 32, 32};

	(void)state;
	for (size_t m = 0; m < LENGTH(models) * 2; m++) {
		struct rig *rigs[4];
		char statement[160];

		snprintf(statement, sizeof(statement), "%s %s", models[m / 2], orders[m % 2]);
		for (int i = 0; i < 4; i++) {
			rigs[i] = open_with(statement, i == 3, 0);
			packets_of(rigs[i], bursts[i], 1000, 0);
			for (uint32_t k = 0; k < 1000; k++) {
				if (rigs[i]->departures[k].number !=
				            rigs[0]->departures[k].number ||
				    rigs[i]->departures[k].due_ns != rigs[0]->departures[k].due_ns)
					fail_msg("%s: bursts of %u, departure %u", statement,
					         bursts[i], k);
			}
		}
		for (int i = 0; i < 4; i++)
			rig_close(rigs[i]);
	}
}

/* Delays and jitters beyond 2.1 s, 4.3 s and a minute; 0 and 1 ns. */
static void long_and_short_delays_are_what_they_say(void **state)
{
	static const struct {
		const char *statement;
		simtime least, most;
	} rows[] = {
	        {"delay 2200ms jitter 2150ms order allow", 50 * MS, 4350 * MS},
	        {"delay 5s jitter 4400ms", 600 * MS, 9400 * MS},
	        {"delay 60s jitter 60s order allow", 0, 120 * SIMTIME_S},
	        {"delay 86400s jitter 86400s", 0, 2 * 86400 * SIMTIME_S},
	        {"delay 2200ms", 2200 * MS, 2200 * MS},
	        {"delay 4300ms jitter 0ms", 4300 * MS, 4300 * MS},
	        {"delay 61s order allow", 61 * SIMTIME_S, 61 * SIMTIME_S},
	        {"delay 0ms jitter 0ms", 0, 0},
	        {"delay 10ns jitter 1ns", 9, 11},
	        {"delay 10ns jitter 1ns order allow", 9, 11},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct rig *rig = open_with(rows[i].statement, false, 0);
		const struct histogram *h;

		/* as far apart as the range of delays, so that every delay is visible */
		for (uint32_t k = 0; k < 300; k++)
			rig_send(rig, 0, 60, k * (rows[i].most - rows[i].least));
		rig_run_out(rig);
		h = &rig_report(rig, "x")->delay_ns;
		assert_in_range(h->min, rows[i].least, rows[i].most);
		assert_in_range(h->max, rows[i].least, rows[i].most);
		assert_true(h->max - h->min >= (rows[i].most - rows[i].least) / 10 * 9);
		rig_close(rig);
	}
}

/* A change of the delay, or of its spread, does not draw anew. */
static void a_change_goes_on_from_the_same_probability(void **state)
{
	struct rig *rig = open_with("delay 40ms jitter 4ms distribution normal", false, 0);
	int64_t before, after;

	(void)state;
	rig_send(rig, 0, 60, 0);
	rig_advance(rig, SIMTIME_S);
	before = (int64_t)rig->departures[0].due_ns - 40 * (int64_t)MS;
	set(rig, "delay 60ms jitter 8ms distribution normal");
	rig_apply(rig, 1);
	rig_send(rig, 0, 60, 0);
	rig_run_out(rig);
	after = (int64_t)rig->departures[1].due_ns - 60 * (int64_t)MS;
	assert_true(llabs(after - 2 * before) < 20000);
	rig_close(rig);
}

/* With a shorter delay, no packet overtakes those in flight; the report shows the cost. */
static void waiting_for_the_packet_ahead_is_reported(void **state)
{
	struct rig *rig = open_with("delay 100ms", false, 0);
	struct cloud_report *report;

	(void)state;
	rig_send(rig, 0, 60, 0);
	set(rig, "delay 10ms");
	rig_apply(rig, MS);
	rig_send(rig, 0, 60, 2 * MS);
	rig_send(rig, 0, 60, 80 * MS);
	rig_send(rig, 0, 60, 95 * MS);
	rig_run_out(rig);
	report = rig_report(rig, "x");
	assert_int_equal(report->order_waits, 2);
	assert_int_equal(report->order_waited_ns, (88 + 10) * MS);
	engine_clear(rig->engine);
	assert_int_equal(rig_report(rig, "x")->order_waits, 0);
	rig_close(rig);
}

/* The mean and the standard deviation of the time on the line, to a billionth, whatever the queue
 * before it adds. They count from the first packet with jitter, and again from a reset of the
 * counters. */
static void the_report_has_the_mean_and_spread_of_the_line_alone(void **state)
{
	static const char *const orders[] = {"order keep", "order allow"};

	(void)state;
	for (size_t o = 0; o < LENGTH(orders); o++) {
		struct rig *rig = open_with("delay 10ms", false, 0);
		double sum = 0, square = 0, mean, deviation;
		struct cloud_report *report;
		char statement[100];

		rig_send(rig, 0, 100, 0);
		rig_run_out(rig);
		assert_int_equal(rig_report(rig, "x")->line_packets, 0);
		snprintf(statement, sizeof(statement), "delay 5s jitter 4400ms %s", orders[o]);
		set(rig, statement);
		rig_rate(rig, "x", 100000, 0, LIMIT_BYTES, 1000000);
		rig_apply(rig, SIMTIME_S);
		/* 100 bytes take 8 ms at that rate: each packet waits longer, up to 2 s */
		for (uint32_t i = 0; i < 500; i++)
			rig_send(rig, 0, 100, SIMTIME_S + i * 4 * MS);
		rig_run_out(rig);
		for (uint32_t i = 1; i < 501; i++) {
			const struct departure *d = &rig->departures[i];
			simtime left = SIMTIME_S + (d->number - 1) * 8 * MS;
			double delay = (double)(d->due_ns - left);

			sum += delay;
			square += delay * delay;
		}
		mean = sum / 500;
		deviation = sqrt(square / 500 - mean * mean);
		report = rig_report(rig, "x");
		assert_int_equal(report->line_packets, 500);
		assert_true(fabs(report->line_mean_ns / mean - 1) < 1e-9);
		assert_true(fabs(report->line_deviation_ns / deviation - 1) < 1e-6);
		engine_clear(rig->engine);
		assert_int_equal(rig_report(rig, "x")->line_packets, 0);
		rig_close(rig);
	}
}

/* Squares are summed in 64 bits if they fit, a burst at a time. With 300 ms of jitter they fit in
 * some bursts only. */
static void the_report_is_of_every_packet_of_a_burst(void **state)
{
	static const char *const delays[] = {"delay 10ms jitter 1ms order allow",
	                                     "delay 400ms jitter 300ms order allow",
	                                     "delay 3s jitter 2s order allow"};

	(void)state;
	for (size_t d = 0; d < LENGTH(delays); d++) {
		struct rig *rig = open_with(delays[d], false, 0);
		double sum = 0, square = 0, mean, deviation;
		struct cloud_report *report;
		struct rte_mbuf *mbufs[4];

		for (uint32_t i = 0; i < 400; i += 4) {
			for (uint32_t k = 0; k < 4; k++)
				mbufs[k] = rig_packet(rig, RIG_PLAIN, 0, i + k + 1, 60, 0, i);
			rig_ingress(rig, mbufs, 4);
		}
		rig_run_out(rig);
		for (uint32_t i = 0; i < 400; i++) {
			const struct departure *left = &rig->departures[i];
			double delay = (double)(left->due_ns - (left->number - 1) / 4 * 4);

			sum += delay;
			square += delay * delay;
		}
		mean = sum / 400;
		deviation = sqrt(square / 400 - mean * mean);
		report = rig_report(rig, "x");
		assert_int_equal(report->line_packets, 400);
		assert_true(fabs(report->line_mean_ns / mean - 1) < 1e-9);
		assert_true(fabs(report->line_deviation_ns / deviation - 1) < 1e-6);
		rig_close(rig);
	}
}

static void clouds_of_one_delay_share_one_jitter(void **state)
{
	struct conf *same = trial_conf("delay 40ms jitter 5ms distribution normal");
	struct conf *again = trial_conf("delay 40ms jitter 5ms distribution normal");
	struct conf *other = trial_conf("delay 40ms jitter 5ms distribution normal order allow");
	struct conf *none = trial_conf("delay 40ms");
	struct jitter *a, *b, *c, *d;

	(void)state;
	assert_int_equal(jitter_make((struct delay_conf *)same, &a), 0);
	assert_int_equal(jitter_make((struct delay_conf *)again, &b), 0);
	assert_int_equal(jitter_make((struct delay_conf *)other, &c), 0);
	assert_int_equal(jitter_make((struct delay_conf *)none, &d), 0);
	assert_ptr_equal(a, b);
	assert_ptr_not_equal(a, c);
	assert_null(d);
	jitter_release(a);
	jitter_release(b);
	jitter_release(c);
	jitter_release(d);
	conf_free(same);
	conf_free(again);
	conf_free(other);
	conf_free(none);
}

/* ---- tables ---- */

static struct file *file_of(const char *text)
{
	struct file *file = file_make("t.dist", strlen(text));

	assert_non_null(file);
	memcpy(file->text, text, strlen(text));
	return file;
}

static void tables_of_netem_and_lists_of_delays_are_told_apart(void **state)
{
	static const struct {
		const char *text;
		bool netem;
		uint32_t n;
		int64_t value[6];
	} rows[] = {
	        {"# a table\n -32768 0 32767\n\n 5 # and more\n", true, 4, {-32768, 0, 5, 32767}},
	        {"1 2\n", true, 2, {1, 2}},
	        {"-7", true, 1, {-7}},
	        {"40.2\n38\n", false, 2, {38000000, 40200000}},
	        {"40.2ms\r\n380us\r\n1.5s\r\n7ns\r\n0\r\n",
	         false,
	         5,
	         {0, 7, 380000, 40200000, 1500000000}},
	        {"  12.5 ms  # typical\n\n#\n1e-3 s", false, 2, {1000000, 12500000}},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct file *file = file_of(rows[i].text);
		struct delay_table table;
		struct problem problem;

		assert_int_equal(delay_table_read(file, 3, &table, &problem), 0);
		assert_int_equal(table.netem, rows[i].netem);
		assert_int_equal(table.n, rows[i].n);
		for (uint32_t k = 0; k < table.n; k++)
			assert_int_equal(table.value[k], rows[i].value[k]);
		free(table.value);
		file_release(file);
	}
}

static void a_bad_table_is_refused_with_its_line(void **state)
{
	static const struct {
		const char *text, *problem;
	} rows[] = {
	        {"", "t.dist: the table is empty; it needs at least one delay, like 40.2ms"},
	        {"# nothing\n\n",
	         "t.dist: the table is empty; it needs at least one delay, like 40.2ms"},
	        {"40\nx\n", "t.dist:2: `x` is not a delay; write one in each line, 0 to a day, in "
	                    "ms or with its unit, like 40.2ms"},
	        {"40\n41min\n", "t.dist:2: `41min` is not a delay; write one in each line, 0 to a "
	                        "day, in ms or with its unit, like 40.2ms"},
	        {"40 minutes\n", "t.dist:1: `minutes` is not a delay; write one in each line, 0 to "
	                         "a day, in ms or with its unit, like 40.2ms"},
	        {"86401s", "t.dist:1: `86401s` is not a delay; write one in each line, 0 to a day, "
	                   "in ms or with its unit, like 40.2ms"},
	        {"1\n2 32768\n", "t.dist:2: `32768` is not an entry of a netem table; those are "
	                         "whole numbers from -32768 to 32767"},
	        {"1 2\n3.5\n", "t.dist:2: `3.5` is not an entry of a netem table; those are whole "
	                       "numbers from -32768 to 32767"},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct file *file = file_of(rows[i].text);
		struct delay_table table;
		struct problem problem = {.field = -1};

		assert_int_equal(delay_table_read(file, 3, &table, &problem), -EINVAL);
		assert_string_equal(problem.text, rows[i].problem);
		assert_int_equal(problem.field, 3);
		file_release(file);
	}
}

static struct delay_conf *table_conf(const char *text, uint64_t delay_ns, uint64_t jitter_ns)
{
	struct delay_conf *conf = (struct delay_conf *)conf_make(&delay_statement);

	conf->delay_ns = delay_ns;
	conf->jitter_ns = jitter_ns;
	conf->distribution = DELAY_TABLE;
	conf->order = ORDER_ALLOW;
	conf->table = file_of(text);
	return conf;
}

static void measured_delays_come_as_often_as_they_were_measured(void **state)
{
	struct delay_conf *conf = table_conf("10\n20\n20\n30\n", 7 * MS, 0);
	struct draw_key key = draw_key_make(3, "t", "delay");
	struct distribution distribution;
	struct delay_asked asked;
	uint32_t n[4] = {0};

	(void)state;
	assert_int_equal(delay_distribution_make(conf, &distribution), 0);
	for (uint64_t i = 0; i < 100000; i++)
		n[(distribution_draw(&distribution, draw_u64(key, i, 0)) / (int64_t)MS + 7) / 10]++;
	assert_int_equal(n[0], 0);
	/* binomial, 99.9 %: 3.29 sqrt(n p (1 - p)) */
	assert_in_range(n[1], 25000 - 451, 25000 + 451);
	assert_in_range(n[2], 50000 - 520, 50000 + 520);
	assert_int_equal(delay_asked(conf, &asked), 0);
	assert_true(asked.mean_ns == 20e6 && asked.longest_ns == 30 * MS);
	distribution_release(&distribution);
	conf_free(&conf->conf);
}

static void with_a_jitter_measured_delays_are_a_shape(void **state)
{
	struct delay_conf *conf = table_conf("10\n20\n20\n30\n", 40 * MS, 5 * MS);
	struct distribution distribution;
	double mean, deviation;

	(void)state;
	assert_int_equal(delay_distribution_make(conf, &distribution), 0);
	distribution_moments(&distribution, &mean, &deviation);
	assert_true(fabs(mean) < 1 && fabs(deviation - 5e6) < 1);
	distribution_release(&distribution);
	conf_free(&conf->conf);
}

/* With 4 entries: quantiles at 1/8, 3/8, 5/8, 7/8, and straight lines in between. */
static void a_netem_table_is_in_units_of_the_jitter_and_interpolated(void **state)
{
	struct delay_conf *conf = table_conf("8192 -8192 -4096 0", 40 * MS, 8 * MS);
	static const struct {
		double below;
		int64_t deviation;
	} rows[] = {
	        {0.001, -8000000}, {0.125, -8000000}, {0.25, -6000000},
	        {0.375, -4000000}, {0.5, -2000000},   {0.625, 0},
	        {0.75, 4000000},   {0.875, 8000000},  {0.999, 8000000},
	};
	struct distribution distribution;

	(void)state;
	assert_int_equal(delay_distribution_make(conf, &distribution), 0);
	for (size_t i = 0; i < LENGTH(rows); i++) {
		double p = rows[i].below;

		assert_true(
		        llabs(distribution_quantile(&distribution, p > 0.5 ? 1 - p : p, p > 0.5) -
		              rows[i].deviation) < 2);
	}
	distribution_release(&distribution);
	conf_free(&conf->conf);
}

/* Of a million lines, 65,536 are kept; their distribution differs by at most 1/131072. */
static void long_lists_are_thinned(void **state)
{
	char *text = malloc(1000000 * 8);
	size_t at = 0;
	struct delay_table table;
	struct problem problem;
	struct file *file;

	(void)state;
	for (uint32_t i = 0; i < 1000000; i++)
		at += (size_t)sprintf(text + at, "%u\n", (uint32_t)(i * UINT64_C(7919) % 1000000));
	file = file_of(text);
	assert_int_equal(delay_table_read(file, 3, &table, &problem), 0);
	assert_int_equal(table.n, 65536);
	for (uint32_t i = 0; i < 65536; i++)
		assert_true(fabs((double)table.value[i] / 1e12 - (i + 0.5) / 65536) < 1e-5);
	free(table.value);
	file_release(file);
	free(text);
}

static void bad_values_are_refused_with_what_would_be_right(void **state)
{
	static const struct {
		const char *statement, *problem;
	} rows[] = {
	        {"delay 40ms distribution normal",
	         "a distribution needs a spread: add `jitter` and a time, like 5ms"},
	        {"delay 40ms correlation 25%",
	         "a delay that is always the same has no correlation: "
	         "add `jitter` and a time, like 5ms"},
	        {"delay 40ms half-life 1ms", "a delay that is always the same has no correlation: "
	                                     "add `jitter` and a time, like 5ms"},
	        {"delay 40ms jitter 5ms correlation 25% half-life 1ms",
	         "a correlation from packet to packet and a half-life in time exclude each other; "
	         "give only one of them"},
	        {"delay 40ms jitter 5ms weight 25%",
	         "a weight is for `distribution bimodal` only; leave it out"},
	        {"delay 0ms jitter 5ms distribution gamma",
	         "a gamma or lognormal delay must be more than 0; give it a mean, like 40ms"},
	        {"delay 1ms jitter 11ms distribution lognormal",
	         "the jitter of a gamma or lognormal delay is at most 10 times the delay; make it "
	         "smaller"},
	        {"delay 1ms jitter 10ms distribution lognormal", ""},
	        {"delay 40ms jitter 5ms correlation 0%", ""},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++)
		assert_string_equal(trial_problem(rows[i].statement), rows[i].problem);
}

/* The values asked for, which the report compares, are those of the distribution that is drawn
 * from. */
static void what_was_asked_for_is_what_is_drawn(void **state)
{
	static const char *const statements_of[] = {
	        "delay 40ms jitter 5ms",
	        "delay 40ms jitter 5ms distribution normal",
	        "delay 40ms jitter 5ms distribution exponential",
	        "delay 40ms jitter 30ms distribution gamma",
	        "delay 40ms jitter 1us distribution gamma",
	        "delay 40ms jitter 80ms distribution lognormal",
	        "delay 40ms jitter 5ms distribution pareto",
	        "delay 40ms jitter 5ms distribution paretonormal",
	        "delay 40ms jitter 5ms distribution bimodal weight 5%",
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(statements_of); i++) {
		struct conf *conf = trial_conf(statements_of[i]);
		const struct delay_conf *delay = (const struct delay_conf *)conf;
		struct distribution distribution;
		struct delay_asked asked;
		double mean, deviation;

		assert_int_equal(delay_asked(delay, &asked), 0);
		assert_int_equal(delay_distribution_make(delay, &distribution), 0);
		distribution_moments(&distribution, &mean, &deviation);
		/* the table ends the tail, which takes up to 1e-3 of pareto's deviation */
		assert_true(fabs(40e6 + mean - asked.mean_ns) < 1e-4 * deviation);
		assert_true(fabs(deviation / asked.deviation_ns - 1) < 1e-3);
		distribution_release(&distribution);
		conf_free(conf);
	}
}

/* Returns the largest delay of 40,000 packets, 200 us apart. */
static uint64_t longest_of(const struct delay_conf *delay)
{
	struct draw_key key = draw_key_make(1, "longest", "delay");
	struct jitter_state in_flight = {0};
	struct jitter *jitter;
	int64_t deviation_ns[BURST_MAX], longest = 0;
	simtime t_ns[BURST_MAX], now = 0;

	assert_int_equal(jitter_make(delay, &jitter), 0);
	for (uint64_t i = 0; i < 40000; i += BURST_MAX) {
		for (int k = 0; k < BURST_MAX; k++, now += 200000)
			t_ns[k] = now;
		jitter_draw(jitter, &in_flight, key, i, t_ns, BURST_MAX, deviation_ns);
		for (int k = 0; k < BURST_MAX; k++)
			longest = deviation_ns[k] > longest ? deviation_ns[k] : longest;
	}
	jitter_release(jitter);
	return delay->delay_ns + (uint64_t)longest;
}

/* Order stretches a distribution with gaps. `weir check` computes its memory with the longest delay
 * that this can yield: packets reach it, to 1 %, and never exceed it. */
static void the_longest_delay_is_that_of_kept_order(void **state)
{
	static const char measured[] = "12.1\n12.3\n12.2\n19.7\n";
	static const struct {
		const char *words; /* NULL: the table */
		uint32_t order;
		double least_ms, most_ms; /* of delay_asked */
	} rows[] = {
	        {"delay 30ms jitter 8ms distribution bimodal weight 50%", ORDER_KEEP, 46.4, 46.5},
	        {"delay 30ms jitter 8ms distribution bimodal weight 10%", ORDER_KEEP, 48.9, 49.4},
	        {"delay 30ms jitter 8ms distribution bimodal weight 50%", ORDER_ALLOW, 38, 38},
	        {NULL, ORDER_KEEP, 24.4, 24.5},
	        {NULL, ORDER_ALLOW, 19.7, 19.7},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct delay_conf *delay = rows[i].words
		                                   ? (struct delay_conf *)trial_conf(rows[i].words)
		                                   : table_conf(measured, 0, 0);
		struct delay_asked asked;

		delay->order = rows[i].order;
		assert_int_equal(delay_asked(delay, &asked), 0);
		assert_in_range(asked.longest_ns, (uint64_t)(rows[i].least_ms * 1e6),
		                (uint64_t)(rows[i].most_ms * 1e6));
		assert_in_range(longest_of(delay), asked.longest_ns / 100 * 99, asked.longest_ns);
		conf_free(&delay->conf);
	}
}

GROUP(jitter)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(kept_order_needs_no_waiting),
	        cmocka_unit_test(bursts_and_sharing_change_nothing),
	        cmocka_unit_test(long_and_short_delays_are_what_they_say),
	        cmocka_unit_test(a_change_goes_on_from_the_same_probability),
	        cmocka_unit_test(waiting_for_the_packet_ahead_is_reported),
	        cmocka_unit_test(the_report_has_the_mean_and_spread_of_the_line_alone),
	        cmocka_unit_test(the_report_is_of_every_packet_of_a_burst),
	        cmocka_unit_test(clouds_of_one_delay_share_one_jitter),
	        cmocka_unit_test(tables_of_netem_and_lists_of_delays_are_told_apart),
	        cmocka_unit_test(a_bad_table_is_refused_with_its_line),
	        cmocka_unit_test(measured_delays_come_as_often_as_they_were_measured),
	        cmocka_unit_test(with_a_jitter_measured_delays_are_a_shape),
	        cmocka_unit_test(a_netem_table_is_in_units_of_the_jitter_and_interpolated),
	        cmocka_unit_test(long_lists_are_thinned),
	        cmocka_unit_test(bad_values_are_refused_with_what_would_be_right),
	        cmocka_unit_test(what_was_asked_for_is_what_is_drawn),
	        cmocka_unit_test(the_longest_delay_is_that_of_kept_order),
	};

	return cmocka_run_group_tests_name("jitter", tests, rig_group_setup, rig_group_teardown);
}
