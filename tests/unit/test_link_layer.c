/* SPDX-License-Identifier: BSD-3-Clause */
/* Link headers other than Ethernet, on their way through weir. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <pcap/pcap.h>

#include "capture/link_layer.h"
#include "random/draw.h"
#include "runner/group.h"

#define ETHERNET LINK_LAYER_ETHERNET_BYTES

static const int links[] = {DLT_RAW,        DLT_IPV4,     DLT_IPV6,      DLT_LINUX_SLL,
                            DLT_LINUX_SLL2, DLT_NULL,     DLT_LOOP,      DLT_PPP,
                            DLT_PPP_SERIAL, DLT_PPP_PPPD, DLT_PPP_ETHER, DLT_PPP_WITH_DIR};

#define LINKS (sizeof(links) / sizeof(links[0]))

static void make_header(uint8_t *header, uint64_t i)
{
	static const struct draw_key key = {{1, 2}};

	for (uint32_t at = 0; at < LINK_LAYER_BYTES_MAX; at++)
		header[at] = (uint8_t)draw_u64(key, i, at);
}

static void every_link_header_comes_back_as_it_was(void **state)
{
	(void)state;
	for (size_t k = 0; k < LINKS; k++) {
		struct link_layer *link_layer = link_layer_make(links[k]);
		static uint8_t ethernet[1000][ETHERNET];
		uint8_t header[LINK_LAYER_BYTES_MAX], back[LINK_LAYER_BYTES_MAX];
		uint32_t bytes[1000];
		const uint8_t *sender;

		assert_non_null(link_layer);
		for (uint32_t i = 0; i < 1000; i++) {
			make_header(header, i);
			assert_null(link_layer_enter(link_layer, header, sizeof(header),
			                             sizeof(header) + i, ethernet[i], &bytes[i],
			                             &sender));
			assert_true(bytes[i] <= sizeof(header));
		}
		for (uint32_t i = 0; i < 1000; i++) {
			make_header(header, i);
			assert_int_equal(link_layer_leave(link_layer, ethernet[i],
			                                  (uint32_t)sizeof(header) + i - bytes[i],
			                                  back),
			                 bytes[i]);
			assert_memory_equal(back, header, bytes[i]);
		}
		link_layer_free(link_layer);
	}
}

static void the_type_is_that_of_the_packet_and_the_addresses_are_nobodys(void **state)
{
	static const struct {
		int link;
		uint8_t data[LINK_LAYER_BYTES_MAX];
		uint16_t type;
		bool sender, to_many;
	} cases[] = {
	        {DLT_RAW, {0x45}, 0x0800, false, false},
	        {DLT_RAW, {0x60}, 0x86dd, false, false},
	        {DLT_RAW, {0x00}, 0, false, false},
	        {DLT_IPV6, {0x6f}, 0x86dd, false, false},
	        {DLT_LINUX_SLL, {0, 0, 0, 1, 0, 6, [14] = 8, 6}, 0x0806, true, false},
	        {DLT_LINUX_SLL, {0, 1, 0, 1, 0, 6, [14] = 8, 6}, 0x0806, true, true},
	        {DLT_LINUX_SLL, {0, 2, 0, 1, 0, 0, [14] = 8, 0}, 0x0800, false, true},
	        {DLT_LINUX_SLL2, {0x86, 0xdd, [10] = 4, [11] = 6}, 0x86dd, true, false},
	        {DLT_LINUX_SLL2, {8, 0, [10] = 1, [11] = 0}, 0x0800, false, true},
	        {DLT_NULL, {2, 0, 0, 0, 0x45}, 0x0800, false, false},
	        {DLT_NULL, {0, 0, 0, 2, 0x45}, 0x0800, false, false},
	        {DLT_NULL, {30, 0, 0, 0, 0x60}, 0x86dd, false, false},
	        {DLT_NULL, {7, 0, 0, 0, 0x45}, 0, false, false}, /* another family */
	        {DLT_LOOP, {0, 0, 0, 24, 0x60}, 0x86dd, false, false},
	        {DLT_PPP, {0xff, 0x03, 0x00, 0x21, 0x45}, 0x0800, false, false},
	        {DLT_PPP, {0x00, 0x57, 0x60}, 0x86dd, false, false},
	        {DLT_PPP, {0x21, 0x45}, 0x0800, false, false},              /* compressed */
	        {DLT_PPP, {0xff, 0x03, 0xc0, 0x21, 1, 1}, 0, false, false}, /* LCP */
	        {DLT_PPP_SERIAL, {0x0f, 0x00, 0x08, 0x00, 0x45}, 0x0800, false, false}, /* Cisco */
	        {DLT_PPP_PPPD, {0x01, 0x03, 0x00, 0x21, 0x45}, 0x0800, false, false},
	        {DLT_PPP_WITH_DIR, {1, 0xff, 0x03, 0x00, 0x21, 0x45}, 0x0800, false, false},
	        {DLT_PPP_ETHER, {0x11, 0, 0, 7, 0, 14, 0x00, 0x21, 0x45}, 0x0800, false, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct link_layer *link_layer = link_layer_make(cases[i].link);
		uint8_t ethernet[ETHERNET];
		const uint8_t *sender;
		uint32_t bytes;

		assert_null(link_layer_enter(link_layer, cases[i].data, sizeof(cases[i].data),
		                             sizeof(cases[i].data), ethernet, &bytes, &sender));
		assert_int_equal(ethernet[12] << 8 | ethernet[13], cases[i].type);
		assert_int_equal(sender != NULL, cases[i].sender);
		/* Locally administered: no card has such an address. */
		assert_int_equal(ethernet[0] & 3, cases[i].to_many ? 3 : 2);
		assert_int_equal(ethernet[6] & 3, 2);
		link_layer_free(link_layer);
	}
}

