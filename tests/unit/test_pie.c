/* SPDX-License-Identifier: BSD-3-Clause */
/* PIE: its probability and its decisions compared with RFC 8033 in double precision. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aqm/pie.h"
#include "frame.h"
#include "trial.h"
#include "runner/group.h"

static const struct pie_rule rfc = {
        .target_ns = 15 * SIMTIME_MS,
        .tupdate_ns = 15 * SIMTIME_MS,
        .max_burst_ns = 150 * SIMTIME_MS,
        .alpha = 125000,
        .beta = 1250000,
        .mean_bytes = 1024,
        .cap = true,
};

/* ---- the RFC's pseudocode, in seconds ---- */

struct reference {
	double p, delay, before, burst, gathered;
};

static double tuned(double step, double p)
{
	if (p < 0.000001)
		return step / 2048;
	if (p < 0.00001)
		return step / 512;
	if (p < 0.0001)
		return step / 128;
	if (p < 0.001)
		return step / 32;
	if (p < 0.01)
		return step / 8;
	return p < 0.1 ? step / 2 : step;
}

static void reference_update(struct reference *r, bool cap, bool decay_half)
{
	double step = tuned(0.125 * (r->delay - 0.015) + 1.25 * (r->delay - r->before), r->p);

	if (cap && r->p >= 0.1 && step > 0.02)
		step = 0.02;
	r->p += step;
	if (decay_half ? r->delay < 0.0075 && r->before < 0.0075 : r->delay == 0 && r->before == 0)
		r->p *= 0.98;
	r->p = fmin(fmax(r->p, 0), 1);
	r->before = r->delay;
	r->burst = fmax(r->burst - 0.015, 0);
	if (r->burst < 1e-9)
		r->burst = 0;
}

static bool reference_drop_early(struct reference *r, uint64_t waiting, bool derandomize, double u)
{
	if ((r->before < 0.0075 && r->p < 0.2) || waiting <= 2 * 1024)
		return false;
	if (!derandomize)
		return u < r->p;
	if (r->p == 0)
		r->gathered = 0;
	r->gathered += r->p;
	if (r->gathered < 0.85)
		return false;
	if (r->gathered >= 8.5 || u < r->p) {
		r->gathered = 0;
		return true;
	}
	return false;
}

static bool reference_select(struct reference *r, uint64_t waiting, bool derandomize, double u)
{
	if (r->burst == 0 && reference_drop_early(r, waiting, derandomize, u))
		return true;
	if (r->p == 0 && r->delay < 0.0075 && r->before < 0.0075)
		r->burst = 0.15;
	return false;
}

/* Returns the next of a series of delays that wander between 0 and 60 ms, and are 0 for a while now
 * and then. */
static double wander(uint64_t i, double delay)
{
	uint64_t draw = draw_u64((struct draw_key){{9, 9}}, i, 0);

	if (i / 400 % 5 == 4)
		return 0;
	delay += ((double)(draw % 10001) - 4990) * 1e-6;
	return fmin(fmax(delay, 0), 0.06);
}

static void compare_updates(bool decay_half)
{
	struct reference r = {.burst = 0.15};
	struct pie_rule rule = rfc;
	struct pie pie = {0};
	double delay = 0, most = 0, highest = 0;
	uint32_t tunings = 0;

	rule.decay_half = decay_half;
	pie_advance(&pie, &rule, 0);
	for (uint64_t i = 1; i <= 200000; i++) {
		double p;

		delay = wander(i, delay);
		pie.delay_ns = (simtime)llround(delay * 1e9);
		r.delay = (double)pie.delay_ns * 1e-9;
		/* right before the update, nothing has changed */
		pie_advance(&pie, &rule, i * rule.tupdate_ns - 1);
		p = (double)pie.probability / 0x1p63;
		most = fmax(most, fabs(p - r.p));
		tunings |= 1u << (int)fmin(6, floor(fmax(0, -log10(p + 1e-12))));
		reference_update(&r, true, decay_half);
		pie_advance(&pie, &rule, i * rule.tupdate_ns);
		highest = fmax(highest, r.p);
		most = fmax(most, fabs((double)pie.probability / 0x1p63 - r.p));
		assert_int_equal(pie.burst_ns == 0, r.burst == 0);
		if (i % 50 == 0)
			assert_int_equal(pie_select(&pie, &rule, 0, 0),
			                 reference_select(&r, 0, false, 1));
	}
	/* all rows of the table were used, and the cap */
	assert_int_equal(tunings, 0x7f);
	assert_true(highest > 0.2);
	if (most > 1e-9)
		fail_msg("%.3g apart", most);
}

