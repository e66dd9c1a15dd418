/* SPDX-License-Identifier: BSD-3-Clause */
/* Super-frames in tunnels, and those of more than 64 KiB. Frames are made here from a description,
 * whole or as a kernel leaves them, with sums by plain arithmetic: a frame that is cut out of the
 * latter must equal the former in every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "packet/headers.h"
#include "port/super_frame.h"
#include "runner/group.h"
#include "super_pool.h"

#define FRAMES      400
#define FIN_PSH_ACK 0x19
#define ACK         0x10
#define PSH         0x08

enum between { PLAIN, IN_IP, IN_GRE, IN_GRE_SUM, IN_UDP, IN_UDP_SUM, IN_MPLS };

struct tunnel {
	const char *name;
	int outer; /* 4, 6, or 0: none */
	enum between between;
	const char *header; /* behind UDP, or the rest of GRE, in hexadecimal digits */
	int inner;
	bool udp;      /* in the inner packet */
	int tags;      /* before the outer IP */
	bool ethernet; /* before the inner IP */
	bool jumbo;    /* IPv6 has the option for lengths above 64 KiB */
	uint16_t port; /* 0: 4789 */
};

static const struct tunnel tunnels[] = {
        {"VXLAN over IPv4", 4, IN_UDP_SUM, "0800000000000700", 4, .ethernet = true},
        {"VXLAN without checksum", 4, IN_UDP, "0800000000000700", 4, .ethernet = true},
        {"VXLAN over IPv6", 6, IN_UDP_SUM, "0800000000000700", 6, .ethernet = true},
        {"VXLAN behind two tags", 4, IN_UDP_SUM, "0800000000000700", 6, .tags = 2,
         .ethernet = true},
        {"UDP in VXLAN", 4, IN_UDP_SUM, "0800000000000700", 4, .udp = true, .ethernet = true},
        {"UDP in VXLAN, IPv6", 6, IN_UDP, "0800000000000700", 6, .udp = true, .ethernet = true},
        {"Geneve with options", 4, IN_UDP_SUM,
         "0300655800000700"
         "0102030405060708090a0b0c",
         4, .ethernet = true, .port = 6081},
        {"Geneve of IP", 6, IN_UDP_SUM, "0000080000000700", 4, .port = 6081},
        {"FOU", 4, IN_UDP_SUM, "", 4, .port = 5555},
        {"an odd header", 4, IN_UDP_SUM, "010203", 6, .port = 5556},
        {"GRE", 4, IN_GRE, "00000800", 4, .udp = false},
        {"GRE with a key", 4, IN_GRE, "200086dd00000001", 6, .udp = false},
        {"GRE with a checksum", 4, IN_GRE_SUM, "8000080000000000", 4, .udp = false},
        {"GRE with both", 6, IN_GRE_SUM, "a00065580000000000000001", 4, .ethernet = true},
        {"gretap", 4, IN_GRE, "00006558", 6, .ethernet = true},
        {"IPIP", 4, IN_IP, "", 4, .udp = false},
        {"6in4", 4, IN_IP, "", 6, .udp = false},
        {"4in6", 6, IN_IP, "", 4, .udp = false},
        {"6in6, tagged", 6, IN_IP, "", 6, .tags = 1},
        {"MPLS", 0, IN_MPLS, "0001004000020140", 4, .udp = false},
        {"BIG TCP over IPv4", 0, PLAIN, "", 4, .udp = false},
        {"BIG TCP over IPv6", 0, PLAIN, "", 6, .tags = 1, .jumbo = true},
        {"BIG TCP over IPv6 without the option", 0, PLAIN, "", 6, .udp = false},
        {"BIG TCP in VXLAN", 6, IN_UDP_SUM, "0800000000000700", 6, .ethernet = true, .jumbo = true},
};

/* A frame in the making, which is whole or a super-frame. */
struct maker {
	const struct tunnel *tunnel;
	uint8_t *bytes;
	uint32_t at;
	uint32_t outer, between, inner, transport, payload;
	uint32_t payload_bytes;
	bool super;
};

