/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of one capture found in another one. Each test has a temporary folder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/dump.h"
#include "frame.h"
#include "learn/pairing.h"
#include "folder.h"
#include "runner/group.h"

#define START_NS (UINT64_C(1700000000) * SIMTIME_S)
#define HOUR_NS  (3600 * SIMTIME_S)
#define DELAY_NS (40 * SIMTIME_MS)

static struct dump *dumps[2];
static struct pair_row *rows;
static uint32_t n_rows;
static struct pairing_counts counts;
/* What the path does to each frame of the second capture. */
static void (*on_the_way)(uint8_t *frame, uint32_t bytes);

static int fresh(void **state)
{
	struct problem problem;

	if (enter_folder(state))
		return -1;
	on_the_way = NULL;
	return dump_open("a.pcap", NULL, NULL, &dumps[0], &problem) ||
	       dump_open("b.pcap", NULL, NULL, &dumps[1], &problem);
}

static int done(void **state)
{
	free(rows);
	rows = NULL;
	return leave_folder(state);
}

/* Puts a packet with this sequence number and identification into one of the captures. */
static void put_as(uint32_t i, uint8_t protocol, uint32_t sequence, uint16_t id, uint64_t t_ns)
{
	const struct frame_shape shape = {
	        .ip = 4, .protocol = protocol, .sequence = sequence, .payload_bytes = 40};
	uint8_t frame[FRAME_BYTES_MAX];
	const uint32_t bytes = frame_make(frame, &shape);
	uint8_t *ip = frame + frame_network(&shape);

	/* What the id adds to the sum is taken from the checksum, as a sender would. */
	uint32_t sum =
	        (uint32_t)(ip[10] << 8 | ip[11]) + (uint16_t)(ip[4] << 8 | ip[5]) + (uint16_t)~id;

	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	ip[4] = (uint8_t)(id >> 8);
	ip[5] = (uint8_t)id;
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
	if (i == 1 && on_the_way)
		on_the_way(frame, bytes);
	dump_write(dumps[i], START_NS + t_ns, frame, bytes, bytes);
}

static void put(uint32_t i, uint32_t sequence, uint64_t t_ns)
{
	put_as(i, FRAME_TCP, sequence, (uint16_t)(sequence + 1), t_ns);
}

static int take(void *argument, const struct pair_row *row)
{
	(void)argument;
	if ((n_rows & (n_rows - 1)) == 0) {
		rows = realloc(rows, (n_rows ? 2 * (size_t)n_rows : 1) * sizeof(*rows));
		assert_non_null(rows);
	}
	rows[n_rows++] = *row;
	return 0;
}

static void pair(uint32_t room)
{
	struct capture *captures[2];
	struct problem problem;
	struct pairing *pairing;

	n_rows = 0;
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(dump_finish(dumps[i], &problem), 0);
		assert_int_equal(dump_publish(dumps[i], &problem), 0);
		assert_int_equal(
		        capture_open(i ? "b.pcap" : "a.pcap", NULL, NULL, &captures[i], &problem),
		        0);
	}
	pairing = pairing_make(room, captures, take, NULL);
	assert_non_null(pairing);
	assert_int_equal(pairing_run(pairing), 0);
	counts = *pairing_counts(pairing);
	pairing_free(pairing);
	for (uint32_t i = 0; i < 2; i++)
		capture_close(captures[i]);
	assert_int_equal(counts.frames[0], counts.pairs + counts.only[0] + counts.copies[0]);
	assert_int_equal(counts.frames[1], counts.pairs + counts.only[1] + counts.copies[1]);
	assert_int_equal(n_rows, counts.frames[0] + counts.frames[1] - counts.pairs);
}

/* Sends n packets, a millisecond apart, of which every `lost`-th does not arrive. */
static void send_some(uint32_t n, uint32_t lost)
{
	for (uint32_t k = 0; k < n; k++) {
		put(0, k, k * SIMTIME_MS);
		if (k % lost != lost - 1)
			put(1, k, k * SIMTIME_MS + DELAY_NS);
	}
}

static void each_packet_is_found_and_those_lost_are_only_in_the_first(void **state)
{
	(void)state;
	send_some(1000, 10);
	pair(1024);
	assert_int_equal(counts.pairs, 900);
	assert_int_equal(counts.only[0], 100);
	assert_int_equal(counts.parts, MARK_ALL);
	for (uint32_t k = 0; k < n_rows; k++) {
		if (rows[k].kind == PAIR_BOTH) {
			assert_int_equal(rows[k].t_ns[1] - rows[k].t_ns[0], DELAY_NS);
		} else {
			assert_int_equal(rows[k].number[0] % 10, 9);
			assert_int_equal(rows[k].t_ns[1], PAIRING_NEVER);
		}
	}
}

