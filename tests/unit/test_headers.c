/* SPDX-License-Identifier: BSD-3-Clause */
/* The places of headers: every shape of frame, and every length at which it can be cut off. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frame.h"
#include "packet/headers.h"
#include "runner/group.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const struct frame_shape shapes[] = {
        {.ip = 4, .protocol = FRAME_TCP, .payload_bytes = 10},
        {.ip = 4, .protocol = FRAME_UDP, .payload_bytes = 1, .padding_bytes = 17},
        {.ip = 4, .protocol = FRAME_ICMP, .n_tags = 1},
        {.ip = 4, .protocol = FRAME_TCP, .n_tags = 2, .option_words = 10, .payload_bytes = 1},
        {.ip = 4, .protocol = FRAME_TCP, .n_tags = 8},
        {.ip = 6, .protocol = FRAME_TCP, .payload_bytes = 100},
        {.ip = 6, .protocol = FRAME_UDP, .n_tags = 2, .n_extensions = 3, .payload_bytes = 5},
        {.ip = 6, .protocol = FRAME_ICMPV6, .n_extensions = 16},
        {.ip = 4, .protocol = FRAME_UDP, .fragment = 185, .payload_bytes = 40},
        {.ip = 6, .protocol = FRAME_UDP, .fragment = 185, .payload_bytes = 40},
};

/* The bytes are at the end of a block of their own, so that the sanitizer detects reads beyond
 * them. */
static bool find(const uint8_t *frame, uint32_t bytes, uint32_t wire_bytes, struct headers *headers)
{
	uint8_t *exact = malloc(bytes ? bytes : 1);
	struct headers other;
	bool found;

	assert_non_null(exact);
	memcpy(exact, frame, bytes);
	/* The previous contents must not matter. */
	memset(&other, 0xff, sizeof(other));
	memset(headers, 0, sizeof(*headers));
	found = headers_find(exact, bytes, wire_bytes, headers);
	assert_int_equal(headers_find(exact, bytes, wire_bytes, &other), found);
	assert_memory_equal(&other, headers, sizeof(other));
	free(exact);
	return found;
}

static void headers_are_found_behind_tags_options_and_extensions(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(shapes); i++) {
		const struct frame_shape *shape = &shapes[i];
		uint8_t frame[FRAME_BYTES_MAX];
		uint32_t bytes = frame_make(frame, shape);
		struct headers headers;

		assert_true(find(frame, bytes, bytes, &headers));
		assert_int_equal(headers.ip, shape->ip);
		assert_int_equal(headers.protocol, shape->protocol);
		assert_int_equal(headers.network, frame_network(shape));
		assert_int_equal(headers.n_tags, shape->n_tags);
		assert_int_equal(headers.tag[0], shape->n_tags > 0 ? 100 : 0);
		assert_int_equal(headers.tag[1], shape->n_tags > 1 ? 101 : 0);
		assert_int_equal(headers.fragment, shape->fragment != 0);
		if (shape->fragment) {
			assert_int_equal(headers.transport, 0);
			continue;
		}
		assert_int_equal(headers.transport, frame_transport(shape));
		assert_int_equal(headers.transport_bytes,
		                 bytes - frame_transport(shape) - shape->padding_bytes);
		assert_int_equal(headers.transport_here, headers.transport_bytes);
	}
}

static void a_header_that_is_cut_off_is_not_there(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(shapes); i++) {
		const struct frame_shape *shape = &shapes[i];
		uint8_t frame[FRAME_BYTES_MAX];
		uint32_t bytes = frame_make(frame, shape), transport = frame_transport(shape);
		uint32_t ip_end = frame_network(shape) +
		                  (shape->ip == 4 ? 20 + 4u * shape->option_words : 40);

		for (uint32_t cut = 0; cut < bytes; cut++) {
			struct headers headers;

			assert_int_equal(find(frame, cut, bytes, &headers), cut >= ip_end);
			assert_int_equal(headers.ip != 0, cut >= ip_end);
			if (shape->fragment)
				continue;
			assert_int_equal(headers.transport != 0, cut > transport);
			if (headers.transport != 0) {
				uint32_t end = bytes - shape->padding_bytes;

				assert_int_equal(headers.transport_bytes, end - transport);
				assert_int_equal(headers.transport_here,
				                 (cut < end ? cut : end) - transport);
			}
		}
	}
}

static void what_is_not_ip_has_no_headers(void **state)
{
	static const struct frame_shape v4 = {.ip = 4, .protocol = FRAME_TCP};
	uint8_t frame[FRAME_BYTES_MAX];
	struct headers headers;
	uint32_t bytes = frame_make(frame, &v4);

	(void)state;
	frame[13] = 0x06; /* ARP */
	assert_false(find(frame, bytes, bytes, &headers));
	assert_int_equal(headers.ethertype, 0x0806);
	frame_make(frame, &v4);
	frame[12] = 0x86; /* IPv6, but the version is 4 */
	frame[13] = 0xdd;
	assert_false(find(frame, bytes, bytes, &headers));
	assert_int_equal(headers.ip, 0);
}

