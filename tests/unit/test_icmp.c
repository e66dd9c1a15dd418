/* SPDX-License-Identifier: BSD-3-Clause */
/* The ICMP messages of a router, byte by byte; and the packets about which it sends none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rte_ip.h>

#include "frame.h"
#include "router/hop.h"
#include "runner/group.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const struct icmp_source router = {
        .v4 = {203, 0, 113, 9},
        .v6 = {0x20, 1, 0xd, 0xb8, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9},
        .identification = 0x1234,
};

/* Returns DPDK's sum over `bytes`, folded, whether their checksum field is 0 or not. */
static uint32_t sum_over(const void *bytes, uint32_t n, uint32_t start)
{
	uint32_t sum = start + rte_raw_cksum(bytes, n);

	return (sum & 0xffff) + (sum >> 16);
}

struct made {
	struct icmp_source source;
	struct headers headers;
	uint32_t bytes, frame_bytes;
	uint8_t frame[FRAME_BYTES_MAX], answer[ICMP_FRAME_MAX];
};

static struct made *make(const struct frame_shape *shape, enum icmp_error error, uint32_t rest)
{
	static struct made made;

	made.source = router;
	made.frame_bytes = frame_make(made.frame, shape);
	memset(made.answer, 0x99, sizeof(made.answer));
	assert_true(headers_find(made.frame, made.frame_bytes, made.frame_bytes, &made.headers));
	assert_true(icmp_can_tell(&made.source, error, &made.headers));
	made.bytes = icmp_error_write(&made.source, error, rest, &made.headers, made.frame,
	                              made.frame_bytes, made.answer);
	return &made;
}

static void an_ipv4_error_is_right_in_every_byte(void **state)
{
	/* UDP with 4 bytes of data, so the IP packet has 32 bytes, behind two tags. */
	const struct frame_shape shape = {.ip = 4,
	                                  .protocol = FRAME_UDP,
	                                  .n_tags = 2,
	                                  .host = 5,
	                                  .payload_bytes = 4,
	                                  .padding_bytes = 10};
	static const struct {
		enum icmp_error error;
		uint32_t rest;
		uint8_t icmp[8]; /* checksum 0 */
		uint32_t quoted;
	} rows[] = {
	        {ICMP_TIME_EXCEEDED, 0, {11, 0}, 32},
	        {ICMP_TOO_BIG, 1400, {3, 4, 0, 0, 0, 0, 0x05, 0x78}, 32},
	        {ICMP_PORT_UNREACHABLE, 0, {3, 3}, 32},
	        /* at most 56 bytes of IP, however much there is to quote */
	        {ICMP_SOURCE_QUENCH, 0, {4, 0}, 28},
	        {ICMP_SOURCE_QUENCH, 0x80000000, {4, 0, 0, 0, 0x80}, 28},
	};
	static const uint8_t ethernet[] = {2,    0,    0,    0,   0,    2,    2,    0,
	                                   0,    0,    0,    1,   0x88, 0xa8, 0x60, 100,
	                                   0x81, 0x00, 0x60, 101, 0x08, 0x00};
	static const uint8_t ip[] = {0x45, 0xc0, 0,   0, 0x12, 0x34, 0,   0, 64, 1,
	                             0,    0,    203, 0, 113,  9,    192, 0, 2,  5};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		const struct made *made = make(&shape, rows[i].error, rows[i].rest);
		const uint8_t *at = made->answer;
		uint32_t quoted = rows[i].quoted;

		assert_int_equal(made->bytes, 22 + 20 + 8 + quoted);
		assert_memory_equal(at, ethernet, sizeof(ethernet));
		assert_memory_equal(at + 22, ip, 2);
		assert_int_equal(headers_u16(at + 24), 28 + quoted);
		assert_memory_equal(at + 26, ip + 4, 6);
		assert_memory_equal(at + 22 + 12, ip + 12, 8);
		assert_int_equal(sum_over(at + 22, 20, 0), 0xffff);
		assert_memory_equal(at + 42, rows[i].icmp, 2);
		assert_memory_equal(at + 46, rows[i].icmp + 4, 4);
		assert_int_equal(sum_over(at + 42, 8 + quoted, 0), 0xffff);
		/* The packet is quoted, the padding behind it is not. */
		assert_memory_equal(at + 50, made->frame + 22, quoted);
		assert_int_equal(made->source.identification, 0x1235);
	}
}

