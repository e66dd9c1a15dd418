/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes, and the making of an engine, without enough memory. */
#include "rig.h"
#include "runner/group.h"

#include <errno.h>

#include "change/change.h"
#include "engine/engine_state.h"
#include "match/selection.h"
#include "poison_ops.h"
#include "starve.h"

#define MBIT UINT64_C(1000000)

/* Each allocation of change_prepare fails in turn. */
static void out_of_memory_in_prepare_leaves_the_engine_untouched(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
	struct change *change = NULL;
	struct problem problem;
	uint64_t failures = 0;
	int error;

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	rig_delay(rig, "x", 50 * SIMTIME_MS, SIMTIME_MS, DELAY_NORMAL, ORDER_KEEP);
	rig_rate(rig, "x", 8 * MBIT, 0, LIMIT_PACKETS, 1000);
	rig_loss_every(rig, "x", 10, 1);
	rig_apply(rig, 0);
	for (uint32_t i = 0; i < 50; i++)
		rig_send(rig, 0, 1000, i);
	rig_delay(rig, "x", 20 * SIMTIME_MS, 2 * SIMTIME_MS, DELAY_UNIFORM, ORDER_ALLOW);
	rig_loss(rig, "x", PROBABILITY_ONE / 2);
	rig_cloud(rig, "y", 2, 1);
	rig_delay(rig, "y", 20 * SIMTIME_MS, 2 * SIMTIME_MS, DELAY_UNIFORM, ORDER_ALLOW);
	rig_cloud(rig, "z", 3, 4);
	rig_loss_every(rig, "z", 3, 1);
	for (;; failures++) {
		starve_after(failures);
		error = change_prepare(rig->engine, rig->scenario, NULL, &change, &problem);
		if (starve_end() == 0)
			break;
		assert_int_equal(error, -ENOMEM);
		assert_int_equal(rig_report(rig, "x")->held_packets, 45);
	}
	assert_int_equal(error, 0);
	assert_true(failures > 20);
	change_free(change);
	rig_send(rig, 0, 1000, 100);
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, 46);
	/* with memory, the change succeeds */
	rig_apply(rig, rig->now);
	rig_close(rig);
}

static void template_add(struct rig *rig, const char *name, uint32_t from, uint64_t most)
{
	struct selection_conf *per = (struct selection_conf *)conf_make(&selection_per_statement);
	struct cloud_conf *cloud;

	assert_non_null(per);
	per->flow = true;
	per->most = most;
	rig_cloud(rig, name, from, 1);
	cloud = rig->scenario->clouds[rig->scenario->n_clouds - 1];
	cloud->many = true;
	cloud->selection = &per->conf;
	rig_delay(rig, name, 50 * SIMTIME_MS, SIMTIME_MS, DELAY_NORMAL, ORDER_KEEP);
	rig_rate(rig, name, 8 * MBIT, 0, LIMIT_PACKETS, 1000);
	rig_loss_every(rig, name, 10, 1);
}

/* One template exists and changes, one is removed, and one is added. */
static void out_of_memory_for_a_template_leaves_the_engine_untouched(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
	struct change *change = NULL;
	struct problem problem;
	uint64_t failures = 0;
	int error;

	(void)state;
	template_add(rig, "x", 0, 3);
	template_add(rig, "gone", 3, 3);
	rig_apply(rig, 0);
	for (uint32_t i = 0; i < 50; i++)
		rig_send(rig, 0, 1000, i);
	rig_delay(rig, "x", 20 * SIMTIME_MS, 2 * SIMTIME_MS, DELAY_UNIFORM, ORDER_ALLOW);
	rig_loss(rig, "x", PROBABILITY_ONE / 2);
	rig_remove(rig, "gone");
	template_add(rig, "y", 2, 3);
	for (;; failures++) {
		starve_after(failures);
		error = change_prepare(rig->engine, rig->scenario, NULL, &change, &problem);
		if (starve_end() == 0)
			break;
		assert_int_equal(error, -ENOMEM);
		assert_int_equal(rig_report(rig, "x")->held_packets, 45);
	}
	assert_int_equal(error, 0);
	assert_true(failures > 40);
	change_free(change);
	rig_apply(rig, 100);
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, 45);
	rig_close(rig);
}

/* Whatever allocation fails: the packet is lost and said to be, and the next one finds memory. */
static void a_cloud_on_demand_for_which_there_is_no_memory_is_a_real_loss(void **state)
{
	uint64_t lost = 0, before;

	(void)state;
	for (uint64_t allocations = 0; allocations < 8; allocations++) {
		simtime lacked_ns = SIMTIME_NEVER;
		struct rig *rig = rig_open(&(struct rig_setup){.seed = 1,
		                                               .hosts = 100,
		                                               .clouds_on_demand = true,
		                                               .lacked_ns = &lacked_ns});

		template_add(rig, "x", 0, 200);
		rig_apply(rig, 0);
		for (uint32_t i = 1; i <= 100; i++) {
			starve_after(allocations);
			rig_send(rig, 0, 200, i);
			starve_end();
			if (lacked_ns == SIMTIME_NEVER)
				continue;
			assert_int_equal(lacked_ns, i);
			break;
		}
		before = rig_report(rig, "x")->counters.drops[REASON_CLOUDS_FULL];
		assert_int_equal(before, lacked_ns != SIMTIME_NEVER);
		lost += before;
		for (uint32_t i = 101; i <= 200; i++)
			rig_send(rig, 0, 200, i);
		assert_int_equal(rig_report(rig, "x")->counters.drops[REASON_CLOUDS_FULL], before);
		assert_true(rig_report(rig, "x")->clouds > 80);
		rig_run_out(rig);
		rig_close(rig);
	}
	/* A packet is lost only if there is no memory for the first of the next clouds. */
	assert_in_range(lost, 2, 7);
}

static void out_of_memory_in_engine_make_is_said(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
	struct engine_setup setup = rig->engine->setup;
	struct engine *engine = NULL;
	uint64_t failures = 0;

	(void)state;
	for (;; failures++) {
		errno = 0;
		starve_after(failures);
		engine = engine_make(&setup);
		if (starve_end() == 0)
			break;
		assert_null(engine);
		assert_int_equal(errno, ENOMEM);
	}
	assert_non_null(engine);
	engine_free(engine);
	engine_free(NULL);
	rig_close(rig);
}

/* The place of a frame in an mbuf follows from the size of the private area (hold.h). */
static void a_pool_with_another_private_area_is_refused(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
	struct engine_setup setup = rig->engine->setup;

	(void)state;
	setup.pool = poison_pool_make("other", 64, PACKET_PRIVATE_BYTES / 2, RIG_DATA_ROOM);
	assert_non_null(setup.pool);
	errno = 0;
	assert_null(engine_make(&setup));
	assert_int_equal(errno, EINVAL);
	poison_pool_free(setup.pool);
	rig_close(rig);
}

GROUP(change_memory)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(out_of_memory_in_prepare_leaves_the_engine_untouched),
	        cmocka_unit_test(out_of_memory_for_a_template_leaves_the_engine_untouched),
	        cmocka_unit_test(a_cloud_on_demand_for_which_there_is_no_memory_is_a_real_loss),
	        cmocka_unit_test(out_of_memory_in_engine_make_is_said),
	        cmocka_unit_test(a_pool_with_another_private_area_is_refused),
	};

	return cmocka_run_group_tests_name("change memory", tests, rig_group_setup,
	                                   rig_group_teardown);
}