static uint32_t sum_of(const uint8_t *bytes, uint32_t n)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += (uint32_t)bytes[i] << (i % 2 ? 0 : 8);
	while (sum >> 16)
		sum = (sum >> 16) + (sum & 0xffff);
	return sum;
}

static uint16_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum >> 16) + (sum & 0xffff);
	return (uint16_t)sum;
}

static uint32_t pseudo_sum(const uint8_t *ip, uint8_t protocol, uint32_t bytes)
{
	return sum_of(ip + (ip[0] >> 4 == 4 ? 12 : 8), ip[0] >> 4 == 4 ? 8 : 32) + protocol +
	       (bytes >> 16) + (bytes & 0xffff);
}

static void put_hex(struct maker *maker, const char *digits)
{
	for (; digits[0] && digits[1]; digits += 2) {
		unsigned byte;

		assert_int_equal(sscanf(digits, "%2x", &byte), 1);
		maker->bytes[maker->at++] = (uint8_t)byte;
	}
}

static void put_ip(struct maker *maker, int version, uint8_t protocol, bool jumbo)
{
	uint8_t *ip = maker->bytes + maker->at;

	if (version == 4) {
		put_hex(maker, "4502000012340000400000000a0700010a070002");
		ip[9] = protocol;
		return;
	}
	put_hex(maker, "6020000100000040fd07000000000000000000000000000"
	               "1fd070000000000000000000000000002");
	ip[6] = protocol;
	if (jumbo && maker->super) {
		ip[6] = 0;
		maker->bytes[maker->at] = protocol;
		maker->bytes[maker->at + 1] = 0;
		maker->bytes[maker->at + 2] = 0xc2;
		maker->bytes[maker->at + 3] = 4;
		maker->at += 8;
	}
}

static void put_headers(struct maker *maker)
{
	static const uint8_t protocols[] = {
	        [IN_GRE] = 47, [IN_GRE_SUM] = 47, [IN_UDP] = 17, [IN_UDP_SUM] = 17, [IN_MPLS] = 0};
	const struct tunnel *tunnel = maker->tunnel;
	int first = tunnel->outer ? tunnel->outer : tunnel->inner;
	uint8_t protocol =
	        tunnel->between == IN_IP ? tunnel->inner == 4 ? 4 : 41 : protocols[tunnel->between];

	put_hex(maker, "020000000002020000000001");
	put_hex(maker, tunnel->tags == 2   ? "88a8006481000065"
	               : tunnel->tags == 1 ? "81002007"
	                                   : "");
	put_hex(maker, tunnel->between == IN_MPLS ? "8847" : first == 4 ? "0800" : "86dd");
	maker->outer = maker->at;
	if (tunnel->outer)
		put_ip(maker, tunnel->outer, protocol, false);
	maker->between = maker->at;
	if (protocol == 17) {
		put_hex(maker, "c00012b500000000");
		if (tunnel->port)
			headers_put_u16(maker->bytes + maker->between + 2, tunnel->port);
	}
	put_hex(maker, tunnel->header);
	if (tunnel->ethernet)
		put_hex(maker, tunnel->inner == 4 ? "0600000000020600000000010800"
		                                  : "06000000000206000000000186dd");
	maker->inner = maker->at;
	put_ip(maker, tunnel->inner, tunnel->udp ? 17 : 6, tunnel->jumbo);
	maker->transport = maker->at;
	put_hex(maker, tunnel->udp ? "0bb80bb900000000"
	                           : "0bb80bb9fffffff000000007801801000000000001010"
	                             "80a0000000100000002");
	maker->payload = maker->at;
}

/* Writes the length and the identification of an IP header. */
static void finish_ip(struct maker *maker, uint32_t at, uint32_t end, uint16_t place)
{
	uint8_t *ip = maker->bytes + at;
	uint32_t bytes = end - at;

	if (ip[0] >> 4 == 6) {
		headers_put_u16(ip + 4, bytes - 40 > 65535 ? 0 : (uint16_t)(bytes - 40));
		if (maker->super && ip[6] == 0)
			headers_put_u32(ip + 44, bytes - 40);
		return;
	}
	headers_put_u16(ip + 2, bytes > 65535 ? 0 : (uint16_t)bytes);
	headers_put_u16(ip + 4, (uint16_t)(0xffff + place));
	headers_put_u16(ip + 10, (uint16_t)~sum_of(ip, 20));
}