static void lengths_that_contradict_themselves_hide_the_header(void **state)
{
	static const struct {
		uint32_t at;
		uint8_t value;
		bool ip;
	} rows[] = {
	        {14, 0x44, false}, /* a header of 16 bytes */
	        {17, 19, false},   /* a packet shorter than its header */
	        {14, 0x4f, false}, /* a header of 60 bytes in 20 */
	        {17, 20, true},    /* no data behind the header */
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		static const struct frame_shape v4 = {.ip = 4, .protocol = FRAME_UDP};
		uint8_t frame[FRAME_BYTES_MAX];
		uint32_t bytes = frame_make(frame, &v4);
		struct headers headers;

		frame[rows[i].at] = rows[i].value;
		assert_int_equal(find(frame, bytes, bytes, &headers), rows[i].ip);
		assert_int_equal(headers.transport, 0);
	}
}

static void more_than_sixteen_extension_headers_are_not_passed(void **state)
{
	static const struct frame_shape many = {
	        .ip = 6, .protocol = FRAME_UDP, .n_extensions = 17, .payload_bytes = 8};
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = frame_make(frame, &many);
	struct headers headers;

	(void)state;
	assert_true(find(frame, bytes, bytes, &headers));
	assert_int_equal(headers.transport, 0);
}

static void an_authentication_header_counts_in_words_of_four_bytes(void **state)
{
	static const struct frame_shape one = {
	        .ip = 6, .protocol = FRAME_UDP, .n_extensions = 3, .payload_bytes = 8};
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = frame_make(frame, &one);
	struct headers headers;

	(void)state;
	/* One extension of 24 bytes in the place of three of 8. */
	frame[14 + 6] = 51;
	frame[54] = FRAME_UDP;
	frame[55] = 4;
	assert_true(find(frame, bytes, bytes, &headers));
	assert_int_equal(headers.protocol, FRAME_UDP);
	assert_int_equal(headers.transport, 14 + 40 + 24);
}

static void an_ip_length_of_zero_is_the_rest_of_the_frame(void **state)
{
	static const struct frame_shape shape4 = {
	        .ip = 4, .protocol = FRAME_TCP, .payload_bytes = 100};
	static const struct frame_shape shape6 = {
	        .ip = 6, .protocol = FRAME_TCP, .payload_bytes = 100};
	uint8_t frame[FRAME_BYTES_MAX];
	struct headers headers;
	uint32_t bytes = frame_make(frame, &shape4);

	(void)state;
	frame[16] = frame[17] = 0;
	assert_true(find(frame, bytes, 70000, &headers));
	assert_int_equal(headers.transport_bytes, 70000 - 34);
	assert_int_equal(headers.transport_here, 120);
	bytes = frame_make(frame, &shape6);
	frame[18] = frame[19] = 0;
	assert_true(find(frame, bytes, 70000, &headers));
	assert_int_equal(headers.transport_bytes, 70000 - 54);
}

/* Usual frames take a short path through the code; a tag in front sends them the long way. */
static void a_tag_changes_nothing_but_offsets(void **state)
{
	uint32_t found = 0, seed = 1;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint8_t frame[64] = {0}, tagged[68];
		struct headers plain, behind;
		uint32_t bytes, total, dice;

		dice = seed = seed * 1664525u + 1013904223u;
		bytes = 14 + (dice >> 8) % 50;
		total = (dice >> 16) % 70;
		frame[12] = 8;
		frame[14] = dice >> 28 ? 0x45 : 0x46;
		frame[16] = 0;
		frame[17] = (uint8_t)total;
		frame[20] = dice >> 5 & 7 ? 0x40 : 0x20;
		frame[21] = dice >> 3 & 3 ? 0 : 185;
		frame[23] = (uint8_t)(dice >> 24);
		memcpy(tagged, frame, 12);
		memcpy(tagged + 12, "\x81\x00\x00\x07", 4);
		memcpy(tagged + 16, frame + 12, 52);
		found += find(frame, bytes, bytes, &plain);
		assert_int_equal(find(tagged, bytes + 4, bytes + 4, &behind), plain.ip == 4);
		assert_int_equal(behind.n_tags, 1);
		behind.n_tags = 0;
		behind.tag[0] = 0;
		behind.network -= behind.network ? 4 : 0;
		behind.transport -= behind.transport ? 4 : 0;
		assert_memory_equal(&behind, &plain, sizeof(plain));
	}
	assert_in_range(found, 5000, 15000);
}

GROUP(headers)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(headers_are_found_behind_tags_options_and_extensions),
	        cmocka_unit_test(a_header_that_is_cut_off_is_not_there),
	        cmocka_unit_test(what_is_not_ip_has_no_headers),
	        cmocka_unit_test(lengths_that_contradict_themselves_hide_the_header),
	        cmocka_unit_test(more_than_sixteen_extension_headers_are_not_passed),
	        cmocka_unit_test(an_authentication_header_counts_in_words_of_four_bytes),
	        cmocka_unit_test(an_ip_length_of_zero_is_the_rest_of_the_frame),
	        cmocka_unit_test(a_tag_changes_nothing_but_offsets),
	};

	return cmocka_run_group_tests_name("headers", tests, NULL, NULL);
}
