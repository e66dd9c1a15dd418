/* SPDX-License-Identifier: BSD-3-Clause */
/* From one scenario to the next, with packets in flight. */
#include "rig.h"
#include "runner/group.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "change/change.h"
#include "engine/engine_state.h"
#include "random/draw.h"
#include "schedule/at.h"

#define MBIT UINT64_C(1000000)

static int refused(struct rig *rig, struct problem *problem)
{
	struct change *change = NULL;
	int error = change_prepare(rig->engine, rig->scenario, NULL, &change, problem);

	assert_true(error != 0 && !change);
	return error;
}

static void what_is_due_first_left_first(const struct rig *rig)
{
	for (uint32_t i = 1; i < rig->n_departures; i++)
		assert_true(rig->departures[i].due_ns >= rig->departures[i - 1].due_ns);
}

static void a_port_without_a_cloud_counts_what_it_drops(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	rig_apply(rig, 0);
	rig_send(rig, 1, 60, 0);
	rig_send(rig, 1, 9000, 0);
	assert_int_equal(engine_no_cloud(rig->engine, 1), 2);
	assert_int_equal(engine_no_cloud(rig->engine, 0), 0);
	rig_close(rig);
}

static void an_engine_without_a_scenario_does_no_harm(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

	(void)state;
	rig_send(rig, 0, 60, 5);
	rig_advance(rig, 10);
	assert_int_equal(engine_next(rig->engine), SIMTIME_NEVER);
	assert_int_equal(engine_held_packets(rig->engine), 0);
	rig_close(rig);
}

static void packets_of_a_cloud_that_is_removed_still_leave(void **state)
{
	static const enum delay_order orders[] = {ORDER_KEEP, ORDER_ALLOW};

	(void)state;
	for (size_t o = 0; o < LENGTH(orders); o++) {
		struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

		rig_cloud(rig, "x", 0, 1);
		rig_rate(rig, "x", 8 * MBIT, 0, LIMIT_PACKETS, 100);
		rig_delay(rig, "x", 50 * SIMTIME_MS, 0, DELAY_UNIFORM, orders[o]);
		rig_apply(rig, 0);
		for (uint32_t i = 0; i < 20; i++)
			rig_send(rig, 0, 1000, 0);
		rig_remove(rig, "x");
		rig_apply(rig, 5 * SIMTIME_MS);
		rig_send(rig, 0, 1000, 6 * SIMTIME_MS);
		assert_int_equal(engine_no_cloud(rig->engine, 0), 1);
		rig_run_out(rig);
		assert_int_equal(rig->n_departures, 20);
		for (uint32_t i = 0; i < 20; i++)
			assert_int_equal(rig->departures[i].due_ns, (51 + i) * SIMTIME_MS);
		/* the next change removes the cloud, with all its memory */
		rig_apply(rig, rig->now);
		assert_int_equal(engine_memory_used(rig->engine), 0);
		rig_close(rig);
	}
}

static void an_engine_that_is_freed_takes_what_it_holds_with_it(void **state)
{
	(void)state;
	for (int shared = 0; shared < 2; shared++) {
		struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

		rig_cloud(rig, "x", 0, 1);
		rig_cloud(rig, "y", 2, shared ? 1 : 3);
		rig_rate(rig, "x", 8 * MBIT, 0, LIMIT_PACKETS, 100);
		rig_delay(rig, "x", 50 * SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
		rig_delay(rig, "y", 50 * SIMTIME_MS, SIMTIME_MS, DELAY_NORMAL, ORDER_ALLOW);
		rig_apply(rig, 0);
		for (uint32_t i = 0; i < 60; i++)
			rig_send(rig, i & 2, i & 1 ? 60 : 3000, i);
		engine_advance(rig->engine, 50 * SIMTIME_MS); /* some in outlets */
		rig_close(rig);
	}
}

static void a_cloud_that_comes_again_under_its_name_is_a_new_one(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", 50 * SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	rig_send(rig, 0, 60, 1);
	rig_remove(rig, "x");
	rig_apply(rig, 2);
	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 3);
	assert_int_equal(rig_report(rig, "x")->counters.rx_packets, 0);
	rig_send(rig, 0, 60, 4);
	rig_run_out(rig);
	assert_int_equal(rig->departures[0].number, 2);
	assert_int_equal(rig->departures[0].due_ns, SIMTIME_MS + 4);
	assert_int_equal(rig->departures[1].due_ns, 50 * SIMTIME_MS + 1);
	rig_close(rig);
}

