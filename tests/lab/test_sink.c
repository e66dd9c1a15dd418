/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP receivers compared with sequences written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "lab/sink.h"
#include "runner/group.h"

#define PEER_SYN 5000u

struct receiver {
	struct tcp_conf conf;
	struct sink sink;
	struct segment last;
	struct frame_oq oq; /* of the last segment, if it has one */
	bool has_oq;
	uint32_t n;
};

static void note(void *argument, const struct segment *segment)
{
	struct receiver *r = argument;

	r->last = *segment;
	r->has_oq = segment->oq != NULL;
	if (segment->oq)
		r->oq = *segment->oq;
	r->n++;
}

static void give_flags(struct receiver *r, simtime now, uint32_t packet, uint8_t flags, uint8_t ecn)
{
	const struct segment segment = {
	        .from = r->sink.there,
	        .to = r->sink.here,
	        .seq = packet ? PEER_SYN + 1 + (packet - 1) * 960 : PEER_SYN,
	        .flags = flags,
	        .ecn = ecn,
	        .ttl = 60,
	        .data_bytes = packet ? 960 : 0,
	};

	sink_segment(&r->sink, now, &segment);
}

static void give(struct receiver *r, uint32_t packet)
{
	give_flags(r, 0, packet, FRAME_TCP_ACK, FRAME_ECN_ECT0);
}

/* Returns the packet up to which the latest acknowledgement goes. */
static uint32_t acked(const struct receiver *r)
{
	return (r->last.ack - PEER_SYN - 1) / 960;
}

static void receiver_open(struct receiver *r, const struct response *response, simtime delay_ns)
{
	const struct frame_end here = {0x0a000002, 20000}, there = {0x0a000001, 10000};

	memset(r, 0, sizeof(*r));
	tcp_conf_init(&r->conf);
	r->conf.response = response;
	assert_int_equal(sink_init(&r->sink, &r->conf, here, there, delay_ns), 0);
	r->sink.wire = note;
	r->sink.argument = r;
	give_flags(r, 0, 0, FRAME_TCP_SYN | (response->capable ? FRAME_TCP_ECE | FRAME_TCP_CWR : 0),
	           0);
	assert_int_equal(r->n, 1);
	assert_int_equal(r->last.ack, PEER_SYN + 1);
	r->n = 0;
}

static void a_syn_is_answered_and_ecn_accepted(void **state)
{
	struct receiver r;

	(void)state;
	receiver_open(&r, &response_ecn, 0);
	assert_int_equal(r.last.flags, FRAME_TCP_SYN | FRAME_TCP_ACK | FRAME_TCP_ECE);
	sink_release(&r.sink);
	receiver_open(&r, &response_none, 0);
	assert_int_equal(r.last.flags, FRAME_TCP_SYN | FRAME_TCP_ACK);
	sink_release(&r.sink);
}

static void a_gap_makes_duplicates_until_it_is_filled(void **state)
{
	struct receiver r;

	(void)state;
	receiver_open(&r, &response_none, 0);
	give(&r, 1);
	assert_int_equal(acked(&r), 1);
	give(&r, 3);
	assert_int_equal(acked(&r), 1);
	give(&r, 5);
	assert_int_equal(acked(&r), 1);
	give(&r, 2);
	assert_int_equal(acked(&r), 3);
	give(&r, 4);
	assert_int_equal(acked(&r), 5);
	give(&r, 4);
	assert_int_equal(acked(&r), 5);
	assert_int_equal(r.n, 6);
	assert_int_equal(r.sink.counters.in_order, 6); /* including the SYN */
	assert_int_equal(r.sink.counters.duplicates, 1);
	sink_release(&r.sink);
}

static void ce_is_echoed_until_cwr_comes(void **state)
{
	struct receiver r;

	(void)state;
	receiver_open(&r, &response_ecn, 0);
	give(&r, 1);
	assert_false(r.last.flags & FRAME_TCP_ECE);
	give_flags(&r, 0, 2, FRAME_TCP_ACK, FRAME_ECN_CE);
	assert_true(r.last.flags & FRAME_TCP_ECE);
	give(&r, 3);
	assert_true(r.last.flags & FRAME_TCP_ECE);
	/* CWR clears the echo, and a mark on the same packet sets it again */
	give_flags(&r, 0, 4, FRAME_TCP_ACK | FRAME_TCP_CWR, FRAME_ECN_CE);
	assert_true(r.last.flags & FRAME_TCP_ECE);
	give_flags(&r, 0, 5, FRAME_TCP_ACK | FRAME_TCP_CWR, FRAME_ECN_ECT0);
	assert_false(r.last.flags & FRAME_TCP_ECE);
	sink_release(&r.sink);
}

static void bcn_echoes_each_packet_and_tells_its_ttl(void **state)
{
	struct receiver r;

	(void)state;
	receiver_open(&r, &response_bcn, 0);
	give_flags(&r, 0, 1, FRAME_TCP_ACK, FRAME_ECN_CE);
	assert_true(r.last.flags & FRAME_TCP_ECE);
	assert_int_equal(r.last.echoed_ttl, 60);
	give(&r, 2);
	assert_false(r.last.flags & FRAME_TCP_ECE);
	sink_release(&r.sink);
}

