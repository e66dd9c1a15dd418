/* SPDX-License-Identifier: BSD-3-Clause */
/* DualPI2: its probabilities compared with RFC 9332 in double precision, and its two queues. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aqm/pie.h"
#include "frame.h"
#include "runner/group.h"
#include "scenario/field.h"
#include "trial.h"

static const struct pi2_rule rfc = {
        .target_ns = 15 * SIMTIME_MS,
        .tupdate_ns = 16 * SIMTIME_MS,
        .alpha = 160000,
        .beta = 3200000,
        .coupling = 2 * FACTOR_ONE,
        .min_ns = 800 * SIMTIME_US,
        .range_ns = 400 * SIMTIME_US,
};

/* ---- the controller ---- */

/* Returns the next of a series of delays that wander between 0 and 60 ms. */
static simtime wander(uint64_t i, simtime delay)
{
	uint64_t draw = draw_u64((struct draw_key){{9, 9}}, i, 0);
	int64_t next = (int64_t)delay + (int64_t)(draw % 10000001) - 5000000;

	if (i / 300 % 4 == 3)
		return 0;
	return (simtime)(next < 0 ? 0 : next > 60000000 ? 60000000 : next);
}

/* Appendix A: p' += alpha (q - target) + beta (q - before), p_C = p'^2, p_CL = k p'. */
static void probabilities_are_the_rfcs_to_a_billionth(void **state)
{
	struct pi2 pi2 = {0};
	double p = 0, before = 0, most = 0;
	simtime delay = 0;
	uint32_t saturated = 0;

	(void)state;
	pi2_advance(&pi2, &rfc, SIMTIME_NEVER, 0);
	for (uint64_t i = 1; i <= 200000; i++) {
		simtime now = i * rfc.tupdate_ns;
		double q;

		delay = wander(i, delay);
		q = (double)delay * 1e-9;
		pi2_advance(&pi2, &rfc, SIMTIME_NEVER, now - 1);
		pi2_advance(&pi2, &rfc, delay ? now - delay : SIMTIME_NEVER, now);
		p = fmin(fmax(p + 0.16 * (q - 0.015) + 3.2 * (q - before), 0), 1);
		before = q;
		most = fmax(most, fabs((double)pi2.base / 0x1p63 - p));
		most = fmax(most, fabs((double)pi2.classic / 0x1p63 - p * p));
		most = fmax(most, fabs((double)pi2.scale / 0x1p63 - fmin(2 * p, 1)));
		saturated += 2 * p >= 1;
	}
	if (most > 1e-9)
		fail_msg("%.3g apart", most);
	assert_in_range(saturated, 100, 199000);
}

/* An hour without a packet, in one step and in several. */
static void what_was_not_asked_for_is_made_up_for(void **state)
{
	for (uint32_t i = 0; i < 5; i++) {
		struct pi2 a = {.begun = true,
		                .update = 16 * SIMTIME_MS,
		                .base = PROBABILITY_ONE / 3,
		                .delay_before_ns = i * 9 * SIMTIME_MS},
		           b = a;
		simtime now = (1 + i * i * i * 40) * 10 * SIMTIME_MS;

		(void)state;
		for (simtime t = 0; t <= now; t += SIMTIME_MS)
			pi2_advance(&a, &rfc, SIMTIME_NEVER, t);
		pi2_advance(&b, &rfc, SIMTIME_NEVER, now);
		assert_int_equal(a.base, b.base);
		assert_int_equal(a.update, b.update);
		pi2_advance(&b, &rfc, SIMTIME_NEVER, 3600 * SIMTIME_S);
		assert_int_equal(b.base, 0);
	}
}

/* recur() selects as many as the sum of the probabilities, evenly spread. */
static void selections_are_evenly_spread(void **state)
{
	static const double p[] = {0, 0.001, 0.1, 1.0 / 3, 0.5, 0.999, 1};

	(void)state;
	for (size_t i = 0; i < LENGTH(p); i++) {
		uint64_t sum = 0;
		double reference = 0;
		uint32_t n = 0, since = 0;

		for (uint32_t k = 1; k <= 100000; k++) {
			bool is = pi2_recur(&sum, (probability_q63)(p[i] * 0x1p63));

			reference += p[i];
			since++;
			n += is;
			if (is && n > 1)
				assert_true(fabs(since - 1 / p[i]) < 1 + 1e-9);
			if (is)
				since = 0;
		}
		assert_true(fabs(n - reference) <= 1 + 1e-6);
	}
}

