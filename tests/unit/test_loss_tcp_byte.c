/* SPDX-License-Identifier: BSD-3-Clause */
/* The TCP segment with a certain byte, of every flow. */
#include "runner/group.h"
#include "trial.h"

#include "frame.h"
#include "loss/loss_tcp_byte.h"

static void send_segment(struct trial *trial, struct frame_shape shape)
{
	uint8_t frame[FRAME_BYTES_MAX];

	if (!shape.ip)
		shape.ip = 4;
	if (!shape.protocol)
		shape.protocol = FRAME_TCP;
	trial_send_frame(trial, frame, frame_make(frame, &shape));
}

static bool last_is_lost(const struct trial *trial)
{
	return trial->fate[trial->sent] & TRIAL_LOST;
}

static void the_segment_with_the_byte_is_lost_and_k_retransmissions(void **state)
{
	struct trial *trial = trial_open("loss tcp-byte 1000 retransmits 2", 1);

	(void)state;
	send_segment(trial, (struct frame_shape){.syn = true, .sequence = 77});
	for (uint32_t byte = 1; byte < 3000; byte += 100) {
		send_segment(trial,
		             (struct frame_shape){.sequence = 77 + byte, .payload_bytes = 100});
		assert_int_equal(last_is_lost(trial), byte == 901);
	}
	for (int i = 0; i < 5; i++) {
		/* A retransmission may be segmented differently; only the byte counts. */
		send_segment(trial,
		             (struct frame_shape){.sequence = 77 + 950, .payload_bytes = 51});
		assert_int_equal(last_is_lost(trial), i < 2);
	}
	trial_close(trial);
}

static void only_the_segment_that_carries_the_byte_is_lost(void **state)
{
	static const struct {
		uint32_t byte, payload_bytes;
		bool lost;
	} rows[] = {
	        {900, 100, false}, {1000, 0, false}, {1001, 100, false}, {999, 1, false},
	        {1000, 1, true},   {901, 100, true}, {1000, 100, true},  {1, 1400, true},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = trial_open("loss tcp-byte 1000", 1);

		send_segment(trial, (struct frame_shape){.syn = true, .sequence = 5});
		send_segment(trial, (struct frame_shape){.sequence = 5 + rows[i].byte,
		                                         .payload_bytes = rows[i].payload_bytes});
		assert_int_equal(last_is_lost(trial), rows[i].lost);
		trial_close(trial);
	}
}

static void a_flow_without_syn_begins_with_its_first_segment(void **state)
{
	struct trial *trial = trial_open("loss tcp-byte 1", 1);

	(void)state;
	send_segment(trial, (struct frame_shape){.sequence = 4000000000u, .payload_bytes = 10});
	assert_true(last_is_lost(trial));
	/* Bytes before the first sequence have numbers of 0 and below. */
	send_segment(trial, (struct frame_shape){.source_port = 5, .sequence = 100});
	send_segment(trial,
	             (struct frame_shape){.source_port = 5, .sequence = 90, .payload_bytes = 10});
	assert_false(last_is_lost(trial));
	send_segment(trial,
	             (struct frame_shape){.source_port = 5, .sequence = 90, .payload_bytes = 11});
	assert_true(last_is_lost(trial));
	trial_close(trial);
}

static void bytes_are_numbered_through_the_wrap_of_sequence_numbers(void **state)
{
	/* 3 x 2^32 + 1 */
	struct trial *trial = trial_open("loss tcp-byte 12884901889", 1);
	uint32_t sequence = 4294967000u;

	(void)state;
	send_segment(trial, (struct frame_shape){.syn = true, .sequence = sequence++});
	for (int i = 0; i < 12; i++) {
		send_segment(trial,
		             (struct frame_shape){.sequence = sequence, .payload_bytes = 100});
		assert_false(last_is_lost(trial));
		sequence += UINT32_C(1) << 30; /* as if the segments between took another path */
	}
	send_segment(trial, (struct frame_shape){.sequence = sequence, .payload_bytes = 100});
	assert_true(last_is_lost(trial));
	trial_close(trial);
}

static void flows_are_told_apart_by_addresses_ports_and_vlan(void **state)
{
	static const struct frame_shape rows[] = {
	        {.ip = 4},
	        {.ip = 4, .host = 2},
	        {.ip = 4, .source_port = 7},
	        {.ip = 4, .n_tags = 1},
	        {.ip = 4, .n_tags = 2, .option_words = 3},
	        {.ip = 6},
	        {.ip = 6, .host = 9, .n_extensions = 2},
	        {.ip = 6, .n_tags = 2},
	};
	struct trial *trial = trial_open("loss tcp-byte 50", 1);

	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		for (size_t i = 0; i < LENGTH(rows); i++) {
			struct frame_shape shape = rows[i];

			shape.sequence = 1000;
			shape.payload_bytes = 100;
			send_segment(trial, shape);
			assert_int_equal(last_is_lost(trial), turn == 0);
		}
	}
	trial_close(trial);
}

static void a_new_connection_on_old_ports_begins_anew(void **state)
{
	struct trial *trial = trial_open("loss tcp-byte 1", 1);

	(void)state;
	for (uint32_t isn = 10; isn < 40; isn += 10) {
		for (int again = 0; again < 2; again++) {
			send_segment(trial, (struct frame_shape){.syn = true, .sequence = isn});
			send_segment(trial,
			             (struct frame_shape){.sequence = isn + 1, .payload_bytes = 5});
			/* A SYN that is sent twice is the same connection. */
			assert_int_equal(last_is_lost(trial), again == 0);
		}
	}
	trial_close(trial);
}

