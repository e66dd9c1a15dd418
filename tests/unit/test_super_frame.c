/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that a kernel leaves unfinished, and frames that are handed to a kernel in one piece.
 * DPDK's functions (frame.h) compute a frame's checksums, not the code under test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rte_ip.h>

#include "frame.h"
#include "packet/headers.h"
#include "port/super_frame.h"
#include "runner/group.h"
#include "super_pool.h"

#define SUPER_BYTES_MAX 66000
#define FIN_PSH_ACK     0x19
#define CWR             0x80
#define ECE             0x40
#define TCP_FLAGS       13

static void put_pseudo_sum(uint8_t *bytes, const struct frame_shape *shape, uint32_t at,
                           uint32_t length)
{
	const uint8_t *ip = bytes + frame_network(shape);
	uint32_t sum = shape->protocol + length;

	for (uint32_t i = shape->ip == 4 ? 12 : 8; i < (shape->ip == 4 ? 20u : 40u); i += 2)
		sum += headers_u16(ip + i);
	while (sum >> 16)
		sum = (sum >> 16) + (sum & 0xffff);
	headers_put_u16(bytes + at, (uint16_t)sum);
}

/* Makes one frame of the shape with this payload, of any length; byte i of the payload is i * 7.
 * The checksum of the transport has the sum of the pseudo header, as the kernel leaves it. */
static uint32_t super_make(uint8_t *bytes, struct frame_shape shape, uint32_t payload,
                           struct virtio_net_hdr *header, uint16_t part)
{
	uint32_t small = 8, length, transport = frame_transport(&shape), head;
	uint8_t frame[FRAME_BYTES_MAX], *ip = bytes + frame_network(&shape);
	bool udp = shape.protocol == FRAME_UDP;

	shape.payload_bytes = small;
	length = frame_make(frame, &shape);
	head = length - small;
	memcpy(bytes, frame, head);
	for (uint32_t i = 0; i < payload; i++)
		bytes[head + i] = (uint8_t)(i * 7);
	length = head + payload;
	if (shape.ip == 4)
		headers_put_u16(ip + 2, (uint16_t)(length - frame_network(&shape)));
	else
		headers_put_u16(ip + 4, (uint16_t)(length - frame_network(&shape) - 40));
	if (udp)
		headers_put_u16(bytes + transport + 4, (uint16_t)(8 + payload));
	else
		bytes[transport + TCP_FLAGS] = FIN_PSH_ACK | CWR;
	*header = (struct virtio_net_hdr){
	        .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
	        .gso_type = udp             ? 5
	                    : shape.ip == 4 ? VIRTIO_NET_HDR_GSO_TCPV4 | VIRTIO_NET_HDR_GSO_ECN
	                                    : VIRTIO_NET_HDR_GSO_TCPV6 | VIRTIO_NET_HDR_GSO_ECN,
	        .gso_size = part,
	        .csum_start = (uint16_t)transport,
	        .csum_offset = udp ? 6 : 16};
	put_pseudo_sum(bytes, &shape, transport + header->csum_offset, length - transport);
	return length;
}

static const struct frame_shape shapes[] = {
        {.ip = 4, .protocol = FRAME_TCP},
        {.ip = 4, .protocol = FRAME_TCP, .n_tags = 2, .option_words = 3},
        {.ip = 6, .protocol = FRAME_TCP},
        {.ip = 6, .protocol = FRAME_TCP, .n_tags = 1, .n_extensions = 2},
        {.ip = 4, .protocol = FRAME_UDP},
        {.ip = 6, .protocol = FRAME_UDP},
};