static void the_ramp_goes_from_none_to_all(void **state)
{
	struct pi2_rule step = rfc;

	(void)state;
	assert_int_equal(pi2_ramp(&rfc, 0), 0);
	assert_int_equal(pi2_ramp(&rfc, 800 * SIMTIME_US), 0);
	assert_int_equal(pi2_ramp(&rfc, 900 * SIMTIME_US), PROBABILITY_ONE / 4);
	assert_int_equal(pi2_ramp(&rfc, 1000 * SIMTIME_US), PROBABILITY_ONE / 2);
	assert_int_equal(pi2_ramp(&rfc, 1200 * SIMTIME_US), PROBABILITY_ONE);
	assert_int_equal(pi2_ramp(&rfc, SIMTIME_NEVER), PROBABILITY_ONE);
	step.range_ns = 0;
	assert_int_equal(pi2_ramp(&step, 800 * SIMTIME_US), 0);
	assert_int_equal(pi2_ramp(&step, 800 * SIMTIME_US + 1), PROBABILITY_ONE);
}

/* ---- in a cloud ---- */

#define NOT_ECT 0
#define ECT_1   1
#define ECT_0   2
#define CE      3

struct in_flight {
	uint64_t packets, marked, longest_ns, sum_ns;
	uint32_t last;
};

/* One for each value of the ECN bits on arrival, which is the source port minus 2000. */
static struct in_flight in_flights[4];
static simtime *came;

static void look(void *argument, struct rte_mbuf *mbuf)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	struct in_flight *in_flight = &in_flights[(frame[34] << 8 | frame[35]) - 2000];
	uint64_t number = packet_of(mbuf)->number;
	simtime delay = packet_of(mbuf)->t_ns - came[number];

	(void)argument;
	in_flight->packets++;
	in_flight->marked += (frame[15] & 3) == CE;
	in_flight->longest_ns = simtime_max(in_flight->longest_ns, delay);
	in_flight->sum_ns += delay;
	/* each queue is a FIFO */
	assert_true(number > in_flight->last);
	in_flight->last = (uint32_t)number;
}

static struct trial *open_dual(const char *rate, const char *dualpi2, uint16_t burst)
{
	struct trial *trial = trial_open(rate, 3);

	trial_set(trial, dualpi2);
	trial->burst = burst;
	trial->look = look;
	memset(in_flights, 0, sizeof(in_flights));
	came = realloc(came, 400001 * sizeof(*came));
	assert_non_null(came);
	return trial;
}

static void send(struct trial *trial, uint8_t bits, uint32_t bytes, simtime now)
{
	struct frame_shape shape = {.ip = 4,
	                            .protocol = FRAME_UDP,
	                            .source_port = (uint16_t)(2000 + bits),
	                            .payload_bytes = bytes - 42};
	uint8_t frame[FRAME_BYTES_MAX];

	frame_make(frame, &shape);
	frame[15] = bits;
	trial->now = now;
	came[trial->sent + 1] = now;
	trial_send_frame(trial, frame, bytes);
}

static double figure(struct trial *trial, const char *name)
{
	const struct aqm_report *aqm = &rig_report(trial->rig, "x")->aqm;

	for (uint32_t i = 0; i < aqm->n_figures; i++) {
		if (strcmp(aqm->figures[i].name, name) == 0)
			return aqm->figures[i].value;
	}
	fail_msg("no figure %s", name);
	return 0;
}

/* Classic senders fill their queue. L4S packets, within their share, go ahead of it: each waits for
 * the packet that is being sent, and one more of Classic's share. */
static void l4s_packets_do_not_wait_behind_classic_ones(void **state)
{
	struct trial *trial = open_dual("rate 8mbit queue 100000pkt", "dualpi2", 32);

	(void)state;
	for (uint32_t i = 0; i < 5000; i++) {
		send(trial, NOT_ECT, 1000, i * 1050 * SIMTIME_US);
		if (i % 10 == 9)
			send(trial, ECT_1, 1000, i * 1050 * SIMTIME_US + 333333);
	}
	trial_run_out(trial);
	assert_int_equal(in_flights[ECT_1].packets, 500);
	assert_in_range(in_flights[ECT_1].longest_ns, 1000 * SIMTIME_US, 3000 * SIMTIME_US);
	assert_true(in_flights[NOT_ECT].longest_ns > 15 * SIMTIME_MS);
	assert_true(trial_counters(trial)->drops[REASON_DUALPI2] > 0);
	trial_close(trial);
}

/* Both queues are overloaded; marks and drops are off. Classic gets its share of the bytes, exact
 * to the last packet of each queue, also if the share is a small one. */