static void the_same_name_on_another_path_closes_the_old_one(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", 50 * SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	rig_send(rig, 0, 60, 1);
	rig_remove(rig, "x");
	rig_cloud(rig, "x", 0, 3);
	rig_apply(rig, 2);
	rig_send(rig, 0, 60, 4);
	rig_run_out(rig);
	assert_int_equal(rig->departures[0].port, 3);
	assert_int_equal(rig->departures[0].due_ns, 4);
	assert_int_equal(rig->departures[1].port, 1);
	assert_int_equal(rig->departures[1].due_ns, 50 * SIMTIME_MS + 1);
	rig_close(rig);
}

static void two_clouds_from_one_port_are_refused_and_nothing_changes(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
	struct problem problem;

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	rig_send(rig, 0, 60, 0);
	rig_delay(rig, "x", 7 * SIMTIME_MS, SIMTIME_MS, DELAY_UNIFORM, ORDER_ALLOW);
	rig_cloud(rig, "y", 0, 2);
	assert_int_equal(refused(rig, &problem), -EINVAL);
	assert_string_equal(
	        problem.text,
	        "a already leads to cloud x, which takes the rest: nothing is left for y");
	rig_send(rig, 0, 60, 10);
	rig_remove(rig, "y");
	rig_run_out(rig);
	assert_int_equal(rig->departures[0].due_ns, SIMTIME_MS);
	assert_int_equal(rig->departures[1].due_ns, SIMTIME_MS + 10);
	rig_close(rig);
}

static void a_change_that_is_never_applied_leaves_no_trace(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
	struct problem problem;
	struct change *change;

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_loss_every(rig, "x", 3, 1);
	rig_apply(rig, 0);
	rig_send(rig, 0, 60, 0);
	rig_delay(rig, "x", 2 * SIMTIME_MS, SIMTIME_MS, DELAY_UNIFORM, ORDER_ALLOW);
	rig_loss(rig, "x", PROBABILITY_ONE);
	rig_rate(rig, "x", 1, 0, LIMIT_PACKETS, 1);
	rig_cloud(rig, "y", 2, 1);
	rig_cloud(rig, "z", 3, 4);
	assert_int_equal(change_prepare(rig->engine, rig->scenario, NULL, &change, &problem), 0);
	change_free(change);
	assert_false(engine_report(rig->engine, "y", rig_report(rig, "x")));
	rig_send(rig, 0, 60, 5);
	rig_send(rig, 0, 60, 6); /* the third packet is lost */
	rig_send(rig, 0, 60, 7);
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, 3);
	assert_int_equal(rig->departures[2].due_ns, SIMTIME_MS + 7);
	rig_close(rig);
}

/* The packets in flight when the second cloud comes are in the first one's own log or wheel; later
 * packets are on the shared wheel. All leave in the order of time nevertheless. */