static void check_part(struct rte_mbuf *mbuf, const uint8_t *super, struct frame_shape shape,
                       uint32_t at, uint32_t payload, uint16_t place, bool last)
{
	static uint8_t flat[SUPER_BYTES_MAX];
	const uint8_t *frame = rte_pktmbuf_read(mbuf, 0, mbuf->pkt_len, flat);
	uint32_t network = frame_network(&shape), transport = frame_transport(&shape);
	uint32_t head = mbuf->pkt_len - payload;

	shape.payload_bytes = payload;
	assert_int_equal(frame_wrong_sums(frame, &shape), 0);
	assert_memory_equal(frame, super, network);
	for (uint32_t i = 0; i < payload; i++)
		assert_int_equal(frame[head + i], (uint8_t)((at + i) * 7));
	if (shape.ip == 4) {
		assert_int_equal(headers_u16(frame + network + 2), mbuf->pkt_len - network);
		assert_int_equal(headers_u16(frame + network + 4),
		                 (uint16_t)(headers_u16(super + network + 4) + place));
	} else {
		assert_int_equal(headers_u16(frame + network + 4), mbuf->pkt_len - network - 40);
	}
	if (shape.protocol == FRAME_UDP) {
		assert_int_equal(headers_u16(frame + transport + 4), 8 + payload);
		return;
	}
	assert_int_equal(headers_u32(frame + transport + 4),
	                 headers_u32(super + transport + 4) + at);
	assert_int_equal(frame[transport + TCP_FLAGS],
	                 0x10 | (last ? FIN_PSH_ACK : 0) | (place == 0 ? CWR : 0));
}

static void a_super_frame_is_cut_into_the_frames_that_a_device_would_send(void **state)
{
	static const struct {
		uint32_t payload;
		uint16_t part;
	} cuts[] = {{1, 1448}, {1448, 1448}, {1449, 1448}, {64000, 1448}, {5000, 1}, {60000, 8948}};
	static uint8_t bytes[SUPER_BYTES_MAX];

	(void)state;
	for (size_t s = 0; s < RTE_DIM(shapes); s++) {
		for (size_t c = 0; c < RTE_DIM(cuts); c++) {
			uint32_t at = 0, n = (cuts[c].payload + cuts[c].part - 1) / cuts[c].part;
			struct virtio_net_hdr header;
			struct super_frame frame;
			uint32_t length = super_make(bytes, shapes[s], cuts[c].payload, &header,
			                             cuts[c].part);

			assert_true(super_frame_open(&frame, &header, bytes, length));
			for (uint32_t i = 0; i < n; i++) {
				uint32_t part = RTE_MIN(cuts[c].payload - at, cuts[c].part);
				struct rte_mbuf *mbuf;

				assert_int_equal(super_frame_left(&frame), n - i);
				mbuf = super_frame_take(&frame, pool);
				assert_non_null(mbuf);
				check_part(mbuf, bytes, shapes[s], at, part, (uint16_t)i,
				           i == n - 1);
				rte_pktmbuf_free(mbuf);
				at += part;
			}
			assert_false(frame.open);
			assert_int_equal(super_frame_left(&frame), 0);
		}
	}
}

/* Without GSO_ECN, CWR is a bit of AccECN's counter (RFC 9768), which all frames have alike. */
static void the_counter_of_accurate_ecn_is_in_every_frame(void **state)
{
	static const uint8_t types[] = {0, 0x10}; /* as Linux 6.18 says it; as it is proposed */
	static uint8_t bytes[SUPER_BYTES_MAX];

	(void)state;
	for (size_t t = 0; t < RTE_DIM(types); t++) {
		struct virtio_net_hdr header;
		struct super_frame frame;
		uint32_t length = super_make(bytes, shapes[2], 4000, &header, 1448), n = 0;
		uint32_t transport = frame_transport(&shapes[2]);

		bytes[transport + 12] |= 1; /* AE */
		bytes[transport + TCP_FLAGS] = 0x10 | CWR | ECE;
		header.gso_type = VIRTIO_NET_HDR_GSO_TCPV6 | types[t];
		assert_true(super_frame_open(&frame, &header, bytes, length));
		for (; frame.open; n++) {
			struct rte_mbuf *mbuf = super_frame_take(&frame, pool);
			const uint8_t *tcp;

			assert_non_null(mbuf);
			tcp = rte_pktmbuf_mtod_offset(mbuf, const uint8_t *, transport);
			assert_int_equal(tcp[12] & 1, 1);
			assert_int_equal(tcp[TCP_FLAGS], 0x10 | CWR | ECE);
			assert_int_equal(
			        frame_wrong_sums(rte_pktmbuf_mtod(mbuf, const uint8_t *),
			                         &(struct frame_shape){
			                                 .ip = 6,
			                                 .protocol = FRAME_TCP,
			                                 .payload_bytes = n < 2 ? 1448 : 1104}),
			        0);
			rte_pktmbuf_free(mbuf);
		}
		assert_int_equal(n, 3);
	}
}

