/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP senders compared with sequences written by hand. */
#include "sender.h"
#include "runner/group.h"

#define MS(n) ((n)*SIMTIME_MS)

static void slow_start_doubles_the_window_each_round_trip(void **state)
{
	struct sender s;

	(void)state;
	sender_open(&s, &recovery_newreno, &response_none);
	sender_connect(&s);
	assert_string_equal(sender_sent(&s), "1 2");
	sender_ack(&s, MS(200), 1);
	assert_string_equal(sender_sent(&s), "3 4");
	sender_ack(&s, MS(200), 2);
	assert_string_equal(sender_sent(&s), "5 6");
	sender_ack_each(&s, MS(300), 6);
	assert_string_equal(sender_sent(&s), "7 8 9 10 11 12 13 14");
	assert_true(s.tcp.cwnd == 8);
}

static void above_ssthresh_a_window_of_packets_adds_one(void **state)
{
	struct sender s;

	(void)state;
	sender_open(&s, &recovery_newreno, &response_none);
	s.tcp.ssthresh = 4;
	sender_connect(&s);
	sender_ack_each(&s, MS(200), 2);
	assert_true(s.tcp.cwnd == 4);
	sender_ack_each(&s, MS(300), 6);
	assert_true(s.tcp.cwnd > 4.9 && s.tcp.cwnd < 5);
}

static void a_syn_can_be_marked_only_where_it_is_said(void **state)
{
	struct sender s;

	(void)state;
	for (int capable = 0; capable < 2; capable++) {
		sender_open(&s, &recovery_newreno, &response_ecn);
		s.conf.syn_capable = capable;
		tcp_start(&s.tcp, 0, TCP_UNLIMITED);
		assert_int_equal(s.n, 1);
		assert_int_equal(s.sent[0].ecn, capable ? FRAME_ECN_ECT0 : FRAME_ECN_NOT);
	}
	sender_open(&s, &recovery_newreno, &response_none);
	s.conf.syn_capable = true;
	tcp_start(&s.tcp, 0, TCP_UNLIMITED);
	assert_int_equal(s.sent[0].ecn, FRAME_ECN_NOT);
}

static void the_window_never_exceeds_its_maximum(void **state)
{
	struct sender s;

	(void)state;
	sender_open(&s, &recovery_newreno, &response_none);
	s.conf.window = 10;
	sender_connect(&s);
	sender_ack_each(&s, MS(200), 50);
	assert_int_equal(tcp_window(&s.tcp), 10);
	assert_int_equal(s.tcp.next - s.tcp.acked - 1, 10);
}

static void segments_are_real_ones(void **state)
{
	struct sender s;

	(void)state;
	sender_open(&s, &recovery_newreno, &response_ecn);
	sender_connect(&s);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.sent[0].data_bytes, 960);
	assert_int_equal(s.sent[0].seq, s.tcp.sequence + 1);
	assert_int_equal(s.sent[1].seq, s.tcp.sequence + 961);
	assert_int_equal(s.sent[0].ack, 7001);
	assert_int_equal(s.sent[0].flags, FRAME_TCP_ACK);
	assert_int_equal(s.sent[0].ecn, FRAME_ECN_ECT0);
}

static void a_syn_negotiates_and_is_not_capable_itself(void **state)
{
	struct sender s;

	(void)state;
	sender_open(&s, &recovery_newreno, &response_ecn);
	tcp_start(&s.tcp, 0, 5);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.sent[0].flags, FRAME_TCP_SYN | FRAME_TCP_ECE | FRAME_TCP_CWR);
	assert_int_equal(s.sent[0].ecn, FRAME_ECN_NOT);
	assert_int_equal(s.sent[0].data_bytes, 0);
	/* The window of 100 packets of 960 bytes does not fit into 16 bits. */
	assert_int_equal(s.sent[0].window_scale, 1);
}