/* The decay of section 4.2 and appendix A, and the decay of appendix B. */
static void probability_and_burst_are_the_rfcs_to_a_billionth(void **state)
{
	(void)state;
	compare_updates(false);
	compare_updates(true);
}

/* "A time constant around 50 T_UPDATE" (section 4.2): with alpha and beta 0, 50 updates without a
 * queue leave 0.98^50 = 0.364 of the probability. With a delay of 7 ms, which is less than half the
 * target, appendix A leaves it unchanged. */
static void the_probability_decays_when_nothing_waits(void **state)
{
	static const struct {
		simtime delay_ns;
		bool decay_half;
		double left;
	} rows[] = {{0, false, 0.36417},
	            {0, true, 0.36417},
	            {7 * SIMTIME_MS, false, 1},
	            {7 * SIMTIME_MS, true, 0.36417},
	            {8 * SIMTIME_MS, true, 1}};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct pie_rule rule = {.target_ns = 15 * SIMTIME_MS,
		                        .tupdate_ns = 15 * SIMTIME_MS,
		                        .decay_half = rows[i].decay_half};
		struct pie pie = {.begun = true,
		                  .update = 1,
		                  .probability = PROBABILITY_ONE / 2,
		                  .delay_ns = rows[i].delay_ns,
		                  .delay_before_ns = rows[i].delay_ns};

		pie_advance(&pie, &rule, 1 + 49 * rule.tupdate_ns);
		assert_true(fabs((double)pie.probability / 0x1p62 - rows[i].left) < 1e-5);
	}
}

/* The table of section 4.2: the step from p is 0.125 x 0.010 / divisor, for a constant delay of 10
 * ms above target. */
static void steps_are_tuned_by_the_table(void **state)
{
	static const struct {
		double p, divisor;
	} rows[] = {
	        {0, 2048},       {0.0000009, 2048}, {0.0000011, 512}, {0.0000099, 512},
	        {0.000011, 128}, {0.000099, 128},   {0.00011, 32},    {0.00099, 32},
	        {0.0011, 8},     {0.0099, 8},       {0.011, 2},       {0.099, 2},
	        {0.11, 1},       {0.9, 1},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct pie pie = {.begun = true,
		                  .update = 5,
		                  .probability = (uint64_t)(rows[i].p * 0x1p63),
		                  .delay_ns = 25 * SIMTIME_MS,
		                  .delay_before_ns = 25 * SIMTIME_MS};

		pie_advance(&pie, &rfc, 5);
		assert_true(fabs((double)pie.probability / 0x1p63 - rows[i].p -
		                 0.00125 / rows[i].divisor) < 1e-15);
	}
}

static void decisions_are_the_rfcs_with_the_same_draws(void **state)
{
	static const struct draw_key key = {{1, 7}};

	(void)state;
	for (int derandomize = 0; derandomize < 2; derandomize++) {
		struct pie_rule rule = rfc;
		struct reference r = {.burst = 0.15};
		struct pie pie = {0};
		uint32_t selected = 0;
		double delay = 0;

		rule.derandomize = derandomize;
		pie_advance(&pie, &rule, 0);
		for (uint64_t i = 1; i <= 400000; i++) {
			uint64_t draw = draw_u64(key, i, 0);
			uint64_t waiting = draw_u64(key, i, 1) % 20000;
			bool is;

			if (i % 10 == 0) {
				delay = wander(i / 10, delay);
				pie.delay_ns = (simtime)llround(delay * 1e9);
				r.delay = (double)pie.delay_ns * 1e-9;
				reference_update(&r, true, false);
			}
			pie_advance(&pie, &rule, i / 10 * rule.tupdate_ns);
			is = pie_select(&pie, &rule, waiting, draw);
			selected += is;
			if (is != reference_select(&r, waiting, derandomize,
			                           (double)(draw >> 1) / 0x1p63))
				fail_msg("packet %lu", i);
		}
		assert_in_range(selected, 10000, 200000);
	}
}

