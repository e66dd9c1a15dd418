/* SPDX-License-Identifier: BSD-3-Clause */
/* Deliveries, joined with what is told later of their departures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fates/fate_order.h"
#include "packet/packet.h"
#include "random/draw.h"
#include "runner/group.h"
#include "simtime.h"

#define HEARD_MAX 20000

struct ear {
	struct witness witness;
	uint32_t n;
	struct fate heard[HEARD_MAX];
};

static struct ear ear;
static struct departures *departures;

static void hear(struct witness *witness, const struct fate *fate)
{
	assert_ptr_equal(witness, &ear.witness);
	assert_true(ear.n < HEARD_MAX);
	ear.heard[ear.n++] = *fate;
}

static int fresh(void **state)
{
	(void)state;
	memset(&ear, 0, sizeof(ear));
	ear.witness.tell = hear;
	departures = departures_make(&ear.witness);
	return departures ? 0 : -1;
}

static int gone(void **state)
{
	(void)state;
	departures_free(departures);
	return 0;
}

static void tell(struct fate fate)
{
	struct witness *witness = departures_witness(departures);

	witness->tell(witness, &fate);
}

static void deliver(const char *cloud, uint64_t packet, uint8_t flags, simtime due)
{
	tell((struct fate){.kind = FATE_DELIVERED,
	                   .cloud = cloud,
	                   .packet = packet,
	                   .flags = flags,
	                   .to_port = 1,
	                   .t_out_ns = due});
}

static void send(uint64_t packet, uint8_t flags, simtime due, simtime at)
{
	tell((struct fate){.kind = FATE_SENT,
	                   .cloud = "b",
	                   .packet = packet,
	                   .flags = flags,
	                   .to_port = 1,
	                   .t_in_ns = due,
	                   .at_ns = at});
}

static void expect(uint32_t i, uint64_t packet, bool sent, simtime late)
{
	assert_true(i < ear.n);
	assert_int_equal(ear.heard[i].packet, packet);
	assert_int_equal(ear.heard[i].sent, sent);
	assert_int_equal(ear.heard[i].late_ns, late);
}

static void the_order_is_that_of_the_decisions(void **state)
{
	(void)state;
	deliver("down", 1, 0, 1000);
	tell((struct fate){
	        .kind = FATE_DROPPED, .cloud = "down", .packet = 2, .reason = REASON_LOSS});
	deliver("down", 3, 0, 500);
	send(3, 0, 500, 700);
	assert_int_equal(ear.n, 0); /* the first is still on its way */
	send(1, 0, 1000, 1000);
	assert_int_equal(ear.n, 3);
	expect(0, 1, true, 0);
	expect(1, 2, false, 0);
	assert_int_equal(ear.heard[1].kind, FATE_DROPPED);
	expect(2, 3, true, 200);
}

/* Copies have the name of their original. */
static void each_copy_has_its_own_departure(void **state)
{
	(void)state;
	deliver("down", 7, 0, 1000);
	deliver("down", 7, PACKET_COPY, 3000);
	deliver("down", 7, PACKET_COPY, 2000);
	send(7, PACKET_COPY, 2000, 2020);
	/* It has been marked, and leaves a little early, for the device's sake. */
	send(7, PACKET_COPY | PACKET_MARKED, 2990, 3020);
	send(7, 0, 1000, 1010);
	assert_int_equal(ear.n, 3);
	expect(0, 7, true, 10);
	expect(1, 7, true, 30);
	expect(2, 7, true, 20);
}

/* A packet goes on into a cloud without a delay: only its departure from there is one. The names of
 * clouds are gone with the scenario that had them. */
static void what_went_on_into_another_cloud_has_no_lateness(void **state)
{
	char first[] = "down", next[] = "next";

	(void)state;
	deliver(first, 1, 0, 1000);
	deliver(next, 1, 0, 1000);
	memset(first, 'x', 4);
	memset(next, 'x', 4);
	send(1, 0, 1000, 1050);
	departures_end(departures);
	assert_int_equal(ear.n, 2);
	assert_string_equal(ear.heard[0].cloud, "down");
	expect(0, 1, false, 0);
	assert_string_equal(ear.heard[1].cloud, "next");
	expect(1, 1, true, 50);
}

static void what_the_port_loses_has_no_lateness_and_is_passed_on_once(void **state)
{
	(void)state;
	deliver("down", 1, 0, 1000);
	tell((struct fate){.kind = FATE_DROPPED,
	                   .reason = REASON_TX_FULL,
	                   .cloud = "b",
	                   .packet = 1,
	                   .to_port = 1,
	                   .t_in_ns = 1000,
	                   .at_ns = 100 * SIMTIME_MS});
	assert_int_equal(ear.n, 1);
	expect(0, 1, false, 0);
	assert_int_equal(ear.heard[0].kind, FATE_DELIVERED);
	departures_end(departures);
	assert_int_equal(ear.n, 1);
}

static void a_departure_that_was_not_told_holds_up_the_others_for_a_second_at_most(void **state)
{
	(void)state;
	deliver("down", 1, 0, 1000);
	deliver("down", 2, 0, 1000 + SIMTIME_S);
	deliver("down", 3, 0, 1001 + SIMTIME_S);
	send(2, 0, 1000 + SIMTIME_S, 1000 + SIMTIME_S);
	assert_int_equal(ear.n, 0);
	send(3, 0, 1001 + SIMTIME_S, 1003 + SIMTIME_S);
	assert_int_equal(ear.n, 3);
	expect(0, 1, false, 0);
	expect(1, 2, true, 0);
	expect(2, 3, true, 2);
}

/* Delays of up to 4,000 packets, so the room grows several times. */
static void many_at_a_time_each_get_their_own(void **state)
{
	const struct draw_key key = draw_key_make(3, "departures", "");
	static simtime due[HEARD_MAX];

	(void)state;
	for (uint64_t t = 0; t < HEARD_MAX + 4000; t++) {
		if (t < HEARD_MAX) {
			due[t] = t + draw_u64(key, t, 0) % 4000;
			deliver(t % 3 ? "down" : "up", t + 1, 0, due[t]);
		}
		for (uint64_t i = t < 4000 ? 0 : t - 4000; i < HEARD_MAX && i <= t; i++) {
			if (due[i] == t)
				send(i + 1, 0, due[i], due[i] + i % 100);
		}
	}
	assert_int_equal(ear.n, HEARD_MAX);
	for (uint32_t i = 0; i < HEARD_MAX; i++) {
		expect(i, i + 1, true, i % 100);
		assert_string_equal(ear.heard[i].cloud, i % 3 ? "down" : "up");
	}
	assert_int_equal(departures_missed(departures), 0);
}

GROUP(departures)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(the_order_is_that_of_the_decisions, fresh, gone),
	        cmocka_unit_test_setup_teardown(each_copy_has_its_own_departure, fresh, gone),
	        cmocka_unit_test_setup_teardown(what_went_on_into_another_cloud_has_no_lateness,
	                                        fresh, gone),
	        cmocka_unit_test_setup_teardown(
	                what_the_port_loses_has_no_lateness_and_is_passed_on_once, fresh, gone),
	        cmocka_unit_test_setup_teardown(
	                a_departure_that_was_not_told_holds_up_the_others_for_a_second_at_most,
	                fresh, gone),
	        cmocka_unit_test_setup_teardown(many_at_a_time_each_get_their_own, fresh, gone),
	};

	return cmocka_run_group_tests_name("departures", tests, NULL, NULL);
}