static void a_second_cloud_to_a_port_shares_it_with_what_is_in_flight(void **state)
{
	static const struct {
		uint64_t delay, jitter;
		enum delay_order order;
		uint64_t rate_bps;
	} rows[] = {
	        {10 * SIMTIME_MS, 0, ORDER_KEEP, 0},
	        {10 * SIMTIME_MS, 5 * SIMTIME_MS, ORDER_KEEP, 0},
	        {10 * SIMTIME_MS, 5 * SIMTIME_MS, ORDER_ALLOW, 0},
	        {300, 290, ORDER_ALLOW, 0},
	        {10 * SIMTIME_MS, 5 * SIMTIME_MS, ORDER_ALLOW, 80 * MBIT},
	};

	(void)state;
	for (size_t r = 0; r < LENGTH(rows); r++) {
		struct rig *alone = rig_open(&(struct rig_setup){.seed = 1});
		struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
		struct rig *both[2] = {alone, rig};
		simtime gap = rows[r].delay / 100;
		uint32_t seen = 0;

		for (int b = 0; b < 2; b++) {
			rig_cloud(both[b], "x", 0, 1);
			rig_delay(both[b], "x", rows[r].delay, rows[r].jitter, DELAY_UNIFORM,
			          rows[r].order);
			if (rows[r].rate_bps)
				rig_rate(both[b], "x", rows[r].rate_bps, 0, LIMIT_PACKETS, 1000);
			rig_apply(both[b], 0);
			for (uint32_t i = 0; i < 200; i++) {
				if (i == 100 && b == 1) {
					rig_cloud(rig, "y", 2, 1);
					rig_delay(rig, "y", rows[r].delay / 2, 0, DELAY_UNIFORM,
					          ORDER_KEEP);
					rig_apply(rig, i * gap);
				}
				rig_send(both[b], 0, 1000, i * gap);
				if (i >= 100 && b == 1) {
					rig_send(rig, 2, 500, i * gap);
					rig_advance(rig, i * gap + gap / 2);
				}
			}
			rig_run_out(both[b]);
		}
		what_is_due_first_left_first(rig);
		assert_int_equal(rig->n_departures, 300);
		/* the first cloud's packets leave at the same times as without the second cloud */
		for (uint32_t i = 0; i < 300; i++) {
			if (rig->departures[i].frame_bytes == 500)
				continue;
			assert_int_equal(rig->departures[i].due_ns,
			                 alone->departures[seen++].due_ns);
		}
		assert_int_equal(seen, 200);
		rig_close(alone);
		rig_close(rig);
	}
}

/* A hundred changes of everything while packets flow. Without loss and with enough room, every
 * packet that went in comes out, intact. The rig asserts conservation after each step. */
static void a_hundred_changes_under_load_lose_nothing(void **state)
{
	static const uint64_t seeds[] = {1, 2, 3, 4, 5, 6};

	(void)state;
	for (size_t s = 0; s < LENGTH(seeds); s++) {
		struct rig *rig = rig_open(&(struct rig_setup){.seed = seeds[s]});
		struct draw_key key = draw_key_make(seeds[s], "change", "random");
		bool there[3] = {true, true, false};
		static const char *const names[] = {"x", "y", "z"};
		uint64_t draw = 0;

		rig_cloud(rig, "x", 0, 3);
		rig_cloud(rig, "y", 1, 4);
		rig_apply(rig, 0);
		for (uint32_t change = 0; change < 100; change++) {
			uint64_t d = draw_u64(key, draw++, 0);
			uint32_t i = (uint32_t)(d % 3);

			if (d >> 60 == 0 && there[i]) {
				rig_remove(rig, names[i]);
				there[i] = false;
			} else if (!there[i]) {
				/* to port 3 or 4, which becomes shared */
				rig_cloud(rig, names[i], i, 3 + (uint32_t)(d >> 59 & 1));
				there[i] = true;
			} else if (d >> 58 & 1) {
				rig_delay(rig, names[i], d % (3 * SIMTIME_MS),
				          d >> 57 & 1 ? d % SIMTIME_MS : 0,
				          (enum delay_distribution)(d >> 56 & 1),
				          (enum delay_order)(d >> 55 & 1));
			} else {
				rig_rate(rig, names[i], 20 * MBIT + d % (1000 * MBIT),
				         d >> 54 & 1 ? 1 + d % 100000 : 0, LIMIT_PACKETS, 1000000);
			}
			rig_apply(rig, rig->now);
			for (uint32_t k = 0; k < 30; k++) {
				uint64_t e = draw_u64(key, draw++, 0);

				rig_send(rig, (uint32_t)(e % 3), (uint32_t)(60 + e % 3000),
				         rig->now + e % (100 * SIMTIME_US));
				if (e >> 60 == 0)
					rig_advance(rig, rig->now + e % SIMTIME_MS);
			}
		}
		rig_run_out(rig);
		assert_int_equal(rig->n_departures + engine_no_cloud(rig->engine, 0) +
		                         engine_no_cloud(rig->engine, 1) +
		                         engine_no_cloud(rig->engine, 2),
		                 rig->sent);
		for (uint32_t i = 0; i < rig->n_departures; i++)
			assert_true(rig->departures[i].intact);
		rig_close(rig);
	}
}