static void an_ipv6_error_is_right_in_every_byte(void **state)
{
	const struct frame_shape shape = {.ip = 6,
	                                  .protocol = FRAME_TCP,
	                                  .n_tags = 1,
	                                  .host = 5,
	                                  .n_extensions = 3,
	                                  .payload_bytes = 3};
	static const struct {
		enum icmp_error error;
		uint32_t rest;
		uint8_t icmp[8];
		uint8_t quoted;
	} rows[] = {
	        {ICMP_TIME_EXCEEDED, 0, {3, 0}, 87},
	        {ICMP_TOO_BIG, 0x12345, {2, 0, 0, 0, 0, 1, 0x23, 0x45}, 87},
	        {ICMP_PORT_UNREACHABLE, 0, {1, 4}, 87},
	        /* private experimentation: the header, and 8 bytes */
	        {ICMP_SOURCE_QUENCH, 0x80000000, {200, 0, 0, 0, 0x80}, 48},
	};
	static const uint8_t head[] = {0x60, 0, 0, 0, 0};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		const struct made *made = make(&shape, rows[i].error, rows[i].rest);
		const uint8_t *at = made->answer, *ip = at + 18;
		uint8_t icmp_bytes = (uint8_t)(8 + rows[i].quoted);
		uint8_t pseudo[8] = {0, 0, 0, icmp_bytes, 0, 0, 0, 58};

		assert_int_equal(made->bytes, 18 + 40 + icmp_bytes);
		assert_memory_equal(at, made->frame + 6, 6);
		assert_memory_equal(at + 6, made->frame, 6);
		assert_memory_equal(at + 12, made->frame + 12, 6);
		assert_memory_equal(ip, head, sizeof(head));
		assert_memory_equal(ip + 5, ((uint8_t[]){icmp_bytes, 58, 64}), 3);
		assert_memory_equal(ip + 8, router.v6, 16);
		assert_memory_equal(ip + 24, made->frame + 18 + 8, 16);
		assert_memory_equal(ip + 40, rows[i].icmp, 2);
		assert_memory_equal(ip + 44, rows[i].icmp + 4, 4);
		assert_int_equal(
		        sum_over(ip + 40, icmp_bytes, sum_over(pseudo, 8, sum_over(ip + 8, 32, 0))),
		        0xffff);
		assert_memory_equal(ip + 48, made->frame + 18, rows[i].quoted);
		assert_int_equal(made->source.identification, 0x1234);
	}
}

/* 576 and 1280 bytes of IP (RFC 1812 4.3.2.3, RFC 4443 2.4 c), also when the number of quoted bytes
 * is odd, or the packet is shorter and quoted as a whole. */
static void it_quotes_as_much_as_fits_and_no_more(void **state)
{
	static const struct {
		uint8_t ip;
		uint32_t packet, answer; /* bytes of the IP packets */
	} rows[] = {
	        {4, 28, 56}, {4, 547, 575},   {4, 548, 576},   {4, 549, 576},   {4, 1500, 576},
	        {6, 48, 96}, {6, 1231, 1279}, {6, 1232, 1280}, {6, 1233, 1280}, {6, 1500, 1280},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		uint32_t head = rows[i].ip == 4 ? 20 : 40;
		const struct frame_shape shape = {.ip = rows[i].ip,
		                                  .protocol = FRAME_UDP,
		                                  .payload_bytes = rows[i].packet - head - 8};
		const struct made *made = make(&shape, ICMP_TIME_EXCEEDED, 0);

		assert_int_equal(made->bytes, 14 + rows[i].answer);
		assert_memory_equal(made->answer + 14 + head + 8, made->frame + 14,
		                    rows[i].answer - head - 8);
	}
}

static void what_a_capture_has_cut_off_is_not_quoted(void **state)
{
	const struct frame_shape shape = {.ip = 4, .protocol = FRAME_UDP, .payload_bytes = 400};
	uint8_t frame[FRAME_BYTES_MAX], answer[ICMP_FRAME_MAX];
	uint32_t bytes = frame_make(frame, &shape);
	struct icmp_source source = router;
	struct headers headers;

	(void)state;
	assert_true(headers_find(frame, 64, bytes, &headers));
	assert_int_equal(headers.network_bytes, 428);
	assert_int_equal(
	        icmp_error_write(&source, ICMP_TIME_EXCEEDED, 0, &headers, frame, 64, answer),
	        14 + 28 + 50);
}

