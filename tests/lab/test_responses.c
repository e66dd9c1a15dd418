/* SPDX-License-Identifier: BSD-3-Clause */
/* The responses of senders to echoes and quenches, compared with sequences written by hand. */
#include <errno.h>
#include <math.h>

#include "lab/group.h"
#include "sender.h"
#include "runner/group.h"

#define MS(n) ((n)*SIMTIME_MS)

/* Sends sixteen packets, 15 to 30; the window is 16. */
static void open_16(struct sender *s, const struct response *response)
{
	sender_open(s, &recovery_newreno, response);
	sender_connect(s);
	sender_ack_each(s, MS(200), 2);
	sender_ack_each(s, MS(300), 6);
	sender_ack_each(s, MS(400), 14);
	sender_sent(s);
	assert_true(s->tcp.cwnd == 16);
	assert_int_equal(s->tcp.highest, 30);
}

static void quench_flags(struct sender *s, int64_t packet, bool marked)
{
	const struct quench quench = {
	        .router = 0xc0000201,
	        .from = s->tcp.here,
	        .to = s->tcp.there,
	        .seq = tcp_seq_of(&s->tcp, packet),
	        .marked = marked,
	};

	tcp_quench(&s->tcp, MS(450), &quench);
}

static void an_echo_halves_once_a_window_and_is_answered_by_cwr(void **state)
{
	struct sender s;

	(void)state;
	open_16(&s, &response_ecn);
	sender_ack_flags(&s, MS(500), 15, FRAME_TCP_ECE, 0);
	assert_true(s.tcp.cwnd == 8);
	assert_int_equal(s.tcp.ssthresh, 8);
	assert_int_equal(s.tcp.recover, 30);
	assert_string_equal(sender_sent(&s), "");
	/* further echoes in the same window: no cut, no growth */
	for (int64_t packet = 16; packet <= 22; packet++)
		sender_ack_flags(&s, MS(500), packet, FRAME_TCP_ECE, 0);
	assert_true(s.tcp.cwnd == 8);
	assert_string_equal(sender_sent(&s), "");
	/* window 8 beyond 23 acknowledged: 31 may be sent, and reports that the window was
	 * reduced */
	sender_ack_flags(&s, MS(500), 23, FRAME_TCP_ECE, 0);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.sent[0].flags, FRAME_TCP_ACK | FRAME_TCP_CWR);
	sender_sent(&s);
	sender_ack(&s, MS(510), 24);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.sent[0].flags, FRAME_TCP_ACK);
	assert_true(s.tcp.cwnd == 8 + 1.0 / 8);
	/* an echo in the next window: the next cut */
	sender_ack_flags(&s, MS(600), 31, FRAME_TCP_ECE, 0);
	assert_true(s.tcp.cwnd == 4);
	assert_int_equal(s.tcp.counters.cuts, 2);
}

static void a_loss_in_the_window_of_an_echo_is_sent_again_without_a_cut(void **state)
{
	struct sender s;

	(void)state;
	open_16(&s, &response_ecn);
	sender_ack_flags(&s, MS(500), 15, FRAME_TCP_ECE, 0);
	for (int i = 0; i < 3; i++)
		sender_ack_flags(&s, MS(510), 15, FRAME_TCP_ECE, 0);
	assert_string_equal(sender_sent(&s), "16");
	assert_true(s.tcp.cwnd == 8);
	assert_int_equal(s.tcp.dupwnd, 3);
}

/* As in ns-2, whose slowdown() halves the value of window(). */
static void an_echo_that_ends_a_recovery_halves_the_window_with_its_duplicates(void **state)
{
	struct sender s;

	(void)state;
	open_16(&s, &response_ecn);
	/* 15 is lost, and 16 to 30 arrive */
	for (int i = 0; i < 15; i++)
		sender_ack(&s, MS(500), 14);
	assert_string_equal(sender_sent(&s), "15 31 32 33 34 35 36 37");
	assert_true(s.tcp.cwnd == 8);
	assert_int_equal(s.tcp.dupwnd, 15);
	sender_ack_flags(&s, MS(600), 31, FRAME_TCP_ECE, 0);
	assert_true(s.tcp.cwnd == 11); /* (8 + 15) / 2 */
	assert_int_equal(s.tcp.ssthresh, 11);
	assert_int_equal(s.tcp.dupwnd, 0);
	assert_int_equal(s.tcp.recover, 37);
}