static void route(uint8_t *frame, uint32_t bytes)
{
	(void)bytes;
	memset(frame, 0x5a, 12); /* addresses of the link */
	frame[15] = 0xb9;        /* DSCP and ECN */
	frame[22]--;             /* TTL */
	frame[24] ^= 0x31;       /* checksum */
}

static void translate(uint8_t *frame, uint32_t bytes)
{
	route(frame, bytes);
	memcpy(frame + 26, "\xc6\x33\x64\x07", 4);
	frame[34] = 0x77;
}

static void number_anew(uint8_t *frame, uint32_t bytes)
{
	(void)bytes;
	frame[18] ^= 0x55;
}

static void what_the_path_changes_is_not_compared(void **state)
{
	static const struct {
		void (*way)(uint8_t *frame, uint32_t bytes);
		uint32_t parts;
	} cases[] = {{route, MARK_ALL},
	             {translate, MARK_ALL & ~MARK_ADDRESSES},
	             {number_anew, MARK_ALL & ~MARK_ID}};

	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (i > 0)
			assert_int_equal(fresh(state), 0);
		on_the_way = cases[i].way;
		send_some(500, 5);
		pair(256);
		assert_int_equal(counts.parts, cases[i].parts);
		assert_int_equal(counts.pairs, 400);
		if (i + 1 < sizeof(cases) / sizeof(cases[0]))
			done(state);
	}
}

static void a_copy_is_named_with_its_original(void **state)
{
	uint32_t copies = 0;

	(void)state;
	for (uint32_t k = 0; k < 200; k++) {
		put(0, k, k * SIMTIME_MS);
		put(1, k, k * SIMTIME_MS + DELAY_NS);
		if (k % 20 == 7)
			put(1, k, k * SIMTIME_MS + DELAY_NS + 1000);
	}
	pair(64);
	assert_int_equal(counts.pairs, 200);
	assert_int_equal(counts.copies[1], 10);
	for (uint32_t k = 0; k < n_rows; k++) {
		if (rows[k].kind != PAIR_COPY)
			continue;
		assert_int_equal(rows[k].side, 1);
		assert_int_equal(rows[k].number[0] % 20, 7);
		assert_int_equal(rows[k].t_ns[1] - rows[k].t_ns[0], DELAY_NS + 1000);
		copies++;
	}
	assert_int_equal(copies, 10);
}

static void a_retransmission_is_not_its_original(void **state)
{
	(void)state;
	for (uint32_t k = 0; k < 300; k++) {
		put_as(0, FRAME_TCP, k, (uint16_t)(2 * k + 1), k * SIMTIME_MS);
		put_as(0, FRAME_TCP, k, (uint16_t)(2 * k + 2), k * SIMTIME_MS + 500);
		put_as(1, FRAME_TCP, k, (uint16_t)(2 * k + 2), k * SIMTIME_MS + DELAY_NS);
	}
	pair(64);
	assert_int_equal(counts.pairs, 300);
	assert_int_equal(counts.only[0], 300);
	for (uint32_t k = 0; k < n_rows; k++)
		assert_int_equal(rows[k].number[0] % 2, rows[k].kind == PAIR_BOTH);
}

static void clocks_may_differ_by_an_hour_and_be_set(void **state)
{
	(void)state;
	for (uint32_t k = 0; k < 4000; k++) {
		put(0, k, k * SIMTIME_MS);
		if (k % 50 != 49)
			put(1, k, HOUR_NS + k * SIMTIME_MS + (k < 2000 ? 0 : HOUR_NS));
	}
	pair(256);
	assert_int_equal(counts.pairs, 3920);
	assert_int_equal(counts.only[0], 80);
	assert_int_equal(counts.only[1], 0);
}

static void a_capture_that_begins_much_later_is_found_by_its_clock(void **state)
{
	(void)state;
	for (uint32_t k = 0; k < 2 * PAIRING_PROBE; k++) {
		put(0, k, k * SIMTIME_MS);
		if (k >= 100000)
			put(1, k, k * SIMTIME_MS + DELAY_NS);
	}
	pair(1024);
	assert_int_equal(counts.pairs, 2 * PAIRING_PROBE - 100000);
}

/* Packets of few kinds have partners even if they are compared by their lengths alone. */
static void a_path_that_loses_half_changes_nothing(void **state)
{
	(void)state;
	for (uint32_t k = 0; k < 2000; k++) {
		put(0, k, k * SIMTIME_MS);
		if (k % 200 >= 110)
			put(1, k, k * SIMTIME_MS + DELAY_NS);
	}
	pair(1024);
	assert_int_equal(counts.parts, MARK_ALL);
	assert_int_equal(counts.pairs, 900);
	assert_int_equal(counts.only[0], 1100);
}