/* As the kernel leaves the frame: the checksum field has the sum of the pseudo header. In a frame
 * with a right checksum, that is 0xffff less the sum of the rest. */
static void a_checksum_that_is_missing_is_computed(void **state)
{
	uint8_t whole[FRAME_BYTES_MAX], bytes[FRAME_BYTES_MAX];

	(void)state;
	for (size_t s = 0; s < RTE_DIM(shapes); s++) {
		for (uint32_t payload = 0; payload < 1200; payload += 33) {
			struct frame_shape shape = shapes[s];
			uint32_t at = frame_transport(&shape), length;
			struct virtio_net_hdr header = {.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
			                                .csum_start = (uint16_t)at};
			struct super_frame frame;
			struct rte_mbuf *mbuf;
			uint16_t sum;

			header.csum_offset = shape.protocol == FRAME_UDP ? 6 : 16;
			shape.payload_bytes = payload;
			length = frame_make(whole, &shape);
			memcpy(bytes, whole, length);
			sum = (uint16_t)~rte_raw_cksum(whole + at, length - at);
			memcpy(bytes + at + header.csum_offset, &sum, sizeof(sum));
			assert_true(super_frame_open(&frame, &header, bytes, length));
			mbuf = super_frame_take(&frame, pool);
			assert_non_null(mbuf);
			assert_int_equal(mbuf->pkt_len, length);
			assert_memory_equal(rte_pktmbuf_mtod(mbuf, uint8_t *), whole, length);
			assert_false(frame.open);
			rte_pktmbuf_free(mbuf);
		}
	}
}