static void a_window_of_one_becomes_none_and_the_timer_sends(void **state)
{
	struct sender s;

	(void)state;
	open_16(&s, &response_ecn);
	sender_ack_each(&s, MS(480), 30);
	sender_sent(&s);
	s.tcp.cwnd = 1;
	s.tcp.next = s.tcp.highest + 1;
	sender_ack_flags(&s, MS(500), s.tcp.highest, FRAME_TCP_ECE, 0);
	assert_true(s.tcp.cwnd == 0);
	assert_string_equal(sender_sent(&s), "");
	assert_true(s.tcp.expires_ns != SIMTIME_NEVER);
	tcp_expire(&s.tcp, s.tcp.expires_ns);
	assert_int_equal(s.n, 1);
	assert_true(s.tcp.cwnd == 1);
	assert_int_equal(s.tcp.counters.timeouts, 0);
}

static void a_quench_with_the_bit_halves_and_holds_the_window_for_a_round_trip(void **state)
{
	struct sender s;

	(void)state;
	open_16(&s, &response_becn);
	quench_flags(&s, 20, true);
	assert_true(s.tcp.cwnd == 8);
	assert_int_equal(s.tcp.hold, 30);
	quench_flags(&s, 21, true);
	assert_true(s.tcp.cwnd == 8);
	assert_int_equal(s.tcp.counters.cuts, 1);
	assert_int_equal(s.tcp.counters.quenches, 2);
	/* packets that were in flight when it came do not increase the window; later packets do */
	sender_ack_each(&s, MS(500), 30);
	assert_true(s.tcp.cwnd == 8);
	sender_ack(&s, MS(600), 31);
	assert_true(s.tcp.cwnd == 8 + 1.0 / 8);
	quench_flags(&s, 33, true);
	assert_true(s.tcp.cwnd == (8 + 1.0 / 8) / 2);
}

/* Both papers of BECN specify one-half of the congestion window; ns-2's slowdown(), which makes the
 * cut of ECN, rounds down. */
static void a_quench_halves_exactly_and_an_echo_rounds_down(void **state)
{
	static const struct {
		double cwnd;
		uint32_t dupwnd;
		double quenched;
		uint32_t ssthresh;
		double echoed;
	} cases[] = {
	        {16, 0, 8, 8, 8},       {5, 0, 2.5, 2, 2},    {3, 0, 1.5, 2, 1},
	        {1, 0, 0.5, 2, 0},      {5.5, 0, 2.75, 2, 2}, {8, 15, 11.5, 11, 11},
	        {100.5, 0, 50, 50, 50},
	};
	struct sender s;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		open_16(&s, &response_ecn_becn);
		s.tcp.cwnd = cases[i].cwnd;
		s.tcp.dupwnd = cases[i].dupwnd;
		quench_flags(&s, 20, true);
		assert_true(s.tcp.cwnd == cases[i].quenched);
		assert_int_equal(s.tcp.ssthresh, cases[i].ssthresh);
		assert_true(s.tcp.reduced);
		open_16(&s, &response_ecn_becn);
		s.tcp.cwnd = cases[i].cwnd;
		s.tcp.dupwnd = cases[i].dupwnd;
		sender_ack_flags(&s, MS(450), 15, FRAME_TCP_ECE, 0);
		assert_true(s.tcp.cwnd == cases[i].echoed);
		assert_int_equal(s.tcp.ssthresh, cases[i].ssthresh);
	}
}

/* 2.5, increased twice by its reciprocal, is more than 3; a window that begins at 2 is not. */
static void the_half_that_is_kept_sends_a_packet_earlier(void **state)
{
	struct sender s;

	(void)state;
	open_16(&s, &response_becn);
	s.tcp.cwnd = 5;
	quench_flags(&s, 20, true);
	sender_ack_each(&s, MS(500), 30);
	assert_string_equal(sender_sent(&s), "31 32");
	sender_ack(&s, MS(600), 31);
	assert_true(s.tcp.cwnd == 2.5 + 1 / 2.5);
	assert_string_equal(sender_sent(&s), "33");
	sender_ack(&s, MS(600), 32);
	assert_true(s.tcp.cwnd == 2.9 + 1 / 2.9);
	assert_string_equal(sender_sent(&s), "34 35");
}

