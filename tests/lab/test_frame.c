/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <rte_ether.h>
#include <rte_ip.h>

#include "lab/frame.h"
#include "offline/offline_pool.h"
#include "runner/group.h"

static struct rte_mempool *pool;

static int setup(void **state)
{
	(void)state;
	pool = offline_pool_make("frames", 64, 64, NULL);
	return pool ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	offline_pool_free(pool);
	return 0;
}

static const struct segment data = {
        .from = {0x0a000001, 10000},
        .to = {0x0a000002, 20000},
        .seq = 0xdeadbeef,
        .ack = 0x01020304,
        .window = 65535,
        .data_bytes = 960,
        .flags = FRAME_TCP_ACK | FRAME_TCP_CWR,
        .ecn = FRAME_ECN_ECT0,
        .ttl = 64,
        .window_scale = -1,
};

static const struct frame_oq asks = {
        .mode = OQ_TTL,
        .probe = OQ_QUEUE,
        .ttl = 63,
        .request = {{7, 8}},
        .res_probe = OQ_LINK,
        .res_ttl = 64,
        .n = 2,
        .answers = {{{800000, 799999}}, {{600000, 5}}},
};

static void a_segment_behind_the_unified_header_is_read_as_it_was_written(void **state)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	struct segment sent = data;
	struct frame plain, frame;
	const uint8_t *bytes;

	(void)state;
	frame_write_segment(mbuf, &data, 1);
	frame_read(mbuf, &plain);
	assert_null(plain.segment.oq);
	rte_pktmbuf_reset(mbuf);
	sent.oq = &asks;
	frame_write_segment(mbuf, &sent, 1);
	assert_int_equal(frame_wire_bytes(mbuf), 1000 + 16 + 2 * 8);
	bytes = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	assert_int_equal(bytes[14 + 9], 253);
	assert_memory_equal(bytes + 34, "\3\3\0\77\1\20\100\6\0\0\0\7\0\0\0\10\0\14\65\0", 20);
	frame_read(mbuf, &frame);
	assert_int_equal(frame.kind, FRAME_SEGMENT);
	assert_memory_equal(frame.segment.oq, &asks, sizeof(asks));
	frame.segment.oq = NULL;
	assert_memory_equal(&frame.segment, &plain.segment, sizeof(plain.segment));
	rte_pktmbuf_free(mbuf);
}

static void a_header_that_contradicts_its_length_is_broken(void **state)
{
	static const struct {
		uint32_t at;
		uint8_t value;
	} wrong[] = {{OQ_RES_LEN, 12}, {OQ_RES_LEN, 72}, {OQ_RES_LEN, 8}, {OQ_NEXT, 17}};
	struct segment sent = data;

	(void)state;
	sent.data_bytes = 0;
	sent.oq = &asks;
	for (uint32_t i = 0; i < RTE_DIM(wrong); i++) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
		struct frame frame;

		frame_write_segment(mbuf, &sent, 1);
		rte_pktmbuf_mtod_offset(mbuf, uint8_t *, 34)[wrong[i].at] = wrong[i].value;
		frame_read(mbuf, &frame);
		assert_int_equal(frame.kind, FRAME_BROKEN);
		rte_pktmbuf_free(mbuf);
	}
}

static void a_packet_of_1000_bytes_is_an_ipv4_datagram_of_1000_bytes(void **state)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	struct segment ack = data;

	(void)state;
	frame_write_segment(mbuf, &data, 1);
	assert_int_equal(frame_wire_bytes(mbuf), 1000);
	assert_int_equal(mbuf->pkt_len, 1014);
	ack.data_bytes = 0;
	frame_write_segment(mbuf, &ack, 1);
	assert_int_equal(frame_wire_bytes(mbuf), 40);
	rte_pktmbuf_free(mbuf);
}

static void assert_end(const struct frame_end *a, const struct frame_end *b)
{
	assert_int_equal(a->address, b->address);
	assert_int_equal(a->port, b->port);
}

/* Member by member: the padding between them is undefined. */
static void assert_segment(const struct segment *a, const struct segment *b)
{
	assert_end(&a->from, &b->from);
	assert_end(&a->to, &b->to);
	assert_int_equal(a->seq, b->seq);
	assert_int_equal(a->ack, b->ack);
	assert_int_equal(a->window, b->window);
	assert_int_equal(a->data_bytes, b->data_bytes);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->ecn, b->ecn);
	assert_int_equal(a->ttl, b->ttl);
	assert_int_equal(a->echoed_ttl, b->echoed_ttl);
	assert_int_equal(a->window_scale, b->window_scale);
}

static void a_segment_is_read_as_it_was_written(void **state)
{
	struct segment cases[3] = {data, data, data};

	(void)state;
	cases[1].echoed_ttl = 61;
	cases[1].data_bytes = 0;
	cases[2].flags = FRAME_TCP_SYN | FRAME_TCP_ECE;
	cases[2].window_scale = 7;
	cases[2].data_bytes = 0;
	for (int i = 0; i < 3; i++) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
		struct frame frame;

		memset(rte_pktmbuf_mtod(mbuf, void *), 0xa5, 1200);
		frame_write_segment(mbuf, &cases[i], 1);
		frame_read(mbuf, &frame);
		assert_int_equal(frame.kind, FRAME_SEGMENT);
		assert_int_equal(frame.to, data.to.address);
		assert_segment(&frame.segment, &cases[i]);
		rte_pktmbuf_free(mbuf);
	}
}