static void a_router_has_not_words_for_everything(void **state)
{
	const struct headers v4 = {.ip = 4}, v6 = {.ip = 6};
	struct icmp_source half = router;

	(void)state;
	memset(half.v6, 0, sizeof(half.v6));
	assert_true(icmp_can_tell(&half, ICMP_TIME_EXCEEDED, &v4));
	assert_true(icmp_can_tell(&half, ICMP_SOURCE_QUENCH, &v4));
	assert_false(icmp_can_tell(&half, ICMP_TIME_EXCEEDED, &v6));
	assert_true(icmp_can_tell(&router, ICMP_TIME_EXCEEDED, &v6));
	assert_true(icmp_can_tell(&router, ICMP_SOURCE_QUENCH, &v6));
	assert_false(icmp_can_tell(&half, ICMP_SOURCE_QUENCH, &v6));
}

/* Replaces a byte of the frame, and corrects the IPv4 header's checksum if `mend` is set. Returns
 * icmp_may_tell() of it. */
static bool may_tell(const struct frame_shape *shape, uint32_t at, uint8_t byte, bool mend)
{
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = frame_make(frame, shape), network = frame_network(shape);
	uint8_t *ip = frame + network;
	struct headers headers;

	if (at)
		frame[at] = byte;
	if (shape->ip == 4 && mend) {
		uint16_t sum;

		memset(ip + 10, 0, 2);
		sum = (uint16_t)~rte_raw_cksum(ip, (ip[0] & 0xfu) * 4);
		memcpy(ip + 10, &sum, 2);
	}
	assert_true(headers_find(frame, bytes, bytes, &headers));
	return icmp_may_tell(&headers, frame, bytes);
}

static void nothing_is_said_about_what_must_not_be_answered(void **state)
{
	enum { IP = 14, ICMP_V4 = 34, ICMP_V6 = 54 };
	static const struct frame_shape udp = {.ip = 4, .protocol = FRAME_UDP, .host = 5},
	                                icmp = {.ip = 4, .protocol = FRAME_ICMP, .host = 5},
	                                six = {.ip = 6, .protocol = FRAME_ICMPV6, .host = 5},
	                                later = {.ip = 4,
	                                         .protocol = FRAME_UDP,
	                                         .fragment = 3,
	                                         .payload_bytes = 20,
	                                         .host = 5},
	                                later_six = {.ip = 6,
	                                             .protocol = FRAME_UDP,
	                                             .fragment = 3,
	                                             .payload_bytes = 20,
	                                             .host = 5};
	static const struct {
		const struct frame_shape *shape;
		uint32_t at;
		uint8_t byte;
		bool may;
	} rows[] = {
	        {&udp, 0, 0, true},
	        {&later, 0, 0, false},
	        {&later_six, 0, 0, false},
	        /* Ethernet: a group */
	        {&udp, 0, 0, true},
	        {&udp, IP + 16, 224, false}, /* IP: a group; all */
	        {&udp, IP + 16, 255, false},
	        {&udp, IP + 12, 0, false}, /* no node's address */
	        {&udp, IP + 12, 127, false},
	        {&udp, IP + 12, 224, false},
	        {&udp, IP + 12, 240, false},
	        {&udp, IP + 12, 223, true},
	        {&icmp, ICMP_V4, 8, true}, /* ICMP, but no error */
	        {&icmp, ICMP_V4, 0, true},
	        {&icmp, ICMP_V4, 13, true},
	        {&icmp, ICMP_V4, 3, false},
	        {&icmp, ICMP_V4, 4, false},
	        {&icmp, ICMP_V4, 5, false},
	        {&icmp, ICMP_V4, 11, false},
	        {&icmp, ICMP_V4, 12, false},
	        {&six, ICMP_V6, 128, true},
	        {&six, ICMP_V6, 1, false},
	        {&six, ICMP_V6, 127, false},
	        {&six, ICMP_V6, 137, false},
	        {&six, ICMP_V6, 199, true},
	        {&six, ICMP_V6, 200, false}, /* the substitute for a source quench */
	        {&six, IP + 24, 0xff, false},
	        {&six, IP + 8, 0xff, false},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		if (may_tell(rows[i].shape, rows[i].at, rows[i].byte, true) != rows[i].may)
			fail_msg("row %zu", i);
	}
	/* The Ethernet address is at offset 0, which the table cannot express. */
	{
		uint8_t frame[FRAME_BYTES_MAX];
		uint32_t bytes = frame_make(frame, &udp);
		struct headers headers;

		assert_true(headers_find(frame, bytes, bytes, &headers));
		frame[0] = 0x01;
		assert_false(icmp_may_tell(&headers, frame, bytes));
	}
	/* A header with a wrong checksum. */
	assert_false(may_tell(&udp, IP + 8, 63, false));
}