static void a_transfer_ends_when_its_last_packet_is_acknowledged(void **state)
{
	struct sender s;

	(void)state;
	sender_open(&s, &recovery_newreno, &response_none);
	tcp_start(&s.tcp, 0, 3);
	sender_ack(&s, MS(100), 0);
	sender_ack_each(&s, MS(200), 2);
	assert_string_equal(sender_sent(&s), "0 1 2 3");
	assert_false(tcp_is_done(&s.tcp));
	sender_ack(&s, MS(300), 3);
	assert_true(tcp_is_done(&s.tcp));
	assert_true(s.tcp.expires_ns == SIMTIME_NEVER);
}

/* Sends eight packets, 7 to 14; 7 is lost. */
static void lose_7(struct sender *s, const struct recovery *recovery)
{
	sender_open(s, recovery, &response_none);
	sender_connect(s);
	sender_ack_each(s, MS(200), 2);
	sender_ack_each(s, MS(300), 6);
	sender_sent(s);
	assert_true(s->tcp.cwnd == 8);
	sender_ack(s, MS(400), 6);
	sender_ack(s, MS(400), 6);
	assert_string_equal(sender_sent(s), "");
	sender_ack(s, MS(400), 6);
}

static void the_third_duplicate_sends_the_packet_again_and_halves(void **state)
{
	const struct recovery *recoveries[] = {&recovery_reno, &recovery_newreno};
	struct sender s;

	(void)state;
	for (int i = 0; i < 2; i++) {
		lose_7(&s, recoveries[i]);
		assert_string_equal(sender_sent(&s), "7");
		assert_true(s.tcp.cwnd == 4);
		assert_int_equal(s.tcp.ssthresh, 4);
		assert_int_equal(s.tcp.dupwnd, 3);
		assert_int_equal(s.tcp.recover, 14);
		/* window 4 + 5: up to packet 15 */
		sender_ack(&s, MS(410), 6);
		assert_string_equal(sender_sent(&s), "");
		sender_ack(&s, MS(410), 6);
		assert_string_equal(sender_sent(&s), "15");
		sender_ack(&s, MS(410), 6);
		assert_string_equal(sender_sent(&s), "16");
		/* everything is acknowledged: recovery is over */
		sender_ack(&s, MS(500), 16);
		assert_int_equal(s.tcp.dupwnd, 0);
		assert_string_equal(sender_sent(&s), "17 18 19 20");
		assert_int_equal(s.tcp.counters.fast_retransmits, 1);
		assert_int_equal(s.tcp.counters.resent, 1);
	}
}

static void tahoe_starts_slowly_from_the_lost_packet(void **state)
{
	struct sender s;

	(void)state;
	lose_7(&s, &recovery_tahoe);
	assert_string_equal(sender_sent(&s), "7");
	assert_true(s.tcp.cwnd == 1);
	assert_int_equal(s.tcp.ssthresh, 4);
	sender_ack(&s, MS(410), 6);
	assert_string_equal(sender_sent(&s), "");
	sender_ack(&s, MS(500), 14);
	assert_string_equal(sender_sent(&s), "15 16");
}

static void reno_leaves_recovery_at_the_first_new_data(void **state)
{
	struct sender s;

	(void)state;
	lose_7(&s, &recovery_reno);
	sender_sent(&s);
	sender_ack(&s, MS(500), 9); /* 10 is lost, too */
	assert_int_equal(s.tcp.dupwnd, 0);
	assert_string_equal(sender_sent(&s), "");
	/* Losses in the same window: no second cut. */
	sender_ack(&s, MS(510), 9);
	sender_ack(&s, MS(510), 9);
	sender_ack(&s, MS(510), 9);
	assert_int_equal(s.tcp.counters.fast_retransmits, 1);
	assert_true(s.tcp.cwnd > 4);
}

static void a_partial_acknowledgement_sends_the_next_hole_in_newreno(void **state)
{
	struct sender s;

	(void)state;
	lose_7(&s, &recovery_newreno);
	sender_sent(&s);
	sender_ack(&s, MS(500), 9);
	assert_string_equal(sender_sent(&s), "10");
	assert_int_equal(s.tcp.dupwnd, 0);
	assert_true(s.tcp.cwnd == 4);
	assert_true(s.tcp.expires_ns == MS(500) + SIMTIME_S);
	sender_ack(&s, MS(600), 14);
	assert_string_equal(sender_sent(&s), "15 16 17 18");
	assert_int_equal(s.tcp.counters.fast_retransmits, 1);
}