/* A router's answer has the addresses of its cause exchanged (router/icmp.c). */
static void an_answer_has_the_header_of_its_cause_the_other_way_round(void **state)
{
	static const uint8_t types[][2] = {{0, 4}, {4, 0}, {3, 3}};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct link_layer *link_layer = link_layer_make(DLT_LINUX_SLL2);
		uint8_t header[20] = {8, 0, 0, 0, 0, 0, 0, 7, 0, 1, types[i][0], 6, 2, 1};
		uint8_t ethernet[ETHERNET], answer[ETHERNET], back[LINK_LAYER_BYTES_MAX];
		const uint8_t *sender;
		uint32_t bytes;

		assert_null(
		        link_layer_enter(link_layer, header, 20, 20, ethernet, &bytes, &sender));
		memcpy(answer, ethernet + 6, 6);
		memcpy(answer + 6, ethernet, 6);
		memcpy(answer + 12, ethernet + 12, 2);
		link_layer_leave(link_layer, answer, 0, back);
		header[10] = types[i][1];
		assert_memory_equal(back, header, 20);
		link_layer_free(link_layer);
	}
}

static void
a_header_of_pppoe_has_the_length_of_its_packet_and_a_direction_is_exchanged(void **state)
{
	/* The packet has 20 bytes behind the header, and its length says 4 less: padding. */
	uint8_t pppoe[] = {0x11, 0, 0, 7, 0, 18, 0x00, 0x21};
	uint8_t way[] = {1, 0xff, 0x03, 0x00, 0x21};
	struct link_layer *link_layer = link_layer_make(DLT_PPP_ETHER);
	uint8_t ethernet[ETHERNET], answer[ETHERNET], back[LINK_LAYER_BYTES_MAX];
	const uint8_t *sender;
	uint32_t bytes;

	(void)state;
	assert_null(link_layer_enter(link_layer, pppoe, 8, 28, ethernet, &bytes, &sender));
	assert_int_equal(link_layer_leave(link_layer, ethernet, 20, back), 8);
	assert_memory_equal(back, pppoe, 8);
	assert_int_equal(link_layer_leave(link_layer, ethernet, 300, back), 8);
	assert_int_equal(back[4] << 8 | back[5], 298);
	assert_non_null(link_layer_enter(link_layer, pppoe, 7, 28, ethernet, &bytes, &sender));
	link_layer_free(link_layer);

	link_layer = link_layer_make(DLT_PPP_WITH_DIR);
	assert_null(link_layer_enter(link_layer, way, 5, 60, ethernet, &bytes, &sender));
	memcpy(answer, ethernet + 6, 6);
	memcpy(answer + 6, ethernet, 6);
	memcpy(answer + 12, ethernet + 12, 2);
	assert_int_equal(link_layer_leave(link_layer, answer, 55, back), 5);
	way[0] = 0;
	assert_memory_equal(back, way, 5);
	link_layer_free(link_layer);
}