static void of_an_icmp_packet_whose_type_is_cut_off_nothing_is_said(void **state)
{
	const struct frame_shape shape = {.ip = 4, .protocol = FRAME_ICMP, .host = 5};
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = frame_make(frame, &shape);
	struct headers headers;

	(void)state;
	assert_true(headers_find(frame, 34, bytes, &headers));
	assert_false(icmp_may_tell(&headers, frame, 34));
}

static void an_echo_request_becomes_its_reply(void **state)
{
	static const struct frame_shape shapes[] = {
	        {.ip = 4, .protocol = FRAME_ICMP, .host = 5, .payload_bytes = 33, .n_tags = 1},
	        {.ip = 4, .protocol = FRAME_ICMP, .host = 5, .option_words = 2},
	        {.ip = 6, .protocol = FRAME_ICMPV6, .host = 5, .payload_bytes = 56},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(shapes); i++) {
		uint32_t at = frame_network(&shapes[i]), icmp = frame_transport(&shapes[i]);
		uint32_t address = shapes[i].ip == 4 ? 4 : 16, from = at + (address == 4 ? 12 : 8);
		uint8_t request[FRAME_BYTES_MAX], reply[FRAME_BYTES_MAX];
		uint32_t bytes = frame_make(request, &shapes[i]);
		struct icmp_source source = router;
		struct headers headers;

		request[at + (address == 4 ? 8 : 7)] = 3;
		memcpy(reply, request, bytes);
		assert_true(headers_find(reply, bytes, bytes, &headers));
		assert_true(icmp_is_echo_request(&headers, reply));
		icmp_echo_turn(&source, &headers, reply);
		assert_memory_equal(reply, request + 6, 6);
		assert_memory_equal(reply + 6, request, 6);
		assert_memory_equal(reply + 12, request + 12, at - 12);
		assert_memory_equal(reply + from, request + from + address, address);
		assert_memory_equal(reply + from + address, request + from, address);
		assert_int_equal(reply[at + (address == 4 ? 8 : 7)], ICMP_TTL);
		assert_int_equal(reply[icmp], address == 4 ? 0 : 129);
		assert_memory_equal(reply + icmp + 4, request + icmp + 4, bytes - icmp - 4);
		assert_int_equal(frame_wrong_sums(reply, &shapes[i]), 0);
		assert_int_equal(headers_u16(reply + at + 4),
		                 address == 4 ? 0x1234 : headers_u16(request + at + 4));
		/* A reply is not a request. */
		assert_false(icmp_is_echo_request(&headers, reply));
	}
}

GROUP(icmp)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(an_ipv4_error_is_right_in_every_byte),
	        cmocka_unit_test(an_ipv6_error_is_right_in_every_byte),
	        cmocka_unit_test(it_quotes_as_much_as_fits_and_no_more),
	        cmocka_unit_test(what_a_capture_has_cut_off_is_not_quoted),
	        cmocka_unit_test(a_router_has_not_words_for_everything),
	        cmocka_unit_test(nothing_is_said_about_what_must_not_be_answered),
	        cmocka_unit_test(of_an_icmp_packet_whose_type_is_cut_off_nothing_is_said),
	        cmocka_unit_test(an_echo_request_becomes_its_reply),
	};

	return cmocka_run_group_tests_name("icmp", tests, NULL, NULL);
}