/* Puts segments of one flow as one frame, as a host with TSO or GRO captures them. */
static void put_segments(uint32_t i, uint32_t first, uint32_t n, uint64_t t_ns)
{
	const uint32_t segment = 1460;
	const struct frame_shape shape = {.ip = 4,
	                                  .protocol = FRAME_TCP,
	                                  .sequence = 1 + first * segment,
	                                  .payload_bytes = 100};
	uint8_t frame[FRAME_BYTES_MAX];
	const uint32_t head = frame_make(frame, &shape) - shape.payload_bytes;
	const uint32_t bytes = head + n * segment;
	uint8_t *ip = frame + frame_network(&shape);

	ip[2] = (uint8_t)((bytes - 14) >> 8);
	ip[3] = (uint8_t)(bytes - 14);
	ip[4] = (uint8_t)((first + 1) >> 8);
	ip[5] = (uint8_t)(first + 1);
	dump_write(dumps[i], START_NS + t_ns, frame, head + 40, bytes);
}

static void super_frames_are_cut_into_what_the_path_carries(void **state)
{
	uint32_t lost = 0, cut = 0;

	(void)state;
	for (uint32_t k = 0; k < 600; k += 6) {
		const uint32_t n = 1 + k / 6 % 4;

		put_segments(0, k, n, k * SIMTIME_MS);
		cut += n > 1;
		for (uint32_t part = 0; part < n; part++) {
			if (k % 10 == 0 && part == 0)
				lost++;
			else
				put_segments(1, k + part, 1, k * SIMTIME_MS + DELAY_NS);
		}
	}
	pair(256);
	assert_int_equal(counts.only[1], 0);
	assert_int_equal(counts.only[0], lost);
	assert_int_equal(counts.cut[0], cut);
	for (uint32_t k = 0; k < n_rows; k++)
		assert_int_equal(rows[k].wire_bytes, 1514);
}

static void break_a_bit(uint8_t *frame, uint32_t bytes)
{
	frame[bytes - 1 - (frame[19] & 1) * 44] ^= 0x10;
}

static void damage_is_seen_and_names_its_capture(void **state)
{
	(void)state;
	on_the_way = break_a_bit;
	for (uint32_t k = 0; k < 100; k++) {
		put_as(0, k % 4 < 2 ? FRAME_UDP : FRAME_TCP, k, 2, k * SIMTIME_MS);
		put_as(1, k % 4 < 2 ? FRAME_UDP : FRAME_TCP, k, 2, k * SIMTIME_MS + DELAY_NS);
	}
	pair(128);
	assert_int_equal(counts.damaged[0], 0);
	assert_int_equal(counts.damaged[1], 100);
}

static void captures_of_different_paths_have_no_pair(void **state)
{
	(void)state;
	for (uint32_t k = 0; k < 5000; k++) {
		put(0, k, k * SIMTIME_MS);
		put(1, 70000 + k, k * SIMTIME_MS);
	}
	pair(256);
	assert_int_equal(counts.pairs, 0);
	assert_int_equal(counts.only[1], 5000);
}

/* A look passes at most PAIRING_LOOKS frames: without that bound this takes minutes. */
static void equal_packets_are_paired_in_their_order_and_in_linear_time(void **state)
{
	(void)state;
	for (uint32_t k = 0; k < 100000; k++) {
		put_as(0, FRAME_UDP, 1, 0, k * 1000);
		put_as(1, FRAME_UDP, 1, 0, k * 1000 + DELAY_NS);
	}
	pair(PAIRING_ROOM);
	assert_int_equal(counts.pairs, 100000);
	for (uint32_t k = 0; k < n_rows; k++)
		assert_int_equal(rows[k].number[0], rows[k].number[1]);
}

GROUP(pairing)
{
	const struct CMUnitTest tests[] = {
#define CLAIM(name) cmocka_unit_test_setup_teardown(name, fresh, done)
	        CLAIM(each_packet_is_found_and_those_lost_are_only_in_the_first),
	        CLAIM(what_the_path_changes_is_not_compared),
	        CLAIM(a_copy_is_named_with_its_original),
	        CLAIM(a_retransmission_is_not_its_original),
	        CLAIM(clocks_may_differ_by_an_hour_and_be_set),
	        CLAIM(a_capture_that_begins_much_later_is_found_by_its_clock),
	        CLAIM(a_path_that_loses_half_changes_nothing),
	        CLAIM(super_frames_are_cut_into_what_the_path_carries),
	        CLAIM(damage_is_seen_and_names_its_capture),
	        CLAIM(captures_of_different_paths_have_no_pair),
	        CLAIM(equal_packets_are_paired_in_their_order_and_in_linear_time),
	};

	return cmocka_run_group_tests_name("pairing", tests, NULL, NULL);
}