/* Writes the checksum at `sum_at` of a header at `at`: in a super-frame the sum of the pseudo
 * header, as the kernel leaves it. */
static void finish_sum(struct maker *maker, uint32_t ip, uint32_t at, uint32_t sum_at, uint32_t end,
                       uint8_t protocol)
{
	uint32_t pseudo = pseudo_sum(maker->bytes + ip, protocol, end - at);
	uint16_t sum;

	headers_put_u16(maker->bytes + sum_at, 0);
	if (maker->super) {
		sum = fold(pseudo);
	} else {
		sum = (uint16_t)~fold(pseudo + sum_of(maker->bytes + at, end - at));
		if (protocol == 17 && sum == 0)
			sum = 0xffff;
	}
	headers_put_u16(maker->bytes + sum_at, sum);
}

static void finish_between(struct maker *maker, uint32_t end)
{
	uint8_t *header = maker->bytes + maker->between;
	enum between between = maker->tunnel->between;

	if (between == IN_UDP || between == IN_UDP_SUM)
		headers_put_u16(header + 4, (uint16_t)(end - maker->between));
	if (between == IN_UDP_SUM)
		finish_sum(maker, maker->outer, maker->between, maker->between + 6, end, 17);
	if (between == IN_GRE_SUM && !maker->super)
		headers_put_u16(header + 4, (uint16_t)~sum_of(header, end - maker->between));
}

/* Makes the frame with `n` bytes of the payload from `from`, the `place`th of its super-frame.
 * Returns its length. */
static uint32_t make(struct maker *maker, uint32_t from, uint32_t n, uint16_t place, uint8_t flags)
{
	const struct tunnel *tunnel = maker->tunnel;
	uint8_t *transport;
	uint32_t end;

	maker->at = 0;
	put_headers(maker);
	end = maker->payload + n;
	transport = maker->bytes + maker->transport;
	for (uint32_t i = 0; i < n; i++)
		maker->bytes[maker->payload + i] = (uint8_t)((from + i) * 7 + (from + i) / 256);
	if (tunnel->udp) {
		headers_put_u16(transport + 4, (uint16_t)(8 + n));
	} else {
		headers_put_u32(transport + 4, headers_u32(transport + 4) + from);
		transport[13] = flags;
	}
	finish_ip(maker, maker->inner, end, place);
	finish_sum(maker, maker->inner, maker->transport, maker->transport + (tunnel->udp ? 6 : 16),
	           end, tunnel->udp ? 17 : 6);
	if (tunnel->outer)
		finish_ip(maker, maker->outer, end, place);
	finish_between(maker, end);
	return end;
}

static struct virtio_net_hdr header_of(const struct maker *maker, uint16_t part)
{
	return (struct virtio_net_hdr){.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
	                               .gso_type = maker->tunnel->udp ? 5
	                                           : maker->tunnel->inner == 4
	                                                   ? VIRTIO_NET_HDR_GSO_TCPV4
	                                                   : VIRTIO_NET_HDR_GSO_TCPV6,
	                               .gso_size = part,
	                               .csum_start = (uint16_t)maker->transport,
	                               .csum_offset = maker->tunnel->udp ? 6 : 16};
}