static void classic_gets_its_share_beside_l4s(void **state)
{
	static const struct {
		const char *dualpi2;
		double share;
		uint32_t l4s, classic; /* packets; one of each comes until all have come */
		simtime apart;
	} rows[] = {
	        {"dualpi2 alpha 0 beta 0", 1.0 / 16, 4000, 4000, 800 * SIMTIME_US},
	        {"dualpi2 alpha 0 beta 0 classic-share 25%", 0.25, 4000, 4000, 800 * SIMTIME_US},
	        {"dualpi2 alpha 0 beta 0 classic-share 0.1007%", 0.001007, 250000, 600,
	         999 * SIMTIME_US}};
	/* A sanitizer learns nothing from a quarter of a million packets. */
	const size_t n = getenv("WEIR_SANITIZED") ? 2 : LENGTH(rows);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		struct trial *trial = open_dual("rate 8mbit queue 100000pkt", rows[i].dualpi2, 32);
		uint64_t l4s, classic;

		for (uint32_t k = 0; k < rows[i].l4s; k++) {
			send(trial, ECT_1, 1000, k * rows[i].apart);
			if (k < rows[i].classic)
				send(trial, ECT_0, 500, k * rows[i].apart);
		}
		l4s = in_flights[ECT_1].packets * 1000;
		classic = in_flights[ECT_0].packets * 500;
		assert_true(fabs((double)classic - rows[i].share * (double)(l4s + classic)) <=
		            1500);
		trial_run_out(trial);
		trial_close(trial);
	}
}

/* Both classes of packets exceed the rate by 10 %, and Classic is not capable. The share of Classic
 * that is dropped is p'^2, the share of L4S that is marked is 2 p' (its queue is short because it
 * goes first, so it has no marks of its own). In the steady state, 0.1/1.1 x (1/0.8) of Classic has
 * to go, since only Classic gives way: p' = 0.337, and L4S marks 67 %. */
static void marks_and_drops_are_coupled(void **state)
{
	struct trial *trial = open_dual("rate 8mbit queue 100000pkt", "dualpi2", 32);
	uint64_t drops = 0, sent;
	struct in_flight before = {0};
	double p_c, p_l;

	(void)state;
	for (uint32_t i = 0; i < 80000; i++) {
		if (i == 20000) {
			before = in_flights[ECT_1];
			drops = trial_counters(trial)->drops[REASON_DUALPI2];
		}
		send(trial, i % 5 == 0 ? ECT_1 : NOT_ECT, 1000, i * 909 * SIMTIME_US);
	}
	sent = 60000 * 4 / 5;
	p_c = (double)(trial_counters(trial)->drops[REASON_DUALPI2] - drops) / (double)sent;
	p_l = (double)(in_flights[ECT_1].marked - before.marked) /
	      (double)(in_flights[ECT_1].packets - before.packets);
	if (fabs(p_c - 0.1137) > 0.006 || fabs(p_l - 2 * sqrt(p_c)) > 0.03)
		fail_msg("p_C %.4f, p_L %.4f", p_c, p_l);
	trial_run_out(trial);
	assert_int_equal(figure(trial, "drops"), trial_counters(trial)->drops[REASON_DUALPI2]);
	assert_int_equal(figure(trial, "marks l4s"), in_flights[ECT_1].marked);
	trial_close(trial);
}

/* If L4S is alone, its ramp marks it: none below the ramp, all above. A packet alone is never
 * marked. */
static void l4s_is_marked_by_its_own_delay(void **state)
{
	static const struct {
		const char *dualpi2;
		uint32_t n; /* arrive at one instant, each takes 500 us */
		uint32_t marked;
	} rows[] = {
	        /* their delays: 0, 0.5, 1.0, 1.5 ... ms; at 1.0 the sum is 0.5, at 1.5 it is 1.5 */
	        {"dualpi2", 2, 0},
	        {"dualpi2", 5, 1},
	        {"dualpi2", 12, 8},
	        {"dualpi2 range 0s", 12, 8},
	        {"dualpi2 min 100ms", 12, 0},
	        {"dualpi2 min-packets 20", 12, 0},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = open_dual("rate 16mbit queue 100000pkt", rows[i].dualpi2, 32);

		for (uint32_t k = 0; k < rows[i].n; k++)
			send(trial, ECT_1, 1000, 0);
		trial_run_out(trial);
		if (in_flights[ECT_1].marked != rows[i].marked)
			fail_msg("%s, %u: %lu are marked", rows[i].dualpi2, rows[i].n,
			         in_flights[ECT_1].marked);
		trial_close(trial);
	}
}

/* One kind exceeds the rate by 60 %, and does not give way. */
static void overload_drops_what_marks_do_not_stop(void **state)
{
	static const uint8_t kinds[] = {NOT_ECT, ECT_0, ECT_1};

	(void)state;
	for (size_t i = 0; i < LENGTH(kinds); i++) {
		struct trial *trial = open_dual("rate 8mbit queue 100000pkt", "dualpi2", 32);
		uint64_t drops;

		/* the probability follows from the delay of Classic, so one packet in three is
		 * Classic */
		for (uint32_t k = 0; k < 30000; k++)
			send(trial, k % 3 == 0 ? NOT_ECT : kinds[i], 1000, k * 625 * SIMTIME_US);
		drops = trial_counters(trial)->drops[REASON_DUALPI2];
		assert_true(drops > 3000);
		assert_int_equal(in_flights[kinds[i]].marked > 0, kinds[i] != NOT_ECT);
		trial_run_out(trial);
		trial_close(trial);
	}
}

