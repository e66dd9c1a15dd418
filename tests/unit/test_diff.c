/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "diff/diff.h"
#include "runner/group.h"

static struct fate_differences *differences;
static struct fate_pairs *pairs;

static int fresh(void **state)
{
	(void)state;
	differences = calloc(1, sizeof(*differences));
	pairs = fate_pairs_make(64, differences);
	return differences && pairs ? 0 : -1;
}

static int done(void **state)
{
	(void)state;
	fate_pairs_free(pairs);
	free(differences);
	return 0;
}

static struct fate_seen delivered(uint64_t packet, uint64_t delay_ns)
{
	return (struct fate_seen){.packet = packet,
	                          .t_in_ns = 1000 * packet,
	                          .delay_ns = delay_ns,
	                          .wire_bytes = 100,
	                          .became = BECAME_DELIVERED};
}

static struct fate_seen dropped(uint64_t packet, enum reason reason)
{
	return (struct fate_seen){
	        .packet = packet, .t_in_ns = 1000 * packet, .wire_bytes = 100, .became = reason};
}

static void put(uint32_t run, struct fate_seen seen)
{
	fate_pairs_put(pairs, run, &seen);
}

static void equal_runs_have_no_difference_in_whatever_order_each_decides(void **state)
{
	(void)state;
	for (uint64_t packet = 1; packet <= 40; packet++)
		put(0, packet % 3 ? delivered(packet, 500) : dropped(packet, REASON_LOSS));
	for (uint64_t packet = 40; packet >= 1; packet--)
		put(1, packet % 3 ? delivered(packet, 500) : dropped(packet, REASON_LOSS));
	assert_int_equal(fate_pairs_end(pairs), 0);
	assert_int_equal(differences->pairs, 40);
	assert_int_equal(differences->equal, 27);
	assert_true(fate_differences_none(differences));
}

static void the_earliest_of_each_change_are_named_and_the_first_of_all(void **state)
{
	static const uint64_t order[] = {9, 4, 7, 30, 2, 8};

	(void)state;
	for (uint32_t i = 0; i < 6; i++) {
		put(1, dropped(order[i], REASON_LOSS));
		put(0, delivered(order[i], 10));
	}
	put(0, dropped(1, REASON_QUEUE_FULL));
	put(1, delivered(1, 10));
	const struct fate_change *lost = &differences->changes[BECAME_DELIVERED][REASON_LOSS];

	assert_int_equal(lost->packets, 6);
	assert_int_equal(lost->few[0].packet, 2);
	assert_int_equal(lost->few[1].packet, 4);
	assert_int_equal(lost->few[2].packet, 7);
	assert_int_equal(differences->first.at.packet, 1);
	assert_int_equal(differences->first.from, REASON_QUEUE_FULL);
	assert_int_equal(differences->first.to, BECAME_DELIVERED);
	assert_int_equal(fate_differences_changed(differences), 7);
}

static void delays_differ_with_their_sign(void **state)
{
	(void)state;
	/* 10 packets are earlier by 7, 30 equal, 10 later by 1 to 10; below 32, a bucket holds one
	 * value. */
	for (uint64_t packet = 1; packet <= 50; packet++) {
		put(0, delivered(packet, 100));
		put(1, delivered(packet, packet <= 10   ? 93
		                         : packet <= 40 ? 100
		                                        : 100 + packet - 40));
	}
	assert_int_equal(fate_differences_delay(differences, 0), -7);
	assert_int_equal(fate_differences_delay(differences, 100000), -7);
	assert_int_equal(fate_differences_delay(differences, 500000), 0);
	assert_int_equal(fate_differences_delay(differences, 990000), 9);
	assert_int_equal(fate_differences_delay(differences, 1000000), 10);
	assert_false(fate_differences_none(differences));
}

static void the_least_and_the_greatest_difference_are_exact(void **state)
{
	(void)state;
	for (uint64_t packet = 1; packet <= 3; packet++) {
		put(0, delivered(packet, 100000000));
		put(1, delivered(packet, packet == 1   ? 98765432
		                         : packet == 2 ? 100000001
		                                       : 123456789));
	}
	/* A second packet in the bucket of the greatest difference. */
	put(0, delivered(4, 0));
	put(1, delivered(4, 23456780));
	assert_int_equal(fate_differences_delay(differences, 0), 98765432 - 100000000);
	assert_int_equal(fate_differences_delay(differences, 1000000), 23456789);
}

static void copies_are_paired_with_copies_and_ports_with_ports(void **state)
{
	struct fate_seen copy = dropped(5, REASON_LIMIT), other = delivered(5, 1);

	(void)state;
	copy.copy = true;
	other.port = 1;
	put(0, copy);
	put(0, other);
	put(0, delivered(5, 1));
	put(1, delivered(5, 1));
	put(1, other);
	put(1, copy);
	assert_int_equal(fate_pairs_end(pairs), 0);
	assert_true(fate_differences_none(differences));
}

static void fates_of_one_packet_are_paired_in_their_order(void **state)
{
	(void)state;
	put(0, delivered(5, 1));
	put(0, dropped(5, REASON_CODEL));
	put(1, delivered(5, 1));
	put(1, dropped(5, REASON_PIE));
	assert_int_equal(differences->changes[REASON_CODEL][REASON_PIE].packets, 1);
	assert_int_equal(fate_differences_changed(differences), 1);
}

static void what_has_no_partner_was_not_decided_there(void **state)
{
	(void)state;
	put(0, delivered(1, 1));
	put(1, dropped(2, REASON_DOWN));
	assert_int_equal(fate_pairs_end(pairs), 0);
	assert_int_equal(differences->changes[BECAME_DELIVERED][BECAME_NOTHING].packets, 1);
	assert_int_equal(differences->changes[BECAME_NOTHING][REASON_DOWN].packets, 1);
}

static void a_bounded_number_waits_and_the_oldest_go_first(void **state)
{
	(void)state;
	for (uint64_t packet = 1; packet <= 200; packet++)
		put(0, delivered(packet, 1));
	for (uint64_t packet = 137; packet <= 200; packet++)
		put(1, delivered(packet, 1));
	assert_int_equal(fate_pairs_end(pairs), 136);
	assert_int_equal(differences->equal, 64);
	assert_int_equal(differences->changes[BECAME_DELIVERED][BECAME_NOTHING].packets, 136);
	assert_int_equal(differences->pairs, 200);
}

static void packets_of_another_length_are_a_difference(void **state)
{
	struct fate_seen longer = delivered(3, 1);

	(void)state;
	longer.wire_bytes = 101;
	put(0, delivered(3, 1));
	put(1, longer);
	assert_int_equal(differences->other_length, 1);
	assert_false(fate_differences_none(differences));
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, fresh, done)

GROUP(diff)
{
	const struct CMUnitTest tests[] = {
	        CLAIM(equal_runs_have_no_difference_in_whatever_order_each_decides),
	        CLAIM(the_earliest_of_each_change_are_named_and_the_first_of_all),
	        CLAIM(delays_differ_with_their_sign),
	        CLAIM(the_least_and_the_greatest_difference_are_exact),
	        CLAIM(copies_are_paired_with_copies_and_ports_with_ports),
	        CLAIM(fates_of_one_packet_are_paired_in_their_order),
	        CLAIM(what_has_no_partner_was_not_decided_there),
	        CLAIM(a_bounded_number_waits_and_the_oldest_go_first),
	        CLAIM(packets_of_another_length_are_a_difference),
	};

	return cmocka_run_group_tests_name("diff", tests, NULL, NULL);
}