static void what_a_mark_waits_for_can_be_the_time_of_a_round_trip_or_nothing(void **state)
{
	struct sender s;

	(void)state;
	open_16(&s, &response_becn);
	s.conf.signal.wait = BECN_WAIT_ROUND;
	assert_int_equal(s.tcp.rtt_ns, MS(100));
	quench_flags(&s, 20, true); /* at 450 ms */
	sender_ack(&s, MS(549), 15);
	assert_true(s.tcp.cwnd == 8);
	sender_ack(&s, MS(550), 16);
	assert_true(s.tcp.cwnd == 8 + 1.0 / 8);
	open_16(&s, &response_becn);
	s.conf.signal.wait = BECN_WAIT_NONE;
	quench_flags(&s, 20, true);
	sender_ack(&s, MS(460), 15);
	assert_true(s.tcp.cwnd == 8 + 1.0 / 8);
}

static void a_quench_without_the_bit_halves_and_leaves_the_packet_to_duplicates(void **state)
{
	struct sender s;

	(void)state;
	open_16(&s, &response_becn);
	quench_flags(&s, 16, false);
	assert_true(s.tcp.cwnd == 8);
	assert_int_equal(s.tcp.hold, -1);
	assert_string_equal(sender_sent(&s), "");
	sender_ack(&s, MS(500), 15);
	assert_true(s.tcp.cwnd == 8 + 1.0 / 8);
	for (int i = 0; i < 3; i++)
		sender_ack(&s, MS(510), 15);
	assert_string_equal(sender_sent(&s), "16");
	assert_true(s.tcp.cwnd == 8 + 1.0 / 8);
}

static void foreign_and_stale_quenches_are_ignored(void **state)
{
	struct sender s;

	(void)state;
	for (int i = 0; i < 6; i++) {
		struct quench quench;

		open_16(&s, &response_becn);
		quench = (struct quench){
		        .from = s.tcp.here,
		        .to = s.tcp.there,
		        .seq = tcp_seq_of(&s.tcp, 20),
		        .marked = true,
		};
		if (i == 0)
			quench.from.port++;
		else if (i == 1)
			quench.to.port++;
		else if (i == 2)
			quench.to.address++;
		else if (i == 3)
			quench.seq = tcp_seq_of(&s.tcp, 14); /* acknowledged */
		else if (i == 4)
			quench.seq = tcp_seq_of(&s.tcp, 31); /* not sent */
		tcp_quench(&s.tcp, MS(450), &quench);
		assert_true(s.tcp.cwnd == (i < 5 ? 16 : 8));
		assert_int_equal(s.tcp.counters.quenches_stale, i < 5);
	}
}

static void who_is_deaf_to_quenches_counts_them_and_goes_on(void **state)
{
	struct sender s;

	(void)state;
	open_16(&s, &response_ecn);
	quench_flags(&s, 20, true);
	assert_true(s.tcp.cwnd == 16);
}

static void an_echo_and_a_quench_of_one_window_make_one_cut(void **state)
{
	struct sender s;

	(void)state;
	open_16(&s, &response_ecn_becn);
	quench_flags(&s, 20, true);
	sender_ack_flags(&s, MS(500), 20, FRAME_TCP_ECE, 0);
	assert_true(s.tcp.cwnd == 8);
	assert_int_equal(s.tcp.counters.cuts, 1);
	/* the receiver is informed of the cut that the quench caused */
	sender_ack_each(&s, MS(510), 23);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.sent[0].flags, FRAME_TCP_ACK | FRAME_TCP_CWR);
	/* and in the opposite order */
	open_16(&s, &response_ecn_becn);
	sender_ack_flags(&s, MS(440), 15, FRAME_TCP_ECE, 0);
	quench_flags(&s, 20, true);
	assert_true(s.tcp.cwnd == 8);
	assert_int_equal(s.tcp.counters.cuts, 1);
}

static void bcn_multiplies_with_each_mark_and_does_not_grow_in_its_window(void **state)
{
	struct sender s;

	(void)state;
	open_16(&s, &response_bcn);
	s.conf.signal.factor = 0.75;
	sender_ack_flags(&s, MS(500), 15, FRAME_TCP_ECE, 0);
	assert_true(s.tcp.cwnd == 12);
	assert_int_equal(s.tcp.ssthresh, 12);
	sender_ack_flags(&s, MS(500), 16, FRAME_TCP_ECE, 0);
	assert_true(s.tcp.cwnd == 9);
	assert_int_equal(s.tcp.hold, 30); /* since the first mark */
	sender_ack_each(&s, MS(500), 30);
	assert_true(s.tcp.cwnd == 9);
	sender_ack(&s, MS(600), 31);
	assert_true(s.tcp.cwnd == 9 + 1.0 / 9);
}