/* CE waits with L4S, frames that are not IP wait with Classic. */
static void who_waits_where(void **state)
{
	struct trial *trial = open_dual("rate 8kbit queue 100000pkt", "dualpi2 alpha 0 beta 0", 32);
	static const uint8_t no_ip[64] = {0};

	(void)state;
	trial->look = NULL;
	trial_send_frame(trial, no_ip, 64); /* this one is being sent */
	trial_send_frame(trial, no_ip, 64);
	send(trial, ECT_0, 100, 10 * SIMTIME_US);
	send(trial, NOT_ECT, 100, 10 * SIMTIME_US);
	send(trial, CE, 100, 10 * SIMTIME_US);
	send(trial, ECT_1, 100, 10 * SIMTIME_US);
	trial->now = 64 * SIMTIME_MS + 200 * SIMTIME_MS - 1;
	/* both L4S packets leave before any Classic packet */
	trial_send_frame(trial, no_ip, 64);
	assert_int_equal(rig_report(trial->rig, "x")->queue_packets, 4);
	assert_int_equal(rig_report(trial->rig, "x")->queue_bytes, 64 + 100 + 100 + 64);
	trial_run_out(trial);
	trial_close(trial);
}

static void a_change_goes_on_and_bursts_do_not_matter(void **state)
{
	static const uint16_t bursts[] = {1, 7, 32, 32};
	struct trial *trials[LENGTH(bursts)];
	static const struct frame_shape shape = {
	        .ip = 4, .protocol = FRAME_UDP, .payload_bytes = 958};
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = frame_make(frame, &shape);

	(void)state;
	for (size_t i = 0; i < LENGTH(bursts); i++) {
		trials[i] = open_dual("rate 8mbit queue 100000pkt", "dualpi2", bursts[i]);
		trials[i]->look = NULL;
		trials[i]->gap_ns = 700 * SIMTIME_US;
		for (uint32_t k = 0; k < 400; k++) {
			frame[15] = (uint8_t)(k * 7 % 3);
			trial_send_frames(trials[i], 1 + k % 23, frame, bytes);
			if (i == 3 && k % 10 == 0)
				trial_set(trials[i],
				          k & 4 ? "dualpi2" : "dualpi2 classic-share 6.25%");
		}
		trial_run_out(trials[i]);
		assert_memory_equal(trials[i]->fate, trials[0]->fate, trials[0]->sent + 1);
		assert_int_equal(trial_counters(trials[i])->ecn_marked,
		                 trial_counters(trials[0])->ecn_marked);
	}
	assert_true(trial_count(trials[0], TRIAL_LOST) > 100);
	for (size_t i = 0; i < LENGTH(bursts); i++)
		trial_close(trials[i]);
}

static void errors_say_what_would_be_right(void **state)
{
	struct cloud_conf cloud = {.name = "x"};
	struct conf *ecn = trial_conf("ecn off"), *dual = trial_conf("dualpi2");
	struct problem problem = {.text = ""};

	(void)state;
	cloud.confs[0] = ecn;
	cloud.n_confs = 1;
	assert_int_equal(dual->statement->check(dual, &cloud, &problem), -EINVAL);
	assert_non_null(strstr(problem.text, "say `ecn on`, or leave `ecn` out"));
	assert_non_null(strstr(trial_problem("dualpi2"), "give cloud `x` a `rate`"));
	conf_free(ecn);
	conf_free(dual);
}

GROUP(dualpi2)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(probabilities_are_the_rfcs_to_a_billionth),
	        cmocka_unit_test(what_was_not_asked_for_is_made_up_for),
	        cmocka_unit_test(selections_are_evenly_spread),
	        cmocka_unit_test(the_ramp_goes_from_none_to_all),
	        cmocka_unit_test(l4s_packets_do_not_wait_behind_classic_ones),
	        cmocka_unit_test(classic_gets_its_share_beside_l4s),
	        cmocka_unit_test(marks_and_drops_are_coupled),
	        cmocka_unit_test(l4s_is_marked_by_its_own_delay),
	        cmocka_unit_test(overload_drops_what_marks_do_not_stop),
	        cmocka_unit_test(who_waits_where),
	        cmocka_unit_test(a_change_goes_on_and_bursts_do_not_matter),
	        cmocka_unit_test(errors_say_what_would_be_right),
	};
	int failed = cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);

	free(came);
	return failed;
}