static void check_cut(const struct tunnel *tunnel, uint32_t payload, uint16_t part, uint8_t flags)
{
	static uint8_t bytes[SUPER_FRAME_BYTES_MAX], whole[70000], flat[70000];
	struct maker super = {.tunnel = tunnel, .bytes = bytes, .super = true};
	struct maker expected = {.tunnel = tunnel, .bytes = whole};
	uint32_t length = make(&super, 0, payload, 0, flags), at = 0;
	struct virtio_net_hdr header = header_of(&super, part);
	struct super_frame frame;

	if (!super_frame_open(&frame, &header, bytes, length))
		fail_msg("%s: %u bytes are refused", tunnel->name, payload);
	for (uint16_t place = 0; at < payload; place++) {
		uint32_t n = RTE_MIN((uint32_t)part, payload - at);
		bool last = at + n == payload;
		uint32_t want = make(&expected, at, n, place,
		                     last ? flags : flags & (uint8_t) ~(FIN_PSH_ACK & ~ACK));
		struct rte_mbuf *mbuf;

		assert_int_equal(super_frame_left(&frame), (payload - at + part - 1) / part);
		mbuf = super_frame_take(&frame, pool);
		assert_non_null(mbuf);
		if (mbuf->pkt_len != want ||
		    memcmp(rte_pktmbuf_read(mbuf, 0, want, flat), whole, want) != 0)
			fail_msg("%s: frame %u of %u bytes differs", tunnel->name, place, payload);
		rte_pktmbuf_free(mbuf);
		at += n;
	}
	assert_false(frame.open);
}

static void what_is_cut_out_of_a_tunnel_equals_what_was_sent_without_offloads(void **state)
{
	(void)state;
	for (size_t t = 0; t < RTE_DIM(tunnels); t++) {
		if (tunnels[t].jumbo)
			continue;
		check_cut(&tunnels[t], 2, 1, FIN_PSH_ACK);
		check_cut(&tunnels[t], 1399, 1398, FIN_PSH_ACK);
		check_cut(&tunnels[t], 64000, 1398, ACK);
		check_cut(&tunnels[t], 4001, 333, FIN_PSH_ACK);
	}
}

static void super_frames_above_64_kib_are_cut(void **state)
{
	(void)state;
	for (size_t t = 0; t < RTE_DIM(tunnels); t++) {
		if (tunnels[t].between != PLAIN && !tunnels[t].jumbo)
			continue;
		check_cut(&tunnels[t], 65536, 1428, FIN_PSH_ACK);
		check_cut(&tunnels[t], 185001, 1428, ACK);
		check_cut(&tunnels[t], 8 * 65535 - 150, 8928, FIN_PSH_ACK);
	}
}

/* A header that would need a number of its own in each frame, or that weir does not know. */
static void a_tunnel_that_cannot_be_renewed_is_refused(void **state)
{
	static const struct tunnel refused[] = {
	        {"GRE with a sequence number", 4, IN_GRE, "1000080000000001", 4, .udp = false},
	        {"GRE with routing", 4, IN_GRE, "4000080000000000", 4, .udp = false},
	        {"GRE of version 1", 4, IN_GRE, "0001080000000000", 4, .udp = false},
	};
	static uint8_t bytes[4096];

	(void)state;
	for (size_t t = 0; t < RTE_DIM(refused) + 2; t++) {
		const struct tunnel *tunnel = t < RTE_DIM(refused) ? &refused[t] : &tunnels[0];
		struct maker maker = {.tunnel = tunnel, .bytes = bytes, .super = true};
		uint32_t length = make(&maker, 0, 3000, 0, ACK);
		struct virtio_net_hdr header = header_of(&maker, 1398);
		struct super_frame frame;

		if (t == RTE_DIM(refused))
			bytes[maker.outer + 9] = 50; /* ESP */
		if (t == RTE_DIM(refused) + 1)
			headers_put_u16(bytes + maker.outer - 2, 0x8864); /* PPPoE */
		assert_false(super_frame_open(&frame, &header, bytes, length));
	}
}

/* The frame is at the end of its memory, for AddressSanitizer. */
static void whatever_headers_say_nothing_beyond_the_frame_is_touched(void **state)
{
	(void)state;
	for (size_t t = 0; t < RTE_DIM(tunnels); t++) {
		uint8_t made[512], *bytes;
		struct maker maker = {.tunnel = &tunnels[t], .bytes = made, .super = true};
		uint32_t length = make(&maker, 0, 40, 0, ACK), opened = 0;
		const struct virtio_net_hdr right = header_of(&maker, 7);

		bytes = malloc(length);
		assert_non_null(bytes);
		for (int round = 0; round < 3000; round++) {
			struct virtio_net_hdr header = right;
			struct super_frame frame;

			memcpy(bytes, made, length);
			for (uint64_t k = drawn() % 4; k > 0; k--)
				bytes[drawn() % maker.payload] = (uint8_t)drawn();
			if (drawn() % 4 == 0)
				header.csum_start = (uint16_t)(drawn() % (length + 9));
			if (!super_frame_open(&frame, &header, bytes, length))
				continue;
			opened++;
			while (frame.open) {
				struct rte_mbuf *mbuf = super_frame_take(&frame, pool);

				assert_non_null(mbuf);
				rte_pktmbuf_free(mbuf);
			}
		}
		free(bytes);
		assert_true(opened > 500);
	}
}

