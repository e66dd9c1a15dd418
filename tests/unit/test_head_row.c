/* SPDX-License-Identifier: BSD-3-Clause */
/* What the header of a packet tells of its path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "frame.h"
#include "learn/head_row.h"
#include "runner/group.h"

static uint8_t bytes[FRAME_BYTES_MAX];

/* Returns the row of a frame with this payload, of which `captured` bytes are there; 0: all. */
static struct head_row row_of(uint8_t ip, uint8_t protocol, const void *payload, uint32_t n,
                              uint32_t captured)
{
	const struct frame_shape shape = {
	        .ip = ip, .protocol = protocol, .sequence = 77, .payload_bytes = n};
	const uint32_t whole = frame_make(bytes, &shape);
	const struct capture_frame frame = {.t_ns = 5,
	                                    .bytes = captured ? captured : whole,
	                                    .wire_bytes = whole,
	                                    .data = bytes};
	struct packet_ends ends;
	struct head_row row;
	uint64_t digest;

	if (payload)
		memcpy(bytes + whole - n, payload, n);
	head_row_make(&row, &ends, &digest, &frame);
	return row;
}

/* Returns the row of a segment of TCP with these options. */
static struct head_row row_with(const uint8_t *options, uint32_t n)
{
	const struct frame_shape shape = {.ip = 4, .protocol = FRAME_TCP, .payload_bytes = 40};
	const uint32_t whole = frame_make(bytes, &shape);
	const struct capture_frame frame = {.bytes = whole, .wire_bytes = whole, .data = bytes};
	uint8_t *tcp = bytes + frame_transport(&shape);
	struct packet_ends ends;
	struct head_row row;
	uint64_t digest;

	memset(tcp + 20, 0, 40);
	memcpy(tcp + 20, options, n);
	tcp[12] = 15 << 4;
	head_row_make(&row, &ends, &digest, &frame);
	return row;
}

static void a_segment_has_its_numbers_and_its_payload(void **state)
{
	(void)state;
	for (uint8_t ip = 4; ip <= 6; ip += 2) {
		const struct head_row row = row_of(ip, FRAME_TCP, NULL, 100, 0);

		assert_int_equal(row.what & ~HEAD_DAMAGED, HEAD_TCP);
		assert_int_equal(row.t_ns, 5);
		assert_int_equal(row.sequence, 77);
		assert_int_equal(row.payload_bytes, 100);
	}
}

static void time_stamps_and_blocks_are_read(void **state)
{
	static const uint8_t options[] = {1, 1, 8, 10, 0, 0, 0, 9, 0, 0, 1, 0, 1, 1, 5, 18,
	                                  0, 0, 0, 1,  0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0, 8};
	const struct head_row row = row_with(options, sizeof(options));

	(void)state;
	assert_true(row.what & HEAD_STAMPS);
	assert_int_equal(row.stamp, 9);
	assert_int_equal(row.echo, 256);
	assert_int_equal(row.n_blocks, 2);
	assert_int_equal(row.blocks[1][0], 5);
	assert_int_equal(row.blocks[1][1], 8);
}

/* Each of these ends the options, and is not read beyond. */
static void options_that_contradict_themselves_are_left_out(void **state)
{
	static const uint8_t wrong[][40] = {
	        {8, 0, 1, 1},        /* no length */
	        {8, 1, 1, 1},        /* shorter than itself */
	        {8, 60, 1, 1},       /* longer than the header */
	        {8, 9, 1, 1, 1},     /* time stamps of another length */
	        {0, 8, 10, 1, 1, 1}, /* behind the end */
	        {5, 9, 1, 1, 1, 1},  /* less than a block */
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const struct head_row row = row_with(wrong[i], sizeof(wrong[i]));

		assert_false(row.what & HEAD_STAMPS);
		assert_int_equal(row.n_blocks, 0);
	}
}

static void a_datagram_of_quic_shows_its_spin_bit(void **state)
{
	static const struct {
		uint8_t bytes[6];
		uint8_t what;
	} cases[] = {
	        {{0xc3, 0, 0, 0, 1, 8}, HEAD_QUIC_LONG},
	        {{0xc3, 0, 0, 0, 0, 8}, 0}, /* version negotiation */
	        {{0x40}, HEAD_QUIC_SHORT},
	        {{0x63}, HEAD_QUIC_SHORT | HEAD_SPIN},
	        {{0x20}, 0}, /* without the fixed bit */
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct head_row row =
		        row_of(4, FRAME_UDP, cases[i].bytes, sizeof(cases[i].bytes), 0);

		assert_int_equal(row.what & ~HEAD_DAMAGED, HEAD_UDP | cases[i].what);
		assert_int_equal(row.payload_bytes, 6);
	}
}

static void a_header_that_was_cut_off_is_absent(void **state)
{
	(void)state;
	for (uint32_t captured = 1; captured < 54; captured++)
		assert_false(row_of(4, FRAME_TCP, NULL, 100, captured).what & HEAD_TCP);
	assert_true(row_of(4, FRAME_TCP, NULL, 100, 54).what & HEAD_TCP);
	assert_int_equal(row_of(4, FRAME_UDP, "\x63", 1, 42).what, HEAD_UDP);
}

GROUP(head_row)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_segment_has_its_numbers_and_its_payload),
	        cmocka_unit_test(time_stamps_and_blocks_are_read),
	        cmocka_unit_test(options_that_contradict_themselves_are_left_out),
	        cmocka_unit_test(a_datagram_of_quic_shows_its_spin_bit),
	        cmocka_unit_test(a_header_that_was_cut_off_is_absent),
	};

	return cmocka_run_group_tests_name("head_row", tests, NULL, NULL);
}