/* MAX_BURST is 10 updates: during these, nothing is dropped, even if the queue is full. */
static void a_burst_is_allowed_for_ten_updates(void **state)
{
	struct pie pie = {0};

	(void)state;
	pie_advance(&pie, &rfc, 0);
	pie.delay_ns = 100 * SIMTIME_MS;
	for (uint32_t i = 1; i <= 20; i++) {
		pie_advance(&pie, &rfc, i * rfc.tupdate_ns);
		assert_int_equal(pie_select(&pie, &rfc, 100000, 0), i >= 10);
	}
	/* after a quiet time, the next burst has its allowance again, but not before */
	pie.delay_ns = 0;
	while (pie.probability > 0)
		pie_advance(&pie, &rfc, pie.update);
	assert_int_equal(pie.burst_ns, 0);
	assert_false(pie_select(&pie, &rfc, 100000, 0));
	assert_int_equal(pie.burst_ns, rfc.max_burst_ns);
}

/* A day that passes in one step is compared with one that passes update by update. */
static void what_was_not_asked_for_is_made_up_for(void **state)
{
	static const simtime delays[] = {0, 5 * SIMTIME_MS, 14 * SIMTIME_MS, 16 * SIMTIME_MS,
	                                 SIMTIME_S};

	(void)state;
	for (size_t i = 0; i < LENGTH(delays); i++) {
		struct pie a = {.probability = PROBABILITY_ONE / 3}, b = a;

		pie_advance(&a, &rfc, 7);
		pie_advance(&b, &rfc, 7);
		a.delay_ns = b.delay_ns = delays[i];
		for (simtime now = 7; now < 86400 * SIMTIME_S; now = now * 2 + 3 * SIMTIME_MS) {
			for (uint32_t k = 0; k < 100000 && a.update <= now; k++)
				pie_advance(&a, &rfc, a.update);
			pie_advance(&a, &rfc, now);
			pie_advance(&b, &rfc, now);
			assert_int_equal(a.probability, b.probability);
			assert_int_equal(a.update, b.update);
			assert_int_equal(a.burst_ns, b.burst_ns);
			assert_true(b.update > now && b.update <= now + rfc.tupdate_ns);
		}
	}
}

static void values_that_are_extreme_stay_within_0_and_1(void **state)
{
	(void)state;
	assert_int_equal(
	        pie_step(PIE_GAIN_MAX * 1000000, PIE_GAIN_MAX * 1000000, INT64_MAX, INT64_MAX, 0),
	        INT64_MAX);
	assert_int_equal(pie_step(PIE_GAIN_MAX * 1000000, 0, -INT64_MAX, 0, 11), -INT64_MAX);
	/* a Hz times a second, less a ns, divided by 2048 */
	assert_true(fabs((double)pie_step(1000000, 0, 999999999, 0, 11) - 0x1p52) < 0x1p24);
	assert_int_equal(pie_step(1000000, 2000000, -500000000, 250000000, 0), 0);
}

/* ---- in a cloud ---- */

static uint64_t n_marked;
static void look(void *argument, struct rte_mbuf *mbuf)
{
	const uint8_t *ip = rte_pktmbuf_mtod_offset(mbuf, uint8_t *, 14);

	(void)argument;
	n_marked += (ip[1] & 3) == 3;
}

static struct trial *open_pie(const char *statement, const char *ecn, uint16_t burst)
{
	struct trial *trial = trial_open("rate 8mbit queue 100000pkt", 1);

	trial_set(trial, ecn);
	trial_set(trial, statement);
	trial->burst = burst;
	trial->look = look;
	n_marked = 0;
	return trial;
}

static void send_frames(struct trial *trial, uint64_t n, uint8_t bits)
{
	static const struct frame_shape shape = {
	        .ip = 4, .protocol = FRAME_UDP, .payload_bytes = 958};
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = frame_make(frame, &shape);

	frame[15] = bits;
	trial_send_frames(trial, n, frame, bytes);
}

/* 25 % more than the rate, from a source that does not give way, for 80 s. In the steady state, the
 * fifth that exceeds the rate is dropped, and the queue is at its target. With 80,000 draws at p =
 * 0.2, the share is within 4 standard deviations, 0.0057; before the steady state, the queue grew
 * by 0.25 x some seconds. */