/* By bits, as RFC 9260 defines it; the code under test goes by half bytes. */
static uint32_t crc32c(const uint8_t *bytes, uint32_t n)
{
	uint32_t crc = 0xffffffff;

	for (uint32_t bit = 0; bit < 8 * n; bit++) {
		uint32_t in = bytes[bit / 8] >> bit % 8 & 1;

		crc = crc >> 1 ^ ((crc ^ in) & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

static void a_checksum_of_sctp_is_a_crc(void **state)
{
	struct virtio_net_hdr header = {
	        .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = 34, .csum_offset = 8};
	uint8_t *bytes = malloc(134);
	struct super_frame frame;

	(void)state;
	assert_non_null(bytes);
	assert_int_equal(crc32c((const uint8_t *)"123456789", 9), 0xe3069283);
	for (uint32_t length = 34; length <= 134; length++) {
		uint8_t *end = bytes + 134 - length; /* for AddressSanitizer */
		uint32_t crc;

		for (uint32_t i = 0; i < length; i++)
			end[i] = (uint8_t)(i * 37);
		if (length < 34 + 12) {
			assert_false(super_frame_open(&frame, &header, end, length));
			continue;
		}
		memset(end + 42, 0, 4);
		crc = crc32c(end + 34, length - 34);
		memset(end + 42, 0xaa, 4);
		assert_true(super_frame_open(&frame, &header, end, length));
		for (int i = 0; i < 4; i++)
			assert_int_equal(end[42 + i], crc >> 8 * i & 0xff);
	}
	free(bytes);
}

static void a_sum_of_zero_is_sent_as_ones_by_udp(void **state)
{
	struct virtio_net_hdr header = {
	        .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = 14, .csum_offset = 6};
	uint8_t bytes[32] = {0};
	struct super_frame frame;

	(void)state;
	memset(bytes + 14, 0xff, 2); /* all of the sum: its complement is 0 */
	assert_true(super_frame_open(&frame, &header, bytes, sizeof(bytes)));
	assert_int_equal(headers_u16(bytes + 20), 0xffff);
}

/* Nothing beyond the frame is touched either: for AddressSanitizer, the frame is at the end of its
 * memory. */
static void what_contradicts_the_frame_is_refused(void **state)
{
	static const struct virtio_net_hdr wrong[] = {
	        {.flags = 1, .csum_start = 60, .csum_offset = 0},
	        {.flags = 1, .csum_start = 0xffff, .csum_offset = 0xffff},
	        {.flags = 1, .csum_start = 34, .csum_offset = 25},
	        {.gso_type = 1, .gso_size = 0},
	        {.gso_type = 4, .gso_size = 10},
	        {.gso_type = 5, .gso_size = 10},
	        {.gso_type = 3, .gso_size = 10},
	        {.gso_type = 77, .gso_size = 10},
	};
	struct frame_shape shape = {.ip = 4, .protocol = FRAME_TCP, .payload_bytes = 6};
	uint8_t *bytes = malloc(60);
	struct super_frame frame;

	(void)state;
	assert_non_null(bytes);
	assert_int_equal(frame_make(bytes, &shape), 60);
	for (size_t i = 0; i < RTE_DIM(wrong); i++)
		assert_false(super_frame_open(&frame, &wrong[i], bytes, 60));
	for (int i = 0; i < 20000; i++) {
		struct virtio_net_hdr header;
		struct rte_mbuf *mbuf;

		for (size_t b = 0; b < sizeof(header); b++)
			((uint8_t *)&header)[b] = (uint8_t)(drawn() % 70);
		frame_make(bytes, &shape);
		bytes[14 + drawn() % 46] = (uint8_t)drawn();
		if (!super_frame_open(&frame, &header, bytes, 60))
			continue;
		while (frame.open) {
			mbuf = super_frame_take(&frame, pool);
			assert_non_null(mbuf);
			rte_pktmbuf_free(mbuf);
		}
	}
	free(bytes);
}

static void without_a_buffer_nothing_is_taken(void **state)
{
	static uint8_t bytes[SUPER_BYTES_MAX];
	struct rte_mempool *few = poison_pool_make("few", 3, 0, 512 + 128);
	struct rte_mbuf *mbufs[3], *mbuf;
	struct virtio_net_hdr header;
	struct super_frame frame;
	uint32_t length = super_make(bytes, shapes[0], 4000, &header, 1448);

	(void)state;
	assert_non_null(few);
	assert_true(super_frame_open(&frame, &header, bytes, length));
	/* 1,502 bytes take three buffers of 512. */
	mbuf = super_frame_take(&frame, few);
	assert_non_null(mbuf);
	assert_int_equal(mbuf->nb_segs, 3);
	assert_null(super_frame_take(&frame, few));
	assert_int_equal(super_frame_left(&frame), 2);
	rte_pktmbuf_free(mbuf);
	assert_int_equal(rte_pktmbuf_alloc_bulk(few, mbufs, 2), 0);
	assert_null(super_frame_take(&frame, few));
	rte_pktmbuf_free_bulk(mbufs, 2);
	mbuf = super_frame_take(&frame, few);
	assert_non_null(mbuf);
	check_part(mbuf, bytes, shapes[0], 1448, 1448, 1, false);
	rte_pktmbuf_free(mbuf);
	assert_int_equal(poison_missing(few), 0);
	poison_pool_free(few);
}

/* ---- joined ---- */

#define FRAMES 45

/* Makes the frames of a flow, by cutting a super-frame without CWR and FIN. */
static uint16_t flow_make(struct rte_mbuf *mbufs[FRAMES], struct frame_shape shape,
                          uint32_t payload)
{
	static uint8_t bytes[SUPER_BYTES_MAX];
	struct virtio_net_hdr header;
	struct super_frame frame;
	uint32_t length = super_make(bytes, shape, payload, &header, 1448);
	uint16_t n = 0;

	bytes[frame_transport(&shape) + TCP_FLAGS] = 0x18;
	assert_true(super_frame_open(&frame, &header, bytes, length));
	while (frame.open) {
		assert_true(n < FRAMES);
		mbufs[n] = super_frame_take(&frame, pool);
		assert_non_null(mbufs[n]);
		n++;
	}
	return n;
}

static uint32_t flat_make(const struct joined_frame *joined, uint8_t *flat)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < joined->n_parts; i++) {
		memcpy(flat + n, joined->parts[i].iov_base, joined->parts[i].iov_len);
		n += (uint32_t)joined->parts[i].iov_len;
	}
	assert_int_equal(n, joined->bytes);
	return n;
}

/* Joins all frames, cuts the result, and compares it with the originals. Returns how many were
 * handed over. */
static uint32_t join_and_cut(struct rte_mbuf **mbufs, uint16_t n)
{
	static uint8_t flat[SUPER_BYTES_MAX];
	static struct joined_frame joined;
	uint32_t handed = 0;

	for (uint16_t at = 0; at < n; handed++) {
		uint16_t k = joined_frame_make(&joined, mbufs + at, (uint16_t)(n - at), true);
		struct super_frame frame;
		uint32_t length;

		assert_in_range(k, 1, n - at);
		length = flat_make(&joined, flat);
		assert_true(super_frame_open(&frame, &joined.header, flat, length));
		for (; k > 0; k--, at++) {
			struct rte_mbuf *mbuf = super_frame_take(&frame, pool);

			assert_non_null(mbuf);
			assert_int_equal(mbuf->pkt_len, mbufs[at]->pkt_len);
			assert_memory_equal(rte_pktmbuf_mtod(mbuf, uint8_t *),
			                    rte_pktmbuf_mtod(mbufs[at], uint8_t *), mbuf->pkt_len);
			rte_pktmbuf_free(mbuf);
		}
		assert_false(frame.open);
	}
	return handed;
}

static void frames_of_a_flow_are_joined_and_cut_again_they_are_the_same(void **state)
{
	static const uint32_t payloads[] = {2896, 4000, 64000, 60000};
	struct rte_mbuf *mbufs[FRAMES];

	(void)state;
	for (size_t s = 0; s < 4; s++) {
		for (size_t p = 0; p < RTE_DIM(payloads); p++) {
			uint16_t n = flow_make(mbufs, shapes[s], payloads[p]);

			assert_int_equal(join_and_cut(mbufs, n), 1);
			rte_pktmbuf_free_bulk(mbufs, n);
		}
	}
}

/* Changes any byte of any frame. If the frames can still be joined, cutting returns the same
 * frames. */
static void whatever_is_changed_in_a_frame_is_what_leaves(void **state)
{
	struct rte_mbuf *mbufs[FRAMES];

	(void)state;
	for (int round = 0; round < 2000; round++) {
		uint16_t n = flow_make(mbufs, shapes[drawn() % 4], 7000);
		uint16_t which = (uint16_t)(drawn() % n);
		uint32_t most = drawn() % 2 ? 90 : mbufs[which]->pkt_len;
		uint8_t *frame = rte_pktmbuf_mtod(mbufs[which], uint8_t *);

		frame[drawn() % RTE_MIN(most, mbufs[which]->pkt_len)] ^=
		        (uint8_t)(1u << drawn() % 8);
		join_and_cut(mbufs, n);
		rte_pktmbuf_free_bulk(mbufs, n);
	}
}

static void a_frame_with_a_wrong_checksum_goes_alone(void **state)
{
	struct rte_mbuf *mbufs[FRAMES];
	uint16_t n = flow_make(mbufs, shapes[0], 1448 * 5);

	(void)state;
	assert_int_equal(n, 5);
	*rte_pktmbuf_mtod_offset(mbufs[2], uint8_t *, 700) ^= 1;
	/* Two joined, the changed one, two joined. */
	assert_int_equal(join_and_cut(mbufs, n), 3);
	rte_pktmbuf_free_bulk(mbufs, n);
}

/* A kernel takes the option out when it cuts, whatever length it says. */
static void frames_with_the_option_for_long_packets_go_alone(void **state)
{
	const struct frame_shape shape = {.ip = 6, .protocol = FRAME_TCP, .n_extensions = 1};
	struct rte_mbuf *mbufs[FRAMES];
	uint16_t n = flow_make(mbufs, shape, 1448 * 5);

	(void)state;
	for (uint16_t i = 0; i < n; i++) {
		uint8_t *option = rte_pktmbuf_mtod_offset(mbufs[i], uint8_t *, 14 + 40 + 2);

		option[0] = 0xc2;
		option[1] = 4;
	}
	assert_int_equal(join_and_cut(mbufs, n), 5);
	rte_pktmbuf_free_bulk(mbufs, n);
}

static void a_gap_another_flow_or_a_shorter_frame_ends_what_is_joined(void **state)
{
	struct rte_mbuf *mbufs[FRAMES], *gap;
	uint16_t n = flow_make(mbufs, shapes[0], 1448 * 6 + 100);

	(void)state;
	assert_int_equal(n, 7);
	gap = mbufs[3];
	memmove(&mbufs[3], &mbufs[4], 3 * sizeof(*mbufs));
	/* Three joined; two joined with the short one. */
	assert_int_equal(join_and_cut(mbufs, 6), 2);
	rte_pktmbuf_free_bulk(mbufs, 6);
	rte_pktmbuf_free(gap);
}

/* AccECN's counter is in each of its segments: with ECE, and with CWR, which a kernel clears. */
static void frames_with_a_counter_of_ecn_are_joined_unless_it_has_cwr(void **state)
{
	static const struct {
		uint8_t flags;
		uint32_t handed;
	} cases[] = {{0x10, 1}, {0x10 | ECE, 1}, {0x10 | CWR, 5}, {0x10 | ECE | CWR, 5}};
	struct rte_mbuf *mbufs[FRAMES];

	(void)state;
	for (size_t c = 0; c < RTE_DIM(cases); c++) {
		uint16_t n = flow_make(mbufs, shapes[0], 1448 * 5);

		for (uint16_t i = 0; i < n; i++) {
			uint8_t *frame = rte_pktmbuf_mtod(mbufs[i], uint8_t *);
			uint8_t *tcp = frame + frame_transport(&shapes[0]);
			uint32_t sum = (uint16_t)~headers_u16(tcp + 16) + cases[c].flags +
			               (uint16_t)~tcp[TCP_FLAGS];

			tcp[TCP_FLAGS] = cases[c].flags;
			while (sum >> 16)
				sum = (sum >> 16) + (sum & 0xffff);
			headers_put_u16(tcp + 16, (uint16_t)~sum);
		}
		assert_int_equal(join_and_cut(mbufs, n), cases[c].handed);
		rte_pktmbuf_free_bulk(mbufs, n);
	}
}

GROUP(super_frame)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_super_frame_is_cut_into_the_frames_that_a_device_would_send),
	        cmocka_unit_test(a_checksum_that_is_missing_is_computed),
	        cmocka_unit_test(the_counter_of_accurate_ecn_is_in_every_frame),
	        cmocka_unit_test(a_checksum_of_sctp_is_a_crc),
	        cmocka_unit_test(a_sum_of_zero_is_sent_as_ones_by_udp),
	        cmocka_unit_test(what_contradicts_the_frame_is_refused),
	        cmocka_unit_test(without_a_buffer_nothing_is_taken),
	        cmocka_unit_test(frames_of_a_flow_are_joined_and_cut_again_they_are_the_same),
	        cmocka_unit_test(whatever_is_changed_in_a_frame_is_what_leaves),
	        cmocka_unit_test(a_frame_with_a_wrong_checksum_goes_alone),
	        cmocka_unit_test(frames_with_a_counter_of_ecn_are_joined_unless_it_has_cwr),
	        cmocka_unit_test(frames_with_the_option_for_long_packets_go_alone),
	        cmocka_unit_test(a_gap_another_flow_or_a_shorter_frame_ends_what_is_joined),
	};

	return cmocka_run_group_tests_name("super_frame", tests, pool_up, pool_down);
}