static void becn_alone_echoes_nothing(void **state)
{
	struct receiver r;

	(void)state;
	receiver_open(&r, &response_becn, 0);
	give_flags(&r, 0, 1, FRAME_TCP_ACK, FRAME_ECN_CE);
	assert_false(r.last.flags & FRAME_TCP_ECE);
	assert_int_equal(r.last.echoed_ttl, 0);
	sink_release(&r.sink);
}

static void a_delayed_acknowledgement_waits_for_the_second_packet(void **state)
{
	const simtime delay_ns = 100 * SIMTIME_MS;
	struct receiver r;

	(void)state;
	receiver_open(&r, &response_none, delay_ns);
	give(&r, 1);
	assert_int_equal(r.n, 0);
	assert_true(r.sink.expires_ns == delay_ns);
	give(&r, 2);
	assert_int_equal(r.n, 1);
	assert_int_equal(acked(&r), 2);
	assert_true(r.sink.expires_ns == SIMTIME_NEVER);
	/* the delay ends */
	give(&r, 3);
	sink_expire(&r.sink, r.sink.expires_ns);
	assert_int_equal(r.n, 2);
	assert_int_equal(acked(&r), 3);
	/* out of order: acknowledged at once */
	give(&r, 5);
	assert_int_equal(r.n, 3);
	give(&r, 4);
	assert_int_equal(r.n, 4);
	assert_int_equal(acked(&r), 5);
	sink_release(&r.sink);
}

static void asked(struct receiver *r, uint32_t packet, uint8_t probe, uint8_t ttl, uint32_t number)
{
	const struct frame_oq oq = {
	        .mode = OQ_TTL,
	        .probe = probe,
	        .ttl = ttl,
	        .request = {{number, number}},
	};
	const struct segment segment = {
	        .from = r->sink.there,
	        .to = r->sink.here,
	        .seq = PEER_SYN + 1 + (packet - 1) * 944,
	        .flags = FRAME_TCP_ACK,
	        .ttl = 60,
	        .data_bytes = 944,
	        .oq = &oq,
	};

	sink_segment(&r->sink, 0, &segment);
}

static void what_routers_wrote_goes_back_and_answers_in_a_row_share_a_header(void **state)
{
	struct receiver r;

	(void)state;
	memset(&r, 0, sizeof(r));
	tcp_conf_init(&r.conf);
	r.conf.hops = 3;
	assert_int_equal(sink_init(&r.sink, &r.conf, (struct frame_end){0x0a000002, 20000},
	                           (struct frame_end){0x0a000001, 10000}, 100 * SIMTIME_MS),
	                 0);
	r.sink.wire = note;
	r.sink.argument = &r;
	give_flags(&r, 0, 0, FRAME_TCP_SYN, 0);
	assert_int_equal(r.n, 1);
	assert_false(r.has_oq);
	/* its acknowledgement waits for the second */
	asked(&r, 1, OQ_LINK, 64, 800);
	assert_int_equal(r.n, 1);
	asked(&r, 2, OQ_LINK, 63, 600);
	assert_int_equal(r.n, 2);
	assert_true(r.has_oq);
	assert_int_equal(r.oq.mode, OQ_NO_MODE);
	assert_int_equal(r.oq.res_probe, OQ_LINK);
	assert_int_equal(r.oq.res_ttl, 64);
	assert_int_equal(r.oq.n, 2);
	assert_int_equal(r.oq.answers[0].number[0], 800);
	assert_int_equal(r.oq.answers[1].number[1], 600);
	/* no router wrote into these: an acknowledgement without a header */
	asked(&r, 3, OQ_LINK, 62, OQ_NOBODY);
	asked(&r, 4, OQ_QUEUE, 64, OQ_NOBODY);
	assert_int_equal(r.n, 3);
	assert_false(r.has_oq);
	/* another probe begins another run, and is reported later */
	asked(&r, 5, OQ_LINK, 62, 400);
	asked(&r, 6, OQ_QUEUE, 64, 200);
	assert_int_equal(r.n, 4);
	assert_int_equal(r.oq.res_probe, OQ_LINK);
	assert_int_equal(r.oq.n, 1);
	asked(&r, 7, OQ_QUEUE, 64, OQ_NOBODY);
	asked(&r, 8, OQ_QUEUE, 64, OQ_NOBODY);
	assert_int_equal(r.n, 5);
	assert_true(r.has_oq);
	assert_int_equal(r.oq.res_probe, OQ_QUEUE);
	assert_int_equal(r.oq.answers[0].number[0], 200);
	sink_release(&r.sink);
}

GROUP(sink)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_syn_is_answered_and_ecn_accepted),
	        cmocka_unit_test(a_gap_makes_duplicates_until_it_is_filled),
	        cmocka_unit_test(ce_is_echoed_until_cwr_comes),
	        cmocka_unit_test(bcn_echoes_each_packet_and_tells_its_ttl),
	        cmocka_unit_test(becn_alone_echoes_nothing),
	        cmocka_unit_test(what_routers_wrote_goes_back_and_answers_in_a_row_share_a_header),
	        cmocka_unit_test(a_delayed_acknowledgement_waits_for_the_second_packet),
	};

	return cmocka_run_group_tests_name("sink", tests, NULL, NULL);
}