/* ---- joined ---- */

/* Cuts a super-frame, joins the frames, and cuts again. Returns how many were handed over. */
static uint32_t join_and_cut(const struct tunnel *tunnel, bool udp)
{
	static uint8_t bytes[70000], flat[70000];
	static struct joined_frame joined;
	struct maker maker = {.tunnel = tunnel, .bytes = bytes, .super = true};
	uint32_t length = make(&maker, 0, 30000, 0, ACK | PSH), handed = 0;
	struct virtio_net_hdr header = header_of(&maker, 1398);
	struct rte_mbuf *mbufs[FRAMES], *mbuf;
	struct super_frame frame;
	uint16_t n = 0;

	for (assert_true(super_frame_open(&frame, &header, bytes, length)); frame.open; n++)
		mbufs[n] = super_frame_take(&frame, pool);
	for (uint16_t at = 0; at < n; handed++) {
		uint16_t k = joined_frame_make(&joined, mbufs + at, (uint16_t)(n - at), udp);

		length = 0;
		for (uint32_t i = 1; i < joined.n_parts; i++) {
			memcpy(flat + length, joined.parts[i].iov_base, joined.parts[i].iov_len);
			length += (uint32_t)joined.parts[i].iov_len;
		}
		assert_int_equal(joined.udp, k > 1);
		assert_true(super_frame_open(&frame, &joined.header, flat, length));
		for (; k > 0; k--, at++) {
			mbuf = super_frame_take(&frame, pool);
			assert_non_null(mbuf);
			assert_int_equal(mbuf->pkt_len, mbufs[at]->pkt_len);
			assert_memory_equal(rte_pktmbuf_mtod(mbuf, uint8_t *),
			                    rte_pktmbuf_mtod(mbufs[at], uint8_t *), mbuf->pkt_len);
			rte_pktmbuf_free(mbuf);
		}
		assert_false(frame.open);
	}
	rte_pktmbuf_free_bulk(mbufs, n);
	return handed;
}

/* 22 frames. */
static void datagrams_of_a_tunnel_are_joined_if_they_have_checksums(void **state)
{
	(void)state;
	assert_string_equal(tunnels[0].name, "VXLAN over IPv4");
	assert_int_equal(join_and_cut(&tunnels[0], true), 1);
	assert_int_equal(join_and_cut(&tunnels[0], false), 22);
	assert_string_equal(tunnels[1].name, "VXLAN without checksum");
	assert_int_equal(join_and_cut(&tunnels[1], true), 22);
	assert_string_equal(tunnels[2].name, "VXLAN over IPv6");
	assert_int_equal(join_and_cut(&tunnels[2], true), 1);
	assert_string_equal(tunnels[6].name, "Geneve with options");
	assert_int_equal(join_and_cut(&tunnels[6], true), 1);
	assert_string_equal(tunnels[8].name, "FOU");
	assert_int_equal(join_and_cut(&tunnels[8], true), 22);
}

GROUP(layers)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(what_is_cut_out_of_a_tunnel_equals_what_was_sent_without_offloads),
	        cmocka_unit_test(super_frames_above_64_kib_are_cut),
	        cmocka_unit_test(a_tunnel_that_cannot_be_renewed_is_refused),
	        cmocka_unit_test(whatever_headers_say_nothing_beyond_the_frame_is_touched),
	        cmocka_unit_test(datagrams_of_a_tunnel_are_joined_if_they_have_checksums),
	};

	return cmocka_run_group_tests_name("layers", tests, pool_up, pool_down);
}
