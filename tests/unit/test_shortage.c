/* SPDX-License-Identifier: BSD-3-Clause */
/* Engines that run out of memory: what is lost, what waits, and what the tape of a recording says.
 * tests/property/test_shortages.c repeats such runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/engine_state.h"
#include "record/recorded_file.h"
#include "record/tape.h"
#include "recorded_rig.h"
#include "rig.h"
#include "runner/group.h"
#include "trial.h"

/* ---- what is lost or delayed ---- */

static struct rte_mbuf *borrowed[RIG_MBUFS + 1];
static uint32_t n_borrowed;

/* Sends a packet, and then takes all mbufs from the pool. */
static void send_and_borrow(struct rig *rig)
{
	rig_send(rig, 0, 100, 10);
	hold_give_back(&rig->engine->holder, 0);
	while ((borrowed[n_borrowed] = rte_pktmbuf_alloc(rig->pool)))
		n_borrowed++;
}

static void give_back(struct rig *rig)
{
	rte_pktmbuf_free_bulk(borrowed, n_borrowed);
	n_borrowed = 0;
	rig_collect(rig);
}

/* Two clouds meet at port 1, and the pool has no mbufs. */
static void what_is_due_and_gets_no_mbuf_is_lost(void **state)
{
	simtime lacked_ns = SIMTIME_NEVER;
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 3, .lacked_ns = &lacked_ns});
	(void)state;

	rig_cloud(rig, "x", 0, 1);
	rig_cloud(rig, "y", 2, 1);
	rig_delay(rig, "x", 1000, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	send_and_borrow(rig);
	rig_advance(rig, 1500);
	assert_int_equal(rig->n_departures, 0);
	assert_int_equal(lacked_ns, 1010);
	assert_int_equal(rig_report(rig, "x")->counters.drops[REASON_NO_BUFFER], 1);
	give_back(rig);
	rig_close(rig);
}

/* The same if the other cloud comes when the packet is on its line already. */
static void what_was_on_a_line_before_it_was_shared_and_gets_no_mbuf_is_lost(void **state)
{
	simtime lacked_ns = SIMTIME_NEVER;
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 3, .lacked_ns = &lacked_ns});
	(void)state;

	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", 1000, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	send_and_borrow(rig);
	rig_cloud(rig, "y", 2, 1);
	rig_apply(rig, 500);
	rig_advance(rig, 1009);
	assert_int_equal(lacked_ns, SIMTIME_NEVER);
	rig_advance(rig, 1010);
	assert_int_equal(lacked_ns, 1010);
	assert_int_equal(rig_report(rig, "x")->counters.drops[REASON_NO_BUFFER], 1);
	assert_int_equal(engine_next(rig->engine), SIMTIME_NEVER);
	give_back(rig);
	rig_close(rig);
}

/* The driver is asked for mbufs before a packet is lost. */
static void what_is_due_gets_an_mbuf_that_make_room_provides(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 3});
	(void)state;

	rig->make_room = give_back;
	rig_cloud(rig, "x", 0, 1);
	rig_cloud(rig, "y", 2, 1);
	rig_delay(rig, "x", 1000, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	send_and_borrow(rig);
	rig_advance(rig, 1500);
	assert_int_equal(rig->n_departures, 1);
	assert_int_equal(n_borrowed, 0);
	rig_close(rig);
}

/* Nothing depends on a line of its own, so its packets wait; a change would find them there. */
static void what_is_settled_without_mbufs_waits_and_is_said(void **state)
{
	simtime lacked_ns = SIMTIME_NEVER;
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 3, .lacked_ns = &lacked_ns});
	(void)state;

	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", 1000, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	send_and_borrow(rig);
	rig_advance(rig, 1500);
	assert_int_equal(lacked_ns, SIMTIME_NEVER);
	engine_settle(rig->engine, 1500);
	assert_int_equal(lacked_ns, 1010);
	give_back(rig);
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, 1);
	rig_close(rig);
}

/* The head, which the link sends already, has to be moved out of the way (link_oldest). */
static void a_packet_that_drop_head_cannot_push_out_counts_from_there(void **state)
{
	simtime lacked_ns = SIMTIME_NEVER;
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 3, .lacked_ns = &lacked_ns});
	struct arena *arena = &rig->engine->holder.arena;
	struct chunk *taken = NULL, *chunk;
	struct conf *rate = trial_conf("rate 8mbit queue 2pkt drop head");
	(void)state;

	rig_cloud(rig, "x", 0, 1);
	rig_put(rig, "x", rate);
	rig_apply(rig, 0);
	for (simtime now = 1; now <= 3; now++)
		rig_send(rig, 0, 100, now);
	while ((chunk = arena_get(arena))) {
		chunk->next = taken;
		taken = chunk;
	}
	rig_send(rig, 0, 100, 4);
	assert_int_equal(rig_report(rig, "x")->counters.drops[REASON_QUEUE_FULL], 1);
	assert_int_equal(rig_report(rig, "x")->counters.drops[REASON_NO_BUFFER], 0);
	assert_int_equal(lacked_ns, 4);
	for (; taken; taken = chunk) {
		chunk = taken->next;
		arena_put(arena, taken);
	}
	rig_run_out(rig);
	rig_close(rig);
}