static void a_thousand_changes_do_not_make_the_engine_grow(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

	(void)state;
	rig_cloud(rig, "keep", 0, 1);
	rig_apply(rig, 0);
	for (uint32_t i = 0; i < 1000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "c%u", i);
		rig_cloud(rig, name, 2, 1);
		rig_rate(rig, name, 8 * MBIT, 0, LIMIT_PACKETS, 10);
		rig_delay(rig, name, SIMTIME_MS, 1000, DELAY_UNIFORM, (enum delay_order)(i & 1));
		rig_apply(rig, rig->now);
		rig_send(rig, 2, 60, rig->now + 1);
		rig_advance(rig, rig->now + 10 * SIMTIME_MS);
		rig_remove(rig, name);
		rig_apply(rig, rig->now);
	}
	rig_apply(rig, rig->now);
	assert_int_equal(rig->n_departures, 1000);
	assert_true(rig->engine->cloud_table->n_slots <= 6);
	rig_advance(rig, rig->now + DELAY_MAX_NS);
	assert_int_equal(engine_memory_used(rig->engine), 0);
	rig_close(rig);
}

/* A timer may outlive its cloud, and its index may belong to another cloud by then. */
static void timers_of_clouds_that_are_gone_wake_nobody(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

	(void)state;
	rig_cloud(rig, "keep", 0, 1);
	rig_cloud(rig, "x", 2, 1);
	rig_rate(rig, "x", 1000, 0, LIMIT_PACKETS, 10);
	rig_apply(rig, 0);
	rig_send(rig, 2, 1000, 0); /* 8 s */
	rig_unset(rig, "x", "rate");
	rig_apply(rig, SIMTIME_S); /* at once: the timer of 8 s stays */
	rig_advance(rig, SIMTIME_S);
	assert_int_equal(rig->n_departures, 1);
	rig_remove(rig, "x");
	rig_apply(rig, SIMTIME_S);
	rig_apply(rig, SIMTIME_S);
	rig_remove(rig, "keep");
	rig_apply(rig, SIMTIME_S);
	rig_apply(rig, SIMTIME_S); /* no cloud is left */
	rig_advance(rig, 7 * SIMTIME_S);
	rig_cloud(rig, "z", 0, 1);
	rig_cloud(rig, "y", 2, 1);
	rig_rate(rig, "y", 1000, 0, LIMIT_PACKETS, 10);
	rig_apply(rig, 7 * SIMTIME_S);
	rig_send(rig, 2, 125, 7 * SIMTIME_S); /* 8 s as well */
	rig_send(rig, 2, 125, 7 * SIMTIME_S);
	rig_run_out(rig);
	assert_int_equal(rig->departures[1].due_ns, 8 * SIMTIME_S);
	assert_int_equal(rig->departures[2].due_ns, 9 * SIMTIME_S);
	rig_close(rig);
}