static void data_in_a_syn_counts_from_byte_one(void **state)
{
	struct trial *trial = trial_open("loss tcp-byte 3", 1);

	(void)state;
	send_segment(trial, (struct frame_shape){.syn = true, .sequence = 9, .payload_bytes = 3});
	assert_true(last_is_lost(trial));
	trial_close(trial);
}

static void what_is_no_tcp_passes(void **state)
{
	static const struct frame_shape rows[] = {
	        {.protocol = FRAME_UDP, .payload_bytes = 100},
	        {.protocol = FRAME_ICMP, .payload_bytes = 100},
	        {.fragment = 8, .payload_bytes = 100},
	        {.ip = 6, .fragment = 8, .payload_bytes = 100},
	};
	struct trial *trial = trial_open("loss tcp-byte 1", 1);

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++)
		send_segment(trial, rows[i]);
	trial_send(trial, 100, 14);
	trial_send(trial, 100, 3);
	assert_int_equal(trial_count(trial, TRIAL_LOST), 0);
	trial_close(trial);
}

static void padding_is_no_payload(void **state)
{
	struct trial *trial = trial_open("loss tcp-byte 1", 1);

	(void)state;
	send_segment(trial, (struct frame_shape){.syn = true, .sequence = 1, .padding_bytes = 6});
	send_segment(trial, (struct frame_shape){.sequence = 2, .padding_bytes = 6});
	assert_int_equal(trial_count(trial, TRIAL_LOST), 0);
	trial_close(trial);
}

/* A table of 8 flows is one set: the ninth flow displaces the one that was silent for the longest
 * time. */
static void the_flow_that_was_silent_longest_is_forgotten(void **state)
{
	struct trial *trial = trial_open("loss tcp-byte 1 flows 8", 1);

	(void)state;
	for (uint16_t port = 1; port <= 8; port++)
		send_segment(trial, (struct frame_shape){.source_port = port, .payload_bytes = 1});
	assert_int_equal(trial_count(trial, TRIAL_LOST), 8);
	/* Flow 1 sends again, so flow 2 is the one displaced. */
	send_segment(trial, (struct frame_shape){.source_port = 1, .payload_bytes = 1});
	send_segment(trial, (struct frame_shape){.source_port = 9, .payload_bytes = 1});
	assert_int_equal(trial_count(trial, TRIAL_LOST), 9);
	send_segment(trial, (struct frame_shape){.source_port = 1, .payload_bytes = 1});
	assert_false(last_is_lost(trial));
	send_segment(trial, (struct frame_shape){.source_port = 2, .payload_bytes = 1});
	assert_true(last_is_lost(trial));
	trial_close(trial);
}

static void a_change_keeps_the_flows_and_counts_anew(void **state)
{
	struct trial *trial = trial_open("loss tcp-byte 50", 1);

	(void)state;
	send_segment(trial, (struct frame_shape){.syn = true, .sequence = 0});
	send_segment(trial, (struct frame_shape){.sequence = 1, .payload_bytes = 100});
	assert_true(last_is_lost(trial));
	trial_set(trial, "loss tcp-byte 150");
	send_segment(trial, (struct frame_shape){.sequence = 101, .payload_bytes = 100});
	assert_true(last_is_lost(trial));
	send_segment(trial, (struct frame_shape){.sequence = 101, .payload_bytes = 100});
	assert_false(last_is_lost(trial));
	/* In another table, byte 1 is the next one. */
	trial_set(trial, "loss tcp-byte 1 flows 64");
	send_segment(trial, (struct frame_shape){.sequence = 201, .payload_bytes = 100});
	assert_true(last_is_lost(trial));
	trial_close(trial);
}

static void a_table_has_room_for_as_many_flows_as_it_was_made_for(void **state)
{
	static const uint64_t rows[][2] = {{8, 8}, {9, 16}, {100, 128}, {16384, 16384}};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct tcp_flows *flows = tcp_flows_make(rows[i][0]);

		assert_non_null(flows);
		assert_int_equal(tcp_flows_room(flows), rows[i][1]);
		tcp_flows_free(flows);
	}
}

GROUP(loss_tcp_byte)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_segment_with_the_byte_is_lost_and_k_retransmissions),
	        cmocka_unit_test(only_the_segment_that_carries_the_byte_is_lost),
	        cmocka_unit_test(a_flow_without_syn_begins_with_its_first_segment),
	        cmocka_unit_test(bytes_are_numbered_through_the_wrap_of_sequence_numbers),
	        cmocka_unit_test(flows_are_told_apart_by_addresses_ports_and_vlan),
	        cmocka_unit_test(a_new_connection_on_old_ports_begins_anew),
	        cmocka_unit_test(data_in_a_syn_counts_from_byte_one),
	        cmocka_unit_test(what_is_no_tcp_passes),
	        cmocka_unit_test(padding_is_no_payload),
	        cmocka_unit_test(the_flow_that_was_silent_longest_is_forgotten),
	        cmocka_unit_test(a_change_keeps_the_flows_and_counts_anew),
	        cmocka_unit_test(a_table_has_room_for_as_many_flows_as_it_was_made_for),
	};

	return cmocka_run_group_tests_name("loss_tcp_byte", tests, rig_group_setup,
	                                   rig_group_teardown);
}
