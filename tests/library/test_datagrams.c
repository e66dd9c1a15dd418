/* SPDX-License-Identifier: BSD-3-Clause */
/* The datagrams of libweir. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weir.h>

#include "runner/group.h"

#define MS INT64_C(1000000)

static const struct weir_address ipv4_from = {WEIR_IPV4, 40001, {192, 0, 2, 1}};
static const struct weir_address ipv4_to = {WEIR_IPV4, 443, {198, 51, 100, 9}};
static const struct weir_address ipv6_from = {WEIR_IPV6, 40001, {0x20, 1, 0xd, 0xb8, [15] = 1}};
static const struct weir_address ipv6_to = {WEIR_IPV6, 443, {0x20, 1, 0xd, 0xb8, [15] = 2}};

static struct weir *net_of(const char *statements)
{
	char text[1000] = "port a\nport b\ncloud down from a to b\n";
	struct weir_error error;
	struct weir *net;

	strncat(text, statements, sizeof(text) - strlen(text) - 1);
	net = weir_open(text, NULL, &error);
	if (net == NULL)
		fail_msg("%s", error.text);
	return net;
}

static struct weir_datagram datagram_of(int ipv6, const void *payload, uint32_t bytes)
{
	return (struct weir_datagram){.from = ipv6 ? ipv6_from : ipv4_from,
	                              .to = ipv6 ? ipv6_to : ipv4_to,
	                              .payload = payload,
	                              .bytes = bytes};
}

static void a_datagram_comes_out_as_it_went_in(void **state)
{
	static const uint32_t lengths[] = {0, 1, 2, 3, 1199, 1200, 1472, 9000, 65507};
	static uint8_t payload[65507];
	struct weir *net = net_of("cloud down delay 1ms\n");
	int64_t now = 0;

	(void)state;
	for (uint32_t i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(i * 7 + i / 255);
	for (size_t i = 0; i < 2 * sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct weir_datagram in = datagram_of(i % 2, payload, lengths[i / 2]), out;

		in.t_ns = now;
		in.ecn = i % 4;
		in.dscp = (uint8_t)(i * 3);
		in.ttl = i % 3 ? (uint8_t)(i + 1) : 0;
		assert_int_equal(weir_udp_send(net, &in, 1), 1);
		now += MS;
		assert_int_equal(weir_udp_receive(net, now, &out, 1), 1);
		assert_int_equal(out.t_ns, now);
		assert_int_equal(out.port, weir_port(net, "b"));
		assert_memory_equal(&out.from, &in.from, sizeof(in.from));
		assert_memory_equal(&out.to, &in.to, sizeof(in.to));
		assert_int_equal(out.bytes, in.bytes);
		assert_memory_equal(out.payload, payload, in.bytes);
		assert_int_equal(out.ecn, in.ecn);
		assert_int_equal(out.dscp, in.dscp);
		assert_int_equal(out.ttl, in.ttl ? in.ttl : 64);
	}
	assert_int_equal(weir_udp_skipped(net), 0);
	weir_close(net);
}

/* One's complement sum of words. */
static uint32_t sum(uint32_t sum, const uint8_t *at, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		sum += i % 2 ? at[i] : (uint32_t)at[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void its_frame_is_what_a_host_would_send(void **state)
{
	static const char payload[] = "seven.."; /* 8 bytes, with the 0 */

	(void)state;
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		struct weir *net = net_of("cloud down delay 1ms\n");
		struct weir_datagram in = datagram_of(ipv6, payload, 7);
		const uint32_t ip_bytes = ipv6 ? 40 : 20;
		struct weir_frame frame;
		const uint8_t *data, *ip, *udp;

		in.ecn = 2;
		in.dscp = 10;
		assert_int_equal(weir_udp_send(net, &in, 1), 1);
		assert_int_equal(weir_receive(net, MS, &frame, 1), 1);
		data = frame.data;
		ip = data + 14;
		udp = ip + ip_bytes;
		assert_int_equal(frame.bytes, 14 + ip_bytes + 8 + 7);
		assert_int_equal(data[12] << 8 | data[13], ipv6 ? 0x86dd : 0x0800);
		assert_int_equal(data[0] & 3, 2); /* local, and of one host */
		assert_int_equal(data[6] & 3, 2);
		if (ipv6) {
			assert_int_equal(ip[0] << 8 | ip[1], 0x6000 | (10 << 2 | 2) << 4);
			assert_int_equal(ip[4] << 8 | ip[5], 15);
			assert_int_equal(sum(17 + 15, ip + 8, 32 + 15), 0xffff);
		} else {
			assert_int_equal(ip[1], 10 << 2 | 2);
			assert_int_equal(ip[2] << 8 | ip[3], 35);
			assert_int_equal(ip[6], 0x40);
			assert_int_equal(sum(0, ip, 20), 0xffff);
			assert_int_equal(sum(17 + 15, ip + 12, 8 + 15), 0xffff);
		}
		assert_int_equal(udp[0] << 8 | udp[1], 40001);
		assert_int_equal(udp[2] << 8 | udp[3], 443);
		assert_memory_equal(udp + 8, payload, 7);
		weir_close(net);
	}
}

static void a_mark_comes_back_out(void **state)
{
	struct weir *net = net_of("cloud down rate 1mbit queue 100kB\ncloud down mark above 1kB\n"
	                          "cloud down ecn on\n");
	static uint8_t payload[1000];
	struct weir_datagram out[64];
	int n, marked = 0;

	(void)state;
	for (int i = 0; i < 40; i++) {
		struct weir_datagram in = datagram_of(i % 2, payload, sizeof(payload));

		in.ecn = 2;
		assert_int_equal(weir_udp_send(net, &in, 1), 1);
	}
	n = weir_udp_receive(net, 1000 * MS, out, 64);
	assert_int_equal(n, 40);
	for (int i = 0; i < n; i++)
		marked += out[i].ecn == 3;
	assert_true(marked > 30);
	assert_int_equal(weir_udp_skipped(net), 0);
	weir_close(net);
}

static void clouds_of_flows_and_matches_see_its_addresses(void **state)
{
	struct weir_error error;
	struct weir *net = weir_open("port a\nport b\n"
	                             "cloud six from a to b match ip6\ncloud six delay 6ms\n"
	                             "cloud web from a to b match udp dst port 443\n"
	                             "cloud web delay 4ms\n"
	                             "cloud rest from a to b\ncloud rest delay 9ms\n",
	                             NULL, &error);
	struct weir_datagram in[3] = {datagram_of(0, "", 0), datagram_of(1, "", 0),
	                              datagram_of(0, "", 0)},
	                     out[3];

	(void)state;
	assert_non_null(net);
	in[2].to.port = 80;
	assert_int_equal(weir_udp_send(net, in, 3), 3);
	assert_int_equal(weir_udp_receive(net, 10 * MS, out, 3), 3);
	assert_int_equal(out[0].t_ns, 4 * MS);
	assert_int_equal(out[1].t_ns, 6 * MS);
	assert_int_equal(out[2].t_ns, 9 * MS);
	assert_int_equal(out[2].to.port, 80);
	weir_close(net);
}

static void what_a_host_would_drop_is_skipped_and_counted(void **state)
{
	struct weir *net = net_of("cloud down corrupt random 100%\n"
	                          "cloud down delay 1ms\n");
	static const uint8_t frame[60] = {[12] = 0x88, 0x08};
	struct weir_datagram out[8];
	uint8_t payload[100] = {0};

	(void)state;
	for (int i = 0; i < 20; i++) {
		struct weir_datagram in = datagram_of(i % 2, payload, sizeof(payload));

		in.t_ns = i;
		assert_int_equal(weir_udp_send(net, &in, 1), 1);
	}
	assert_int_equal(weir_send(net, 20, 0, frame, sizeof(frame)), 0);
	for (int n; (n = weir_udp_receive(net, 2 * MS, out, 8)) != 0;) {
		/* A bit of what no checksum covers, such as a MAC address, may have changed. */
		for (int i = 0; i < n; i++)
			assert_memory_equal(out[i].payload, payload, sizeof(payload));
	}
	assert_true(weir_udp_skipped(net) > 10);
	weir_close(net);
}

static void a_wrong_datagram_is_refused(void **state)
{
	struct weir *net = net_of("cloud down delay 1ms\n");
	struct weir_datagram good = datagram_of(0, "", 0), wrong;

	(void)state;
	wrong = good;
	wrong.to = ipv6_to;
	assert_int_equal(weir_udp_send(net, &wrong, 1), -EAFNOSUPPORT);
	wrong = good;
	wrong.from.family = wrong.to.family = 2;
	assert_int_equal(weir_udp_send(net, &wrong, 1), -EAFNOSUPPORT);
	wrong = good;
	wrong.ecn = 4;
	assert_int_equal(weir_udp_send(net, &wrong, 1), -EINVAL);
	wrong = good;
	wrong.dscp = 64;
	assert_int_equal(weir_udp_send(net, &wrong, 1), -EINVAL);
	wrong = good;
	wrong.bytes = WEIR_PAYLOAD_MAX_IPV4 + 1;
	assert_int_equal(weir_udp_send(net, &wrong, 1), -EMSGSIZE);
	wrong = good;
	wrong.port = 9;
	assert_int_equal(weir_udp_send(net, &wrong, 1), -ENOENT);
	assert_int_equal(weir_udp_send(net, (struct weir_datagram[]){good, wrong}, 2), 1);
	weir_close(net);
}

GROUP(library_datagrams)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_datagram_comes_out_as_it_went_in),
	        cmocka_unit_test(its_frame_is_what_a_host_would_send),
	        cmocka_unit_test(a_mark_comes_back_out),
	        cmocka_unit_test(clouds_of_flows_and_matches_see_its_addresses),
	        cmocka_unit_test(what_a_host_would_drop_is_skipped_and_counted),
	        cmocka_unit_test(a_wrong_datagram_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