/* ---- the tape ---- */

static void put_packet(struct tape *tape, simtime now)
{
	struct burst burst;

	burst.mbuf[0] = recorded_rig_frame(1400, false);
	burst_received(&burst, 1, 0, now, now);
	tape_burst(tape, &burst);
	rte_pktmbuf_free(burst.mbuf[0]);
}

/* Asserts that the next entry says that memory was short at t_ns. */
static void assert_unheld(struct tape *tape, simtime t_ns)
{
	const struct tape_entry *entry = tape_look(tape);

	assert_non_null(entry);
	assert_int_equal(entry->kind, TAPE_UNHELD);
	assert_int_equal(tape_lacked_ns(entry), t_ns);
	tape_pass(tape, entry);
}

static void assert_kind(struct tape *tape, enum tape_kind kind)
{
	const struct tape_entry *entry = tape_look(tape);

	assert_non_null(entry);
	assert_int_equal(entry->kind, kind);
	assert_int_equal(tape_lacked_ns(entry), SIMTIME_NEVER);
	tape_pass(tape, entry);
}

static void a_tape_says_once_when_memory_was_short_ahead_of_the_next_entry(void **state)
{
	static struct tape tape; /* the stack is not aligned to cache lines */
	(void)state;

	assert_int_equal(tape_make(&tape, 1 << 20, 0), 0);
	put_packet(&tape, 1000);
	assert_kind(&tape, TAPE_PACKETS);
	tape.lacked_ns = 990;
	assert_null(tape_look(&tape));
	put_packet(&tape, 2000);
	assert_unheld(&tape, 990);
	assert_kind(&tape, TAPE_PACKETS);
	put_packet(&tape, 3000);
	assert_kind(&tape, TAPE_PACKETS);
	/* Another cloud, executed later, has lacked memory earlier. */
	tape.lacked_ns = 980;
	tape_clear(&tape, 3000);
	assert_unheld(&tape, 980);
	assert_kind(&tape, TAPE_CLEAR);
	tape_end(&tape, 4000, true);
	assert_kind(&tape, TAPE_END);
	tape_free(&tape);
}

/* Without the instant, the entry would be taken for one that can be repeated. */
static void a_full_tape_takes_no_entry_before_it_has_said_that_memory_was_short(void **state)
{
	static struct tape tape; /* the stack is not aligned to cache lines */
	const struct tape_entry *entry;
	simtime now = 1000;
	(void)state;

	assert_int_equal(tape_make(&tape, 1 << 20, 0), 0);
	while (tape.missed == 0)
		put_packet(&tape, now++);
	tape.lacked_ns = now;
	put_packet(&tape, now);
	assert_int_equal(tape.missed, 2);
	/* There is room for a change, and for what precedes it. */
	tape_change(&tape, 1, now);
	while ((entry = tape_look(&tape)) && entry->kind == TAPE_PACKETS)
		tape_pass(&tape, entry);
	assert_kind(&tape, TAPE_GAP);
	assert_unheld(&tape, now);
	assert_kind(&tape, TAPE_CHANGE);
	tape_free(&tape);
}

GROUP(shortage)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(what_is_due_gets_an_mbuf_that_make_room_provides,
	                                        rig_group_setup, rig_group_teardown),
	        cmocka_unit_test_setup_teardown(what_is_settled_without_mbufs_waits_and_is_said,
	                                        rig_group_setup, rig_group_teardown),
	        cmocka_unit_test_setup_teardown(what_is_due_and_gets_no_mbuf_is_lost,
	                                        rig_group_setup, rig_group_teardown),
	        cmocka_unit_test_setup_teardown(
	                what_was_on_a_line_before_it_was_shared_and_gets_no_mbuf_is_lost,
	                rig_group_setup, rig_group_teardown),
	        cmocka_unit_test_setup_teardown(
	                a_packet_that_drop_head_cannot_push_out_counts_from_there, rig_group_setup,
	                rig_group_teardown),
	        cmocka_unit_test(a_tape_says_once_when_memory_was_short_ahead_of_the_next_entry),
	        cmocka_unit_test(
	                a_full_tape_takes_no_entry_before_it_has_said_that_memory_was_short),
	};

	return cmocka_run_group_tests(tests, recorded_rig_setup, recorded_rig_teardown);
}