static void counters_begin_anew_with_what_is_in_flight(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
	struct cloud_report *report;

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	rig_cloud(rig, "y", 2, 1);
	rig_rate(rig, "x", 8 * MBIT, 0, LIMIT_PACKETS, 10);
	rig_delay(rig, "x", SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	for (uint32_t i = 0; i < 20; i++)
		rig_send(rig, 0, 1000, 0);
	rig_send(rig, 5, 60, 0);
	rig_advance(rig, 5 * SIMTIME_MS);
	rig->cleared =
	        counters_drops(&rig_report(rig, "x")->counters) + engine_no_cloud(rig->engine, 5);
	assert_int_equal(rig->cleared, 10);
	engine_clear(rig->engine);
	rig_check(rig);
	report = rig_report(rig, "x");
	assert_int_equal(report->counters.rx_packets, report->held_packets);
	assert_int_equal(report->counters.carried, report->held_packets);
	assert_int_equal(report->counters.tx_packets, 0);
	assert_int_equal(report->delay_ns.count, 0);
	rig_run_out(rig);
	assert_int_equal(rig_report(rig, "x")->counters.tx_packets, 7);
	rig_close(rig);
}

static void only_clouds_of_owned_ports_are_this_engines(void **state)
{
	static const bool owned[SCENARIO_PORTS_MAX] = {[2] = true};
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
	struct problem problem;
	struct change *change;

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	rig_cloud(rig, "y", 2, 1);
	assert_int_equal(change_prepare(rig->engine, rig->scenario, owned, &change, &problem), 0);
	engine_apply(rig->engine, change, 0);
	change_free(change);
	rig_send(rig, 0, 60, 0);
	rig_send(rig, 2, 60, 0);
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, 1);
	assert_int_equal(engine_no_cloud(rig->engine, 0), 1);
	rig_close(rig);
}

/* The times exclude the queue, and are as many as the moments count. */
static void times_on_a_line_with_a_jitter_are_counted_apart(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 5});
	const struct cloud_report *report;

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", 20 * SIMTIME_MS, 4 * SIMTIME_MS, DELAY_UNIFORM, ORDER_ALLOW);
	rig_apply(rig, 0);
	for (uint32_t i = 0; i < 100; i++)
		rig_send(rig, 0, 1000, i * SIMTIME_MS);
	report = rig_report(rig, "x");
	assert_int_equal(report->line_packets, 100);
	assert_int_equal(report->line_ns.count, 100);
	assert_int_equal(report->line_ns.sum, report->delay_ns.sum);
	rig_rate(rig, "x", 1000000, 0, LIMIT_PACKETS, 1000); /* 8 ms a packet */
	rig_apply(rig, 100 * SIMTIME_MS);
	for (uint32_t i = 0; i < 100; i++)
		rig_send(rig, 0, 1000, (100 + i) * SIMTIME_MS);
	rig_run_out(rig);
	report = rig_report(rig, "x");
	assert_int_equal(report->line_ns.count, 200);
	assert_int_equal(report->line_packets, 200);
	assert_true(report->line_ns.sum >= 200 * report->line_ns.min);
	assert_true(report->line_ns.sum <= 200 * report->line_ns.max);
	assert_true(report->line_ns.min >= 16 * SIMTIME_MS);
	assert_true(report->line_ns.max <= 24 * SIMTIME_MS);
	assert_true(report->delay_ns.max > 600 * SIMTIME_MS); /* 100 packets, 7 ms more each */
	/* Another delay starts the statistics anew. */
	rig_delay(rig, "x", 50 * SIMTIME_MS, 4 * SIMTIME_MS, DELAY_UNIFORM, ORDER_ALLOW);
	rig_apply(rig, rig->now);
	rig_send(rig, 0, 1000, rig->now);
	rig_run_out(rig);
	report = rig_report(rig, "x");
	assert_int_equal(report->line_ns.count, 1);
	assert_int_equal(report->line_packets, 1);
	assert_true(report->line_ns.min >= 46 * SIMTIME_MS);
	rig_close(rig);
}

/* Returns `at 1ms delay 40ms`, for a cloud with another delay. */
static struct conf *later_delay(void)
{
	struct at_conf *at = (struct at_conf *)conf_make(statement_find("at", NULL));
	struct delay_conf *delay = (struct delay_conf *)conf_make(statement_find("delay", NULL));