static void bcn_grows_while_marked_if_it_is_told_to(void **state)
{
	struct sender s;

	(void)state;
	open_16(&s, &response_bcn);
	s.conf.signal.factor = 0.75;
	s.conf.signal.grows_while_marked = true;
	sender_ack_flags(&s, MS(500), 15, FRAME_TCP_ECE, 0);
	sender_ack(&s, MS(500), 16);
	assert_true(s.tcp.cwnd == 12 + 1.0 / 12);
}

static void bcn_cuts_to_whole_packets_if_it_is_told_to(void **state)
{
	struct sender s;

	(void)state;
	open_16(&s, &response_bcn);
	s.conf.signal.factor = 0.7;
	s.conf.signal.cuts_to_whole = true;
	sender_ack_flags(&s, MS(500), 15, FRAME_TCP_ECE, 0);
	assert_true(s.tcp.cwnd == 11); /* of 11.2 */
	sender_ack_flags(&s, MS(500), 16, FRAME_TCP_ECE, 0);
	assert_true(s.tcp.cwnd == 7); /* of 7.7 */
	s.conf.signal.factor = 0.1;
	sender_ack_flags(&s, MS(500), 17, FRAME_TCP_ECE, 0);
	assert_true(s.tcp.cwnd == 1);
}

static void a_loss_in_a_marked_window_of_bcn_is_only_sent_again(void **state)
{
	struct sender s;

	(void)state;
	open_16(&s, &response_bcn);
	s.conf.signal.factor = 0.75;
	sender_ack_flags(&s, MS(500), 15, FRAME_TCP_ECE, 0);
	for (int i = 0; i < 3; i++)
		sender_ack(&s, MS(510), 15);
	assert_true(s.tcp.cwnd == 12);
	assert_int_equal(s.tcp.counters.fast_retransmits, 1);
}

static void the_factor_follows_the_hops_that_the_receiver_saw(void **state)
{
	static const struct {
		uint8_t ttl;
		double factor;
	} cases[] = {
	        {FRAME_TTL - 1, 0.7},
	        {FRAME_TTL - 2, 0.875},
	        {FRAME_TTL - 3, 0.875},
	        {FRAME_TTL - 4, 0.975},
	        {FRAME_TTL - 9, 0.975},
	        {FRAME_TTL, 0.7},
	        {0, 0.5}, /* not informed */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sender s;

		open_16(&s, &response_bcn);
		s.conf.signal = (struct response_conf){
		        .factor = 0.5,
		        .by_hops = {{1, 0.7}, {2, 0.875}, {4, 0.975}},
		        .n_by_hops = 3,
		};
		sender_ack_flags(&s, MS(500), 15, FRAME_TCP_ECE, cases[i].ttl);
		assert_true(fabs(s.tcp.cwnd - 16 * cases[i].factor) < 1e-9);
	}
}

static void ecn_mod_takes_a_share_for_every_mark_and_adds_for_every_other(void **state)
{
	struct sender s;

	(void)state;
	open_16(&s, &response_ecn_mod);
	sender_ack_flags(&s, MS(500), 15, FRAME_TCP_ECE, 0);
	assert_true(s.tcp.cwnd == 14);
	sender_ack_flags(&s, MS(500), 16, FRAME_TCP_ECE, 0);
	assert_true(s.tcp.cwnd == 12.25);
	sender_ack(&s, MS(500), 17); /* slow start is over */
	assert_true(s.tcp.cwnd == 12.25 + 0.0625);
}

static void limited_slow_start_grows_by_half_its_limit_a_round_trip(void **state)
{
	struct sender s;
	double before;

	(void)state;
	sender_open(&s, &recovery_newreno, &response_limited);
	s.conf.window = s.tcp.ssthresh = 5000;
	s.conf.signal.slow_start_max = 100;
	sender_connect(&s);
	sender_ack_each(&s, MS(200), 99);
	s.n = 0;
	assert_true(s.tcp.cwnd == 101); /* K = int(101 / 50) = 2 */
	sender_ack(&s, MS(300), 100);
	assert_true(fabs(s.tcp.cwnd - 101 - 480.0 / 960) < 1e-9);
	/* far beyond: K = 14, int(960 / 14) = 68 of 960 bytes */
	s.tcp.cwnd = before = 707;
	sender_ack(&s, MS(310), 101);
	assert_true(fabs(s.tcp.cwnd - before - 68.0 / 960) < 1e-9);
	s.conf.signal.slow_start_exact = true;
	s.tcp.cwnd = before;
	sender_ack(&s, MS(310), 102);
	assert_true(fabs(s.tcp.cwnd - before - 1.0 / 14) < 1e-9);
}