static void an_overload_is_dropped_and_the_delay_is_the_target(void **state)
{
	struct trial *trial = open_pie("pie", "ecn off", BURST_MAX);
	struct cloud_report *report;
	uint64_t before;
	double share, delay = 0;

	(void)state;
	trial->gap_ns = 800 * SIMTIME_US;
	send_frames(trial, 20000, 0);
	before = trial_counters(trial)->drops[REASON_PIE];
	for (uint32_t i = 0; i < 800; i++) {
		send_frames(trial, 100, 0);
		report = rig_report(trial->rig, "x");
		delay += (double)report->queue_bytes * 1e-6 / 800;
	}
	share = (double)(trial_counters(trial)->drops[REASON_PIE] - before) / 80000;
	if (fabs(share - 0.2) > 0.0057 || fabs(delay - 0.015) > 0.0015)
		fail_msg("share %.4f, delay %.4f", share, delay);
	assert_int_equal(report->aqm.figures[3].value, trial_counters(trial)->drops[REASON_PIE]);
	trial_run_out(trial);
	trial_close(trial);
}

static void packets_are_marked_below_the_threshold_and_dropped_from_it_on(void **state)
{
	static const struct {
		const char *pie, *ecn;
		uint8_t bits;
		bool marked, dropped;
		uint32_t n;
	} rows[] = {
	        {"pie", "ecn off", 2, false, true, 10000},
	        {"pie", "ecn on", 0, false, true, 10000},
	        /* marks do not slow this source down, so the probability reaches 10 % */
	        {"pie", "ecn on", 2, true, true, 10000},
	        {"pie mark-ecn-threshold 100%", "ecn on", 2, true, false, 2000},
	        {"pie mark-ecn-threshold 0%", "ecn on", 2, false, true, 10000},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = open_pie(rows[i].pie, rows[i].ecn, BURST_MAX);

		trial->gap_ns = 970 * SIMTIME_US;
		send_frames(trial, rows[i].n, rows[i].bits);
		assert_int_equal(trial_counters(trial)->ecn_marked > 0, rows[i].marked);
		assert_int_equal(trial_counters(trial)->drops[REASON_PIE] > 0, rows[i].dropped);
		trial_run_out(trial);
		assert_int_equal(trial_counters(trial)->ecn_marked, n_marked);
		trial_close(trial);
	}
}

static void bursts_and_changes_of_nothing_do_not_matter(void **state)
{
	static const uint16_t bursts[] = {1, 7, 32, 32};
	struct trial *trials[LENGTH(bursts)];

	(void)state;
	for (size_t i = 0; i < LENGTH(bursts); i++) {
		trials[i] = open_pie("pie", "ecn off", bursts[i]);
		trials[i]->gap_ns = 700 * SIMTIME_US;
		for (uint32_t k = 0; k < 50; k++) {
			send_frames(trials[i], 100, 0);
			if (i == 3)
				trial_set(trials[i], k & 1 ? "pie" : "pie mark-ecn-threshold 5%");
		}
		trial_run_out(trials[i]);
		assert_memory_equal(trials[i]->fate, trials[0]->fate, 5001);
	}
	assert_true(trial_count(trials[0], TRIAL_LOST) > 100);
	for (size_t i = 0; i < LENGTH(bursts); i++)
		trial_close(trials[i]);
}

GROUP(pie)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(probability_and_burst_are_the_rfcs_to_a_billionth),
	        cmocka_unit_test(the_probability_decays_when_nothing_waits),
	        cmocka_unit_test(steps_are_tuned_by_the_table),
	        cmocka_unit_test(decisions_are_the_rfcs_with_the_same_draws),
	        cmocka_unit_test(a_burst_is_allowed_for_ten_updates),
	        cmocka_unit_test(what_was_not_asked_for_is_made_up_for),
	        cmocka_unit_test(values_that_are_extreme_stay_within_0_and_1),
	        cmocka_unit_test(an_overload_is_dropped_and_the_delay_is_the_target),
	        cmocka_unit_test(packets_are_marked_below_the_threshold_and_dropped_from_it_on),
	        cmocka_unit_test(bursts_and_changes_of_nothing_do_not_matter),
	};

	return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