static void a_timeout_goes_back_to_the_first_packet(void **state)
{
	struct sender s;
	simtime first;

	(void)state;
	sender_open(&s, &recovery_newreno, &response_none);
	sender_connect(&s);
	sender_ack_each(&s, MS(200), 2);
	sender_ack_each(&s, MS(300), 6);
	sender_sent(&s);
	/* a round trip of one tick: srtt 8, variance 2, then 1: less than the minimum of 1 s */
	first = s.tcp.expires_ns;
	assert_true(first == MS(300) + SIMTIME_S);
	tcp_expire(&s.tcp, first);
	assert_string_equal(sender_sent(&s), "7");
	assert_true(s.tcp.cwnd == 1);
	assert_int_equal(s.tcp.ssthresh, 4);
	assert_int_equal(s.tcp.recover, 14);
	assert_int_equal(s.tcp.counters.timeouts, 1);
	sender_ack(&s, first + MS(100), 7);
	assert_string_equal(sender_sent(&s), "8 9");
}

static void the_timeout_doubles_until_64_times(void **state)
{
	static const simtime waits[] = {6, 12, 24, 48, 96, 192, 384, 384}; /* no sample: 6 s */
	struct sender s;
	simtime now = 0;

	(void)state;
	sender_open(&s, &recovery_newreno, &response_none);
	tcp_start(&s.tcp, 0, TCP_UNLIMITED);
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		assert_true(s.tcp.expires_ns - now == waits[i] * SIMTIME_S);
		now = s.tcp.expires_ns;
		tcp_expire(&s.tcp, now);
	}
	assert_int_equal(s.tcp.backoff, 64);
	assert_string_equal(sender_sent(&s), "0 0 0 0 0 0 0 0 0");
}

/* ns-2.1b8a's rtt_timeout: minimum and maximum limit the product, not the estimate (ns-2.35's
 * rfc2988_ false). With one tick measured, the product is 3 ticks. */
static void the_timeout_is_bounded_after_the_backoff(void **state)
{
	static const simtime waits_ms[] = {1000, 1000, 1200, 2400, 4800, 9600, 19200, 19200};
	struct sender s;
	simtime now = MS(100);

	(void)state;
	sender_open(&s, &recovery_newreno, &response_none);
	sender_connect(&s);
	assert_int_equal(s.tcp.rto_ticks, 3);
	for (size_t i = 0; i < sizeof(waits_ms) / sizeof(waits_ms[0]); i++) {
		assert_true(s.tcp.expires_ns - now == MS(waits_ms[i]));
		now = s.tcp.expires_ns;
		tcp_expire(&s.tcp, now);
	}
	s.tcp.rto_ticks = 20000; /* 64 times 2,000 s */
	tcp_timer_set(&s.tcp);
	assert_true(s.tcp.expires_ns - now == 100000 * SIMTIME_S);
}

static void a_sample_of_a_packet_sent_once_ends_the_backoff(void **state)
{
	struct sender s;

	(void)state;
	sender_open(&s, &recovery_newreno, &response_none);
	sender_connect(&s);
	tcp_expire(&s.tcp, s.tcp.expires_ns);
	assert_int_equal(s.tcp.backoff, 2);
	sender_ack_each(&s, SIMTIME_S * 2, 2); /* 1 was sent twice, so it is not measured */
	assert_int_equal(s.tcp.backoff, 2);
	sender_ack(&s, SIMTIME_S * 2 + MS(100), 3);
	assert_int_equal(s.tcp.backoff, 1);
}