static void one_wrong_bit_in_the_addresses_does_not_change_the_link_header(void **state)
{
	struct link_layer *link_layer = link_layer_make(DLT_LINUX_SLL);
	uint8_t header[LINK_LAYER_BYTES_MAX], back[LINK_LAYER_BYTES_MAX], ethernet[ETHERNET];
	const uint8_t *sender;
	uint32_t bytes;

	(void)state;
	for (uint32_t i = 0; i < 300; i++) {
		make_header(header, i);
		assert_null(
		        link_layer_enter(link_layer, header, 16, 16, ethernet, &bytes, &sender));
	}
	for (uint32_t bit = 0; bit < 12 * 8; bit++) {
		ethernet[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
		link_layer_leave(link_layer, ethernet, 0, back);
		assert_memory_equal(back, header, 16);
		ethernet[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
	}
	/* Any contents are turned into some header. */
	for (uint32_t value = 0; value < 256; value++) {
		memset(ethernet, (int)value, sizeof(ethernet));
		link_layer_leave(link_layer, ethernet, 0, back);
	}
	link_layer_free(link_layer);
}

static void more_than_65536_headers_and_one_that_is_cut_are_damage(void **state)
{
	struct link_layer *link_layer = link_layer_make(DLT_LINUX_SLL2);
	uint8_t header[LINK_LAYER_BYTES_MAX] = {8, 0}, ethernet[ETHERNET];
	const uint8_t *sender;
	uint32_t bytes;
	const char *why;

	(void)state;
	assert_non_null(link_layer_enter(link_layer, header, 19, 19, ethernet, &bytes, &sender));
	for (uint32_t i = 0; i < LINK_LAYER_HEADERS_MAX; i++) {
		memcpy(header + 4, &i, sizeof(i));
		assert_null(
		        link_layer_enter(link_layer, header, 20, 20, ethernet, &bytes, &sender));
	}
	/* The same header with another protocol reports nothing new. */
	header[1] = 6;
	assert_null(link_layer_enter(link_layer, header, 20, 20, ethernet, &bytes, &sender));
	header[4] ^= 0xff;
	header[7] ^= 0xff;
	why = link_layer_enter(link_layer, header, 20, 20, ethernet, &bytes, &sender);
	assert_non_null(why);
	assert_non_null(strstr(why, "65536"));
	link_layer_free(link_layer);
}

GROUP(link_layer)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_link_header_comes_back_as_it_was),
	        cmocka_unit_test(the_type_is_that_of_the_packet_and_the_addresses_are_nobodys),
	        cmocka_unit_test(an_answer_has_the_header_of_its_cause_the_other_way_round),
	        cmocka_unit_test(
	                a_header_of_pppoe_has_the_length_of_its_packet_and_a_direction_is_exchanged),
	        cmocka_unit_test(one_wrong_bit_in_the_addresses_does_not_change_the_link_header),
	        cmocka_unit_test(more_than_65536_headers_and_one_that_is_cut_are_damage),
	};

	return cmocka_run_group_tests_name("link_layer", tests, NULL, NULL);
}