	assert_non_null(at);
	assert_non_null(delay);
	delay->delay_ns = 40 * SIMTIME_MS;
	at->at_ns = SIMTIME_MS;
	at->orders.order = calloc(1, sizeof(*at->orders.order));
	assert_non_null(at->orders.order);
	at->orders.order[at->orders.n++] = (struct order){"delay", ROLE_LINE, &delay->conf};
	return &at->conf;
}

static void a_link_that_comes_leaves_the_delay_that_a_schedule_has_set(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 5});

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", 20 * SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_put(rig, "x", later_delay());
	rig_apply(rig, 0);
	rig_send(rig, 0, 1000, 2 * SIMTIME_MS);
	rig_rate(rig, "x", 100000000000, 1000000, LIMIT_PACKETS, 1000);
	rig_apply(rig, 3 * SIMTIME_MS);
	rig_send(rig, 0, 1000, 4 * SIMTIME_MS);
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, 2);
	assert_int_equal(rig->departures[0].due_ns, 42 * SIMTIME_MS);
	assert_int_equal(rig->departures[1].due_ns, 44 * SIMTIME_MS);
	rig_close(rig);
}

/* Packets that leave the link, but find no memory on the line, draw a jitter, too. */
static void a_packet_draws_its_jitter_once_whether_there_is_memory_or_not(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 5, .memory_bytes = 64 << 10});
	const struct cloud_report *report;

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", 200 * SIMTIME_MS, 4 * SIMTIME_MS, DELAY_UNIFORM, ORDER_ALLOW);
	rig_rate(rig, "x", 1000000000, 0, LIMIT_PACKETS, 30);
	rig_apply(rig, 0);
	for (uint32_t i = 0; i < 1000; i++)
		rig_send(rig, 0, 400, i / 20 * SIMTIME_MS);
	rig_run_out(rig);
	report = rig_report(rig, "x");
	assert_true(report->counters.drops[REASON_NO_BUFFER] > 0);
	assert_true(report->line_packets > report->counters.tx_packets);
	assert_true(report->line_packets <= report->counters.rx_packets);
	rig_close(rig);
}

GROUP(change)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(times_on_a_line_with_a_jitter_are_counted_apart),
	        cmocka_unit_test(a_packet_draws_its_jitter_once_whether_there_is_memory_or_not),
	        cmocka_unit_test(a_link_that_comes_leaves_the_delay_that_a_schedule_has_set),
	        cmocka_unit_test(a_port_without_a_cloud_counts_what_it_drops),
	        cmocka_unit_test(an_engine_without_a_scenario_does_no_harm),
	        cmocka_unit_test(packets_of_a_cloud_that_is_removed_still_leave),
	        cmocka_unit_test(an_engine_that_is_freed_takes_what_it_holds_with_it),
	        cmocka_unit_test(a_cloud_that_comes_again_under_its_name_is_a_new_one),
	        cmocka_unit_test(the_same_name_on_another_path_closes_the_old_one),
	        cmocka_unit_test(two_clouds_from_one_port_are_refused_and_nothing_changes),
	        cmocka_unit_test(a_change_that_is_never_applied_leaves_no_trace),
	        cmocka_unit_test(a_second_cloud_to_a_port_shares_it_with_what_is_in_flight),
	        cmocka_unit_test(a_hundred_changes_under_load_lose_nothing),
	        cmocka_unit_test(a_thousand_changes_do_not_make_the_engine_grow),
	        cmocka_unit_test(timers_of_clouds_that_are_gone_wake_nobody),
	        cmocka_unit_test(counters_begin_anew_with_what_is_in_flight),
	        cmocka_unit_test(only_clouds_of_owned_ports_are_this_engines),
	};

	return cmocka_run_group_tests_name("change", tests, rig_group_setup, rig_group_teardown);
}