/* The formula, for round trips of whole ticks: a first sample of 5 ticks, then 9. */
static void round_trip_times_are_measured_in_ticks(void **state)
{
	struct sender s;

	(void)state;
	sender_open(&s, &recovery_newreno, &response_none);
	tcp_start(&s.tcp, 0, TCP_UNLIMITED);
	sender_ack(&s, MS(500), 0);
	assert_int_equal(s.tcp.srtt_8, 40);
	assert_int_equal(s.tcp.variance_4, 10);
	assert_int_equal(s.tcp.rto_ticks, (10 * 8 + 40) / 8);
	/* sent at 500, back at 1430: 9.3 ticks; it began at a whole tick, so it counts as 9 */
	sender_ack(&s, MS(1430), 1);
	assert_int_equal(s.tcp.srtt_8, 40 + 4);
	assert_int_equal(s.tcp.variance_4, 10 + 4 - 2);
	assert_int_equal(s.tcp.rto_ticks, (12 * 8 + 44) / 8);
}

static void where_in_a_tick_it_was_sent_counts(void **state)
{
	struct sender s;

	(void)state;
	sender_open(&s, &recovery_newreno, &response_none);
	s.tcp.boot_ns = MS(50);
	tcp_start(&s.tcp, 0, TCP_UNLIMITED);
	sender_ack(&s, MS(160), 0); /* 1.6 ticks, and half a tick */
	assert_int_equal(s.tcp.srtt_8, 16);
}

static void acknowledgements_of_what_was_never_sent_are_ignored(void **state)
{
	struct sender s;

	(void)state;
	sender_open(&s, &recovery_newreno, &response_none);
	sender_connect(&s);
	sender_sent(&s);
	sender_ack(&s, MS(200), 90);
	assert_string_equal(sender_sent(&s), "");
	assert_int_equal(s.tcp.acked, 0);
}

static void sequence_numbers_wrap(void **state)
{
	struct sender s;

	(void)state;
	sender_open(&s, &recovery_newreno, &response_none);
	s.tcp.sequence = UINT32_MAX - 3000;
	s.conf.window = 20;
	sender_connect(&s);
	sender_ack_each(&s, MS(200), 200);
	assert_int_equal(s.tcp.acked, 200);
	assert_int_equal(tcp_packet_at(&s.tcp, tcp_seq_of(&s.tcp, 201)), 201);
	assert_int_equal(tcp_packet_at(&s.tcp, tcp_seq_of(&s.tcp, 190)), 190);
}

GROUP(hosts)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(slow_start_doubles_the_window_each_round_trip),
	        cmocka_unit_test(above_ssthresh_a_window_of_packets_adds_one),
	        cmocka_unit_test(a_syn_can_be_marked_only_where_it_is_said),
	        cmocka_unit_test(the_window_never_exceeds_its_maximum),
	        cmocka_unit_test(segments_are_real_ones),
	        cmocka_unit_test(a_syn_negotiates_and_is_not_capable_itself),
	        cmocka_unit_test(a_transfer_ends_when_its_last_packet_is_acknowledged),
	        cmocka_unit_test(the_third_duplicate_sends_the_packet_again_and_halves),
	        cmocka_unit_test(tahoe_starts_slowly_from_the_lost_packet),
	        cmocka_unit_test(reno_leaves_recovery_at_the_first_new_data),
	        cmocka_unit_test(a_partial_acknowledgement_sends_the_next_hole_in_newreno),
	        cmocka_unit_test(a_timeout_goes_back_to_the_first_packet),
	        cmocka_unit_test(the_timeout_doubles_until_64_times),
	        cmocka_unit_test(the_timeout_is_bounded_after_the_backoff),
	        cmocka_unit_test(a_sample_of_a_packet_sent_once_ends_the_backoff),
	        cmocka_unit_test(round_trip_times_are_measured_in_ticks),
	        cmocka_unit_test(where_in_a_tick_it_was_sent_counts),
	        cmocka_unit_test(acknowledgements_of_what_was_never_sent_are_ignored),
	        cmocka_unit_test(sequence_numbers_wrap),
	};

	return cmocka_run_group_tests_name("hosts", tests, NULL, NULL);
}