/* Gives the sender the reports of the routers of a path, for TTLs from 64 downwards. */
static void told(struct sender *s, uint8_t probe, uint32_t first, uint32_t second)
{
	const struct frame_oq oq = {
	        .res_probe = probe,
	        .res_ttl = 64,
	        .n = 2,
	        .answers = {{{first, first}}, {{second, second}}},
	};
	const struct segment segment = {
	        .from = s->tcp.there,
	        .to = s->tcp.here,
	        .seq = 7001,
	        .ack = tcp_seq_of(&s->tcp, s->tcp.acked + 2),
	        .flags = FRAME_TCP_ACK,
	        .window_scale = -1,
	        .oq = &oq,
	};

	tcp_segment(&s->tcp, MS(200), &segment);
}

static void extended_open(struct sender *s)
{
	sender_open(s, &recovery_newreno, &response_extended);
	s->conf.window = s->tcp.ssthresh = 20000;
	s->conf.packet_bytes = 1516;
	s->conf.hops = s->tcp.asking.hops = 2;
	sender_connect(s); /* 100 ms */
	assert_int_equal(tcp_data_bytes(&s->conf), 1460);
}

static void the_extended_slow_start_takes_its_thresholds_from_every_router_once(void **state)
{
	struct sender s;

	(void)state;
	extended_open(&s);
	told(&s, OQ_QUEUE, 300, 200);
	assert_false(s.tcp.informed);
	assert_int_equal(s.tcp.ssthresh, 20000);
	told(&s, OQ_LINK, 1600000, 1800000);
	assert_true(s.tcp.informed);
	assert_int_equal(s.tcp.slow_start_max, 100);
	assert_int_equal(s.tcp.ssthresh, 5137); /* 3/4 x 1.6 Gbit/s x 50 ms / 1460 bytes */
	/* later figures result from its own packets */
	told(&s, OQ_QUEUE, 30, 20);
	told(&s, OQ_LINK, 1000, 1000);
	assert_int_equal(s.tcp.slow_start_max, 100);
	assert_int_equal(s.tcp.ssthresh, 5137);
	/* beyond 100 packets: K = 2, half of a packet */
	s.tcp.cwnd = 101;
	sender_ack(&s, MS(300), s.tcp.acked + 1);
	assert_true(s.tcp.cwnd == 101.5);
}

static void a_path_that_is_not_whole_or_comes_too_late_informs_nobody(void **state)
{
	struct sender s;

	(void)state;
	/* a third router does not report */
	extended_open(&s);
	s.tcp.asking.hops = 3;
	told(&s, OQ_QUEUE, 300, 200);
	told(&s, OQ_LINK, 1600000, 1800000);
	assert_false(s.tcp.informed);
	/* a packet was lost before */
	extended_open(&s);
	tcp_expire(&s.tcp, s.tcp.expires_ns);
	told(&s, OQ_QUEUE, 300, 200);
	told(&s, OQ_LINK, 1600000, 1800000);
	assert_false(s.tcp.informed);
}

static void every_packet_asks_the_next_router_for_link_and_then_for_queue(void **state)
{
	static const struct {
		uint8_t probe, ttl;
	} wanted[] = {{OQ_LINK, 64}, {OQ_LINK, 63}, {OQ_QUEUE, 64}, {OQ_QUEUE, 63}, {OQ_LINK, 64}};
	struct asking asking = {.hops = 2};

	(void)state;
	for (uint32_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		struct frame_oq oq;

		asking_request(&asking, &oq);
		assert_int_equal(oq.mode, OQ_TTL);
		assert_int_equal(oq.probe, wanted[i].probe);
		assert_int_equal(oq.ttl, wanted[i].ttl);
		assert_true(oq.request.number[0] == OQ_NOBODY && oq.request.number[1] == OQ_NOBODY);
		assert_int_equal(oq.n, 0);
	}
}