/* Every byte behind the Ethernet header is under a checksum. */
static void a_changed_byte_is_noticed_wherever_it_is(void **state)
{
	(void)state;
	for (uint32_t at = FRAME_ETHER_BYTES; at < 1014; at++) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
		struct frame frame;

		frame_write_segment(mbuf, &data, 1);
		rte_pktmbuf_mtod(mbuf, uint8_t *)[at] ^= 0x10;
		frame_read(mbuf, &frame);
		assert_true(frame.kind != FRAME_SEGMENT);
		rte_pktmbuf_free(mbuf);
	}
}

static void a_datagram_carries_its_number(void **state)
{
	const struct datagram voice = {
	        .from = {0x0a000001, 10000},
	        .to = {0x0a000002, 20000},
	        .data_bytes = 172,
	        .ttl = 64,
	        .number = 77,
	};
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	struct frame frame;

	(void)state;
	frame_write_datagram(mbuf, &voice, 1);
	assert_int_equal(frame_wire_bytes(mbuf), 200);
	frame_read(mbuf, &frame);
	assert_int_equal(frame.kind, FRAME_DATAGRAM);
	assert_end(&frame.datagram.from, &voice.from);
	assert_end(&frame.datagram.to, &voice.to);
	assert_int_equal(frame.datagram.data_bytes, voice.data_bytes);
	assert_int_equal(frame.datagram.ttl, voice.ttl);
	assert_int_equal(frame.datagram.number, voice.number);
	rte_pktmbuf_free(mbuf);
}

/* Writes a source quench (RFC 792) of this router about the packet in `cause`, as a cloud sends
 * it. */
static void quench_write(struct rte_mbuf *mbuf, const struct rte_mbuf *cause, uint32_t router,
                         uint8_t octet_4)
{
	const uint32_t quoted_bytes = sizeof(struct rte_ipv4_hdr) + 8;
	const struct rte_ipv4_hdr *quoted = rte_pktmbuf_mtod_offset(
	        cause, const struct rte_ipv4_hdr *, sizeof(struct rte_ether_hdr));
	uint8_t *ether = (uint8_t *)rte_pktmbuf_append(
	        mbuf, sizeof(struct rte_ether_hdr) + sizeof(*quoted) + 8 + quoted_bytes);
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(ether + sizeof(struct rte_ether_hdr));
	uint8_t *icmp = (uint8_t *)(ip + 1);
	uint16_t sum;

	memcpy(ether, rte_pktmbuf_mtod(cause, void *), sizeof(struct rte_ether_hdr));
	*ip = (struct rte_ipv4_hdr){
	        .version_ihl = 0x45,
	        .total_length = rte_cpu_to_be_16(sizeof(*ip) + 8 + quoted_bytes),
	        .time_to_live = 64,
	        .next_proto_id = IPPROTO_ICMP,
	        .src_addr = rte_cpu_to_be_32(router),
	        .dst_addr = quoted->src_addr,
	};
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	memset(icmp, 0, 8);
	icmp[0] = 4;
	icmp[4] = octet_4;
	memcpy(icmp + 8, quoted, quoted_bytes);
	sum = (uint16_t)~rte_raw_cksum(icmp, 8 + quoted_bytes);
	memcpy(icmp + 2, &sum, sizeof(sum));
}

static void a_quench_has_56_bytes_and_says_what_it_is_about(void **state)
{
	struct rte_mbuf *cause = rte_pktmbuf_alloc(pool);

	(void)state;
	frame_write_segment(cause, &data, 1);
	for (int marked = 0; marked < 2; marked++) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
		struct frame frame;

		quench_write(mbuf, cause, 0xc0000201, marked ? 0x80 : 0);
		assert_int_equal(frame_wire_bytes(mbuf), 56);
		frame_read(mbuf, &frame);
		assert_int_equal(frame.kind, FRAME_QUENCH);
		assert_int_equal(frame.to, data.from.address);
		assert_int_equal(frame.quench.router, 0xc0000201);
		assert_int_equal(frame.quench.from.port, data.from.port);
		assert_int_equal(frame.quench.to.address, data.to.address);
		assert_int_equal(frame.quench.seq, data.seq);
		assert_int_equal(frame.quench.marked, marked);
		rte_pktmbuf_free(mbuf);
	}
	rte_pktmbuf_free(cause);
}

GROUP(lab_frame)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_segment_behind_the_unified_header_is_read_as_it_was_written),
	        cmocka_unit_test(a_header_that_contradicts_its_length_is_broken),
	        cmocka_unit_test(a_packet_of_1000_bytes_is_an_ipv4_datagram_of_1000_bytes),
	        cmocka_unit_test(a_segment_is_read_as_it_was_written),
	        cmocka_unit_test(a_changed_byte_is_noticed_wherever_it_is),
	        cmocka_unit_test(a_datagram_carries_its_number),
	        cmocka_unit_test(a_quench_has_56_bytes_and_says_what_it_is_about),
	};

	return cmocka_run_group_tests_name("frame", tests, setup, teardown);
}