static void answers_to_what_was_not_asked_are_not_heard(void **state)
{
	struct frame_oq oq = {.res_probe = OQ_LOSS, .res_ttl = 64, .n = 1};
	struct asking asking = {.hops = 2};
	uint32_t least;

	(void)state;
	asking_hear(&asking, &oq);
	oq.res_probe = 200;
	asking_hear(&asking, &oq);
	oq = (struct frame_oq){.res_probe = OQ_LINK, .res_ttl = 255, .n = 1};
	asking_hear(&asking, &oq);
	oq.res_ttl = 62;
	asking_hear(&asking, &oq);
	for (int i = 0; i < OQ_PROBES; i++)
		assert_false(asking.heard[i][0] || asking.heard[i][1]);
	assert_false(asking_least(&asking, OQ_LINK, 0, &least));
}

static void the_words_of_a_group_name_what_they_mean(void **state)
{
	(void)state;
	for (const struct field *field = group_ftp.fields; field->name; field++) {
		for (uint32_t i = 0; field->words && field->words[i]; i++) {
			if (strcmp(field->name, "response") == 0)
				assert_string_equal(response_at(i)->name, field->words[i]);
			if (strcmp(field->name, "tcp") == 0)
				assert_string_equal(recovery_at(i)->name, field->words[i]);
		}
	}
}

static void factors_are_read_in_any_order(void **state)
{
	struct group_conf conf = {.factors = (char *)"4:0.975,1:0.7,2:0.875", .recovery = 2};
	struct problem problem;
	struct tcp_conf tcp;

	(void)state;
	assert_int_equal(group_tcp_conf(&conf, &tcp, &problem), 0);
	assert_int_equal(tcp.signal.n_by_hops, 3);
	assert_int_equal(tcp.signal.by_hops[0].hops, 1);
	assert_true(tcp.signal.by_hops[1].factor == 0.875);
	assert_int_equal(tcp.signal.by_hops[2].hops, 4);
	conf.factors = (char *)"4:1.5";
	assert_int_equal(group_tcp_conf(&conf, &tcp, &problem), -EINVAL);
}

GROUP(responses)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(an_echo_halves_once_a_window_and_is_answered_by_cwr),
	        cmocka_unit_test(a_loss_in_the_window_of_an_echo_is_sent_again_without_a_cut),
	        cmocka_unit_test(
	                an_echo_that_ends_a_recovery_halves_the_window_with_its_duplicates),
	        cmocka_unit_test(a_window_of_one_becomes_none_and_the_timer_sends),
	        cmocka_unit_test(
	                a_quench_with_the_bit_halves_and_holds_the_window_for_a_round_trip),
	        cmocka_unit_test(a_quench_halves_exactly_and_an_echo_rounds_down),
	        cmocka_unit_test(the_half_that_is_kept_sends_a_packet_earlier),
	        cmocka_unit_test(what_a_mark_waits_for_can_be_the_time_of_a_round_trip_or_nothing),
	        cmocka_unit_test(
	                a_quench_without_the_bit_halves_and_leaves_the_packet_to_duplicates),
	        cmocka_unit_test(foreign_and_stale_quenches_are_ignored),
	        cmocka_unit_test(who_is_deaf_to_quenches_counts_them_and_goes_on),
	        cmocka_unit_test(an_echo_and_a_quench_of_one_window_make_one_cut),
	        cmocka_unit_test(bcn_multiplies_with_each_mark_and_does_not_grow_in_its_window),
	        cmocka_unit_test(bcn_grows_while_marked_if_it_is_told_to),
	        cmocka_unit_test(bcn_cuts_to_whole_packets_if_it_is_told_to),
	        cmocka_unit_test(a_loss_in_a_marked_window_of_bcn_is_only_sent_again),
	        cmocka_unit_test(the_factor_follows_the_hops_that_the_receiver_saw),
	        cmocka_unit_test(ecn_mod_takes_a_share_for_every_mark_and_adds_for_every_other),
	        cmocka_unit_test(limited_slow_start_grows_by_half_its_limit_a_round_trip),
	        cmocka_unit_test(
	                the_extended_slow_start_takes_its_thresholds_from_every_router_once),
	        cmocka_unit_test(a_path_that_is_not_whole_or_comes_too_late_informs_nobody),
	        cmocka_unit_test(every_packet_asks_the_next_router_for_link_and_then_for_queue),
	        cmocka_unit_test(answers_to_what_was_not_asked_are_not_heard),
	        cmocka_unit_test(the_words_of_a_group_name_what_they_mean),
	        cmocka_unit_test(factors_are_read_in_any_order),
	};

	return cmocka_run_group_tests_name("responses", tests, NULL, NULL);
}
